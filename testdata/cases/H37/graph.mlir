// The peak is at `conv`: its result, its scratch and the input; `relu` takes the result's bytes.
func.func @main(%x: tensor<64xi8>) -> tensor<128xi8> {
  %w = "neap.constant"() {neap.name = "w"} : () -> tensor<2496xi8>
  %a = "neap.opaque"(%x, %w) {neap.name = "conv", neap.scratch = 96 : i64} : (tensor<64xi8>, tensor<2496xi8>) -> tensor<256xi8>
  %b = "neap.opaque"(%a) {neap.name = "relu", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<256xi8>) -> tensor<256xi8>
  %c = "neap.opaque"(%b) {neap.name = "pool"} : (tensor<256xi8>) -> tensor<128xi8>
  %d = "neap.opaque"(%c) {neap.name = "fc"} : (tensor<128xi8>) -> tensor<128xi8>
  return %d : tensor<128xi8>
}
