//! Small moves that let a runtime's own packer lose fewer bytes, under the same peak.
//!
//! A runtime that packs by its own rule may lose bytes between storages that another order of the same peak does not lose. From a given order, one
//! operation at a time is moved to another legal place; a move is kept if the peak stays and the rule's arena does not grow. The moves come from a
//! fixed seed and their number depends on the graph alone.

use super::block::Answer;
use crate::random::below;
use neap_order::{OpId, Taken, simulate};
use neap_pack::{Item, Method, Options, Problem, Region};

/// So many operations are simulated and packed again at most, over all moves.
const MOST_WORK: usize = 1_500_000;

/// So many moves at most.
const MOST_MOVES: usize = 4_000;

/// The answer's order with moves that lower the arena under `method`, if any do.
pub(super) fn polish(
    answer: &Answer,
    order: &[OpId],
    taken: &Taken,
    (method, align): (Method, u64),
    stop: &dyn Fn() -> bool,
) -> Option<Vec<OpId>> {
    let moves = MOST_MOVES.min(MOST_WORK / order.len().max(1));
    let (peak, first) = score(answer, order, taken, method, align)?;
    let (mut best, mut height) = (order.to_vec(), first);
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..moves {
        if height <= peak || stop() {
            break;
        }
        let Some(next) = moved(answer, &best, &mut random) else { continue };
        if let Some((its_peak, its_height)) = score(answer, &next, taken, method, align)
            && its_peak <= peak
            && its_height <= height
        {
            (best, height) = (next, its_height);
        }
    }
    (height < first).then_some(best)
}

/// Peak and arena of an order; none if it is not legal.
fn score(answer: &Answer, order: &[OpId], taken: &Taken, method: Method, align: u64) -> Option<(u64, u64)> {
    let run = simulate(&answer.problem, order, taken).ok()?;
    let spec = answer.problem.spec();
    let items = run.storages.iter().filter(|storage| storage.size > 0).map(|storage| {
        let mut item = Item::new(storage.begin as u64, storage.end as u64, storage.size);
        item.align = align;
        item.held = storage.members.iter().any(|member| spec.storages[member.index()].whole_run);
        item
    });
    let problem = Problem::new(items.collect(), vec![Region { capacity: None, align }], Vec::new(), Vec::new()).ok()?;
    let outcome = neap_pack::solve(&problem, &Options { method, ..Options::default() }, &mut |_| false);
    Some((run.peak, outcome.height()?))
}

/// The order with one operation in another place between what it needs and what needs it.
fn moved(answer: &Answer, order: &[OpId], random: &mut u64) -> Option<Vec<OpId>> {
    let mut place = vec![0; order.len()];
    for (at, op) in order.iter().enumerate() {
        place[op.index()] = at;
    }
    let from = below(random, order.len());
    let op = order[from];
    let low = answer.problem.predecessors(op).map(|other| place[other.index()] + 1).max().unwrap_or(0);
    let high = answer.problem.successors(op).map(|other| place[other.index()]).min().unwrap_or(order.len());
    // Places `low..high` with the operation itself taken out: one less.
    let to = low + below(random, high.saturating_sub(low).max(1));
    if to == from || high <= low {
        return None;
    }
    let mut next = order.to_vec();
    next.remove(from);
    next.insert(to.min(next.len()), op);
    Some(next)
}
