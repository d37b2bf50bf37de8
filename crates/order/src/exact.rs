//! Exact search for the least peak of a model.
//!
//! At a budget `B` two fronts grow towards each other, one from the empty state forwards, one from the full state backwards (the live
//! bytes are the same function read in either direction). Each front
//! - runs *free moves*: an op that fits and does not raise the live bytes (Lemma A), or a chain of ops, each ready only through the one before,
//!   that ends no higher than it began;
//! - searches best-first over states from there, lowest live bytes first, and *commits* to a valley (Lemma B): when it meets a state no higher than
//!   where it began, the minimum cut between the two gives the lowest valley; the path, restricted to the valley's ops, stays within `B`.
//!
//! Neither loses a schedule that fits into `B` *or more*. When a front's search runs dry, no schedule fits into `B`, and the least budget that
//! was refused is the next `B`; all commitments stay valid. When the fronts meet, `B` is the optimum.
//!
//! Before that, what the fronts have committed, with an order that is known in between, is tried as an order of its own: often better than what was known.
//!
//! With classes, free moves must not raise a class and commitments must be minimal in every class; with groups, both
//! happen only outside a group.
//!
//! Counts states, commitments, free moves and refuted budgets.

use crate::cursor::Cursor;
use crate::cut::{Cutter, Plain, Rules, Side};
use crate::model::Model;
use crate::solution::Stats;
use crate::states::States;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the search found out.
#[derive(Debug)]
pub(crate) struct Exact {
    /// Every order needs at least so much (`i64::MAX`: no order satisfies the constraints).
    pub(crate) lower: i64,
    /// An order below the bound that was given: with peak `lower` when the search came to its end, else the incumbent with what was committed.
    pub(crate) order: Option<Vec<u32>>,
}

/// Limits of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// A proven lower bound to begin with.
    pub(crate) lower: i64,
    /// Budgets of this size and more are of no interest.
    pub(crate) upper: i64,
    /// An order that needs no more is good enough, and so is a bound above it.
    pub(crate) target: Option<i64>,
    /// Nodes (states expanded times ops tried) that may be spent.
    pub(crate) effort: u64,
}

/// Searches `model`; `incumbent` is a legal order (or empty).
pub(crate) fn search(
    model: &Model,
    incumbent: &[u32],
    limits: Limits,
    stats: &mut Stats,
    stop: &mut dyn FnMut(u64, i64) -> bool,
) -> Exact {
    let back = model.reversed();
    let mut s = Search {
        cutter: Cutter::new(model),
        fronts: [Front::new(model, true), Front::new(&back, false)],
        budget: limits.lower,
        upper: limits.upper,
        target: limits.target,
        incumbent,
        better: None,
        stitched: 0,
        spent: 0,
        effort: limits.effort,
        states: States::default(),
        stats,
        seq: Vec::new(),
        near: Vec::new(),
        stop,
    };
    let found = s.run();
    s.stats.nodes += s.spent;
    found
}

struct Front<'m> {
    cursor: Cursor<'m>,
    forward: bool,
    path: Vec<u32>,
}

impl<'m> Front<'m> {
    fn new(model: &'m Model, forward: bool) -> Front<'m> {
        Front { cursor: Cursor::new(model, forward), forward, path: Vec::new() }
    }
}

enum Outcome {
    Commit,
    Reached,
    Dry(i64),
    Limit,
}

struct Search<'m, 's> {
    cutter: Cutter,
    fronts: [Front<'m>; 2],
    budget: i64,
    upper: i64,
    target: Option<i64>,
    incumbent: &'s [u32],
    /// The incumbent with what was committed, below the bound that was given.
    better: Option<Vec<u32>>,
    /// `spent` when this was last tried: once for as many nodes as there are ops.
    stitched: u64,
    spent: u64,
    effort: u64,
    states: States,
    stats: &'s mut Stats,
    seq: Vec<u32>,
    /// Ops that a step may have made free.
    near: Vec<u32>,
    stop: &'s mut dyn FnMut(u64, i64) -> bool,
}

const FIRST_LIMIT: usize = 32;
/// Words of a state, or ready ops, that are looked at in about the time of one node.
const PER_NODE: u64 = 64;

impl Search<'_, '_> {
    fn run(&mut self) -> Exact {
        let fronts = if self.fronts[0].cursor.m.has_first() { 1 } else { 2 };
        let mut limit = FIRST_LIMIT;
        loop {
            let mut progress = false;
            for f in 0..fronts {
                let enough = self.target.is_some_and(|target| self.upper <= target || self.budget > target);
                if self.budget >= self.upper || enough {
                    return Exact { lower: self.budget.min(self.upper), order: self.better.take() };
                }
                match self.excursion(f, limit) {
                    Outcome::Commit => {
                        progress = true;
                        self.stitch();
                    }
                    Outcome::Reached => return self.finished(),
                    Outcome::Limit => {}
                    Outcome::Dry(next) => {
                        self.stats.refuted += 1;
                        self.budget = next;
                        progress = true;
                    }
                }
            }
            limit = if progress { FIRST_LIMIT } else { limit * 4 };
            if self.spent > self.effort || (self.stop)(self.spent, self.budget) {
                self.stats.limited = true;
                return Exact { lower: self.budget, order: self.better.take() };
            }
        }
    }

    /// What the fronts have committed, with the ops between them as the incumbent has them: an order that may be better than any before.
    fn stitch(&mut self) {
        let n = self.fronts[0].cursor.m.n;
        if self.incumbent.len() != n || self.spent < self.stitched + n as u64 {
            return;
        }
        self.stitched = self.spent;
        let [forward, back] = &self.fronts;
        let between = self.incumbent.iter().filter(|&&v| !forward.cursor.is_done(v) && !back.cursor.is_done(v));
        let order: Vec<u32> = forward.path.iter().chain(between).chain(back.path.iter().rev()).copied().collect();
        if let Some(peak) = crate::replay::peak(forward.cursor.m, &order).filter(|peak| *peak < self.upper) {
            self.upper = peak;
            self.better = Some(order);
        }
    }

    fn finished(&mut self) -> Exact {
        let [forward, back] = &self.fronts;
        let order = forward.path.iter().chain(back.path.iter().rev()).copied().collect();
        Exact { lower: self.budget, order: Some(order) }
    }

    fn complete(&self) -> bool {
        self.fronts[0].cursor.steps + self.fronts[1].cursor.steps == self.fronts[0].cursor.m.n
    }

    /// One search from front `f`, over at most `limit` states.
    fn excursion(&mut self, f: usize, limit: usize) -> Outcome {
        self.seq.clear();
        self.close(f);
        let free = std::mem::take(&mut self.seq);
        self.fronts[f].path.extend_from_slice(&free);
        self.stats.free_moves += free.len() as u64;
        self.seq = free;
        if self.complete() {
            return Outcome::Reached;
        }
        let base = self.fronts[f].cursor.done.clone();
        let base_live = self.fronts[f].cursor.live;
        self.states.reset(base.len());
        let hash = self.fronts[f].cursor.hash;
        let root = self.states.add(&base, hash, u32::MAX, &[]);
        let mut heap: BinaryHeap<Reverse<(i64, Reverse<usize>, u32)>> = BinaryHeap::new();
        heap.extend(root.map(|r| Reverse((base_live, Reverse(0), r))));
        let mut refused = i64::MAX;
        while let Some(Reverse((_, _, id))) = heap.pop() {
            let bits = self.states.bits(id).to_vec();
            self.fronts[f].cursor.go(&bits);
            if self.states.len() > limit || self.spent > self.effort {
                self.fronts[f].cursor.go(&base);
                return Outcome::Limit;
            }
            for v in self.candidates(f) {
                let Some(child) = self.expand(f, id, v, &mut refused) else { continue };
                let cursor = &self.fronts[f].cursor;
                let (live, steps) = (cursor.live, cursor.steps);
                if self.complete() {
                    self.take(f, &base, self.states.path(child));
                    return Outcome::Reached;
                }
                if live <= base_live && self.commit(f, &base, child) {
                    return Outcome::Commit;
                }
                heap.push(Reverse((live, Reverse(steps), child)));
                self.fronts[f].cursor.go(&bits);
            }
        }
        self.fronts[f].cursor.go(&base);
        Outcome::Dry(refused)
    }

    /// Runs `v` and what is free after it; the new state, or `None` (then the cursor is back where it was).
    fn expand(&mut self, f: usize, parent: u32, v: u32, refused: &mut i64) -> Option<u32> {
        let cursor = &mut self.fronts[f].cursor;
        // States are compared, copied and read word by word.
        self.spent += 1 + cursor.done.len() as u64 / PER_NODE;
        if !cursor.class_allows(v, false) {
            return None;
        }
        let look = cursor.look(v);
        if look.during > self.budget {
            *refused = (*refused).min(look.during);
            return None;
        }
        self.seq.clear();
        self.seq.push(v);
        let live = cursor.live;
        cursor.apply(v);
        self.close_after(f, live);
        let cursor = &mut self.fronts[f].cursor;
        let child = self.states.add(&cursor.done, cursor.hash, parent, &self.seq);
        match child {
            Some(_) => self.stats.states += 1,
            None => {
                for &v in self.seq.iter().rev() {
                    cursor.undo(v);
                }
            }
        }
        child
    }

    /// Ops that front `f` may run next.
    fn candidates(&self, f: usize) -> Vec<u32> {
        let mut list = Vec::new();
        self.candidates_into(f, &mut list);
        list
    }

    fn candidates_into(&self, f: usize, list: &mut Vec<u32>) {
        let (own, other) = (&self.fronts[f].cursor, &self.fronts[1 - f].cursor);
        list.clear();
        for (w, &word) in own.ready.iter().enumerate() {
            let mut bits = word & !other.done[w];
            while bits != 0 {
                let v = (w * 64) as u32 + bits.trailing_zeros();
                bits &= bits - 1;
                if own.group_allows(v) {
                    list.push(v);
                }
            }
        }
    }

    /// Applies free moves until none is left, adding them to `seq`.
    fn close(&mut self, f: usize) {
        let mut list = Vec::new();
        loop {
            self.candidates_into(f, &mut list);
            self.spent += list.len() as u64 / PER_NODE;
            if self.spent > self.effort {
                return;
            }
            if !self.run_free(f, &list) && !self.chains(f, &list) {
                return;
            }
        }
    }

    /// As `close`, where nothing was free before `seq` was run, at `live` bytes: what `seq` changed is looked at, and all once fewer bytes are
    /// live. Any move that this does not see is free in a later state, too.
    fn close_after(&mut self, f: usize, live: i64) {
        let mut list = std::mem::take(&mut self.near);
        let mut seen = 0;
        while self.spent <= self.effort {
            let from = std::mem::replace(&mut seen, self.seq.len());
            self.touched_by(f, from, &mut list);
            if self.run_free(f, &list) {
                continue;
            }
            if from > 0 {
                self.touched_by(f, 0, &mut list);
            }
            if !self.chains(f, &list) {
                break;
            }
        }
        self.near = list;
        if self.fronts[f].cursor.live < live {
            self.close(f);
        }
    }

    /// Ready ops that what `seq` has run from `from` on touched, or that alone delay an op which it touched; sorted.
    fn touched_by(&mut self, f: usize, from: usize, list: &mut Vec<u32>) {
        let (own, other) = (&self.fronts[f].cursor, &self.fronts[1 - f].cursor);
        let m = own.m;
        list.clear();
        let mut scanned = 0;
        for &v in &self.seq[from..] {
            let changed = m.touch.row(v as usize).iter().filter(|&&s| own.is_at_an_end(s as usize, self.seq.len()));
            let users = changed.flat_map(|&s| m.users.row(s as usize));
            for &w in m.succs.row(v as usize).iter().chain(users) {
                scanned += 1;
                // Back along a chain to the op that may begin it.
                let mut start = w;
                while own.waits_for_one(start) {
                    let preds = m.preds.row(start as usize);
                    scanned += preds.len() as u64;
                    start = preds.iter().copied().find(|&p| !own.is_done(p)).unwrap_or(start);
                }
                if own.is_ready(start) {
                    list.push(start);
                }
            }
        }
        list.sort_unstable();
        list.dedup();
        list.retain(|&v| !other.is_done(v));
        self.spent += scanned / PER_NODE;
    }

    /// Runs those of `list` that fit and do not raise the live bytes; whether there were any.
    fn run_free(&mut self, f: usize, list: &[u32]) -> bool {
        let from = self.seq.len();
        for &v in list {
            let cursor = &mut self.fronts[f].cursor;
            let grouped = cursor.m.group[v as usize] != crate::model::NONE;
            if grouped || cursor.in_group() || !cursor.class_allows(v, true) {
                continue;
            }
            let look = cursor.look(v);
            if look.net <= 0 && look.during <= self.budget {
                cursor.apply(v);
                self.seq.push(v);
            }
        }
        self.seq.len() > from
    }

    /// Runs one chain that ends no higher than it began, if there is one. Every op of a chain becomes ready through the op before
    /// it, so between its ends there are no states but its own prefixes, all higher: a valley by Lemma B.
    fn chains(&mut self, f: usize, list: &[u32]) -> bool {
        if self.fronts[f].cursor.m.constrained() {
            return false;
        }
        for &start in list {
            if self.spent > self.effort {
                break;
            }
            let from = self.seq.len();
            let begin = self.fronts[f].cursor.live;
            if self.chain(f, start, begin) {
                return true;
            }
            while self.seq.len() > from {
                if let Some(v) = self.seq.pop() {
                    self.fronts[f].cursor.undo(v);
                }
            }
        }
        false
    }

    fn chain(&mut self, f: usize, start: u32, begin: i64) -> bool {
        let mut v = start;
        for _ in 0..24 {
            self.spent += 1;
            let (own, other) = match &mut self.fronts {
                [a, b] if f == 0 => (&mut a.cursor, &b.cursor),
                [a, b] => (&mut b.cursor, &a.cursor),
            };
            // An op that makes no other ready ends the chain or leads nowhere; one that ends it at its start was free.
            let leads = own.m.succs.row(v as usize).iter().any(|&w| own.waits_for_one(w) && !other.is_done(w));
            if !leads && v == start {
                return false;
            }
            let look = own.look(v);
            let ends = own.live + look.net <= begin;
            if look.during > self.budget || !(leads || ends) {
                return false;
            }
            own.apply(v);
            self.seq.push(v);
            if ends {
                return true;
            }
            let model = own.m;
            let fresh = |own: &Cursor<'_>, w: u32| own.is_ready(w) && !other.is_done(w);
            let mut best: Option<(i64, u32)> = None;
            for &w in model.succs.row(v as usize) {
                if fresh(own, w) {
                    let look = own.look(w);
                    if look.during <= self.budget && best.is_none_or(|b| (look.net, w) < b) {
                        best = Some((look.net, w));
                    }
                }
            }
            match best {
                Some((_, w)) => v = w,
                None => return false,
            }
        }
        false
    }

    /// Tries to commit to the lowest valley between `base` and state `child`, where the cursor stands.
    fn commit(&mut self, f: usize, base: &[u64], child: u32) -> bool {
        let free = difference(&self.fronts[f].cursor.done, base);
        let keep = self.valley(f, base, &free, &Plain);
        let inside = |v: u32| free.binary_search(&v).is_ok_and(|k| keep[k]);
        let path: Vec<u32> = self.states.path(child).into_iter().filter(|&v| inside(v)).collect();
        self.fronts[f].cursor.go(base);
        // Bytes that only the first step holds may meet another op when the path is restricted.
        let first = f == 0 && self.fronts[0].cursor.steps == 0 && self.fronts[0].cursor.m.has_first();
        let limited = first || self.fronts[f].cursor.m.constrained();
        if limited && !self.constraints_allow(f, base, &path) {
            // Back to the child, as the caller left it.
            let bits = self.states.bits(child).to_vec();
            self.fronts[f].cursor.go(&bits);
            return false;
        }
        self.take(f, base, path);
        self.stats.commits += 1;
        true
    }

    /// Of `free` (what front `f` ran since `base`), the ops of the lowest and furthest valley.
    fn valley(&mut self, f: usize, base: &[u64], free: &[u32], rules: &impl Rules) -> Vec<bool> {
        let model = self.fronts[0].cursor.m;
        let run = |v: u32| base[v as usize / 64] >> (v % 64) & 1 == 1;
        let is_free = |v: u32| free.binary_search(&v).is_ok();
        self.stats.flows += 1;
        let scanned = self.cutter.net.scanned;
        let forward = self.fronts[f].forward;
        // Backwards, what this front has run is what has not run.
        let side = |v: u32| match (is_free(v), run(v) == forward) {
            (true, _) => Side::Free,
            (_, true) => Side::Run,
            (_, false) => Side::NotRun,
        };
        self.cutter.min(model, free, side, rules);
        self.spent += (self.cutter.net.scanned - scanned) / 16;
        if forward {
            self.cutter.largest(free)
        } else {
            self.cutter.smallest(free).into_iter().map(|run| !run).collect()
        }
    }

    /// Whether the valley reached by `path` loses nothing under classes and groups. The cursor stands at `base` before and after.
    fn constraints_allow(&mut self, f: usize, base: &[u64], path: &[u32]) -> bool {
        let budget = self.budget;
        let cursor = &mut self.fronts[f].cursor;
        let mut fits = !path.is_empty() && !cursor.in_group();
        for &v in path {
            fits &= cursor.group_allows(v) && cursor.class_allows(v, false) && cursor.look(v).during <= budget;
            cursor.apply(v);
        }
        fits &= !cursor.in_group();
        let free = difference(&cursor.done, base);
        cursor.go(base);
        let classes = cursor.class_live().len() as u32;
        fits && (0..classes).all(|class| {
            let limit = self.fronts[0].cursor.m.limits[class as usize];
            [(false, limit.count), (true, limit.bytes)].into_iter().all(|(bytes, most)| {
                if most == i64::MAX {
                    return true;
                }
                // The whole of `free` must be the furthest valley of the class, too.
                self.valley(f, base, &free, &OfClass { class, bytes }).into_iter().all(|inside| inside)
            })
        })
    }

    fn take(&mut self, f: usize, base: &[u64], path: Vec<u32>) {
        let front = &mut self.fronts[f];
        front.cursor.go(base);
        for &v in &path {
            debug_assert!(front.cursor.look(v).during <= self.budget, "the path stays within the budget");
            front.cursor.apply(v);
        }
        front.path.extend(path);
    }
}

/// The live count (or bytes) of one class as a cut.
struct OfClass {
    class: u32,
    bytes: bool,
}

impl Rules for OfClass {
    fn skip(&self, _: usize) -> bool {
        false
    }

    fn size(&self, model: &Model, storage: usize) -> i64 {
        match model.class[storage] == self.class {
            true if self.bytes => model.size[storage],
            true => 1,
            false => 0,
        }
    }
}

/// Ops in `a` and not in `b`, sorted.
fn difference(a: &[u64], b: &[u64]) -> Vec<u32> {
    let mut out = Vec::new();
    for (w, (&x, &y)) in a.iter().zip(b).enumerate() {
        let mut bits = x & !y;
        while bits != 0 {
            out.push((w * 64) as u32 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
    out
}
