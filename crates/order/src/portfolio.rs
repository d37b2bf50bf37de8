//! The portfolio: several cheap orders of one model, the best of them.
//!
//! The input's order, greedy by net change with updated keys, greedy backwards, depth-first by subtree, each also with ops sunk to their first
//! reader; with classes, greedy with loads on demand, and the input's order, the depth-first one and one by cones as far as the classes let them. O((V + E) log V). Never worse than the input's order.

use crate::ids::OpId;
use crate::model::{self, Model};
use crate::problem::Problem;
use crate::solve::required;
use crate::{cones, greedy, replay, subtree, tighten, topo};

/// With more ops than this only the cheapest methods run.
const MANY_OPS: usize = 50_000;

/// One greedy order, by net change, with nothing proved and nothing compared: for use at run time, where a graph of some hundred ops changes from call to
/// call. `None` where classes or groups leave it no way on.
pub fn quick(problem: &Problem) -> Option<Vec<OpId>> {
    let model = model::build(problem, &required(problem), |_| true);
    let path = greedy::critical_path(&model, &topo::order(&model.preds, &model.succs));
    let order = greedy::order(&model, &path, 0)?;
    Some(order.into_iter().map(OpId).collect())
}

/// All orders of the portfolio, best first, `input` (a legal order) among them.
pub(crate) fn orders(model: &Model, input: &[u32], latency_weight: u8) -> Vec<(i64, Vec<u32>)> {
    let topo = topo::order(&model.preds, &model.succs);
    let path = greedy::critical_path(model, &topo);
    let mut pool = vec![input.to_vec()];
    pool.extend(greedy::order(model, &path, latency_weight));
    let depth_first = subtree::order(model, &topo);
    if !model.limits.is_empty() {
        pool.extend(greedy::on_demand(model, &path));
        // The classes decide when an op may run; which of those that may comes from an order made without them.
        let by_cone = cones::order(model, &topo, &depth_first);
        for wish in [Some(input), Some(&*depth_first), by_cone.as_deref()].into_iter().flatten() {
            let mut rank = vec![0; model.n];
            wish.iter().enumerate().for_each(|(k, v)| rank[*v as usize] = k as u32);
            pool.extend(greedy::by_rank(model, &rank));
        }
        pool.extend(by_cone);
    }
    if !model.constrained() {
        pool.push(depth_first);
    }
    if !model.constrained() && model.n <= MANY_OPS {
        if !model.has_first() {
            let back = model.reversed();
            let reverse: Vec<u32> = topo.iter().rev().copied().collect();
            let path = greedy::critical_path(&back, &reverse);
            pool.extend(greedy::order(&back, &path, 0).map(|order| order.into_iter().rev().collect()));
        }
        let sunk: Vec<Vec<u32>> = pool.iter().map(|order| tighten::sink(model, order)).collect();
        pool.extend(sunk);
    }
    let value = |order: Vec<u32>| replay::peak(model, &order).map(|peak| (peak, order));
    let mut valued: Vec<(i64, Vec<u32>)> = pool.into_iter().filter_map(value).collect();
    // Stable: among equals the earlier method stands first.
    valued.sort_by_key(|(peak, _)| *peak);
    valued
}
