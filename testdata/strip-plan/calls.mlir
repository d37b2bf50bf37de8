// RUN: --strip-plan
// What a plan adds to the scratch of a call goes again; the call's own stays.
func.func @main(%x: tensor<64xi8> {neap.offset = 0 : i64}) -> tensor<64xi8> attributes {neap.arena_bytes = 330 : i64} {
  %a = "neap.call"(%x) {callee = @small, neap.callee_bytes = 128 : i64, neap.offsets = array<i64: 64>, neap.scratch = 138 : i64, neap.scratch_offset = 128 : i64} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.call"(%a) {callee = @small, neap.callee_bytes = 128 : i64, neap.offsets = array<i64: 0>, neap.scratch = 128 : i64, neap.scratch_offset = 128 : i64} : (tensor<64xi8>) -> tensor<64xi8>
  return %b : tensor<64xi8>
}
func.func @small(%x: tensor<64xi8>) -> tensor<64xi8> {
  return %x : tensor<64xi8>
}
