// The first branch's result has to outlive its body, and the second branch must not touch it.
func.func @main(%p: i1 {neap.io = "external"}, %x: tensor<64xi8>) -> tensor<64xi8> {
  %r1 = "neap.if"(%p, %x) ({
  ^bb0(%u: tensor<64xi8>):
    %t1 = "neap.opaque"(%u) {neap.name = "copy"} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%t1) : (tensor<64xi8>) -> ()
  }, {
  ^bb0(%u: tensor<64xi8>):
    %e1 = "neap.opaque"(%u) {neap.name = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%e1) : (tensor<64xi8>) -> ()
  }) : (i1, tensor<64xi8>) -> tensor<64xi8>
  %r2 = "neap.if"(%p, %r1) ({
  ^bb0(%u: tensor<64xi8>):
    %t2 = "neap.opaque"(%u) {neap.name = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
    %u2 = "neap.opaque"(%t2) {neap.name = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%u2) : (tensor<64xi8>) -> ()
  }, {
  ^bb0(%u: tensor<64xi8>):
    %e2 = "neap.opaque"(%u) {neap.name = "copy"} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%e2) : (tensor<64xi8>) -> ()
  }) : (i1, tensor<64xi8>) -> tensor<64xi8>
  %y = "neap.opaque"(%r1, %r2) {neap.name = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
