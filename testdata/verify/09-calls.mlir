// A call has the types of its callee; tokens do not count.

func.func private @g(%x: i32) -> f32 {
  %f = "t.f"(%x) : (i32) -> f32
  return %f : f32
}
func.func @f(%x: i32, %t: !neap.token) {
  %a = "func.call"(%x) <{callee = @g}> : (i32) -> f32
  %b, %u = "neap.call"(%x, %t) {callee = @g} : (i32, !neap.token) -> (f32, !neap.token)
  return
}

// -----

func.func private @g(i32) -> f32
func.func @f(%x: i64) {
  // expected-error @+2 {{the operands have the types (i64), the callee has (i32)}}
  // expected-error @+1 {{the results have the types (), the callee has (f32)}}
  "func.call"(%x) <{callee = @g}> : (i64) -> ()
  // expected-error @below {{the operands have the types (), the callee has (i32)}}
  %a = "neap.call"() {callee = @g} : () -> f32
  return
}
