// RUN: --canonicalize-views --rematerialize=budget=1456 --reorder
// What is worth most ends at 1472 here; from the start again, as low as is found, 1440 are reached, which keep the budget.
func.func @main(%x: tensor<4x16xi8>) -> (tensor<10x16xi8>, tensor<40x16xi8>) {
  %v0 = "neap.opaque"(%x) {kind = "u0"} : (tensor<4x16xi8>) -> tensor<40x16xi8>
  %v1 = "tosa.maximum"(%x, %x) <{nan_mode = #tosa.nan_mode<PROPAGATE>}> : (tensor<4x16xi8>, tensor<4x16xi8>) -> tensor<4x16xi8>
  %v2 = "neap.opaque"(%x, %v0) {kind = "o2"} : (tensor<4x16xi8>, tensor<40x16xi8>) -> tensor<10x16xi8>
  %v3 = "neap.opaque"(%v0) {kind = "u3"} : (tensor<40x16xi8>) -> tensor<40x16xi8>
  %v4 = "neap.opaque"(%x) {kind = "u4"} : (tensor<4x16xi8>) -> tensor<40x16xi8>
  %v5 = "neap.opaque"(%v0) {kind = "u5"} : (tensor<40x16xi8>) -> tensor<8x16xi8>
  %v6 = "tosa.abs"(%v5) : (tensor<8x16xi8>) -> tensor<8x16xi8>
  %v7 = "neap.opaque"(%v1, %v5) {kind = "o7"} : (tensor<4x16xi8>, tensor<8x16xi8>) -> tensor<1x16xi8>
  %v8 = "neap.opaque"(%v4) {kind = "u8"} : (tensor<40x16xi8>) -> tensor<40x16xi8>
  %v9 = "neap.opaque"(%v5) {kind = "d9"} : (tensor<8x16xi8>) -> tensor<2x16xi8>
  %v10 = "neap.opaque"(%v3, %v9) {kind = "o10"} : (tensor<40x16xi8>, tensor<2x16xi8>) -> tensor<4x16xi8>
  %v11 = "neap.opaque"(%v1, %v5) {kind = "o11"} : (tensor<4x16xi8>, tensor<8x16xi8>) -> tensor<10x16xi8>
  return %v11, %v0 : tensor<10x16xi8>, tensor<40x16xi8>
}
