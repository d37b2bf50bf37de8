// The two products never live at the same time.
func.func @main(%a: tensor<1xi8>, %b: tensor<1xi8>, %c: tensor<1xi8>) -> tensor<32xi8> {
  %p = "neap.opaque"(%a, %c) {neap.name = "matmul_a"} : (tensor<1xi8>, tensor<1xi8>) -> tensor<4096xi8>
  %r = "neap.opaque"(%p) {neap.name = "sum_a"} : (tensor<4096xi8>) -> tensor<32xi8>
  %q = "neap.opaque"(%b, %c) {neap.name = "matmul_b"} : (tensor<1xi8>, tensor<1xi8>) -> tensor<4096xi8>
  %s = "neap.opaque"(%q) {neap.name = "sum_b"} : (tensor<4096xi8>) -> tensor<32xi8>
  %y = "neap.opaque"(%r, %s) {neap.name = "add"} : (tensor<32xi8>, tensor<32xi8>) -> tensor<32xi8>
  return %y : tensor<32xi8>
}
