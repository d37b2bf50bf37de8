//! Which functions an operation runs, and the order in which functions are planned: callees first.
//!
//! Facts say which attributes of an operation name functions. A name that no function of the module has (an external function)
//! is no callee here; whoever needs to know what it does takes the operation by its own facts. Depth of calls costs no stack.

use neap_ir::diag::Diagnostic;
use neap_ir::facts::{Facts, OpFacts};
use neap_ir::{Attr, Module, OpId};
use rustc_hash::FxHashMap;

/// The functions that `op` runs, in the order of its attributes; `None` stands for one that has no body here.
#[must_use]
pub fn called_by(module: &Module, op: OpId, facts: &OpFacts) -> Vec<Option<OpId>> {
    if facts.body.callees.is_empty() || !module.op_regions(op).is_empty() {
        return Vec::new();
    }
    let attrs = facts.body.callees.iter().filter_map(|key| module.attr(op, key));
    let names = attrs.flat_map(|attr| match attr {
        Attr::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    });
    let has_body = |op: &OpId| module.op_name(*op) == "func.func" && module.entry(*op).is_some();
    names.map(|attr| module.symbol(attr.as_symbol().or(attr.as_str())?).filter(has_body)).collect()
}

/// The facts of an operation.
#[must_use]
pub fn facts_of<'a>(module: &Module, facts: &'a Facts, op: OpId) -> &'a OpFacts {
    facts.of(module.op_name(op), module.data_operand_count(op), module.data_results(op).len())
}

/// The functions of a module, each after all that it calls; else in the order of the module.
///
/// # Errors
/// Functions that call each other in a circle, with the circle.
pub fn callees_first(module: &Module, facts: &Facts) -> Result<Vec<OpId>, Diagnostic> {
    let functions = module.functions();
    let mut calls: FxHashMap<OpId, Vec<(OpId, OpId)>> = FxHashMap::default();
    for func in &functions {
        let mut found = Vec::new();
        for op in module.walk(*func) {
            let facts = facts_of(module, facts, op);
            let called = called_by(module, op, facts);
            found.extend(called.into_iter().flatten().map(|callee| (callee, op)));
        }
        calls.insert(*func, found);
    }
    let mut order = Vec::new();
    let mut seen: FxHashMap<OpId, Mark> = FxHashMap::default();
    for func in &functions {
        visit(module, *func, &calls, &mut seen, &mut order)?;
    }
    Ok(order)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    OnPath,
    Done,
}

/// Depth first with a stack of our own; the stack is the path from the root.
fn visit(
    module: &Module,
    root: OpId,
    calls: &FxHashMap<OpId, Vec<(OpId, OpId)>>,
    seen: &mut FxHashMap<OpId, Mark>,
    order: &mut Vec<OpId>,
) -> Result<(), Diagnostic> {
    if seen.contains_key(&root) {
        return Ok(());
    }
    seen.insert(root, Mark::OnPath);
    let mut path = vec![(root, 0)];
    while let Some((func, next)) = path.last_mut() {
        let Some((callee, call)) = calls[func].get(*next).copied() else {
            seen.insert(*func, Mark::Done);
            order.push(*func);
            path.pop();
            continue;
        };
        *next += 1;
        match seen.get(&callee) {
            None => {
                seen.insert(callee, Mark::OnPath);
                path.push((callee, 0));
            }
            Some(Mark::OnPath) => {
                let from = path.iter().position(|(func, _)| *func == callee).unwrap_or(0);
                let circle: Vec<OpId> = path[from..].iter().map(|(func, _)| *func).collect();
                return Err(cycle(module, &circle, call));
            }
            Some(Mark::Done) => {}
        }
    }
    Ok(())
}

fn cycle(module: &Module, circle: &[OpId], call: OpId) -> Diagnostic {
    let name = |func: &OpId| format!("@{}", module.sym_name(*func).unwrap_or("?"));
    let mut names: Vec<String> = circle.iter().map(name).collect();
    names.extend(circle.first().map(name));
    let message = format!("functions call each other in a circle: {}", names.join(" -> "));
    let found = Diagnostic::error(module.op(call).span, message);
    let found = circle
        .iter()
        .fold(found, |found, func| found.related(module.op(*func).span, format!("{} is defined here", name(func))));
    found.help("a plan is static: unroll the recursion or turn it into a loop")
}
