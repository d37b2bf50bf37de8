//! Bytes that an operation needs during its own steps: its scratch, and the arena of what it calls.
//!
//! A function called by symbol runs inside its caller's arena, in one piece of as many bytes as its own plan needs, followed by the caller's own scratch
//! for the same operation. The plan says so in `neap.scratch`, with `neap.callee_bytes` for what of it is the callee's. Of several callees only one runs at a time, so the largest counts. Where the runtime gives each function an arena of
//! its own, calls need nothing.

use super::storage::{Scratch, lcm, op_align};
use super::timeline::{Kind, Timeline};
use crate::callees::{Functions, facts_of};
use crate::profile::Profile;
use neap_ir::diag::Diagnostic;
use neap_ir::facts::Facts;
use neap_ir::{Attr, Module, OpId, plan};
use rustc_hash::{FxHashMap, FxHashSet};

/// The scratch of every operation that needs some, in the order of steps.
///
/// # Errors
/// An alignment that is no positive number, or a sum above 2^63-1.
pub fn of(
    module: &Module,
    facts: &Facts,
    timeline: &Timeline<'_>,
    profile: &Profile,
) -> Result<Vec<Scratch>, Diagnostic> {
    let mut found = Vec::new();
    let mut functions = None;
    let mut aligns = FxHashMap::default();
    for (_, entry) in timeline.iter().filter(|(_, entry)| entry.kind == Kind::Step) {
        let (mut callee, mut align) = (0, op_align(module, entry.op)?.unwrap_or(1));
        if !profile.own_arena_per_function && !entry.facts.body.callees.is_empty() {
            let functions = functions.get_or_insert_with(|| Functions::of(module));
            let called: Vec<OpId> = functions.called_by(module, entry.op, entry.facts).into_iter().flatten().collect();
            callee = called.iter().map(|func| arena_bytes(module, *func).unwrap_or(0)).max().unwrap_or(0);
            for func in called {
                let asked = *aligns.entry(func).or_insert_with(|| base_align(module, facts, functions, func));
                align = lcm(align, asked).ok_or_else(|| overflow(module, entry.op))?;
            }
        }
        let bytes = own_bytes(module, entry.op).checked_add(callee).filter(|sum| *sum <= i64::MAX as u64);
        let bytes = bytes.ok_or_else(|| overflow(module, entry.op))?;
        if bytes > 0 {
            found.push(Scratch { op: entry.op, bytes, callee, align });
        }
    }
    Ok(found)
}

/// The scratch that an operation needs for itself: without the arena of what it calls, which a plan adds.
pub fn own_bytes(module: &Module, op: OpId) -> u64 {
    let callee = module.attr(op, plan::CALLEE_BYTES).and_then(Attr::as_i64).unwrap_or(0);
    module.scratch_bytes(op).saturating_sub(callee.max(0) as u64)
}

/// What the plan of a function needs, if it has one.
pub fn arena_bytes(module: &Module, func: OpId) -> Option<u64> {
    module.attr(func, plan::ARENA_BYTES).and_then(Attr::as_i64).and_then(|bytes| u64::try_from(bytes).ok())
}

/// The alignment that a function's arena must start at: what its operations, and those of all it runs, ask for together.
pub fn base_align(module: &Module, facts: &Facts, functions: &Functions, func: OpId) -> u64 {
    let (mut todo, mut seen, mut align) = (vec![func], FxHashSet::default(), 1);
    while let Some(func) = todo.pop() {
        if !seen.insert(func) {
            continue;
        }
        for op in module.walk(func) {
            let asked = op_align(module, op).ok().flatten().unwrap_or(1);
            align = lcm(align, asked).unwrap_or(align);
            todo.extend(functions.called_by(module, op, facts_of(module, facts, op)).into_iter().flatten());
        }
    }
    align
}

fn overflow(module: &Module, op: OpId) -> Diagnostic {
    let message = format!("the scratch of {} is above 2^63-1 bytes", super::names::op_name(module, op));
    Diagnostic::error(module.op(op).span, message)
}
