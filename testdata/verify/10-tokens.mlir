// Tokens come after all data.

func.func @f(%x: i32, %t: !neap.token) -> (i32, !neap.token) {
  %a, %u = "t.a"(%x, %t) : (i32, !neap.token) -> (i32, !neap.token)
  return %a, %u : i32, !neap.token
}

// -----

// expected-error @below {{tokens must be the last arguments of a block}}
func.func @f(%t: !neap.token, %x: i32) {
  // expected-error @below {{tokens must be the last operands}}
  "t.a"(%t, %x) : (!neap.token, i32) -> ()
  // expected-error @below {{tokens must be the last results}}
  %u, %b = "t.b"() : () -> (!neap.token, i32)
  return
}
