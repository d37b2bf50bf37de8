// RUN: --canonicalize-views --reorder
// A cache that nobody reads in its old state is written where it lies: 4,168 bytes instead of 8,264.
func.func @scatter(%old: tensor<64x16xf32>, %at: tensor<1x1xi64>, %x: tensor<1x16xf32>) -> tensor<64x16xf32> {
  %new = "onnx.ScatterND"(%old, %at, %x) : (tensor<64x16xf32>, tensor<1x1xi64>, tensor<1x16xf32>) -> tensor<64x16xf32>
  return %new : tensor<64x16xf32>
}
// -----
// The state of a variable as well: what is read is a copy that the update overwrites.
"neap.var"() {sym_name = "kv", type = tensor<64x16xf32>} : () -> ()
func.func @variable(%x: tensor<1x16xf32>, %at: tensor<i32>, %zero: tensor<i32>) -> tensor<16xf32> {
  %old = "neap.read"() {var = @kv} : () -> tensor<64x16xf32>
  %new = "stablehlo.dynamic_update_slice"(%old, %x, %at, %zero) : (tensor<64x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<64x16xf32>
  "neap.write"(%new) {var = @kv} : (tensor<64x16xf32>) -> ()
  %y = "neap.opaque"(%new) : (tensor<64x16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}
// -----
// What is written into is the second operand here.
func.func @destination(%x: tensor<1x16xf32>, %old: tensor<64x16xf32>, %at: tensor<1x1xindex>) -> tensor<64x16xf32> {
  %new = "tensor.scatter"(%x, %old, %at) <{scatter_dims = array<i64: 0>, unique}> : (tensor<1x16xf32>, tensor<64x16xf32>, tensor<1x1xindex>) -> tensor<64x16xf32>
  return %new : tensor<64x16xf32>
}
