// A function says what it takes and gives, and its first block agrees.

func.func private @declared(i32 {neap.io = "held"}) -> (i32 {neap.io = "external"})
func.func @f(%x: i32) -> i32 attributes {neap.peak = 4 : i64} {
  return %x : i32
}

// -----

// expected-error @below {{have the types (i64), the function type has (i32)}}
"func.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({
^bb0(%x: i64):
  return
}) : () -> ()

// -----

// expected-error @below {{needs a function type}}
"func.func"() <{sym_name = "f"}> ({
}) : () -> ()
// expected-error @below {{needs a name}}
"func.func"() <{function_type = () -> ()}> ({
}) : () -> ()
// expected-error @below {{must have one region}}
"func.func"() <{function_type = () -> (), sym_name = "g"}> : () -> ()

// -----

// expected-error @below {{`arg_attrs` must have one dictionary for each of the 1 arguments}}
"func.func"() <{arg_attrs = [{}, {}], function_type = (i32) -> (), sym_name = "f"}> ({
}) : () -> ()
// expected-error @below {{`res_attrs` must have one dictionary for each of the 0 results}}
"func.func"() <{function_type = (i32) -> (), res_attrs = 1 : i64, sym_name = "g"}> ({
}) : () -> ()

// -----

// expected-error @below {{the argument attribute `io` has no dialect's prefix}}
func.func @f(%x: i32 {io = "held"}) attributes {neap.proof = "none"} {
  return
}
// expected-error @below {{the attribute `peak` has no dialect's prefix}}
func.func @g() attributes {peak = 1 : i64} {
  return
}

// -----

"t.holder"() ({
  // expected-error @below {{must stand in a module}}
  func.func @f() {
    return
  }
}) : () -> ()
