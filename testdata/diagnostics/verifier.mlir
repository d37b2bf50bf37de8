// Errors of the verifier, with the place of the definition.
func.func @f(%c: i1) -> i32 {
  %a = "t.use"(%later) : (i32) -> i32
  %later = "t.def"() : () -> i32
  "func.call"(%a) <{callee = @g}> : (i32) -> ()
  return %c : i1
}
func.func private @f()
