// RUN: --reorder=prices=true

// The first part lives while much else does, so placing it would hold the second part's bytes, too: the join copies, and the remark says what it takes
// to have none of it.
func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {
  %a = "neap.opaque"(%x) {kind = "a"} : (tensor<8xi8>) -> tensor<64xi8>
  %t = "neap.opaque"(%a) {kind = "t"} : (tensor<64xi8>) -> tensor<100xi8>
  %u = "neap.opaque"(%t) {kind = "u"} : (tensor<100xi8>) -> tensor<100xi8>
  %b = "neap.opaque"(%u) {kind = "b"} : (tensor<100xi8>) -> tensor<32xi8>
  %k = "neap.opaque"(%a, %b) {neap.may_place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 64 : i64, operand = 1 : i64}]} : (tensor<64xi8>, tensor<32xi8>) -> tensor<96xi8>
  %y = "neap.opaque"(%k) {kind = "y"} : (tensor<96xi8>) -> tensor<8xi8>
  return %y : tensor<8xi8>
}

// -----

// All parts lie in the whole already: there is nothing to ask for.
func.func @main(%x: tensor<8xi8>) -> (tensor<64xi8>, tensor<8xi8>) {
  %a = "neap.opaque"(%x) {kind = "a"} : (tensor<8xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {kind = "b"} : (tensor<64xi8>) -> tensor<32xi8>
  %k = "neap.opaque"(%x, %b) {neap.may_place = [{byte_offset = 0 : i64, operand = 0 : i64}, {byte_offset = 8 : i64, operand = 1 : i64}]} : (tensor<8xi8>, tensor<32xi8>) -> tensor<40xi8>
  %y = "neap.opaque"(%k) {kind = "y"} : (tensor<40xi8>) -> tensor<8xi8>
  return %a, %y : tensor<64xi8>, tensor<8xi8>
}
