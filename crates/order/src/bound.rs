//! Lower bounds by minimum cut, with certificates.
//!
//! For an op `v`, no order can hold fewer bytes during `v` than the least over all states in which `v` may run. `certificate.rs` states the
//! network and why it bounds; here it is built on the relaxed model: required candidates are decided, every other
//! candidate counts in the way that favours it. Counts maximum flows.

use crate::certificate::{Certificate, FlowEdge, Node, SetFlow};
use crate::csr::Csr;
use crate::cut::{Cutter, Name, Rules, Side};
use crate::ids::{OpId, StorageId};
use crate::model::{self, Model, NONE};
use crate::problem::Problem;
use crate::solution::{Options, Stats};
use crate::taken::Taken;
use crate::validate::{find, join};

/// More sets than this, and one set of all candidates of the op stands for them (weaker, still sound).
const MOST_SETS: usize = 32;

/// Arcs that one flow may look at: any flow bounds, a maximum one best. On large graphs the limit grows with ops and their operands.
const FLOW_LIMIT: u64 = 20_000_000;
/// See [`FLOW_LIMIT`].
const FLOW_PER_SIZE: u64 = 8;

/// Computes bounds for ops of one problem.
pub(crate) struct Bounder<'p> {
    problem: &'p Problem,
    pub(crate) model: Model,
    writes: Csr,
    /// The concat of a storage that may be a part; `SEVERAL` for more than one.
    part_op: Vec<u32>,
    /// Bytes held in every step.
    always: i64,
    /// Storages that candidates may join, directly or by a chain, with one that is held in every step: they may lie in its bytes.
    joined: Vec<bool>,
    candidates: Vec<Vec<Candidate>>,
    cutter: Cutter,
    side: Vec<Side>,
    free: Vec<u32>,
}

const SEVERAL: u32 = u32::MAX - 1;

#[derive(Debug, Clone, Copy)]
struct Candidate {
    /// Storage of the model that is overwritten or placed.
    storage: u32,
    /// Storage of the model that overwrites; `NONE` for placements.
    result: u32,
    index: usize,
}

impl<'p> Bounder<'p> {
    pub(crate) fn new(problem: &'p Problem, required: &Taken, options: &Options) -> Bounder<'p> {
        let model = model::build(problem, required, |_| false);
        let spec = &problem.spec;
        let merged = crate::taken::merged(problem, required);
        let mut at = vec![NONE; spec.storages.len()];
        for (k, &name) in model.name.iter().enumerate() {
            at[name as usize] = k as u32;
        }
        let at = |s: StorageId| at[merged[s.index()].index()];
        let mut writes: Vec<(u32, u32)> = Vec::new();
        for (i, s) in spec.storages.iter().enumerate() {
            let k = at(StorageId(i as u32));
            writes.extend(s.writers.iter().filter(|_| !model.users.row(k as usize).is_empty()).map(|w| (w.0, k)));
        }
        let mut b = Bounder {
            writes: Csr::new(model.n, model.size.len(), &writes),
            part_op: vec![NONE; model.size.len()],
            always: model.base,
            joined: vec![false; model.size.len()],
            candidates: Vec::new(),
            cutter: Cutter::new(&model),
            side: vec![Side::Free; model.n],
            free: Vec::new(),
            problem,
            model,
        };
        let size = b.model.n + b.model.touch.pairs().len();
        b.cutter.net.limit = FLOW_LIMIT.max(FLOW_PER_SIZE * size as u64);
        b.collect(options, at);
        b.join_held(options, at);
        b
    }

    /// Marks what may share bytes with a held storage; of the held ones that may be one storage only the largest counts.
    fn join_held(&mut self, options: &Options, at: impl Fn(StorageId) -> u32) {
        let spec = &self.problem.spec;
        let mut chain: Vec<u32> = (0..self.model.size.len() as u32).collect();
        let (mut size, mut held) = (vec![0i64; chain.len()], vec![false; chain.len()]);
        let (mut open, mut kept) = (held.clone(), held.clone());
        for (i, s) in spec.storages.iter().enumerate() {
            let k = at(StorageId(i as u32)) as usize;
            size[k] = size[k].max(s.size as i64);
            held[k] |= s.whole_run;
            open[k] |= s.writers.is_empty();
            kept[k] |= s.live_out;
        }
        (0..held.len()).for_each(|k| held[k] |= open[k] && kept[k]);
        for c in spec.placement.iter().filter(|c| options.placement && !c.required) {
            join(&mut chain, at(c.part), at(c.whole));
        }
        // A kept operand is never overwritten.
        let over = spec.in_place.iter().filter(|c| options.in_place && !c.required);
        for c in over.filter(|c| !held[at(c.operand) as usize] && !kept[at(c.operand) as usize]) {
            join(&mut chain, at(c.result), at(c.operand));
        }
        let mut largest = vec![-1i64; chain.len()];
        for k in (0..held.len()).filter(|&k| held[k]) {
            let root = find(&mut chain, k as u32) as usize;
            self.always -= size[k] + largest[root].max(0);
            largest[root] = largest[root].max(size[k]);
            self.always += largest[root];
        }
        self.joined = (0..chain.len() as u32).map(|k| largest[find(&mut chain, k) as usize] >= 0).collect();
    }

    fn collect(&mut self, options: &Options, at: impl Fn(StorageId) -> u32) {
        let spec = &self.problem.spec;
        if options.placement {
            for (index, c) in spec.placement.iter().enumerate().filter(|(_, c)| !c.required) {
                let (storage, whole) = (at(c.part), at(c.whole));
                if storage == whole {
                    continue;
                }
                let slot = &mut self.part_op[storage as usize];
                *slot = if *slot == NONE || *slot == c.op.0 { c.op.0 } else { SEVERAL };
                self.push(c.op, Candidate { storage, result: NONE, index });
            }
        }
        if options.in_place {
            for (index, c) in spec.in_place.iter().enumerate().filter(|(_, c)| !c.required) {
                let (storage, result) = (at(c.operand), at(c.result));
                if storage != result {
                    self.push(c.op, Candidate { storage, result, index });
                }
            }
        }
    }

    fn push(&mut self, op: OpId, c: Candidate) {
        if self.candidates.is_empty() {
            self.candidates.resize(self.model.n, Vec::new());
        }
        self.candidates[op.index()].push(c);
    }

    /// Inclusion-maximal sets of candidates that `v` may take together.
    fn sets(&self, v: u32) -> Vec<Vec<Candidate>> {
        let Some(all) = self.candidates.get(v as usize).filter(|c| !c.is_empty()) else {
            return vec![Vec::new()];
        };
        let placed: Vec<Candidate> = all.iter().copied().filter(|c| c.result == NONE).collect();
        let over: Vec<Candidate> = all.iter().copied().filter(|c| c.result != NONE).collect();
        let mut sets: Vec<Vec<Candidate>> = vec![placed.clone()];
        let mut results: Vec<u32> = over.iter().map(|c| c.result).collect();
        results.sort_unstable();
        results.dedup();
        for r in results {
            let mut next = Vec::new();
            for set in &sets {
                let used = |c: &&Candidate| set.iter().any(|d| d.result != NONE && d.storage == c.storage);
                let fits: Vec<&Candidate> = over.iter().filter(|c| c.result == r && !used(c)).collect();
                // Also without, when an operand may serve another result.
                let contested = |c: &Candidate| over.iter().any(|d| d.storage == c.storage && d.result != r);
                if fits.is_empty() || over.iter().any(|c| c.result == r && contested(c)) {
                    next.push(set.clone());
                }
                next.extend(fits.into_iter().map(|c| [set.as_slice(), &[*c]].concat()));
            }
            sets = next;
            if sets.len() > MOST_SETS {
                return vec![all.clone()];
            }
        }
        let index = |c: &Candidate| (c.result != NONE, c.index);
        let within = |a: &[Candidate], b: &[Candidate]| a.iter().all(|c| b.iter().any(|d| index(c) == index(d)));
        let maximal = |k: &usize| !(0..sets.len()).any(|o| o != *k && within(&sets[*k], &sets[o]));
        (0..sets.len()).filter(maximal).map(|k| sets[k].clone()).collect()
    }

    /// A lower bound for every order, from op `v`.
    pub(crate) fn bound(&mut self, v: u32, stats: &mut Stats) -> i64 {
        self.sides(v);
        let sets = self.sets(v);
        sets.iter().map(|set| self.quick(v, set, stats)).min().unwrap_or(0)
    }

    /// The same with its certificate.
    pub(crate) fn certificate(&mut self, v: u32, stats: &mut Stats) -> Certificate {
        self.sides(v);
        let sets = self.sets(v);
        let flows: Vec<SetFlow> = sets.iter().map(|set| self.flow(v, set, stats)).collect();
        let bound = flows.iter().map(|f| f.constant + f.value).min().unwrap_or(0);
        Certificate { op: OpId(v), bound, flows }
    }

    /// Marks what must run before `v`, what not, and what may.
    fn sides(&mut self, v: u32) {
        self.side.fill(Side::Free);
        for (adjacent, mark) in [(&self.model.preds, Side::Run), (&self.model.succs, Side::NotRun)] {
            let mut stack = vec![v];
            while let Some(u) = stack.pop() {
                for &w in adjacent.row(u as usize) {
                    if self.side[w as usize] == Side::Free {
                        self.side[w as usize] = mark;
                        stack.push(w);
                    }
                }
            }
        }
        self.side[v as usize] = Side::NotRun;
        self.free.clear();
        self.free.extend((0..self.model.n as u32).filter(|&u| self.side[u as usize] == Side::Free));
    }

    fn constant(&self, v: u32) -> i64 {
        let own = self.writes.row(v as usize).iter().filter(|&&s| !self.joined[s as usize]);
        let own: i64 = own.map(|&s| self.model.size[s as usize]).sum();
        self.always + self.model.scratch[v as usize] + own
    }

    fn quick(&mut self, v: u32, set: &[Candidate], stats: &mut Stats) -> i64 {
        stats.flows += 1;
        let rules = Relaxed { v, set, own: self.writes.row(v as usize), part_op: &self.part_op, joined: &self.joined };
        let (m, side) = (&self.model, &self.side);
        let mut fixed = 0;
        for s in 0..m.size.len() {
            let users = m.users.row(s);
            if users.is_empty() || rules.skip(s) || users.iter().any(|&u| side[u as usize] == Side::Free) {
                continue;
            }
            let started = m.open[s] || users.iter().any(|&u| side[u as usize] == Side::Run);
            let needs = |u: &u32| side[*u as usize] == Side::NotRun && !rules.ignore(s, *u);
            if started && (rules.kept(m, s) || users.iter().any(needs)) {
                fixed += m.size[s];
            }
        }
        let before = self.cutter.net.scanned;
        let value = self.cutter.min(m, &self.free, |u| side[u as usize], &rules);
        stats.nodes += (self.cutter.net.scanned - before) / 16 + m.n as u64 / 16;
        fixed + value + self.constant(v)
    }

    fn flow(&mut self, v: u32, set: &[Candidate], stats: &mut Stats) -> SetFlow {
        stats.flows += 1;
        let constant = self.constant(v) as u64;
        let rules = Relaxed { v, set, own: self.writes.row(v as usize), part_op: &self.part_op, joined: &self.joined };
        let all: Vec<u32> =
            (0..self.model.size.len() as u32).filter(|&s| !self.model.users.row(s as usize).is_empty()).collect();
        self.cutter.named = Some(Vec::new());
        let side = &self.side;
        let value = self.cutter.min_over(&self.model, &self.free, &all, |u| side[u as usize], &rules) as u64;
        let named = self.cutter.named.take().unwrap_or_default();
        let mut edges = Vec::new();
        for (from, to, capacity, edge) in named {
            let flow = self.cutter.net.carried(edge) as u64;
            if flow > 0 {
                self.emit(from, to, capacity, flow, &mut edges);
            }
        }
        edges.sort_by_key(|e: &FlowEdge| (e.from, e.to));
        let pick = |in_place: bool| {
            let mut list: Vec<usize> = set.iter().filter(|c| (c.result != NONE) == in_place).map(|c| c.index).collect();
            list.sort_unstable();
            list
        };
        SetFlow { taken: Taken { in_place: pick(true), placement: pick(false) }, constant, value, edges }
    }

    /// Writes one edge in the terms of the certificate, where every storage has both `In` and `Out`.
    fn emit(&self, from: Name, to: Name, capacity: i64, flow: u64, edges: &mut Vec<FlowEdge>) {
        let node = |name| match name {
            Name::Source => Node::Source,
            Name::Sink => Node::Sink,
            Name::Op(v) => Node::Op(OpId(v)),
            Name::In(s) => Node::In(StorageId(self.model.name[s as usize])),
            Name::Out(s) => Node::Out(StorageId(self.model.name[s as usize])),
        };
        let unlimited = capacity == crate::flow::UNLIMITED;
        match (from, to) {
            (Name::Source | Name::Op(_), Name::Out(s)) => {
                let enter = Node::In(StorageId(self.model.name[s as usize]));
                edges.push(FlowEdge { from: node(from), to: enter, capacity: None, flow });
                edges.push(FlowEdge { from: enter, to: node(to), capacity: Some(capacity as u64), flow });
            }
            _ => {
                let capacity = (!unlimited).then_some(capacity as u64);
                edges.push(FlowEdge { from: node(from), to: node(to), capacity, flow });
            }
        }
    }
}

/// The rules of the certificate's network.
struct Relaxed<'a> {
    v: u32,
    set: &'a [Candidate],
    own: &'a [u32],
    part_op: &'a [u32],
    joined: &'a [bool],
}

impl Rules for Relaxed<'_> {
    fn skip(&self, storage: usize) -> bool {
        let s = storage as u32;
        self.joined[storage]
            || self.part_op[storage] == SEVERAL
            || self.own.binary_search(&s).is_ok()
            || self.set.iter().any(|c| c.result == NONE && c.storage == s)
    }

    fn ignore(&self, storage: usize, user: u32) -> bool {
        let s = storage as u32;
        let part = self.part_op[storage];
        (part != NONE && part != user)
            || (user == self.v && self.set.iter().any(|c| c.result != NONE && c.storage == s))
    }

    fn kept(&self, model: &Model, storage: usize) -> bool {
        model.kept[storage] && self.part_op[storage] == NONE
    }
}
