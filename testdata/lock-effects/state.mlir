// RUN: --lock-effects
// A read and a write of one variable without a data edge (H14): the write waits, also where the variable is named by a string or a handle.
"neap.var"() {sym_name = "v", type = tensor<16xf32>} : () -> ()
func.func @symbol(%x: tensor<16xf32>) -> tensor<16xf32> {
  %r = "neap.read"() {var = @v} : () -> tensor<16xf32>
  "neap.write"(%x) {var = @v} : (tensor<16xf32>) -> ()
  %y = "tfl.add"(%r, %x) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}

func.func @handle(%x: tensor<16xf32>) -> tensor<16xf32> {
  %h = "tfl.var_handle"() {container = "", shared_name = "w"} : () -> tensor<!tf_type.resource>
  %r = "tfl.read_variable"(%h) : (tensor<!tf_type.resource>) -> tensor<16xf32>
  %again = "tfl.var_handle"() {container = "", shared_name = "w"} : () -> tensor<!tf_type.resource>
  "tfl.assign_variable"(%again, %x) : (tensor<!tf_type.resource>, tensor<16xf32>) -> ()
  return %r : tensor<16xf32>
}

// Two reads need no order, two variables neither, and where data says it already no token is added.
func.func @free_not(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %a = "neap.read"() {var = @v} : () -> tensor<16xf32>
  %b = "neap.read"() {var = @v} : () -> tensor<16xf32>
  "neap.write"(%x) {var = @u} : (tensor<16xf32>) -> ()
  return %a, %b : tensor<16xf32>, tensor<16xf32>
}

func.func @implied_not(%x: tensor<16xf32>) {
  %r = "neap.read"() {var = @v} : () -> tensor<16xf32>
  %y = "tfl.add"(%r, %x) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  "neap.write"(%y) {var = @v} : (tensor<16xf32>) -> ()
  return
}
