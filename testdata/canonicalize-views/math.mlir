// RUN: --canonicalize-views
// Functions of numbers run element by element: over any operand of as many bytes.
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %a = "math.absf"(%x) <{fastmath = #arith.fastmath<none>}> : (tensor<8xf32>) -> tensor<8xf32>
  %b = "math.fma"(%a, %y, %a) <{fastmath = #arith.fastmath<none>}> : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
// -----
// What is smaller lies over what is larger, and not the other way round.
func.func @sizes(%x: tensor<8xf32>, %n: tensor<8xi8>) -> (tensor<8xi1>, tensor<8xf32>) {
  %a = "math.isnan"(%x) <{fastmath = #arith.fastmath<none>}> : (tensor<8xf32>) -> tensor<8xi1>
  %b = "math.fpowi"(%x, %n) <{fastmath = #arith.fastmath<none>}> : (tensor<8xf32>, tensor<8xi8>) -> tensor<8xf32>
  return %a, %b : tensor<8xi1>, tensor<8xf32>
}
// -----
// Two results cannot both lie over the one operand, and the first one must not: it is read for the second.
func.func @two(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s, %c = "math.sincos"(%x) <{fastmath = #arith.fastmath<none>}> : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %s, %c : tensor<8xf32>, tensor<8xf32>
}
