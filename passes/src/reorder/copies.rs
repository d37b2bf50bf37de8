//! What joins that copy would cost without the copy, so that who wants none knows what to ask for and what it takes.
//!
//! Placing a part brings the whole to life when the first part is made, with all its bytes. Where that raises the peak the copy stays, and the price is
//! the solver's answer to the problem with the parts demanded: exact where it is proved, and else what was found.

use super::Decision;
use crate::analysis::Flow;
use crate::analysis::candidates::Pair;
use crate::analysis::names::{op_name, value_name};
use crate::analysis::timeline::EntryId;
use crate::pass::Context;
use neap_ir::Module;
use neap_order::{Options, Problem, Proof};
use std::ops::ControlFlow;

/// So many joins are priced at most, those that copy most.
const MOST: usize = 6;

/// Operations times prices for all.
const MOST_WORK: usize = 200_000;

/// A join that copies some of its parts.
struct Join {
    entry: EntryId,
    /// Bytes that it copies.
    copied: u64,
    /// Its candidates.
    parts: Vec<usize>,
}

/// Adds the remarks about the function's own body.
pub(super) fn explain(
    module: &Module,
    cx: &mut Context<'_>,
    flow: &Flow<'_>,
    options: &Options,
    decisions: &[Decision],
) {
    // Of nested bodies the solver knows an estimate.
    let [decision] = decisions else { return };
    let options = super::costs::short(options);
    let prices = MOST.min(MOST_WORK / decision.order.len().max(1));
    for join in joins(decision).into_iter().take(prices) {
        if (cx.stop)() {
            return;
        }
        let mut spec = decision.answer.problem.spec().clone();
        for part in &join.parts {
            spec.placement[*part].required = true;
        }
        let stop = cx.stop;
        let mut watch = |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let Ok(problem) = Problem::new(spec) else { continue };
        let Ok(without) = neap_order::solve(&problem, &options, &mut watch) else { continue };
        let op = flow.timeline.entry(join.entry).op;
        let more = match without.peak.checked_sub(decision.answer.peak) {
            None | Some(0) => "no more".to_owned(),
            Some(more) => format!("{more} bytes more"),
        };
        let sure = if without.proof == Proof::None { "as far as was found" } else { "and no less can do" };
        let message = format!(
            "{} copies {} bytes; `--reuse {}=must` has all its parts written straight into it, for a peak of {}: {more}, {sure}",
            op_name(module, op),
            join.copied,
            value_name(module, module.data_results(op)[0]).replace('`', ""),
            without.peak
        );
        cx.count("priced", 1);
        cx.remark(module, op, message);
    }
}

/// Joins that copy parts which could be placed, those that copy most first.
fn joins(decision: &Decision) -> Vec<Join> {
    let spec = decision.answer.problem.spec();
    let mut found: Vec<Join> = Vec::new();
    for (index, candidate) in decision.filled.placement.iter().enumerate() {
        if found.last().is_none_or(|join| join.entry != candidate.entry) {
            found.push(Join { entry: candidate.entry, copied: 0, parts: Vec::new() });
        }
        let Some(join) = found.last_mut() else { continue };
        join.parts.push(index);
        if decision.taken.placement.binary_search(&index).is_err() {
            join.copied += spec.storages[spec.placement[index].part.index()].size;
        }
    }
    // What no order can have is no price.
    let refused = |join: &Join| {
        let mut never = decision.filled.refused.iter();
        never.any(|(candidate, _)| candidate.entry == join.entry && matches!(candidate.pair, Pair::Place(_)))
    };
    found.retain(|join| join.copied > 0 && !refused(join));
    found.sort_by_key(|join| (std::cmp::Reverse(join.copied), join.entry));
    found
}
