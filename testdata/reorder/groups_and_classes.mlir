// RUN: --reorder
// Two exclusive buffers: the only order that keeps one live at a time.
"neap.class"() {limit = 1 : i64, sym_name = "L0A"} : () -> ()
func.func @classes() -> tensor<1xi8> {
  %a = "neap.opaque"() {kind = "a", neap.class = ["L0A"]} : () -> tensor<4xi8>
  %c = "neap.opaque"(%a) {kind = "c"} : (tensor<4xi8>) -> tensor<4xi8>
  %b = "neap.opaque"() {kind = "b", neap.class = ["L0A"]} : () -> tensor<4xi8>
  %d = "neap.opaque"(%b, %c) {kind = "d"} : (tensor<4xi8>, tensor<4xi8>) -> tensor<1xi8>
  return %d : tensor<1xi8>
}
// -----
// Operations of a group stay neighbours.
func.func @groups(%x: tensor<64xi8>) -> tensor<4xi8> {
  %a = "neap.opaque"(%x) {neap.group = "g"} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {neap.group = "g"} : (tensor<64xi8>) -> tensor<4xi8>
  %c = "neap.opaque"(%x) : (tensor<64xi8>) -> tensor<4xi8>
  %d = "neap.opaque"(%b, %c) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %d : tensor<4xi8>
}
