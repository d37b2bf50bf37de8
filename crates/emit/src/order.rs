//! The order of a plan in the numbers of the file that the model was read from.

use crate::error;
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, BlockId, Module, OpId, plan};

/// Operations that stand for no operator of a file: constants, uses of variables, what is not given, the end of a body.
/// Constant nodes of ONNX are entries; initializers are none.
const NO_OPERATOR: [&str; 8] = [
    "neap.constant",
    "neap.read",
    "neap.handle",
    "neap.write",
    "tfl.no_value",
    "onnx.NoValue",
    "onnx.Constant",
    "func.return",
];

/// Operations of a block in the order of the plan, each with its index in the graph `graph` of the file, which has `count` entries.
///
/// # Errors
/// An operation that is no entry of the file, an entry that is missing or there twice.
pub fn planned(
    module: &Module,
    block: BlockId,
    graph: &str,
    count: usize,
) -> Result<Vec<(usize, OpId)>, Vec<Diagnostic>> {
    let mut order = Vec::new();
    let mut errors = Vec::new();
    let mut seen = vec![false; count];
    for op in module.block_ops(block) {
        let name = module.op_name(op);
        if module.attr(op, plan::RECOMPUTED).is_some() {
            errors.push(again(module, op, graph));
            continue;
        }
        // A fused operation stands where its last member stood.
        let index = module.origin(op, graph).filter(|_| name != "neap.fused");
        match index {
            Some(index) if index < count && !std::mem::replace(&mut seen[index], true) => order.push((index, op)),
            Some(index) if index < count => {
                errors.push(error(format!("entry {index} of graph `{graph}` stands twice in the plan: `{name}`")));
            }
            Some(index) => {
                let what = format!("`{name}` claims to be entry {index} of graph `{graph}`, which has {count}");
                errors.push(error(what).help("was this plan made from another file?"));
            }
            None if NO_OPERATOR.contains(&name) => {}
            None => errors.push(unknown(name, graph)),
        }
    }
    for (index, _) in seen.iter().enumerate().filter(|(_, seen)| !**seen) {
        let what = format!("entry {index} of graph `{graph}` is missing in the plan");
        errors
            .push(error(what).help("passes that remove operations (dce, cse, fuse) make a plan that no file can hold"));
    }
    // One thing missed everywhere is one message.
    errors.truncate(20);
    if errors.is_empty() { Ok(order) } else { Err(errors) }
}

/// A file has each of its operators once.
fn again(module: &Module, op: OpId, graph: &str) -> Diagnostic {
    let name = module.attr(op, "neap.name").and_then(Attr::as_str).filter(|name| !name.is_empty());
    let name = name.map_or(String::new(), |name| format!(" ({name})"));
    let what = format!(
        "`{}`{name} runs once more in the plan, and graph `{graph}` of the file has it once",
        module.op_name(op)
    );
    error(what).help(
        "plan without `rematerialize` for this file, or write the plan as .mlir, .h, .csv or .json, which hold the operations that run again",
    )
}

fn unknown(name: &str, graph: &str) -> Diagnostic {
    let what = format!("`{name}` is no entry of graph `{graph}` in the file");
    if name == "neap.fused" {
        return error(what)
            .help("fused operations have no place in a file: plan with the runtime's profile, which fuses nothing");
    }
    error(what)
        .note("a plan finds its operators in the file by their locations, `loc(\"main\":12:0)`")
        .help("plan the model file itself, or its module as `neap import` printed it (through mlir-opt: with --mlir-print-debuginfo)")
}
