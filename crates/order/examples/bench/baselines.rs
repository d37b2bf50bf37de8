//! What others do, plainly: the order of the file, the greedy of the literature, and the three that a well-known compiler takes the best of.

use neap_order::{OpId, Problem};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// As given.
pub(crate) fn file(problem: &Problem) -> Vec<OpId> {
    (0..problem.ops() as u32).map(OpId).collect()
}

/// Storages that each op touches, and how many ops touch each storage.
struct Uses {
    of: Vec<Vec<usize>>,
    left: Vec<usize>,
    live: Vec<bool>,
}

impl Uses {
    fn new(problem: &Problem) -> Uses {
        let spec = problem.spec();
        let mut of = vec![Vec::new(); problem.ops()];
        for (at, storage) in spec.storages.iter().enumerate() {
            for op in storage.writers.iter().chain(&storage.readers) {
                of[op.index()].push(at);
            }
        }
        let mut left = vec![0; spec.storages.len()];
        for list in &mut of {
            list.sort_unstable();
            list.dedup();
            list.iter().for_each(|at| left[*at] += 1);
        }
        Uses { of, left, live: spec.storages.iter().map(|storage| storage.writers.is_empty()).collect() }
    }

    /// Bytes born less bytes that die, were the op to run now.
    fn net(&self, problem: &Problem, op: usize) -> i64 {
        let storages = &problem.spec().storages;
        let born = self.of[op].iter().filter(|at| !self.live[**at]).map(|at| storages[*at].size as i64);
        let dies = self.of[op].iter().filter(|at| self.left[**at] == 1 && !storages[**at].live_out);
        born.sum::<i64>() - dies.map(|at| storages[*at].size as i64).sum::<i64>()
    }

    fn run(&mut self, op: usize) {
        for at in &self.of[op] {
            self.live[*at] = true;
            self.left[*at] -= 1;
        }
    }
}

fn waiting(problem: &Problem) -> Vec<usize> {
    (0..problem.ops() as u32).map(|op| problem.predecessors(OpId(op)).count()).collect()
}

/// Smallest net change first, then the longest path to the end, then the smallest id; keys as they are when an op becomes ready.
pub(crate) fn greedy(problem: &Problem) -> Vec<OpId> {
    let n = problem.ops();
    let (mut uses, mut wait) = (Uses::new(problem), waiting(problem));
    let mut path = vec![0u64; n];
    for op in (0..n).rev() {
        let rest = problem.successors(OpId(op as u32)).map(|next| path[next.index()]).max().unwrap_or(0);
        path[op] = rest + problem.spec().ops[op].cycles.max(1);
    }
    let mut ready: BinaryHeap<Reverse<(i64, Reverse<u64>, usize)>> = BinaryHeap::new();
    let enter = |op: usize, uses: &Uses| Reverse((uses.net(problem, op), Reverse(path[op]), op));
    ready.extend((0..n).filter(|op| wait[*op] == 0).map(|op| enter(op, &uses)));
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse((_, _, op))) = ready.pop() {
        uses.run(op);
        order.push(OpId(op as u32));
        for next in problem.successors(OpId(op as u32)) {
            wait[next.index()] -= 1;
            if wait[next.index()] == 0 {
                ready.push(enter(next.index(), &uses));
            }
        }
    }
    order
}

/// List scheduling, depth first, and post-order.
pub(crate) fn three(problem: &Problem) -> Vec<Vec<OpId>> {
    let mut found = vec![depth_first(problem, false), depth_first(problem, true)];
    // Every ready op is looked at in every step.
    if problem.ops() <= 20_000 {
        found.push(list(problem));
    }
    found
}

/// Whichever ready op frees most now.
fn list(problem: &Problem) -> Vec<OpId> {
    let n = problem.ops();
    let (mut uses, mut wait) = (Uses::new(problem), waiting(problem));
    let mut ready: Vec<usize> = (0..n).filter(|op| wait[*op] == 0).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(at) = (0..ready.len()).min_by_key(|at| (uses.net(problem, ready[*at]), ready[*at])) {
        let op = ready.swap_remove(at);
        uses.run(op);
        order.push(OpId(op as u32));
        for next in problem.successors(OpId(op as u32)) {
            wait[next.index()] -= 1;
            if wait[next.index()] == 0 {
                ready.push(next.index());
            }
        }
    }
    order
}

/// Post-order from the ends of the graph; operands as listed, or those with most bytes above them first.
fn depth_first(problem: &Problem, by_bytes: bool) -> Vec<OpId> {
    let n = problem.ops();
    let mut above = vec![0u64; n];
    for storage in &problem.spec().storages {
        if let Some(op) = storage.writers.first() {
            above[op.index()] = above[op.index()].saturating_add(storage.size);
        }
    }
    for op in 0..n {
        let most = problem.predecessors(OpId(op as u32)).map(|before| above[before.index()]).max().unwrap_or(0);
        above[op] = above[op].saturating_add(most);
    }
    let mut seen = vec![false; n];
    let mut order = Vec::with_capacity(n);
    for end in (0..n as u32).map(OpId).filter(|op| problem.successors(*op).next().is_none()) {
        let mut stack = vec![(end, false)];
        while let Some((op, entered)) = stack.pop() {
            if entered {
                order.push(op);
            } else if !std::mem::replace(&mut seen[op.index()], true) {
                stack.push((op, true));
                let mut before: Vec<OpId> = problem.predecessors(op).collect();
                if by_bytes {
                    before.sort_by_key(|op| Reverse(above[op.index()]));
                }
                stack.extend(before.into_iter().rev().map(|op| (op, false)));
            }
        }
    }
    order
}
