// f waits for h, h for g, g for f.
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %a = "neap.opaque"(%x, %c) {neap.name = "f"} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  %b = "neap.opaque"(%a) {neap.name = "g"} : (tensor<4xi8>) -> tensor<4xi8>
  %c = "neap.opaque"(%b) {neap.name = "h"} : (tensor<4xi8>) -> tensor<4xi8>
  return %c : tensor<4xi8>
}
