// The cache outlives the run.
"neap.var"() {sym_name = "kv", type = tensor<256xi8>} : () -> ()
func.func @main(%x: tensor<16xi8>) -> tensor<16xi8> {
  %a = "neap.opaque"(%x) {neap.name = "f"} : (tensor<16xi8>) -> tensor<64xi8>
  %h = "neap.handle"() {var = "kv"} : () -> !neap.resource
  "test.update"(%h, %a) {neap.name = "upd"} : (!neap.resource, tensor<64xi8>) -> ()
  %r = "neap.read"() {alias, var = @kv} : () -> tensor<256xi8>
  %y = "neap.opaque"(%r, %a) {neap.name = "g"} : (tensor<256xi8>, tensor<64xi8>) -> tensor<16xi8>
  return %y : tensor<16xi8>
}
