// {g, h} is a group.
func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {
  %f1 = "neap.opaque"(%x) {neap.name = "f"} : (tensor<8xi8>) -> tensor<8xi8>
  %g1 = "neap.opaque"(%f1) {neap.group = "G", neap.name = "g"} : (tensor<8xi8>) -> tensor<8xi8>
  %h1 = "neap.opaque"(%f1, %g1) {neap.group = "G", neap.name = "h"} : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  return %h1 : tensor<8xi8>
}
