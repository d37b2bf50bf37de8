// As many operations and the same sizes, wired differently.
func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {neap.name = "f"} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%x) {neap.name = "g"} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%a, %b) {neap.name = "h"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %c : tensor<64xi8>
}
