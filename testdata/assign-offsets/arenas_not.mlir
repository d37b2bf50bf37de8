// RUN: --assign-offsets
// No plan can fit: the message names the step, the operation and what is live there.
"neap.arena"() {sym_name = "fast", size = 128 : i64} : () -> ()
func.func @main(%x: tensor<100xi8>) -> tensor<10xi8> {
  %a = "neap.opaque"(%x) {kind = "f"} : (tensor<100xi8>) -> tensor<90xi8>
  %y = "neap.opaque"(%a) {kind = "k"} : (tensor<90xi8>) -> tensor<10xi8>
  return %y : tensor<10xi8>
}
// -----
// One value larger than every arena.
"neap.arena"() {sym_name = "fast", size = 128 : i64} : () -> ()
"neap.arena"() {sym_name = "slow", size = 130 : i64} : () -> ()
func.func @main(%x: tensor<131xi8>) {
  return
}
// -----
// Fixed offsets that overlap.
func.func @main(%x: tensor<10xi8> {neap.pin = array<i64: 5>}) -> tensor<10xi8> {
  %a = "neap.opaque"(%x) {neap.pin = array<i64: 0>} : (tensor<10xi8>) -> tensor<10xi8>
  return %a : tensor<10xi8>
}
