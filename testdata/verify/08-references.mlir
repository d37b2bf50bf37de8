// What is named exists and is of the right kind.

"neap.arena"() {sym_name = "sram", size = 1024 : i64} : () -> ()
"neap.class"() {sym_name = "L0A", limit = 1 : i64} : () -> ()
"neap.var"() {sym_name = "h", type = tensor<4xf32>} : () -> ()
func.func private @g()
module @lib {
  func.func private @inner()
}
func.func @f(%x: tensor<4xf32> {neap.arena = @sram}) {
  %h = "neap.read"() {var = @h} : () -> tensor<4xf32>
  %a:2 = "t.two"() {neap.arena = [@sram, @sram], neap.class = ["L0A", ""]} : () -> (tensor<4xf32>, tensor<4xf32>)
  "func.call"() <{callee = @g}> : () -> ()
  "neap.call"() {callee = @lib::@inner} : () -> ()
  return
}

// -----

"neap.arena"() {sym_name = "sram"} : () -> ()
// expected-error @below {{`neap.arena` = @dram names no `neap.arena`}}
func.func @f(%x: tensor<4xf32> {neap.arena = @dram}) {
  // expected-error @below {{`callee` = @sram names no function}}
  "func.call"() <{callee = @sram}> : () -> ()
  // expected-error @below {{`callee` = @nowhere names no function}}
  "neap.call"() {callee = @nowhere} : () -> ()
  // expected-error @below {{needs `callee`}}
  "neap.call"() : () -> ()
  // expected-error @below {{`var` = @sram names no `neap.var`}}
  %h = "neap.read"() {var = @sram} : () -> tensor<4xf32>
  // expected-error @below {{needs `var`}}
  "neap.write"(%h) : (tensor<4xf32>) -> ()
  // expected-error @below {{`neap.arena` = @f names no `neap.arena`}}
  %a = "t.a"() {neap.arena = @f} : () -> tensor<4xf32>
  // expected-error @below {{`neap.class` = "L0A" names no `neap.class`}}
  %b = "t.b"() {neap.class = ["L0A"]} : () -> tensor<4xf32>
  return
}
