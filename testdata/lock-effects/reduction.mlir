// RUN: --lock-effects
// As few edges as possible: a write waits for the reads since the last write, not for what they wait for; unknown operations are walls.
"neap.var"() {sym_name = "v", type = tensor<4xf32>} : () -> ()
"neap.var"() {sym_name = "u", type = tensor<4xf32>} : () -> ()
func.func @chain(%x: tensor<4xf32>) {
  "neap.write"(%x) {var = @v} : (tensor<4xf32>) -> ()
  %a = "neap.read"() {var = @v} : () -> tensor<4xf32>
  %b = "neap.read"() {var = @v} : () -> tensor<4xf32>
  "neap.write"(%x) {var = @v} : (tensor<4xf32>) -> ()
  "neap.write"(%a) {var = @u} : (tensor<4xf32>) -> ()
  "my.unknown"() : () -> ()
  "neap.write"(%b) {var = @v} : (tensor<4xf32>) -> ()
  %c = "neap.read"() {var = @u} : () -> tensor<4xf32>
  "my.print"(%c) : (tensor<4xf32>) -> ()
  return
}

// The write of @u reads the result of the read of @v, so the wall need wait for the write alone.
func.func @detour(%x: tensor<4xf32>) {
  %a = "neap.read"() {var = @v} : () -> tensor<4xf32>
  "neap.write"(%a) {var = @u} : (tensor<4xf32>) -> ()
  "my.unknown"() : () -> ()
  return
}
