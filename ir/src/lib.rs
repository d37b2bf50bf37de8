//! neap's intermediate representation: a strict subset of MLIR in arenas.
//!
//! Text goes through [`parse()`] into a [`Module`], passes change it through its mutators, and [`print()`]
//! gives text back that MLIR's own tools accept. [`facts`] says what operations mean; [`plan`] reads and
//! writes the attributes that a plan is made of; [`verify()`] checks the rules of the representation.
//!
//! This crate knows no pass, no solver and no file system.

mod affine;
pub mod attr;
pub mod diag;
mod dims;
pub mod facts;
pub mod fingerprint;
pub mod float;
pub mod func;
pub mod loc;
pub mod module;
pub mod name;
pub mod origin;
pub mod parse;
pub mod plan;
pub mod print;
pub mod size;
pub mod table;
pub mod types;
pub mod verify;
pub mod work;

pub use attr::Attr;
pub use fingerprint::{Fingerprints, fingerprint};
pub use loc::{Loc, Span};
pub use module::{Attrs, BlockId, Def, Module, OpId, OpSpec, RegionId, Use, ValueId};
pub use name::Name;
pub use parse::{parse, parse_bytes};
pub use print::{PrintOptions, print};
pub use types::{Dim, Sign, Ty, Type};
pub use verify::verify;
