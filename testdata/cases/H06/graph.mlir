// %l is %s under another name.
func.func @main(%x: tensor<48xi8>) -> tensor<48xi8> {
  %s = "neap.opaque"(%x) {neap.name = "exp"} : (tensor<48xi8>) -> tensor<48xi8>
  %l = "neap.opaque"(%s) {neap.view = [{result = 0 : i64, operand = 0 : i64, byte_offset = 0 : i64}]} : (tensor<48xi8>) -> tensor<48xi8>
  %r = "neap.opaque"(%x) {neap.name = "neg"} : (tensor<48xi8>) -> tensor<48xi8>
  %q = "neap.opaque"(%r) {neap.name = "abs"} : (tensor<48xi8>) -> tensor<48xi8>
  %o = "neap.opaque"(%l, %q) {neap.name = "add"} : (tensor<48xi8>, tensor<48xi8>) -> tensor<48xi8>
  return %o : tensor<48xi8>
}
