//! Can the whole fit into so many bytes? Yes with an order, no with a proof that names the op and what coexists there, or unknown with the gap.

use crate::certificate::Certificate;
use crate::ids::{OpId, StorageId};
use crate::problem::Problem;
use crate::simulate::simulate;
use crate::solution::{BudgetAnswer, Failure, Options, Solution, Watch};
use crate::solve::solve;

/// Whether `problem` fits into `budget` bytes.
///
/// # Errors
/// Those of [`solve`].
pub fn fits_budget(
    problem: &Problem,
    options: &Options,
    budget: u64,
    watch: Watch<'_>,
) -> Result<BudgetAnswer, Failure> {
    let options = Options { budget: Some(budget), ..options.clone() };
    Ok(budget_answer(problem, solve(problem, &options, watch)?, budget))
}

/// What a solution says about a budget.
pub fn budget_answer(problem: &Problem, best: Solution, budget: u64) -> BudgetAnswer {
    if best.peak <= budget {
        return BudgetAnswer::Fits(Box::new(best));
    }
    if best.lower_bound <= budget {
        return BudgetAnswer::Unknown { best: Box::new(best) };
    }
    match &best.certificate {
        Some(proof) if proof.bound > budget => {
            let (op, storages) = (proof.op, forced(problem, proof));
            BudgetAnswer::Cannot { best: Box::new(best), op, storages }
        }
        _ => {
            let op = best.order.get(best.peak_step).copied().unwrap_or(OpId(0));
            let storages = at_peak(problem, &best);
            BudgetAnswer::Cannot { best: Box::new(best), op, storages }
        }
    }
}

/// Storages that are held during the certificate's op in every order: it touches them, or they are written before it and needed after it.
/// What the op may overwrite, or have placed in its result, is not among them.
fn forced(problem: &Problem, proof: &Certificate) -> Vec<StorageId> {
    let before = reach(problem, proof.op, false);
    let after = reach(problem, proof.op, true);
    let spec = &problem.spec;
    let shared = |s: StorageId| {
        spec.in_place.iter().any(|c| c.op == proof.op && c.operand == s) || spec.placement.iter().any(|c| c.part == s)
    };
    let held = |i: &usize| {
        let s = &spec.storages[*i];
        let id = StorageId(*i as u32);
        let touches = s.writers.contains(&proof.op) || s.readers.contains(&proof.op);
        let begun = s.writers.is_empty() || s.writers.iter().any(|w| before[w.index()]);
        let users = s.writers.iter().chain(&s.readers);
        let mut later = users.filter(|u| after[u.index()]);
        s.whole_run || (!shared(id) && touches) || (begun && !shared(id) && (s.live_out || later.next().is_some()))
    };
    (0..spec.storages.len()).filter(held).map(|i| StorageId(i as u32)).collect()
}

/// Ops that must run before (or after) `op`.
fn reach(problem: &Problem, op: OpId, after: bool) -> Vec<bool> {
    let adjacent = if after { &problem.succs } else { &problem.preds };
    let mut seen = vec![false; problem.ops()];
    let mut stack = vec![op.0];
    while let Some(v) = stack.pop() {
        for &w in adjacent.row(v as usize) {
            if !std::mem::replace(&mut seen[w as usize], true) {
                stack.push(w);
            }
        }
    }
    seen
}

/// Storages live at the peak of the best order, by their representative.
fn at_peak(problem: &Problem, best: &Solution) -> Vec<StorageId> {
    let Ok(run) = simulate(problem, &best.order, &best.taken) else { return Vec::new() };
    let live = run.storages.iter().filter(|m| m.begin <= best.peak_step && best.peak_step < m.end);
    live.filter_map(|m| m.members.first().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{problem, result, storage};
    use std::ops::ControlFlow;

    /// x:200 -> f -> a:180 -> g -> b:60 -> h -> c:60 -> k -> y:10.
    fn chain() -> Problem {
        problem(
            4,
            vec![
                storage(200, &[], &[0]),
                storage(180, &[0], &[1]),
                storage(60, &[1], &[2]),
                storage(60, &[2], &[3]),
                result(10, 3),
            ],
        )
    }

    #[test]
    fn a_proof_names_the_op_and_what_coexists() {
        let p = chain();
        let mut watch = |_| ControlFlow::Continue(());
        match fits_budget(&p, &Options::default(), 128, &mut watch) {
            Ok(BudgetAnswer::Cannot { best, op, storages }) => {
                assert_eq!((best.peak, best.lower_bound, op), (380, 380, OpId(0)));
                assert_eq!(storages, [StorageId(0), StorageId(1)]);
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(fits_budget(&p, &Options::default(), 380, &mut watch), Ok(BudgetAnswer::Fits(_))));
    }

    #[test]
    fn the_search_ends_where_the_budget_is_settled() {
        let p = crate::fixtures::layers();
        let mut watch = |_| ControlFlow::Continue(());
        let full = solve(&p, &Options::default(), &mut watch).expect("an order");
        assert!(full.proof != crate::Proof::None && full.stats.states > 0, "{full:?}");
        let Ok(BudgetAnswer::Fits(fits)) =
            fits_budget(&p, &Options::default(), full.input_peak.expect("legal"), &mut watch)
        else {
            panic!("the input's order fits");
        };
        assert_eq!(fits.stats.states, 0, "nothing was searched");
        assert!(matches!(fits_budget(&p, &Options::default(), full.peak, &mut watch), Ok(BudgetAnswer::Fits(_))));
        let below = fits_budget(&p, &Options::default(), full.peak - 1, &mut watch);
        assert!(matches!(below, Ok(BudgetAnswer::Cannot { .. })), "{below:?}");
        let none = Options { effort: 0, ..Options::default() };
        let unknown = fits_budget(&p, &none, full.peak - 1, &mut watch);
        assert!(matches!(unknown, Ok(BudgetAnswer::Unknown { .. })), "{unknown:?}");
    }
}
