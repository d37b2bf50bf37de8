// RUN: --fuse
// What a slice takes out of a concatenation is the part; what a split took apart and a concatenation joins is the whole.
func.func @windows(%x: tensor<2x6xf32>, %y: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x6xf32>) {
  %j = "stablehlo.concatenate"(%x, %y) {dimension = 1 : i64} : (tensor<2x6xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
  %s = "stablehlo.slice"(%j) {start_indices = array<i64: 0, 6>, limit_indices = array<i64: 2, 9>, strides = array<i64: 1, 1>} : (tensor<2x9xf32>) -> tensor<2x3xf32>
  %a = "neap.opaque"(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %axis = "tfl.pseudo_const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %p:2 = "tfl.split"(%axis, %x) {num_splits = 2 : i32} : (tensor<i32>, tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %k = "tfl.concatenation"(%p#0, %p#1) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %b = "neap.opaque"(%k) : (tensor<2x6xf32>) -> tensor<2x6xf32>
  return %a, %b : tensor<2x3xf32>, tensor<2x6xf32>
}

// The other way round they are not; an activation on the way is a function, too.
func.func @windows_not(%x: tensor<2x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>) {
  %axis = "tfl.pseudo_const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %p:2 = "tfl.split"(%axis, %x) {num_splits = 2 : i32} : (tensor<i32>, tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %k = "tfl.concatenation"(%p#1, %p#0) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %l = "tfl.concatenation"(%p#0, %p#1) {axis = 1 : i32, fused_activation_function = "RELU"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %a = "neap.opaque"(%k) : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %b = "neap.opaque"(%l) : (tensor<2x6xf32>) -> tensor<2x6xf32>
  return %a, %b : tensor<2x6xf32>, tensor<2x6xf32>
}

// A transpose passes what is computed element by element, and meets the one before it.
func.func @layouts(%x: tensor<1x4x4x8xf32>, %y: tensor<1x4x4x8xf32>, %s: tensor<1xf32>) -> tensor<1x4x4x8xf32> {
  %a = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x4x4x8xf32>) -> tensor<1x8x4x4xf32>
  %b = "onnx.Transpose"(%y) {perm = [0, 3, 1, 2]} : (tensor<1x4x4x8xf32>) -> tensor<1x8x4x4xf32>
  %c = "onnx.Mul"(%a, %s) : (tensor<1x8x4x4xf32>, tensor<1xf32>) -> tensor<1x8x4x4xf32>
  %d = "onnx.Add"(%c, %b) : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %e = "onnx.Transpose"(%d) {perm = [0, 2, 3, 1]} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  %f = "neap.opaque"(%e) : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %f : tensor<1x4x4x8xf32>
}

// A row of weights is not repeated in the same way under another layout.
func.func @layouts_not(%x: tensor<1x4x4x8xf32>, %w: tensor<4xf32>) -> tensor<1x4x4x8xf32> {
  %a = "onnx.Transpose"(%x) {perm = [0, 3, 1, 2]} : (tensor<1x4x4x8xf32>) -> tensor<1x8x4x4xf32>
  %c = "onnx.Mul"(%a, %w) : (tensor<1x8x4x4xf32>, tensor<4xf32>) -> tensor<1x8x4x4xf32>
  %e = "onnx.Transpose"(%c) {perm = [0, 2, 3, 1]} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  %f = "neap.opaque"(%e) : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %f : tensor<1x4x4x8xf32>
}

// Quantized again by the same scale it is what it was; by another one it is not.
func.func @quantized(%q: tensor<8x!quant.uniform<i8:f32, 0.5:3>>) -> (tensor<8x!quant.uniform<i8:f32, 0.5:3>>, tensor<8x!quant.uniform<i8:f32, 0.25:3>>) {
  %r = "tfl.dequantize"(%q) : (tensor<8x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<8xf32>
  %s = "tfl.quantize"(%r) {qtype = tensor<8x!quant.uniform<i8:f32, 0.5:3>>} : (tensor<8xf32>) -> tensor<8x!quant.uniform<i8:f32, 0.5:3>>
  %a = "neap.opaque"(%s) : (tensor<8x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<8x!quant.uniform<i8:f32, 0.5:3>>
  %t = "tfl.quantize"(%r) {qtype = tensor<8x!quant.uniform<i8:f32, 0.25:3>>} : (tensor<8xf32>) -> tensor<8x!quant.uniform<i8:f32, 0.25:3>>
  %b = "neap.opaque"(%t) : (tensor<8x!quant.uniform<i8:f32, 0.25:3>>) -> tensor<8x!quant.uniform<i8:f32, 0.25:3>>
  return %a, %b : tensor<8x!quant.uniform<i8:f32, 0.5:3>>, tensor<8x!quant.uniform<i8:f32, 0.25:3>>
}

// Equal operations on equal operands are one, where holding the result for the second reader raises no peak.
func.func @equal(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %a = "tfl.softmax"(%x) {beta = 1.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %b = "tfl.softmax"(%x) {beta = 1.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %c = "neap.opaque"(%a, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %c : tensor<8xf32>
}

// Here it would: the first softmax would be held over the large value in between.
func.func @equal_not(%x: tensor<1xf32>) -> tensor<1xf32> {
  %w = "neap.opaque"(%x) {n = 1 : i64} : (tensor<1xf32>) -> tensor<1x64xf32>
  %a = "onnx.Expand"(%x) : (tensor<1xf32>) -> tensor<64xf32>
  %s = "onnx.ReduceSum"(%a) : (tensor<64xf32>) -> tensor<1xf32>
  %l = "neap.opaque"(%s, %w) {n = 2 : i64} : (tensor<1xf32>, tensor<1x64xf32>) -> tensor<512xf32>
  %m = "neap.opaque"(%l) {n = 3 : i64} : (tensor<512xf32>) -> tensor<1xf32>
  %b = "onnx.Expand"(%x) : (tensor<1xf32>) -> tensor<64xf32>
  %c = "neap.opaque"(%m, %b) {n = 4 : i64} : (tensor<1xf32>, tensor<64xf32>) -> tensor<1xf32>
  return %c : tensor<1xf32>
}
