// RUN: --fuse
// Movements that are nothing, alone or together.
func.func @cancel(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %a = "tfl.exp"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %perm = "tfl.pseudo_const"() {value = dense<[2, 0, 1]> : tensor<3xi32>} : () -> tensor<3xi32>
  %back = "tfl.pseudo_const"() {value = dense<[1, 2, 0]> : tensor<3xi32>} : () -> tensor<3xi32>
  %t = "tfl.transpose"(%a, %perm) : (tensor<2x3x4xf32>, tensor<3xi32>) -> tensor<4x2x3xf32>
  %u = "tfl.transpose"(%t, %back) : (tensor<4x2x3xf32>, tensor<3xi32>) -> tensor<2x3x4xf32>
  %b = "neap.opaque"(%u) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %f = "tfl.reshape"(%b) : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %g = "tfl.reshape"(%f) : (tensor<24xf32>) -> tensor<4x6xf32>
  %h = "tfl.reshape"(%g) : (tensor<4x6xf32>) -> tensor<2x3x4xf32>
  %c = "neap.opaque"(%h) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %one = "tfl.concatenation"(%c) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %same = "tfl.reshape"(%one) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %zero = "tfl.pseudo_const"() {value = dense<0> : tensor<3xi32>} : () -> tensor<3xi32>
  %all = "tfl.pseudo_const"() {value = dense<-1> : tensor<3xi32>} : () -> tensor<3xi32>
  %s = "tfl.slice"(%same, %zero, %all) : (tensor<2x3x4xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x3x4xf32>
  %d = "neap.opaque"(%s) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %d : tensor<2x3x4xf32>
}

// Transposes in a row become one where the permutation is an attribute; one that moves unit dimensions is a reshape.
func.func @compose(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2xf32>, tensor<2x3x4xf32>) {
  %a = "onnx.Transpose"(%x) {perm = [2, 0, 1]} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %b = "onnx.Transpose"(%a) {perm = [2, 0, 1]} : (tensor<4x2x3xf32>) -> tensor<3x4x2xf32>
  %e = "onnx.Exp"(%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %shape = "onnx.Constant"() {value = dense<[2, 1, 3, 4]> : tensor<4xi64>} : () -> tensor<4xi64>
  %r = "onnx.Reshape"(%e, %shape) : (tensor<2x3x4xf32>, tensor<4xi64>) -> tensor<2x1x3x4xf32>
  %t = "onnx.Transpose"(%r) {perm = [1, 0, 2, 3]} : (tensor<2x1x3x4xf32>) -> tensor<1x2x3x4xf32>
  %axes = "onnx.Constant"() {value = dense<[0]> : tensor<1xi64>} : () -> tensor<1xi64>
  %s = "onnx.Squeeze"(%t, %axes) : (tensor<1x2x3x4xf32>, tensor<1xi64>) -> tensor<2x3x4xf32>
  %u = "neap.opaque"(%s) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %b, %u : tensor<3x4x2xf32>, tensor<2x3x4xf32>
}
