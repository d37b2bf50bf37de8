// RUN: --reorder
// Demanded reuse orders the other reader first, though the listed order has it later.
func.func @must(%x: tensor<8xi8>) -> (tensor<64xi8>, tensor<8xi8>) {
  %a = "neap.opaque"(%x) : (tensor<8xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}], neap.reuse = "must"} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%a) : (tensor<64xi8>) -> tensor<8xi8>
  return %b, %c : tensor<64xi8>, tensor<8xi8>
}
// -----
// Of two operands the second can be overwritten.
func.func @second(%x: tensor<8xi8>) -> tensor<8xi8> {
  %c = "neap.constant"() : () -> tensor<8xi8>
  %a = "neap.opaque"(%x) : (tensor<8xi8>) -> tensor<8xi8>
  %b = "neap.opaque"(%c, %a) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}, {operand = 1 : i64, result = 0 : i64}], neap.reuse = "must"} : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  return %b : tensor<8xi8>
}
