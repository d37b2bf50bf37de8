//! The packing solver.
