// RUN: --rematerialize=budget=2100 --reorder
// The budget is met: nothing is computed again.
func.func @met(%x: tensor<100xi8>) -> tensor<1000xi8> {
  %up = "neap.opaque"(%x) {kind = "up"} : (tensor<100xi8>) -> tensor<1000xi8>
  %b = "neap.opaque"(%up) {kind = "b"} : (tensor<1000xi8>) -> tensor<100xi8>
  %y = "neap.opaque"(%up, %b) {kind = "y"} : (tensor<1000xi8>, tensor<100xi8>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}
// -----
// An operation in no table may do anything, and one that draws random numbers draws others the second time.
func.func @effects(%x: tensor<100xi8>) -> (tensor<1000xi8>, tensor<1000xf32>) {
  %up = "my.op"(%x) : (tensor<100xi8>) -> tensor<1000xi8>
  %b = "neap.opaque"(%up) {kind = "b"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %c = "neap.opaque"(%b) {kind = "c"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %d = "neap.opaque"(%c) {kind = "d"} : (tensor<1000xi8>) -> tensor<10xi8>
  %y = "neap.opaque"(%up, %d) {kind = "y"} : (tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
  %shape = "tfl.pseudo_const"() {value = dense<1000> : tensor<1xi32>} : () -> tensor<1xi32>
  %r = "tfl.random_uniform"(%shape) : (tensor<1xi32>) -> tensor<1000xf32>
  %e = "neap.opaque"(%r) {kind = "e"} : (tensor<1000xf32>) -> tensor<1000xf32>
  %f = "neap.opaque"(%e) {kind = "f"} : (tensor<1000xf32>) -> tensor<1000xf32>
  %g = "neap.opaque"(%f, %r) {kind = "g"} : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  return %y, %g : tensor<1000xi8>, tensor<1000xf32>
}
// -----
// What the user keeps or pins is there once.
func.func @asked(%x: tensor<100xi8>) -> tensor<1000xi8> {
  %up = "neap.opaque"(%x) {kind = "up", neap.keep} : (tensor<100xi8>) -> tensor<1000xi8>
  %b = "neap.opaque"(%up) {kind = "b"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %c = "neap.opaque"(%b) {kind = "c"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %d = "neap.opaque"(%c) {kind = "d"} : (tensor<1000xi8>) -> tensor<10xi8>
  %y = "neap.opaque"(%up, %d) {kind = "y"} : (tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}
// -----
// What it starts from would have to be kept and is as large as what it saves.
func.func @no_gain(%x: tensor<1000xi8>) -> tensor<1000xi8> {
  %h = "my.op"(%x) : (tensor<1000xi8>) -> tensor<1000xi8>
  %up = "neap.opaque"(%h) {kind = "up"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %b = "neap.opaque"(%up) {kind = "b"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %c = "neap.opaque"(%b) {kind = "c"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %d = "neap.opaque"(%c) {kind = "d"} : (tensor<1000xi8>) -> tensor<10xi8>
  %y = "neap.opaque"(%up, %d) {kind = "y"} : (tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}
