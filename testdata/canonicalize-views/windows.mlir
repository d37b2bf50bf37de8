// RUN: --canonicalize-views
// A window of a buffer has a place in it, or nothing can be planned.
func.func @window() -> memref<2x6xf32, strided<[6, 1], offset: 12>> {
  %a = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4x6xf32>
  %w = "memref.subview"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 2, 0>, static_sizes = array<i64: 2, 6>, static_strides = array<i64: 1, 1>}> : (memref<4x6xf32>) -> memref<2x6xf32, strided<[6, 1], offset: 12>>
  return %w : memref<2x6xf32, strided<[6, 1], offset: 12>>
}

// -----

// Columns are not consecutive, and yet at a known place.
func.func @columns() -> memref<4x3xf32, strided<[6, 1]>> {
  %a = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4x6xf32>
  %w = "memref.subview"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 4, 3>, static_strides = array<i64: 1, 1>}> : (memref<4x6xf32>) -> memref<4x3xf32, strided<[6, 1]>>
  return %w : memref<4x3xf32, strided<[6, 1]>>
}

// -----

func.func @stride_not(%a: memref<4x6xf32, strided<[?, 1]>>) -> memref<4x3xf32, strided<[?, 1]>> {
  %w = "memref.subview"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 4, 3>, static_strides = array<i64: 1, 1>}> : (memref<4x6xf32, strided<[?, 1]>>) -> memref<4x3xf32, strided<[?, 1]>>
  return %w : memref<4x3xf32, strided<[?, 1]>>
}
