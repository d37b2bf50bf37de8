// RUN: --assign-offsets
// The branch runs while an operand is still needed: nothing inside meets `a`; the bodies share bytes with each other.
func.func @branch(%p: i1, %x: tensor<100xi8>) -> tensor<100xi8> {
  %a = "neap.opaque"(%x) {kind = "relu"} : (tensor<100xi8>) -> tensor<100xi8>
  %b = "neap.if"(%p, %a) ({
  ^bb0(%u: tensor<100xi8>):
    %t = "neap.opaque"(%u) {kind = "neg"} : (tensor<100xi8>) -> tensor<100xi8>
    %v = "neap.opaque"(%t) {kind = "exp"} : (tensor<100xi8>) -> tensor<100xi8>
    "neap.yield"(%v) : (tensor<100xi8>) -> ()
  }, {
  ^bb0(%u: tensor<100xi8>):
    %w = "neap.opaque"(%u) {kind = "abs"} : (tensor<100xi8>) -> tensor<100xi8>
    "neap.yield"(%w) : (tensor<100xi8>) -> ()
  }) : (i1, tensor<100xi8>) -> tensor<100xi8>
  %c = "neap.opaque"(%a, %b) {kind = "add"} : (tensor<100xi8>, tensor<100xi8>) -> tensor<100xi8>
  return %c : tensor<100xi8>
}
// -----
// Two conditionals one after the other: the first one's result stays to the last reader.
func.func @two(%p: i1, %x: tensor<64xi8>) -> tensor<64xi8> {
  %r1 = "neap.if"(%p, %x) ({
  ^bb0(%u: tensor<64xi8>):
    %t1 = "neap.opaque"(%u) {kind = "copy"} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%t1) : (tensor<64xi8>) -> ()
  }, {
  ^bb0(%u: tensor<64xi8>):
    %e1 = "neap.opaque"(%u) {kind = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%e1) : (tensor<64xi8>) -> ()
  }) : (i1, tensor<64xi8>) -> tensor<64xi8>
  %r2 = "neap.if"(%p, %r1) ({
  ^bb0(%u: tensor<64xi8>):
    %t2 = "neap.opaque"(%u) {kind = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
    %u2 = "neap.opaque"(%t2) {kind = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%u2) : (tensor<64xi8>) -> ()
  }, {
  ^bb0(%u: tensor<64xi8>):
    %e2 = "neap.opaque"(%u) {kind = "copy"} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%e2) : (tensor<64xi8>) -> ()
  }) : (i1, tensor<64xi8>) -> tensor<64xi8>
  %y = "neap.opaque"(%r1, %r2) {kind = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
// -----
// A value made before a loop lives to the end of the last trip; what a trip makes dies in it.
func.func @loop(%n: index) -> tensor<4xi8> {
  %idx = "neap.opaque"() {kind = "iota"} : () -> tensor<64xi8>
  %z = "neap.opaque"() : () -> tensor<4xi8>
  %r = "neap.for"(%n, %z) ({
  ^bb0(%i: index, %acc: tensor<4xi8>):
    %t = "neap.opaque"(%idx) {kind = "gather"} : (tensor<64xi8>) -> tensor<64xi8>
    %u = "neap.opaque"(%t) {kind = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
    %v = "neap.opaque"(%u) {kind = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
    %e = "neap.opaque"(%v, %acc) {kind = "emit"} : (tensor<64xi8>, tensor<4xi8>) -> tensor<4xi8>
    "neap.yield"(%e) : (tensor<4xi8>) -> ()
  }) : (index, tensor<4xi8>) -> tensor<4xi8>
  return %r : tensor<4xi8>
}
// -----
// A value that only a nested body reads.
func.func @captured(%p: i1, %x: tensor<64xi8>) -> tensor<64xi8> {
  %k = "neap.opaque"(%x) {kind = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
  %m = "neap.opaque"(%x) {kind = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
  %r = "neap.if"(%p) ({
    %a = "neap.opaque"(%k, %k) {kind = "mul"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%a) : (tensor<64xi8>) -> ()
  }, {
    %b = "neap.opaque"(%k, %k) {kind = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%b) : (tensor<64xi8>) -> ()
  }) : (i1) -> tensor<64xi8>
  %y = "neap.opaque"(%r, %m) {kind = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
// -----
// Bodies that run at the same time never share.
func.func @parallel(%x: tensor<64xi8>) {
  "neap.parallel"() ({
    %a = "neap.opaque"(%x) : (tensor<64xi8>) -> tensor<64xi8>
    %b = "neap.opaque"(%a) : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"() : () -> ()
  }, {
    %c = "neap.opaque"(%x) : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"() : () -> ()
  }) : () -> ()
  return
}
// -----
// The body of a fused operation describes one kernel: one step, no bytes inside.
func.func @kernel(%x: tensor<64xi8>) -> tensor<64xi8> {
  %y = "neap.fused"(%x) ({
  ^bb0(%u: tensor<64xi8>):
    %a = "neap.opaque"(%u) : (tensor<64xi8>) -> tensor<64xi8>
    %b = "neap.opaque"(%a) : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%b) : (tensor<64xi8>) -> ()
  }) : (tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
