func.func @main(%x: tensor<100xi8>) -> tensor<1000xi8> {
  %up = "neap.opaque"(%x) {neap.name = "upsample"} : (tensor<100xi8>) -> tensor<1000xi8>
  %b = "neap.opaque"(%up) {neap.name = "first"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %c = "neap.opaque"(%b) {neap.name = "second"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %d = "neap.opaque"(%c) {neap.name = "narrow"} : (tensor<1000xi8>) -> tensor<10xi8>
  %y = "neap.opaque"(%up, %d) {neap.name = "join"} : (tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}
