//! The solvers' view of a problem: a hypergraph with sizes.
//!
//! Every merged storage is the set of ops that touch it; it is live between two steps when some but not all of these ops have run
//! (arguments count as started, kept storages as never finished). Live bytes are therefore the cut function of a hypergraph: submodular, and the same
//! read backwards, which is why one code searches in both directions.
//!
//! A choice ([`Taken`]) says which candidates are decided before the search; the remaining in-place candidates of equal size are
//! [`Pair`]s that an order takes whenever it can (taking one never costs bytes, so the order decides).

use crate::csr::Csr;
use crate::ids::StorageId;
use crate::problem::Problem;
use crate::taken::{Taken, merged};

/// No class, no group.
pub(crate) const NONE: u32 = u32::MAX;

/// An in-place candidate of equal size: storage `born` may be written over storage `dying`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) born: u32,
    pub(crate) dying: u32,
    pub(crate) bytes: i64,
    /// Index into `Spec::in_place`.
    pub(crate) candidate: u32,
}

/// A class with what is left of it for storages that are not live all the time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) count: i64,
    pub(crate) bytes: i64,
}

/// Hypergraph, dependencies and constraints.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) n: usize,
    /// Bytes held in every step.
    pub(crate) base: i64,
    /// Bytes of arguments that nobody touches: held in step 0 only.
    pub(crate) first: i64,
    pub(crate) scratch: Vec<i64>,
    pub(crate) preds: Csr,
    pub(crate) succs: Csr,
    /// Storages that each op touches, and ops that touch each storage.
    pub(crate) touch: Csr,
    pub(crate) users: Csr,
    pub(crate) size: Vec<i64>,
    /// Live before the first step.
    pub(crate) open: Vec<bool>,
    /// Live after the last step.
    pub(crate) kept: Vec<bool>,
    pub(crate) class: Vec<u32>,
    pub(crate) limits: Vec<Limit>,
    /// Storages and bytes of each class that are live in step 0 only.
    pub(crate) first_class: Vec<(i64, i64)>,
    /// The op that starts a storage; `NONE` for arguments and for storages that several ops may start.
    pub(crate) writer: Vec<u32>,
    /// Id of each storage in the problem: its smallest member.
    pub(crate) name: Vec<u32>,
    pub(crate) group: Vec<u32>,
    pub(crate) groups: usize,
    /// Per op, candidates taken when `dying` has no other user left.
    pub(crate) pairs: Vec<Pair>,
    pub(crate) pair_start: Vec<u32>,
    pub(crate) cycles: Vec<u64>,
}

impl Model {
    /// The pairs of op `v`.
    pub(crate) fn pairs(&self, v: usize) -> &[Pair] {
        &self.pairs[self.pair_start[v] as usize..self.pair_start[v + 1] as usize]
    }

    /// Whether any constraint beyond dependencies exists.
    pub(crate) fn constrained(&self) -> bool {
        !self.limits.is_empty() || self.groups > 0
    }

    /// Whether step 0 is unlike the others, so that the model may not be read backwards.
    pub(crate) fn has_first(&self) -> bool {
        self.first > 0 || self.first_class.iter().any(|c| *c != (0, 0))
    }

    /// Bytes live before the first step, without `first`.
    pub(crate) fn start_bytes(&self) -> i64 {
        self.base + (0..self.size.len()).filter(|&s| self.open[s]).map(|s| self.size[s]).sum::<i64>()
    }

    /// The same problem read backwards; an order of it is a reversed order of `self`. Only when [`Model::has_first`] is false.
    pub(crate) fn reversed(&self) -> Model {
        let mut m = self.clone();
        std::mem::swap(&mut m.preds, &mut m.succs);
        std::mem::swap(&mut m.open, &mut m.kept);
        // Backwards any reader may be the first to touch a storage.
        m.writer.fill(NONE);
        for p in &mut m.pairs {
            std::mem::swap(&mut p.born, &mut p.dying);
        }
        m
    }
}

/// Builds the model of `problem` with the candidates in `decided` taken beforehand. `pair` says which other in-place candidates the
/// order may take on its own.
pub(crate) fn build(problem: &Problem, decided: &Taken, pair: impl Fn(usize) -> bool) -> Model {
    let spec = &problem.spec;
    let n = spec.ops.len();
    let rep = merged(problem, decided);
    let mut index = vec![NONE; rep.len()];
    let mut m = empty(problem);
    let mut whole_run = Vec::new();
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for (i, s) in spec.storages.iter().enumerate() {
        let r = rep[i].index();
        if index[r] == NONE {
            index[r] = m.size.len() as u32;
            m.size.push(0);
            m.open.push(false);
            m.kept.push(false);
            m.class.push(s.class.map_or(NONE, |c| c.0));
            m.name.push(i as u32);
            whole_run.push(false);
        }
        let k = index[r];
        let at = k as usize;
        m.size[at] = m.size[at].max(s.size as i64);
        m.open[at] |= s.writers.is_empty();
        m.kept[at] |= s.live_out;
        whole_run[at] |= s.whole_run;
        edges.extend(s.writers.iter().chain(&s.readers).map(|o| (k, o.0)));
    }
    m.users = Csr::new(m.size.len(), n, &edges);
    m.writer = sole_writers(problem, &rep, &index, &m.open);
    settle(&mut m, &whole_run);
    m.touch = m.users.transpose(n);
    add_decided_edges(problem, decided, &mut m);
    add_pairs(problem, decided, pair, &rep, &index, &mut m);
    m
}

/// A storage with one writer is started by it (readers depend on it); one with several may be started by any user.
fn sole_writers(problem: &Problem, rep: &[StorageId], index: &[u32], open: &[bool]) -> Vec<u32> {
    let mut writer = vec![NONE; open.len()];
    let mut several = open.to_vec();
    for (i, s) in problem.spec.storages.iter().enumerate() {
        let k = index[rep[i].index()] as usize;
        for w in &s.writers {
            several[k] |= writer[k] != NONE && writer[k] != w.0;
            writer[k] = w.0;
        }
    }
    for k in (0..open.len()).filter(|&k| several[k]) {
        writer[k] = NONE;
    }
    writer
}

fn empty(problem: &Problem) -> Model {
    let spec = &problem.spec;
    let limit = |c: &crate::problem::Class| Limit {
        count: c.limit.map_or(i64::MAX, i64::from),
        bytes: c.capacity.map_or(i64::MAX, |b| i64::try_from(b).unwrap_or(i64::MAX)),
    };
    Model {
        n: spec.ops.len(),
        base: 0,
        first: 0,
        scratch: spec.ops.iter().map(|o| o.scratch as i64).collect(),
        preds: problem.preds.clone(),
        succs: problem.succs.clone(),
        touch: Csr::default(),
        users: Csr::default(),
        size: Vec::new(),
        open: Vec::new(),
        kept: Vec::new(),
        class: Vec::new(),
        limits: spec.classes.iter().map(limit).collect(),
        first_class: vec![(0, 0); spec.classes.len()],
        writer: Vec::new(),
        name: Vec::new(),
        group: problem.group.clone(),
        groups: spec.groups.len(),
        pairs: Vec::new(),
        pair_start: vec![0; spec.ops.len() + 1],
        cycles: spec.ops.iter().map(|o| o.cycles).collect(),
    }
}

/// Moves storages that are live all the time, or in step 0 only, out of the hypergraph: their size there becomes 0 and they touch nothing.
fn settle(m: &mut Model, whole_run: &[bool]) {
    let mut gone = vec![false; m.size.len()];
    for s in 0..m.size.len() {
        let unused = m.users.row(s).is_empty();
        let always = whole_run[s] || (m.open[s] && m.kept[s]);
        if always {
            m.base += m.size[s];
            take_from_limit(m, s);
        } else if unused {
            m.first += m.size[s];
            if let Some(c) = m.first_class.get_mut(m.class[s] as usize) {
                c.0 += 1;
                c.1 += m.size[s];
            }
        }
        gone[s] = always || unused;
    }
    if gone.iter().any(|&g| g) {
        let pairs: Vec<(u32, u32)> = m.users.pairs().into_iter().filter(|&(s, _)| !gone[s as usize]).collect();
        m.users = Csr::new(m.size.len(), m.n, &pairs);
        for s in (0..gone.len()).filter(|&s| gone[s]) {
            (m.size[s], m.open[s], m.kept[s], m.class[s]) = (0, false, false, NONE);
            m.writer[s] = NONE;
        }
    }
}

fn take_from_limit(m: &mut Model, s: usize) {
    if let Some(limit) = m.limits.get_mut(m.class[s] as usize) {
        limit.count = limit.count.saturating_sub(if limit.count == i64::MAX { 0 } else { 1 });
        limit.bytes = limit.bytes.saturating_sub(if limit.bytes == i64::MAX { 0 } else { m.size[s] });
    }
}

/// A decided in-place candidate orders everyone else who touches the operand's bytes before its op.
fn add_decided_edges(problem: &Problem, decided: &Taken, m: &mut Model) {
    if decided.in_place.is_empty() {
        return;
    }
    // What shares the operand's bytes *before* the op runs: the problem's union and the parts placed inside.
    let mut inside = problem.rep.clone();
    for &i in &decided.placement {
        let c = &problem.spec.placement[i];
        crate::validate::join(&mut inside, c.part.0, c.whole.0);
    }
    let mut touch: Vec<(u32, u32)> = Vec::new();
    for (i, s) in problem.spec.storages.iter().enumerate() {
        let r = crate::validate::find(&mut inside, i as u32);
        touch.extend(s.writers.iter().chain(&s.readers).map(|o| (r, o.0)));
    }
    let touch = Csr::new(problem.spec.storages.len(), m.n, &touch);
    let mut edges = m.succs.pairs();
    for &i in &decided.in_place {
        let c = &problem.spec.in_place[i];
        let r = crate::validate::find(&mut inside, c.operand.0);
        edges.extend(touch.row(r as usize).iter().filter(|&&o| o != c.op.0).map(|&o| (o, c.op.0)));
    }
    m.succs = Csr::new(m.n, m.n, &edges);
    m.preds = m.succs.transpose(m.n);
}

fn add_pairs(
    problem: &Problem,
    decided: &Taken,
    pair: impl Fn(usize) -> bool,
    rep: &[StorageId],
    index: &[u32],
    m: &mut Model,
) {
    let spec = &problem.spec;
    let at = |s: StorageId| index[rep[s.index()].index()];
    let roles = Roles::new(problem, decided);
    let mut found: Vec<(u32, Pair)> = Vec::new();
    for (i, c) in spec.in_place.iter().enumerate() {
        let (born, dying) = (at(c.result), at(c.operand));
        let (b, d) = (born as usize, dying as usize);
        let equal = m.size[b] == m.size[d] && m.class[b] == m.class[d];
        let live = born != dying && !m.kept[d] && !m.open[b];
        let used = !m.users.row(b).is_empty() && !m.users.row(d).is_empty();
        if pair(i) && equal && live && used && roles.allow(problem, i) {
            found.push((c.op.0, Pair { born, dying, bytes: m.size[b], candidate: i as u32 }));
        }
    }
    found.sort_by_key(|&(op, p)| (op, std::cmp::Reverse(p.bytes), p.candidate));
    for &(op, _) in &found {
        m.pair_start[op as usize + 1] += 1;
    }
    for v in 0..m.n {
        m.pair_start[v + 1] += m.pair_start[v];
    }
    m.pairs = found.into_iter().map(|(_, p)| p).collect();
}

/// What a storage (under the problem's unions) is to the decided candidates.
struct Roles {
    /// Lies in a whole, or is a whole with parts.
    placed: Vec<bool>,
    part: Vec<bool>,
    overwritten: Vec<bool>,
    filled: Vec<bool>,
    writer: Vec<u32>,
    several: Vec<bool>,
}

impl Roles {
    fn new(problem: &Problem, decided: &Taken) -> Roles {
        let n = problem.rep.len();
        let no = vec![false; n];
        let (placed, part, several) = (no.clone(), no.clone(), no.clone());
        let (overwritten, filled, writer) = (no.clone(), no, vec![NONE; n]);
        let mut r = Roles { placed, part, overwritten, filled, writer, several };
        let base = |s: StorageId| problem.rep[s.index()] as usize;
        for &i in &decided.placement {
            let c = &problem.spec.placement[i];
            r.part[base(c.part)] = true;
            r.placed[base(c.part)] = true;
            r.placed[base(c.whole)] = true;
        }
        for &i in &decided.in_place {
            let c = &problem.spec.in_place[i];
            r.overwritten[base(c.operand)] = true;
            r.filled[base(c.result)] = true;
        }
        for (i, s) in problem.spec.storages.iter().enumerate() {
            let b = problem.rep[i] as usize;
            for w in &s.writers {
                r.several[b] |= r.writer[b] != NONE && r.writer[b] != w.0;
                r.writer[b] = w.0;
            }
        }
        r
    }

    fn allow(&self, problem: &Problem, i: usize) -> bool {
        let c = &problem.spec.in_place[i];
        let (x, r) = (problem.rep[c.operand.index()] as usize, problem.rep[c.result.index()] as usize);
        !self.placed[r] && !self.part[x] && !self.overwritten[x] && !self.filled[r] && !self.several[r]
    }
}
