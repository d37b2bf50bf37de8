//! All bodies of a function, innermost first.

use super::{Decision, block, constants};
use crate::analysis::Flow;
use crate::analysis::candidates::{Filled, Judge, Why};
use crate::analysis::order_problem::{Drafts, Readers};
use crate::analysis::timeline::{BodyId, EntryId, Kind};
use crate::analysis::values::Site;
use crate::effects::FuncEffects;
use crate::locks;
use crate::pass::Context;
use neap_ir::Module;
use neap_ir::diag::Diagnostic;
use neap_ir::facts::{Role, Run};
use neap_order::{Options, OrderMode};

/// What the decisions of a function are made from, whatever the options.
pub(super) struct Ground {
    /// Who reads what.
    pub readers: Readers,
    /// What operations touch.
    effects: FuncEffects,
    /// By body: the order that effects demand beyond what values say.
    locks: Vec<Vec<(EntryId, EntryId)>>,
}

impl Ground {
    /// Gathers it.
    pub(super) fn new(module: &Module, flow: &Flow<'_>, cx: &Context<'_>) -> Ground {
        let func = flow.timeline.func;
        let readers = Readers::new(module, &flow.timeline, &flow.values);
        let effects = cx.effects(module, func);
        let mut edges = vec![Vec::new(); flow.timeline.bodies.len()];
        for lock in locks::missing(module, cx.facts, func, &effects).0 {
            let ends = (flow.timeline.find(lock.before), flow.timeline.find(lock.after));
            if let (Some(before), Some(after)) = ends {
                edges[flow.timeline.entry(before).body.index()].push((before, after));
            }
        }
        for (at, body) in flow.timeline.bodies.iter().enumerate() {
            // The end of a body may be an operation that nothing is known of: it stays the end.
            let Some(last) = body.entries.last().copied() else { continue };
            let entry = flow.timeline.entry(last);
            if entry.kind == Kind::Step && locks::is_terminator(module, cx.facts, entry.op) {
                let others = body.entries.iter().filter(|id| **id != last);
                edges[at].extend(others.map(|id| (*id, last)));
            }
        }
        Ground { readers, effects, locks: edges }
    }
}

/// Decides about every body.
pub(super) fn decide(
    module: &Module,
    flow: &Flow<'_>,
    ground: &Ground,
    cx: &Context<'_>,
    options: &Options,
) -> Result<Vec<Decision>, Diagnostic> {
    let judge = Judge::new(module, &flow.timeline, &flow.values, &flow.live, &ground.readers);
    let mut scratch = vec![0; flow.timeline.entries.len()];
    for item in &flow.scratch {
        if let Some(id) = flow.timeline.find(item.op) {
            scratch[id.index()] = item.bytes;
        }
    }
    // By entry: the most that one of its bodies needs, and what all of them need at once.
    let mut inside: Vec<(u64, u64)> = vec![(0, 0); flow.timeline.entries.len()];
    let mut decisions = Vec::new();
    for at in (0..flow.timeline.bodies.len() as u32).rev() {
        let body = BodyId(at);
        let drafts = Drafts {
            module,
            timeline: &flow.timeline,
            values: &flow.values,
            live: &flow.live,
            readers: &ground.readers,
            scratch: &scratch,
            locks: &ground.locks,
        };
        let mut draft = drafts.draft(body);
        let same_time = at_the_same_time(flow, body);
        let mut filled = judge.fill(&mut draft);
        if same_time {
            refuse_all(&mut draft, &mut filled);
        }
        let fixed = same_time || constants::depend_on_values(module, flow, body);
        let keep = Options { order: OrderMode::Input, ..options.clone() };
        let mut decision = block::solve(module, flow, draft, filled, if fixed { &keep } else { options }, cx.stop)?;
        if !fixed && options.order == OrderMode::Search {
            sink(module, flow, ground, &mut decision);
        }
        if let Some(owner) = flow.timeline.body(body).owner {
            let (most, all) = needs(flow, &decision, same_time);
            let sums = &mut inside[owner.index()];
            *sums = (sums.0.max(most), sums.1.saturating_add(all));
            let entry = flow.timeline.entry(owner);
            if entry.bodies.first() == Some(&body) {
                let extra = sums.0.saturating_add(sums.1);
                scratch[owner.index()] = scratch[owner.index()].saturating_add(extra).min(i64::MAX as u64);
            }
        }
        decisions.push(decision);
    }
    Ok(decisions)
}

/// Moves what depends on constants alone down to its first reader, where that costs nothing.
fn sink(module: &Module, flow: &Flow<'_>, ground: &Ground, decision: &mut Decision) {
    let order = constants::sink(module, flow, &ground.effects, &decision.answer.draft, &decision.order);
    if order == decision.order {
        return;
    }
    let place = |id: &EntryId| decision.answer.draft.ops.binary_search(id).map(|at| neap_order::OpId(at as u32));
    let Ok(ops) = order.iter().map(place).collect::<Result<Vec<_>, _>>() else { return };
    let sunk = neap_order::simulate(&decision.answer.problem, &ops, &decision.taken);
    if let Ok(sunk) = sunk
        && sunk.peak <= decision.answer.peak
    {
        decision.order = order;
    }
}

/// What a body adds to the operation around it: the most its own values need in a step, and what its arguments need all along.
fn needs(flow: &Flow<'_>, decision: &Decision, same_time: bool) -> (u64, u64) {
    let draft = &decision.answer.draft;
    let place = |id: &EntryId| draft.ops.binary_search(id).map(|at| neap_order::OpId(at as u32));
    let ops: Vec<_> = decision.order.iter().filter_map(|id| place(id).ok()).collect();
    let Ok(run) = neap_order::simulate(&decision.answer.problem, &ops, &decision.taken) else { return (0, 0) };
    let mut change = vec![0i128; ops.len() + 2];
    let mut all = 0u64;
    for storage in &run.storages {
        let first = storage.members[0].index();
        if first >= draft.outside {
            continue;
        }
        if same_time || matches!(flow.values.info(draft.owners[first]).site, Site::BodyArg(_)) {
            all = all.saturating_add(storage.size);
            continue;
        }
        change[storage.begin] += i128::from(storage.size);
        change[storage.end] -= i128::from(storage.size);
    }
    let (mut held, mut most) = (0i128, 0i128);
    for (step, op) in ops.iter().enumerate() {
        held += change[step];
        most = most.max(held + i128::from(draft.spec.ops[op.index()].scratch));
    }
    (u64::try_from(most).unwrap_or(u64::MAX), all)
}

/// Whether a body runs at the same time as something else, so that nothing in it is free before the whole ends.
fn at_the_same_time(flow: &Flow<'_>, body: BodyId) -> bool {
    let mut at = body;
    while let Some(owner) = flow.timeline.body(at).owner {
        let entry = flow.timeline.entry(owner);
        if entry.run == Run::Parallel || entry.facts.role == Role::AsyncStart {
            return true;
        }
        at = entry.body;
    }
    false
}

fn refuse_all(draft: &mut crate::analysis::order_problem::Draft, filled: &mut Filled) {
    draft.spec.in_place.clear();
    draft.spec.placement.clear();
    let all: Vec<_> = filled.in_place.drain(..).chain(filled.placement.drain(..)).collect();
    filled.refused.extend(all.into_iter().map(|candidate| (candidate, Why::SameTime)));
}
