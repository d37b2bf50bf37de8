// RUN: --assign-offsets
// A result nobody reads lives during its own step; its bytes are free afterwards.
func.func @unread(%x: tensor<64xi8>) -> tensor<64xi8> {
  %p, %q = "neap.opaque"(%x) {kind = "split"} : (tensor<64xi8>) -> (tensor<64xi8>, tensor<32xi8>)
  %y = "neap.opaque"(%p) {kind = "relu"} : (tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
// -----
// The readers of a view are readers of its owner, through any chain of views.
func.func @views(%x: tensor<64xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {kind = "exp"} : (tensor<64xi8>) -> tensor<64xi8>
  %v1 = "neap.opaque"(%a) {neap.view = [{byte_offset = 0 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<64xi8>) -> tensor<8x8xi8>
  %v2 = "neap.opaque"(%v1) {neap.view = [{byte_offset = 16 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<8x8xi8>) -> tensor<6x8xi8>
  %v3 = "neap.opaque"(%v2) {neap.view = [{byte_offset = 16 : i64, operand = 0 : i64, result = 0 : i64}]} : (tensor<6x8xi8>) -> tensor<4x8xi8>
  %b = "neap.opaque"(%x) {kind = "neg"} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%b) {kind = "abs"} : (tensor<64xi8>) -> tensor<64xi8>
  %d = "neap.opaque"(%v3, %c) {kind = "add"} : (tensor<4x8xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %d : tensor<64xi8>
}
// -----
// Parts written straight into the whole, nested, and a result over the outer whole.
func.func @placed(%x: tensor<16xi8>) -> tensor<96xi8> {
  %a = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<32xi8>
  %b = "neap.opaque"(%x) : (tensor<16xi8>) -> tensor<32xi8>
  %k = "neap.opaque"(%a, %b) {kind = "concat", neap.place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 32 : i64, operand = 1 : i64}]} : (tensor<32xi8>, tensor<32xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%k) : (tensor<64xi8>) -> tensor<32xi8>
  %l = "neap.opaque"(%c, %k) {kind = "concat", neap.place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 32 : i64, operand = 1 : i64}]} : (tensor<32xi8>, tensor<64xi8>) -> tensor<96xi8>
  %o = "neap.opaque"(%l) {kind = "tanh", neap.inplace = [{operand = 0 : i64, result = 0 : i64}]} : (tensor<96xi8>) -> tensor<96xi8>
  return %o : tensor<96xi8>
}
// -----
// Zero-size values take nothing and lie at the start of the arena.
func.func @empty(%x: tensor<0xi8>, %c: tensor<16xi8>) -> tensor<16xi8> {
  %a = "neap.opaque"(%x) : (tensor<0xi8>) -> tensor<0xi8>
  %b = "neap.opaque"(%a, %c) : (tensor<0xi8>, tensor<16xi8>) -> tensor<16xi8>
  return %b : tensor<16xi8>
}
// -----
// Constants, resident results, state and the caller's bytes take no arena bytes.
"neap.var"() {sym_name = "h", type = tensor<96xi8>} : () -> ()
func.func @elsewhere(%x: tensor<96xi8> {neap.io = "external"}) -> (tensor<96xi8>, tensor<96xi8> {neap.io = "external"}) {
  %w = "neap.constant"() : () -> tensor<96xi8>
  %r = "neap.opaque"(%w) {neap.resident} : (tensor<96xi8>) -> tensor<96xi8>
  %v = "neap.read"() {alias, var = @h} : () -> tensor<96xi8>
  %y = "neap.opaque"(%x, %r, %v) : (tensor<96xi8>, tensor<96xi8>, tensor<96xi8>) -> tensor<96xi8>
  %z = "neap.opaque"(%y) : (tensor<96xi8>) -> tensor<96xi8>
  return %y, %z : tensor<96xi8>, tensor<96xi8>
}
// -----
// The same value twice, an argument and a constant as results.
func.func @results(%x: tensor<64xi8>) -> (tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<16xi8>) {
  %k = "neap.constant"() : () -> tensor<16xi8>
  %y = "neap.opaque"(%x) : (tensor<64xi8>) -> tensor<64xi8>
  return %y, %y, %x, %k : tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<16xi8>
}
// -----
// Without a step the arguments count.
func.func @nothing(%x: tensor<64xi8>, %y: tensor<8xi8>) -> tensor<64xi8> {
  return %x : tensor<64xi8>
}
