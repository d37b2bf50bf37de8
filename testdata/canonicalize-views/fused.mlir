// RUN: --fuse --canonicalize-views
// A fused operation may overwrite what it reads in step with its result; not what a convolution reads, nor what is broadcast or read
// through a table, nor smaller elements.
func.func @main(%x: tensor<1x8x8x4xf32>, %skip: tensor<1x8x8x4xf32>, %row: tensor<4xf32>) -> tensor<1x8x8x4xf32> {
  %w = "tfl.pseudo_const"() {value = dense<0.5> : tensor<4x3x3x4xf32>} : () -> tensor<4x3x3x4xf32>
  %b = "tfl.pseudo_const"() {value = dense<0.5> : tensor<4xf32>} : () -> tensor<4xf32>
  %c = "tfl.conv_2d"(%x, %w, %b) : (tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>, tensor<4xf32>) -> tensor<1x8x8x4xf32>
  %s = "tfl.add"(%c, %skip) : (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %t = "tfl.mul"(%s, %row) : (tensor<1x8x8x4xf32>, tensor<4xf32>) -> tensor<1x8x8x4xf32>
  return %t : tensor<1x8x8x4xf32>
}

func.func @larger_not(%x: tensor<8xi8>) -> tensor<8xf32> {
  %a = "tfl.abs"(%x) : (tensor<8xi8>) -> tensor<8xi8>
  %b = "tfl.cast"(%a) : (tensor<8xi8>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
