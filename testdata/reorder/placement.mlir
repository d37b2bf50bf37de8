// RUN: --reorder
// A concat whose parts are written straight into it, and an operation over it: 480 bytes instead of 640.
func.func @main(%x: tensor<160xi8>) -> tensor<320xi8> {
  %e = "neap.opaque"(%x) {kind = "exp"} : (tensor<160xi8>) -> tensor<160xi8>
  %n = "neap.opaque"(%x) {kind = "neg"} : (tensor<160xi8>) -> tensor<160xi8>
  %k = "neap.opaque"(%n, %e) {kind = "concat", neap.may_place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 160 : i64, operand = 1 : i64}]} : (tensor<160xi8>, tensor<160xi8>) -> tensor<320xi8>
  %o = "neap.opaque"(%k) {kind = "tanh", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<320xi8>) -> tensor<320xi8>
  return %o : tensor<320xi8>
}
// -----
// The part has another reader, that reads it in the whole.
func.func @other_reader(%x: tensor<16xi8>) -> (tensor<64xi8>, tensor<32xi8>) {
  %b = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<32xi8>
  %c = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<32xi8>
  %k = "neap.opaque"(%b, %c) {kind = "concat", neap.may_place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 32 : i64, operand = 1 : i64}]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<64xi8>
  %d = "neap.opaque"(%b, %k) : (tensor<32xi8>, tensor<64xi8>) -> tensor<32xi8>
  return %k, %d : tensor<64xi8>, tensor<32xi8>
}
