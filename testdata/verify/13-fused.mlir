// A fused operation is closed: its body reads its arguments and yields its results.

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = "neap.fused"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %b = "t.relu"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "neap.yield"(%b) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xi8>) {
  %r = "neap.fused"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{the body of `neap.fused` reads `%x` from outside}}
    %b = "t.add"(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "neap.yield"(%b) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{the block's arguments have the types (tensor<4xi8>), the list of operands has (tensor<4xf32>)}}
  %s = "neap.fused"(%x) ({
  ^bb0(%a: tensor<4xi8>):
    // expected-error @below {{the yielded values have the types (tensor<4xi8>), the operation has (tensor<4xf32>)}}
    "neap.yield"(%a) : (tensor<4xi8>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{must have one region of one block}}
  %t = "neap.fused"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{the body must end in `neap.yield`}}
  "neap.fused"() ({
    "t.end"() : () -> ()
  }) : () -> ()
  "t.body"() ({
    // expected-error @below {{must stand in the body of one of neap's own operations}}
    "neap.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @g(%x: tensor<4xf32>) {
  "neap.fused"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{must be the last operation of its block}}
    "neap.yield"() : () -> ()
    "neap.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}
