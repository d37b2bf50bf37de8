// RUN: --reorder
// Reuse that is demanded and cannot be had is an error that names the blocking reader; asked for with "warn" it is a warning.
func.func @must(%x: tensor<64xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {kind = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {kind = "neg", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}], neap.reuse = "must"} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%a, %b) {kind = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %c : tensor<64xi8>
}
// -----
func.func @warn(%x: tensor<64xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {kind = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {kind = "neg", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}], neap.reuse = "warn"} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%a, %b) {kind = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %c : tensor<64xi8>
}
// -----
// A constant can never be overwritten.
func.func @constant() -> tensor<8xi8> {
  %c = "neap.constant"() : () -> tensor<8xi8>
  %a = "neap.opaque"(%c) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}], neap.reuse = "must"} : (tensor<8xi8>) -> tensor<8xi8>
  return %a : tensor<8xi8>
}
// -----
// An argument that must be given up, and is read to the end.
func.func @argument(%x: tensor<8xi8> {neap.reuse = "must"}) -> tensor<8xi8> {
  %a = "neap.opaque"(%x) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<8xi8>) -> tensor<8xi8>
  %b = "neap.opaque"(%x, %a) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  return %b : tensor<8xi8>
}
