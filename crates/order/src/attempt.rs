//! Deciding candidates that change a storage's size or place: an in-place of unequal sizes, a placement.
//!
//! Such a candidate makes one storage out of two, so that live bytes are no longer a function of what has run; each choice is a model of its
//! own. In-place candidates of equal size are left to the order (see `model.rs`).

use crate::ids::{OpId, StorageId};
use crate::model::{self, Model};
use crate::problem::Problem;
use crate::solution::{Options, Stats};
use crate::taken::Taken;
use crate::validate::{find, join};
use crate::{portfolio, replay, simulate, taken, topo, tree};

/// A choice of candidates with the best order found for it.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    /// Decided before the search.
    pub(crate) decided: Taken,
    pub(crate) model: Model,
    pub(crate) order: Vec<u32>,
    pub(crate) peak: i64,
    /// The order is optimal by the tree algorithm.
    pub(crate) is_tree: bool,
}

/// A candidate that must be decided before the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    InPlace(usize),
    Placement(usize),
}

/// The model of a choice with its best order of the portfolio; `None` when the choice is not legal in any order. Where no order of the
/// portfolio keeps the classes, the order is empty and the peak `i64::MAX`.
pub(crate) fn attempt(problem: &Problem, options: &Options, decided: &Taken) -> Option<Attempt> {
    let model = model::build(problem, decided, |_| options.in_place);
    if !decided.in_place.is_empty() && topo::cycle(&model.succs).is_some() {
        return None;
    }
    if let Some(order) = tree::order(&model) {
        let peak = replay::peak(&model, &order)?;
        let tree = Attempt { decided: decided.clone(), model, order, peak, is_tree: true };
        return complete(problem, &tree).map(|_| tree);
    }
    let topo = topo::order(&model.preds, &model.succs);
    // Beyond the edges that it adds, whether a choice is legal depends on the choice alone: any order tells.
    let mut position = vec![0; model.n];
    topo.iter().enumerate().for_each(|(k, v)| position[*v as usize] = k);
    taken::check(problem, &position, decided).ok()?;
    let input = if is_legal(&model, &problem.legal_order) { &problem.legal_order } else { &topo };
    let orders = portfolio::orders(&model, input, options.latency_weight);
    let mut best = Attempt { decided: decided.clone(), model, order: Vec::new(), peak: i64::MAX, is_tree: false };
    for (peak, order) in orders {
        best = Attempt { order, peak, ..best };
        if complete(problem, &best).is_some() {
            return Some(best);
        }
    }
    Some(Attempt { order: Vec::new(), peak: i64::MAX, ..best })
}

/// The candidates an attempt takes in all, and its peak by the plain simulation; `None` when it refuses them.
pub(crate) fn complete(problem: &Problem, attempt: &Attempt) -> Option<(Taken, u64, usize)> {
    let (_, pairs) = replay::profile(&attempt.model, &attempt.order)?;
    let mut taken = attempt.decided.clone();
    taken.in_place.extend(pairs.iter().map(|pair| pair.candidate as usize));
    taken.in_place.sort_unstable();
    let order: Vec<OpId> = attempt.order.iter().map(|v| OpId(*v)).collect();
    let (peak, step) = simulate::peak(problem, &order, &taken).ok()?;
    Some((taken, peak, step))
}

fn is_legal(model: &Model, order: &[u32]) -> bool {
    let mut position = vec![0u32; model.n];
    for (k, v) in order.iter().enumerate() {
        position[*v as usize] = k as u32;
    }
    (0..model.n).all(|v| model.preds.row(v).iter().all(|p| position[*p as usize] < position[v]))
}

/// Candidates that must be decided, those of one op together.
pub(crate) fn open(problem: &Problem, options: &Options, required: &Taken) -> Vec<Vec<Open>> {
    let spec = &problem.spec;
    let merged = crate::taken::merged(problem, required);
    let mut largest = vec![0; merged.len()];
    for (storage, &rep) in spec.storages.iter().zip(&merged) {
        largest[rep.index()] = storage.size.max(largest[rep.index()]);
    }
    let size = |s: StorageId| largest[merged[s.index()].index()];
    let mut found: Vec<(OpId, Open)> = Vec::new();
    if options.placement {
        let list = spec.placement.iter().enumerate().filter(|(_, c)| !c.required);
        found.extend(list.map(|(i, c)| (c.op, Open::Placement(i))));
    }
    if options.in_place {
        let is_open = involved(problem, options, &size);
        let list = spec.in_place.iter().enumerate().filter(|(i, _)| is_open[*i]);
        found.extend(list.map(|(i, c)| (c.op, Open::InPlace(i))));
    }
    found.sort_by_key(|(op, _)| *op);
    let mut groups: Vec<(OpId, Vec<Open>)> = Vec::new();
    for (op, open) in found {
        match groups.last_mut() {
            Some((last, group)) if *last == op => group.push(open),
            _ => groups.push((op, vec![open])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// In-place candidates that must be decided: those of unequal sizes, and all that are joined to an open candidate by a chain of candidates, since
/// deciding one may change the sizes along the chain.
fn involved(problem: &Problem, options: &Options, size: &impl Fn(StorageId) -> u64) -> Vec<bool> {
    let spec = &problem.spec;
    let mut chain = problem.rep.clone();
    for c in &spec.in_place {
        join(&mut chain, c.result.0, c.operand.0);
    }
    let mut open = vec![false; spec.storages.len()];
    let mut mark = |s: StorageId| open[find(&mut chain, s.0) as usize] = true;
    for c in spec.placement.iter().filter(|c| options.placement || c.required) {
        mark(c.part);
        mark(c.whole);
    }
    spec.in_place.iter().filter(|c| size(c.result) != size(c.operand)).for_each(|c| mark(c.result));
    let is_open = |c: &crate::problem::InPlace| !c.required && open[find(&mut chain, c.result.0) as usize];
    spec.in_place.iter().map(is_open).collect()
}

/// `taken` with more candidates.
pub(crate) fn with(taken: &Taken, more: &[Open]) -> Taken {
    let mut taken = taken.clone();
    for open in more {
        let (list, index) = match *open {
            Open::InPlace(index) => (&mut taken.in_place, index),
            Open::Placement(index) => (&mut taken.placement, index),
        };
        if let Err(at) = list.binary_search(&index) {
            list.insert(at, index);
        }
    }
    taken
}

/// Decides the open candidates one op after the other: a placement is taken where it does not raise the peak (it saves a copy), an in-place where it
/// lowers it. Work is limited by the effort.
pub(crate) fn decide(
    problem: &Problem,
    options: &Options,
    start: Attempt,
    groups: &[Vec<Open>],
    stats: &mut Stats,
) -> Attempt {
    let cost = (start.model.n + start.model.touch.pairs().len()) as u64 + 1;
    let mut best = start;
    let all: Vec<Open> = groups.iter().flatten().copied().filter(|open| matches!(open, Open::Placement(_))).collect();
    if groups.len() > 1 && !all.is_empty() {
        stats.nodes += cost;
        let next = attempt(problem, options, &with(&best.decided, &all));
        best = next.filter(|next| next.peak <= best.peak).unwrap_or(best);
    }
    for group in groups {
        let whole = group.iter().all(|open| matches!(open, Open::Placement(_)));
        let mut tries: Vec<Vec<Open>> = group.iter().map(|open| vec![*open]).collect();
        if whole && group.len() > 1 {
            tries.insert(0, group.clone());
        }
        for more in tries {
            let decided = with(&best.decided, &more);
            if decided == best.decided {
                continue;
            }
            if stats.nodes > options.effort / 2 {
                return best;
            }
            stats.nodes += cost;
            let saves_copy = more.iter().any(|open| matches!(open, Open::Placement(_)));
            let next = attempt(problem, options, &decided);
            let better = |next: &Attempt| next.peak < best.peak || (saves_copy && next.peak == best.peak);
            best = next.filter(better).unwrap_or(best);
        }
    }
    best
}
