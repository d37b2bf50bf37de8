//! Beam search: an order without proof where the exact search does not come to an end.
//!
//! States are met in the order of the ops they have run; of those that have run equally many the ones with the least peak so far, then the least
//! live bytes, are kept, `width` of them, each once; among equals the smallest op, or the one whose parent came first. Peaks up to a floor are all alike. States from
//! which classes let no order come to an end are not kept. After each op all free moves within the
//! state's own peak are run (Lemma A: they lose nothing). Linear in `width` times the ops.
//!
//! Counts nodes: ops tried.

use crate::cursor::Cursor;
use crate::deadlock::Deadlock;
use crate::model::{Model, NONE};
use crate::solution::Stats;
use std::rc::Rc;

/// Ops per kept state, free moves included, beyond what is seen in practice.
const MOST_FREE: usize = 32;

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

/// Which of equal states go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ties {
    /// The one reached by the smallest op: near the input's order.
    Op,
    /// The one whose parent was kept first.
    Age,
}

/// How a beam is led.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    /// Whether the model is read backwards.
    pub(crate) backwards: bool,
    /// States kept per number of ops run.
    pub(crate) width: usize,
    /// Which of equal states go first.
    pub(crate) ties: Ties,
    /// Peaks up to this one are alike.
    pub(crate) floor: i64,
    /// Only orders with a peak below this one are of interest.
    pub(crate) upper: i64,
    /// Nodes that may be spent.
    pub(crate) effort: u64,
}

/// The order that a beam finds; `None` if there is none, or the effort ran out before the end.
pub(crate) fn search(model: &Model, how: How, stats: &mut Stats) -> Option<Vec<u32>> {
    let backwards = how.backwards;
    if backwards && model.has_first() || !may_end(model, &how) {
        return None;
    }
    let back = backwards.then(|| model.reversed());
    let model = back.as_ref().unwrap_or(model);
    let cursor = Cursor::new(model, !backwards);
    let deadlock = Deadlock::new(model);
    let mut beam = Beam { cursor, trails: Vec::new(), how, upper: how.upper, spent: 0, found: None, deadlock };
    beam.run();
    stats.nodes += beam.spent;
    let mut order = beam.found?;
    if backwards {
        order.reverse();
    }
    Some(order)
}

/// Whether the effort may suffice for the last step: free moves rarely take so many ops at once.
fn may_end(model: &Model, how: &How) -> bool {
    let states = how.width as u64 * (model.n / MOST_FREE) as u64;
    states.saturating_mul(model.n as u64 / 64 / 2) <= how.effort
}

struct Beam<'m> {
    cursor: Cursor<'m>,
    trails: Vec<Trail>,
    how: How,
    upper: i64,
    spent: u64,
    found: Option<Vec<u32>>,
    deadlock: Deadlock,
}

impl Beam<'_> {
    fn run(&mut self) {
        let n = self.cursor.m.n;
        let mut buckets: Vec<Vec<Child>> = Vec::new();
        buckets.resize_with(n + 1, Vec::new);
        self.settle(self.how.floor, NONE, Vec::new(), &mut buckets);
        for steps in 1..=n {
            let mut children = std::mem::take(&mut buckets[steps]);
            children.sort_unstable_by_key(|child| (child.hash, child.peak, child.parent.trail, child.op));
            children.dedup_by_key(|child| child.hash);
            match self.how.ties {
                Ties::Op => children.sort_unstable_by_key(|child| (child.peak, child.live, child.op, child.hash)),
                Ties::Age => {
                    children.sort_unstable_by_key(|child| (child.peak, child.live, child.parent.trail, child.hash))
                }
            }
            let mut kept = 0;
            for child in children {
                if kept == self.how.width || child.peak >= self.upper {
                    break;
                }
                if self.spent > self.how.effort {
                    return;
                }
                self.cursor.go(&child.parent.bits);
                self.cursor.apply(child.op);
                kept += usize::from(self.settle(child.peak, child.parent.trail, vec![child.op], &mut buckets));
            }
        }
    }

    /// Runs free moves from where the cursor stands, keeps the state, and lists its children; whether there was a way on.
    fn settle(&mut self, peak: i64, before: u32, mut ops: Vec<u32>, buckets: &mut [Vec<Child>]) -> bool {
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
        let scanned = self.deadlock.scanned;
        let dead = self.deadlock.is_dead(&self.cursor);
        self.spent += 2 * (self.deadlock.scanned - scanned) + self.cursor.done.len() as u64 / 2;
        if dead {
            return false;
        }
        let trail = self.trails.len() as u32;
        self.trails.push(Trail { before, ops });
        if self.cursor.steps == self.cursor.m.n {
            self.upper = peak;
            self.found = Some(self.path(trail));
            return true;
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
        true
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
