// RUN: --canonicalize-views
// Which operands a result may overwrite; whether one is taken depends on the order and is not asked here.
func.func @candidates(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>, %row: tensor<6xf32>) -> tensor<4x6xi8> {
  %both = "tfl.add"(%x, %y) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %twice = "tfl.mul"(%both, %both) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %broadcast = "tfl.sub"(%row, %twice) : (tensor<6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %lines = "tfl.softmax"(%broadcast) {beta = 1.0 : f32} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %smaller = "tfl.cast"(%lines) : (tensor<4x6xf32>) -> tensor<4x6xi8>
  return %smaller : tensor<4x6xi8>
}

// Larger elements, another shape, another layout, a lookup table, a constant, a policy, a heavy operation; and what is there stays.
func.func @candidates_not(%x: tensor<4x6xi8>, %w: tensor<6x6xf32>, %d: tensor<?x6xf32>) -> tensor<4x6xf32> {
  %larger = "tfl.cast"(%x) : (tensor<4x6xi8>) -> tensor<4x6xf32>
  %never = "tfl.abs"(%larger) {neap.reuse = "never"} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %padded = "tfl.abs"(%larger) {neap.bytes = array<i64: 128>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = "tfl.pseudo_const"() {value = dense<1.0> : tensor<4x6xf32>} : () -> tensor<4x6xf32>
  %constant = "tfl.add"(%c, %never) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %heavy = "tfl.fully_connected"(%constant, %w) : (tensor<4x6xf32>, tensor<6x6xf32>) -> tensor<4x6xf32>
  %given = "tfl.abs"(%heavy) {neap.may_inplace = []} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %dynamic = "tfl.abs"(%d) : (tensor<?x6xf32>) -> tensor<?x6xf32>
  return %given : tensor<4x6xf32>
}
