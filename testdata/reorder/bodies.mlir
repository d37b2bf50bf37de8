// RUN: --reorder --assign-offsets
// Each body is ordered by itself; the operation around it counts the bytes of its bodies.
func.func @inner(%p: i1, %x: tensor<80xi8>) -> tensor<80xi8> {
  %r = "neap.if"(%p, %x) ({
  ^bb0(%u: tensor<80xi8>):
    %t2 = "neap.opaque"(%u) {kind = "L"} : (tensor<80xi8>) -> tensor<80xi8>
    %t3 = "neap.opaque"(%t2) {kind = "M"} : (tensor<80xi8>) -> tensor<20xi8>
    %t4 = "neap.opaque"(%t3) {kind = "N"} : (tensor<20xi8>) -> tensor<80xi8>
    %t5 = "neap.opaque"(%u) {kind = "P"} : (tensor<80xi8>) -> tensor<80xi8>
    %y = "neap.opaque"(%t4, %t5) {kind = "add", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<80xi8>, tensor<80xi8>) -> tensor<80xi8>
    "neap.yield"(%y) : (tensor<80xi8>) -> ()
  }, {
  ^bb0(%u: tensor<80xi8>):
    "neap.yield"(%u) : (tensor<80xi8>) -> ()
  }) : (i1, tensor<80xi8>) -> tensor<80xi8>
  return %r : tensor<80xi8>
}
