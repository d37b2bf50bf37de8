// P before N needs a quarter less.
func.func @main(%x: tensor<80xi8>) -> tensor<80xi8> {
  %t2 = "neap.opaque"(%x) {neap.name = "L"} : (tensor<80xi8>) -> tensor<80xi8>
  %t3 = "neap.opaque"(%t2) {neap.name = "M"} : (tensor<80xi8>) -> tensor<20xi8>
  %t4 = "neap.opaque"(%t3) {neap.name = "N"} : (tensor<20xi8>) -> tensor<80xi8>
  %t5 = "neap.opaque"(%x) {neap.name = "P"} : (tensor<80xi8>) -> tensor<80xi8>
  %y = "neap.opaque"(%t4, %t5) {neap.may_inplace = [{result = 0 : i64, operand = 0 : i64}], neap.name = "add"} : (tensor<80xi8>, tensor<80xi8>) -> tensor<80xi8>
  return %y : tensor<80xi8>
}
