// %c is made outside of the loop and read on every trip.
func.func @main(%n: index, %xs: tensor<4x128xi8> {neap.io = "external"}) {
  %c = "neap.opaque"() {neap.name = "fill"} : () -> tensor<128xi8>
  "neap.for"(%n) ({
  ^bb0(%trip: index):
    %d = "neap.opaque"(%c, %xs, %trip) {neap.may_inplace = [{result = 0 : i64, operand = 0 : i64}], neap.name = "sub"} : (tensor<128xi8>, tensor<4x128xi8>, index) -> tensor<128xi8>
    "test.emit"(%d) : (tensor<128xi8>) -> ()
    "neap.yield"() : () -> ()
  }) : (index) -> ()
  return
}
