// 600 elements of 4 bits are 300 bytes.
func.func @main(%x: tensor<600xf32>) -> tensor<600xf32> {
  %q = "neap.opaque"(%x) {neap.name = "quant4"} : (tensor<600xf32>) -> tensor<600xui4>
  %f = "neap.opaque"(%q) {neap.name = "dequant4"} : (tensor<600xui4>) -> tensor<600xf32>
  %w = "neap.opaque"(%f) {neap.name = "quant8"} : (tensor<600xf32>) -> tensor<600xui8>
  %y = "neap.opaque"(%w) {neap.name = "dequant8"} : (tensor<600xui8>) -> tensor<600xf32>
  return %y : tensor<600xf32>
}
