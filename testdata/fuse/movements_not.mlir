// RUN: --fuse
// What only looks like nothing.
func.func @moves(%x: tensor<4x4xf32>, %perm: tensor<2xi32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<16xi32>) {
  %a = "tfl.exp"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %turn = "tfl.pseudo_const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %square = "tfl.transpose"(%a, %turn) : (tensor<4x4xf32>, tensor<2xi32>) -> tensor<4x4xf32>
  %computed = "tfl.transpose"(%a, %perm) : (tensor<4x4xf32>, tensor<2xi32>) -> tensor<4x4xf32>
  %flat = "tfl.reshape"(%square) : (tensor<4x4xf32>) -> tensor<16xf32>
  %back = "tfl.reshape"(%flat) : (tensor<16xf32>) -> tensor<4x4xf32>
  %active = "tfl.concatenation"(%back) {axis = 0 : i32, fused_activation_function = "RELU"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %bits = "tfl.bitcast"(%flat) : (tensor<16xf32>) -> tensor<16xi32>
  return %computed, %active, %a, %bits : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<16xi32>
}

// A function does not hand out its argument or a constant in place of a result of its own; the user's own marks stay.
func.func @handed_out(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = "tfl.reshape"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = "tfl.pseudo_const"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %b = "tfl.reshape"(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %e = "tfl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %kept = "tfl.reshape"(%e) {neap.keep} : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %kept : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A constant whose elements are of another type than its result.
func.func @mistyped(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = "tfl.pseudo_const"() {value = dense<0> : tensor<8xi32>} : () -> tensor<2xi32>
  %all = "tfl.pseudo_const"() {value = dense<-1> : tensor<2xi32>} : () -> tensor<2xi32>
  %s = "tfl.slice"(%x, %zero, %all) : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xf32>
  %y = "neap.opaque"(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
