//! Budgets: how many bytes the plan may take at most. Not met is exit code 3, and says whether it can be met at all.

use crate::cli::Budget;
use crate::exit::{Exit, Failure};
use crate::size::grouped;
use crate::summary::{Function, Summary};
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, Span};
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

/// Refuses budgets of arenas that the module does not declare; without a declaration there is one, called `arena`.
///
/// # Errors
/// There is no arena of the name.
pub fn known(budgets: &[Budget], module: &Module) -> Result<(), Failure> {
    let declared = module.block_ops(module.body()).filter(|op| module.op_name(*op) == "neap.arena");
    let mut names: Vec<&str> = declared.filter_map(|op| module.sym_name(op)).collect();
    if names.is_empty() {
        names.push("arena");
    }
    let asked = budgets.iter().filter_map(|budget| budget.arena.as_deref());
    match asked.into_iter().find(|name| !names.contains(name)) {
        Some(name) => Err(unknown(name, &names)),
        None => Ok(()),
    }
}

fn exceeded(budget: &Budget, function: &Function) -> Result<Option<Diagnostic>, Failure> {
    let (what, needed, floor) = match &budget.arena {
        None => ("the arena".to_owned(), function.plan.arena, function.plan.lower_bound),
        Some(name) => {
            let Some(arena) = function.arenas.iter().find(|arena| arena.name == *name) else {
                let names: Vec<&str> = function.arenas.iter().map(|arena| arena.name.as_str()).collect();
                return Err(unknown(name, &names));
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

fn unknown(name: &str, names: &[&str]) -> Failure {
    let failure = Failure::usage(format!("`--budget @{name}`: there is no arena of this name"));
    match closest(name, names.iter().copied()) {
        Some(close) => failure.help(format!("did you mean `@{close}`?")),
        None => failure.help(format!("there are: @{}", names.join(", @"))),
    }
}
