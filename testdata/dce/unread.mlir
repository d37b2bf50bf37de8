// RUN: --dce
// A chain nobody reads goes as a whole, and so does a read of a variable; what changes something, is kept or pinned, or is returned stays.
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %dead0 = "tfl.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %dead1 = "tfl.exp"(%dead0) : (tensor<4xf32>) -> tensor<4xf32>
  %live = "tfl.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %live : tensor<4xf32>
}

"neap.var"() {sym_name = "h", type = tensor<4xf32>} : () -> ()
func.func @stay_not(%x: tensor<4xf32>) {
  "neap.write"(%x) {var = @h} : (tensor<4xf32>) -> ()
  %read = "neap.read"() {var = @h} : () -> tensor<4xf32>
  %unknown = "my.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %kept = "tfl.abs"(%x) {neap.keep} : (tensor<4xf32>) -> tensor<4xf32>
  %pinned = "tfl.abs"(%x) {neap.pin = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// One result with a reader is enough; a body that writes is an effect; a body that does not is none.
func.func @partly(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %a, %b = "tfl.split"(%p, %x) {num_splits = 2 : i32} : (tensor<i1>, tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  "neap.if"(%p) ({
    "neap.write"(%x) {var = @h} : (tensor<4xf32>) -> ()
    "neap.yield"() : () -> ()
  }) : (tensor<i1>) -> ()
  %c = "neap.if"(%p) ({
    %inner = "tfl.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "neap.yield"(%inner) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %b : tensor<2xf32>
}
