//! The solver against dynamic programming over all downsets, on random problems of up to 14 ops with storages written in parts, views, tokens, scratch,
//! held and kept storages, unread arguments, in-place candidates of equal size, classes and groups.
//!
//! `NEAP_ORDER_CASES` sets how many problems are drawn (400 unless given).

mod common;

use common::{Random, plain};
use neap_order::{Class, ClassId, Failure, OpId, Options, Problem, Proof, Spec, simulate, solve};
use std::ops::ControlFlow;

/// Adds classes and groups to some of the problems.
fn constrain(spec: &mut Spec, random: &mut Random) {
    let n = spec.ops.len();
    if random.chance(25) {
        let capacity = random.chance(40).then(|| 30 + random.below(60) as u64);
        spec.classes.push(Class { limit: Some(1 + random.below(3) as u32), capacity });
        for s in &mut spec.storages {
            s.class = random.chance(35).then_some(ClassId(0));
        }
    }
    if random.chance(25) {
        for _ in 0..1 + random.below(2) {
            let mut members: Vec<OpId> = (0..2 + random.below(2)).map(|_| OpId(random.below(n) as u32)).collect();
            members.sort_unstable();
            members.dedup();
            members.retain(|m| !spec.groups.iter().flatten().any(|o| o == m));
            spec.groups.push(members);
        }
    }
}

struct Table<'p> {
    spec: &'p Spec,
    /// Per storage: ops that touch it.
    touch: Vec<u32>,
    preds: Vec<u32>,
    group: Vec<u32>,
}

fn bit(ops: &[OpId]) -> u32 {
    ops.iter().fold(0, |m, o| m | 1 << o.0)
}

impl Table<'_> {
    fn new(problem: &Problem) -> Table<'_> {
        let spec = problem.spec();
        let touch = spec.storages.iter().map(|s| bit(&s.writers) | bit(&s.readers)).collect();
        let preds = (0..problem.ops() as u32).map(|v| bit(&problem.predecessors(OpId(v)).collect::<Vec<_>>()));
        Table { spec, touch, preds: preds.collect(), group: spec.groups.iter().map(|g| bit(g)).collect() }
    }

    /// Whether storage `s` is held during `v`, run after `done`.
    fn held(&self, s: usize, v: u32, done: u32) -> bool {
        let storage = &self.spec.storages[s];
        let all = self.touch[s];
        let after = done | 1 << v;
        let begun = storage.writers.is_empty() || all & after != 0;
        let unread = storage.writers.is_empty() && all == 0 && done == 0;
        let ends = all & !done == 0 && !storage.live_out;
        storage.whole_run || unread || (begun && !ends)
    }

    /// Pairs `(result, operand)` that `v` may take after `done`.
    fn pairs(&self, v: u32, done: u32) -> Vec<(usize, usize)> {
        let can = |r: usize, x: usize| {
            let (result, operand) = (&self.spec.storages[r], &self.spec.storages[x]);
            let free = !operand.live_out && !operand.whole_run && result.class == operand.class;
            free && result.writers.iter().all(|w| w.0 == v) && self.touch[x] & !(done | 1 << v) == 0
        };
        let of = self.spec.in_place.iter().filter(|c| c.op.0 == v);
        of.map(|c| (c.result.index(), c.operand.index())).filter(|&(r, x)| can(r, x)).collect()
    }

    /// Bytes during `v` after `done`, or `None` when a class does not allow it with any set of pairs.
    fn during(&self, v: u32, done: u32) -> Option<u64> {
        let held: Vec<usize> = (0..self.touch.len()).filter(|&s| self.held(s, v, done)).collect();
        let pairs = self.pairs(v, done);
        let sets = (0..1u32 << pairs.len()).filter_map(|set| {
            let chosen: Vec<_> = (0..pairs.len()).filter(|k| set >> k & 1 == 1).map(|k| pairs[k]).collect();
            let twice = |k: usize| chosen[k + 1..].iter().any(|p| p.0 == chosen[k].0 || p.1 == chosen[k].1);
            if (0..chosen.len()).any(twice) {
                return None;
            }
            let counted = || held.iter().filter(|s| !chosen.iter().any(|p| p.1 == **s));
            let size = |s: &&usize| self.spec.storages[**s].size;
            let fits = self.spec.classes.iter().enumerate().all(|(c, class)| {
                let of = || counted().filter(|s| self.spec.storages[**s].class == Some(ClassId(c as u32)));
                let count = of().count() as u32;
                class.limit.is_none_or(|l| count <= l)
                    && class.capacity.is_none_or(|b| of().map(|s| size(&s)).sum::<u64>() <= b)
            });
            fits.then(|| counted().map(|s| size(&s)).sum::<u64>() + self.spec.ops[v as usize].scratch)
        });
        sets.min()
    }

    fn group_allows(&self, v: u32, done: u32) -> bool {
        let open = self.group.iter().find(|g| *g & done != 0 && *g & !done != 0);
        open.is_none_or(|g| g >> v & 1 == 1)
    }

    /// The least peak of all orders.
    fn optimum(&self) -> Option<u64> {
        let n = self.spec.ops.len();
        let mut best: Vec<Option<u64>> = vec![None; 1 << n];
        best[0] = Some(0);
        for done in 0..(1u32 << n) {
            let Some(peak) = best[done as usize] else { continue };
            for v in 0..n as u32 {
                let ready = done >> v & 1 == 0 && self.preds[v as usize] & !done == 0;
                if !ready || !self.group_allows(v, done) {
                    continue;
                }
                if let Some(during) = self.during(v, done) {
                    let next = &mut best[(done | 1 << v) as usize];
                    *next = Some(next.map_or(u64::MAX, |b| b).min(peak.max(during)));
                }
            }
        }
        best[(1 << n) - 1]
    }
}

#[test]
fn the_optimum_of_all_downsets() {
    let cases = std::env::var("NEAP_ORDER_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(400);
    let mut random = Random(21);
    let (mut solved, mut proved, mut equal, mut infeasible) = (0, 0, 0, 0);
    let (mut classes, mut groups, mut in_place, mut parts) = (0, 0, 0, 0);
    for case in 0..cases {
        let ops = 3 + random.below(12);
        let mut spec = plain(&mut random, ops);
        constrain(&mut spec, &mut random);
        let Ok(problem) = Problem::new(spec) else { continue };
        let best = Table::new(&problem).optimum();
        let answer = match solve(&problem, &Options::default(), &mut |_| ControlFlow::Continue(())) {
            Ok(answer) => answer,
            Err(Failure::Infeasible { .. }) => {
                assert_eq!(best, None, "case {case}: called infeasible\n{:?}", problem.spec());
                infeasible += 1;
                continue;
            }
            Err(Failure::NotFound { .. }) => continue,
            Err(other) => panic!("case {case}: {other:?}"),
        };
        let best = best.unwrap_or_else(|| panic!("case {case}: no order, but {answer:?}\n{:?}", problem.spec()));
        let run = simulate(&problem, &answer.order, &answer.taken).expect("the answer is legal");
        assert_eq!(run.peak, answer.peak, "case {case}");
        assert!(answer.peak >= best, "case {case}: {} below {best}\n{:?}", answer.peak, problem.spec());
        assert!(answer.lower_bound <= best, "case {case}: {} above {best}\n{:?}", answer.lower_bound, problem.spec());
        assert!(answer.proof == Proof::None || answer.peak == best, "case {case}: {answer:?}\n{:?}", problem.spec());
        solved += 1;
        proved += usize::from(answer.proof != Proof::None);
        equal += usize::from(answer.peak == best);
        classes += usize::from(!problem.spec().classes.is_empty());
        groups += usize::from(!problem.spec().groups.is_empty());
        in_place += usize::from(!answer.taken.in_place.is_empty());
        parts += usize::from(problem.spec().storages.iter().any(|s| s.writers.len() > 1));
    }
    println!(
        "{solved} solved, {infeasible} infeasible, {equal} optimal, {proved} proved; classes {classes}, groups {groups}, in place \
         {in_place}, written in parts {parts}"
    );
    assert!(equal * 100 >= solved * 98 && infeasible > 0, "{equal} of {solved} optimal");
    assert!([classes, groups, in_place, parts].iter().all(|&k| k * 12 > solved), "the cases cover the features");
}
