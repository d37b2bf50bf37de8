// RUN: --fuse
// Unknown dimensions are told apart by their names, and an operation that is made has those of its own result.
module attributes {neap.bounds = {M = [1, 8], N = [1, 8]}} {
  func.func @made(%x: tensor<1x?xf32> {neap.dims = ["N"]}, %y: tensor<2x3xf32>) -> (tensor<?x1xf32>, tensor<6xf32>) {
    %p = "tfl.pseudo_const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
    %a = "tfl.transpose"(%x, %p) {neap.dims = ["N"]} : (tensor<1x?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %b = "stablehlo.reshape"(%y) : (tensor<2x3xf32>) -> tensor<6xf32>
    return %a, %b : tensor<?x1xf32>, tensor<6xf32>
  }

  // As many elements, but not the same rows: the second reshape is not nothing.
  func.func @turned(%x: tensor<?x?xf32> {neap.dims = ["M", "N"]}) -> tensor<?x?xf32> {
    %a = "neap.opaque"(%x) {neap.dims = ["M", "N"]} : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %b = "stablehlo.reshape"(%a) {neap.dims = ["N", "M"]} : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %c = "neap.opaque"(%b) {neap.dims = ["N", "M"]} : (tensor<?x?xf32>) -> tensor<?x?xf32>
    return %c : tensor<?x?xf32>
  }

  // What one operation says of its bytes, another one made like it does not say.
  func.func @own(%x: tensor<1x3xf32>, %y: tensor<8x8xf32>) -> (tensor<3x1xf32>, tensor<64xf32>) {
    %p = "tfl.pseudo_const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
    %b = "tfl.transpose"(%x, %p) : (tensor<1x3xf32>, tensor<2xi32>) -> tensor<3x1xf32>
    %c = "stablehlo.reshape"(%y) {neap.align = 64 : i64} : (tensor<8x8xf32>) -> tensor<64xf32>
    return %b, %c : tensor<3x1xf32>, tensor<64xf32>
  }
}
