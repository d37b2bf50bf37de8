// No values join the three, only what they touch.
"neap.var"() {sym_name = "v", type = tensor<8xi8>} : () -> ()
func.func @main(%x: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>) {
  %a = "neap.read"() {neap.group = "G", neap.name = "A", var = @v} : () -> tensor<8xi8>
  "neap.write"(%x) {neap.name = "B", var = @v} : (tensor<8xi8>) -> ()
  %c = "neap.read"() {neap.group = "G", neap.name = "C", var = @v} : () -> tensor<8xi8>
  return %a, %c : tensor<8xi8>, tensor<8xi8>
}
