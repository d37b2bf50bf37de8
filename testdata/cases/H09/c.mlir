// The first must not, the second may.
func.func @main(%x: tensor<8xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {neap.name = "bcast"} : (tensor<8xi8>) -> tensor<64xi8>
  %y = "neap.opaque"(%a, %a) {neap.may_inplace = [{result = 0 : i64, operand = 0 : i64}, {result = 0 : i64, operand = 1 : i64}], neap.name = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  %z = "neap.opaque"(%y, %a) {neap.may_inplace = [{result = 0 : i64, operand = 0 : i64}], neap.name = "mul"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %z : tensor<64xi8>
}
