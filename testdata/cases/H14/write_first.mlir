// Written before it is read.
module {
  "neap.var"() {sym_name = "v", type = tensor<64xi8>} : () -> ()
  func.func @main(%x: tensor<64xi8> {neap.offset = 0 : i64}) -> tensor<64xi8> attributes {neap.arena_bytes = 192 : i64, neap.lower_bound = 192 : i64, neap.peak = 192 : i64, neap.proof = "certified"} {
    %0 = "neap.write"(%x) {neap.name = "w", var = @v} : (tensor<64xi8>) -> !neap.token
    %r = "neap.read"(%0) {neap.live = array<i64: 1, 3>, neap.name = "r", neap.offsets = array<i64: 64>, var = @v} : (!neap.token) -> tensor<64xi8>
    %y = "neap.opaque"(%r, %x) {neap.live = array<i64: 2, 3>, neap.name = "add", neap.offsets = array<i64: 128>} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
    return %y : tensor<64xi8>
  }
}
