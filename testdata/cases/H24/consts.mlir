// Weights are not in the arena.
func.func @main(%x: tensor<100xi8>) -> tensor<10xi8> {
  %w = "neap.constant"() {neap.name = "w"} : () -> tensor<10000xi8>
  %w2 = "neap.constant"() {neap.name = "w2"} : () -> tensor<1000xi8>
  %a = "neap.opaque"(%x, %w) {neap.name = "fc"} : (tensor<100xi8>, tensor<10000xi8>) -> tensor<100xi8>
  %y = "neap.opaque"(%a, %w2) {neap.name = "fc2"} : (tensor<100xi8>, tensor<1000xi8>) -> tensor<10xi8>
  return %y : tensor<10xi8>
}
