// RUN: --fuse
// Near misses: a second reader outside (H16), broadcast, a second heavy operation, effects, tokens, what the user asked for.
func.func @cycle(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = "tfl.abs"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %g = "neap.opaque"(%f) : (tensor<8xf32>) -> tensor<8xf32>
  %h = "tfl.add"(%f, %g) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %h : tensor<8xf32>
}

func.func @read_outside(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %f = "tfl.abs"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %h = "tfl.exp"(%f) : (tensor<8xf32>) -> tensor<8xf32>
  return %h, %f : tensor<8xf32>, tensor<8xf32>
}

func.func @broadcast(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %row = "tfl.abs"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %all = "tfl.add"(%row, %y) : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %all : tensor<4x8xf32>
}

func.func @two_heavy(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = "tfl.fully_connected"(%x, %y) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = "tfl.fully_connected"(%y, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = "tfl.add"(%a, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

"neap.var"() {sym_name = "v", type = tensor<8xf32>} : () -> ()
func.func @opaque(%x: tensor<8xf32>, %p: tensor<i1>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %token = "my.start"() : () -> !neap.token
  %r = "neap.read"() {var = @v} : () -> tensor<8xf32>
  %a = "tfl.abs"(%r) : (tensor<8xf32>) -> tensor<8xf32>
  %waits = "tfl.abs"(%x, %token) : (tensor<8xf32>, !neap.token) -> tensor<8xf32>
  %b = "tfl.exp"(%waits) : (tensor<8xf32>) -> tensor<8xf32>
  %kept = "tfl.abs"(%x) {neap.keep} : (tensor<8xf32>) -> tensor<8xf32>
  %c = "tfl.exp"(%kept) : (tensor<8xf32>) -> tensor<8xf32>
  %inner = "neap.if"(%p) ({
    %d = "tfl.neg"(%c) : (tensor<8xf32>) -> tensor<8xf32>
    "neap.yield"(%d) : (tensor<8xf32>) -> ()
  }) : (tensor<i1>) -> tensor<8xf32>
  return %a, %b, %inner : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A view of state is read before the state changes, not after.
func.func @state(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = "neap.read"() {alias, var = @v} : () -> tensor<8xf32>
  %a = "tfl.abs"(%r) : (tensor<8xf32>) -> tensor<8xf32>
  "neap.write"(%x) {var = @v} : (tensor<8xf32>) -> ()
  %b = "tfl.exp"(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %b : tensor<8xf32>
}
