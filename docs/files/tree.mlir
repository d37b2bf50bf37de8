// A tree of three levels: one value of 100 bytes, two of 80, four of 50; the four are the results.
func.func @main(%x: tensor<10xi8>) -> (tensor<50xi8>, tensor<50xi8>, tensor<50xi8>, tensor<50xi8>) {
  %root = "my.grow"(%x) : (tensor<10xi8>) -> tensor<100xi8>
  %left = "my.left"(%root) : (tensor<100xi8>) -> tensor<80xi8>
  %right = "my.right"(%root) : (tensor<100xi8>) -> tensor<80xi8>
  %a = "my.left"(%left) : (tensor<80xi8>) -> tensor<50xi8>
  %b = "my.right"(%left) : (tensor<80xi8>) -> tensor<50xi8>
  %c = "my.left"(%right) : (tensor<80xi8>) -> tensor<50xi8>
  %d = "my.right"(%right) : (tensor<80xi8>) -> tensor<50xi8>
  return %a, %b, %c, %d : tensor<50xi8>, tensor<50xi8>, tensor<50xi8>, tensor<50xi8>
}
