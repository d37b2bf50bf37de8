//! Better orders without proof on graphs too wide for the exact search: the steps around the peak are taken out as a problem of their own,
//! solved exactly, and put back.
//!
//! Sound because the ops of a window of an order, with what is live before and needed behind it fixed, are an ordering problem whose steps hold the
//! same bytes as in the whole; only windows whose highest step falls are put back. The peak never rises.
//!
//! Counts windows put back as moves.

use crate::beam::{self, How, Ties};
use crate::csr::Csr;
use crate::exact::{self, Limits};
use crate::model::{Limit, Model, NONE};
use crate::replay::Run;
use crate::solution::Stats;

/// Half the steps of a window, from small to large.
const REACH: [usize; 6] = [16, 48, 128, 320, 800, 2000];
/// Width of the beam that follows where the exact search of a window did not come to an end.
const BEAM: usize = 8;
/// Nodes for one window, per step of it.
const EFFORT_PER_STEP: u64 = 100;

/// Lowers the peak of `order` window by window until it is `lower`, nothing helps, the effort is spent, or `stop` says so.
pub(crate) fn improve(
    model: &Model,
    order: &mut [u32],
    lower: i64,
    effort: u64,
    stats: &mut Stats,
    stop: &mut dyn FnMut(u64, i64) -> bool,
) {
    if model.groups > 0 {
        return;
    }
    let end = stats.nodes.saturating_add(effort);
    let mut w = Windows::new(model, order);
    while stats.nodes < end && !stop(stats.nodes, lower) {
        let Some(k) = w.highest().filter(|&k| w.held[k] > lower) else { break };
        stats.nodes += model.n as u64 / 64;
        let peak = w.held[k];
        // First a good part of the gap, then anything.
        let goals = [peak - (peak - lower) / 8, peak - 1];
        let tries = REACH.iter().flat_map(|&r| goals.iter().map(move |&g| (r, g)));
        let moved = tries
            .filter(|&(_, goal)| goal < peak)
            .any(|(reach, goal)| stats.nodes < end && w.lower_around(order, k, reach, (goal.max(lower), peak), stats));
        if !moved {
            break;
        }
        stats.moves += 1;
    }
}

struct Windows<'m> {
    model: &'m Model,
    position: Vec<u32>,
    /// Bytes held in each step, and live before each step.
    held: Vec<i64>,
    live: Vec<i64>,
    class_live: Vec<Vec<(i64, i64)>>,
}

impl<'m> Windows<'m> {
    fn new(model: &'m Model, order: &[u32]) -> Windows<'m> {
        let mut w =
            Windows { model, position: vec![0; model.n], held: Vec::new(), live: Vec::new(), class_live: Vec::new() };
        let mut run = Run::new(model);
        for (k, &v) in order.iter().enumerate() {
            w.position[v as usize] = k as u32;
            w.live.push(run.live);
            w.class_live.push(run.class_live.clone());
            w.held.push(run.step(v as usize).unwrap_or(i64::MAX));
        }
        w
    }

    /// The first of the highest steps.
    fn highest(&self) -> Option<usize> {
        (0..self.held.len()).max_by_key(|&k| (self.held[k], std::cmp::Reverse(k)))
    }

    /// Solves the window around step `k` for a peak of `bounds.0` or little more, below `bounds.1`; whether it was put back.
    fn lower_around(
        &mut self,
        order: &mut [u32],
        k: usize,
        reach: usize,
        bounds: (i64, i64),
        stats: &mut Stats,
    ) -> bool {
        let (a, b) = (k.saturating_sub(reach), (k + reach + 1).min(order.len()));
        let window = self.cut_out(order, a, b);
        let effort = EFFORT_PER_STEP * (b - a) as u64;
        let limits = Limits { lower: bounds.0, upper: bounds.1, target: None, effort };
        let mut used = Stats::default();
        let found = exact::search(&window, &[], limits, &mut used, &mut |_, _| false);
        stats.nodes += used.nodes.max(effort / 8);
        stats.states += used.states;
        // Not found and not refuted: a narrow beam from either end.
        let open = found.order.is_none() && found.lower < bounds.1;
        let (floor, upper) = bounds;
        let how = How { backwards: false, width: BEAM, ties: Ties::Op, floor, upper, effort: effort * 4 };
        let beam = |back: &bool| beam::search(&window, How { backwards: *back, ..how }, &mut *stats);
        let beam = if open { [true, false].iter().find_map(beam) } else { None };
        let Some(inner) = found.order.or(beam) else { return false };
        let new: Vec<u32> = inner.iter().map(|&v| order[a + v as usize]).collect();
        let Some(steps) = replay_window(&window, &inner) else { return false };
        if steps.iter().any(|step| step.held >= bounds.1) {
            return false;
        }
        order[a..b].copy_from_slice(&new);
        let outside = self.outside(&window, a);
        for (at, step) in steps.into_iter().enumerate() {
            self.position[new[at] as usize] = (a + at) as u32;
            self.held[a + at] = step.held;
            self.live[a + at] = step.live;
            let both = |(x, y): (&(i64, i64), &(i64, i64))| (x.0 + y.0, x.1 + y.1);
            self.class_live[a + at] = step.classes.iter().zip(&outside).map(both).collect();
        }
        true
    }

    /// The ops of steps `a..b` as a model; op `i` of it is the one at step `a + i`.
    fn cut_out(&self, order: &[u32], a: usize, b: usize) -> Model {
        let m = self.model;
        let mut storages: Vec<u32> =
            order[a..b].iter().flat_map(|&v| m.touch.row(v as usize).iter().copied()).collect();
        storages.sort_unstable();
        storages.dedup();
        let local = |s: u32| storages.binary_search(&s).unwrap_or(0) as u32;
        let inside = |u: u32| (a..b).contains(&(self.position[u as usize] as usize));
        let n = b - a;
        let mut w = Model {
            n,
            base: self.live[a],
            first: if a == 0 { m.first } else { 0 },
            scratch: order[a..b].iter().map(|&v| m.scratch[v as usize]).collect(),
            size: storages.iter().map(|&s| m.size[s as usize]).collect(),
            class: storages.iter().map(|&s| m.class[s as usize]).collect(),
            limits: m.limits.clone(),
            first_class: if a == 0 { m.first_class.clone() } else { vec![(0, 0); m.limits.len()] },
            name: storages.clone(),
            group: vec![NONE; n],
            groups: 0,
            cycles: vec![0; n],
            ..empty()
        };
        let mut users: Vec<(u32, u32)> = Vec::new();
        for (k, &s) in storages.iter().enumerate() {
            let all = m.users.row(s as usize);
            let before = all.iter().any(|&u| (self.position[u as usize] as usize) < a);
            let behind = all.iter().any(|&u| (self.position[u as usize] as usize) >= b);
            w.open.push(m.open[s as usize] || before);
            w.kept.push(m.kept[s as usize] || behind);
            let writer = m.writer[s as usize];
            w.writer.push(if writer != NONE && inside(writer) {
                self.position[writer as usize] - a as u32
            } else {
                NONE
            });
            let own = all.iter().filter(|&&u| inside(u));
            users.extend(own.map(|&u| (k as u32, self.position[u as usize] - a as u32)));
        }
        w.users = Csr::new(storages.len(), n, &users);
        w.touch = w.users.transpose(n);
        w.base -= (0..storages.len()).filter(|&k| w.open[k]).map(|k| w.size[k]).sum::<i64>();
        let edges = |v: u32| m.preds.row(v as usize).iter().filter(|&&p| inside(p)).map(move |&p| (p, v));
        let at = |v: u32| self.position[v as usize] - a as u32;
        let edges: Vec<(u32, u32)> = order[a..b].iter().flat_map(|&v| edges(v)).map(|(p, v)| (at(p), at(v))).collect();
        w.succs = Csr::new(n, n, &edges);
        w.preds = w.succs.transpose(n);
        w.pair_start.push(0);
        for &v in &order[a..b] {
            let pairs = m.pairs(v as usize).iter();
            w.pairs.extend(pairs.map(|p| crate::model::Pair { born: local(p.born), dying: local(p.dying), ..*p }));
            w.pair_start.push(w.pairs.len() as u32);
        }
        for (class, outside) in self.outside(&w, a).into_iter().enumerate() {
            let Limit { count, bytes } = w.limits[class];
            let count = if count == i64::MAX { count } else { count - outside.0 };
            let bytes = if bytes == i64::MAX { bytes } else { bytes - outside.1 };
            w.limits[class] = Limit { count, bytes };
        }
        w
    }

    /// Per class, what is live throughout the window that begins at step `a` and is not touched in it.
    fn outside(&self, window: &Model, a: usize) -> Vec<(i64, i64)> {
        let touched = crate::replay::initial_classes(window);
        self.class_live[a].iter().zip(&touched).map(|(all, own)| (all.0 - own.0, all.1 - own.1)).collect()
    }
}

fn empty() -> Model {
    Model {
        n: 0,
        base: 0,
        first: 0,
        scratch: Vec::new(),
        preds: Csr::default(),
        succs: Csr::default(),
        touch: Csr::default(),
        users: Csr::default(),
        size: Vec::new(),
        open: Vec::new(),
        kept: Vec::new(),
        class: Vec::new(),
        limits: Vec::new(),
        first_class: Vec::new(),
        writer: Vec::new(),
        name: Vec::new(),
        group: Vec::new(),
        groups: 0,
        pairs: Vec::new(),
        pair_start: Vec::new(),
        cycles: Vec::new(),
    }
}

/// One step of a replayed window.
struct Step {
    held: i64,
    live: i64,
    classes: Vec<(i64, i64)>,
}

fn replay_window(window: &Model, order: &[u32]) -> Option<Vec<Step>> {
    let mut run = Run::new(window);
    order
        .iter()
        .map(|&v| {
            let (live, classes) = (run.live, run.class_live.clone());
            Some(Step { held: run.step(v as usize)?, live, classes })
        })
        .collect()
}
