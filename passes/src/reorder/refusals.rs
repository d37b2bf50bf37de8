//! Why a candidate was not taken: one remark each, with who reads the bytes later, at which step, and what it would have saved.

use super::Decision;
use crate::analysis::Flow;
use crate::analysis::candidates::{Candidate, Pair, Reuse};
use crate::analysis::names::{op_name, value_name};
use crate::analysis::timeline::EntryId;
use crate::pass::Context;
use neap_ir::diag::{Diagnostic, Severity};
use neap_ir::{Module, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;

/// Adds the remarks of all bodies, in the order of the listing.
pub(super) fn explain(
    module: &Module,
    cx: &mut Context<'_>,
    before: &Flow<'_>,
    after: &Flow<'_>,
    decisions: &[Decision],
) {
    let mut found: Vec<(EntryId, Pair, Diagnostic)> = Vec::new();
    for decision in decisions {
        let view = View::new(module, before, after, decision);
        for (candidate, why) in &decision.filled.refused {
            found.push(view.remark(candidate, &why.to_string()));
        }
        for (index, candidate) in decision.filled.in_place.iter().enumerate() {
            if decision.taken.in_place.binary_search(&index).is_err() && !view.same_again(index) {
                found.push(view.remark(candidate, &view.in_place(index)));
            }
        }
        for (index, candidate) in decision.filled.placement.iter().enumerate() {
            if decision.taken.placement.binary_search(&index).is_err() {
                found.push(view.remark(candidate, &view.placement(index)));
            }
        }
    }
    found.sort_by_key(|(entry, pair, _)| (*entry, key(*pair)));
    cx.count("refused", found.len() as u64);
    cx.remarks.extend(found.into_iter().map(|(_, _, remark)| remark));
}

fn key(pair: Pair) -> (u8, u32, u32) {
    match pair {
        Pair::InPlace(pair) => (0, pair.result, pair.operand),
        Pair::Place(pair) => (1, 0, pair.operand),
    }
}

/// What a candidate would have done.
pub(super) fn words(module: &Module, op: OpId, pair: Pair) -> String {
    let operand = |index: u32| name(module, module.data_operand(op, index as usize));
    let result = |index: u32| name(module, module.data_results(op).get(index as usize).copied());
    match pair {
        Pair::InPlace(pair) => format!("{} cannot overwrite {}", result(pair.result), operand(pair.operand)),
        Pair::Place(pair) => format!("{} cannot be written straight into {}", operand(pair.operand), result(0)),
    }
}

fn name(module: &Module, value: Option<ValueId>) -> String {
    value.map_or_else(|| "a value that is not there".to_owned(), |value| value_name(module, value))
}

/// One decision, with what the reasons look up.
struct View<'a, 'f> {
    module: &'a Module,
    before: &'a Flow<'f>,
    after: &'a Flow<'f>,
    decision: &'a Decision,
    /// By op of the problem: its place in the order.
    position: Vec<u32>,
    /// By storage of the problem that is overwritten: by which entry.
    overwritten: FxHashMap<u32, EntryId>,
    /// Storages of the problem that overwrite one.
    over: FxHashSet<u32>,
    /// Storages of the problem that lie in another one, or hold one.
    placed: FxHashSet<u32>,
    /// The order, in the problem's ids.
    order: Vec<neap_order::OpId>,
    /// How many more candidates are priced: each costs a look at the whole order.
    left: Cell<usize>,
}

/// Operations that pricing looks at, over all candidates of a body.
const PRICED: usize = 2_000_000;

impl<'a, 'f> View<'a, 'f> {
    fn new(module: &'a Module, before: &'a Flow<'f>, after: &'a Flow<'f>, decision: &'a Decision) -> View<'a, 'f> {
        let place: FxHashMap<EntryId, u32> =
            decision.order.iter().enumerate().map(|(at, id)| (*id, at as u32)).collect();
        let position = decision.answer.draft.ops.iter().map(|id| place[id]).collect();
        let spec = decision.answer.problem.spec();
        let taken =
            decision.taken.in_place.iter().map(|index| (spec.in_place[*index], decision.filled.in_place[*index].entry));
        let overwritten = taken.clone().map(|(item, entry)| (item.operand.0, entry)).collect();
        let over = taken.map(|(item, _)| item.result.0).collect();
        let placed = decision.taken.placement.iter().map(|index| spec.placement[*index]);
        let placed = placed.flat_map(|item| [item.part.0, item.whole.0]).collect();
        let place = |id: &EntryId| decision.answer.draft.ops.binary_search(id).map(|at| neap_order::OpId(at as u32));
        let order: Vec<_> = decision.order.iter().filter_map(|id| place(id).ok()).collect();
        let left = Cell::new(PRICED / order.len().max(1));
        View { module, before, after, decision, position, overwritten, over, placed, order, left }
    }

    fn remark(&self, candidate: &Candidate, why: &str) -> (EntryId, Pair, Diagnostic) {
        let op = self.before.timeline.entry(candidate.entry).op;
        let saved = self.bytes(op, candidate.pair);
        let message = format!("{}: {why} (would have saved {saved} bytes)", words(self.module, op, candidate.pair));
        let severity = if candidate.reuse == Reuse::Warn { Severity::Warning } else { Severity::Remark };
        (candidate.entry, candidate.pair, Diagnostic::new(severity, self.module.op(op).span, message))
    }

    /// What both sides would have had in common.
    fn bytes(&self, op: OpId, pair: Pair) -> u64 {
        let (result, operand) = match pair {
            Pair::InPlace(pair) => (pair.result, pair.operand),
            Pair::Place(pair) => (0, pair.operand),
        };
        let bytes = |value: Option<ValueId>| {
            let slot = value.and_then(|value| self.before.values.slot(value));
            slot.map_or(0, |slot| self.before.values.info(slot).bytes)
        };
        let result = bytes(self.module.data_results(op).get(result as usize).copied());
        result.min(bytes(self.module.data_operand(op, operand as usize)))
    }

    /// Whether a candidate is another one once more, taken or spoken of: the same value is an operand twice.
    fn same_again(&self, index: usize) -> bool {
        let spec = self.decision.answer.problem.spec();
        let item = &spec.in_place[index];
        let same = |other: &usize| {
            let other = &spec.in_place[*other];
            other.op == item.op && other.result == item.result && other.operand == item.operand
        };
        (0..index).any(|other| same(&other)) || self.decision.taken.in_place.iter().any(same)
    }

    fn in_place(&self, index: usize) -> String {
        let spec = self.decision.answer.problem.spec();
        let item = &spec.in_place[index];
        let here = self.position[item.op.index()];
        let readers = &spec.storages[item.operand.index()].readers;
        let later = readers.iter().filter(|reader| self.position[reader.index()] > here);
        if let Some(reader) = later.min_by_key(|reader| self.position[reader.index()]) {
            return format!("{} still reads it", self.at(self.decision.answer.draft.ops[reader.index()]));
        }
        if let Some(entry) = self.overwritten.get(&item.operand.0) {
            return format!("{} overwrites it", self.at(*entry));
        }
        if self.over.contains(&item.result.0) {
            return "it overwrites another operand".to_owned();
        }
        if self.placed.contains(&item.operand.0) || self.placed.contains(&item.result.0) {
            return "one of them shares bytes with the parts of a whole".to_owned();
        }
        if spec.storages[item.operand.index()].class != spec.storages[item.result.index()].class {
            return "they are of different classes".to_owned();
        }
        let mut more = self.decision.taken.clone();
        more.in_place.push(index);
        self.price(more)
    }

    /// What taking one more would do to the peak of the order as it is.
    fn price(&self, mut more: neap_order::Taken) -> String {
        more.in_place.sort_unstable();
        more.placement.sort_unstable();
        let left = self.left.get();
        let answer = &self.decision.answer;
        let run = (left > 0).then(|| {
            self.left.set(left - 1);
            neap_order::simulate(&answer.problem, &self.order, &more).ok()
        });
        match run.flatten().map(|run| run.peak) {
            Some(peak) if peak > answer.peak => format!("the peak would rise by {} bytes", peak - answer.peak),
            _ => "it would not lower the peak".to_owned(),
        }
    }

    fn placement(&self, index: usize) -> String {
        let spec = self.decision.answer.problem.spec();
        let item = &spec.placement[index];
        let taken = self.decision.taken.placement.iter().map(|index| (&spec.placement[*index], *index));
        let elsewhere = taken.filter(|(other, _)| other.part == item.part).map(|(_, index)| index).next();
        if let Some(other) = elsewhere {
            return format!("it lies in what {} makes", self.at(self.decision.filled.placement[other].entry));
        }
        if let Some(entry) = self.overwritten.get(&item.part.0) {
            return format!("{} overwrites it", self.at(*entry));
        }
        if self.over.contains(&item.part.0) || self.over.contains(&item.whole.0) {
            return "one of them overwrites an operand".to_owned();
        }
        let mut more = self.decision.taken.clone();
        more.placement.push(index);
        self.price(more)
    }

    /// An operation with its step in the new order.
    fn at(&self, entry: EntryId) -> String {
        let op = self.before.timeline.entry(entry).op;
        let step = self.after.timeline.find(op).map_or(0, |id| self.after.timeline.entry(id).steps.begin);
        format!("{} at step {step}", op_name(self.module, op))
    }
}
