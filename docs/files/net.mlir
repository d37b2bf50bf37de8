// A small network over N rows, at most 512 of them; N is known at run time only.
module attributes {neap.bounds = {N = [1, 512]}} {
  func.func @main(%x: tensor<?x64xf32> {neap.dims = ["N"]}) -> tensor<?x16xf32> {
    %up = "my.up"(%x) {neap.dims = ["N"], neap.cycles = 400 : i64} : (tensor<?x64xf32>) -> tensor<?x256xf32>
    %act = "tosa.tanh"(%up) {neap.dims = ["N"], neap.cycles = 40 : i64} : (tensor<?x256xf32>) -> tensor<?x256xf32>
    %down = "my.down"(%act) {neap.dims = ["N"], neap.cycles = 100 : i64} : (tensor<?x256xf32>) -> tensor<?x16xf32>
    return %down : tensor<?x16xf32>
  }
}
