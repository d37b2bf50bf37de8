// `mul2` and `neg` have sunk below `fill`.
module {
  "neap.var"() {sym_name = "x", type = tensor<96xi8>} : () -> ()
  func.func @main() -> tensor<96xi8> attributes {neap.arena_bytes = 192 : i64, neap.lower_bound = 192 : i64, neap.peak = 192 : i64, neap.proof = "certified"} {
    %r = "neap.read"() {alias, neap.live = array<i64: 0, 5>, neap.name = "r", neap.offsets = array<i64: -1>, var = @x} : () -> tensor<96xi8>
    %v = "neap.opaque"(%r) {neap.live = array<i64: 1, 5>, neap.name = "v", neap.offsets = array<i64: -1>, neap.view = [{byte_offset = 0 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<96xi8>) -> tensor<96xi8>
    %h = "neap.handle"() {neap.live = array<i64: 2, 4>, neap.offsets = array<i64: -1>, var = "x"} : () -> !neap.resource
    "test.fill"(%h) {neap.name = "fill"} : (!neap.resource) -> ()
    %y = "neap.opaque"(%v) {neap.live = array<i64: 4, 6>, neap.name = "mul2", neap.offsets = array<i64: 0>} : (tensor<96xi8>) -> tensor<96xi8>
    %z = "neap.opaque"(%y) {neap.live = array<i64: 5, 6>, neap.name = "neg", neap.offsets = array<i64: 96>} : (tensor<96xi8>) -> tensor<96xi8>
    return %z : tensor<96xi8>
  }
}
