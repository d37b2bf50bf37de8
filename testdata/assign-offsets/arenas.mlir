// RUN: --assign-offsets
// The fast arena takes what fits, in order of preference.
"neap.arena"() {sym_name = "fast", size = 128 : i64} : () -> ()
"neap.arena"() {sym_name = "slow", size = 1000 : i64} : () -> ()
func.func @main(%x: tensor<200xi8>) -> tensor<10xi8> {
  %a = "neap.opaque"(%x) {kind = "f"} : (tensor<200xi8>) -> tensor<180xi8>
  %b = "neap.opaque"(%a) {kind = "g"} : (tensor<180xi8>) -> tensor<60xi8>
  %c = "neap.opaque"(%b) {kind = "h"} : (tensor<60xi8>) -> tensor<60xi8>
  %y = "neap.opaque"(%c) {kind = "k", neap.scratch = 8 : i64} : (tensor<60xi8>) -> tensor<10xi8>
  return %y : tensor<10xi8>
}
