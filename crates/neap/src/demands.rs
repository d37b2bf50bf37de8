//! Budgets: how many bytes the plan may take at most. Not met is exit code 3, and says whether it can be met at all.

use crate::cli::Budget;
use crate::exit::{Exit, Failure};
use crate::size::grouped;
use crate::summary::{Function, Summary};
use neap_ir::Span;
use neap_ir::diag::Diagnostic;
use neap_passes::suggest::closest;

/// Whether all demands are met.
///
/// # Errors
/// The demands that are not, each with what is needed, what is there, and what to try.
pub fn met(budgets: &[Budget], summary: Option<&Summary>) -> Result<(), Failure> {
    let mut unmet: Vec<Diagnostic> = Vec::new();
    for budget in budgets {
        let Some(summary) = summary else {
            return Err(Failure::usage("`--budget` needs a plan, and the pipeline makes none")
                .help("add `assign-offsets` to it"));
        };
        for function in &summary.functions {
            unmet.extend(exceeded(budget, function)?);
        }
    }
    if unmet.is_empty() { Ok(()) } else { Err(Failure::new(Exit::Demand, unmet)) }
}

fn exceeded(budget: &Budget, function: &Function) -> Result<Option<Diagnostic>, Failure> {
    let (what, needed, floor) = match &budget.arena {
        None => ("the arena".to_owned(), function.plan.arena, function.plan.lower_bound),
        Some(name) => {
            let Some(arena) = function.arenas.iter().find(|arena| arena.name == *name) else {
                return Err(unknown(name, function));
            };
            // A bound on one of several arenas says nothing: what does not fit could lie in another one.
            (
                format!("arena @{name}"),
                arena.used,
                if function.arenas.len() == 1 { function.plan.lower_bound } else { 0 },
            )
        }
    };
    if needed <= budget.bytes {
        return Ok(None);
    }
    let (have, over) = (grouped(budget.bytes.into()), grouped((needed - budget.bytes).into()));
    let message = format!(
        "@{}: {what} needs {} B, the budget is {have} B: {over} B too many",
        function.name,
        grouped(needed.into())
    );
    let diagnostic = Diagnostic::error(Span::default(), message);
    let bound = grouped(floor.into());
    let diagnostic = match floor > budget.bytes {
        true => diagnostic.note(format!("proved infeasible: no order of the planned graph needs less than {bound} B")),
        false => diagnostic.note(format!("not found: the floor is {bound} B, so a better plan may exist")),
    };
    Ok(Some(held(diagnostic, function)))
}

/// What stands at the peak, and what to try.
fn held(diagnostic: Diagnostic, function: &Function) -> Diagnostic {
    let Some(peak) = &function.peak_step else { return diagnostic };
    let largest = peak.storages.iter().take(3).filter_map(|id| function.storages.get(*id as usize));
    let named: Vec<String> = largest
        .map(|storage| format!("{} ({} B)", storage.names.first().unwrap_or(&storage.op), grouped(storage.size.into())))
        .collect();
    let diagnostic = diagnostic.note(format!("at the peak, step {} ({}): {}", peak.step, peak.op, named.join(", ")));
    diagnostic.help("lower the resolution or the batch, split the op at the peak, or leave arguments to the caller with `--external`")
}

fn unknown(name: &str, function: &Function) -> Failure {
    let names = || function.arenas.iter().map(|arena| arena.name.as_str());
    let failure = Failure::usage(format!("`--budget @{name}`: there is no arena of this name"));
    match closest(name, names()) {
        Some(close) => failure.help(format!("did you mean `@{close}`?")),
        None => failure.help(format!("there are: @{}", names().collect::<Vec<_>>().join(", @"))),
    }
}
