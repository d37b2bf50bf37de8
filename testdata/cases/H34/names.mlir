// Equal names of operations, and equal names of values in two bodies.
func.func @main(%p: i1 {neap.io = "external"}, %x: tensor<4xi8>) -> tensor<4xi8> {
  %a = "neap.opaque"(%x) {neap.name = "same"} : (tensor<4xi8>) -> tensor<4xi8>
  %b = "neap.opaque"(%a) {neap.name = "same"} : (tensor<4xi8>) -> tensor<4xi8>
  %c = "neap.if"(%p, %b) ({
  ^bb0(%u: tensor<4xi8>):
    %v = "neap.opaque"(%u) : (tensor<4xi8>) -> tensor<4xi8>
    "neap.yield"(%v) : (tensor<4xi8>) -> ()
  }, {
  ^bb0(%u: tensor<4xi8>):
    %v = "neap.opaque"(%u) : (tensor<4xi8>) -> tensor<4xi8>
    "neap.yield"(%v) : (tensor<4xi8>) -> ()
  }) : (i1, tensor<4xi8>) -> tensor<4xi8>
  return %c : tensor<4xi8>
}
