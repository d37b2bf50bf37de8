//! Where what depends on constants alone stands.
//!
//! A constant has no step: it stands right before its first reader. An operation that reads constants alone (a weight that is
//! dequantized) has nothing to free, so a greedy order would run all of them first; it is moved down to right before its first reader. That
//! never raises the peak: its result is live no longer than before, and while its reader runs it is held in any case.

use crate::analysis::Flow;
use crate::analysis::order_problem::{Draft, Readers};
use crate::analysis::timeline::{BodyId, EntryId, Kind};
use crate::analysis::values::{Home, Site};
use crate::effects::FuncEffects;
use neap_ir::{Module, OpId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The operations of a body in the new order of those that take steps.
pub(super) fn arrange(
    module: &Module,
    flow: &Flow<'_>,
    readers: &Readers,
    body: BodyId,
    order: &[EntryId],
) -> Vec<OpId> {
    let timeline = &flow.timeline;
    let place: FxHashMap<EntryId, usize> = order.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let mut before: Vec<Vec<EntryId>> = vec![Vec::new(); order.len() + 1];
    let mut last = Vec::new();
    for id in &timeline.body(body).entries {
        match timeline.entry(*id).kind {
            Kind::Step => {}
            Kind::Terminator => last.push(*id),
            Kind::Constant => {
                let results =
                    module.results(timeline.entry(*id).op).iter().filter_map(|value| flow.values.slot(*value));
                let read = results.flat_map(|slot| &readers.of[flow.values.owner(slot).index()]);
                let first = read.filter_map(|reader| place.get(reader)).min();
                before[first.copied().unwrap_or(order.len())].push(*id);
            }
        }
    }
    let mut ops = Vec::with_capacity(timeline.body(body).entries.len());
    for (at, constants) in before.iter().enumerate() {
        ops.extend(constants.iter().chain(order.get(at)));
    }
    ops.extend(last);
    ops.iter().map(|id| timeline.entry(*id).op).collect()
}

/// Whether a constant of the body has operands, so that it cannot stand anywhere.
pub(super) fn depend_on_values(module: &Module, flow: &Flow<'_>, body: BodyId) -> bool {
    let constants = flow.timeline.body(body).entries.iter().map(|id| flow.timeline.entry(*id));
    constants.filter(|entry| entry.kind == Kind::Constant).any(|entry| module.operands(entry.op).len() > 0)
}

/// The order with operations that depend on constants alone right before their first reader.
pub(super) fn sink(
    module: &Module,
    flow: &Flow<'_>,
    effects: &FuncEffects,
    draft: &Draft,
    order: &[EntryId],
) -> Vec<EntryId> {
    let loose = loose(module, flow, effects, draft);
    if loose.is_empty() {
        return order.to_vec();
    }
    let mut sunk = Vec::with_capacity(order.len());
    let mut done: FxHashSet<EntryId> = FxHashSet::default();
    for id in order.iter().filter(|id| !loose.contains(id)) {
        // Depth first below the reader, with a stack of our own: what it needs comes right before it.
        let mut stack = vec![(*id, false)];
        while let Some((id, ready)) = stack.pop() {
            if ready {
                sunk.push(id);
                continue;
            }
            if !done.insert(id) {
                continue;
            }
            stack.push((id, true));
            let needed =
                needs(module, flow, id).into_iter().filter(|need| loose.contains(need) && !done.contains(need));
            let mut needed: Vec<EntryId> = needed.collect();
            needed.sort_unstable();
            needed.dedup();
            stack.extend(needed.into_iter().rev().map(|need| (need, false)));
        }
    }
    // What nobody in the body reads keeps its place relative to the end.
    sunk.extend(order.iter().filter(|id| loose.contains(id) && !done.contains(id)));
    sunk
}

/// Operations without effects that read constants, and results of such operations, alone.
fn loose(module: &Module, flow: &Flow<'_>, effects: &FuncEffects, draft: &Draft) -> FxHashSet<EntryId> {
    let mut found: FxHashSet<EntryId> = FxHashSet::default();
    let grouped: FxHashSet<u32> = draft.spec.groups.iter().flatten().map(|op| op.0).collect();
    for (at, id) in draft.ops.iter().enumerate() {
        let entry = flow.timeline.entry(*id);
        let plain = entry.bodies.is_empty() && effects.get(entry.op).is_none() && !grouped.contains(&(at as u32));
        let fixed = module.operands(entry.op).all(|value| {
            let Some(slot) = flow.values.slot(value) else { return false };
            let made = match flow.values.info(slot).site {
                Site::Result(def, _) => found.contains(&def),
                _ => false,
            };
            made || flow.values.home(slot) == Home::Constant
        });
        let reads = module.operands(entry.op).len() > 0;
        let tokens = module.results(entry.op).iter().any(|value| module.is_token(*value));
        if plain && fixed && reads && !tokens {
            found.insert(*id);
        }
    }
    found
}

/// The operations whose results an operation reads, itself or in its bodies.
fn needs(module: &Module, flow: &Flow<'_>, id: EntryId) -> Vec<EntryId> {
    let inside = id.0..flow.timeline.entry(id).last.0;
    let ops = inside.map(|id| flow.timeline.entry(EntryId(id)).op);
    let operands = ops.flat_map(|op| module.operands(op));
    operands.filter_map(|value| flow.timeline.find(module.defining_op(value)?)).collect()
}
