// Where the second part begins depends on N: right at the bound alone.
module attributes {neap.bounds = {N = [1, 8]}} {
  func.func @main(%x: tensor<1x?xi8> {neap.dims = ["N"]}) -> tensor<2x?xi8> {
    %a = "neap.opaque"(%x) {kind = "a", neap.dims = ["N"]} : (tensor<1x?xi8>) -> tensor<1x?xi8>
    %b = "neap.opaque"(%x) {kind = "b", neap.dims = ["N"]} : (tensor<1x?xi8>) -> tensor<1x?xi8>
    %c = "tfl.concatenation"(%a, %b) {axis = 0 : i32, fused_activation_function = "NONE", neap.dims = ["N"]} : (tensor<1x?xi8>, tensor<1x?xi8>) -> tensor<2x?xi8>
    return %c : tensor<2x?xi8>
  }
}
