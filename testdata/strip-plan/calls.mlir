// RUN: --assign-offsets --strip-plan
// What a plan adds to the scratch of a call goes again; the call's own stays.
func.func @main(%p: i1, %x: tensor<64xi8>) -> tensor<64xi8> {
  %a = "neap.call"(%x) {callee = @small, neap.scratch = 10 : i64} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.if"(%p, %a) {else_branch = @small, then_branch = @large} : (i1, tensor<64xi8>) -> tensor<64xi8>
  return %b : tensor<64xi8>
}
func.func @small(%x: tensor<64xi8>) -> tensor<64xi8> {
  %y = "neap.opaque"(%x) : (tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
func.func @large(%x: tensor<64xi8>) -> tensor<64xi8> {
  %t = "neap.opaque"(%x) {neap.align = 16 : i64} : (tensor<64xi8>) -> tensor<640xi8>
  %y = "neap.opaque"(%t) : (tensor<640xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
