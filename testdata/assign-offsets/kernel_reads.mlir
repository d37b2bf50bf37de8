// RUN: --reorder --assign-offsets
// What a kernel's body names from around it is read in the kernel's step.
func.func @gather(%x: memref<64xf32>, %y: memref<64xf32>) {
  %table = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<64xf32>
  "memref.copy"(%x, %table) : (memref<64xf32>, memref<64xf32>) -> ()
  %other = "memref.alloc"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<64xf32>
  "memref.copy"(%x, %other) : (memref<64xf32>, memref<64xf32>) -> ()
  "linalg.generic"(%other, %y) <{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: f32, %b: f32):
    %i = "linalg.index"() <{dim = 0 : i64}> : () -> index
    %v = "memref.load"(%table, %i) : (memref<64xf32>, index) -> f32
    "linalg.yield"(%v) : (f32) -> ()
  }) : (memref<64xf32>, memref<64xf32>) -> ()
  return
}
