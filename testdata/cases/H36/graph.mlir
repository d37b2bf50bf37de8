// Eight values that live at the same time, and six that do not: any order of equals would do, and one is always taken.
func.func @main() {
  %v0 = "neap.opaque"() {neap.name = "v0"} : () -> tensor<64xi8>
  %v1 = "neap.opaque"() {neap.name = "v1"} : () -> tensor<64xi8>
  %v2 = "neap.opaque"() {neap.name = "v2"} : () -> tensor<64xi8>
  %v3 = "neap.opaque"() {neap.name = "v3"} : () -> tensor<64xi8>
  %v4 = "neap.opaque"() {neap.name = "v4"} : () -> tensor<64xi8>
  %v5 = "neap.opaque"() {neap.name = "v5"} : () -> tensor<64xi8>
  %v6 = "neap.opaque"() {neap.name = "v6"} : () -> tensor<64xi8>
  %v7 = "neap.opaque"() {neap.name = "v7"} : () -> tensor<64xi8>
  "neap.opaque"(%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7) : (tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>, tensor<64xi8>) -> ()
  %e = "neap.opaque"() {neap.name = "E"} : () -> tensor<50xi8>
  %b = "neap.opaque"(%e) {neap.name = "B"} : (tensor<50xi8>) -> tensor<40xi8>
  %a = "neap.opaque"(%e, %b) {neap.name = "A"} : (tensor<50xi8>, tensor<40xi8>) -> tensor<20xi8>
  %d = "neap.opaque"(%a, %b) {neap.name = "D"} : (tensor<20xi8>, tensor<40xi8>) -> tensor<50xi8>
  %c = "neap.opaque"(%d) {neap.name = "C"} : (tensor<50xi8>) -> tensor<60xi8>
  "neap.opaque"(%c) : (tensor<60xi8>) -> ()
  return
}
