// A counter is read, stepped and written back; somebody else reads it afterwards.
"neap.var"() {sym_name = "counter", type = tensor<4xf32>} : () -> ()
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = "neap.read"() {var = @counter} : () -> tensor<4xf32>
  %b = "tosa.add"(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  "neap.write"(%b) {var = @counter} : (tensor<4xf32>) -> ()
  %c = "neap.read"() {var = @counter} : () -> tensor<4xf32>
  return %a, %c : tensor<4xf32>, tensor<4xf32>
}
