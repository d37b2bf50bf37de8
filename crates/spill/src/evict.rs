//! Which buffers stay between two uses, for a given order.
//!
//! Between two operations that touch it, a buffer stays in its memory or leaves: a gap that is kept or not. What operations touch must be there; a choice
//! is legal if in every step what is touched and what is kept over it fits. Least traffic is the heaviest legal set of kept gaps. First what is used latest
//! leaves first (Belady 1966), weighed by what a spill costs; then gaps that fit after all are kept, and one that is not is exchanged for
//! cheaper ones as long as that helps. O(T log T) per round for T touches.

use crate::level::Levels;
use crate::problem::{BufferId, OpId, Problem};

/// The time between two uses of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gap {
    pub(crate) buffer: BufferId,
    /// Position of the use before.
    pub(crate) from: u32,
    /// Position of the use behind.
    pub(crate) to: u32,
    /// Whether the buffer stays.
    pub(crate) kept: bool,
}

/// How much a late use and a low cost count for leaving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    /// The latest use.
    Latest,
    /// The latest use for what a spill costs per byte.
    Cheapest,
    /// As `Cheapest`, large buffers first.
    Largest,
}

pub(crate) const POLICIES: [Policy; 3] = [Policy::Cheapest, Policy::Latest, Policy::Largest];

/// By buffer: the positions in `order` of the operations that touch it.
pub(crate) struct Uses {
    start: Vec<u32>,
    list: Vec<u32>,
}

impl Uses {
    pub(crate) fn new(problem: &Problem, order: &[OpId]) -> Uses {
        let mut start = vec![0u32; problem.buffers.len() + 2];
        for op in &problem.ops {
            op.touches.iter().for_each(|buffer| start[buffer.index() + 2] += 1);
        }
        for at in 2..start.len() {
            start[at] += start[at - 1];
        }
        let mut list = vec![0; start[start.len() - 1] as usize];
        for (position, op) in order.iter().enumerate() {
            for buffer in &problem.ops[op.index()].touches {
                let next = &mut start[buffer.index() + 1];
                list[*next as usize] = position as u32;
                *next += 1;
            }
        }
        Uses { start, list }
    }

    pub(crate) fn of(&self, buffer: usize) -> &[u32] {
        &self.list[self.start[buffer] as usize..self.start[buffer + 1] as usize]
    }
}

/// The traffic of an order when the latest use leaves first; `limit` ends the count early.
pub(crate) fn estimate(problem: &Problem, order: &[OpId], policy: Policy, limit: u64) -> u64 {
    let uses = Uses::new(problem, order);
    let mut traffic = 0u64;
    forward(problem, order, &uses, policy, |buffer, _| {
        traffic += problem.buffers[buffer].cost();
        traffic <= limit
    });
    traffic
}

/// The gaps of an order with a good choice of those that are kept.
pub(crate) fn choose(problem: &Problem, order: &[OpId], policy: Policy) -> Vec<Gap> {
    let uses = Uses::new(problem, order);
    let mut first = Vec::with_capacity(problem.buffers.len() + 1);
    let mut gaps = Vec::new();
    for buffer in 0..problem.buffers.len() {
        first.push(gaps.len());
        let pairs = uses.of(buffer).windows(2);
        gaps.extend(pairs.map(|pair| Gap { buffer: BufferId(buffer as u32), from: pair[0], to: pair[1], kept: true }));
    }
    forward(problem, order, &uses, policy, |buffer, use_number| {
        gaps[first[buffer] + use_number - 1].kept = false;
        true
    });
    Refine::new(problem, order, gaps).run()
}

/// Runs an order; `spilled(buffer, n)` is told that a buffer leaves before its use number `n` and answers whether to go on.
fn forward(
    problem: &Problem,
    order: &[OpId],
    uses: &Uses,
    policy: Policy,
    mut spilled: impl FnMut(usize, usize) -> bool,
) {
    let mut next = vec![0usize; problem.buffers.len()];
    let mut here = vec![false; problem.buffers.len()];
    let mut resident: Vec<Vec<u32>> = vec![Vec::new(); problem.pools.len()];
    let mut held = vec![0u64; problem.pools.len()];
    for (position, op) in order.iter().enumerate() {
        let touches = &problem.ops[op.index()].touches;
        for buffer in touches.iter().filter(|buffer| !here[buffer.index()]) {
            let info = &problem.buffers[buffer.index()];
            resident[info.pool.index()].push(buffer.0);
            held[info.pool.index()] += info.size;
        }
        touches.iter().for_each(|buffer| here[buffer.index()] = true);
        for pool in 0..problem.pools.len() {
            while held[pool] > problem.pools[pool].capacity {
                let score = |buffer: u32| {
                    let info = &problem.buffers[buffer as usize];
                    let wait = u64::from(uses.of(buffer as usize)[next[buffer as usize]]) - position as u64;
                    match policy {
                        Policy::Latest => wait,
                        Policy::Cheapest => wait * if info.backed { 2 } else { 1 },
                        Policy::Largest => wait * if info.backed { 2 } else { 1 } * info.size,
                    }
                };
                let free = resident[pool].iter().copied().enumerate().filter(|(_, b)| !touches.contains(&BufferId(*b)));
                let Some((at, buffer)) = free.max_by_key(|(_, buffer)| (score(*buffer), std::cmp::Reverse(*buffer)))
                else {
                    break;
                };
                resident[pool].swap_remove(at);
                held[pool] -= problem.buffers[buffer as usize].size;
                here[buffer as usize] = false;
                if !spilled(buffer as usize, next[buffer as usize]) {
                    return;
                }
            }
        }
        for buffer in touches {
            let at = buffer.index();
            next[at] += 1;
            if next[at] == uses.of(at).len() {
                let info = &problem.buffers[at];
                let pool = info.pool.index();
                resident[pool].retain(|other| *other != buffer.0);
                held[pool] -= info.size;
                here[at] = false;
            }
        }
    }
}

/// Bettering a choice of gaps.
struct Refine<'a> {
    problem: &'a Problem,
    gaps: Vec<Gap>,
    levels: Vec<Levels>,
    /// By position: the gaps that could be kept over it, for exchanges.
    spans: Vec<Vec<u32>>,
}

/// Work in the exchange of gaps, in gaps looked at.
const EXCHANGE: usize = 4_000_000;

impl<'a> Refine<'a> {
    fn new(problem: &'a Problem, order: &[OpId], gaps: Vec<Gap>) -> Refine<'a> {
        let mut levels: Vec<Levels> = problem.pools.iter().map(|_| Levels::new(order.len())).collect();
        for (position, op) in order.iter().enumerate() {
            for buffer in &problem.ops[op.index()].touches {
                let info = &problem.buffers[buffer.index()];
                levels[info.pool.index()].add(position, position + 1, info.size as i64);
            }
        }
        let mut refine = Refine { problem, gaps, levels, spans: Vec::new() };
        for at in 0..refine.gaps.len() {
            if refine.gaps[at].kept {
                refine.shift(at, 1);
            }
        }
        refine
    }

    fn run(mut self) -> Vec<Gap> {
        let mut away: Vec<usize> = (0..self.gaps.len()).filter(|at| !self.gaps[*at].kept).collect();
        let weight =
            |gap: &Gap| (std::cmp::Reverse(self.problem.buffers[gap.buffer.index()].cost()), gap.to - gap.from);
        away.sort_by_key(|at| weight(&self.gaps[*at]));
        away.retain(|at| !self.keep_if_fits(*at));
        self.exchange(&away);
        self.gaps
    }

    fn size(&self, at: usize) -> i64 {
        self.problem.buffers[self.gaps[at].buffer.index()].size as i64
    }

    fn pool(&self, at: usize) -> usize {
        self.problem.buffers[self.gaps[at].buffer.index()].pool.index()
    }

    fn shift(&mut self, at: usize, sign: i64) {
        let (pool, size, gap) = (self.pool(at), self.size(at), self.gaps[at]);
        self.levels[pool].add(gap.from as usize + 1, gap.to as usize, sign * size);
    }

    fn keep_if_fits(&mut self, at: usize) -> bool {
        let (pool, gap) = (self.pool(at), self.gaps[at]);
        let most = self.levels[pool].most(gap.from as usize + 1, gap.to as usize);
        let fits = most.saturating_add(self.size(at)) <= self.problem.pools[pool].capacity as i64;
        if fits {
            self.shift(at, 1);
            self.gaps[at].kept = true;
        }
        fits
    }

    /// Keeps a gap that does not fit in the place of kept ones that cost less together.
    fn exchange(&mut self, away: &[usize]) {
        let mut left = EXCHANGE;
        let longest: usize = self.gaps.iter().map(|gap| (gap.to - gap.from) as usize).sum();
        if longest > 8 * EXCHANGE {
            return;
        }
        let steps = self.gaps.iter().map(|gap| gap.to as usize + 1).max().unwrap_or(0);
        self.spans = vec![Vec::new(); steps];
        for (at, gap) in self.gaps.iter().enumerate() {
            (gap.from + 1..gap.to).for_each(|step| self.spans[step as usize].push(at as u32));
        }
        let mut again = true;
        let mut open = away.to_vec();
        while again && left > 0 {
            again = false;
            let mut still = Vec::new();
            for at in open {
                let gone = self.try_exchange(at, &mut left);
                match gone {
                    Some(gone) => {
                        again = true;
                        still.extend(gone);
                    }
                    None => still.push(at),
                }
            }
            still.retain(|at| !self.keep_if_fits(*at));
            open = still;
        }
    }

    fn try_exchange(&mut self, at: usize, left: &mut usize) -> Option<Vec<usize>> {
        let (pool, gap) = (self.pool(at), self.gaps[at]);
        let capacity = self.problem.pools[pool].capacity as i64;
        let budget = self.problem.buffers[gap.buffer.index()].cost();
        self.shift(at, 1);
        let mut gone: Vec<usize> = Vec::new();
        let mut spent = 0;
        while let Some(step) = self.levels[pool].above(gap.from as usize + 1, gap.to as usize, capacity) {
            *left = left.saturating_sub(self.spans[step].len());
            let kept = self.spans[step].iter().map(|other| *other as usize);
            let kept = kept.filter(|other| *other != at && self.gaps[*other].kept && self.pool(*other) == pool);
            // Cheap first; of equal costs the one that frees the most of what is behind.
            let best = kept.min_by_key(|other| {
                let cost = self.problem.buffers[self.gaps[*other].buffer.index()].cost();
                (cost, std::cmp::Reverse(self.gaps[*other].to), *other)
            });
            let cost = best.map(|best| self.problem.buffers[self.gaps[best].buffer.index()].cost());
            match (best, cost) {
                (Some(best), Some(cost)) if spent + cost < budget => {
                    spent += cost;
                    self.shift(best, -1);
                    self.gaps[best].kept = false;
                    gone.push(best);
                }
                _ => {
                    self.shift(at, -1);
                    for other in gone {
                        self.shift(other, 1);
                        self.gaps[other].kept = true;
                    }
                    return None;
                }
            }
        }
        self.gaps[at].kept = true;
        Some(gone)
    }
}
