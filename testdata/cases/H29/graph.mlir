// %b and %c lie where %a was, in a part each.
func.func @main() {
  %a = "neap.opaque"() {neap.name = "A"} : () -> tensor<800xi8>
  "neap.opaque"(%a) {neap.name = "reads A"} : (tensor<800xi8>) -> ()
  %s:2 = "neap.opaque"() {neap.names = ["B", "C"]} : () -> (tensor<300xi8>, tensor<450xi8>)
  "neap.opaque"(%s#0, %s#1) {neap.name = "reads B and C"} : (tensor<300xi8>, tensor<450xi8>) -> ()
  return
}
