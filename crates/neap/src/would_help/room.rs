//! What would help where arenas are too small: the plan is made once more with a last arena that has room for all that the others do not take.
//!
//! What the last arena would need is one thing that helps; what would make it smaller are the same things as for a budget of that arena.

use super::{arenas, estimates, note, once_more};
use crate::cli::Common;
use crate::demands::Unmet;
use crate::drive::Job;
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::size::grouped;
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Module, OpId, Span};

const SIZE: &str = "size";

/// Whether an arena has an end.
pub fn limited(common: &Common, module: &Module) -> bool {
    !common.source.arenas.is_empty() || declared(module).any(|op| module.attr(op, SIZE).is_some())
}

fn declared(module: &Module) -> impl Iterator<Item = OpId> + '_ {
    module.block_ops(module.body()).filter(|op| module.op_name(*op) == "neap.arena")
}

/// Says what would help with a plan that was refused because its arenas are too small. Any other failure stays as it is.
pub fn add(job: &Job<'_>, module: &Module, failure: Failure, progress: &Progress<'_>) -> Failure {
    if failure.exit != Exit::Demand || failure.missed.is_some() || progress.limit_hit() || !limited(job.common, module)
    {
        return failure;
    }
    let Some((name, capacity, common, roomy)) = last_open(job.common, module) else { return failure };
    progress.label("what a larger arena would hold".to_owned());
    let tried = once_more(job, common, job.pipeline, &roomy, progress);
    progress.clear();
    let Some((planned, summary)) = tried.and_then(|tried| Some((tried.planned.module, tried.planned.summary?))) else {
        return failure;
    };
    let used = |function: &crate::summary::Function| {
        function.arenas.iter().find(|arena| arena.name == name).map_or(0, |arena| arena.used)
    };
    let Some(function) = summary.functions.iter().max_by_key(|function| used(function)) else { return failure };
    let needed = used(function);
    // A larger arena is not all that was asked for, then.
    let Some(more) = needed.checked_sub(capacity).filter(|more| *more > 0) else { return failure };
    let own = |bytes: u64| grouped(bytes.into());
    let others = if function.arenas.len() > 1 { ", with the others as they are" } else { "" };
    let room = format!("would help: @{name} of {} B, {} more than it has{others}", own(needed), own(more));
    let unmet = Unmet {
        function: function.name.clone(),
        arena: Some(name),
        budget: capacity,
        needed,
        floor: 0,
        diagnostic: Diagnostic::error(Span::default(), String::new()),
    };
    let mut helps = arenas::other(&unmet, function);
    helps.extend(estimates::of(job, &planned, function, &unmet));
    helps.retain(|help| help.saves > 0);
    helps.iter().map(note).fold(failure.note(room), Failure::note)
}

/// The last arena with its capacity, and flags and module in which it has no end that matters.
fn last_open(common: &Common, module: &Module) -> Option<(String, u64, Common, Module)> {
    let (mut common, mut module) = (common.clone(), module.clone());
    common.budgets.clear();
    let own = declared(&module).last();
    // Arenas of flags stand before those of the module, in their order.
    let name = match own {
        Some(op) => module.sym_name(op)?.to_owned(),
        None => common.source.arenas.last()?.name.clone(),
    };
    let flag = common.source.arenas.iter_mut().find(|flag| flag.name == name);
    let capacity = match (flag, own) {
        (Some(flag), _) => std::mem::replace(&mut flag.size, i64::MAX as u64),
        (None, Some(op)) => {
            let size = module.remove_attr(op, SIZE).as_ref().and_then(Attr::as_i64)?;
            u64::try_from(size).ok()?
        }
        (None, None) => return None,
    };
    Some((name, capacity, common, module))
}
