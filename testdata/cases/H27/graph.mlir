// The same value twice, an argument, a constant.
func.func @main(%x: tensor<64xi8>) -> (tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<16xi8>) {
  %k = "neap.constant"() {neap.name = "k"} : () -> tensor<16xi8>
  %y = "neap.opaque"(%x) {neap.may_inplace = [{result = 0 : i64, operand = 0 : i64}], neap.name = "relu"} : (tensor<64xi8>) -> tensor<64xi8>
  return %y, %y, %x, %k : tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<16xi8>
}
