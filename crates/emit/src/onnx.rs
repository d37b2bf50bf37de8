//! ONNX: the model file with the nodes of its main graph in another order, and nothing else changed.
//!
//! A node of the file is copied byte for byte to the place of another one; what stands between nodes stays. The plan is believed only where it
//! names the same results as the file's own nodes, and the order only where every node stands behind what it reads.
//!
//! ONNX Runtime runs a file in an order of its own, which [`runtime`] predicts.

pub mod runtime;

use crate::{error, order};
pub use neap_import::onnx::{Outline, outline};
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Module};

/// The nodes of a file's main graph in the order of a plan, by their numbers in the file.
///
/// # Errors
/// The plan is not one of this file.
pub fn planned_order(file: &Outline, planned: &Module) -> Result<Vec<usize>, Vec<Diagnostic>> {
    let found = planned.symbol("main").and_then(|func| planned.entry(func));
    let block = found.ok_or_else(|| vec![error("the plan has no function @main")])?;
    let order = order::planned(planned, block, "main", file.nodes.len())?;
    let mut errors = Vec::new();
    for (index, op) in &order {
        let node = &file.nodes[*index];
        let names: Vec<&str> = match planned.attr(*op, "neap.names") {
            Some(Attr::Array(names)) => names.iter().map(|name| name.as_str().unwrap_or_default()).collect(),
            _ => Vec::new(),
        };
        let last = node.results.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
        if !names.iter().copied().eq(node.results[..last].iter().map(String::as_str)) {
            let what = format!(
                "`{}` makes {names:?} in the plan, and node {index} of the file makes {:?}",
                planned.op_name(*op),
                node.results
            );
            errors.push(error(what).help("was this plan made from another file?"));
        }
    }
    errors.truncate(20);
    if errors.is_empty() { Ok(order.into_iter().map(|(index, _)| index).collect()) } else { Err(errors) }
}

/// The file with its nodes in an order.
///
/// # Errors
/// The file is malformed, or its nodes cannot run in this order.
pub fn reordered(bytes: &[u8], order: &[usize]) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let file = outline(bytes)?;
    legal(&file, order)?;
    let mut out = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for (place, index) in file.nodes.iter().zip(order) {
        out.extend_from_slice(&bytes[done..place.at.start]);
        out.extend_from_slice(&bytes[file.nodes[*index].at.clone()]);
        done = place.at.end;
    }
    out.extend_from_slice(&bytes[done..]);
    compare(bytes, &file, order, &out)?;
    Ok(out)
}

/// Every node once, behind what it reads.
fn legal(file: &Outline, order: &[usize]) -> Result<(), Vec<Diagnostic>> {
    let mut position = vec![usize::MAX; file.nodes.len()];
    for (at, index) in order.iter().enumerate() {
        match position.get_mut(*index) {
            Some(place) if *place == usize::MAX => *place = at,
            _ => return Err(vec![error(format!("node {index} is none of the file's, or stands twice in the order"))]),
        }
    }
    if order.len() != file.nodes.len() {
        return Err(vec![error(format!("the order has {} of the file's {} nodes", order.len(), file.nodes.len()))]);
    }
    for (index, node) in file.nodes.iter().enumerate() {
        if let Some(first) = node.before.iter().find(|first| position[**first] > position[index]) {
            return Err(vec![error(format!("node {index} reads what node {first} makes, and would run before it"))]);
        }
    }
    Ok(())
}

/// Reads back what was written: the same nodes in the new order, all else as it was.
fn compare(bytes: &[u8], file: &Outline, order: &[usize], out: &[u8]) -> Result<(), Vec<Diagnostic>> {
    let again = outline(out)?;
    let same = again.nodes.len() == order.len()
        && out.len() == bytes.len()
        && again
            .nodes
            .iter()
            .zip(order)
            .all(|(new, index)| out[new.at.clone()] == bytes[file.nodes[*index].at.clone()])
        && rest(out, &again).eq(rest(bytes, file));
    if same { Ok(()) } else { Err(vec![error("the file written does not read back as the one that was meant")]) }
}

/// What stands between nodes.
fn rest<'a>(bytes: &'a [u8], file: &'a Outline) -> impl Iterator<Item = &'a [u8]> {
    let ends = file.nodes.iter().map(|node| node.at.start).chain([bytes.len()]);
    let starts = std::iter::once(0).chain(file.nodes.iter().map(|node| node.at.end));
    starts.zip(ends).map(|(start, end)| &bytes[start..end])
}
