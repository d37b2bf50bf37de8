// Kernels need bytes of their own.
func.func @main(%x: tensor<100xi8>) -> tensor<10xi8> {
  %a = "neap.opaque"(%x) {neap.name = "conv", neap.scratch = 60 : i64} : (tensor<100xi8>) -> tensor<100xi8>
  %y = "neap.opaque"(%a) {neap.name = "fc", neap.scratch = 200 : i64} : (tensor<100xi8>) -> tensor<10xi8>
  return %y : tensor<10xi8>
}
