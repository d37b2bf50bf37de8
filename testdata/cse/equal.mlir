// RUN: --cse
// Equal operations become one, also where they are equal only after others became one; names do not count.
func.func @equal(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = "tfl.abs"(%x) {neap.name = "first"} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "tfl.abs"(%x) {neap.name = "second"} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "tfl.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %d = "tfl.exp"(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %c, %d : tensor<4xf32>, tensor<4xf32>
}

// Other operands, attributes or result types; constants and opaque operations, whose text does not say all; effects; kept ones.
"neap.var"() {sym_name = "h", type = tensor<4xf32>} : () -> ()
func.func @different_not(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = "tfl.sub"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = "tfl.sub"(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = "tfl.leaky_relu"(%a) {alpha = 1.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %d = "tfl.leaky_relu"(%a) {alpha = 2.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %e = "tfl.cast"(%a) : (tensor<4xf32>) -> tensor<4xi8>
  %f = "tfl.cast"(%a) : (tensor<4xf32>) -> tensor<4xi32>
  %g = "tfl.pseudo_const"() {value = dense_resource<elided> : tensor<4xf32>} : () -> tensor<4xf32>
  %h = "tfl.pseudo_const"() {value = dense_resource<elided> : tensor<4xf32>} : () -> tensor<4xf32>
  %i = "neap.opaque"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %j = "neap.opaque"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %k = "neap.read"() {var = @h} : () -> tensor<4xf32>
  "neap.write"(%x) {var = @h} : (tensor<4xf32>) -> ()
  %l = "neap.read"() {var = @h} : () -> tensor<4xf32>
  %m = "tfl.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %n = "tfl.abs"(%x) {neap.keep} : (tensor<4xf32>) -> tensor<4xf32>
  return %m, %n : tensor<4xf32>, tensor<4xf32>
}

// A body does not share with the operations around it.
func.func @body_not(%x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = "tfl.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = "neap.if"(%p) ({
    %inner = "tfl.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "neap.yield"(%inner) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %a, %c : tensor<4xf32>, tensor<4xf32>
}
