// RUN: --reorder
// Weights that are dequantized stand before their reader, not all at the start; constants follow their first reader.
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %w0 = "neap.constant"() : () -> tensor<100xi8>
  %w1 = "neap.constant"() : () -> tensor<100xi8>
  %d0 = "neap.opaque"(%w0) {kind = "dequantize"} : (tensor<100xi8>) -> tensor<400xi8>
  %d1 = "neap.opaque"(%w1) {kind = "dequantize"} : (tensor<100xi8>) -> tensor<400xi8>
  %y0 = "neap.opaque"(%x, %d0) {kind = "conv"} : (tensor<4xi8>, tensor<400xi8>) -> tensor<4xi8>
  %y1 = "neap.opaque"(%y0, %d1) {kind = "conv"} : (tensor<4xi8>, tensor<400xi8>) -> tensor<4xi8>
  return %y1 : tensor<4xi8>
}
