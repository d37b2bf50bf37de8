// RUN: --reorder
// With the order free, `add` comes first and `neg` overwrites `b`: 192 bytes instead of 256.
func.func @reader_first(%x: tensor<64xi8>) -> tensor<64xi8> {
  %b = "neap.opaque"(%x) {kind = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
  %d = "neap.opaque"(%b) {kind = "neg", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>) -> tensor<64xi8>
  %e = "neap.opaque"(%b, %x) {kind = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  %f = "neap.opaque"(%d, %e) {kind = "mul"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %f : tensor<64xi8>
}
// -----
// The same operand twice is no other reader: 72 bytes.
func.func @twice(%x: tensor<8xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {kind = "bcast"} : (tensor<8xi8>) -> tensor<64xi8>
  %y = "neap.opaque"(%a, %a) {kind = "add", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}, {operand = 1 : i64, result = 0 : i64}]} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
// -----
// The first is refused, since `mul` reads `a` later; the second is taken: 128 bytes.
func.func @chain(%x: tensor<8xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {kind = "bcast"} : (tensor<8xi8>) -> tensor<64xi8>
  %y = "neap.opaque"(%a, %a) {kind = "add", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}, {operand = 1 : i64, result = 0 : i64}]} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  %z = "neap.opaque"(%y, %a) {kind = "mul", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %z : tensor<64xi8>
}
// -----
// A result larger than the operand widens the storage to 96 bytes for its whole life: 176 bytes in all.
func.func @wider(%k: tensor<64xi8>) -> tensor<16xi8> {
  %a = "neap.opaque"(%k) {kind = "f"} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {kind = "scale", neap.bytes = array<i64: 96>, neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%b, %k) {kind = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<16xi8>
  return %c : tensor<16xi8>
}
// -----
// A view of the operand has no reader after the overwriting operation.
func.func @through_view(%x: tensor<8xi8>) -> (tensor<64xi8>, tensor<4xi8>) {
  %a = "neap.opaque"(%x) {kind = "bcast"} : (tensor<8xi8>) -> tensor<64xi8>
  %r = "neap.opaque"(%a) {kind = "reshape", neap.view = [{byte_offset = 0 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %q = "neap.opaque"(%a) {kind = "sum"} : (tensor<64xi8>) -> tensor<4xi8>
  %s = "neap.opaque"(%r) {kind = "neg", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<8x8xi8>) -> tensor<64xi8>
  return %s, %q : tensor<64xi8>, tensor<4xi8>
}
