//! A movable state of the exact search: which ops have run, what is live, what may run next.
//!
//! Every counter is a function of the set of ops that have run, so ops may be applied and undone in any sequence, and moving between two
//! states costs their difference only.

use crate::model::{Model, NONE, Pair};

/// The state.
#[derive(Debug)]
pub(crate) struct Cursor<'m> {
    pub(crate) m: &'m Model,
    /// Bit per op that has run.
    pub(crate) done: Vec<u64>,
    /// Bit per op whose predecessors have run and that has not.
    pub(crate) ready: Vec<u64>,
    pub(crate) live: i64,
    pub(crate) steps: usize,
    pub(crate) hash: u64,
    left: Vec<u32>,
    users_left: Vec<u32>,
    total: Vec<u32>,
    class_live: Vec<(i64, i64)>,
    /// Per class, its storages that are live, in no order.
    class_storages: Vec<Vec<u32>>,
    /// Ops that touch a storage of a class.
    classed: Vec<bool>,
    group_run: Vec<u32>,
    group_size: Vec<u32>,
    group_wait: Vec<u32>,
    open_groups: u32,
    first: i64,
    scratch_pairs: Vec<Pair>,
}

/// What running an op would do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Bytes held during it.
    pub(crate) during: i64,
    /// Change of live bytes.
    pub(crate) net: i64,
}

/// Hash key of an op (SplitMix64 of its id): the hash of a state is the exclusive or of its ops' keys.
pub(crate) fn key(v: u32) -> u64 {
    crate::shuffle::Random(u64::from(v)).next()
}

fn classed(m: &Model) -> Vec<bool> {
    if m.limits.is_empty() {
        return Vec::new();
    }
    (0..m.n).map(|v| m.touch.row(v).iter().any(|&s| m.class[s as usize] != NONE)).collect()
}

impl<'m> Cursor<'m> {
    /// Nothing has run. `forward` says whether `first` bytes count in the first step.
    pub(crate) fn new(m: &'m Model, forward: bool) -> Cursor<'m> {
        let words = m.n.div_ceil(64);
        let total: Vec<u32> = (0..m.size.len()).map(|s| m.users.row(s).len() as u32).collect();
        let mut c = Cursor {
            m,
            done: vec![0; words],
            ready: vec![0; words],
            live: m.start_bytes(),
            steps: 0,
            hash: 0,
            left: (0..m.n).map(|v| m.preds.row(v).len() as u32).collect(),
            users_left: total.clone(),
            total,
            class_live: crate::replay::initial_classes(m),
            class_storages: vec![Vec::new(); m.limits.len()],
            classed: classed(m),
            group_run: vec![0; m.groups],
            group_size: vec![0; m.groups],
            group_wait: vec![0; m.groups],
            open_groups: 0,
            first: if forward { m.first } else { 0 },
            scratch_pairs: Vec::new(),
        };
        for s in (0..m.size.len()).filter(|&s| m.open[s] && m.class[s] != NONE) {
            c.class_storages[m.class[s] as usize].push(s as u32);
        }
        for v in 0..m.n {
            if c.left[v] == 0 {
                c.ready[v / 64] |= 1 << (v % 64);
            }
            let g = m.group[v];
            if g != NONE {
                c.group_size[g as usize] += 1;
                let outside = m.preds.row(v).iter().filter(|&&p| m.group[p as usize] != g);
                c.group_wait[g as usize] += outside.count() as u32;
            }
        }
        c
    }

    pub(crate) fn is_done(&self, v: u32) -> bool {
        self.done[v as usize / 64] >> (v % 64) & 1 == 1
    }

    pub(crate) fn is_ready(&self, v: u32) -> bool {
        self.ready[v as usize / 64] >> (v % 64) & 1 == 1
    }

    /// Whether `v` becomes ready with the next of its predecessors that runs.
    pub(crate) fn waits_for_one(&self, v: u32) -> bool {
        self.left[v as usize] == 1 && !self.is_done(v)
    }

    pub(crate) fn starts(&self, s: usize) -> bool {
        !self.m.open[s] && self.users_left[s] == self.total[s]
    }

    /// Whether one user of `s` is left, or no more than `ops` have run.
    pub(crate) fn is_at_an_end(&self, s: usize, ops: usize) -> bool {
        self.users_left[s] == 1 || (self.total[s] - self.users_left[s]) as usize <= ops
    }

    fn ends(&self, s: usize) -> bool {
        !self.m.kept[s] && self.users_left[s] == 1
    }

    /// What running the ready op `v` would do.
    pub(crate) fn look(&mut self, v: u32) -> Look {
        let m = self.m;
        let v = v as usize;
        let (mut born, mut dead) = (0, 0);
        for &s in m.touch.row(v) {
            let s = s as usize;
            if self.starts(s) {
                born += m.size[s];
            }
            if self.ends(s) {
                dead += m.size[s];
            }
        }
        let first = if self.steps == 0 { self.first } else { 0 };
        let saved = if m.pairs(v).is_empty() { 0 } else { self.pairs(v).iter().map(|p| p.bytes).sum() };
        Look { during: self.live + born + m.scratch[v] + first - saved, net: born - dead }
    }

    /// The pairs that `v` would take now.
    fn pairs(&mut self, v: usize) -> Vec<Pair> {
        let mut ready = std::mem::take(&mut self.scratch_pairs);
        ready.clear();
        let can = |p: &&Pair| self.starts(p.born as usize) && self.ends(p.dying as usize);
        ready.extend(self.m.pairs(v).iter().filter(can));
        let best = crate::matching::best(&ready);
        self.scratch_pairs = ready;
        best
    }

    /// Whether groups let `v` run now.
    pub(crate) fn group_allows(&self, v: u32) -> bool {
        if self.m.groups == 0 {
            return true;
        }
        let g = self.m.group[v as usize];
        if self.open_groups > 0 {
            return g != NONE && self.group_run[g as usize] > 0;
        }
        g == NONE || self.group_wait[g as usize] == 0
    }

    /// Whether a group has begun and not ended.
    pub(crate) fn in_group(&self) -> bool {
        self.open_groups > 0
    }

    /// Whether `v` keeps all class limits; and, for a free move, whether it raises no class.
    pub(crate) fn class_allows(&mut self, v: u32, free: bool) -> bool {
        let m = self.m;
        // An op that touches no class changes nothing, but step 0 may be full already.
        if m.limits.is_empty() || (!self.classed[v as usize] && self.steps > 0) {
            return true;
        }
        let mut during = self.class_live.clone();
        if self.steps == 0 {
            for (d, f) in during.iter_mut().zip(&m.first_class) {
                *d = (d.0 + f.0, d.1 + f.1);
            }
        }
        let mut net = vec![(0, 0); during.len()];
        for &s in m.touch.row(v as usize) {
            let (s, c) = (s as usize, m.class[s as usize] as usize);
            if m.class[s] == NONE {
                continue;
            }
            if self.starts(s) {
                during[c] = (during[c].0 + 1, during[c].1 + m.size[s]);
                net[c] = (net[c].0 + 1, net[c].1 + m.size[s]);
            }
            if self.ends(s) {
                net[c] = (net[c].0 - 1, net[c].1 - m.size[s]);
            }
        }
        for p in self.pairs(v as usize) {
            if m.class[p.born as usize] != NONE {
                let d = &mut during[m.class[p.born as usize] as usize];
                *d = (d.0 - 1, d.1 - p.bytes);
            }
        }
        let fits = during.iter().zip(&m.limits).all(|(d, l)| d.0 <= l.count && d.1 <= l.bytes);
        fits && (!free || net.iter().all(|n| n.0 <= 0 && n.1 <= 0))
    }

    /// Live count and bytes of a class.
    pub(crate) fn class_live(&self) -> &[(i64, i64)] {
        &self.class_live
    }

    /// Storages of a class that are live, in no order.
    pub(crate) fn class_storages(&self, class: usize) -> &[u32] {
        &self.class_storages[class]
    }

    /// `v` runs.
    pub(crate) fn apply(&mut self, v: u32) {
        let m = self.m;
        let at = v as usize;
        self.done[at / 64] |= 1 << (at % 64);
        self.ready[at / 64] &= !(1 << (at % 64));
        self.hash ^= key(v);
        self.steps += 1;
        for &s in m.touch.row(at) {
            let s = s as usize;
            if self.starts(s) {
                self.count(s, 1);
            }
            if self.ends(s) {
                self.count(s, -1);
            }
            self.users_left[s] -= 1;
        }
        for &w in m.succs.row(at) {
            let w = w as usize;
            self.left[w] -= 1;
            if self.left[w] == 0 && self.done[w / 64] >> (w % 64) & 1 == 0 {
                self.ready[w / 64] |= 1 << (w % 64);
            }
        }
        if m.groups > 0 {
            self.group(at, true);
        }
    }

    /// `v` has not run.
    pub(crate) fn undo(&mut self, v: u32) {
        let m = self.m;
        let at = v as usize;
        if m.groups > 0 {
            self.group(at, false);
        }
        self.done[at / 64] &= !(1 << (at % 64));
        self.hash ^= key(v);
        self.steps -= 1;
        for &w in m.succs.row(at) {
            let w = w as usize;
            if self.left[w] == 0 {
                self.ready[w / 64] &= !(1 << (w % 64));
            }
            self.left[w] += 1;
        }
        if self.left[at] == 0 {
            self.ready[at / 64] |= 1 << (at % 64);
        }
        for &s in m.touch.row(at) {
            let s = s as usize;
            self.users_left[s] += 1;
            // The reverse of doing: what begins and ends in one step comes and goes again.
            if self.ends(s) {
                self.count(s, 1);
            }
            if self.starts(s) {
                self.count(s, -1);
            }
        }
    }

    fn count(&mut self, s: usize, sign: i64) {
        self.live += sign * self.m.size[s];
        if self.m.class[s] != NONE {
            let c = &mut self.class_live[self.m.class[s] as usize];
            *c = (c.0 + sign, c.1 + sign * self.m.size[s]);
            let live = &mut self.class_storages[self.m.class[s] as usize];
            match live.iter().position(|&x| x as usize == s) {
                Some(at) if sign < 0 => drop(live.swap_remove(at)),
                None if sign > 0 => live.push(s as u32),
                _ => {}
            }
        }
    }

    fn group(&mut self, v: usize, run: bool) {
        let m = self.m;
        let g = m.group[v];
        if g != NONE {
            let (had, size) = (self.group_run[g as usize], self.group_size[g as usize]);
            let has = if run { had + 1 } else { had - 1 };
            let open = |x: u32| u32::from(x > 0 && x < size);
            self.group_run[g as usize] = has;
            self.open_groups = self.open_groups + open(has) - open(had);
        }
        for &w in m.succs.row(v) {
            let other = m.group[w as usize];
            if other != NONE && other != g {
                if run {
                    self.group_wait[other as usize] -= 1;
                } else {
                    self.group_wait[other as usize] += 1;
                }
            }
        }
    }

    /// Moves to the state whose bits are `target`.
    pub(crate) fn go(&mut self, target: &[u64]) {
        for (w, &word) in target.iter().enumerate() {
            let mut out = self.done[w] & !word;
            while out != 0 {
                self.undo((w * 64) as u32 + out.trailing_zeros());
                out &= out - 1;
            }
        }
        for (w, &word) in target.iter().enumerate() {
            let mut into = word & !self.done[w];
            while into != 0 {
                self.apply((w * 64) as u32 + into.trailing_zeros());
                into &= into - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn any_sequence_of_moves_leads_to_the_same_state() {
        let p = fixtures::weights_first();
        let m = crate::model::build(&p, &Default::default(), |_| true);
        let mut a = Cursor::new(&m, true);
        for v in [0, 2, 1] {
            a.apply(v);
        }
        let mut b = Cursor::new(&m, true);
        b.go(&[0b1111]);
        b.go(&[0b0111]);
        assert_eq!((a.live, a.hash, &a.ready), (b.live, b.hash, &b.ready));
        b.go(&[0]);
        let fresh = Cursor::new(&m, true);
        assert_eq!((b.live, &b.ready, &b.users_left), (fresh.live, &fresh.ready, &fresh.users_left));
    }
}
