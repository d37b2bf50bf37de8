// Six GiB each: the second starts beyond what 32 bits hold.
func.func @main(%x: tensor<6442450944xi8>) -> tensor<6442450944xi8> {
  %y = "neap.opaque"(%x) {neap.name = "copy"} : (tensor<6442450944xi8>) -> tensor<6442450944xi8>
  return %y : tensor<6442450944xi8>
}
