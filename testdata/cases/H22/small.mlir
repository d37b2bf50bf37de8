// The same chain for every size up to a bound.
module attributes {neap.bounds = {N = [1, 512]}} {
  func.func @main(%x: tensor<?x16xi8> {neap.dims = ["N"]}) -> tensor<?x16xi8> {
    %a = "neap.opaque"(%x) {neap.dims = ["N"]} : (tensor<?x16xi8>) -> tensor<?x16xi8>
    %b = "neap.opaque"(%a) {neap.dims = ["N"]} : (tensor<?x16xi8>) -> tensor<?x16xi8>
    return %b : tensor<?x16xi8>
  }
}
