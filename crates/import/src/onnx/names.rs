//! What operators are called: the ONNX dialect's names, where a change of meaning between versions of an operator has one of its own.

use super::model::{GraphId, Node};
use neap_ir::facts::Facts;
use rustc_hash::FxHashSet;

/// Names of the dialect that no operator of a file may have.
const RESERVED: &[&str] = &["Return", "Yield", "NoValue", "EntryPoint", "Dim", "DimGroup", "Custom"];

/// The operation's name: `onnx.OP` for the standard operators, `custom.DOMAIN.OP` for all others, which no table knows.
///
/// `rank` is that of the first operand, where it is known.
pub(super) fn operator(node: &Node<'_>, opset: i64, rank: Option<usize>) -> String {
    if !node.is_standard() || RESERVED.contains(&node.op) {
        let domain = if node.is_standard() { "onnx" } else { node.domain };
        return format!("custom.{}.{}", plain(domain), plain(node.op));
    }
    let op = node.op;
    let suffix = match op {
        "Softmax" | "LogSoftmax" | "Hardmax" if opset < 13 => {
            // All dimensions from `axis` on are one line; where that is the last one it is today's operator.
            let axis = node.int("axis").unwrap_or(1);
            match rank {
                Some(rank) if axis == -1 || usize::try_from(axis).is_ok_and(|axis| axis + 1 == rank) => "",
                _ => "V11",
            }
        }
        "Pad" if opset < 11 => "V2",
        "Clip" if opset < 11 => "V6",
        "Resize" if opset < 11 => "V10",
        "Clip" if opset < 12 => "V11",
        "Clip" if opset < 13 => "V12",
        "Squeeze" | "Unsqueeze" | "ReduceSum" | "Split" | "Pad" | "Resize" if opset < 13 => "V11",
        "Split" | "Pad" | "Resize" if opset < 18 => "V13",
        "Resize" if opset < 19 => "V18",
        "Pad" if opset < 21 => "V18",
        // With `is_test` at 0 they train, and operands may broadcast in another way: nothing is known of the old ones.
        "Dropout" | "BatchNormalization" if opset < 7 => "V6",
        "BatchNormalization" if node.int("training_mode").unwrap_or(0) == 0 && node.outputs.len() == 1 => {
            "InferenceMode"
        }
        // A mask of ONNX before version 10 has the type of the data; the row counts results alone.
        _ if opset < 7 && node.int("broadcast").is_some() => "V6",
        _ => "",
    };
    let name = format!("onnx.{}{suffix}", plain(op));
    // Only the dialect's own operators have its prefix: what else a file calls standard is unknown.
    if suffix.is_empty() && Facts::builtin().get(&name).is_none() { format!("custom.onnx.{}", plain(op)) } else { name }
}

/// The graphs that become regions, in the order that the dialect has them.
pub(super) fn bodies<'a>(node: &Node<'a>) -> Vec<(&'a str, GraphId)> {
    let mut bodies: Vec<(&str, GraphId)> = node.graphs().collect();
    if node.is_standard() && node.op == "If" {
        bodies.sort_by_key(|(name, _)| *name != "then_branch");
    }
    bodies
}

/// Text with all characters replaced that no identifier has.
pub(super) fn plain(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '.' { c } else { '_' };
    let name: String = text.chars().take(200).map(plain).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Names of nodes: equal ones are made different.
#[derive(Default)]
pub(super) struct Names {
    taken: FxHashSet<String>,
    /// The next number to try for a name.
    next: rustc_hash::FxHashMap<String, usize>,
}

impl Names {
    /// The name, or the name with a number behind it.
    pub(super) fn unique(&mut self, name: &str) -> String {
        if self.taken.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.next.entry(name.to_owned()).or_insert(2);
        loop {
            let candidate = format!("{name}_{number}");
            *number += 1;
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}
