// RUN: --lock-effects
// Tokens that are there count, neap's own and those of other dialects; one token result serves all that wait.
"neap.var"() {sym_name = "v", type = tensor<4xf32>} : () -> ()
func.func @own(%x: tensor<4xf32>) {
  %t = "neap.write"(%x) {var = @v} : (tensor<4xf32>) -> !neap.token
  %a, %u = "neap.read"(%t) {var = @v} : (!neap.token) -> (tensor<4xf32>, !neap.token)
  %b = "neap.read"() {var = @v} : () -> tensor<4xf32>
  "neap.write"(%x, %u) {var = @v} : (tensor<4xf32>, !neap.token) -> ()
  return
}

func.func @foreign(%x: tensor<4xf32>, %t0: !stablehlo.token) -> !stablehlo.token {
  %t1 = "stablehlo.outfeed"(%x, %t0) {outfeed_config = ""} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %t2 = "stablehlo.outfeed"(%x, %t1) {outfeed_config = ""} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %t2 : !stablehlo.token
}
