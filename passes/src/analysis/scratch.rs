//! Bytes that an operation needs during its own steps: its scratch, and the arena of what it calls.
//!
//! A function called by symbol runs inside its caller's arena, in one piece of as many bytes as its own plan needs, followed by the caller's own scratch
//! for the same operation. The plan says so in `neap.scratch`, with `neap.callee_bytes` for what of it is the callee's. Of several callees only one runs at a time, so the largest counts. Where the runtime gives each function an arena of
//! its own, calls need nothing.

use super::storage::{Scratch, lcm, op_align};
use super::timeline::{Kind, Timeline};
use crate::callees::called_by;
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
    let mut aligns: FxHashMap<OpId, u64> = FxHashMap::default();
    for (_, entry) in timeline.iter().filter(|(_, entry)| entry.kind == Kind::Step) {
        let (mut callee, mut align) = (0, op_align(module, entry.op)?.unwrap_or(1));
        let mut callee_align = 1;
        if !profile.own_arena_per_function && !entry.facts.body.callees.is_empty() {
            let called: Vec<OpId> = called_by(module, entry.op, entry.facts).into_iter().flatten().collect();
            callee = called.iter().map(|func| arena_bytes(module, *func).unwrap_or(0)).max().unwrap_or(0);
            for func in called {
                let asked = *aligns.entry(func).or_insert_with(|| base_align(module, func));
                callee_align = lcm(callee_align, asked).ok_or_else(|| overflow(module, entry.op))?;
            }
            align = lcm(align, callee_align).ok_or_else(|| overflow(module, entry.op))?;
        }
        let bytes = own_bytes(module, entry.op).checked_add(callee).filter(|sum| *sum <= i64::MAX as u64);
        let bytes = bytes.ok_or_else(|| overflow(module, entry.op))?;
        if bytes > 0 {
            found.push(Scratch { op: entry.op, bytes, callee, callee_align, align });
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

/// The alignment that a planned function's arena must start at: what its operations ask for, and what the plan says of those that it runs.
fn base_align(module: &Module, func: OpId) -> u64 {
    module.walk(func).into_iter().fold(1, |align, op| {
        let callee = module.attr(op, plan::CALLEE_ALIGN).and_then(Attr::as_i64).unwrap_or(1).max(1) as u64;
        let asked = op_align(module, op).ok().flatten().unwrap_or(1);
        [callee, asked].into_iter().fold(align, |align, asked| lcm(align, asked).unwrap_or(align))
    })
}

fn overflow(module: &Module, op: OpId) -> Diagnostic {
    let message = format!("the scratch of {} is above 2^63-1 bytes", super::names::op_name(module, op));
    Diagnostic::error(module.op(op).span, message)
}
