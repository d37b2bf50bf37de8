// Both parts in place: with N = 4 the second one begins at byte 4 of the whole, not at 8.
module attributes {neap.bounds = {N = [1, 8]}} {
  func.func @main(%x: tensor<1x?xi8> {neap.dims = ["N"], neap.offset = 16 : i64}) -> tensor<2x?xi8> attributes {neap.arena_bytes = 24 : i64, neap.peak = 24 : i64} {
    %a = "neap.opaque"(%x) {kind = "a", neap.dims = ["N"], neap.offsets = array<i64: 0>} : (tensor<1x?xi8>) -> tensor<1x?xi8>
    %b = "neap.opaque"(%x) {kind = "b", neap.dims = ["N"], neap.offsets = array<i64: 8>} : (tensor<1x?xi8>) -> tensor<1x?xi8>
    %c = "tfl.concatenation"(%a, %b) {axis = 0 : i32, fused_activation_function = "NONE", neap.dims = ["N"], neap.offsets = array<i64: 0>, neap.place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 8 : i64, operand = 1 : i64}]} : (tensor<1x?xi8>, tensor<1x?xi8>) -> tensor<2x?xi8>
    return %c : tensor<2x?xi8>
  }
}
