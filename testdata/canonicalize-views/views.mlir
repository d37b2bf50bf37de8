// RUN: --canonicalize-views
// Results that are consecutive bytes of an operand: reshapes, unit transposes, slices and splits along the outermost dimension.
func.func @views(%x: tensor<4x6xf32>) -> (tensor<6xf32>, tensor<2x6xf32>) {
  %s = "tfl.exp"(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %shape = "tfl.pseudo_const"() {value = dense<[24]> : tensor<1xi32>} : () -> tensor<1xi32>
  %flat = "tfl.reshape"(%s, %shape) : (tensor<4x6xf32>, tensor<1xi32>) -> tensor<24xf32>
  %dim = "tfl.pseudo_const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %more = "tfl.expand_dims"(%flat, %dim) : (tensor<24xf32>, tensor<i32>) -> tensor<1x24xf32>
  %perm = "tfl.pseudo_const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %turned = "tfl.transpose"(%more, %perm) : (tensor<1x24xf32>, tensor<2xi32>) -> tensor<24x1xf32>
  %begin = "tfl.pseudo_const"() {value = dense<[3, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %size = "tfl.pseudo_const"() {value = dense<[1, -1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %row = "tfl.slice"(%s, %begin, %size) : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x6xf32>
  %zero = "tfl.pseudo_const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %top, %bottom = "tfl.split"(%zero, %s) {num_splits = 2 : i32} : (tensor<i32>, tensor<4x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>)
  %r0, %r1 = "tfl.unpack"(%top) {axis = 0 : i32, num = 2 : i32} : (tensor<2x6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  %from = "tfl.pseudo_const"() {value = dense<[0, -4]> : tensor<2xi32>} : () -> tensor<2xi32>
  %to = "tfl.pseudo_const"() {value = dense<[1, 5]> : tensor<2xi32>} : () -> tensor<2xi32>
  %one = "tfl.pseudo_const"() {value = dense<1> : tensor<2xi32>} : () -> tensor<2xi32>
  %inner = "tfl.strided_slice"(%row, %from, %to, %one) {begin_mask = 0 : i32, end_mask = 0 : i32, ellipsis_mask = 0 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32} : (tensor<1x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xf32>
  return %r1, %bottom : tensor<6xf32>, tensor<2x6xf32>
}
