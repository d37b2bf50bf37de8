//! The door: from a problem to a plan.
//!
//! Orders of little traffic are made and the best of them get a choice of spills and places; where something finds no place, one more buffer leaves. For
//! the makespan, the events of these plans are let overtake each other in several ways, and the fastest plan whose traffic is near the least is
//! taken.

use crate::clock::makespan;
use crate::evict::{Gap, choose};
use crate::hoist::{Reach, hoist};
use crate::order::{self, Clusters, TASTES};
use crate::place::{NoPlace, place};
use crate::plan::{Event, Failure, Plan, Spill};
use crate::problem::{OpId, PoolId, Problem};
use crate::stays::Sequence;

/// What is best.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Objective {
    /// The fewest bytes moved by spills, then the fewest cycles.
    #[default]
    Traffic,
    /// The fewest cycles, with traffic at most a tenth above the least found.
    Makespan,
}

/// How hard to try.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// What is best.
    pub objective: Objective,
    /// Search effort, in operations looked at; the same answer on every machine.
    pub effort: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { objective: Objective::Traffic, effort: 30_000_000 }
    }
}

/// More operations than this are not searched, only ordered greedily.
const MANY_OPS: usize = 40_000;
/// Orders that get a full plan.
const FULL: usize = 3;
/// Effort for packing one memory, in nodes times stays.
const PACK_EFFORT: u64 = 2_000_000;
/// How far events overtake, from far to not at all.
const REACHES: [Reach; 6] = [
    Reach { window: 256, by_path: false },
    Reach { window: 64, by_path: false },
    Reach { window: 16, by_path: false },
    Reach { window: 4, by_path: false },
    Reach { window: 64, by_path: true },
    Reach { window: 8, by_path: true },
];

/// Plans a problem. Orders in `given` are tried besides the problem's own.
///
/// # Errors
/// The problem is wrong, or buffers that are needed together find no place.
pub fn solve(problem: &Problem, given: &[Vec<OpId>], options: &Options) -> Result<Plan, Failure> {
    problem.check().map_err(Failure::Problem)?;
    let mut failure = PoolId(0);
    let mut sequences = Vec::new();
    for ops in orders(problem, given, options.effort) {
        match planned(problem, &ops) {
            Ok(planned) => sequences.push(planned),
            Err(pool) => failure = pool,
        }
    }
    let Some(least) = sequences.iter().map(|(_, plan)| plan.traffic).min() else {
        return Err(Failure::NoPlace { pool: failure });
    };
    let limit = match options.objective {
        Objective::Traffic => least,
        Objective::Makespan => least + least / 10,
    };
    let near = sequences.into_iter().filter(|(_, plan)| plan.traffic <= limit);
    let fast = near.flat_map(|(sequence, plan)| std::iter::once(plan).chain(faster(problem, &sequence)));
    let best = fast.min_by_key(|plan| match options.objective {
        Objective::Traffic => (plan.traffic, plan.makespan),
        Objective::Makespan => (plan.makespan, plan.traffic),
    });
    best.ok_or(Failure::NoPlace { pool: PoolId(0) })
}

/// Orders worth a full plan, those of the least estimated traffic first.
fn orders(problem: &Problem, given: &[Vec<OpId>], effort: u64) -> Vec<Vec<OpId>> {
    let own: Vec<OpId> = (0..problem.ops.len() as u32).map(OpId).collect();
    let clusters = Clusters::new(problem);
    let mut found: Vec<Vec<OpId>> = Vec::new();
    let mut by_cluster: Vec<Vec<u32>> = Vec::new();
    for order in given.iter().chain([&own]) {
        found.push(order.clone());
        by_cluster.push(clusters.in_order(order));
    }
    let tastes = if clusters.len() > 4000 { &TASTES[..1] } else { &TASTES[..] };
    by_cluster.extend(tastes.iter().map(|taste| order::greedy(problem, &clusters, *taste)));
    let expand = |order: &Vec<u32>| {
        let mut ops = Vec::new();
        clusters.expand(order, &mut ops);
        ops
    };
    by_cluster.sort_by_cached_key(|order| order::value(problem, &expand(order)).0);
    by_cluster.dedup();
    if problem.ops.len() <= MANY_OPS {
        for order in by_cluster.iter_mut().take(2) {
            order::improve(problem, &clusters, order, effort / 2);
        }
    }
    found.extend(by_cluster.iter().map(expand));
    found.sort_by_cached_key(|ops| order::value(problem, ops).0);
    found.dedup();
    found.truncate(FULL);
    found
}

/// A full plan for an order.
fn planned(problem: &Problem, ops: &[OpId]) -> Result<(Sequence, Plan), PoolId> {
    let (_, policy) = order::value(problem, ops);
    let mut gaps = choose(problem, ops, policy);
    let mut effort = PACK_EFFORT;
    loop {
        let sequence = Sequence::new(problem, ops, &gaps);
        let waits = sequence.waits(problem);
        match place(problem, &sequence, &waits, effort) {
            Ok(offsets) => {
                let plan = plan(problem, &sequence, &waits, &offsets);
                return Ok((sequence, plan));
            }
            Err(missing) if spill_one(problem, &sequence, &mut gaps, missing) => effort /= 2,
            Err(missing) => return Err(missing.pool),
        }
    }
}

/// Of the buffers that are only kept where something found no place, the cheapest leaves.
fn spill_one(problem: &Problem, sequence: &Sequence, gaps: &mut [Gap], missing: NoPlace) -> bool {
    // The last operation up to the event, by its number among operations.
    let ops = sequence.events[..=missing.event as usize].iter().filter(|event| matches!(event, Event::Op(_))).count();
    let position = ops as u32 - 1;
    let is_in = matches!(sequence.events[missing.event as usize], Event::In(_));
    let step = if is_in { position + 1 } else { position };
    let over = gaps.iter_mut().filter(|gap| {
        let pool = problem.buffers[gap.buffer.index()].pool;
        gap.kept && pool == missing.pool && gap.from < step && step < gap.to
    });
    let cheapest = over.min_by_key(|gap| {
        let buffer = &problem.buffers[gap.buffer.index()];
        (buffer.cost(), std::cmp::Reverse(gap.to - gap.from), gap.buffer)
    });
    cheapest.map(|gap| gap.kept = false).is_some()
}

/// The events of a plan let overtake each other.
fn faster(problem: &Problem, sequence: &Sequence) -> Vec<Plan> {
    let waits = sequence.waits(problem);
    let mut found = Vec::new();
    for reach in REACHES {
        let order = hoist(problem, sequence, &waits, reach);
        let sequence = sequence.reordered(&order);
        let waits = sequence.waits(problem);
        if let Ok(offsets) = place(problem, &sequence, &waits, PACK_EFFORT / 4) {
            found.push(plan(problem, &sequence, &waits, &offsets));
        }
    }
    found
}

fn plan(problem: &Problem, sequence: &Sequence, waits: &[Vec<u32>], offsets: &[u64]) -> Plan {
    let mut plan = Plan {
        events: sequence.events.clone(),
        offsets: vec![0; problem.buffers.len()],
        spills: sequence.spilled.iter().map(|buffer| Spill { buffer: *buffer, offset: 0 }).collect(),
        traffic: sequence.spilled.iter().map(|buffer| problem.buffers[buffer.index()].cost()).sum(),
        makespan: makespan(problem, sequence, waits, offsets),
    };
    for (stay, offset) in sequence.stays.iter().zip(offsets) {
        match sequence.events[stay.begin as usize] {
            Event::In(spill) => plan.spills[spill as usize].offset = *offset,
            _ => plan.offsets[stay.buffer.index()] = *offset,
        }
    }
    plan
}
