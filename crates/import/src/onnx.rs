//! ONNX: the protobuf message is read into plain data ([`model`]), names become values ([`link`]), shapes are inferred ([`infer`]), and a
//! module is built ([`build`]).
//!
//! - The main graph becomes `@main`. Nodes become operations of the ONNX dialect with the attributes of the file; graphs inside nodes (If,
//!   Loop, Scan) become regions. An operator of another domain becomes `custom.DOMAIN.OP`, which no table knows: effectful, and nothing of
//!   it is shared.
//! - Initializers and Constant nodes become `onnx.Constant`: type and name, and the value where it is a small list of integers. External
//!   data is never looked for; [`external_files`] names the files that hold it. An input that has an initializer is a constant.
//! - Dimensions that are no numbers are `?` with a name in `neap.dims`: the file's own, a formula over such names, or `VALUE.AXIS`. A
//!   name to which the user gives one size is that number everywhere. So is an integer that the caller hands in under such a name: conditions of
//!   branches may hang on it, and what is in a branch that never runs takes no bytes where its size makes no sense.
//! - Equal names of nodes are made different; a value has one producer, or the file is refused.

mod attributes;
mod build;
mod contents;
mod external;
mod fact;
mod infer;
mod link;
mod model;
mod names;
mod outline;
mod rules;
mod size;
mod types;
pub mod wire;

pub use external::external_files;
pub use outline::{Outline, OutlineNode, outline};

use crate::contents::Naming;
use neap_ir::Module;
use neap_ir::diag::Diagnostic;
use std::collections::BTreeMap;

/// Reads a file; `dims` are sizes, at least and at most, of named dimensions.
///
/// # Errors
/// All that is wrong in the file, each with its place.
pub fn read(bytes: &[u8], dims: &[(String, u64, u64)]) -> Result<Module, Vec<Diagnostic>> {
    read_with(bytes, dims, None)
}

/// Reads a file with its contents named by what they are: constants get the attribute [`crate::contents::CONTENT`].
///
/// # Errors
/// All that is wrong in the file, each with its place.
pub fn read_named(
    bytes: &[u8],
    dims: &[(String, u64, u64)],
    naming: &mut dyn Naming,
) -> Result<Module, Vec<Diagnostic>> {
    read_with(bytes, dims, Some(naming))
}

fn read_with(
    bytes: &[u8],
    dims: &[(String, u64, u64)],
    naming: Option<&mut dyn Naming>,
) -> Result<Module, Vec<Diagnostic>> {
    let model = model::read(bytes)?;
    let linked = link::link(&model)?;
    let size = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let given: BTreeMap<_, _> =
        dims.iter().map(|(name, low, high)| (name.clone(), (size(*low), size(*high)))).collect();
    let inferred = infer::infer(&model, &linked, given)?;
    build::module(&model, &linked, &inferred, naming).map_err(|error| {
        let message = format!("a constant, byte {}: {}", error.at, error.what);
        vec![Diagnostic::error(neap_ir::Span::default(), message)]
    })
}

/// Whether bytes look like an ONNX model: a protobuf message whose fields have the numbers and kinds of a ModelProto, with a graph.
pub fn is_model(bytes: &[u8]) -> bool {
    let mut has_graph = false;
    for field in wire::Message::file(bytes).fields() {
        let Ok(field) = field else { return false };
        let fits = match field.number {
            1 | 5 => field.int().is_ok(),
            2 | 3 | 4 | 6 => field.text().is_ok(),
            7 | 8 | 14 | 20 | 25 | 26 => field.message().is_ok(),
            _ => false,
        };
        if !fits {
            return false;
        }
        has_graph |= field.number == 7;
    }
    has_graph
}

/// What decides what the nodes of a file mean besides the nodes: the versions of the operator sets, and functions of the file's own.
///
/// # Errors
/// The file is malformed.
pub fn meaning(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Vec<Diagnostic>> {
    let mut found = Vec::new();
    for field in wire::Message::file(bytes).fields() {
        let field = field.map(|field| (field.number, field.message().ok()));
        let (number, message) = field.map_err(|error: wire::Malformed| {
            vec![Diagnostic::error(neap_ir::Span::default(), format!("the model, byte {}: {}", error.at, error.what))]
        })?;
        if let (8 | 25, Some(message)) = (number, message) {
            found.push(message.bytes.to_vec());
        }
    }
    found.sort();
    Ok(found)
}
