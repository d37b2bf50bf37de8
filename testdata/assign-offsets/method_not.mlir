// RUN: --assign-offsets=method=first-fit
// A greedy method finds 170 bytes where 110 are enough: the message says that the floor fits.
"neap.arena"() {sym_name = "arena", size = 120 : i64} : () -> ()
func.func @main() -> tensor<0xi8> {
  %b, %e = "neap.opaque"() : () -> (tensor<40xi8>, tensor<50xi8>)
  %a = "neap.opaque"(%e) : (tensor<50xi8>) -> tensor<20xi8>
  %d = "neap.opaque"(%a, %b) : (tensor<20xi8>, tensor<40xi8>) -> tensor<50xi8>
  %c = "neap.opaque"(%d) : (tensor<50xi8>) -> tensor<60xi8>
  %y = "neap.opaque"(%c) : (tensor<60xi8>) -> tensor<0xi8>
  return %y : tensor<0xi8>
}
