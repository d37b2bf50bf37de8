// RUN: --lock-effects --reorder --assign-offsets
// A handle of an operation in no table holds no bytes.
"neap.var"() {sym_name = "x", type = tensor<96xi8>} : () -> ()
func.func @main() -> tensor<96xi8> {
  %r = "neap.read"() {alias, neap.name = "r", var = @x} : () -> tensor<96xi8>
  %v = "neap.opaque"(%r) {neap.name = "v", neap.view = [{result = 0 : i64, operand = 0 : i64, byte_offset = 0 : i64}]} : (tensor<96xi8>) -> tensor<96xi8>
  %y = "stablehlo.abs"(%v) {neap.name = "mul2"} : (tensor<96xi8>) -> tensor<96xi8>
  %h = "my.open"() {var = "x"} : () -> !neap.resource
  "test.fill"(%h) {neap.name = "fill"} : (!neap.resource) -> ()
  %z = "stablehlo.negate"(%y) {neap.name = "neg"} : (tensor<96xi8>) -> tensor<96xi8>
  return %z : tensor<96xi8>
}
