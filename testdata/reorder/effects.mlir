// RUN: --reorder
// Without tokens the order of effects is kept all the same: the read stays before the write, though the other order needs 192 bytes instead of 256.
"neap.var"() {sym_name = "v", type = tensor<128xi8>} : () -> ()
func.func @main(%x: tensor<64xi8>) -> tensor<128xi8> {
  %r = "neap.read"() {var = @v} : () -> tensor<128xi8>
  %a = "neap.opaque"(%x) : (tensor<64xi8>) -> tensor<128xi8>
  "neap.write"(%a) {var = @v} : (tensor<128xi8>) -> ()
  return %r : tensor<128xi8>
}
