//! One body through the ordering solver.
//!
//! Demands (`neap.reuse = "must"`) are candidates that the solver must take. An operation with several candidates for one result gets the first
//! that can be had. A taken candidate that would overwrite another operand of the same operation (the part of a whole, read beside the
//! whole) is dropped and the body is solved again.

use super::{Decision, demand};
use crate::analysis::Flow;
use crate::analysis::candidates::{Candidate, Filled, Pair, Reuse, Why};
use crate::analysis::names::{op_name, value_name};
use crate::analysis::order_problem::Draft;
use crate::analysis::timeline::EntryId;
use neap_ir::Module;
use neap_ir::diag::Diagnostic;
use neap_order::{
    BudgetAnswer, Certificate, Failure, Options, Problem, ProblemError, Proof, Refusal, Schedule, Solution, StorageId,
    Watch,
};
use std::ops::ControlFlow;

/// What the solver said about a body.
pub(super) struct Answer {
    /// The problem it was given.
    pub problem: Problem,
    /// What the ids of the problem stand for.
    pub draft: Draft,
    /// Bytes, in the solver's view.
    pub peak: u64,
    /// No order of the body needs less, in the solver's view.
    pub lower_bound: u64,
    /// What stands behind `peak == lower_bound`.
    pub proof: Proof,
    /// Flows that prove a bound.
    pub certificate: Option<Certificate>,
    /// Further schedules of the same peak.
    pub alternatives: Vec<Schedule>,
    /// Effort spent.
    pub nodes: u64,
    /// Where `certificate` proves that no order fits into the budget: what its op finds held in each.
    pub held: Vec<StorageId>,
}

/// Solves a body.
pub(super) fn solve(
    module: &Module,
    flow: &Flow<'_>,
    mut draft: Draft,
    mut filled: Filled,
    options: &Options,
    stop: &dyn Fn() -> bool,
) -> Result<Decision, Diagnostic> {
    let mut demands = demand::Demands::new(module, flow, &mut draft, &filled, options)?;
    loop {
        let problem = match Problem::new(draft.spec.clone()) {
            Ok(problem) => problem,
            Err(ProblemError::RequiredImpossible { place, why }) => {
                let why = blame(module, flow, &draft, &why);
                demands.next(module, flow, &mut draft, &filled, place, &why)?;
                continue;
            }
            Err(error) => return Err(unsound(module, flow, &draft, &error)),
        };
        let mut watch = |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let (solution, held) =
            solved(&problem, options, &mut watch).map_err(|failure| failed(module, flow, &draft, &failure))?;
        let clobbered = clobbered(module, flow, &draft, &filled, &solution);
        if clobbered.is_empty() {
            return Ok(decision(draft, filled, problem, solution, held));
        }
        for (index, name) in clobbered.into_iter().rev() {
            draft.spec.in_place.remove(index);
            let candidate = filled.in_place.remove(index);
            filled.refused.push((candidate, Why::OtherOperand(name)));
        }
        demands = demand::Demands::new(module, flow, &mut draft, &filled, options)?;
    }
}

/// The solver's answer; with a budget that no order keeps, also what coexists where that is proved.
fn solved(
    problem: &Problem,
    options: &Options,
    watch: Watch<'_>,
) -> Result<(Solution, Vec<StorageId>), neap_order::Failure> {
    let Some(budget) = options.budget else {
        return Ok((neap_order::solve(problem, options, watch)?, Vec::new()));
    };
    Ok(match neap_order::fits_budget(problem, options, budget, watch)? {
        BudgetAnswer::Cannot { best, op, storages } if best.certificate.as_ref().is_some_and(|flow| flow.op == op) => {
            (*best, storages)
        }
        BudgetAnswer::Fits(best) | BudgetAnswer::Cannot { best, .. } | BudgetAnswer::Unknown { best } => {
            (*best, Vec::new())
        }
    })
}

fn decision(draft: Draft, filled: Filled, problem: Problem, solution: Solution, held: Vec<StorageId>) -> Decision {
    let order = solution.order.iter().map(|op| draft.ops[op.index()]).collect();
    let answer = Answer {
        problem,
        peak: solution.peak,
        lower_bound: solution.lower_bound,
        proof: solution.proof,
        certificate: solution.certificate,
        alternatives: solution.alternatives,
        nodes: solution.stats.nodes,
        held,
        draft,
    };
    Decision { body: answer.draft.body, order, filled, taken: solution.taken, answer }
}

/// Taken in-place candidates whose result would lie over another operand of the same operation, with that operand's name.
fn clobbered(
    module: &Module,
    flow: &Flow<'_>,
    draft: &Draft,
    filled: &Filled,
    solution: &Solution,
) -> Vec<(usize, String)> {
    if solution.taken.placement.is_empty() {
        // Only a placement brings two operands into one storage.
        return Vec::new();
    }
    let mut found = Vec::new();
    for index in &solution.taken.in_place {
        let Candidate { entry, pair: Pair::InPlace(pair), .. } = filled.in_place[*index] else { continue };
        let merged = |value| {
            let owner = flow.values.owner(flow.values.slot(value)?);
            Some((owner, solution.merged[draft.storage(owner)?.index()]))
        };
        let operands: Vec<_> = module.data_operands(flow.timeline.entry(entry).op).collect();
        let Some((mine, storage)) = operands.get(pair.operand as usize).and_then(|value| merged(*value)) else {
            continue;
        };
        let other =
            operands.iter().find(|value| merged(**value).is_some_and(|(owner, also)| owner != mine && also == storage));
        if let Some(other) = other {
            found.push((*index, value_name(module, *other)));
        }
    }
    found
}

/// Why the solver refuses a demand, in words.
pub(super) fn blame(module: &Module, flow: &Flow<'_>, draft: &Draft, why: &Refusal) -> String {
    let op = |op: neap_order::OpId| entry_at(module, flow, draft.ops[op.index()]);
    let storage = |id: neap_order::StorageId| value_name(module, flow.values.info(draft.owners[id.index()]).value);
    match why {
        Refusal::TouchedLater { by } => format!("{} still reads it", op(*by)),
        Refusal::Kept { storage: id } => format!("{} is kept", storage(*id)),
        Refusal::OtherWriter { op: by } => format!("{} writes it too", op(*by)),
        Refusal::LargerThanPlace { storage: id } => format!("{} is larger than its place", storage(*id)),
        Refusal::ClassesDiffer => "the classes differ".to_owned(),
        Refusal::SameStorage => "both are one storage already".to_owned(),
        Refusal::Conflict { .. } => "another result or whole has these bytes".to_owned(),
        Refusal::NotChosen => "it would not lower the peak".to_owned(),
    }
}

/// An operation with the step at which the input has it.
pub(super) fn entry_at(module: &Module, flow: &Flow<'_>, entry: EntryId) -> String {
    let entry = flow.timeline.entry(entry);
    format!("{} at step {}", op_name(module, entry.op), entry.steps.begin)
}

fn unsound(module: &Module, flow: &Flow<'_>, draft: &Draft, error: &ProblemError) -> Diagnostic {
    let span = module.op(flow.timeline.func).span;
    let path = |ops: &[neap_order::OpId]| -> String {
        let names: Vec<String> = ops.iter().take(8).map(|op| entry_at(module, flow, draft.ops[op.index()])).collect();
        names.join(" -> ")
    };
    match error {
        ProblemError::GroupCycle { ops } => {
            Diagnostic::error(span, format!("a `neap.group` cannot stay together: {}", path(ops)))
        }
        ProblemError::Cycle { ops } => {
            Diagnostic::error(span, format!("operations wait for each other: {}", path(ops)))
        }
        ProblemError::TooManyBytes { .. } => {
            let largest = draft.spec.storages.iter().zip(&draft.owners).rev().max_by_key(|(storage, _)| storage.size);
            let largest = largest.map_or_else(String::new, |(storage, owner)| {
                format!("; the largest is {} with {}", value_name(module, flow.values.info(*owner).value), storage.size)
            });
            let message = format!("the values of the function have more than 2^63-1 bytes together{largest}");
            Diagnostic::error(span, message)
        }
        ProblemError::TooManyCycles { op } => {
            let entry = draft.ops[op.index()];
            let message = format!("`neap.cycles` add up to more than 2^63-1 at {}", entry_at(module, flow, entry));
            Diagnostic::error(module.op(flow.timeline.entry(entry).op).span, message)
        }
        other => Diagnostic::error(span, format!("the function cannot be ordered: {other}")),
    }
}

fn failed(module: &Module, flow: &Flow<'_>, draft: &Draft, failure: &Failure) -> Diagnostic {
    let span = module.op(flow.timeline.func).span;
    match failure {
        Failure::Infeasible { proof: neap_order::InfeasibleProof::Op { op, storages, .. } } => {
            let names: Vec<String> = storages
                .iter()
                .map(|id| value_name(module, flow.values.info(draft.owners[id.index()]).value))
                .collect();
            let entry = draft.ops[op.index()];
            let message = format!(
                "no order satisfies the classes: {} needs {} at once",
                entry_at(module, flow, entry),
                names.join(", ")
            );
            Diagnostic::error(module.op(flow.timeline.entry(entry).op).span, message).unmet()
        }
        Failure::Infeasible { .. } => {
            Diagnostic::error(span, "no order satisfies the classes: all were searched").unmet()
        }
        Failure::NotFound { .. } => {
            Diagnostic::error(span, "no order was found that satisfies the classes; there may be one")
                .help("raise `reorder{effort=..}`")
                .unmet()
        }
        Failure::Order(error) => Diagnostic::error(span, format!("the order of the input cannot be kept: {error}"))
            .help("let `reorder` choose the order: `reorder{order=search}`")
            .unmet(),
    }
}

/// The reuse that an operation asks for, as a demand.
pub(super) fn is_demand(candidate: &Candidate) -> bool {
    candidate.reuse == Reuse::Must
}
