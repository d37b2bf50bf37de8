//! Beam search: an order without proof where the exact search does not come to an end.
//!
//! States are met in the order of the ops they have run; of those that have run equally many the ones with the least peak so far, then the least
//! live bytes, are kept, `width` of them, each once. Peaks up to the proven lower bound are all alike. After each op all free moves within the
//! state's own peak are run (Lemma A: they lose nothing). Linear in `width` times the ops.
//!
//! Counts nodes: ops tried.

use crate::cursor::Cursor;
use crate::model::{Model, NONE};
use crate::solution::Stats;
use std::rc::Rc;

/// A kept state.
struct State {
    bits: Vec<u64>,
    peak: i64,
    trail: u32,
}

/// A state to be: `op` after `parent`.
struct Child {
    peak: i64,
    live: i64,
    hash: u64,
    parent: Rc<State>,
    op: u32,
}

/// How a state was reached: the ops since the trail before.
struct Trail {
    before: u32,
    ops: Vec<u32>,
}

/// The best order with a peak below `bounds.1` that a beam finds, given that none is below `bounds.0`; `None` if there is none, or the effort ran out before the end.
pub(crate) fn search(
    model: &Model,
    backwards: bool,
    width: usize,
    bounds: (i64, i64),
    effort: u64,
    stats: &mut Stats,
) -> Option<Vec<u32>> {
    if backwards && model.has_first() {
        return None;
    }
    let back = backwards.then(|| model.reversed());
    let model = back.as_ref().unwrap_or(model);
    let mut beam =
        Beam { cursor: Cursor::new(model, !backwards), trails: Vec::new(), upper: bounds.1, spent: 0, found: None };
    beam.run(width, bounds.0, effort);
    stats.nodes += beam.spent;
    let mut order = beam.found?;
    if backwards {
        order.reverse();
    }
    Some(order)
}

struct Beam<'m> {
    cursor: Cursor<'m>,
    trails: Vec<Trail>,
    upper: i64,
    spent: u64,
    found: Option<Vec<u32>>,
}

impl Beam<'_> {
    fn run(&mut self, width: usize, floor: i64, effort: u64) {
        let n = self.cursor.m.n;
        let mut buckets: Vec<Vec<Child>> = Vec::new();
        buckets.resize_with(n + 1, Vec::new);
        self.settle(floor, NONE, Vec::new(), &mut buckets);
        for steps in 1..=n {
            let mut children = std::mem::take(&mut buckets[steps]);
            children.sort_by_key(|child| (child.peak, child.live, child.hash, child.op));
            children.dedup_by_key(|child| child.hash);
            for child in children.into_iter().take(width) {
                if child.peak >= self.upper {
                    break;
                }
                if self.spent > effort {
                    return;
                }
                self.cursor.go(&child.parent.bits);
                self.cursor.apply(child.op);
                self.settle(child.peak, child.parent.trail, vec![child.op], &mut buckets);
            }
        }
    }

    /// Runs free moves from where the cursor stands, keeps the state, and lists its children.
    fn settle(&mut self, peak: i64, before: u32, mut ops: Vec<u32>, buckets: &mut [Vec<Child>]) {
        let mut ready = Vec::new();
        loop {
            self.ready(&mut ready);
            let from = ops.len();
            for &v in &ready {
                let grouped = self.cursor.m.group[v as usize] != NONE;
                if grouped || self.cursor.in_group() || !self.cursor.class_allows(v, true) {
                    continue;
                }
                let look = self.cursor.look(v);
                if look.net <= 0 && look.during <= peak {
                    self.cursor.apply(v);
                    ops.push(v);
                }
            }
            if ops.len() == from {
                break;
            }
        }
        let trail = self.trails.len() as u32;
        self.trails.push(Trail { before, ops });
        if self.cursor.steps == self.cursor.m.n {
            self.upper = peak;
            self.found = Some(self.path(trail));
            return;
        }
        let state = Rc::new(State { bits: self.cursor.done.clone(), peak, trail });
        for &v in &ready {
            self.spent += 1;
            if !self.cursor.class_allows(v, false) {
                continue;
            }
            let look = self.cursor.look(v);
            let (peak, live) = (state.peak.max(look.during), self.cursor.live + look.net);
            if peak < self.upper {
                let hash = self.cursor.hash ^ crate::cursor::key(v);
                buckets[self.cursor.steps + 1].push(Child { peak, live, hash, parent: Rc::clone(&state), op: v });
            }
        }
    }

    fn ready(&self, list: &mut Vec<u32>) {
        list.clear();
        for (w, &word) in self.cursor.ready.iter().enumerate() {
            let mut bits = word;
            while bits != 0 {
                let v = (w * 64) as u32 + bits.trailing_zeros();
                bits &= bits - 1;
                if self.cursor.group_allows(v) {
                    list.push(v);
                }
            }
        }
    }

    fn path(&self, trail: u32) -> Vec<u32> {
        let mut parts = Vec::new();
        let mut at = trail;
        while at != NONE {
            parts.push(&self.trails[at as usize].ops);
            at = self.trails[at as usize].before;
        }
        parts.into_iter().rev().flatten().copied().collect()
    }
}
