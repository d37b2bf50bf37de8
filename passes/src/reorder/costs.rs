//! What stands at the peak of a function and why, and what each lock edge and each kept value there costs: the peak with it removed.
//!
//! A price is the solver's answer to the changed problem, so it is exact where both answers are proved, and else what was found. Only what is
//! near the peak is priced, and of edges only those that no other path repeats: nothing else can cost anything by itself, or be found to in
//! reasonable time.

use super::Decision;
use crate::analysis::Flow;
use crate::analysis::names::{op_name, value_name};
use crate::analysis::timeline::EntryId;
use crate::analysis::values::Site;
use crate::pass::Context;
use crate::priced::{Kind, Priced};
use neap_ir::module::Def;
use neap_ir::{Module, ValueId};
use neap_order::{Change, OpId, Options, StorageId, Why};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// So many edges and so many values are priced at most, those nearest to the peak.
const MOST: usize = 12;

/// Nodes for one price.
const EFFORT: u64 = 200_000;
/// Operations times prices for all.
const MOST_WORK: usize = 2_000_000;

/// The attribute that keeps a value.
const KEEP: &str = "neap.keep";

/// So many values are named at most.
const MOST_NAMED: usize = 12;

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
    let view = View { module, flow, decision, order: order(decision) };
    let Ok(run) = neap_order::simulate(&decision.answer.problem, &view.order, &decision.taken) else { return };
    let Some(op) = view.order.get(run.peak_step).copied() else { return };
    let holders =
        neap_order::holders(&decision.answer.problem, &view.order, &decision.taken, run.peak_step).unwrap_or_default();
    let at = view.op(op);
    let named: Vec<String> = holders.iter().take(MOST_NAMED).map(|holder| view.holder(holder)).collect();
    let more = holders.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    let message =
        format!("the peak of {} bytes is at step {}, {at}: {}{more}", run.peak, run.peak_step, named.join(", "));
    let peak_op = flow.timeline.entry(decision.answer.draft.ops[op.index()]).op;
    cx.remark(module, peak_op, message);

    let options = short(options);
    let kept: Vec<(StorageId, u64)> = holders
        .iter()
        .filter(|h| h.why == Why::Kept)
        .flat_map(|h| h.storage.members.iter().map(|s| (*s, h.storage.size)))
        .collect();
    let kept = kept.into_iter().filter(|(s, _)| view.is_kept(*s)).take(MOST).map(|(s, _)| Change::NotKept(s));
    let edges = view.lock_edges(run.peak_step).into_iter().take(MOST).map(Change::WithoutDep);
    let prices = MOST_WORK / view.order.len().max(1);
    let mut free = 0u64;
    for change in kept.chain(edges).take(prices) {
        if (cx.stop)() {
            return;
        }
        let stop = cx.stop;
        let mut watch = |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let Ok(other) = neap_order::what_if(&decision.answer.problem, &options, change, &mut watch) else { continue };
        if other.peak >= run.peak {
            free += 1;
            continue;
        }
        let message = format!(
            "{} costs {} bytes: without it the peak would be {}",
            view.change(change),
            run.peak - other.peak,
            other.peak
        );
        cx.count("priced", 1);
        cx.remark(module, peak_op, message);
        if !view.can_go(change) {
            continue;
        }
        cx.prices.push(Priced {
            function: module.sym_name(flow.timeline.func).unwrap_or_default().to_owned(),
            kind: if matches!(change, Change::WithoutDep(_)) { Kind::Lock } else { Kind::Kept },
            what: view.change(change),
            bytes: run.peak - other.peak,
            peak: other.peak,
        });
    }
    if free > 0 {
        cx.count("priced", free);
        let message = format!(
            "{free} other lock edges and kept values near the peak cost nothing by themselves, as far as was found"
        );
        cx.remark(module, peak_op, message);
    }
}

/// Options of a search for one price.
pub(super) fn short(options: &Options) -> Options {
    Options { effort: options.effort.min(EFFORT), alternatives: 0, budget: None, ..options.clone() }
}

/// Counts the cycles of the order, where every operation that computes something says its own.
pub(super) fn makespan(module: &Module, cx: &mut Context<'_>, flow: &Flow<'_>, decisions: &[Decision]) {
    let [decision] = decisions else { return };
    let says = |id: &EntryId| {
        let op = flow.timeline.entry(*id).op;
        let slots = module.data_results(op).iter().filter_map(|value| flow.values.slot(*value));
        let mut own = slots.filter(|slot| flow.values.owner(*slot) == *slot);
        module.attr(op, "neap.cycles").is_some() || own.next().is_none()
    };
    if decision.order.iter().all(says)
        && let Ok(cycles) = neap_order::makespan(&decision.answer.problem, &order(decision), &decision.taken)
    {
        cx.count("makespan", cycles);
    }
}

fn order(decision: &Decision) -> Vec<OpId> {
    let ops = &decision.answer.draft.ops;
    decision.order.iter().filter_map(|id| ops.binary_search(id).ok().map(|at| OpId(at as u32))).collect()
}

struct View<'a, 'f> {
    module: &'a Module,
    flow: &'a Flow<'f>,
    decision: &'a Decision,
    order: Vec<OpId>,
}

impl View<'_, '_> {
    fn op(&self, op: OpId) -> String {
        op_name(self.module, self.flow.timeline.entry(self.decision.answer.draft.ops[op.index()]).op)
    }

    fn value(&self, storage: StorageId) -> ValueId {
        self.flow.values.info(self.decision.answer.draft.owners[storage.index()]).value
    }

    fn name(&self, storage: StorageId) -> String {
        value_name(self.module, self.value(storage))
    }

    fn holder(&self, holder: &neap_order::Holder) -> String {
        let names: Vec<String> = holder.storage.members.iter().take(3).map(|s| self.name(*s)).collect();
        let why = match holder.why {
            Why::Written => "written here".to_owned(),
            Why::LastRead => "read here for the last time".to_owned(),
            Why::NeededBy(op) => format!("needed by {}", self.op(op)),
            Why::Kept => "kept".to_owned(),
        };
        format!("{} ({} bytes, {why})", names.join(" = "), holder.storage.size)
    }

    fn is_kept(&self, storage: StorageId) -> bool {
        let storage = &self.decision.answer.problem.spec().storages[storage.index()];
        storage.live_out || storage.whole_run
    }

    /// Whether somebody asked for what a change takes away: results and arguments stay for the caller's sake.
    fn can_go(&self, change: Change) -> bool {
        let (Change::NotKept(storage) | Change::Free(storage)) = change else { return true };
        let module = self.module;
        match module.value(self.value(storage)).def() {
            Def::Result(op, _) => module.attr(op, KEEP).is_some(),
            Def::Arg(block, index) => {
                module.arg_attr(module.region_op(module.block_region(block)), index as usize, KEEP).is_some()
            }
        }
    }

    fn change(&self, change: Change) -> String {
        match change {
            Change::WithoutDep(index) => {
                let (first, then) = self.decision.answer.problem.spec().deps[index];
                format!("that {} runs before {}", self.op(first), self.op(then))
            }
            Change::NotKept(storage) | Change::Free(storage) => {
                let kind = match self.flow.values.info(self.decision.answer.draft.owners[storage.index()]).site {
                    Site::Argument(_) => "held for the whole run",
                    _ => "kept to the end",
                };
                format!("that {} is {kind}", self.name(storage))
            }
        }
    }

    /// Edges that effects alone demand, those that end nearest to the peak first; none that another path repeats.
    fn lock_edges(&self, peak_step: usize) -> Vec<usize> {
        let spec = self.decision.answer.problem.spec();
        let mut place = vec![0usize; self.order.len()];
        self.order.iter().enumerate().for_each(|(at, op)| place[op.index()] = at);
        let mut seen = FxHashSet::default();
        let mut found: Vec<usize> = (0..spec.deps.len())
            .filter(|index| seen.insert(spec.deps[*index]) && self.is_lock(spec.deps[*index]))
            .collect();
        let far = |op: OpId| place[op.index()].abs_diff(peak_step);
        found.sort_by_key(|index| {
            let (first, then) = spec.deps[*index];
            (far(first).min(far(then)), far(first).max(far(then)), *index)
        });
        found.truncate(4 * MOST);
        found.retain(|index| !self.repeated(spec.deps[*index], &place));
        found
    }

    /// Whether no value of `first` is read by `then`.
    fn is_lock(&self, (first, then): (OpId, OpId)) -> bool {
        let ops = &self.decision.answer.draft.ops;
        let entry = |op: OpId| self.flow.timeline.entry(ops[op.index()]);
        let (first, then) = (entry(first), entry(then));
        // What the bodies of an operation read is not among its operands.
        let by = |value: &ValueId| matches!(self.module.value(*value).def(), Def::Result(op, _) if op == first.op);
        then.bodies.is_empty() && !self.module.data_operands(then.op).any(|value| by(&value))
    }

    /// Whether other edges have `first` before `then` as well. Only what stands between the two is looked at.
    fn repeated(&self, (first, then): (OpId, OpId), place: &[usize]) -> bool {
        let problem = &self.decision.answer.problem;
        let mut seen = FxHashSet::default();
        let mut stack: Vec<OpId> = problem.successors(first).filter(|next| *next != then).collect();
        while let Some(op) = stack.pop() {
            if op == then {
                return true;
            }
            if place[op.index()] < place[then.index()] && seen.insert(op) {
                stack.extend(problem.successors(op));
            }
        }
        false
    }
}
