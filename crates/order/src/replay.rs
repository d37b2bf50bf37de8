//! Replays an order on a [`Model`]: bytes per step, pairs taken, class counts. The solvers' own simulation, in O(V + E) without allocation per step.

use crate::model::{Model, NONE, Pair};

/// State of a run between two steps.
#[derive(Debug, Clone)]
pub(crate) struct Run<'m> {
    pub(crate) model: &'m Model,
    /// Users of each storage that have not run.
    pub(crate) left: Vec<u32>,
    /// Bytes live, `first` not included.
    pub(crate) live: i64,
    pub(crate) steps: usize,
    pub(crate) class_live: Vec<(i64, i64)>,
    /// Pairs taken so far.
    pub(crate) taken: Vec<Pair>,
}

impl<'m> Run<'m> {
    pub(crate) fn new(model: &'m Model) -> Run<'m> {
        let left = (0..model.size.len()).map(|s| model.users.row(s).len() as u32).collect();
        let class_live = initial_classes(model);
        Run { model, left, live: model.start_bytes(), steps: 0, class_live, taken: Vec::new() }
    }

    /// Whether the next op that touches `s` starts it.
    pub(crate) fn starts(&self, s: usize) -> bool {
        !self.model.open[s] && self.left[s] == self.model.users.row(s).len() as u32
    }

    /// Whether the next op that touches `s` ends it.
    pub(crate) fn ends(&self, s: usize) -> bool {
        !self.model.kept[s] && self.left[s] == 1
    }

    /// Runs `v`: returns the bytes held during it, or `None` when a class limit is broken (the run goes on all the same).
    pub(crate) fn step(&mut self, v: usize) -> Option<i64> {
        let m = self.model;
        let mut during = self.live + m.scratch[v] + if self.steps == 0 { m.first } else { 0 };
        for &s in m.touch.row(v) {
            if self.starts(s as usize) {
                during += m.size[s as usize];
                self.live += m.size[s as usize];
                self.count(s as usize, 1);
            }
        }
        let first_taken = self.taken.len();
        let saved = self.match_pairs(v);
        let fits = m.limits.is_empty() || self.within_limits(first_taken);
        for &s in m.touch.row(v) {
            if self.ends(s as usize) {
                self.live -= m.size[s as usize];
                self.count(s as usize, -1);
            }
            self.left[s as usize] -= 1;
        }
        self.steps += 1;
        fits.then_some(during - saved)
    }

    fn count(&mut self, s: usize, sign: i64) {
        if self.model.class[s] != NONE {
            let c = &mut self.class_live[self.model.class[s] as usize];
            c.0 += sign;
            c.1 += sign * self.model.size[s];
        }
    }

    /// Takes as many pairs of `v` as the state allows; returns the bytes saved.
    fn match_pairs(&mut self, v: usize) -> i64 {
        let m = self.model;
        let pairs = m.pairs(v);
        if pairs.is_empty() {
            return 0;
        }
        let ready: Vec<Pair> =
            pairs.iter().copied().filter(|p| self.starts(p.born as usize) && self.ends(p.dying as usize)).collect();
        let chosen = crate::matching::best(&ready);
        let saved = chosen.iter().map(|p| p.bytes).sum();
        self.taken.extend(chosen);
        saved
    }

    fn within_limits(&self, first_taken: usize) -> bool {
        let m = self.model;
        (0..m.limits.len()).all(|class| {
            let (mut count, mut bytes) = self.class_live[class];
            if self.steps == 0 {
                count += m.first_class[class].0;
                bytes += m.first_class[class].1;
            }
            for p in &self.taken[first_taken..] {
                if m.class[p.born as usize] == class as u32 {
                    count -= 1;
                    bytes -= p.bytes;
                }
            }
            count <= m.limits[class].count && bytes <= m.limits[class].bytes
        })
    }
}

/// Storages and bytes of each class that are live before the first step.
pub(crate) fn initial_classes(model: &Model) -> Vec<(i64, i64)> {
    let mut live = vec![(0, 0); model.limits.len()];
    for s in (0..model.size.len()).filter(|&s| model.open[s] && model.class[s] != NONE) {
        live[model.class[s] as usize].0 += 1;
        live[model.class[s] as usize].1 += model.size[s];
    }
    live
}

/// Bytes held in each step of `order` and the pairs taken; `None` when a class limit is broken.
pub(crate) fn profile(model: &Model, order: &[u32]) -> Option<(Vec<i64>, Vec<Pair>)> {
    let mut run = Run::new(model);
    let mut bytes = Vec::with_capacity(order.len());
    for &v in order {
        bytes.push(run.step(v as usize)?);
    }
    Some((bytes, run.taken))
}

/// The peak of `order`; `None` when a class limit is broken.
pub(crate) fn peak(model: &Model, order: &[u32]) -> Option<i64> {
    let mut run = Run::new(model);
    let mut peak = if model.n == 0 { run.live + model.first } else { 0 };
    for &v in order {
        peak = peak.max(run.step(v as usize)?);
    }
    Some(peak)
}
