// RUN: --fuse
// Elementwise operations after a heavy one, and alone, become one; names and attributes stay inside and the result keeps its name.
func.func @after_conv(%x: tensor<1x8x8x4xf32>, %skip: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %w = "tfl.pseudo_const"() {value = dense<0.5> : tensor<4x3x3x4xf32>} : () -> tensor<4x3x3x4xf32>
  %b = "tfl.pseudo_const"() {value = dense<0.5> : tensor<4xf32>} : () -> tensor<4xf32>
  %c = "tfl.conv_2d"(%x, %w, %b) {neap.name = "conv", neap.scratch = 64 : i64} : (tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>, tensor<4xf32>) -> tensor<1x8x8x4xf32>
  %r = "tfl.relu"(%c) {neap.name = "relu"} : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %s = "tfl.add"(%r, %skip) {neap.name = "sum"} : (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %p = "tfl.max_pool_2d"(%s) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  return %p : tensor<1x8x8x4xf32>
}

// Several readers inside the group are fine; so is a value read twice by one operation.
func.func @elementwise(%x: tensor<64xf32>) -> tensor<64xf32> {
  %half = "tfl.pseudo_const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %a = "tfl.mul"(%x, %half) : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %b = "tfl.tanh"(%a) : (tensor<64xf32>) -> tensor<64xf32>
  %c = "tfl.mul"(%b, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %d = "tfl.add"(%c, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %d : tensor<64xf32>
}
