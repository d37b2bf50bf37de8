// RUN: --canonicalize-views --lock-effects --reorder --assign-offsets
// A window with a place in its buffer is handed out, after a write through the buffer and one through the window.

func.func @window(%x: memref<4x6xf32>) -> memref<2x6xf32, strided<[6, 1], offset: 12>> {
  %a = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4x6xf32>
  "memref.copy"(%x, %a) : (memref<4x6xf32>, memref<4x6xf32>) -> ()
  %w = "memref.subview"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 2, 0>, static_sizes = array<i64: 2, 6>, static_strides = array<i64: 1, 1>}> : (memref<4x6xf32>) -> memref<2x6xf32, strided<[6, 1], offset: 12>>
  "my.fill"(%w) : (memref<2x6xf32, strided<[6, 1], offset: 12>>) -> ()
  return %w : memref<2x6xf32, strided<[6, 1], offset: 12>>
}
