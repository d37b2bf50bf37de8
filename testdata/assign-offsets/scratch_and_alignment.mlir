// RUN: --assign-offsets
// Scratch lives one step and meets nothing of its operation.
func.func @scratch(%x: tensor<100xi8>) -> tensor<10xi8> {
  %a = "neap.opaque"(%x) {kind = "conv", neap.scratch = 60 : i64} : (tensor<100xi8>) -> tensor<100xi8>
  %y = "neap.opaque"(%a) {kind = "fc", neap.scratch = 200 : i64} : (tensor<100xi8>) -> tensor<10xi8>
  return %y : tensor<10xi8>
}
// -----
// Each storage starts at a multiple of what all that touch it ask.
func.func @alignment() -> tensor<0xi8> {
  %a = "neap.opaque"() {neap.align = 2 : i64} : () -> tensor<6xi8>
  %b = "neap.opaque"() {neap.align = 4 : i64} : () -> tensor<8xi8>
  %s = "neap.opaque"() {neap.align = 16 : i64} : () -> tensor<10xi8>
  %y = "neap.opaque"(%a, %b, %s) : (tensor<6xi8>, tensor<8xi8>, tensor<10xi8>) -> tensor<0xi8>
  return %y : tensor<0xi8>
}
// -----
// Fixed offsets, on an argument and on a result.
func.func @pins(%x: tensor<10xi8> {neap.pin = array<i64: 20>}) -> tensor<10xi8> {
  %a = "neap.opaque"(%x) {neap.pin = array<i64: 0>} : (tensor<10xi8>) -> tensor<10xi8>
  %b = "neap.opaque"(%a) : (tensor<10xi8>) -> tensor<10xi8>
  return %b : tensor<10xi8>
}
