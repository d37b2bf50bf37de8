// Nobody produces %b, and there is more that is wrong.
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %a = "neap.opaque"(%b) {neap.name = "reader"} : (tensor<4xi8>) -> tensor<4xi8>
  %c = "neap.opaque"(%x, %d) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %a : tensor<4xi8>
}
