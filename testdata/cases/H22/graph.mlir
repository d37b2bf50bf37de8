// Dimensions with and without names; only N has an upper bound.
module attributes {neap.bounds = {N = [1, 100]}} {
  func.func @main(%a: tensor<1x?x4xi8>, %b: tensor<1x?x4xi8>, %c: tensor<?x4xi8> {neap.dims = ["N"]}, %e: tensor<?x4xi8> {neap.dims = ["None"]}, %g: tensor<?x4xi8> {neap.dims = [""]}, %h: tensor<?x4xi8> {neap.dims = ["M"]}) -> (tensor<?x4xi8> {neap.io = "arena"}) {
    %d = "neap.opaque"(%c) {neap.dims = ["N"]} : (tensor<?x4xi8>) -> tensor<?x4xi8>
    "neap.opaque"(%a, %b, %e, %g, %h) : (tensor<1x?x4xi8>, tensor<1x?x4xi8>, tensor<?x4xi8>, tensor<?x4xi8>, tensor<?x4xi8>) -> ()
    return %d : tensor<?x4xi8>
  }
}
