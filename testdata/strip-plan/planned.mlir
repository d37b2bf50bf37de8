// RUN: --strip-plan
// What a plan wrote goes; what the program says (views, candidates, tokens, io, scratch) stays.
func.func @main(%x: tensor<4xf32> {neap.io = "held", neap.offset = 0 : i64}) -> (tensor<4xf32> {neap.arena = @arena, neap.io = "arena"}) attributes {neap.arena_bytes = 32 : i64, neap.fingerprint = "0f", neap.lower_bound = 32 : i64, neap.peak = 32 : i64, neap.proof = "certified"} {
  %a, %t = "tfl.abs"(%x) {neap.live = array<i64: 0, 2>, neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}], neap.offsets = array<i64: 16>, neap.scratch = 8 : i64, neap.scratch_offset = 32 : i64} : (tensor<4xf32>) -> (tensor<4xf32>, !neap.token)
  %r = "tfl.reshape"(%a) {neap.view = [{byte_offset = 0 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<4xf32>) -> tensor<2x2xf32>
  %b = "tfl.exp"(%a) {neap.inplace = [{operand = 0 : i64, result = 0 : i64}], neap.offsets = array<i64: 16>} : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

func.func @bare_not(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
