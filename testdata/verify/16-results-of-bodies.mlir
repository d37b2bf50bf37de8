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
