// Three alignments that differ.
func.func @main() -> tensor<0xi8> {
  %a = "neap.opaque"() {neap.align = 2 : i64, neap.name = "a"} : () -> tensor<6xi8>
  %b = "neap.opaque"() {neap.align = 4 : i64, neap.name = "b"} : () -> tensor<8xi8>
  %s = "neap.opaque"() {neap.align = 16 : i64, neap.name = "s"} : () -> tensor<10xi8>
  %y = "neap.opaque"(%a, %b, %s) {neap.name = "use"} : (tensor<6xi8>, tensor<8xi8>, tensor<10xi8>) -> tensor<0xi8>
  return %y : tensor<0xi8>
}
