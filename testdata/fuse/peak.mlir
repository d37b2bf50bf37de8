// RUN: --fuse
// Fusion that would raise the peak (H17): each sum would wait for what the other matrix gives, so both matrices would be there at once.
// One of them may wait: the other one comes first then.
func.func @raises(%a: tensor<1xf32>, %b: tensor<1xf32>) -> tensor<1x32xf32> {
  %axis = "tfl.pseudo_const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %p = "neap.opaque"(%a) : (tensor<1xf32>) -> tensor<32x32xf32>
  %r = "tfl.sum"(%p, %axis) {keep_dims = true} : (tensor<32x32xf32>, tensor<i32>) -> tensor<1x32xf32>
  %t = "neap.opaque"(%p) : (tensor<32x32xf32>) -> tensor<1x32xf32>
  %q = "neap.opaque"(%b) : (tensor<1xf32>) -> tensor<32x32xf32>
  %s = "tfl.sum"(%q, %axis) {keep_dims = true} : (tensor<32x32xf32>, tensor<i32>) -> tensor<1x32xf32>
  %u = "neap.opaque"(%q) : (tensor<32x32xf32>) -> tensor<1x32xf32>
  %v = "tfl.add"(%r, %u) : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %w = "tfl.add"(%s, %t) : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %y = "neap.opaque"(%v, %w) : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}

// Nothing has to wait where the other operand is there anyway.
func.func @raises_not(%a: tensor<1xf32>, %s: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %p = "neap.opaque"(%a) : (tensor<1xf32>) -> tensor<32x32xf32>
  %axis = "tfl.pseudo_const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r = "tfl.sum"(%p, %axis) {keep_dims = true} : (tensor<32x32xf32>, tensor<i32>) -> tensor<1x32xf32>
  %y = "tfl.add"(%r, %s) : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}
