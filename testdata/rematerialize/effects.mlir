// RUN: --canonicalize-views --lock-effects --rematerialize --reorder
// Without a budget it goes as low as it finds. The read of a variable stays one: what is computed again starts behind it.
"neap.var"() {sym_name = "h", type = tensor<100xi8>} : () -> ()
func.func @main(%x: tensor<100xi8>) -> tensor<1000xi8> {
  %s = "neap.read"() {var = @h} : () -> tensor<100xi8>
  %up = "neap.opaque"(%s) {neap.names = ["up"]} : (tensor<100xi8>) -> tensor<1000xi8>
  "neap.write"(%x) {var = @h} : (tensor<100xi8>) -> ()
  %b = "neap.opaque"(%up) {kind = "b"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %c = "neap.opaque"(%b) {kind = "c"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %d = "neap.opaque"(%c) {kind = "d"} : (tensor<1000xi8>) -> tensor<10xi8>
  %y = "neap.opaque"(%up, %d) {kind = "y"} : (tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}
// -----
// Inside of a body, from what the body captures; the peak is there.
func.func @body(%x: tensor<100xi8>, %p: tensor<i1>) -> tensor<1000xi8> {
  %r = "neap.if"(%p) ({
    %up = "tfl.tile"(%x) {kind = "up"} : (tensor<100xi8>) -> tensor<1000xi8>
    %b = "neap.opaque"(%up) {kind = "b"} : (tensor<1000xi8>) -> tensor<1000xi8>
    %c = "neap.opaque"(%b) {kind = "c"} : (tensor<1000xi8>) -> tensor<1000xi8>
    %d = "neap.opaque"(%c) {kind = "d"} : (tensor<1000xi8>) -> tensor<10xi8>
    %y = "neap.opaque"(%up, %d) {kind = "y"} : (tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
    "neap.yield"(%y) : (tensor<1000xi8>) -> ()
  }, {
    %z = "tfl.tile"(%x) : (tensor<100xi8>) -> tensor<1000xi8>
    "neap.yield"(%z) : (tensor<1000xi8>) -> ()
  }) : (tensor<i1>) -> tensor<1000xi8>
  return %r : tensor<1000xi8>
}
// -----
// Fused operations are copied with their bodies; a view of what is computed again is computed again too.
func.func @fused(%x: tensor<100xi8>) -> tensor<1000xi8> {
  %f = "neap.fused"(%x) ({
  ^bb0(%a: tensor<100xi8>):
    %t = "tfl.tile"(%a) : (tensor<100xi8>) -> tensor<1000xi8>
    %n = "tosa.abs"(%t) : (tensor<1000xi8>) -> tensor<1000xi8>
    "neap.yield"(%n) : (tensor<1000xi8>) -> ()
  }) : (tensor<100xi8>) -> tensor<1000xi8>
  %v = "tfl.reshape"(%f) : (tensor<1000xi8>) -> tensor<10x100xi8>
  %b = "neap.opaque"(%v) {kind = "b"} : (tensor<10x100xi8>) -> tensor<1000xi8>
  %c = "neap.opaque"(%b) {kind = "c"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %d = "neap.opaque"(%c) {kind = "d"} : (tensor<1000xi8>) -> tensor<10xi8>
  %y = "neap.opaque"(%v, %f, %d) {kind = "y"} : (tensor<10x100xi8>, tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}
