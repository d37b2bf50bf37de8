// RUN: --lock-effects
// Buffers: windows stand for what they are windows of; two allocations are two buffers. MLIR's own operations have no tokens, so the
// edges show as remarks alone.
func.func @windows(%i: index) -> f32 {
  %a = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8xf32>
  %b = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8xf32>
  %w = "memref.cast"(%a) : (memref<8xf32>) -> memref<8xf32>
  %x = "memref.load"(%a, %i) : (memref<8xf32>, index) -> f32
  "memref.store"(%x, %b, %i) : (f32, memref<8xf32>, index) -> ()
  "my.fill"(%w) : (memref<8xf32>) -> ()
  %y = "memref.load"(%w, %i) : (memref<8xf32>, index) -> f32
  "memref.dealloc"(%a) : (memref<8xf32>) -> ()
  return %y : f32
}
// -----
// A kernel reads the buffers among its operands, also where it has a body: `linalg.add` waits for what fills `%a`, and the next one, whose
// last operand is what it writes, for both. A window made of `%b` waits for what it shows.
func.func @kernels(%x: memref<8xf32>, %c: f32) -> memref<2x4xf32> {
  %a = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8xf32>
  "linalg.fill"(%c, %a) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%in: f32, %out: f32):
    "linalg.yield"(%in) : (f32) -> ()
  }) : (f32, memref<8xf32>) -> ()
  %b = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<8xf32>
  "linalg.add"(%a, %x, %b) <{operandSegmentSizes = array<i32: 2, 1>}> ({
  ^bb0(%one: f32, %other: f32, %out: f32):
    %sum = "arith.addf"(%one, %other) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    "linalg.yield"(%sum) : (f32) -> ()
  }) : (memref<8xf32>, memref<8xf32>, memref<8xf32>) -> ()
  "linalg.map"(%b, %a) ({
  ^bb0(%in: f32, %out: f32):
    %exp = "math.exp"(%in) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
    "linalg.yield"(%exp) : (f32) -> ()
  }) : (memref<8xf32>, memref<8xf32>) -> ()
  %w = "memref.expand_shape"(%b) <{reassociation = [[0, 1]], static_output_shape = array<i64: 2, 4>}> : (memref<8xf32>) -> memref<2x4xf32>
  return %w : memref<2x4xf32>
}
