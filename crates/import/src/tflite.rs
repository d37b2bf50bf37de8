//! TFLite: the flatbuffer is read into plain data ([`model`]), checked, and built into a module ([`build`]).
//!
//! - Subgraph 0 becomes `@main`, each other one a function of its own name; control flow operators name them by symbol.
//! - Operators become ops of the TFL dialect with the options of the file as attributes; a custom operator becomes
//!   `custom.NAME`, which no table knows: effectful, and nothing of it is shared.
//! - A tensor with bytes in the file becomes a `neap.constant` before its first reader: type and name, and the value where it is a
//!   small list of integers (permutations, shapes, axes), since the movement of bytes depends on it.
//! - A variable tensor becomes a `neap.var`; operators that update it get a `neap.handle`, all others a `neap.read`.
//! - Pairs of the metadata `model_control_dependencies` ([`control`]) become tokens: a `!neap.token` result of the first operator that the
//!   second one reads after its data.
//! - Shapes are the file's `shape`; `shape_signature` is not interpreted here.

pub mod build;
pub mod contents;
pub mod control;
pub mod flatbuffer;
pub mod model;
mod schema;
mod types;
