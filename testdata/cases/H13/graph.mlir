// %x and %y are in the caller's memory.
func.func @main(%x: tensor<64xi8> {neap.io = "external"}) -> (tensor<64xi8> {neap.io = "external"}) {
  %a = "neap.opaque"(%x) {neap.may_inplace = [{result = 0 : i64, operand = 0 : i64}], neap.name = "cast"} : (tensor<64xi8>) -> tensor<64xi8>
  %y = "neap.opaque"(%a, %a) {neap.may_inplace = [{result = 0 : i64, operand = 0 : i64}, {result = 0 : i64, operand = 1 : i64}], neap.name = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
