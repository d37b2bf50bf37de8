//! Where each stay lies: first in the order of events, each in the gap that has been free the longest (or the lowest one), so that nobody waits for bytes; where that leaves no
//! gap, the packing solver is asked for the whole memory.

use crate::clock::Clock;
use crate::problem::{PoolId, Problem};
use crate::stays::Sequence;
use neap_pack::{Item, Method, Region, Verdict};
use std::collections::BTreeMap;

/// A memory in which something found no place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NoPlace {
    pub(crate) pool: PoolId,
    /// The event at which it was missing.
    pub(crate) event: u32,
}

/// How a gap is chosen among those that fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    /// Free the longest.
    Oldest,
    /// The smallest, then the lowest.
    Tightest,
}

/// An offset for each stay.
pub(crate) fn place(
    problem: &Problem,
    sequence: &Sequence,
    waits: &[Vec<u32>],
    effort: u64,
) -> Result<Vec<u64>, NoPlace> {
    let (oldest, failed) = online(problem, sequence, waits, Choice::Oldest);
    let (tightest, failed_too) = online(problem, sequence, waits, Choice::Tightest);
    let mut offsets = oldest;
    for pool in 0..problem.pools.len() {
        let own = |stay: usize| problem.buffers[sequence.stays[stay].buffer.index()].pool.index() == pool;
        let Some(event) = failed[pool] else { continue };
        if failed_too[pool].is_none() {
            (0..offsets.len()).filter(|stay| own(*stay)).for_each(|stay| offsets[stay] = tightest[stay]);
            continue;
        }
        let stays: Vec<usize> = (0..sequence.stays.len()).filter(|stay| own(*stay)).collect();
        let places = packed(problem, sequence, pool, &stays, effort);
        let missing = NoPlace { pool: PoolId(pool as u32), event: event.max(failed_too[pool].unwrap_or(0)) };
        for (stay, offset) in stays.into_iter().zip(places.ok_or(missing)?) {
            offsets[stay] = offset;
        }
    }
    Ok(offsets)
}

/// Places in the order of events; by memory, the event at which there was no gap.
fn online(problem: &Problem, sequence: &Sequence, waits: &[Vec<u32>], choice: Choice) -> (Vec<u64>, Vec<Option<u32>>) {
    let mut offsets = vec![0u64; sequence.stays.len()];
    let mut failed = vec![None; problem.pools.len()];
    // By memory: what lies there, by start.
    let mut held: Vec<BTreeMap<u64, u64>> = vec![BTreeMap::new(); problem.pools.len()];
    let mut clock = Clock::new(problem, sequence, waits);
    for event in 0..sequence.events.len() {
        for stay in sequence.touches[event].iter().map(|stay| *stay as usize) {
            let buffer = &problem.buffers[sequence.stays[stay].buffer.index()];
            let pool = buffer.pool.index();
            if sequence.stays[stay].begin as usize != event || failed[pool].is_some() {
                continue;
            }
            let gaps =
                gaps(&held[pool], problem.pools[pool].capacity).filter(|(start, end)| end - start >= buffer.size);
            let ends = |(start, end): (u64, u64)| [start, end - buffer.size];
            let best = match choice {
                Choice::Oldest => gaps
                    .flat_map(ends)
                    .min_by_key(|start| (clock.released[pool].free(*start, start + buffer.size), *start)),
                Choice::Tightest => gaps.min_by_key(|(start, end)| (end - start, *start)).map(|(start, _)| start),
            };
            let Some(offset) = best else {
                failed[pool] = Some(event as u32);
                continue;
            };
            offsets[stay] = offset;
            if buffer.size > 0 {
                held[pool].insert(offset, offset + buffer.size);
            }
            clock.begin(stay, offset);
        }
        clock.run(event);
        for stay in sequence.touches[event].iter().map(|stay| *stay as usize) {
            let buffer = &problem.buffers[sequence.stays[stay].buffer.index()];
            if sequence.stays[stay].end as usize == event && failed[buffer.pool.index()].is_none() {
                if buffer.size > 0 {
                    held[buffer.pool.index()].remove(&offsets[stay]);
                }
                clock.end(stay, offsets[stay]);
            }
        }
    }
    (offsets, failed)
}

/// The free bytes between what lies in a memory.
fn gaps(held: &BTreeMap<u64, u64>, capacity: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
    let mut from = 0;
    let behind = held.iter().map(|(start, end)| (*start, *end)).chain([(capacity, capacity)]);
    behind.map(move |(start, end)| (std::mem::replace(&mut from, end), start))
}

/// Places by the packing solver.
fn packed(problem: &Problem, sequence: &Sequence, pool: usize, stays: &[usize], effort: u64) -> Option<Vec<u64>> {
    let item = |stay: &usize| {
        let stay = sequence.stays[*stay];
        Item::new(stay.begin.into(), u64::from(stay.end) + 1, problem.buffers[stay.buffer.index()].size)
    };
    let region = Region { capacity: Some(problem.pools[pool].capacity), ..Region::default() };
    let asked = neap_pack::Problem::new(stays.iter().map(item).collect(), vec![region], Vec::new(), Vec::new()).ok()?;
    let limit = effort / (stays.len() as u64 + 1);
    let options = neap_pack::Options { method: Method::Search, node_limit: limit, ..neap_pack::Options::default() };
    let outcome = neap_pack::solve(&asked, &options, &mut |_| false);
    let solution = outcome.solution.filter(|_| outcome.verdict == Verdict::Fits)?;
    Some(solution.places.iter().map(|place| place.offset).collect())
}
