//! Bytes against time: how long an order takes, and, among orders that need little more bytes than the best, the one that takes the least time.
//!
//! Ops of one unit run one after the other in their order; an op waits for those it depends on, and for the bytes that it writes: bytes are given
//! out in the order, never more than its peak, and come back when the last op that touches them is done. The orders compared are those of the portfolio at several weights of the critical path, and a list schedule that starts what can start first, then what has
//! the longest way to the end, as far as the bytes allow. Where nothing is shorter the best order stays.

use crate::attempt::{self, Attempt};
use crate::cursor::Cursor;
use crate::error::OrderError;
use crate::ids::OpId;
use crate::model::Model;
use crate::problem::{Op, Problem};
use crate::solution::Options;
use crate::taken::Taken;
use crate::{greedy, portfolio, replay, simulate, topo};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// With more ops than this no list schedule is made: each of its steps looks at all ready ops.
const MANY_OPS: usize = 20_000;

/// Cycles until the last op of `order` is done.
///
/// # Errors
/// `order` with `taken` is not legal.
pub fn makespan(problem: &Problem, order: &[OpId], taken: &Taken) -> Result<u64, OrderError> {
    let held = simulate::run(problem, order, taken)?;
    let (peak, _) = held.peak();
    let mut ends: Vec<Vec<usize>> = vec![Vec::new(); order.len() + 1];
    let mut starts: Vec<u64> = order.iter().map(|op| problem.spec.ops[op.index()].scratch).collect();
    let mut live = 0u64;
    for (at, span) in held.spans.iter().enumerate() {
        ends[span.end.min(order.len())].push(at);
        match span.begin {
            0 => live += span.size,
            step if step < order.len() => starts[step] += span.size,
            _ => {}
        }
    }
    // What is live from the start is there whenever the first op runs.
    let touched = touched(problem, &held);
    let mut touched_until = vec![0u64; held.spans.len()];
    let mut back: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
    let (mut done, mut free) = (vec![0u64; problem.ops()], FxHashMap::<u32, u64>::default());
    let (mut given, mut end) = (0u64, 0u64);
    for (step, &op) in order.iter().enumerate() {
        let Op { scratch, cycles, unit } = problem.spec.ops[op.index()];
        let inputs = problem.predecessors(op).map(|p| done[p.index()]).max().unwrap_or(0);
        let mut start = inputs.max(free.get(&unit).copied().unwrap_or(0));
        if starts[step] > 0 {
            start = start.max(given);
            while let Some(&Reverse((time, bytes))) = back.peek() {
                if time > start && live.saturating_add(starts[step]) <= peak {
                    break;
                }
                start = start.max(time);
                live -= bytes;
                back.pop();
            }
            live += starts[step];
            given = start;
        }
        let over = start.saturating_add(cycles);
        done[op.index()] = over;
        free.insert(unit, over);
        end = end.max(over);
        back.extend((scratch > 0).then_some(Reverse((over, scratch))));
        for &span in &touched[op.index()] {
            touched_until[span as usize] = touched_until[span as usize].max(over);
        }
        for &span in &ends[step + 1] {
            back.push(Reverse((touched_until[span], held.spans[span].size)));
        }
    }
    Ok(end)
}

/// Per op, the merged storages that it touches.
fn touched(problem: &Problem, held: &simulate::Held) -> Vec<Vec<u32>> {
    let mut touched: Vec<Vec<u32>> = vec![Vec::new(); problem.ops()];
    for (storage, slot) in problem.spec.storages.iter().zip(&held.slot) {
        for op in storage.writers.iter().chain(&storage.readers) {
            touched[op.index()].push(*slot);
        }
    }
    touched
}

/// The order to take instead of `best`, whose peak is at most `options.latency_weight` percent of the way from the best peak to `input_peak`.
pub(crate) fn trade(problem: &Problem, options: &Options, best: Attempt, input_peak: Option<u64>) -> Attempt {
    let weight = i64::from(options.latency_weight);
    if weight == 0 || problem.spec.ops.iter().all(|op| op.cycles == 0) {
        return best;
    }
    let given = input_peak.and_then(|peak| i64::try_from(peak).ok()).unwrap_or(best.peak);
    let spare = (i128::from((given - best.peak).max(0)) * i128::from(weight) / 100) as i64;
    let most = best.peak + spare;
    let mut pool = vec![(best.peak, best.order.clone())];
    for weight in [options.latency_weight, 50, 100] {
        pool.extend(portfolio::orders(&best.model, &best.order, weight));
    }
    pool.extend(replay::peak(&best.model, &problem.legal_order).map(|peak| (peak, problem.legal_order.clone())));
    for most in [most, best.peak + spare / 2, best.peak] {
        let listed = list_schedule(problem, &best.model, most);
        pool.extend(listed.and_then(|order| Some((replay::peak(&best.model, &order)?, order))));
    }
    pool.retain(|(peak, _)| *peak <= most);
    let timed = |(peak, order): (i64, Vec<u32>)| {
        let next = Attempt { is_tree: best.is_tree && order == best.order, order, peak, ..best.clone() };
        let (taken, ..) = attempt::complete(problem, &next)?;
        let order: Vec<OpId> = next.order.iter().map(|v| OpId(*v)).collect();
        Some((makespan(problem, &order, &taken).ok()?, next))
    };
    // Of equal ones the first stands: the best order.
    let least = pool.into_iter().filter_map(timed).min_by_key(|(time, next)| (*time, next.peak));
    least.map_or(best, |(_, next)| next)
}

/// Step by step the op that starts first, then the one with the longest way to the end, among those that keep the peak at `most`.
fn list_schedule(problem: &Problem, model: &Model, most: i64) -> Option<Vec<u32>> {
    if model.n > MANY_OPS {
        return None;
    }
    let path = greedy::critical_path(model, &topo::order(&model.preds, &model.succs));
    let mut cursor = Cursor::new(model, true);
    let mut done = vec![0u64; model.n];
    let mut free: FxHashMap<u32, u64> = FxHashMap::default();
    let unit = |v: u32| problem.spec.ops[v as usize].unit;
    let mut order = Vec::with_capacity(model.n);
    while order.len() < model.n {
        let mut next: Option<(u64, i64, u32)> = None;
        for (w, &word) in cursor.ready.clone().iter().enumerate() {
            let mut bits = word;
            while bits != 0 {
                let v = (w * 64) as u32 + bits.trailing_zeros();
                bits &= bits - 1;
                if !cursor.group_allows(v) || !cursor.class_allows(v, false) || cursor.look(v).during > most {
                    continue;
                }
                let inputs = model.preds.row(v as usize).iter().map(|&p| done[p as usize]).max().unwrap_or(0);
                let idle = free.get(&unit(v)).copied().unwrap_or(0);
                let key = (inputs.max(idle), -path[v as usize], v);
                next = Some(next.map_or(key, |known| known.min(key)));
            }
        }
        let (start, _, v) = next?;
        cursor.apply(v);
        done[v as usize] = start.saturating_add(problem.spec.ops[v as usize].cycles);
        free.insert(unit(v), done[v as usize]);
        order.push(v);
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{result, storage};
    use crate::ids::OpId;
    use crate::problem::{Op, Problem, Spec};
    use crate::solution::Options;
    use crate::taken::Taken;
    use crate::{makespan, solve};
    use std::ops::ControlFlow;

    /// Two chains of a load (unit 0) and a computation (unit 1), joined at the end: loads ahead of the computation before take bytes and save time.
    fn pipeline(chains: u32) -> Problem {
        let mut spec = Spec::default();
        for chain in 0..chains {
            let (load, compute) = (OpId(2 * chain), OpId(2 * chain + 1));
            spec.ops.push(Op { cycles: 10, ..Op::default() });
            spec.ops.push(Op { cycles: 10, unit: 1, ..Op::default() });
            spec.storages.push(storage(100, &[load.0], &[compute.0]));
            spec.storages.push(storage(1, &[compute.0], &[2 * chains]));
        }
        spec.ops.push(Op::default());
        spec.storages.push(result(1, 2 * chains));
        // The input's order loads everything first.
        let order: Vec<u32> = (0..chains).map(|c| 2 * c).chain((0..chains).map(|c| 2 * c + 1)).collect();
        let place = |v: u32| order.iter().position(|w| *w == v).map_or(v, |at| at as u32);
        let ops = order.iter().map(|v| spec.ops[*v as usize]).chain([spec.ops[2 * chains as usize]]).collect();
        for s in &mut spec.storages {
            s.writers.iter_mut().chain(&mut s.readers).for_each(|v| *v = OpId(place(v.0)));
        }
        spec.ops = ops;
        Problem::new(spec).expect("legal")
    }

    #[test]
    fn two_units_overlap_what_is_independent_and_has_bytes_of_its_own() {
        let p = pipeline(2);
        // Both loads first, as the input has them; then one after the other, in the bytes of one.
        let time = |order: [u32; 5]| makespan(&p, &order.map(OpId), &Taken::default());
        assert_eq!((time([0, 1, 2, 3, 4]), time([0, 2, 1, 3, 4])), (Ok(30), Ok(40)));
    }

    #[test]
    fn a_weight_buys_time_with_bytes_and_no_more_than_that() {
        let p = pipeline(4);
        let mut before = None;
        for weight in [0, 50, 100] {
            let options = Options { latency_weight: weight, ..Options::default() };
            let answer = solve(&p, &options, &mut |_| ControlFlow::Continue(())).expect("an order");
            let time = makespan(&p, &answer.order, &answer.taken).expect("legal");
            let given = answer.input_peak.expect("legal");
            if let Some((least, time_of_least)) = before {
                assert!(answer.peak <= least + (given - least) * u64::from(weight) / 100, "{weight}");
                assert!(time <= time_of_least, "{weight}: {time} {time_of_least}");
            } else {
                assert_eq!((answer.peak, time), (104, 80), "one after the other");
                before = Some((answer.peak, time));
            }
            if weight == 50 {
                assert_eq!(time, 50, "the next load runs beside the computation");
            }
        }
    }
}
