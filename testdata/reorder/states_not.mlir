// RUN: --canonicalize-views --reorder
// The old state is read again, here by the operation itself: it is data and updates at the same time.
func.func @itself(%old: tensor<4x4xf32>, %at: tensor<4x4xi64>) -> tensor<4x4xf32> {
  %new = "onnx.ScatterElements"(%old, %at, %old) {axis = 0 : i64} : (tensor<4x4xf32>, tensor<4x4xi64>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %new : tensor<4x4xf32>
}
// -----
// The old state is a result.
func.func @old(%old: tensor<4x4xf32>, %at: tensor<1x1xi64>, %x: tensor<1x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %new = "onnx.ScatterND"(%old, %at, %x) : (tensor<4x4xf32>, tensor<1x1xi64>, tensor<1x4xf32>) -> tensor<4x4xf32>
  return %new, %old : tensor<4x4xf32>, tensor<4x4xf32>
}
// -----
// What is scattered, not what is written into, has as many bytes as the result.
func.func @other(%x: tensor<4x4xf32>, %old: tensor<4x4xf32>, %at: tensor<4x1xindex>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %new = "tensor.scatter"(%x, %old, %at) <{scatter_dims = array<i64: 0>, unique}> : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x1xindex>) -> tensor<4x4xf32>
  return %new, %old : tensor<4x4xf32>, tensor<4x4xf32>
}
