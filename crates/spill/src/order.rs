//! Orders that need little traffic.
//!
//! Operations joined by buffers of local memories form a cluster and run together; operations without predecessors (loads) run right before the first that needs
//! what they bring, operations without successors (stores) as soon as they can. What is left is the order of the clusters. Several greedy
//! orders are made by what would have to be brought in; a local search moves clusters as long as the estimated traffic falls.

use crate::evict::{POLICIES, Policy, estimate};
use crate::problem::{OpId, Problem};
use crate::rng::Rng;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Clusters and what must come before what.
pub(crate) struct Clusters {
    /// By cluster: its operations in the problem's order.
    ops: Vec<Vec<OpId>>,
    preds: Vec<Vec<u32>>,
    succs: Vec<Vec<u32>>,
    /// By operation: loads that it needs, and stores that need it.
    loads: Vec<Vec<OpId>>,
    stores: Vec<Vec<OpId>>,
    /// By store: how many it waits for.
    store_waits: Vec<u32>,
    /// By cluster: the buffers of memories that are not local, loads' included.
    bufs: Vec<Vec<u32>>,
}

fn find(parent: &mut [u32], mut at: u32) -> u32 {
    while parent[at as usize] != at {
        parent[at as usize] = parent[parent[at as usize] as usize];
        at = parent[at as usize];
    }
    at
}

impl Clusters {
    /// The clusters of a problem; single operations where clusters would wait for each other.
    pub(crate) fn new(problem: &Problem) -> Clusters {
        let local = |buffer: usize| problem.pools[problem.buffers[buffer].pool.index()].local;
        let mut parent: Vec<u32> = (0..problem.ops.len() as u32).collect();
        let mut first = vec![u32::MAX; problem.buffers.len()];
        for (at, op) in problem.ops.iter().enumerate() {
            for buffer in op.touches.iter().map(|buffer| buffer.index()).filter(|buffer| local(*buffer)) {
                if first[buffer] == u32::MAX {
                    first[buffer] = at as u32;
                }
                let (a, b) = (find(&mut parent, first[buffer]), find(&mut parent, at as u32));
                parent[a.max(b) as usize] = a.min(b);
            }
        }
        let joined: Vec<u32> = (0..parent.len() as u32).map(|at| find(&mut parent, at)).collect();
        let single: Vec<u32> = (0..parent.len() as u32).collect();
        Clusters::of(problem, &joined).or_else(|| Clusters::of(problem, &single)).unwrap_or_else(|| Clusters {
            ops: Vec::new(),
            preds: Vec::new(),
            succs: Vec::new(),
            loads: Vec::new(),
            stores: Vec::new(),
            store_waits: Vec::new(),
            bufs: Vec::new(),
        })
    }

    fn of(problem: &Problem, root: &[u32]) -> Option<Clusters> {
        let count = problem.ops.len();
        let mut size = vec![0u32; count];
        root.iter().for_each(|root| size[*root as usize] += 1);
        let (mut ins, mut outs) = (vec![0u32; count], vec![0u32; count]);
        for (first, then) in &problem.deps {
            ins[then.index()] += 1;
            outs[first.index()] += 1;
        }
        let alone = |at: usize| size[root[at] as usize] == 1;
        let is_store = |at: usize| alone(at) && outs[at] == 0 && ins[at] > 0;
        // What only stores need is no load: nothing would bring it.
        let mut feeds = vec![false; count];
        let fed = problem.deps.iter().filter(|(_, then)| !is_store(then.index()));
        fed.for_each(|(first, _)| feeds[first.index()] = true);
        let is_load = |at: usize| alone(at) && ins[at] == 0 && feeds[at] && problem.ops[at].touches.len() == 1;
        let mut number = vec![u32::MAX; count];
        let mut c = Clusters {
            ops: Vec::new(),
            preds: Vec::new(),
            succs: Vec::new(),
            loads: vec![Vec::new(); count],
            stores: vec![Vec::new(); count],
            store_waits: vec![0; count],
            bufs: Vec::new(),
        };
        for at in (0..count).filter(|at| !is_load(*at) && !is_store(*at)) {
            let own = &mut number[root[at] as usize];
            if *own == u32::MAX {
                *own = c.ops.len() as u32;
                c.ops.push(Vec::new());
            }
            c.ops[*own as usize].push(OpId(at as u32));
        }
        (c.preds, c.succs) = (vec![Vec::new(); c.ops.len()], vec![Vec::new(); c.ops.len()]);
        for (first, then) in &problem.deps {
            let (a, b) = (first.index(), then.index());
            if is_store(b) {
                c.stores[a].push(*then);
                c.store_waits[b] += 1;
            } else if is_load(a) {
                c.loads[b].push(*first);
            } else {
                let (a, b) = (number[root[a] as usize], number[root[b] as usize]);
                if a != b {
                    c.preds[b as usize].push(a);
                    c.succs[a as usize].push(b);
                }
            }
        }
        for list in c.preds.iter_mut().chain(&mut c.succs) {
            list.sort_unstable();
            list.dedup();
        }
        c.collect_bufs(problem);
        c.is_acyclic().then_some(c)
    }

    fn collect_bufs(&mut self, problem: &Problem) {
        for ops in &self.ops {
            let all = ops.iter().flat_map(|op| &problem.ops[op.index()].touches);
            let mut bufs: Vec<u32> = all
                .filter(|buffer| !problem.pools[problem.buffers[buffer.index()].pool.index()].local)
                .map(|buffer| buffer.0)
                .collect();
            bufs.sort_unstable();
            bufs.dedup();
            self.bufs.push(bufs);
        }
    }

    fn is_acyclic(&self) -> bool {
        let mut waits: Vec<usize> = self.preds.iter().map(Vec::len).collect();
        let mut ready: Vec<usize> = (0..waits.len()).filter(|at| waits[*at] == 0).collect();
        let mut seen = 0;
        while let Some(at) = ready.pop() {
            seen += 1;
            for then in &self.succs[at] {
                waits[*then as usize] -= 1;
                if waits[*then as usize] == 0 {
                    ready.push(*then as usize);
                }
            }
        }
        seen == waits.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    /// The operations in the order of the clusters.
    pub(crate) fn expand(&self, clusters: &[u32], ops: &mut Vec<OpId>) {
        ops.clear();
        let mut waits = self.store_waits.clone();
        let mut loaded = vec![false; self.loads.len()];
        let mut ready: Vec<OpId> = Vec::new();
        for op in clusters.iter().flat_map(|cluster| &self.ops[*cluster as usize]) {
            for load in &self.loads[op.index()] {
                if !std::mem::replace(&mut loaded[load.index()], true) {
                    ops.push(*load);
                    self.stored(*load, &mut waits, &mut ready);
                }
            }
            ops.push(*op);
            self.stored(*op, &mut waits, &mut ready);
            ops.append(&mut ready);
        }
    }

    fn stored(&self, op: OpId, waits: &mut [u32], ready: &mut Vec<OpId>) {
        for store in &self.stores[op.index()] {
            waits[store.index()] -= 1;
            if waits[store.index()] == 0 {
                ready.push(*store);
            }
        }
    }

    /// The clusters in the order in which their first operations come.
    pub(crate) fn in_order(&self, order: &[OpId]) -> Vec<u32> {
        let mut place = vec![0u32; self.loads.len()];
        order.iter().enumerate().for_each(|(at, op)| place[op.index()] = at as u32);
        let key = |cluster: usize| self.ops[cluster].iter().map(|op| place[op.index()]).max().unwrap_or(0);
        // Smallest key first among those that are ready.
        let mut waits: Vec<usize> = self.preds.iter().map(Vec::len).collect();
        let mut heap: BinaryHeap<_> =
            (0..self.len()).filter(|at| waits[*at] == 0).map(|at| Reverse((key(at), at as u32))).collect();
        let mut found = Vec::with_capacity(self.len());
        while let Some(Reverse((_, at))) = heap.pop() {
            found.push(at);
            for then in &self.succs[at as usize] {
                waits[*then as usize] -= 1;
                if waits[*then as usize] == 0 {
                    heap.push(Reverse((key(*then as usize), *then)));
                }
            }
        }
        found
    }
}

/// What a greedy order looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taste {
    /// Least to bring in.
    Least,
    /// Most clusters that could run for what is brought in.
    Most,
    /// As `Most`, but as long as there is room, what shares with what came first.
    Deep,
}

pub(crate) const TASTES: [Taste; 3] = [Taste::Least, Taste::Most, Taste::Deep];

/// At most so many ready clusters are looked at in a step.
const READY: usize = 300;

/// A greedy order of the clusters.
pub(crate) fn greedy(problem: &Problem, clusters: &Clusters, taste: Taste) -> Vec<u32> {
    Greedy::new(problem, clusters, taste).run()
}

struct Greedy<'a> {
    problem: &'a Problem,
    clusters: &'a Clusters,
    taste: Taste,
    /// By buffer: when it came, if it is here; how many clusters are to touch it.
    came: Vec<Option<u32>>,
    uses: Vec<u32>,
    held: Vec<u64>,
    ready: Vec<u32>,
    /// By buffer: the candidate that would bring it.
    mark: Vec<u32>,
    marks: u32,
    step: u32,
    resident: Vec<u32>,
}

impl<'a> Greedy<'a> {
    fn new(problem: &'a Problem, clusters: &'a Clusters, taste: Taste) -> Greedy<'a> {
        let mut uses = vec![0; problem.buffers.len()];
        clusters.bufs.iter().flatten().for_each(|buffer| uses[*buffer as usize] += 1);
        Greedy {
            problem,
            clusters,
            taste,
            came: vec![None; problem.buffers.len()],
            uses,
            held: vec![0; problem.pools.len()],
            ready: (0..clusters.len() as u32).filter(|at| clusters.preds[*at as usize].is_empty()).collect(),
            mark: vec![0; problem.buffers.len()],
            marks: 0,
            step: 0,
            resident: Vec::new(),
        }
    }

    fn run(mut self) -> Vec<u32> {
        let mut waits: Vec<usize> = self.clusters.preds.iter().map(Vec::len).collect();
        let mut order = Vec::with_capacity(self.clusters.len());
        while !self.ready.is_empty() {
            let at = self.best();
            let cluster = self.ready.remove(at);
            self.bring(cluster);
            order.push(cluster);
            for then in &self.clusters.succs[cluster as usize] {
                waits[*then as usize] -= 1;
                if waits[*then as usize] == 0 {
                    let place = self.ready.partition_point(|other| other < then);
                    self.ready.insert(place, *then);
                }
            }
        }
        order
    }

    fn best(&mut self) -> usize {
        let count = self.ready.len().min(READY);
        let mut best = (0, (i64::MAX, i64::MAX, u32::MAX));
        for at in 0..count {
            let key = self.key(self.ready[at], count);
            if key < best.1 {
                best = (at, key);
            }
        }
        best.0
    }

    /// Smaller is better.
    fn key(&mut self, cluster: u32, count: usize) -> (i64, i64, u32) {
        let clusters = self.clusters;
        let bufs = &clusters.bufs[cluster as usize];
        let size = |buffer: &u32| self.problem.buffers[*buffer as usize].size as i64;
        let missing: i64 = bufs.iter().filter(|b| self.came[**b as usize].is_none()).map(size).sum();
        let freed: i64 = bufs.iter().filter(|b| self.uses[**b as usize] == 1).map(size).sum();
        if missing == 0 || self.taste == Taste::Least {
            return (missing - freed, missing, cluster);
        }
        self.marks += 1;
        for buffer in bufs {
            self.mark[*buffer as usize] = self.marks;
        }
        let here = |buffer: &u32| self.came[*buffer as usize].is_some() || self.mark[*buffer as usize] == self.marks;
        let runs = self.ready[..count].iter().filter(|other| clusters.bufs[**other as usize].iter().all(here)).count();
        let room = bufs.iter().filter(|b| self.came[**b as usize].is_none()).all(|buffer| {
            let info = &self.problem.buffers[*buffer as usize];
            let pool = info.pool.index();
            self.held[pool] + missing as u64 <= self.problem.pools[pool].capacity
        });
        if self.taste == Taste::Deep && room {
            let oldest = bufs.iter().filter_map(|b| self.came[*b as usize]).min().unwrap_or(u32::MAX);
            return (i64::from(oldest) + 1, missing - freed, cluster);
        }
        // Bytes per cluster that could run, scaled.
        ((missing - freed.min(missing)) * 1000 / runs.max(1) as i64 + i64::from(u32::MAX), missing, cluster)
    }

    fn bring(&mut self, cluster: u32) {
        self.step += 1;
        self.marks += 1;
        let bufs = &self.clusters.bufs[cluster as usize];
        for buffer in bufs {
            self.mark[*buffer as usize] = self.marks;
        }
        for buffer in bufs {
            if self.came[*buffer as usize].is_none() {
                let info = &self.problem.buffers[*buffer as usize];
                self.came[*buffer as usize] = Some(self.step);
                self.resident.push(*buffer);
                self.held[info.pool.index()] += info.size;
            }
        }
        for pool in 0..self.held.len() {
            while self.held[pool] > self.problem.pools[pool].capacity {
                if !self.evict(pool) {
                    break;
                }
            }
        }
        for buffer in bufs {
            self.uses[*buffer as usize] -= 1;
            if self.uses[*buffer as usize] == 0 {
                self.leave(*buffer);
            }
        }
    }

    fn leave(&mut self, buffer: u32) {
        if self.came[buffer as usize].take().is_some() {
            let info = &self.problem.buffers[buffer as usize];
            self.held[info.pool.index()] -= info.size;
            self.resident.retain(|other| *other != buffer);
        }
    }

    /// What the fewest of the next clusters could use leaves.
    fn evict(&mut self, pool: usize) -> bool {
        let mut useful = vec![0u32; self.resident.len()];
        let near = self.ready.len().min(READY);
        if self.taste != Taste::Least {
            let slot: BTreeMap<u32, usize> =
                self.resident.iter().enumerate().map(|(at, buffer)| (*buffer, at)).collect();
            for cluster in &self.ready[..near] {
                let bufs = &self.clusters.bufs[*cluster as usize];
                if bufs.iter().all(|buffer| self.came[*buffer as usize].is_some()) {
                    bufs.iter().for_each(|buffer| useful[slot[buffer]] += 1);
                }
            }
        }
        let own = |buffer: u32| {
            self.problem.buffers[buffer as usize].pool.index() == pool && self.mark[buffer as usize] != self.marks
        };
        let key = |at: usize, buffer: u32| (useful[at], self.uses[buffer as usize], self.came[buffer as usize], buffer);
        let all = self.resident.iter().copied().enumerate().filter(|(_, buffer)| own(*buffer));
        let Some((_, buffer)) = all.min_by_key(|(at, buffer)| key(*at, *buffer)) else { return false };
        self.leave(buffer);
        true
    }
}

/// The best policy for an order and the traffic it leads to.
pub(crate) fn value(problem: &Problem, ops: &[OpId]) -> (u64, Policy) {
    let each = POLICIES.map(|policy| (estimate(problem, ops, policy, u64::MAX), policy));
    each.into_iter().min_by_key(|(traffic, _)| *traffic).unwrap_or((u64::MAX, Policy::Cheapest))
}

/// Moves clusters as long as the estimated traffic does not rise, for so many operations looked at.
pub(crate) fn improve(problem: &Problem, clusters: &Clusters, order: &mut [u32], effort: u64) {
    let count = order.len();
    if count < 2 {
        return;
    }
    let mut ops = Vec::with_capacity(problem.ops.len());
    clusters.expand(order, &mut ops);
    let (mut traffic, policy) = value(problem, &ops);
    let mut place = vec![0u32; count];
    order.iter().enumerate().for_each(|(at, cluster)| place[*cluster as usize] = at as u32);
    let mut rng = Rng::new(7);
    let rounds = effort / (problem.ops.len() as u64 + 1);
    for _ in 0..rounds {
        if traffic == 0 {
            break;
        }
        let from = rng.below(count);
        let cluster = order[from];
        let low =
            clusters.preds[cluster as usize].iter().map(|pred| place[*pred as usize] as usize + 1).max().unwrap_or(0);
        let high =
            clusters.succs[cluster as usize].iter().map(|succ| place[*succ as usize] as usize).min().unwrap_or(count);
        if high - low <= 1 {
            continue;
        }
        let to = low + rng.below(high - low);
        if to == from {
            continue;
        }
        shift(order, &mut place, from, to);
        clusters.expand(order, &mut ops);
        let new = estimate(problem, &ops, policy, traffic);
        if new <= traffic {
            traffic = new;
        } else {
            shift(order, &mut place, to, from);
        }
    }
}

/// Takes what is at `from` to `to`, in order and in places.
fn shift(order: &mut [u32], place: &mut [u32], from: usize, to: usize) {
    if from < to {
        order[from..=to].rotate_left(1);
    } else {
        order[to..=from].rotate_right(1);
    }
    for at in from.min(to)..=from.max(to) {
        place[order[at] as usize] = at as u32;
    }
}
