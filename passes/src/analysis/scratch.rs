//! Bytes that an operation needs during its own steps: its scratch, and the arena of what it calls.
//!
//! A function called by symbol runs inside its caller's arena, in one piece of as many bytes as its own plan needs, behind the caller's scratch for the same
//! operation. Of several callees only one runs at a time, so the largest counts. Where the runtime gives each function an arena of
//! its own, calls need nothing.

use super::storage::{Scratch, lcm, op_align};
use super::timeline::{Kind, Timeline};
use crate::callees::Functions;
use crate::profile::Profile;
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Module, OpId, plan};
use rustc_hash::FxHashMap;

/// The scratch of every operation that needs some, in the order of steps.
///
/// # Errors
/// An alignment that is no positive number, or a sum above 2^63-1.
pub fn of(module: &Module, timeline: &Timeline<'_>, profile: &Profile) -> Result<Vec<Scratch>, Diagnostic> {
    let mut found = Vec::new();
    let mut functions = None;
    let mut aligns = FxHashMap::default();
    for (_, entry) in timeline.iter().filter(|(_, entry)| entry.kind == Kind::Step) {
        let (mut bytes, mut align) = (module.scratch_bytes(entry.op), op_align(module, entry.op)?.unwrap_or(1));
        if !profile.own_arena_per_function && !entry.facts.body.callees.is_empty() {
            let functions = functions.get_or_insert_with(|| Functions::of(module));
            let called: Vec<OpId> = functions.called_by(module, entry.op, entry.facts).into_iter().flatten().collect();
            let largest = called.iter().map(|func| arena_bytes(module, *func).unwrap_or(0)).max().unwrap_or(0);
            for func in called {
                let asked = *aligns.entry(func).or_insert_with(|| base_align(module, func));
                align = lcm(align, asked).ok_or_else(|| overflow(module, entry.op))?;
            }
            bytes = bytes
                .checked_add(largest)
                .filter(|sum| *sum <= i64::MAX as u64)
                .ok_or_else(|| overflow(module, entry.op))?;
        }
        if bytes > 0 {
            found.push(Scratch { op: entry.op, bytes, align });
        }
    }
    Ok(found)
}

/// What the plan of a function needs, if it has one.
pub fn arena_bytes(module: &Module, func: OpId) -> Option<u64> {
    module.attr(func, plan::ARENA_BYTES).and_then(Attr::as_i64).and_then(|bytes| u64::try_from(bytes).ok())
}

/// The alignment that a function's arena must start at: what its operations ask for together.
pub fn base_align(module: &Module, func: OpId) -> u64 {
    let asked = module.walk(func).into_iter().filter_map(|op| op_align(module, op).ok().flatten());
    asked.fold(1, |all, align| lcm(all, align).unwrap_or(all))
}

fn overflow(module: &Module, op: OpId) -> Diagnostic {
    let message = format!("the scratch of {} is above 2^63-1 bytes", super::names::op_name(module, op));
    Diagnostic::error(module.op(op).span, message)
}
