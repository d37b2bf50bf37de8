// RUN: --canonicalize-views --profile=tflite
// What LiteRT can realise: reshape and its kin alias unless an argument or a result of the function takes part; few kernels overwrite.
func.func @litert(%x: tensor<16xf32>) -> tensor<4x4xf32> {
  %arg = "tfl.reshape"(%x) : (tensor<16xf32>) -> tensor<4x4xf32>
  %a = "tfl.exp"(%arg) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = "tfl.add"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = "tfl.reshape"(%b) : (tensor<4x4xf32>) -> tensor<2x8xf32>
  %d = "tfl.add"(%c, %c) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %e = "tfl.mul"(%d, %d) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %f = "tfl.sub"(%d, %e) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %g = "tfl.reshape"(%f) : (tensor<2x8xf32>) -> tensor<4x4xf32>
  return %g : tensor<4x4xf32>
}
