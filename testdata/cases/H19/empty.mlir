// Nothing but empty tensors.
func.func @main(%x: tensor<0xi8>) -> tensor<4x0xf32> {
  %a = "neap.opaque"(%x) {neap.name = "relu"} : (tensor<0xi8>) -> tensor<4x0xf32>
  return %a : tensor<4x0xf32>
}
