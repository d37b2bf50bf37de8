// RUN: --reorder
// The same bytes are read later under another name.
func.func @alias_read_later(%x: tensor<8xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {kind = "bcast"} : (tensor<8xi8>) -> tensor<64xi8>
  %r = "neap.opaque"(%a) {kind = "reshape", neap.view = [{byte_offset = 0 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>) -> tensor<64xi8>
  %s = "neap.opaque"(%r) {kind = "neg", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>) -> tensor<64xi8>
  %t = "neap.opaque"(%a, %s) {kind = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %t : tensor<64xi8>
}
// -----
// The caller's bytes are never written, and what the caller gives bytes for lies nowhere else.
func.func @external(%x: tensor<64xi8> {neap.io = "external"}) -> (tensor<64xi8> {neap.io = "external"}) {
  %a = "neap.opaque"(%x) {kind = "cast", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>) -> tensor<64xi8>
  %y = "neap.opaque"(%a, %a) {kind = "add", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
// -----
// A constant, a held argument, a kept value, a result of the function.
func.func @stays(%h: tensor<8xi8> {neap.io = "held"}) -> (tensor<8xi8>, tensor<8xi8>) {
  %c = "neap.constant"() : () -> tensor<8xi8>
  %a = "neap.opaque"(%c) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<8xi8>) -> tensor<8xi8>
  %b = "neap.opaque"(%h) {neap.keep, neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<8xi8>) -> tensor<8xi8>
  %d = "neap.opaque"(%b) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<8xi8>) -> tensor<8xi8>
  %e = "neap.opaque"(%d, %a) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  return %e, %d : tensor<8xi8>, tensor<8xi8>
}
// -----
// Another operand lies in the same bytes, some bytes further.
func.func @shifted(%x: tensor<8xi8>) -> tensor<12xi8> {
  %a = "neap.opaque"(%x) : (tensor<8xi8>) -> tensor<16xi8>
  %u = "neap.opaque"(%a) {neap.view = [{byte_offset = 0 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<16xi8>) -> tensor<12xi8>
  %v = "neap.opaque"(%a) {neap.view = [{byte_offset = 4 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<16xi8>) -> tensor<12xi8>
  %y = "neap.opaque"(%u, %v) {kind = "add", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}, {operand = 1 : i64, result = 0 : i64}]} : (tensor<12xi8>, tensor<12xi8>) -> tensor<12xi8>
  return %y : tensor<12xi8>
}
// -----
// The user says never.
func.func @never(%x: tensor<8xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) : (tensor<8xi8>) -> tensor<64xi8>
  %y = "neap.opaque"(%a) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}], neap.reuse = "never"} : (tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
// -----
// Two views of the same bytes: nothing says that the operation reads both in the same way.
func.func @two_names(%x: tensor<8xi8>) -> tensor<12xi8> {
  %a = "neap.opaque"(%x) : (tensor<8xi8>) -> tensor<12xi8>
  %u = "neap.opaque"(%a) {neap.view = [{byte_offset = 0 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<12xi8>) -> tensor<12xi8>
  %v = "neap.opaque"(%a) {neap.view = [{byte_offset = 0 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<12xi8>) -> tensor<12xi8>
  %y = "neap.opaque"(%u, %v) {kind = "add", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}, {operand = 1 : i64, result = 0 : i64}]} : (tensor<12xi8>, tensor<12xi8>) -> tensor<12xi8>
  return %y : tensor<12xi8>
}
