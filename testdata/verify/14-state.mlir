// A variable keeps its type.

"neap.var"() {sym_name = "h", type = tensor<4xf32>} : () -> ()
func.func @f() {
  %h, %t = "neap.read"() {var = @h} : () -> (tensor<4xf32>, !neap.token)
  "neap.write"(%h, %t) {var = @h} : (tensor<4xf32>, !neap.token) -> ()
  return
}

// -----

"neap.var"() {sym_name = "h", type = tensor<4xf32>} : () -> ()
func.func @f() {
  // expected-error @below {{the results have the types (tensor<4xi8>), the variable has (tensor<4xf32>)}}
  %h = "neap.read"() {var = @h} : () -> tensor<4xi8>
  // expected-error @below {{the operands have the types (tensor<4xi8>), the variable has (tensor<4xf32>)}}
  "neap.write"(%h) {var = @h} : (tensor<4xi8>) -> ()
  return
}
