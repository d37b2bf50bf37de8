// A chain of three views of %a.
func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {neap.name = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
  %v1 = "neap.opaque"(%a) {neap.view = [{result = 0 : i64, operand = 0 : i64, byte_offset = 0 : i64}]} : (tensor<64xi8>) -> tensor<64xi8>
  %v2 = "neap.opaque"(%v1) {neap.view = [{result = 0 : i64, operand = 0 : i64, byte_offset = 0 : i64}]} : (tensor<64xi8>) -> tensor<64xi8>
  %v3 = "neap.opaque"(%v2) {neap.view = [{result = 0 : i64, operand = 0 : i64, byte_offset = 0 : i64}]} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%x) {neap.name = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%b) {neap.name = "abs"} : (tensor<64xi8>) -> tensor<64xi8>
  %d = "neap.opaque"(%v3, %c) {neap.name = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %d : tensor<64xi8>
}
