//! What a writer needs of a file: where the nodes of its main graph stand, and which of them wait for which.

use super::{link, model};
use neap_ir::diag::Diagnostic;
use std::ops::Range;

/// The main graph of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    /// Its nodes, in the order of the file.
    pub nodes: Vec<OutlineNode>,
}

/// A node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineNode {
    /// Its bytes in the file, key and length included.
    pub at: Range<usize>,
    /// Names of its results; an empty one is left out.
    pub results: Vec<String>,
    /// The nodes that make what it or a graph inside it reads, ascending.
    pub before: Vec<usize>,
    /// Whether it is a Constant.
    pub is_constant: bool,
    /// Whether it is a Shape or a Size.
    pub is_shape: bool,
}

/// Reads a file's outline.
///
/// # Errors
/// All that is wrong in the file, each with its place.
pub fn outline(bytes: &[u8]) -> Result<Outline, Vec<Diagnostic>> {
    let model = model::read(bytes)?;
    let linked = link::link(&model)?;
    let main = model.graph(model::GraphId(0));
    let nodes = main.nodes.iter().zip(linked.before).map(|(node, before)| OutlineNode {
        at: node.at.clone(),
        results: node.outputs.iter().map(|name| (*name).to_owned()).collect(),
        before,
        is_constant: node.is_standard() && node.op == "Constant",
        is_shape: node.is_standard() && matches!(node.op, "Shape" | "Size"),
    });
    Ok(Outline { nodes: nodes.collect() })
}
