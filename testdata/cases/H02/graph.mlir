// Both bodies run while the operand of the branch is still needed by what comes after it.
func.func @main(%p: i1 {neap.io = "external"}, %x: tensor<100xi8>) -> tensor<100xi8> {
  %a = "neap.opaque"(%x) {neap.name = "relu"} : (tensor<100xi8>) -> tensor<100xi8>
  %b = "neap.if"(%p, %a) ({
  ^bb0(%u: tensor<100xi8>):
    %t = "neap.opaque"(%u) {neap.name = "neg"} : (tensor<100xi8>) -> tensor<100xi8>
    %v = "neap.opaque"(%t) {neap.name = "exp"} : (tensor<100xi8>) -> tensor<100xi8>
    "neap.yield"(%v) : (tensor<100xi8>) -> ()
  }, {
  ^bb0(%u: tensor<100xi8>):
    %w = "neap.opaque"(%u) {neap.name = "abs"} : (tensor<100xi8>) -> tensor<100xi8>
    "neap.yield"(%w) : (tensor<100xi8>) -> ()
  }) : (i1, tensor<100xi8>) -> tensor<100xi8>
  %c = "neap.opaque"(%a, %b) {neap.name = "add"} : (tensor<100xi8>, tensor<100xi8>) -> tensor<100xi8>
  return %c : tensor<100xi8>
}
