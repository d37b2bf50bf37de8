// Symbols are unique in their module.

func.func private @f()
module @f_too {
  func.func private @f()
}

// -----

func.func private @f()
// expected-error @below {{the symbol `@f` is defined twice}}
"neap.arena"() {sym_name = "f"} : () -> ()
// expected-error @below {{`sym_name` must be a string that is not empty}}
"t.sym"() {sym_name = ""} : () -> ()
