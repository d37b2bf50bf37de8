// RUN: --canonicalize-views --rematerialize=budget=3600 --reorder
// `j` copies `a`, which waited for it: made again right before, it is written straight into `j`.
func.func @main(%x: tensor<100xi8>) -> tensor<256xi8> {
  %a = "neap.opaque"(%x) {kind = "a"} : (tensor<100xi8>) -> tensor<1000xi8>
  %p = "neap.opaque"(%a) {kind = "p"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %q = "neap.opaque"(%p) {kind = "q"} : (tensor<1000xi8>) -> tensor<1500xi8>
  %b = "neap.opaque"(%q) {kind = "b"} : (tensor<1500xi8>) -> tensor<1000xi8>
  %j = "onnx.Concat"(%a, %b) {axis = 0 : si64} : (tensor<1000xi8>, tensor<1000xi8>) -> tensor<2000xi8>
  %y = "neap.opaque"(%a, %j) {kind = "y"} : (tensor<1000xi8>, tensor<2000xi8>) -> tensor<256xi8>
  return %y : tensor<256xi8>
}
// -----
// `r` will lie in the bytes of `up`, which waits: that there is a later value in the same bytes does not keep `up`.
func.func @later(%x: tensor<100xi8>) -> tensor<1000xi8> {
  %up = "neap.opaque"(%x) {kind = "up"} : (tensor<100xi8>) -> tensor<1000xi8>
  %b = "neap.opaque"(%up) {kind = "b"} : (tensor<1000xi8>) -> tensor<1500xi8>
  %c = "neap.opaque"(%b) {kind = "c"} : (tensor<1500xi8>) -> tensor<2000xi8>
  %d = "neap.opaque"(%c) {kind = "d"} : (tensor<2000xi8>) -> tensor<10xi8>
  %r = "tosa.tanh"(%up) : (tensor<1000xi8>) -> tensor<1000xi8>
  %y = "neap.opaque"(%r, %d) {kind = "y"} : (tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}
