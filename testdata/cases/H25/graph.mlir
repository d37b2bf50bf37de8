// Which of these can be read after the run?
func.func @main(%x: tensor<32xi8>, %h: tensor<16xi8>) -> (tensor<8xi8>, tensor<16xi8>) {
  %a = "neap.opaque"(%x, %h) {neap.name = "f"} : (tensor<32xi8>, tensor<16xi8>) -> tensor<64xi8>
  %h2 = "neap.opaque"(%a) {neap.name = "g"} : (tensor<64xi8>) -> tensor<16xi8>
  %b = "neap.opaque"(%a) {neap.name = "k"} : (tensor<64xi8>) -> tensor<64xi8>
  %y = "neap.opaque"(%b) {neap.name = "m"} : (tensor<64xi8>) -> tensor<8xi8>
  return %y, %h2 : tensor<8xi8>, tensor<16xi8>
}
