// A small network over N rows, N known at run time only.
func.func @main(%x: tensor<?x64xf32> {neap.dims = ["N"]}) -> tensor<?x16xf32> {
  %w = "tosa.const"() {values = dense<1.0> : tensor<64x256xf32>} : () -> tensor<64x256xf32>
  %up = "my.matmul"(%x, %w) {neap.dims = ["N"], neap.cycles = 400 : i64} : (tensor<?x64xf32>, tensor<64x256xf32>) -> tensor<?x256xf32>
  %act = "tosa.tanh"(%up) {neap.dims = ["N"], neap.cycles = 40 : i64} : (tensor<?x256xf32>) -> tensor<?x256xf32>
  %down = "my.down"(%act) {neap.dims = ["N"], neap.cycles = 100 : i64} : (tensor<?x256xf32>) -> tensor<?x16xf32>
  return %down : tensor<?x16xf32>
}
