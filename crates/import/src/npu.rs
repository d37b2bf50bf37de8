//! NPU graphs in JSON: the file is read into plain data ([`json`]), checked ([`graph`]), ordered by what its buffers demand ([`hazards`]),
//! and built into a module ([`build`]); [`replay`] judges a schedule of the file's own ids.
//!
//! - `Nodes` are operations (`Id`, `Op`, `Pipe`, `Cycles`, `Bufs`) and the `ALLOC` and `FREE` of buffers (`Id`, `Op`, `BufId`, `Size`, `Type`);
//!   `Edges`, which may be left out, are pairs of ids.
//! - A buffer becomes a chain of values: the first operation that touches it makes one, each one that writes it later makes one that must lie in
//!   the same bytes. `ALLOC` and `FREE` become the live range: right before the first and right behind the last operation that touches the buffer, which is
//!   never worse than earlier and later.
//! - Edges that no value stands for become tokens.
//! - Buffer types are rows of a table ([`pools`]): which count in the resident bytes, which hold one live buffer at a time, and their capacities.

pub mod build;
pub mod graph;
pub mod hazards;
mod json;
pub mod pools;
pub mod replay;
