// No value says that the read comes before the write.
"neap.var"() {sym_name = "v", type = tensor<64xi8>} : () -> ()
func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %r = "neap.read"() {neap.name = "r", var = @v} : () -> tensor<64xi8>
  "neap.write"(%x) {neap.name = "w", var = @v} : (tensor<64xi8>) -> ()
  %y = "neap.opaque"(%r, %x) {neap.name = "add"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
