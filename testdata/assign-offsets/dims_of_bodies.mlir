// RUN: --assign-offsets
// What goes round a loop has the dimensions of what is handed to it, and the plan holds for the largest.
module attributes {neap.bounds = {M = [1, 100], N = [1, 64]}} {
  func.func @same(%n: i64, %x: tensor<?xi8> {neap.dims = ["N"]}) -> (tensor<?xi8> {neap.io = "external"}) {
    %r = "neap.for"(%n, %x) ({
    ^bb0(%i: i64, %a: tensor<?xi8>):
      %b = "neap.opaque"(%a) {neap.dims = ["N"]} : (tensor<?xi8>) -> tensor<?xi8>
      "neap.yield"(%b) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["N"]} : (i64, tensor<?xi8>) -> tensor<?xi8>
    return %r : tensor<?xi8>
  }

  // The second trip is handed up to 100 bytes.
  func.func @grows(%n: i64, %x: tensor<?xi8> {neap.dims = ["N"]}) -> (tensor<?xi8> {neap.io = "external"}) {
    %r = "neap.for"(%n, %x) ({
    ^bb0(%i: i64, %a: tensor<?xi8>):
      %b = "neap.opaque"(%a) {neap.dims = ["M"]} : (tensor<?xi8>) -> tensor<?xi8>
      "neap.yield"(%b) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["M"]} : (i64, tensor<?xi8>) -> tensor<?xi8>
    return %r : tensor<?xi8>
  }
}
// -----
// Nobody says how large what the body hands on may be.
module attributes {neap.bounds = {N = [1, 64]}} {
  func.func @unbounded(%n: i64, %x: tensor<?xi8> {neap.dims = ["N"]}) {
    %r = "neap.for"(%n, %x) ({
    ^bb0(%i: i64, %a: tensor<?xi8>):
      %b = "neap.opaque"(%a) {neap.dims = ["K"]} : (tensor<?xi8>) -> tensor<?xi8>
      "neap.yield"(%b) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["N"]} : (i64, tensor<?xi8>) -> tensor<?xi8>
    return
  }
}
