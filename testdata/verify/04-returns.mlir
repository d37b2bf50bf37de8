// A return gives what the function promises.

func.func @f(%x: i32, %y: f32) -> (f32, i32) {
  return %y, %x : f32, i32
}

// -----

func.func @f(%x: i32) -> i64 {
  // expected-error @below {{the returned values have the types (i32), the function has (i64)}}
  return %x : i32
}
func.func @g(%x: i32) -> i32 {
  // expected-error @below {{the returned values have the types (), the function has (i32)}}
  return
}

// -----

func.func @f() {
  "t.body"() ({
    // expected-error @below {{must stand in `func.func`}}
    return
  }) : () -> ()
  return
}
