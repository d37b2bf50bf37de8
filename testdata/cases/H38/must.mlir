// %a is read behind the operation that may overwrite it.
func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {neap.name = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {neap.may_inplace = [{result = 0 : i64, operand = 0 : i64}], neap.name = "neg", neap.reuse = "must"} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%a, %b) {neap.name = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %c : tensor<64xi8>
}
