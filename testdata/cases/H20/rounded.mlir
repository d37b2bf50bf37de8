// One byte short of 2 GiB each, and offsets in steps of 64.
"neap.arena"() {align = 64 : i64, sym_name = "arena"} : () -> ()
func.func @main(%x: tensor<2147483647xi8>) -> tensor<2147483647xi8> {
  %y = "neap.opaque"(%x) {neap.name = "copy"} : (tensor<2147483647xi8>) -> tensor<2147483647xi8>
  return %y : tensor<2147483647xi8>
}
