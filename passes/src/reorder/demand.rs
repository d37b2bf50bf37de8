//! `neap.reuse = "must"` and `"warn"`: reuse that the user asks for.
//!
//! A demand on an operation asks that each of its results with an in-place candidate overwrites one of the operands named, and that each of its
//! placement candidates is taken. A demand on an argument asks that some result overwrites it. What cannot be had is an error
//! that can be told from wrong input ([`Diagnostic::unmet`]), or a warning.

use super::{Decision, block};
use crate::analysis::Flow;
use crate::analysis::candidates::{Candidate, Filled, Pair, Reuse};
use crate::analysis::names::value_name;
use crate::analysis::order_problem::Draft;
use crate::analysis::timeline::EntryId;
use crate::analysis::values::Site;
use crate::pass::Context;
use neap_ir::Module;
use neap_ir::diag::{Diagnostic, Severity};
use neap_order::{Options, OrderMode, Place};

/// The demands of a body: per result asked for, which of its candidates is required now.
pub(super) struct Demands {
    /// Indices into the in-place candidates, in the order in which they are tried.
    choices: Vec<Vec<usize>>,
}

impl Demands {
    /// Requires the first candidate of each result that must overwrite something.
    pub(super) fn new(
        module: &Module,
        flow: &Flow<'_>,
        draft: &mut Draft,
        filled: &Filled,
        options: &Options,
    ) -> Result<Demands, Diagnostic> {
        refused(module, flow, filled)?;
        let mut choices: Vec<Vec<usize>> = Vec::new();
        for (index, candidate) in
            filled.in_place.iter().enumerate().filter(|(_, candidate)| block::is_demand(candidate))
        {
            let same = |other: &Vec<usize>| result(&filled.in_place[other[0]]) == result(candidate);
            match choices.last_mut().filter(|last| same(last)) {
                Some(last) => last.push(index),
                None => choices.push(vec![index]),
            }
        }
        let mut demands = Demands { choices };
        for item in &mut draft.spec.in_place {
            item.required = false;
        }
        for at in 0..demands.choices.len() {
            draft.spec.in_place[demands.choices[at][0]].required = true;
        }
        for (index, candidate) in filled.placement.iter().enumerate() {
            draft.spec.placement[index].required = block::is_demand(candidate);
        }
        if options.order == OrderMode::Input {
            demands.in_listed_order(module, flow, draft, filled)?;
        }
        Ok(demands)
    }

    /// The candidate at `place` cannot be had: requires the next one of the same result.
    pub(super) fn next(
        &mut self,
        module: &Module,
        flow: &Flow<'_>,
        draft: &mut Draft,
        filled: &Filled,
        place: Place,
        why: &str,
    ) -> Result<(), Diagnostic> {
        let index = match place {
            Place::InPlace(index) => index,
            Place::Placement(index) => return Err(cannot(module, flow, &filled.placement[index], why)),
            _ => {
                return Err(Diagnostic::error(
                    module.op(flow.timeline.func).span,
                    format!("a demand cannot be met: {why}"),
                ));
            }
        };
        draft.spec.in_place[index].required = false;
        let choice = self.choices.iter_mut().find(|choice| choice.first() == Some(&index));
        let Some(choice) = choice.filter(|choice| choice.len() > 1) else {
            return Err(cannot(module, flow, &filled.in_place[index], why));
        };
        choice.remove(0);
        draft.spec.in_place[choice[0]].required = true;
        Ok(())
    }

    /// Where the listed order is kept, a later reader cannot come first.
    fn in_listed_order(
        &mut self,
        module: &Module,
        flow: &Flow<'_>,
        draft: &mut Draft,
        filled: &Filled,
    ) -> Result<(), Diagnostic> {
        let mut at = 0;
        while at < self.choices.len() {
            let index = self.choices[at][0];
            let item = draft.spec.in_place[index];
            let storage = &draft.spec.storages[item.operand.index()];
            match storage.readers.iter().find(|reader| **reader > item.op) {
                Some(late) => {
                    let why = block::blame(module, flow, draft, &neap_order::Refusal::TouchedLater { by: *late });
                    self.next(module, flow, draft, filled, Place::InPlace(index), &why)?;
                }
                None => at += 1,
            }
        }
        Ok(())
    }
}

/// Demands that no order can meet.
fn refused(module: &Module, flow: &Flow<'_>, filled: &Filled) -> Result<(), Diagnostic> {
    for (candidate, why) in filled.refused.iter().filter(|(candidate, _)| block::is_demand(candidate)) {
        let other = |also: &Candidate| result(also) == result(candidate);
        let placed = matches!(candidate.pair, Pair::Place(_));
        if placed || !filled.in_place.iter().any(other) {
            return Err(cannot(module, flow, candidate, &why.to_string()));
        }
    }
    Ok(())
}

/// What a candidate would give bytes to: the entry and its result.
fn result(candidate: &Candidate) -> (EntryId, Option<u32>) {
    match candidate.pair {
        Pair::InPlace(pair) => (candidate.entry, Some(pair.result)),
        Pair::Place(_) => (candidate.entry, None),
    }
}

fn cannot(module: &Module, flow: &Flow<'_>, candidate: &Candidate, why: &str) -> Diagnostic {
    let op = flow.timeline.entry(candidate.entry).op;
    let message =
        format!("`neap.reuse` is \"must\", but {}: {why}", super::refusals::words(module, op, candidate.pair));
    Diagnostic::error(module.op(op).span, message)
        .help("say `neap.reuse = \"warn\"`, or remove the later reader")
        .unmet()
}

/// After the decision: arguments that must be overwritten, and warnings.
pub(super) fn check(
    module: &Module,
    cx: &mut Context<'_>,
    before: &Flow<'_>,
    decisions: &[Decision],
) -> Result<(), Diagnostic> {
    let func = before.timeline.func;
    for (slot, info) in before.values.iter() {
        let Site::Argument(index) = info.site else { continue };
        let reuse = Reuse::of(module.arg_attr(func, index as usize, "neap.reuse"));
        if !matches!(reuse, Reuse::Must | Reuse::Warn) || overwritten(before, decisions, slot) {
            continue;
        }
        let message =
            format!("`neap.reuse` is \"{}\", but nothing overwrites {}", word(reuse), value_name(module, info.value));
        if reuse == Reuse::Must {
            return Err(Diagnostic::error(module.op(func).span, message).unmet());
        }
        cx.remarks.push(Diagnostic::new(Severity::Warning, module.op(func).span, message));
    }
    Ok(())
}

fn overwritten(flow: &Flow<'_>, decisions: &[Decision], owner: crate::analysis::values::Slot) -> bool {
    let function = decisions.iter().find(|decision| decision.body.0 == 0);
    function.is_some_and(|decision| {
        let storage = decision.answer.draft.storage(owner);
        let over = |index: &usize| Some(decision.answer.problem.spec().in_place[*index].operand) == storage;
        let _ = flow;
        decision.taken.in_place.iter().any(over)
    })
}

fn word(reuse: Reuse) -> &'static str {
    match reuse {
        Reuse::Never => "never",
        Reuse::Auto => "auto",
        Reuse::Warn => "warn",
        Reuse::Must => "must",
    }
}
