// RUN: --fuse --profile=tflite
// LiteRT fuses nothing.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = "tfl.abs"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "tfl.exp"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
