// Bodies of branches and loops: what goes in, what comes out.

func.func @f(%c: tensor<i1>, %x: tensor<4xf32>, %n: i64) {
  %a = "neap.if"(%c, %x) ({
  ^bb0(%p: tensor<4xf32>):
    "neap.yield"(%p) : (tensor<4xf32>) -> ()
  }, {
    "neap.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>, tensor<4xf32>) -> tensor<4xf32>
  %b = "neap.while"(%a) ({
  ^bb0(%p: tensor<4xf32>):
    %q = "t.test"(%p) : (tensor<4xf32>) -> i1
    "neap.yield"(%q) : (i1) -> ()
  }, {
  ^bb0(%p: tensor<4xf32>):
    "neap.yield"(%p) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %d = "neap.for"(%n, %b) ({
  ^bb0(%i: i64, %p: tensor<4xf32>):
    "neap.yield"(%p) : (tensor<4xf32>) -> ()
  }) : (i64, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%c: i32, %p: i1, %x: tensor<4xf32>, %n: i64) {
  // expected-error @below {{operand 0 decides}}
  "neap.if"(%c) ({
    "neap.yield"() : () -> ()
  }) : (i32) -> ()
  // expected-error @below {{has one region or two; with results, two}}
  %a = "neap.if"(%p) ({
    "neap.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (i1) -> tensor<4xf32>
  // expected-error @below {{the arguments of region 0 have the types (i32), the list of operands has (tensor<4xf32>)}}
  "neap.if"(%p, %x) ({
  ^bb0(%q: i32):
    "neap.yield"() : () -> ()
  }) : (i1, tensor<4xf32>) -> ()
  // expected-error @below {{the condition must yield one value}}
  %b = "neap.while"(%x) ({
  ^bb0(%q: tensor<4xf32>):
    "neap.yield"(%q) : (tensor<4xf32>) -> ()
  }, {
  ^bb0(%q: tensor<4xf32>):
    // expected-error @below {{the yielded values have the types (), the operation has (tensor<4xf32>)}}
    "neap.yield"() : () -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{the results have the types (), the list of operands after the first has (tensor<4xf32>)}}
  "neap.for"(%n, %x) ({
  ^bb0(%i: i64, %q: tensor<4xf32>):
    "neap.yield"() : () -> ()
  }) : (i64, tensor<4xf32>) -> ()
  // expected-error @below {{needs `cond` and `body`}}
  "neap.while"() : () -> ()
  return
}
