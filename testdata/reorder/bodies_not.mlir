// RUN: --reorder
// A value from outside the loop is read again on the next trip, so nothing in the loop overwrites it.
func.func @loop(%n: index, %x: tensor<8xi8>) -> tensor<8xi8> {
  %c = "neap.opaque"() {kind = "fill"} : () -> tensor<128xi8>
  %r = "neap.for"(%n, %x) ({
  ^bb0(%i: index, %acc: tensor<8xi8>):
    %d = "neap.opaque"(%c, %acc) {kind = "sub", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<128xi8>, tensor<8xi8>) -> tensor<128xi8>
    %e = "neap.opaque"(%d) {kind = "emit"} : (tensor<128xi8>) -> tensor<8xi8>
    "neap.yield"(%e) : (tensor<8xi8>) -> ()
  }) : (index, tensor<8xi8>) -> tensor<8xi8>
  return %r : tensor<8xi8>
}
// -----
// What a body hands out, and an argument of the body, stay.
func.func @handed_out(%p: i1, %x: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>) {
  %r:2 = "neap.if"(%p, %x) ({
  ^bb0(%u: tensor<8xi8>):
    %a = "neap.opaque"(%u) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<8xi8>) -> tensor<8xi8>
    %b = "neap.opaque"(%a) {neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"(%a, %b) : (tensor<8xi8>, tensor<8xi8>) -> ()
  }, {
  ^bb0(%u: tensor<8xi8>):
    "neap.yield"(%u, %u) : (tensor<8xi8>, tensor<8xi8>) -> ()
  }) : (i1, tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>)
  return %r#0, %r#1 : tensor<8xi8>, tensor<8xi8>
}
