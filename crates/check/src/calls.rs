//! Calls in a circle: what the checker, like the planner, refuses.
//!
//! That a call is an unknown function of its operands and of what its callee touches is sound because each function is checked on its
//! own, by induction over the calls below it. A circle has no bottom.

use crate::effects::callees;
use crate::names;
use crate::violation::Violation;
use neap_ir::facts::{Facts, Run};
use neap_ir::{Module, OpId};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Open,
    Done,
}

/// The first circle of calls, as functions along it, the first one again at the end.
pub(crate) fn circle(module: &Module, facts: &Facts) -> Option<Violation> {
    let functions = module.functions();
    let by_name: FxHashMap<&str, OpId> =
        functions.iter().filter_map(|func| Some((module.sym_name(*func)?, *func))).collect();
    let mut marks: FxHashMap<OpId, Mark> = FxHashMap::default();
    for root in &functions {
        let mut path: Vec<(OpId, Vec<OpId>)> = Vec::new();
        let mut enter = Some(*root).filter(|root| !marks.contains_key(root));
        loop {
            if let Some(func) = enter.take() {
                marks.insert(func, Mark::Open);
                path.push((func, called(module, facts, &by_name, func)));
            }
            let Some((func, left)) = path.last_mut() else { break };
            let Some(next) = left.pop() else {
                marks.insert(*func, Mark::Done);
                path.pop();
                continue;
            };
            match marks.get(&next) {
                None => enter = Some(next),
                Some(Mark::Done) => {}
                Some(Mark::Open) => {
                    let from = path.iter().position(|(func, _)| *func == next).unwrap_or(0);
                    let around = path[from..].iter().map(|(func, _)| *func).chain([next]);
                    let functions = around.map(|func| names::func(module, func)).collect();
                    return Some(Violation::CallCycle { functions, span: module.op(next).span });
                }
            }
        }
    }
    None
}

/// What the arena of a function must be aligned to: what its operations ask, and those of all it calls.
pub(crate) fn align(module: &Module, facts: &Facts, func: OpId) -> u64 {
    let functions = module.functions();
    let by_name: FxHashMap<&str, OpId> =
        functions.iter().filter_map(|func| Some((module.sym_name(*func)?, *func))).collect();
    let (mut todo, mut seen, mut align) = (vec![func], FxHashSet::default(), 1);
    while let Some(func) = todo.pop() {
        if !seen.insert(func) {
            continue;
        }
        for op in module.walk(func) {
            let asked =
                module.attr(op, neap_ir::plan::ALIGN).and_then(neap_ir::Attr::as_i64).unwrap_or(1).max(1) as u64;
            align = lcm(align, asked);
        }
        todo.extend(called(module, facts, &by_name, func));
    }
    align
}

/// The least common multiple, or the larger one where that is beyond 64 bits.
fn lcm(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).checked_mul(b).unwrap_or(a.max(b))
}

fn called(module: &Module, facts: &Facts, by_name: &FxHashMap<&str, OpId>, func: OpId) -> Vec<OpId> {
    let mut found = Vec::new();
    for op in module.walk(func) {
        let row = facts.of(module.op_name(op), module.data_operands(op).count(), module.data_results(op).len());
        if row.body.run != Run::None && module.op_regions(op).is_empty() {
            found.extend(callees(module, op, row).iter().filter_map(|name| by_name.get(name.as_str()).copied()));
        }
    }
    found
}
