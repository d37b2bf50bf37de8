// A text with everything in it that the parser reads; tests break it.
#set = affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 3)>
#layout = affine_map<(d0, d1) -> (d1, d0)>
!tensor = tensor<4x?xf32, #d.enc>
#here = loc("file":1:2)
module @m attributes {neap.bounds = {N = [1, 8]}} {
  "neap.arena"() {align = 64 : i64, sym_name = "sram"} : () -> ()
  func.func private @callee(i32, !tensor {neap.io = "held"}) -> (i32 {neap.io = "external"}, memref<2x3xi8, #layout, 1>)
  func.func @f(%x: i32 {neap.name = "x"} loc("arg"), %y: !tensor) -> (i32, i32) attributes {neap.peak = 4 : i64} {
    %a, %b:2 = "t.op"(%x, %y) <{k = 1 : i64, on}> {b = true, c = 1.5 : f32, d = "text\22\0A", e = [1, 2.5, i8, @s::@"t u"], f = #set} : (i32, !tensor) -> (i32, i32, vector<4x[2]xf16>)
    %c = "t.dense"() {a = dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>, b = dense<"0x01020304"> : tensor<4xi8>, c = array<i64: 1, -2>, d = array<i1: true, false>, e = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>, f = sparse<[[0, 1]], 5> : tensor<2x3xi32>, g = dense_resource<blob> : tensor<3xi8>} : () -> tuple<i32, f8E4M3FN>
    "t.types"() {a = (i32, index) -> none, b = tensor<*xui4>, c = memref<4xi8, strided<[1], offset: 3>>, d = !d.x, f = distinct[3]<i32>, g = affine_map<(i)[n] -> (i * 2 + n, i mod 4)>} : () -> () loc(#here)
    %r:2 = "t.if"(%b#0) ({
      %z = "t.in"(%a, %x) : (i32, i32) -> i32
      "t.yield"(%z) : (i32) -> ()
    }, {
    ^bb0(%p: i32, %q: f32 loc(unknown)):
      "t.br"(%p)[^bb1, ^bb2] : (i32) -> ()
    ^bb1:
      "t.br"()[^bb2] : () -> ()
    ^bb2:
      "t.yield"(%p) : (i32) -> ()
    }) {last} : (i32) -> (i32, i32) loc(callsite("a" at fused<"m">["b", "c"("d":3:4)]))
    return %r#0, %a : i32, i32 loc(#late)
  } loc("func")
  module {
    "t.use"(%later#1) : (i8) -> ()
    %later:2 = "t.def"() : () -> (i8, i8)
  }
}
#late = loc("late"(#here))
