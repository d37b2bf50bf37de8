// RUN: --assign-offsets
// What is handed to bodies and comes out of them has the bytes that are given where it was made, and the bound of its dimension.
func.func @given(%n: i64, %x: tensor<4xi8> {neap.bytes = array<i64: 64>}) -> (tensor<4xi8> {neap.io = "external"}) {
  %r = "neap.for"(%n, %x) ({
  ^bb0(%i: i64, %a: tensor<4xi8>):
    %b = "neap.opaque"(%a) {neap.bytes = array<i64: 64>} : (tensor<4xi8>) -> tensor<4xi8>
    "neap.yield"(%b) : (tensor<4xi8>) -> ()
  }) {neap.bytes = array<i64: 64>} : (i64, tensor<4xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}

func.func @opaque(%n: i64, %x: !my.t {neap.bytes = array<i64: 32>}) {
  %r = "neap.for"(%n, %x) ({
  ^bb0(%i: i64, %a: !my.t):
    %b = "neap.opaque"(%a) {neap.bytes = array<i64: 64>} : (!my.t) -> !my.t
    "neap.yield"(%b) : (!my.t) -> ()
  }) : (i64, !my.t) -> !my.t
  "neap.opaque"(%r) : (!my.t) -> ()
  return
}
// -----
// A result that says nothing of its dimension is as large as the largest that comes out.
module attributes {neap.bounds = {M = [1, 100], N = [1, 64]}} {
  func.func @unsaid(%c: i1, %x: tensor<?xi8> {neap.dims = ["N"]}, %y: tensor<?xi8> {neap.dims = ["M"]}) {
    %r = "neap.if"(%c, %x, %y) ({
    ^bb0(%a: tensor<?xi8>, %b: tensor<?xi8>):
      "neap.yield"(%b) : (tensor<?xi8>) -> ()
    }, {
    ^bb0(%a: tensor<?xi8>, %b: tensor<?xi8>):
      "neap.yield"(%a) : (tensor<?xi8>) -> ()
    }) : (i1, tensor<?xi8>, tensor<?xi8>) -> tensor<?xi8>
    "neap.opaque"(%r, %x, %y) : (tensor<?xi8>, tensor<?xi8>, tensor<?xi8>) -> ()
    return
  }

  // Bodies of ONNX may hand on more than the result says.
  func.func @reshaped(%c: i1, %x: tensor<?xi8> {neap.dims = ["N"]}, %y: tensor<?xi8> {neap.dims = ["M"]}) {
    %r = "onnx.If"(%c) ({
      %a = "neap.opaque"(%y) {neap.dims = ["M"]} : (tensor<?xi8>) -> tensor<?xi8>
      "onnx.Yield"(%a) : (tensor<?xi8>) -> ()
    }, {
      "onnx.Yield"(%x) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["N"]} : (i1) -> tensor<?xi8>
    "neap.opaque"(%r) : (tensor<?xi8>) -> ()
    return
  }
}
