// %b has another reader behind `neg`.
func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %b = "neap.opaque"(%x) {neap.name = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
  %d = "neap.opaque"(%b) {neap.may_inplace = [{result = 0 : i64, operand = 0 : i64}], neap.name = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
  %e = "neap.opaque"(%b, %x) {neap.name = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  %f = "neap.opaque"(%d, %e) {neap.name = "mul"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %f : tensor<64xi8>
}
