// Two operations produce %24.
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %24 = "neap.opaque"(%x) {neap.name = "first"} : (tensor<4xi8>) -> tensor<4xi8>
  %24 = "neap.opaque"(%x) {neap.name = "second"} : (tensor<4xi8>) -> tensor<4xi8>
  return %24 : tensor<4xi8>
}
