// All other readers of %a come first.
func.func @main(%x: tensor<8xi8>) -> (tensor<64xi8>, tensor<4xi8>) {
  %a = "neap.opaque"(%x) {neap.name = "bcast"} : (tensor<8xi8>) -> tensor<64xi8>
  %r = "neap.opaque"(%a) {neap.view = [{result = 0 : i64, operand = 0 : i64, byte_offset = 0 : i64}]} : (tensor<64xi8>) -> tensor<64xi8>
  %q = "neap.opaque"(%a) {neap.name = "sum"} : (tensor<64xi8>) -> tensor<4xi8>
  %s = "neap.opaque"(%r) {neap.may_inplace = [{result = 0 : i64, operand = 0 : i64}], neap.name = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
  return %s, %q : tensor<64xi8>, tensor<4xi8>
}
