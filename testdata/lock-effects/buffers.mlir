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
