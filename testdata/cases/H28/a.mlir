// 300 bytes that may be used again, 40 that persist.
"neap.var"() {sym_name = "a", type = tensor<40xi8>} : () -> ()
func.func @main(%x: tensor<150xi8>) -> tensor<150xi8> {
  %s = "neap.read"() {alias, var = @a} : () -> tensor<40xi8>
  %y = "neap.opaque"(%x, %s) : (tensor<150xi8>, tensor<40xi8>) -> tensor<150xi8>
  return %y : tensor<150xi8>
}
