// RUN: --fuse=target=none --profile=tflite
// LiteRT fuses nothing; the option names another profile to judge by.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = "tfl.abs"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %b = "tfl.exp"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
