// %a is read twice: what reads it first may not overwrite it.
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = "tosa.exp"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = "tosa.tanh"(%a) : (tensor<64xf32>) -> tensor<64xf32>
  %c = "neap.opaque"(%b) : (tensor<64xf32>) -> tensor<64xf32>
  %d = "tosa.add"(%a, %c) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d : tensor<64xf32>
}
