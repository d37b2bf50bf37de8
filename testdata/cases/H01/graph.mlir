// Nobody reads %s#1, and it is no result of the function.
func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %s:2 = "neap.opaque"(%x) {neap.name = "split", neap.names = ["p", "q"]} : (tensor<64xi8>) -> (tensor<64xi8>, tensor<32xi8>)
  %y = "neap.opaque"(%s#0) {neap.name = "y"} : (tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
