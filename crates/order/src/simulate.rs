//! The obvious simulation: what an order really holds, step by step.
//!
//! Written from the memory model alone and sharing nothing with the solvers, so that tests and callers may lean on it. Counts
//! bytes per step, the peak, and the live range of every merged storage; checks dependencies, groups, classes and every taken candidate.
//! O((V + E) log V) time.

use crate::error::OrderError;
use crate::ids::{ClassId, GroupId, OpId, StorageId};
use crate::problem::Problem;
use crate::taken::{self, Taken};

/// Storages that share bytes, as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// Members, by id; the first stands for all.
    pub members: Vec<StorageId>,
    /// Bytes: the largest member's.
    pub size: u64,
    /// First step in which it is live.
    pub begin: usize,
    /// First step in which it is no longer live.
    pub end: usize,
    /// Its class.
    pub class: Option<ClassId>,
}

/// What an order holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// Bytes held during each step.
    pub bytes: Vec<u64>,
    /// The most bytes held in a step; the bytes of the arguments when there is no step.
    pub peak: u64,
    /// The first step that holds `peak`.
    pub peak_step: usize,
    /// Merged storages, by first member.
    pub storages: Vec<Merged>,
}

/// Runs `order` with the candidates in `taken`.
///
/// # Errors
/// The first rule that the order or a candidate breaks.
pub fn simulate(problem: &Problem, order: &[OpId], taken: &Taken) -> Result<Simulation, OrderError> {
    let run = run(problem, order, taken)?;
    let (peak, peak_step) = run.peak();
    let merged = |s: &Span| Merged { members: Vec::new(), size: s.size, begin: s.begin, end: s.end, class: s.class };
    let mut storages: Vec<Merged> = run.spans.iter().map(merged).collect();
    for (s, slot) in run.slot.iter().enumerate() {
        storages[*slot as usize].members.push(StorageId(s as u32));
    }
    Ok(Simulation { bytes: run.bytes, peak, peak_step, storages })
}

/// The peak of [`simulate`] and its step, without the lists.
pub(crate) fn peak(problem: &Problem, order: &[OpId], taken: &Taken) -> Result<(u64, usize), OrderError> {
    Ok(run(problem, order, taken)?.peak())
}

/// A merged storage: its bytes and when it is live.
pub(crate) struct Span {
    pub(crate) size: u64,
    pub(crate) begin: usize,
    pub(crate) end: usize,
    class: Option<ClassId>,
}

/// What [`simulate`] finds, with plain lists.
pub(crate) struct Held {
    bytes: Vec<u64>,
    pub(crate) spans: Vec<Span>,
    /// Per storage, which of `spans` it belongs to.
    pub(crate) slot: Vec<u32>,
}

impl Held {
    /// The peak and its first step.
    pub(crate) fn peak(&self) -> (u64, usize) {
        match self.bytes.iter().enumerate().max_by_key(|&(s, &b)| (b, std::cmp::Reverse(s))) {
            Some((step, &peak)) => (peak, step),
            None => (self.spans.iter().map(|m| m.size).sum(), 0),
        }
    }
}

/// Runs `order`.
pub(crate) fn run(problem: &Problem, order: &[OpId], taken: &Taken) -> Result<Held, OrderError> {
    let position = positions(problem, order)?;
    dependencies(problem, &position)?;
    groups(problem, order)?;
    taken::check(problem, &position, taken)?;
    let (spans, slot) = merge(problem, &position, taken);
    let bytes = bytes_per_step(problem, order, &spans);
    classes(problem, order.len(), &spans)?;
    Ok(Held { bytes, spans, slot })
}

/// Step of each op.
pub(crate) fn positions(problem: &Problem, order: &[OpId]) -> Result<Vec<usize>, OrderError> {
    let n = problem.ops();
    let mut position = vec![usize::MAX; n];
    for (step, &op) in order.iter().enumerate() {
        match position.get_mut(op.index()) {
            Some(p) if *p == usize::MAX => *p = step,
            _ => return Err(OrderError::NotAPermutation { op }),
        }
    }
    match position.iter().position(|&p| p == usize::MAX) {
        Some(op) => Err(OrderError::NotAPermutation { op: OpId(op as u32) }),
        None => Ok(position),
    }
}

fn dependencies(problem: &Problem, position: &[usize]) -> Result<(), OrderError> {
    for v in 0..problem.ops() {
        let then = OpId(v as u32);
        for first in problem.predecessors(then) {
            if position[first.index()] >= position[v] {
                return Err(OrderError::Dependency { first, then });
            }
        }
    }
    Ok(())
}

fn groups(problem: &Problem, order: &[OpId]) -> Result<(), OrderError> {
    let mut last = vec![usize::MAX; problem.spec.groups.len()];
    for (step, &op) in order.iter().enumerate() {
        let g = problem.group[op.index()];
        if g == u32::MAX {
            continue;
        }
        let last = &mut last[g as usize];
        if *last != usize::MAX && *last + 1 != step {
            return Err(OrderError::GroupSplit { group: GroupId(g), op });
        }
        *last = step;
    }
    Ok(())
}

/// Merged storages with their live ranges, and the one that each storage belongs to.
fn merge(problem: &Problem, position: &[usize], taken: &Taken) -> (Vec<Span>, Vec<u32>) {
    let n = position.len();
    let rep = taken::merged(problem, taken);
    let mut slot = vec![u32::MAX; rep.len()];
    let mut out: Vec<Span> = Vec::with_capacity(rep.len());
    for (i, s) in problem.spec.storages.iter().enumerate() {
        // The representative has the smallest id: it was met before.
        let r = rep[i].index();
        if slot[r] == u32::MAX {
            slot[r] = out.len() as u32;
            out.push(Span { size: 0, begin: usize::MAX, end: 0, class: s.class });
        }
        slot[i] = slot[r];
        let m = &mut out[slot[i] as usize];
        m.size = m.size.max(s.size);
        for &op in s.writers.iter().chain(&s.readers) {
            m.begin = m.begin.min(position[op.index()]);
            m.end = m.end.max(position[op.index()] + 1);
        }
        if s.writers.is_empty() || s.whole_run {
            m.begin = 0;
            m.end = m.end.max(1);
        }
        if s.live_out || s.whole_run {
            m.end = n;
        }
    }
    (out, slot)
}

fn bytes_per_step(problem: &Problem, order: &[OpId], storages: &[Span]) -> Vec<u64> {
    let n = order.len();
    let mut born = vec![0u64; n + 1];
    let mut dead = vec![0u64; n + 1];
    for m in storages.iter().filter(|m| m.begin < m.end.min(n)) {
        born[m.begin] += m.size;
        dead[m.end.min(n)] += m.size;
    }
    let mut live = 0u64;
    (0..n)
        .map(|step| {
            live = live + born[step] - dead[step];
            live + problem.spec.ops[order[step].index()].scratch
        })
        .collect()
}

fn classes(problem: &Problem, n: usize, storages: &[Span]) -> Result<(), OrderError> {
    for (c, class) in problem.spec.classes.iter().enumerate() {
        let id = ClassId(c as u32);
        let mut count = vec![(0i64, 0i128); n + 1];
        for m in storages.iter().filter(|m| m.class == Some(id) && m.begin < m.end.min(n)) {
            count[m.begin].0 += 1;
            count[m.begin].1 += i128::from(m.size);
            count[m.end.min(n)].0 -= 1;
            count[m.end.min(n)].1 -= i128::from(m.size);
        }
        let (mut live, mut bytes) = (0i64, 0i128);
        for (step, &(l, b)) in count.iter().enumerate().take(n) {
            live += l;
            bytes += b;
            if class.limit.is_some_and(|k| live > i64::from(k)) {
                return Err(OrderError::ClassLimit { class: id, step, live: live as u32 });
            }
            if class.capacity.is_some_and(|k| bytes > i128::from(k)) {
                return Err(OrderError::ClassCapacity { class: id, step, bytes: bytes as u64 });
            }
        }
    }
    Ok(())
}
