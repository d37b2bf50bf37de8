// Constants 2496, inputs 6720, activations 3712: each counted once, 12928 together.
func.func @main(%x: tensor<6720xi8>) -> tensor<3200xi8> {
  %w = "neap.constant"() {neap.name = "w"} : () -> tensor<2496xi8>
  %a = "neap.opaque"(%x, %w) {neap.name = "first"} : (tensor<6720xi8>, tensor<2496xi8>) -> tensor<512xi8>
  %b = "neap.opaque"(%x, %a) {neap.name = "second"} : (tensor<6720xi8>, tensor<512xi8>) -> tensor<3200xi8>
  return %b : tensor<3200xi8>
}
