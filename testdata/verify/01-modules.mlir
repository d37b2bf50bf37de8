// A module is one block; its attributes have a dialect's prefix.

module @m attributes {neap.bounds = {N = [1, 8]}} {
  module @inner {
  }
}

// -----

// expected-error @below {{the attribute `plain` has no dialect's prefix}}
module attributes {plain = 1 : i64} {
}

// -----

module {
  // expected-error @below {{must have one region of one block without arguments}}
  "builtin.module"() ({
  ^bb0(%x: i32):
  }) : () -> ()
  // expected-error @below {{must have one region of one block without arguments}}
  "builtin.module"() ({
  }, {
  }) : () -> ()
}
