// Arenas, variables and classes.

"neap.arena"() {sym_name = "sram", size = 262144 : i64, align = 64 : i64, memory_space = 1 : i64} : () -> ()
"neap.arena"() {sym_name = "dram"} : () -> ()
"neap.var"() {sym_name = "h", type = tensor<4xf32>} : () -> ()
"neap.class"() {sym_name = "L0A", limit = 1 : i64} : () -> ()

// -----

// expected-error @below {{`size` must be an integer, at least 0}}
"neap.arena"() {sym_name = "a", size = -1 : i64} : () -> ()
// expected-error @below {{`align` must be a power of two}}
"neap.arena"() {sym_name = "b", align = 3 : i64} : () -> ()
// expected-error @below {{needs a name}}
"neap.arena"() : () -> ()
// expected-error @below {{needs `type`}}
"neap.var"() {sym_name = "h"} : () -> ()
// expected-error @below {{needs `limit`}}
"neap.class"() {sym_name = "c", limit = 0 : i64} : () -> ()
// expected-error @below {{has no operands and no results}}
%x = "neap.class"() {sym_name = "d", limit = 1 : i64} : () -> i32
func.func @f() {
  // expected-error @below {{must stand in a module}}
  "neap.arena"() {sym_name = "e"} : () -> ()
  return
}
