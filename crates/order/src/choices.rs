//! Choices of open candidates: all there are, or better ones near a choice that was made one by one.
//!
//! Candidates that lay one part in different wholes, or one result over different operands, are rivals: at most one of them can be taken.
//! So the choices are those of a number whose digits are the rivals, "none" first.
//!
//! Deciding one op after the other can end where each further candidate raises the peak and the way down begins with leaving one out: a placed part
//! brings its whole to life early, and two rivals differ in what else becomes possible. Moves take one candidate in or leave it out, its rivals
//! with it; only what is held at the peak can lower it. Blocks that repeat have the same peak, one after the other: fewer steps that hold it are better,
//! too.

use crate::attempt::{self, Attempt, Open};
use crate::problem::Problem;
use crate::solution::{Options, Stats};
use crate::taken::Taken;
use crate::{replay, simulate};

/// Open candidates by what only one of them can have, each of a kind once.
pub(crate) fn rivals(problem: &Problem, groups: &[Vec<Open>]) -> Vec<Vec<Open>> {
    let spec = &problem.spec;
    let base = |storage: crate::StorageId| problem.rep[storage.index()];
    // What only one can have, and what makes two of them the same.
    let key = |open: &Open| match *open {
        Open::Placement(i) => ((true, base(spec.placement[i].part)), (i, 0)),
        Open::InPlace(i) => {
            let c = &spec.in_place[i];
            ((false, base(c.result)), (c.op.index(), base(c.operand)))
        }
    };
    let mut found: Vec<((bool, u32), Vec<Open>)> = Vec::new();
    let mut place = rustc_hash::FxHashMap::default();
    let mut seen = rustc_hash::FxHashSet::default();
    for open in groups.iter().flatten() {
        let (of, same) = key(open);
        if !seen.insert((of, same)) {
            continue;
        }
        let at = *place.entry(of).or_insert(found.len());
        if at == found.len() {
            found.push((of, Vec::new()));
        }
        found[at].1.push(*open);
    }
    found.into_iter().map(|(_, list)| list).collect()
}

/// How many choices there are; `usize::MAX` for more than can be counted.
pub(crate) fn count(rivals: &[Vec<Open>]) -> usize {
    rivals.iter().fold(1, |count: usize, list| count.saturating_mul(list.len() + 1))
}

/// One of them, by number.
pub(crate) fn choice(rivals: &[Vec<Open>], mut number: usize) -> Vec<Open> {
    let mut taken = Vec::new();
    for list in rivals {
        let digit = number % (list.len() + 1);
        number /= list.len() + 1;
        taken.extend(digit.checked_sub(1).map(|at| list[at]));
    }
    taken
}

/// Moves to choices of a lower peak, or of fewer steps that hold it, as long as one is near, within half of the effort; whether there was one.
pub(crate) fn improve(
    problem: &Problem,
    options: &Options,
    best: &mut Attempt,
    rivals: &[Vec<Open>],
    stats: &mut Stats,
) -> bool {
    let before = best.peak;
    let mut score = (best.peak, steps_at_peak(best));
    let cost = (best.model.n + best.model.touch.pairs().len()) as u64 + 1;
    while let Some(held) = held_at_peak(problem, best) {
        let near = |open: &Open| {
            let (a, b) = match *open {
                Open::InPlace(i) => (problem.spec.in_place[i].operand, problem.spec.in_place[i].result),
                Open::Placement(i) => (problem.spec.placement[i].part, problem.spec.placement[i].whole),
            };
            held[a.index()] || held[b.index()]
        };
        let moves = rivals.iter().flat_map(|list| list.iter().filter(|open| near(open)).map(move |open| (list, open)));
        let next = moves.map_while(|(list, open)| {
            stats.nodes += cost;
            (stats.nodes <= options.effort / 2).then(|| toggled(&best.decided, list, *open))
        });
        let next = next.filter_map(|decided| attempt::attempt(problem, options, &decided));
        let mut next = next.filter(|next| next.peak <= score.0).map(|next| ((next.peak, steps_at_peak(&next)), next));
        let Some((its_score, lower)) = next.find(|(its_score, _)| *its_score < score) else { break };
        (score, *best) = (its_score, lower);
    }
    best.peak < before
}

fn steps_at_peak(attempt: &Attempt) -> usize {
    let held = replay::profile(&attempt.model, &attempt.order).map(|(held, _)| held).unwrap_or_default();
    held.iter().filter(|bytes| **bytes >= attempt.peak).count()
}

/// A choice with a candidate that it lacks instead of its rivals, or without one that it has.
fn toggled(decided: &Taken, rivals: &[Open], open: Open) -> Taken {
    let mut taken = decided.clone();
    let had = has(decided, open);
    for rival in rivals {
        match *rival {
            Open::InPlace(i) => taken.in_place.retain(|&other| other != i),
            Open::Placement(i) => taken.placement.retain(|&other| other != i),
        }
    }
    if had { taken } else { attempt::with(&taken, &[open]) }
}

fn has(taken: &Taken, open: Open) -> bool {
    match open {
        Open::InPlace(i) => taken.in_place.binary_search(&i).is_ok(),
        Open::Placement(i) => taken.placement.binary_search(&i).is_ok(),
    }
}

/// By storage: whether its bytes are held at the peak.
fn held_at_peak(problem: &Problem, attempt: &Attempt) -> Option<Vec<bool>> {
    let (taken, ..) = attempt::complete(problem, attempt)?;
    let order: Vec<crate::OpId> = attempt.order.iter().map(|v| crate::OpId(*v)).collect();
    let run = simulate::simulate(problem, &order, &taken).ok()?;
    let mut held = vec![false; problem.spec.storages.len()];
    for storage in run.storages.iter().filter(|s| (s.begin..s.end).contains(&run.peak_step)) {
        storage.members.iter().for_each(|member| held[member.index()] = true);
    }
    Some(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{result, storage};
    use crate::{InPlace, Op, OpId, Placement, Spec, Storage, StorageId, solve};
    use std::ops::ControlFlow;

    fn place(op: u32, part: u32, whole: u32, offset: u64) -> Placement {
        Placement { op: OpId(op), part: StorageId(part), whole: StorageId(whole), offset, required: false }
    }

    fn spec(ops: usize, storages: Vec<Storage>, placement: Vec<Placement>) -> Spec {
        Spec { ops: vec![Op::default(); ops], storages, placement, ..Spec::default() }
    }

    /// A join of joins: a and b become c, d is made of c, d and c become e, b and e become the result, 64. Both of b's wholes are rivals. Once b, c, d and
    /// e lie in the result, so can a; but a is made before anything else, with much scratch.
    fn early_part() -> Spec {
        let storages = vec![
            storage(8, &[], &[0, 1]),
            storage(8, &[0], &[2]),
            storage(16, &[1], &[2, 5]),
            storage(24, &[2], &[3, 4]),
            storage(24, &[3], &[4]),
            storage(48, &[4], &[5]),
            result(64, 5),
        ];
        let parts = [(2, 1, 3, 0), (2, 2, 3, 8), (4, 4, 5, 0), (4, 3, 5, 24), (5, 2, 6, 0), (5, 5, 6, 16)];
        let mut spec = spec(6, storages, parts.map(|(op, part, whole, at)| place(op, part, whole, at)).to_vec());
        spec.ops[0].scratch = 40;
        spec
    }

    /// Of two rivals the first to be decided is the wrong one: only where a lies in d may e overwrite c.
    fn wrong_rival() -> Spec {
        let storages = vec![
            storage(48, &[], &[0, 1]),
            storage(48, &[0], &[1, 4]),
            storage(96, &[1], &[2, 3]),
            storage(16, &[2], &[4]),
            storage(96, &[3], &[5]),
            storage(64, &[4], &[5]),
            result(160, 5),
        ];
        let parts = [(1, 1, 2, 0), (4, 1, 5, 0), (4, 3, 5, 48), (5, 5, 6, 0), (5, 4, 6, 64)];
        let mut spec = spec(6, storages, parts.map(|(op, part, whole, at)| place(op, part, whole, at)).to_vec());
        let over = |op, operand, result| InPlace {
            op: OpId(op),
            result: StorageId(result),
            operand: StorageId(operand),
            required: false,
        };
        spec.in_place = vec![over(0, 0, 1), over(3, 2, 4)];
        spec
    }

    fn peak(spec: Spec) -> u64 {
        let problem = Problem::new(spec).expect("a legal problem");
        solve(&problem, &Options::default(), &mut |_| ControlFlow::Continue(())).expect("an order").peak
    }

    #[test]
    fn choices_that_one_by_one_would_miss() {
        assert_eq!(peak(early_part()), 80);
        assert_eq!(peak(wrong_rival()), 208);
    }

    #[test]
    fn rivals_are_counted_once() {
        let problem = Problem::new(early_part()).expect("a legal problem");
        let groups = attempt::open(&problem, &Options::default(), &Taken::default());
        let rivals = rivals(&problem, &groups);
        assert_eq!(rivals.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 1, 1, 1]);
        assert_eq!(count(&rivals), 3 * 2 * 2 * 2 * 2);
        let mut all: Vec<Vec<Open>> = (0..count(&rivals)).map(|number| choice(&rivals, number)).collect();
        assert!(all[0].is_empty());
        assert!(all.iter().all(|one| !(one.contains(&Open::Placement(1)) && one.contains(&Open::Placement(4)))));
        let before = all.len();
        all.dedup();
        assert_eq!(all.len(), before);
    }

    /// A graph of ten copies is too large to try every choice: leaving one part out is found all the same.
    #[test]
    fn a_part_that_comes_too_early_is_left_out_of_a_large_graph() {
        let one = early_part();
        let mut all = Spec::default();
        for copy in 0..10u32 {
            let (ops, storages) = (copy * one.ops.len() as u32, copy * one.storages.len() as u32);
            all.ops.extend(one.ops.iter().copied());
            let moved = |list: &[OpId]| list.iter().map(|op| OpId(op.0 + ops)).collect::<Vec<_>>();
            for storage in &one.storages {
                let (writers, readers) = (moved(&storage.writers), moved(&storage.readers));
                // One after the other: what a copy makes is read by the next one.
                all.storages.push(Storage { writers, readers, live_out: false, ..storage.clone() });
            }
            all.placement.extend(one.placement.iter().map(|item| Placement {
                op: OpId(item.op.0 + ops),
                part: StorageId(item.part.0 + storages),
                whole: StorageId(item.whole.0 + storages),
                ..*item
            }));
            if copy > 0 {
                // A copy's argument is made from the result before.
                all.storages[storages as usize].writers.push(OpId(ops - 1));
            }
        }
        let problem = Problem::new(all).expect("a legal problem");
        let groups = attempt::open(&problem, &Options::default(), &Taken::default());
        assert!(count(&rivals(&problem, &groups)) > 1 << 20);
        let mut stats = Stats::default();
        let options = Options::default();
        let start = attempt::attempt(&problem, &options, &Taken::default()).expect("an order");
        let mut best = attempt::decide(&problem, &options, start, &groups, &mut stats);
        let before = best.peak;
        assert!(improve(&problem, &options, &mut best, &rivals(&problem, &groups), &mut stats), "{before}");
        assert!(best.peak < before, "{} {before}", best.peak);
    }
}
