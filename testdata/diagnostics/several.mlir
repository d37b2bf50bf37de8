// Several errors in one run, each with its place; what could not be defined is no further error.
module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = "t.a"(%x) {k = 300 : i8} : (tensor<4xf32>) -> tensor<4xf32>
    %b = "t.b"(%a, %x : (tensor<4xf32>) -> tensor<4xf32>
    %c = "t.c"(%b) : (tensor<4xf32>) -> tensor<4xf32>
    %d = "t.d"(%x) : (tensor<5xf32>) -> tensor<4xf32>
    %e, %f = "t.e"() : () -> tensor<4xf32>
    %x = "t.x"() : () -> i32
    return %nowhere : tensor<4xf32>
  }
  "t.twice"() {a = 1, b, a = 2} : () -> ()
  "t.types"() {a = tensor<4x4y>, b = #missing} : () -> ()
  "t.successor"()[^gone] : () -> ()
}
