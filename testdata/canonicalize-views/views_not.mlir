// RUN: --canonicalize-views
// Near misses: bytes move, are not consecutive, are not known, or somebody has said otherwise.
func.func @moved(%x: tensor<4x6xf32>, %perm: tensor<2xi32>) -> tensor<6x4xf32> {
  %s = "tfl.exp"(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %order = "tfl.pseudo_const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %turned = "tfl.transpose"(%s, %order) : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  %computed = "tfl.transpose"(%s, %perm) : (tensor<4x6xf32>, tensor<2xi32>) -> tensor<6x4xf32>
  return %turned : tensor<6x4xf32>
}

func.func @scattered(%x: tensor<4x6xf32>, %begin: tensor<2xi32>) -> tensor<4x3xf32> {
  %s = "tfl.exp"(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %from = "tfl.pseudo_const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %size = "tfl.pseudo_const"() {value = dense<[4, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %columns = "tfl.slice"(%s, %from, %size) : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x3xf32>
  %somewhere = "tfl.slice"(%s, %begin, %size) : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x3xf32>
  %axis = "tfl.pseudo_const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %l, %r = "tfl.split"(%axis, %s) {num_splits = 2 : i32} : (tensor<i32>, tensor<4x6xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  %half = "tfl.pseudo_const"() {value = dense<2> : tensor<2xi32>} : () -> tensor<2xi32>
  %end = "tfl.pseudo_const"() {value = dense<[4, 6]> : tensor<2xi32>} : () -> tensor<2xi32>
  %odd = "tfl.strided_slice"(%s, %from, %end, %half) {begin_mask = 0 : i32, end_mask = 0 : i32} : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %columns : tensor<4x3xf32>
}

// Four-bit elements: the second row starts in the middle of a byte.
func.func @bits(%x: tensor<3x5xi4>) -> tensor<1x5xi4> {
  %s = "tfl.abs"(%x) : (tensor<3x5xi4>) -> tensor<3x5xi4>
  %from = "tfl.pseudo_const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %size = "tfl.pseudo_const"() {value = dense<[1, 5]> : tensor<2xi32>} : () -> tensor<2xi32>
  %row = "tfl.slice"(%s, %from, %size) : (tensor<3x5xi4>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x5xi4>
  return %row : tensor<1x5xi4>
}

func.func @said(%x: tensor<4xf32>) -> (tensor<2x2xf32> {neap.io = "external"}, tensor<4xf32>) {
  %a = "tfl.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %never = "tfl.reshape"(%a) {neap.reuse = "never"} : (tensor<4xf32>) -> tensor<2x2xf32>
  %none = "tfl.reshape"(%a) {neap.view = []} : (tensor<4xf32>) -> tensor<2x2xf32>
  %pinned = "tfl.reshape"(%a) {neap.pin = array<i64: 64>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %padded = "tfl.reshape"(%a) {neap.bytes = array<i64: 32>} : (tensor<4xf32>) -> tensor<2x2xf32>
  %caller = "tfl.reshape"(%a) : (tensor<4xf32>) -> tensor<2x2xf32>
  %c = "tfl.pseudo_const"() {value = dense<1.0> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %fixed = "tfl.reshape"(%c) : (tensor<2x2xf32>) -> tensor<4xf32>
  %fine = "tfl.reshape"(%c) : (tensor<2x2xf32>) -> tensor<4xf32>
  return %caller, %fixed : tensor<2x2xf32>, tensor<4xf32>
}
