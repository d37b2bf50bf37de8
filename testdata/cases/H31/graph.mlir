// Too large for the small memory alone.
func.func @main(%x: tensor<200xi8>) -> tensor<10xi8> {
  %a = "neap.opaque"(%x) {neap.name = "f"} : (tensor<200xi8>) -> tensor<180xi8>
  %b = "neap.opaque"(%a) {neap.name = "g"} : (tensor<180xi8>) -> tensor<60xi8>
  %c = "neap.opaque"(%b) {neap.name = "h"} : (tensor<60xi8>) -> tensor<60xi8>
  %y = "neap.opaque"(%c) {neap.name = "k"} : (tensor<60xi8>) -> tensor<10xi8>
  return %y : tensor<10xi8>
}
