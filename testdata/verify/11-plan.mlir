// Plan attributes run parallel to the data results and stay in range.

"neap.arena"() {sym_name = "sram"} : () -> ()
module attributes {neap.bounds = {M = 3 : i64, N = [1, 8]}} {
}
func.func @f(%x: tensor<8xf32> {neap.io = "arena", neap.offset = 64 : i64}, %n: tensor<?xf32> {neap.bytes = 32 : i64, neap.dims = ["N"]}) -> (tensor<8xf32> {neap.io = "external"}) attributes {neap.arena_bytes = 96 : i64, neap.fingerprint = "ab", neap.lower_bound = 64 : i64, neap.peak = 64 : i64, neap.proof = "search"} {
  %a:2, %t = "t.a"(%x) {neap.align = 16 : i64, neap.bytes = array<i64: 32, 16>, neap.cycles = 7 : i64, neap.group = "g", neap.keep, neap.live = array<i64: 0, 2, 0, 1>, neap.names = ["p", "q"], neap.offsets = array<i64: 0, -1>, neap.pin = array<i64: -1, 0>, neap.pipe = "V", neap.reuse = "must", neap.scratch = 8 : i64, neap.scratch_offset = 32 : i64} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>, !neap.token)
  %v = "t.view"(%a#0) {neap.view = [{byte_offset = 16 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<8xf32>) -> tensor<4xf32>
  %w = "t.concat"(%a#1, %v) {neap.inplace = [], neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}, {operand = 1 : i64, result = 0 : i64}], neap.may_place = [{byte_offset = 0 : i64, operand = 0 : i64}], neap.place = [{byte_offset = 16 : i64, operand = 1 : i64}]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %d = "t.dyn"(%w) {neap.dims = ["N", "M"]} : (tensor<8xf32>) -> tensor<?x?xf32>
  "t.bodies"() ({
  ^bb0(%p: i32, %q: i32):
    "t.end"() : () -> ()
  }) {neap.arg_arenas = [@sram, @sram], neap.arg_offsets = array<i64: -1, 16>, neap.callee_bytes = 4 : i64, neap.scratch = 8 : i64, neap.scratch_arena = @sram, neap.scratch_offset = 0 : i64} : () -> ()
  return %w : tensor<8xf32>
}

// -----

func.func @lists() {
  // expected-error @below {{`neap.offsets` has 1 numbers for 2 data results}}
  %a:2 = "t.a"() {neap.offsets = array<i64: 0>} : () -> (i32, i32)
  // expected-error @below {{`neap.offsets` has -2, less than -1}}
  %b = "t.b"() {neap.offsets = array<i64: -2>} : () -> i32
  // expected-error @below {{`neap.offsets` must be `array<i64: ..>`}}
  %c = "t.c"() {neap.offsets = [0]} : () -> i32
  // expected-error @below {{`neap.live` has 1 numbers for 1 data results}}
  %d = "t.d"() {neap.live = array<i64: 0>} : () -> i32
  // expected-error @below {{`neap.live` has [2, 2)}}
  %e = "t.e"() {neap.live = array<i64: 2, 2>} : () -> i32
  // expected-error @below {{`neap.live` has [-1, 2)}}
  %f = "t.f"() {neap.live = array<i64: -1, 2>} : () -> i32
  // expected-error @below {{`neap.live` must be `array<i64: ..>`}}
  %g = "t.g"() {neap.live = "x"} : () -> i32
  // expected-error @below {{`neap.bytes` has -1, less than 0}}
  %h = "t.h"() {neap.bytes = array<i64: -1>} : () -> i32
  // expected-error @below {{`neap.arena` has 2 symbols for 1 data results}}
  %i = "t.i"() {neap.arena = [@a, @b]} : () -> i32
  // expected-error @below {{`neap.arg_offsets` has 1 numbers for 0 arguments of its bodies}}
  "t.l"() {neap.arg_offsets = array<i64: 0>} : () -> ()
  // expected-error @below {{`neap.arg_arenas` has 1 symbols for 0 arguments of its bodies}}
  "t.m"() {neap.arg_arenas = [@a]} : () -> ()
  // expected-error @below {{`neap.scratch_arena` = @a names no `neap.arena`}}
  "t.n"() {neap.scratch_arena = @a} : () -> ()
  // expected-error @below {{`neap.names` has 0 strings for 1 data results}}
  %j = "t.j"() {neap.names = []} : () -> i32
  // expected-error @below {{`neap.dims` has 1 strings for 0 dimensions `?`}}
  %k = "t.k"() {neap.dims = ["N"]} : () -> i32
  return
}

// -----

func.func @records(%x: i32) {
  // expected-error @below {{`neap.view`: there is no operand 1}}
  %a = "t.a"(%x) {neap.view = [{byte_offset = 0 : i64, operand = 1 : i64, result = 0 : i64}]} : (i32) -> i32
  // expected-error @below {{`neap.view`: there is no result 1}}
  %b = "t.b"(%x) {neap.view = [{byte_offset = 0 : i64, operand = 0 : i64, result = 1 : i64}]} : (i32) -> i32
  // expected-error @below {{`neap.view`: there is no byte offset -4}}
  %c = "t.c"(%x) {neap.view = [{byte_offset = -4 : i64, operand = 0 : i64, result = 0 : i64}]} : (i32) -> i32
  // expected-error @below {{`neap.view` names result 0 twice}}
  %d = "t.d"(%x) {neap.view = [{operand = 0 : i64, result = 0 : i64}, {operand = 0 : i64, result = 0 : i64}]} : (i32) -> i32
  // expected-error @below {{an entry of `neap.inplace` must have the integers operand, result}}
  %e = "t.e"(%x) {neap.inplace = [{operand = 0 : i64}]} : (i32) -> i32
  // expected-error @below {{an entry of `neap.may_inplace` must have the integers operand, result}}
  %f = "t.f"(%x) {neap.may_inplace = [{byte_offset = 0 : i64, operand = 0 : i64, result = 0 : i64}]} : (i32) -> i32
  // expected-error @below {{`neap.place` must be an array of dictionaries}}
  %g = "t.g"(%x) {neap.place = 0 : i64} : (i32) -> i32
  // expected-error @below {{`neap.may_place` on an operation without data results}}
  "t.h"(%x) {neap.may_place = [{byte_offset = 0 : i64, operand = 0 : i64}]} : (i32) -> ()
  // expected-error @below {{`neap.place` names operand 0 twice}}
  %i = "t.i"(%x) {neap.place = [{operand = 0 : i64}, {operand = 0 : i64}]} : (i32) -> i32
  return
}

// -----

module attributes {neap.bounds = {M = 0 : i64}} {
  // expected-error @below {{`neap.peak` must be an integer}}
  func.func @words(%x: i32) attributes {neap.peak = "many"} {
    // expected-error @below {{`neap.scratch_offset` without `neap.scratch`}}
    "t.a"() {neap.scratch_offset = 0 : i64} : () -> ()
    // expected-error @below {{`neap.scratch` is -1, less than 0}}
    "t.b"() {neap.scratch = -1 : i64} : () -> ()
    // expected-error @below {{`neap.align` must be a power of two}}
    "t.c"() {neap.align = 24 : i64} : () -> ()
    // expected-error @below {{`neap.reuse` is "sometimes", not one of never, auto, warn, must}}
    "t.d"() {neap.reuse = "sometimes"} : () -> ()
    // expected-error @below {{`neap.keep` has no value}}
    "t.e"() {neap.keep = true} : () -> ()
    // expected-error @below {{`neap.group` must be a string}}
    "t.f"() {neap.group = 1 : i64} : () -> ()
    return
  }
  // expected-error @below {{`neap.io` of argument 0 is "both", not one of arena, held, external}}
  func.func private @io(i32 {neap.io = "both"})
  // expected-error @below {{`neap.offset` is -2, less than -1}}
  func.func private @offset(i32 {neap.offset = -2 : i64})
  // expected-error @below {{`neap.proof` is "sure", not one of certified, search, tree, none}}
  func.func private @proof() attributes {neap.proof = "sure"}
}

// -----

// expected-error @below {{`neap.bounds`: `N` must be `[low, high]` with 0 <= low <= high}}
module attributes {neap.bounds = {N = [8, 1]}} {
}

// -----

// A window goes beyond what it is a window of; the last one ends where its operand does.
func.func @inside(%x: tensor<16xi8>) {
  // expected-error @below {{`neap.view`: 12 bytes from byte 7 on do not lie inside the 16 bytes around them}}
  %a = "t.a"(%x) {neap.view = [{byte_offset = 7 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<16xi8>) -> tensor<12xi8>
  // expected-error @below {{`neap.may_place`: 12 bytes from byte 9223372036854775806 on do not lie inside the 16 bytes around them}}
  %b = "t.b"(%a) {neap.may_place = [{byte_offset = 9223372036854775806 : i64, operand = 0 : i64}]} : (tensor<12xi8>) -> tensor<16xi8>
  %c = "t.c"(%b) {neap.view = [{byte_offset = 4 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<16xi8>) -> tensor<12xi8>
  return
}

// -----

// Parts reach into each other; the last two touch.
func.func @apart(%x: tensor<32xi8>) {
  // expected-error @below {{`neap.may_place`: the 32 bytes from byte 6 on reach into the part at byte 32}}
  %a = "t.a"(%x, %x) {neap.may_place = [{byte_offset = 6 : i64, operand = 0 : i64}, {byte_offset = 32 : i64, operand = 1 : i64}]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<64xi8>
  %b = "t.b"(%x, %x) {neap.may_place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 32 : i64, operand = 1 : i64}]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<64xi8>
  return
}
