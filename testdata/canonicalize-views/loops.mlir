// RUN: --canonicalize-views
// What a body hands on to its own argument may lie in it; what goes to another argument is copied, and so is a part of an argument.
func.func @own(%n: tensor<i32>, %x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = "neap.for"(%n, %x) ({
  ^bb0(%i: i64, %a: tensor<4x6xf32>):
    %b = "stablehlo.reshape"(%a) : (tensor<4x6xf32>) -> tensor<24xf32>
    %c = "stablehlo.reshape"(%b) : (tensor<24xf32>) -> tensor<4x6xf32>
    "neap.yield"(%c) : (tensor<4x6xf32>) -> ()
  }) : (tensor<i32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

func.func @exchanged(%n: tensor<i32>, %x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %r:2 = "neap.for"(%n, %x, %y) ({
  ^bb0(%i: i64, %a: tensor<4x6xf32>, %b: tensor<4x6xf32>):
    %c = "stablehlo.reshape"(%b) : (tensor<4x6xf32>) -> tensor<24xf32>
    %d = "stablehlo.reshape"(%c) : (tensor<24xf32>) -> tensor<4x6xf32>
    "neap.yield"(%d, %a) : (tensor<4x6xf32>, tensor<4x6xf32>) -> ()
  }) : (tensor<i32>, tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return %r#0, %r#1 : tensor<4x6xf32>, tensor<4x6xf32>
}

func.func @part(%n: tensor<i32>, %x: tensor<4x6xf32>, %y: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>) {
  %r:2 = "neap.for"(%n, %x, %y) ({
  ^bb0(%i: i64, %a: tensor<4x6xf32>, %b: tensor<6xf32>):
    %c = "stablehlo.slice"(%a) {start_indices = array<i64: 1, 0>, limit_indices = array<i64: 2, 6>, strides = array<i64: 1, 1>} : (tensor<4x6xf32>) -> tensor<1x6xf32>
    %d = "stablehlo.reshape"(%c) : (tensor<1x6xf32>) -> tensor<6xf32>
    "neap.yield"(%a, %d) : (tensor<4x6xf32>, tensor<6xf32>) -> ()
  }) : (tensor<i32>, tensor<4x6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
  return %r#0, %r#1 : tensor<4x6xf32>, tensor<6xf32>
}
