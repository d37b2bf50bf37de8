// RUN: --reorder
// The same part twice lies in one place only; a piece of a larger value, a constant and an argument held for the whole run lie elsewhere.
func.func @main(%x: tensor<16xi8>, %h: tensor<8xi8> {neap.io = "held"}) -> tensor<40xi8> {
  %c = "neap.constant"() : () -> tensor<8xi8>
  %b = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<8xi8>
  %w = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<16xi8>
  %p = "neap.opaque"(%w) {neap.view = [{byte_offset = 8 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<16xi8>) -> tensor<8xi8>
  %k = "neap.opaque"(%b, %b, %p, %c, %h) {kind = "concat", neap.may_place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 8 : i64, operand = 1 : i64}, {byte_offset = 16 : i64, operand = 2 : i64}, {byte_offset = 24 : i64, operand = 3 : i64}, {byte_offset = 32 : i64, operand = 4 : i64}]} : (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>, tensor<8xi8>) -> tensor<40xi8>
  return %k : tensor<40xi8>
}
// -----
// What reads the whole and a part of it must not overwrite the whole.
func.func @reads_part(%x: tensor<16xi8>) -> tensor<64xi8> {
  %b = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<32xi8>
  %c = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<32xi8>
  %k = "neap.opaque"(%b, %c) {kind = "concat", neap.may_place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 32 : i64, operand = 1 : i64}]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<64xi8>
  %d = "neap.opaque"(%k, %b) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>, tensor<32xi8>) -> tensor<64xi8>
  return %d : tensor<64xi8>
}
