//! The door: from a problem to a schedule with a bound and a proof.

use crate::error::OrderError;
use crate::ids::OpId;
use crate::model::{self, Model};
use crate::problem::Problem;
use crate::replay;
use crate::simulate::simulate;
use crate::solution::{Failure, Options, OrderMode, Proof, Solution, Stats, Watch};
use crate::taken::{Taken, merged};
use crate::{greedy, subtree, tighten, topo};

/// Orders `problem`.
///
/// # Errors
/// [`Failure`] when the classes cannot be satisfied or were not, or the order to keep is not legal.
pub fn solve(problem: &Problem, options: &Options, watch: Watch<'_>) -> Result<Solution, Failure> {
    let _ = watch;
    let stats = Stats::default();
    let required = required(problem);
    let input_peak = simulate(problem, &input_order(problem), &required).ok().map(|s| s.peak);
    let model = model::build(problem, &required, |_| options.in_place);
    let order = match options.order {
        OrderMode::Input if !problem.input_legal => return Err(Failure::Order(illegal(problem))),
        OrderMode::Input => (0..model.n as u32).collect(),
        OrderMode::Shuffle(seed) => crate::shuffle::order(&model, seed),
        OrderMode::Search => best(&model, problem, options),
    };
    finish(problem, &model, order, required, input_peak, stats).ok_or(Failure::NotFound { stats })
}

fn input_order(problem: &Problem) -> Vec<OpId> {
    (0..problem.ops() as u32).map(OpId).collect()
}

fn illegal(problem: &Problem) -> OrderError {
    match simulate(problem, &input_order(problem), &Taken::default()) {
        Err(e) => e,
        Ok(_) => OrderError::NotAPermutation { op: OpId(0) },
    }
}

/// Candidates that the caller demands.
pub(crate) fn required(problem: &Problem) -> Taken {
    let spec = &problem.spec;
    Taken {
        in_place: (0..spec.in_place.len()).filter(|&i| spec.in_place[i].required).collect(),
        placement: (0..spec.placement.len()).filter(|&i| spec.placement[i].required).collect(),
    }
}

/// The best order of the portfolio: the input's, greedy, greedy backwards, depth-first, each also with ops sunk.
fn best(model: &Model, problem: &Problem, options: &Options) -> Vec<u32> {
    let input = problem.legal_order.clone();
    let topo = topo::order(&model.preds, &model.succs);
    let path = greedy::critical_path(model, &topo);
    let mut pool = vec![input.clone()];
    pool.extend(greedy::order(model, &path, options.latency_weight));
    if !model.constrained() {
        pool.push(subtree::order(model, &topo));
        if model.first == 0 {
            let back = model.reversed();
            let reverse: Vec<u32> = topo.iter().rev().copied().collect();
            let path = greedy::critical_path(&back, &reverse);
            pool.extend(greedy::order(&back, &path, 0).map(|o| o.into_iter().rev().collect()));
        }
        let sunk: Vec<Vec<u32>> = pool.iter().map(|o| tighten::sink(model, o)).collect();
        pool.extend(sunk);
    }
    let value = |o: &Vec<u32>| replay::peak(model, o).unwrap_or(i64::MAX);
    pool.into_iter().min_by_key(value).unwrap_or(input)
}

fn finish(
    problem: &Problem,
    model: &Model,
    order: Vec<u32>,
    mut taken: Taken,
    input_peak: Option<u64>,
    stats: Stats,
) -> Option<Solution> {
    let (_, pairs) = replay::profile(model, &order)?;
    taken.in_place.extend(pairs.iter().map(|p| p.candidate as usize));
    taken.in_place.sort_unstable();
    let order: Vec<OpId> = order.into_iter().map(OpId).collect();
    let run = simulate(problem, &order, &taken).ok()?;
    Some(Solution {
        merged: merged(problem, &taken),
        order,
        taken,
        peak: run.peak,
        peak_step: run.peak_step,
        input_peak,
        lower_bound: 0,
        proof: Proof::None,
        certificate: None,
        alternatives: Vec::new(),
        stats,
    })
}
