// Most of it is what goes in and out.
func.func @main(%x: tensor<1000xi8>) -> tensor<500xi8> {
  %a = "neap.opaque"(%x) {neap.name = "f"} : (tensor<1000xi8>) -> tensor<10xi8>
  %y = "neap.opaque"(%a) {neap.name = "g"} : (tensor<10xi8>) -> tensor<500xi8>
  return %y : tensor<500xi8>
}
