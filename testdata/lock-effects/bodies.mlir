// RUN: --lock-effects
// An operation with bodies or callees has their effects; inside of a body operations are locked among themselves.
"neap.var"() {sym_name = "v", type = tensor<4xf32>} : () -> ()
func.func @branch(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %r = "neap.read"() {var = @v} : () -> tensor<4xf32>
  "neap.if"(%p) ({
    %s = "neap.read"() {var = @v} : () -> tensor<4xf32>
    "neap.write"(%x) {var = @v} : (tensor<4xf32>) -> ()
    "neap.yield"() : () -> ()
  }) : (tensor<i1>) -> ()
  return %r : tensor<4xf32>
}

func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "neap.read"() {var = @v} : () -> tensor<4xf32>
  "neap.call"(%x) {callee = @writer} : (tensor<4xf32>) -> ()
  "neap.call"(%x) {callee = @pure} : (tensor<4xf32>) -> ()
  %s = "neap.read"() {var = @v} : () -> tensor<4xf32>
  "neap.call"(%x) {callee = @elsewhere} : (tensor<4xf32>) -> ()
  return %r : tensor<4xf32>
}

func.func @writer(%x: tensor<4xf32>) {
  "neap.write"(%x) {var = @v} : (tensor<4xf32>) -> ()
  return
}

func.func @pure(%x: tensor<4xf32>) {
  return
}

// MLIR's own operations take no tokens, and a terminator needs none.
func.func @registered_not(%x: tensor<4xf32>) {
  "func.call"(%x) {callee = @writer} : (tensor<4xf32>) -> ()
  "neap.write"(%x) {var = @v} : (tensor<4xf32>) -> ()
  return
}

// A body may be left by an operation that no table knows; nothing passes it anyway.
func.func @last(%x: tensor<4xf32>, %p: tensor<i1>) {
  "neap.if"(%p) ({
    "neap.write"(%x) {var = @v} : (tensor<4xf32>) -> ()
    "my.end"() : () -> ()
  }) : (tensor<i1>) -> ()
  return
}
