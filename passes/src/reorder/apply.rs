//! Brings a decision into the module: the order of blocks, what is taken, bounds. Touches nothing that is so already.

use super::block::Answer;
use super::{Decision, constants};
use crate::analysis::Flow;
use crate::analysis::attrs::put;
use crate::analysis::candidates::Pair;
use crate::analysis::order_problem::Readers;
use crate::analysis::timeline::{EntryId, Kind};
use crate::analysis::values::Home;
use crate::assign_offsets::packer_of;
use crate::pass::Context;
use neap_ir::plan::{self, InPlace, Place};
use neap_ir::{Attr, Module, OpId};
use neap_order::{Options, Proof};
use rustc_hash::{FxHashMap, FxHashSet};

/// Writes order, `neap.inplace` and `neap.place` of all bodies; says whether anything changed.
pub(super) fn write(module: &mut Module, before: &Flow<'_>, readers: &Readers, decisions: &[Decision]) -> bool {
    let mut changed = false;
    for decision in decisions {
        let body = before.timeline.body(decision.body);
        let ops: Vec<OpId> = if decision.order.is_sorted() {
            body.entries.iter().map(|id| before.timeline.entry(*id).op).collect()
        } else {
            constants::arrange(module, before, readers, decision.body, &decision.order)
        };
        if !module.block_ops(body.block).eq(ops.iter().copied()) {
            module.set_block_order(body.block, &ops);
            changed = true;
        }
        changed |= write_taken(module, before, decision);
    }
    changed
}

fn write_taken(module: &mut Module, before: &Flow<'_>, decision: &Decision) -> bool {
    let mut in_place: FxHashMap<EntryId, Vec<InPlace>> = FxHashMap::default();
    let mut placed: FxHashMap<EntryId, Vec<Place>> = FxHashMap::default();
    let taken = decision.taken.in_place.iter().map(|index| decision.filled.in_place[*index]);
    for candidate in taken.chain(decision.taken.placement.iter().map(|index| decision.filled.placement[*index])) {
        match candidate.pair {
            Pair::InPlace(pair) => in_place.entry(candidate.entry).or_default().push(pair),
            Pair::Place(pair) => placed.entry(candidate.entry).or_default().push(pair),
        }
    }
    let mut changed = false;
    for id in &before.timeline.body(decision.body).entries {
        let op = before.timeline.entry(*id).op;
        let list = in_place.remove(id).unwrap_or_default();
        if module.in_places(op, plan::INPLACE) != list {
            module.set_in_places(op, plan::INPLACE, &list);
            changed = true;
        }
        let list = placed.remove(id).unwrap_or_default();
        if module.places(op, plan::PLACE) != list {
            module.set_places(op, plan::PLACE, &list);
            changed = true;
        }
    }
    changed
}

/// Writes `neap.lower_bound` and `neap.proof`; says whether anything changed.
pub(super) fn bounds(module: &mut Module, before: &Flow<'_>, after: &Flow<'_>, decisions: &[Decision]) -> bool {
    let (mut bound, mut proof) = (floor(module, before), "none");
    if let [decision] = decisions {
        bound = bound.max(decision.answer.lower_bound);
        if bound == after.profile.peak {
            proof = match decision.answer.proof {
                Proof::Flow => "certified",
                Proof::Search => "search",
                Proof::Tree => "tree",
                Proof::None => "none",
            };
        }
    }
    let func = before.timeline.func;
    let bound = module.i64_attr(bound.min(after.profile.peak) as i64);
    put(module, func, plan::LOWER_BOUND, bound) | put(module, func, plan::PROOF, Attr::str(proof))
}

/// What some operation holds in any order: its own operands, results and scratch, each storage once, less what its candidates could
/// share. Of an operation with bodies nothing is said.
fn floor(module: &Module, flow: &Flow<'_>) -> u64 {
    let scratch: FxHashMap<OpId, u64> = flow.scratch.iter().map(|scratch| (scratch.op, scratch.bytes)).collect();
    let mut most = 0;
    for (_, entry) in flow.timeline.iter().filter(|(_, entry)| entry.kind == Kind::Step && entry.bodies.is_empty()) {
        let mut seen = FxHashSet::default();
        let values = module.operands(entry.op).chain(module.results(entry.op).iter().copied());
        let slots = values.filter_map(|value| flow.values.slot(value)).map(|slot| flow.values.owner(slot));
        let own = slots.filter(|owner| flow.values.home(*owner) == Home::Arena && seen.insert(*owner));
        let own: u64 = own.map(|owner| flow.values.info(owner).bytes).fold(0, u64::saturating_add);
        let bytes = |value: Option<neap_ir::ValueId>| {
            let slot = value.and_then(|value| flow.values.slot(value));
            slot.map_or(0, |slot| flow.values.info(slot).bytes)
        };
        let shared =
            module.in_places(entry.op, plan::MAY_INPLACE).iter().map(|pair| pair.result).collect::<FxHashSet<u32>>();
        let over = shared
            .into_iter()
            .map(|index| bytes(module.data_results(entry.op).get(index as usize).copied()))
            .sum::<u64>();
        let parts = module.places(entry.op, plan::MAY_PLACE);
        let parts = parts.iter().map(|part| bytes(module.data_operand(entry.op, part.operand as usize))).sum::<u64>();
        let held = own.saturating_add(scratch.get(&entry.op).copied().unwrap_or(0));
        most = most.max(held.saturating_sub(over).saturating_sub(parts));
    }
    most
}

/// Counts what says whether a longer search could help.
pub(super) fn count_search(cx: &mut Context<'_>, decisions: &[Decision], after: &Flow<'_>, options: &Options) {
    // The stages of a search that does not come to its end have a quarter of the effort each, or more.
    let open = |answer: &Answer| answer.lower_bound < answer.peak && answer.nodes >= (options.effort / 4).max(1);
    let cut = decisions.iter().filter(|decision| open(&decision.answer)).count();
    cx.count("cut-short", cut as u64);
    let within = |answer: &Answer| options.budget.is_some_and(|budget| answer.peak <= budget);
    let within =
        decisions.iter().any(|decision| within(&decision.answer) && decision.answer.lower_bound < decision.answer.peak);
    cx.count("within-budget", within.into());
    if let ([decision], Some(_)) = (decisions, packer_of(cx.profile))
        && decision.answer.peak < after.profile.peak
    {
        cx.count("least-peak", decision.answer.peak);
    }
}

/// Counts what was decided.
pub(super) fn count(cx: &mut Context<'_>, decisions: &[Decision]) {
    for decision in decisions {
        let mut sorted = decision.order.clone();
        sorted.sort_unstable();
        let moved = sorted.iter().zip(&decision.order).filter(|(a, b)| a != b).count();
        cx.count("moved", moved as u64);
        cx.count("in-place", decision.taken.in_place.len() as u64);
        cx.count("placed", decision.taken.placement.len() as u64);
        cx.count("nodes", decision.answer.nodes);
    }
}
