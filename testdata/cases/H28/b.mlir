// 500 bytes that may be used again, 60 that persist.
"neap.var"() {sym_name = "b", type = tensor<60xi8>} : () -> ()
func.func @main(%x: tensor<250xi8>) -> tensor<250xi8> {
  %s = "neap.read"() {alias, var = @b} : () -> tensor<60xi8>
  %y = "neap.opaque"(%x, %s) : (tensor<250xi8>, tensor<60xi8>) -> tensor<250xi8>
  return %y : tensor<250xi8>
}
