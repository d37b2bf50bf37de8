// RUN: --canonicalize-views
// A list that is no permutation says nothing about where bytes go, also when its long dimensions stand in order.
func.func @twice(%x: tensor<2x1x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %t = "onnx.Transpose"(%x) {perm = [0, 0, 2, 3]} : (tensor<2x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %t : tensor<1x2x3x4xf32>
}
