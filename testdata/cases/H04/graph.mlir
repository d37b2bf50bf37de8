// %idx is made once and read on every trip; what each trip makes dies with it. The slices come from outside and go outside.
func.func @main(%n: index, %xs: tensor<4x64xi8> {neap.io = "external"}) {
  %idx = "neap.opaque"() {neap.name = "iota"} : () -> tensor<64xi8>
  "neap.for"(%n) ({
  ^bb0(%trip: index):
    %t = "neap.opaque"(%xs, %trip, %idx) {neap.name = "gather"} : (tensor<4x64xi8>, index, tensor<64xi8>) -> tensor<64xi8>
    %u = "neap.opaque"(%t) {neap.name = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
    %v = "neap.opaque"(%u) {neap.name = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
    "test.emit"(%v) : (tensor<64xi8>) -> ()
    "neap.yield"() : () -> ()
  }) : (index) -> ()
  return
}
