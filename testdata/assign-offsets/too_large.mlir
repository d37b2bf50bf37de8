// RUN: --assign-offsets
// What is known to be too large is not called unknown, and no bound would help.
func.func @bytes(%x: tensor<8xi8>) -> tensor<8xi8> {
  %a = "neap.opaque"(%x) : (tensor<8xi8>) -> tensor<1152921504606846976xf64>
  %b = "neap.opaque"(%a) : (tensor<1152921504606846976xf64>) -> tensor<4294967296x4294967296xi8>
  %c = "neap.opaque"(%b) : (tensor<4294967296x4294967296xi8>) -> tensor<8xi8>
  return %c : tensor<8xi8>
}
