// RUN: --canonicalize-views
// Parts of a concatenation along the outermost dimension may be written straight into it (H08), also where unit dimensions come before.
func.func @parts(%x: tensor<1x8x4xf32>) -> (tensor<1x24x4xf32>, tensor<2x1x8x4xf32>) {
  %a = "tfl.exp"(%x) : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %b = "tfl.neg"(%x) : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %ab = "tfl.concatenation"(%a, %b) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<1x8x4xf32>, tensor<1x8x4xf32>) -> tensor<1x16x4xf32>
  %c = "tfl.abs"(%x) : (tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %abc = "tfl.concatenation"(%ab, %c) {axis = -2 : i32, fused_activation_function = "NONE"} : (tensor<1x16x4xf32>, tensor<1x8x4xf32>) -> tensor<1x24x4xf32>
  %stack = "tfl.pack"(%a, %b) {axis = 0 : i32, values_count = 2 : i32} : (tensor<1x8x4xf32>, tensor<1x8x4xf32>) -> tensor<2x1x8x4xf32>
  return %abc, %stack : tensor<1x24x4xf32>, tensor<2x1x8x4xf32>
}

// Interleaved parts; an argument, a constant, a view, the same part twice; parts that do not start at a byte.
func.func @parts_not(%x: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %a = "tfl.exp"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %inner = "tfl.concatenation"(%a, %x) {axis = 1 : i32} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %c = "tfl.pseudo_const"() {value = dense<1.0> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  %flat = "tfl.reshape"(%inner) : (tensor<2x8xf32>) -> tensor<4x4xf32>
  %outer = "tfl.concatenation"(%x, %c, %flat, %a, %a) {axis = 0 : i32} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<12x4xf32>
  return %inner : tensor<2x8xf32>
}

// The runtime would apply the activation while copying.
func.func @activation_not(%x: tensor<4xf32>) -> tensor<8xf32> {
  %a = "tfl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "tfl.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %ab = "tfl.concatenation"(%a, %b) {axis = 0 : i32, fused_activation_function = "RELU"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %ab : tensor<8xf32>
}

func.func @bits_not(%x: tensor<3xi4>) -> tensor<6xi4> {
  %a = "tfl.abs"(%x) : (tensor<3xi4>) -> tensor<3xi4>
  %b = "tfl.neg"(%x) : (tensor<3xi4>) -> tensor<3xi4>
  %ab = "tfl.concatenation"(%a, %b) {axis = 0 : i32} : (tensor<3xi4>, tensor<3xi4>) -> tensor<6xi4>
  return %ab : tensor<6xi4>
}
