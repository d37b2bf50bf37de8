// RUN: --canonicalize-views --lock-effects --reorder --assign-offsets
// A buffer that comes from an operation in no table, and a window of it.

func.func @windows(%i: index) -> f32 {
  %a = "my.take"() : () -> memref<8xf32>
  %w = "memref.cast"(%a) : (memref<8xf32>) -> memref<8xf32>
  %x = "memref.load"(%a, %i) : (memref<8xf32>, index) -> f32
  "my.fill"(%w) : (memref<8xf32>) -> ()
  %y = "memref.load"(%w, %i) : (memref<8xf32>, index) -> f32
  return %y : f32
}
