// RUN: --reorder=order=msc
// The list scheduler takes what adds the fewest bytes now, so `%a` is made early and is there while `%d` runs: 240 bytes, where 192 would do.
func.func @main(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = "neap.opaque"(%x) {kind = "a"} : (tensor<16xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%x) {kind = "b"} : (tensor<16xi8>) -> tensor<32xi8>
  %c = "neap.opaque"(%x) {kind = "c"} : (tensor<16xi8>) -> tensor<16xi8>
  %d = "neap.opaque"(%b, %c) {kind = "d"} : (tensor<32xi8>, tensor<16xi8>) -> tensor<128xi8>
  %e = "neap.opaque"(%d) {kind = "e"} : (tensor<128xi8>) -> tensor<16xi8>
  %f = "neap.opaque"(%a, %e) {kind = "f"} : (tensor<64xi8>, tensor<16xi8>) -> tensor<16xi8>
  return %f : tensor<16xi8>
}
// -----
// Exclusive classes are kept: `%c` waits until `%a` is gone.
"neap.class"() {limit = 1 : i64, sym_name = "L0A"} : () -> ()
func.func @classes() -> tensor<1xi8> {
  %a = "neap.opaque"() {kind = "a", neap.class = ["L0A"]} : () -> tensor<4xi8>
  %b = "neap.opaque"(%a) {kind = "b"} : (tensor<4xi8>) -> tensor<4xi8>
  %c = "neap.opaque"() {kind = "c", neap.class = ["L0A"]} : () -> tensor<4xi8>
  %d = "neap.opaque"(%c, %b) {kind = "d"} : (tensor<4xi8>, tensor<4xi8>) -> tensor<1xi8>
  return %d : tensor<1xi8>
}
