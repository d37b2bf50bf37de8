// RUN: --assign-offsets
// All values of unknown size at once, with the dimension.
func.func @main(%a: tensor<1x?x4xi8>, %b: tensor<1x4xi8>) -> tensor<?xi8> {
  %c = "neap.opaque"(%a, %b) : (tensor<1x?x4xi8>, tensor<1x4xi8>) -> tensor<?xi8>
  return %c : tensor<?xi8>
}
// -----
// Sizes that do not fit into 2^63-1.
func.func @count(%x: tensor<4294967296x4294967296xi8>) -> tensor<4294967296x4294967296xi8> {
  return %x : tensor<4294967296x4294967296xi8>
}
// -----
func.func @sum(%x: tensor<9223372036854775807xi8>) -> tensor<8xi8> {
  %y = "neap.opaque"(%x) : (tensor<9223372036854775807xi8>) -> tensor<8xi8>
  return %y : tensor<8xi8>
}
// -----
// Branches between blocks have no steps.
func.func @blocks(%x: tensor<8xi8>) -> tensor<8xi8> {
  "cf.br"()[^bb1] : () -> ()
^bb1:
  return %x : tensor<8xi8>
}
// -----
// A part that lies in two places.
func.func @twice(%x: tensor<8xi8>) -> tensor<16xi8> {
  %a = "neap.opaque"(%x) : (tensor<8xi8>) -> tensor<8xi8>
  %k = "neap.opaque"(%a, %a) {neap.place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 8 : i64, operand = 1 : i64}]} : (tensor<8xi8>, tensor<8xi8>) -> tensor<16xi8>
  return %k : tensor<16xi8>
}
// -----
// A constant cannot be overwritten.
func.func @constant() -> tensor<8xi8> {
  %c = "neap.constant"() : () -> tensor<8xi8>
  %a = "neap.opaque"(%c) {neap.inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<8xi8>) -> tensor<8xi8>
  return %a : tensor<8xi8>
}
