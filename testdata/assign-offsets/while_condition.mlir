// RUN: --assign-offsets
// The condition is read at the end of its body; values that a deciding body hands to the results stay until the results are there.
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %r = "neap.while"(%x) ({
  ^bb0(%a: tensor<16xf32>):
    %t = "neap.opaque"(%a) {kind = "test"} : (tensor<16xf32>) -> i1
    "neap.yield"(%t) : (i1) -> ()
  }, {
  ^bb0(%b: tensor<16xf32>):
    %c = "neap.opaque"(%b) {kind = "k"} : (tensor<16xf32>) -> tensor<3xf32>
    %d = "neap.opaque"(%c) {kind = "fit"} : (tensor<3xf32>) -> tensor<16xf32>
    "neap.yield"(%d) : (tensor<16xf32>) -> ()
  }) : (tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}
// -----
func.func @main(%x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %r:2 = "scf.while"(%x, %y) ({
  ^bb0(%a: tensor<16xf32>, %b: tensor<16xf32>):
    %t = "neap.opaque"(%a) {kind = "test"} : (tensor<16xf32>) -> i1
    %f = "neap.opaque"(%a) {kind = "f"} : (tensor<16xf32>) -> tensor<16xf32>
    %g = "neap.opaque"(%b) {kind = "g"} : (tensor<16xf32>) -> tensor<16xf32>
    "scf.condition"(%t, %g, %f) : (i1, tensor<16xf32>, tensor<16xf32>) -> ()
  }, {
  ^bb0(%c: tensor<16xf32>, %d: tensor<16xf32>):
    %e = "neap.opaque"(%c) {kind = "k"} : (tensor<16xf32>) -> tensor<16xf32>
    "scf.yield"(%e, %d) : (tensor<16xf32>, tensor<16xf32>) -> ()
  }) : (tensor<16xf32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1 : tensor<16xf32>, tensor<16xf32>
}
