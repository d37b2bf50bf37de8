// Results come out of bodies: as many as there are, from every body that may run.

func.func @f(%c: i1, %i: index, %x: tensor<4xi8>, %t: tensor<i32>) -> tensor<4xi8> {
  %a = "scf.if"(%c) ({
    "scf.yield"(%x) : (tensor<4xi8>) -> ()
  }, {
    "scf.yield"(%x) : (tensor<4xi8>) -> ()
  }) : (i1) -> tensor<4xi8>
  "scf.if"(%c) ({
    "t.say"(%a) : (tensor<4xi8>) -> ()
  }, {
  }) : (i1) -> ()
  %b = "scf.while"(%a) ({
  ^bb0(%p: tensor<4xi8>):
    "scf.condition"(%c, %t) : (i1, tensor<i32>) -> ()
  }, {
  ^bb0(%q: tensor<i32>):
    "scf.yield"(%x) : (tensor<4xi8>) -> ()
  }) : (tensor<4xi8>) -> tensor<i32>
  %d = "scf.for"(%i, %i, %i, %a) ({
  ^bb0(%j: index, %p: tensor<4xi8>):
    "scf.yield"(%p) : (tensor<4xi8>) -> ()
  }) : (index, index, index, tensor<4xi8>) -> tensor<4xi8>
  %e = "scf.index_switch"(%i) ({
    "scf.yield"(%d) : (tensor<4xi8>) -> ()
  }) {cases = array<i64>} : (index) -> tensor<4xi8>
  %g = "scf.execute_region"() ({
    "cf.cond_br"(%c)[^bb1, ^bb2] {operandSegmentSizes = array<i32: 1, 0, 0>} : (i1) -> ()
  ^bb1:
    "scf.yield"(%d) : (tensor<4xi8>) -> ()
  ^bb2:
    "scf.yield"(%e) : (tensor<4xi8>) -> ()
  }) : () -> tensor<4xi8>
  %h = "my.region"() ({
    "t.say"(%g) : (tensor<4xi8>) -> ()
  }) : () -> tensor<4xi8>
  // Shapes of ONNX differ from branch to branch, and from trip to trip.
  %o = "onnx.If"(%c) ({
    %z = "t.make"() : () -> tensor<8xi8>
    "onnx.Yield"(%z) : (tensor<8xi8>) -> ()
  }, {
    "onnx.Yield"(%x) : (tensor<4xi8>) -> ()
  }) : (i1) -> tensor<4xi8>
  %k:2 = "onnx.Loop"(%t, %c, %x) ({
  ^bb0(%n: tensor<i32>, %go: i1, %p: tensor<4xi8>):
    "onnx.Yield"(%go, %p, %p) : (i1, tensor<4xi8>, tensor<4xi8>) -> ()
  }) : (tensor<i32>, i1, tensor<4xi8>) -> (tensor<4xi8>, tensor<?x4xi8>)
  "neap.parallel"() ({
    "t.say"(%x) : (tensor<4xi8>) -> ()
  }, {
    "t.say"(%x) : (tensor<4xi8>) -> ()
  }) : () -> ()
  return %h : tensor<4xi8>
}

// -----

func.func @f(%c: i1, %x: tensor<4xi8>, %n: tensor<i32>) {
  %a = "scf.if"(%c) ({
    // expected-error @below {{`t.make`: stands at the end of region 0 of `scf.if`, which must hand on 1 value there}}
    %b = "t.make"(%x) : (tensor<4xi8>) -> tensor<4xi8>
  }, {
    "scf.yield"(%x) : (tensor<4xi8>) -> ()
  }) : (i1) -> tensor<4xi8>
  // expected-error @below {{needs 2 regions, which its results come from, has 1}}
  %d = "scf.if"(%c) ({
    "scf.yield"(%x) : (tensor<4xi8>) -> ()
  }) : (i1) -> tensor<4xi8>
  // expected-error @below {{region 1 is empty, it must hand on 1 value}}
  %e = "onnx.If"(%c) ({
    "onnx.Yield"(%x) : (tensor<4xi8>) -> ()
  }, {
  }) : (i1) -> tensor<4xi8>
  // expected-error @below {{region 1 must hand on 1 value at its end, its block is empty}}
  %g = "stablehlo.if"(%c) ({
    "stablehlo.return"(%x) : (tensor<4xi8>) -> ()
  }, {
  ^bb0:
  }) : (i1) -> tensor<4xi8>
  // expected-error @below {{needs at least 1 region, which its results come from, has 0}}
  %h = "stablehlo.case"(%n) : (tensor<i32>) -> tensor<4xi8>
  %k = "stablehlo.case"(%n) ({
    "stablehlo.return"(%x) : (tensor<4xi8>) -> ()
  }, {
    // expected-error @below {{hands on 2 values, region 1 of `stablehlo.case` must hand on 1 value}}
    "stablehlo.return"(%x, %x) : (tensor<4xi8>, tensor<4xi8>) -> ()
  }) : (tensor<i32>) -> tensor<4xi8>
  "tfl.if"(%c) ({
    // expected-error @below {{hands on 1 value, region 0 of `tfl.if` must hand on 0 values}}
    "tfl.yield"(%x) : (tensor<4xi8>) -> ()
  }, {
  }) : (i1) -> ()
  // expected-error @below {{needs 1 region, which its results come from, has 2}}
  %m = "neap.parallel"() ({
    "neap.yield"(%x) : (tensor<4xi8>) -> ()
  }, {
    "neap.yield"(%x) : (tensor<4xi8>) -> ()
  }) : () -> tensor<4xi8>
  return
}

// -----

func.func @f(%c: i1, %i: index, %x: tensor<4xi8>, %n: tensor<i32>) {
  // expected-error @below {{needs 2 regions, has 1}}
  %a = "stablehlo.while"(%x) ({
  ^bb0(%p: tensor<4xi8>):
    "stablehlo.return"(%c) : (i1) -> ()
  }) : (tensor<4xi8>) -> tensor<4xi8>
  %b = "tfl.while"(%x) ({
  ^bb0(%p: tensor<4xi8>):
    // expected-error @below {{hands on 0 values, region 0 of `tfl.while` must hand on 1 value}}
    "tfl.yield"() : () -> ()
  }, {
  ^bb0(%p: tensor<4xi8>):
    // expected-error @below {{hands on 0 values, region 1 of `tfl.while` must hand on 1 value}}
    "tfl.yield"() : () -> ()
  }) : (tensor<4xi8>) -> tensor<4xi8>
  // expected-error @below {{has 0 results, but carries 1 value}}
  "scf.for"(%i, %i, %i, %x) ({
  ^bb0(%j: index, %p: tensor<4xi8>):
    "scf.yield"() : () -> ()
  }) : (index, index, index, tensor<4xi8>) -> ()
  // expected-error @below {{the block of region 0 has 1 argument, it is handed 2 values}}
  %d = "scf.for"(%i, %i, %i, %x) ({
  ^bb0(%j: index):
    "scf.yield"(%x) : (tensor<4xi8>) -> ()
  }) : (index, index, index, tensor<4xi8>) -> tensor<4xi8>
  %e = "scf.while"(%x) ({
  ^bb0(%p: tensor<4xi8>):
    // expected-error @below {{hands on 1 value, region 0 of `scf.while` must hand on 2 values}}
    "scf.condition"(%c) : (i1) -> ()
  }, {
  ^bb0(%p: tensor<4xi8>):
    "scf.yield"(%p) : (tensor<4xi8>) -> ()
  }) : (tensor<4xi8>) -> tensor<4xi8>
  %g = "onnx.Loop"(%n, %c, %x) ({
  ^bb0(%k: tensor<i32>, %go: i1, %p: tensor<4xi8>):
    // expected-error @below {{hands on 1 value, region 0 of `onnx.Loop` must hand on 2 values}}
    "onnx.Yield"(%p) : (tensor<4xi8>) -> ()
  }) : (tensor<i32>, i1, tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

func.func @one(%x: tensor<4xi8>) -> tensor<4xi8> {
  return %x : tensor<4xi8>
}

func.func @none(%x: tensor<4xi8>) {
  return
}

func.func @f(%c: i1, %x: tensor<4xi8>) {
  %a = "tfl.if"(%c, %x) {then_branch = @one, else_branch = @one} : (i1, tensor<4xi8>) -> tensor<4xi8>
  // expected-error @below {{`else_branch` is handed 1 value and must give 1 value, @none takes 1 value and gives 0 values}}
  %b = "tfl.if"(%c, %x) {then_branch = @one, else_branch = @none} : (i1, tensor<4xi8>) -> tensor<4xi8>
  %d = "tfl.while"(%x) {cond = @one, body = @one} : (tensor<4xi8>) -> tensor<4xi8>
  // expected-error @below {{`cond` is handed 1 value and must give 1 value, @none takes 1 value and gives 0 values}}
  %e = "tfl.while"(%x) {cond = @none, body = @one} : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

// What is handed on has as many bytes as what it goes to; where one of both is not known, nothing is said.
func.func @f(%c: i1, %i: index, %x: tensor<4xi8>, %y: tensor<?xi8>, %w: tensor<8xi8>) {
  %a = "scf.if"(%c) ({
    "scf.yield"(%y) : (tensor<?xi8>) -> ()
  }, {
    // expected-error @below {{`scf.yield`: hands %w, 8 bytes, to %a, 4 bytes}}
    "scf.yield"(%w) : (tensor<8xi8>) -> ()
  }) : (i1) -> tensor<4xi8>
  // expected-error @below {{`scf.for`: hands %x, 4 bytes, to %p, 8 bytes}}
  %b = "scf.for"(%i, %i, %i, %x) ({
  ^bb0(%j: index, %p: tensor<8xi8>):
    // expected-error @below {{`scf.yield`: hands %w, 8 bytes, to %b, 4 bytes}}
    "scf.yield"(%w) : (tensor<8xi8>) -> ()
  }) : (index, index, index, tensor<4xi8>) -> tensor<4xi8>
  %d = "scf.while"(%x) ({
  ^bb0(%p: tensor<4xi8>):
    // expected-error @below {{`scf.condition`: hands %w, 8 bytes, to %d, 4 bytes}}
    "scf.condition"(%c, %w) : (i1, tensor<8xi8>) -> ()
  }, {
  ^bb0(%q: tensor<4xi8>):
    // expected-error @below {{`scf.yield`: hands %w, 8 bytes, to %x, 4 bytes}}
    "scf.yield"(%w) : (tensor<8xi8>) -> ()
  }) : (tensor<4xi8>) -> tensor<4xi8>
  return
}

// -----

// What is handed on is at most as large as what it goes to, by what operations and functions say of their results and arguments.
module attributes {neap.bounds = {M = [1, 100], N = [1, 8]}} {
  func.func @f(%c: i1, %n: i64, %x: tensor<?xi8> {neap.dims = ["N"]}, %y: tensor<?xi8> {neap.dims = ["M"]}) {
    // The largest of what is handed on, said or unsaid; a result that says more.
    %a = "neap.if"(%c, %x, %y) ({
    ^bb0(%p: tensor<?xi8>, %q: tensor<?xi8>):
      "neap.yield"(%q) : (tensor<?xi8>) -> ()
    }, {
    ^bb0(%p: tensor<?xi8>, %q: tensor<?xi8>):
      "neap.yield"(%p) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["M"]} : (i1, tensor<?xi8>, tensor<?xi8>) -> tensor<?xi8>
    %b = "neap.for"(%n, %y) ({
    ^bb0(%i: i64, %p: tensor<?xi8>):
      "neap.yield"(%p) : (tensor<?xi8>) -> ()
    }) : (i64, tensor<?xi8>) -> tensor<?xi8>
    %d = "scf.while"(%x) ({
    ^bb0(%p: tensor<?xi8>):
      "scf.condition"(%c, %p) : (i1, tensor<?xi8>) -> ()
    }, {
    ^bb0(%q: tensor<?xi8>):
      "scf.yield"(%y) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["M"]} : (tensor<?xi8>) -> tensor<?xi8>
    // Bodies of ONNX hand on other shapes; the result is as large as the largest.
    %e = "onnx.If"(%c) ({
      "onnx.Yield"(%y) : (tensor<?xi8>) -> ()
    }, {
      "onnx.Yield"(%x) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["N"]} : (i1) -> tensor<?xi8>
    // Bytes that are said to be none are not looked for.
    %g = "neap.for"(%n, %y) ({
    ^bb0(%i: i64, %p: tensor<?xi8>):
      "neap.yield"(%p) : (tensor<?xi8>) -> ()
    }) {neap.bytes = array<i64: 0>} : (i64, tensor<?xi8>) -> tensor<?xi8>
    return
  }
}

// -----

module attributes {neap.bounds = {M = [1, 100], N = [1, 8]}} {
  func.func @f(%c: i1, %n: i64, %x: tensor<?xi8> {neap.dims = ["N"]}, %y: tensor<?xi8> {neap.dims = ["M"]}, %z: !my.t {neap.bytes = array<i64: 64>}) {
    // The loop may have no trip.
    // expected-error @below {{`neap.for`: hands %y, up to 100 bytes, to %a of `neap.for`, up to 8 bytes}}
    %a = "neap.for"(%n, %y) ({
    ^bb0(%i: i64, %p: tensor<?xi8>):
      "neap.yield"(%x) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["N"]} : (i64, tensor<?xi8>) -> tensor<?xi8>
    %b = "neap.for"(%n, %x) ({
    ^bb0(%i: i64, %p: tensor<?xi8>):
      %q = "neap.opaque"(%p) {neap.dims = ["M"]} : (tensor<?xi8>) -> tensor<?xi8>
      // expected-error @below {{hands %q, up to 100 bytes, to %b of `neap.for`, up to 8 bytes}}
      "neap.yield"(%q) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["N"]} : (i64, tensor<?xi8>) -> tensor<?xi8>
    %d = "neap.if"(%c, %y) ({
    ^bb0(%p: tensor<?xi8>):
      // expected-error @below {{hands %p, up to 100 bytes, to %d of `neap.if`, up to 8 bytes}}
      "neap.yield"(%p) : (tensor<?xi8>) -> ()
    }, {
      "neap.yield"(%x) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["N"]} : (i1, tensor<?xi8>) -> tensor<?xi8>
    %e = "scf.while"(%y) ({
    ^bb0(%p: tensor<?xi8>):
      // expected-error @below {{hands %p, up to 100 bytes, to %e of `scf.while`, up to 8 bytes}}
      "scf.condition"(%c, %p) : (i1, tensor<?xi8>) -> ()
    }, {
    ^bb0(%q: tensor<?xi8>):
      "scf.yield"(%q) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["N"]} : (tensor<?xi8>) -> tensor<?xi8>
    // expected-error @below {{`neap.for`: hands %z, up to 64 bytes, to %g of `neap.for`, up to 32 bytes}}
    %g = "neap.for"(%n, %z) ({
    ^bb0(%i: i64, %p: !my.t):
      // expected-error @below {{hands %p, up to 64 bytes, to %g of `neap.for`, up to 32 bytes}}
      "neap.yield"(%p) : (!my.t) -> ()
    }) {neap.bytes = array<i64: 32>} : (i64, !my.t) -> !my.t
    // A type of known size against a bound.
    %h = "scf.if"(%c) ({
      %p = "t.make"() : () -> tensor<64xi8>
      // expected-error @below {{hands %p, up to 64 bytes, to %h of `scf.if`, up to 8 bytes}}
      "scf.yield"(%p) : (tensor<64xi8>) -> ()
    }, {
      "scf.yield"(%x) : (tensor<?xi8>) -> ()
    }) {neap.dims = ["N"]} : (i1) -> tensor<?xi8>
    return
  }
}

// -----

module attributes {neap.bounds = {M = [1, 100], N = [1, 8]}} {
  func.func @main(%n: i64, %y: tensor<?xi8> {neap.dims = ["M"]}) {
    // expected-error @below {{`neap.call`: hands %y, up to 100 bytes, to %x of `@f`, up to 8 bytes}}
    %r = "neap.call"(%y) {callee = @f, neap.dims = ["N"]} : (tensor<?xi8>) -> tensor<?xi8>
    %s = "neap.for"(%n, %y) {body = @trip, neap.dims = ["M"]} : (i64, tensor<?xi8>) -> tensor<?xi8>
    return
  }
  func.func @f(%x: tensor<?xi8> {neap.dims = ["N"]}) -> tensor<?xi8> {
    %t = "neap.opaque"(%x) {neap.dims = ["M"]} : (tensor<?xi8>) -> tensor<?xi8>
    // expected-error @below {{hands %t, up to 100 bytes, to %r of `neap.call`, up to 8 bytes}}
    return %t : tensor<?xi8>
  }
  func.func @trip(%i: i64, %p: tensor<?xi8> {neap.dims = ["M"]}) -> tensor<?xi8> {
    return %p : tensor<?xi8>
  }
}

// -----

func.func @f(%i: index, %x: tensor<4xf32>) {
  %a = "scf.index_switch"(%i) <{cases = array<i64: 1>}> ({
    "scf.yield"(%x) : (tensor<4xf32>) -> ()
  }, {
    "scf.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (index) -> tensor<4xf32>
  // expected-error @below {{needs 3 regions, one for each of `cases` and one for all others, has 1}}
  %b = "scf.index_switch"(%i) <{cases = array<i64: 1, 2>}> ({
    "scf.yield"(%x) : (tensor<4xf32>) -> ()
  }) : (index) -> tensor<4xf32>
  // expected-error @below {{needs 1 region, one for each of `cases` and one for all others, has 2}}
  "scf.index_switch"(%i) <{cases = array<i64>}> ({
    "scf.yield"() : () -> ()
  }, {
    "scf.yield"() : () -> ()
  }) : (index) -> ()
  // expected-error @below {{needs `cases`, a list with a number for each region but the first}}
  "scf.index_switch"(%i) ({
    "scf.yield"() : () -> ()
  }) : (index) -> ()
  return
}
