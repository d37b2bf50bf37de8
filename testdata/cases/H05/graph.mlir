// %k is no operand of the branch: its bodies capture it.
func.func @main(%p: i1 {neap.io = "external"}, %x: tensor<64xi8>) -> tensor<64xi8> {
  %k = "neap.opaque"(%x) {neap.name = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
  %m = "neap.opaque"(%x) {neap.name = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
  %r = "neap.if"(%p) ({
    %a = "neap.opaque"(%k, %k) {neap.name = "mul"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%a) : (tensor<64xi8>) -> ()
  }, {
    %b = "neap.opaque"(%k, %k) {neap.name = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%b) : (tensor<64xi8>) -> ()
  }) {neap.name = "r"} : (i1) -> tensor<64xi8>
  %y = "neap.opaque"(%r, %m) {neap.name = "y"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
