// The producers of the joined buffer write straight into it; %a is read by both.
func.func @main(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = "neap.opaque"(%x) {neap.name = "conv1"} : (tensor<16xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {neap.name = "convl"} : (tensor<64xi8>) -> tensor<32xi8>
  %c = "neap.opaque"(%a) {neap.name = "convr"} : (tensor<64xi8>) -> tensor<32xi8>
  %k = "stablehlo.concatenate"(%b, %c) {dimension = 0 : i64, neap.name = "k"} : (tensor<32xi8>, tensor<32xi8>) -> tensor<64xi8>
  %y = "neap.opaque"(%k) {neap.name = "conv2"} : (tensor<64xi8>) -> tensor<16xi8>
  return %y : tensor<16xi8>
}
