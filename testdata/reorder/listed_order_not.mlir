// RUN: --reorder=order=input
// In the listed order `add` reads `b` later, so `neg` must not overwrite it.
func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %b = "neap.opaque"(%x) {kind = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
  %d = "neap.opaque"(%b) {kind = "neg", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>) -> tensor<64xi8>
  %e = "neap.opaque"(%b, %x) {kind = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  %f = "neap.opaque"(%d, %e) {kind = "mul"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %f : tensor<64xi8>
}
