// RUN: --reorder --assign-offsets
// The order of least peak: `P` comes before `N`, so that `add` may overwrite the last of them; 180 bytes instead of 240.
func.func @main(%x: tensor<80xi8>) -> tensor<80xi8> {
  %t2 = "neap.opaque"(%x) {kind = "L"} : (tensor<80xi8>) -> tensor<80xi8>
  %t3 = "neap.opaque"(%t2) {kind = "M"} : (tensor<80xi8>) -> tensor<20xi8>
  %t4 = "neap.opaque"(%t3) {kind = "N"} : (tensor<20xi8>) -> tensor<80xi8>
  %t5 = "neap.opaque"(%x) {kind = "P"} : (tensor<80xi8>) -> tensor<80xi8>
  %y = "neap.opaque"(%t4, %t5) {kind = "add", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<80xi8>, tensor<80xi8>) -> tensor<80xi8>
  return %y : tensor<80xi8>
}
// -----
// Without in-place both orders need 240 bytes, and the listed one stays.
func.func @plain(%x: tensor<80xi8>) -> tensor<80xi8> {
  %t2 = "neap.opaque"(%x) {kind = "L"} : (tensor<80xi8>) -> tensor<80xi8>
  %t3 = "neap.opaque"(%t2) {kind = "M"} : (tensor<80xi8>) -> tensor<20xi8>
  %t4 = "neap.opaque"(%t3) {kind = "N"} : (tensor<20xi8>) -> tensor<80xi8>
  %t5 = "neap.opaque"(%x) {kind = "P"} : (tensor<80xi8>) -> tensor<80xi8>
  %y = "neap.opaque"(%t4, %t5) {kind = "add"} : (tensor<80xi8>, tensor<80xi8>) -> tensor<80xi8>
  return %y : tensor<80xi8>
}
