// RUN: --rematerialize=budget=2100 --reorder
// `up` is cheap and large, and waits for the last operation while `c` needs all there is: it is computed again from `x`, which is smaller.
func.func @main(%x: tensor<100xi8>) -> tensor<1000xi8> {
  %up = "neap.opaque"(%x) {neap.names = ["up"]} : (tensor<100xi8>) -> tensor<1000xi8>
  %b = "neap.opaque"(%up) {kind = "b"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %c = "neap.opaque"(%b) {kind = "c"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %d = "neap.opaque"(%c) {kind = "d"} : (tensor<1000xi8>) -> tensor<10xi8>
  %y = "neap.opaque"(%up, %d) {kind = "y"} : (tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}
// -----
// A chain: what is kept is `m`, and two operations run again; the dearer way back to `x` is not taken.
func.func @chain(%x: tensor<500xi8>) -> tensor<1000xi8> {
  %h = "neap.opaque"(%x) {neap.cycles = 90 : i64} : (tensor<500xi8>) -> tensor<1000xi8>
  %m = "neap.opaque"(%h) {neap.cycles = 5 : i64} : (tensor<1000xi8>) -> tensor<100xi8>
  %n = "neap.opaque"(%m) {neap.cycles = 7 : i64} : (tensor<100xi8>) -> tensor<400xi8>
  %up = "neap.opaque"(%n) {neap.cycles = 3 : i64} : (tensor<400xi8>) -> tensor<1000xi8>
  %b = "neap.opaque"(%up) {neap.cycles = 50 : i64} : (tensor<1000xi8>) -> tensor<1000xi8>
  %c = "neap.opaque"(%b) {neap.cycles = 50 : i64} : (tensor<1000xi8>) -> tensor<1000xi8>
  %d = "neap.opaque"(%c) {neap.cycles = 50 : i64} : (tensor<1000xi8>) -> tensor<10xi8>
  %y = "neap.opaque"(%up, %d) {neap.cycles = 50 : i64} : (tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}
