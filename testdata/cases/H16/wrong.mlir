// %f1 is gone: h reads %g1 twice.
module {
  func.func @main(%x: tensor<8xi8> {neap.offset = 8 : i64}) -> tensor<8xi8> attributes {neap.arena_bytes = 16 : i64, neap.lower_bound = 16 : i64, neap.peak = 16 : i64, neap.proof = "certified"} {
    %f1 = "neap.opaque"(%x) {neap.group = "G", neap.live = array<i64: 0, 2>, neap.name = "f", neap.offsets = array<i64: 0>} : (tensor<8xi8>) -> tensor<8xi8>
    %g1 = "neap.opaque"(%f1) {neap.group = "G", neap.live = array<i64: 1, 3>, neap.name = "g", neap.offsets = array<i64: 8>} : (tensor<8xi8>) -> tensor<8xi8>
    %h1 = "neap.opaque"(%g1, %g1) {neap.live = array<i64: 2, 3>, neap.name = "h", neap.offsets = array<i64: 0>} : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
    return %h1 : tensor<8xi8>
  }
}
