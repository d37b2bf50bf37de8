//! A lower bound from taking turns: the storages of a class that holds one at a time come one after the other.
//!
//! Let each such storage be a *task*, and one of its users its *anchor*. While the anchor runs, the classes that it touches hold its own storages and no others:
//! every other storage of these classes has had all its users run, or none. So when the anchor of the last of a set `S` of tasks runs,
//! - all that the tasks in `S` stand on has run: their users' predecessors, and with one user of a storage of these classes all its users;
//! - nothing has run that the other tasks lead to, by the same two rules read backwards.
//!
//! A storage with a user of the first kind and one of the second is live then, whatever the order is. Every order of the ops is an order of the tasks, so none needs less
//! than the best order of the tasks under these bytes alone: a small problem, searched by [`reach`] up to what is alike ([`alike`]).
//! For a tiled product with one accumulator it is the order of the tiles, whose bytes no minimum cut sees.
//!
//! Storages that may be written over others of their class share its one place: then there is no bound of this kind.

mod alike;
mod reach;

use crate::model::{Model, NONE};
use std::collections::BTreeMap;

/// Tasks are bits, and every pair of storages may be alike: no more of either.
const MOST_TASKS: usize = 1024;

/// The small problem: tasks, and storages that are live from the first of some tasks to the last of others.
#[derive(Debug, Default)]
struct Turns {
    tasks: usize,
    /// Bytes; no two have the same tasks.
    size: Vec<i64>,
    /// Per storage, the tasks that start it and those that still need it, sorted; `open` and `kept` ones are there before and after.
    starts: Vec<Vec<u32>>,
    needs: Vec<Vec<u32>>,
    open: Vec<bool>,
    kept: Vec<bool>,
    /// Per task, the tasks that come before it, sorted.
    preds: Vec<Vec<u32>>,
    /// Bytes that are live throughout.
    base: i64,
}

/// No order of `model` needs less, which is `upper` if no more is asked for; 0 where no class says anything. Counts what it looks at into `spent`,
/// at most about `effort`.
pub(crate) fn bound(model: &Model, upper: i64, effort: u64, spent: &mut u64) -> i64 {
    let single: Vec<bool> = (0..model.limits.len()).map(|class| model.limits[class].count == 1).collect();
    let shares = |storage: u32| single.get(model.class[storage as usize] as usize) == Some(&true);
    if model.pairs.iter().any(|pair| shares(pair.born) || shares(pair.dying)) {
        return 0;
    }
    let mut classes: Vec<(usize, u32)> =
        (0..single.len() as u32).filter(|&class| single[class as usize]).map(|class| (0, class)).collect();
    for (storages, class) in &mut classes {
        *storages = model.class.iter().filter(|other| *other == class).count();
    }
    // The class of the longest turns first.
    classes.sort_unstable();
    let (mut best, end) = (0, spent.saturating_add(effort));
    for &(_, class) in &classes {
        if best >= upper {
            break;
        }
        let small = Builder::new(model, &single, class).and_then(|builder| builder.build(end, spent));
        if let Some(small) = small {
            best = best.max(reach::bound(&small, upper, end, spent));
        }
    }
    best
}

struct Builder<'m> {
    model: &'m Model,
    /// Storages whose users have all run or none when an anchor runs that is not theirs: those in a class that every anchor touches.
    whole: Vec<bool>,
    /// Task of each storage of the class, `NONE` for others.
    task: Vec<u32>,
    /// Storage and anchor of each task.
    tasks: Vec<(u32, u32)>,
    /// When each op was last reached.
    seen: Vec<u32>,
    now: u32,
}

impl<'m> Builder<'m> {
    fn new(model: &'m Model, single: &[bool], class: u32) -> Option<Builder<'m>> {
        let storages: Vec<u32> = (0..model.size.len() as u32).filter(|&s| model.class[s as usize] == class).collect();
        let plain =
            |s: u32| !model.open[s as usize] && !model.kept[s as usize] && !model.users.row(s as usize).is_empty();
        if storages.len() < 2 || storages.len() > MOST_TASKS || !storages.iter().all(|&s| plain(s)) {
            return None;
        }
        let mut place = vec![0u32; model.n];
        for (at, &v) in crate::topo::order(&model.preds, &model.succs).iter().enumerate() {
            place[v as usize] = at as u32;
        }
        let touched = |v: u32| {
            let mut found = vec![false; single.len()];
            for &s in model.touch.row(v as usize) {
                if let Some(slot) = found.get_mut(model.class[s as usize] as usize) {
                    *slot = true;
                }
            }
            (0..single.len()).map(|class| found[class] && single[class]).collect::<Vec<bool>>()
        };
        let weight = |classes: &[bool]| classes.iter().filter(|inside| **inside).count();
        let anchor = |s: u32| {
            let users = model.users.row(s as usize).iter().copied();
            users.max_by_key(|&v| (weight(&touched(v)), place[v as usize])).unwrap_or(NONE)
        };
        let tasks: Vec<(u32, u32)> = storages.iter().map(|&s| (s, anchor(s))).collect();
        let mut common = single.to_vec();
        for &(_, anchor) in &tasks {
            common.iter_mut().zip(touched(anchor)).for_each(|(all, one)| *all &= one);
        }
        let whole = model.class.iter().map(|&class| common.get(class as usize) == Some(&true)).collect();
        let mut task = vec![NONE; model.size.len()];
        for (index, &(s, _)) in tasks.iter().enumerate() {
            task[s as usize] = index as u32;
        }
        Some(Builder { model, whole, task, tasks, seen: vec![0; model.n], now: 0 })
    }

    fn build(mut self, end: u64, spent: &mut u64) -> Option<Turns> {
        let m = self.model;
        let anchors: Vec<u32> = self.tasks.iter().map(|&(_, anchor)| anchor).collect();
        // What an anchor touches may be half done when it runs.
        let mut owner = vec![NONE; m.size.len()];
        for (index, &anchor) in anchors.iter().enumerate() {
            for &s in m.touch.row(anchor as usize).iter().filter(|&&s| self.whole[s as usize]) {
                owner[s as usize] = if owner[s as usize] == NONE { index as u32 } else { u32::MAX - 1 };
            }
        }
        let mut preds = vec![Vec::new(); self.tasks.len()];
        let mut rows: Vec<[Vec<u32>; 2]> = vec![Default::default(); m.size.len()];
        for index in 0..self.tasks.len() {
            let users = m.users.row(self.tasks[index].0 as usize).to_vec();
            for (kind, from) in [vec![anchors[index]], users].into_iter().enumerate() {
                let reached = self.closed(&from, kind == 0, index as u32, &owner);
                *spent += reached.len() as u64;
                for &v in &reached {
                    for &s in m.touch.row(v as usize) {
                        let row = &mut rows[s as usize][kind];
                        if row.last() != Some(&(index as u32)) {
                            row.push(index as u32);
                        }
                        let other = self.task[s as usize];
                        if other == NONE || other == index as u32 {
                            continue;
                        }
                        // Its turn has begun when this anchor runs, or its anchor has not run before this turn.
                        if kind == 0 {
                            preds[index].push(other);
                        } else if anchors[other as usize] == v {
                            preds[other as usize].push(index as u32);
                        }
                    }
                }
            }
            if *spent > end {
                return None;
            }
        }
        for row in &mut preds {
            row.sort_unstable();
            row.dedup();
        }
        Some(self.merged(rows, preds))
    }

    /// All that has run when `from` has (`back`), or that has not when `from` has not.
    fn closed(&mut self, from: &[u32], back: bool, task: u32, owner: &[u32]) -> Vec<u32> {
        let m = self.model;
        self.now += 1;
        let mut found: Vec<u32> = Vec::new();
        let mut reach = |v: u32, found: &mut Vec<u32>| {
            if std::mem::replace(&mut self.seen[v as usize], self.now) != self.now {
                found.push(v);
            }
        };
        from.iter().for_each(|&v| reach(v, &mut found));
        let mut at = 0;
        while let Some(&v) = found.get(at) {
            at += 1;
            let next = if back { m.preds.row(v as usize) } else { m.succs.row(v as usize) };
            next.iter().for_each(|&w| reach(w, &mut found));
            for &s in m.touch.row(v as usize) {
                let s = s as usize;
                // Its own storages have not all run when the anchor runs; later they have, but then it is another one's turn.
                let half = owner[s] != NONE && (back || owner[s] != task);
                if self.whole[s] && !half {
                    m.users.row(s).iter().for_each(|&w| reach(w, &mut found));
                }
            }
        }
        found
    }

    /// Storages with the same tasks are one; those that no set of tasks makes live are none.
    fn merged(&self, rows: Vec<[Vec<u32>; 2]>, preds: Vec<Vec<u32>>) -> Turns {
        let m = self.model;
        let mut small = Turns { tasks: self.tasks.len(), preds, base: m.base, ..Turns::default() };
        let mut all: BTreeMap<(Vec<u32>, Vec<u32>, bool, bool), i64> = BTreeMap::new();
        for (s, [starts, needs]) in rows.into_iter().enumerate() {
            let (open, kept) = (m.open[s], m.kept[s]);
            if m.size[s] > 0 && (open || !starts.is_empty()) && (kept || !needs.is_empty()) {
                *all.entry((starts, needs, open, kept)).or_default() += m.size[s];
            }
        }
        for ((starts, needs, open, kept), size) in all {
            small.size.push(size);
            small.starts.push(starts);
            small.needs.push(needs);
            small.open.push(open);
            small.kept.push(kept);
        }
        small
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ClassId, OpId};
    use crate::problem::{Class, Op, Problem, Spec, Storage};
    use crate::solution::{Options, Proof};
    use std::ops::ControlFlow;

    /// A product of `side` by `side` tiles over `depth`: each tile sums up in the one accumulator what passes through one slot for each side.
    fn product(side: u32, depth: u32, size: u64) -> Problem {
        let classes = vec![Class { limit: Some(1), capacity: None }; 3];
        let mut spec = Spec { classes, ..Spec::default() };
        let mut op = || {
            spec.ops.push(Op::default());
            OpId(spec.ops.len() as u32 - 1)
        };
        let mut storages = Vec::new();
        let mut operands: Vec<Storage> = Vec::new();
        for _ in 0..2 * side * depth {
            operands.push(Storage { size, writers: vec![op()], ..Storage::default() });
        }
        let mut deps = Vec::new();
        for tile in 0..side * side {
            let mut sum = Storage { class: Some(ClassId(2)), ..Storage::default() };
            for k in 0..depth {
                let (left, right, product) = (op(), op(), op());
                operands[(tile / side * depth + k) as usize].readers.push(left);
                operands[((side + tile % side) * depth + k) as usize].readers.push(right);
                for (class, copy) in [(0, left), (1, right)] {
                    let class = Some(ClassId(class));
                    storages.push(Storage { class, writers: vec![copy], readers: vec![product], ..Storage::default() });
                }
                deps.extend(sum.writers.last().map(|last| (*last, product)));
                sum.writers.push(product);
            }
            storages.push(sum);
        }
        storages.extend(operands);
        (spec.storages, spec.deps) = (storages, deps);
        Problem::new(spec).expect("legal")
    }

    fn bound_of(problem: &Problem, upper: i64) -> i64 {
        let model = crate::model::build(problem, &Default::default(), |_| true);
        bound(&model, upper, 3_000_000, &mut 0)
    }

    #[test]
    fn a_line_and_all_that_cross_it_are_live_before_the_second_line_ends() {
        for (side, depth) in [(3, 1), (3, 2), (5, 3), (8, 8), (16, 4)] {
            let problem = product(side, depth, 128);
            let least = i64::from(128 * depth * (side + 1));
            assert_eq!(bound_of(&problem, least + 1), least, "{side} {depth}");
        }
        let solution =
            crate::solve(&product(8, 8, 128), &Options::default(), &mut |_| ControlFlow::Continue(())).expect("legal");
        assert_eq!((solution.peak, solution.lower_bound, solution.proof), (9216, 9216, Proof::Search));
    }

    #[test]
    fn without_an_accumulator_of_its_own_nothing_is_claimed_of_whole_tiles() {
        // Two tiles may be summed up at once: lines need not be finished one tile at a time.
        let mut spec = product(3, 2, 128).spec().clone();
        spec.classes[2].limit = Some(9);
        let two = Problem::new(spec.clone()).expect("legal");
        assert!(bound_of(&two, i64::MAX) < 128 * 2 * 4);
        spec.classes.iter_mut().for_each(|class| class.limit = None);
        assert_eq!(bound_of(&Problem::new(spec).expect("legal"), i64::MAX), 0);
    }

    #[test]
    fn no_more_is_claimed_than_is_asked_for_and_little_effort_claims_little() {
        let problem = product(8, 8, 128);
        assert_eq!(bound_of(&problem, 5000), 5000);
        let model = crate::model::build(&problem, &Default::default(), |_| true);
        let mut spent = 0;
        assert!(bound(&model, i64::MAX, 30_000, &mut spent) <= 9216);
        assert!(spent < 100_000, "{spent}");
    }

    /// Small problems full of classes that hold one storage, some with room for one in each of two of them at a time.
    fn draw(random: &mut crate::shuffle::Random) -> Problem {
        let mut spec = Spec { classes: vec![Class { limit: Some(1), capacity: None }; 2], ..Spec::default() };
        let mut below = |end: u64| random.next() % end;
        let ops = 4 + below(4) as u32;
        for v in 0..ops {
            spec.ops.push(Op::default());
            let class = [Some(ClassId(0)), Some(ClassId(1)), None, None][below(4) as usize];
            let mut result = Storage { size: below(9), class, writers: vec![OpId(v)], ..Storage::default() };
            result.live_out = class.is_none() && below(9) == 0;
            for _ in 0..below(4) {
                if let Some(at) = (v as usize).checked_sub(1 + below(3) as usize) {
                    let storage: &mut Storage = &mut spec.storages[at];
                    if storage.readers.last() != Some(&OpId(v)) {
                        storage.readers.push(OpId(v));
                    }
                }
            }
            spec.storages.push(result);
        }
        if below(2) == 0 {
            spec.storages.push(Storage { size: below(9), readers: vec![OpId(ops - 1)], ..Storage::default() });
        }
        Problem::new(spec).expect("legal")
    }

    /// Three to four products, summed up in one to three accumulators; each reads two of a few arguments, one of them through a slot.
    fn draw_tiles(random: &mut crate::shuffle::Random) -> Problem {
        let mut spec = Spec { classes: vec![Class { limit: Some(1), capacity: None }; 2], ..Spec::default() };
        let mut below = |end: u64| random.next() % end;
        let (units, sums) = (3 + below(2) as u32, 1 + below(3));
        let sum = |_| Storage { class: Some(ClassId(1)), ..Storage::default() };
        let mut accumulators: Vec<Storage> = (0..sums).map(sum).collect();
        for _ in 0..3 {
            spec.storages.push(Storage { size: 1 + below(9), ..Storage::default() });
        }
        for unit in 0..units {
            let (copy, product) = (OpId(2 * unit), OpId(2 * unit + 1));
            spec.ops.extend([Op::default(); 2]);
            spec.storages[below(3) as usize].readers.push(copy);
            spec.storages[below(3) as usize].readers.push(product);
            match spec.storages.last_mut() {
                // What is in the slot may serve twice.
                Some(slot) if slot.class.is_some() && below(3) == 0 => slot.readers.push(product),
                _ => spec.storages.push(Storage {
                    class: Some(ClassId(0)),
                    writers: vec![copy],
                    readers: vec![product],
                    ..Storage::default()
                }),
            }
            let sum = &mut accumulators[below(sums) as usize];
            spec.deps.extend(sum.writers.last().map(|last| (*last, product)));
            sum.writers.push(product);
        }
        spec.storages.extend(accumulators.into_iter().filter(|sum| !sum.writers.is_empty()));
        Problem::new(spec).expect("legal")
    }

    fn least(problem: &Problem, model: &Model, order: &mut Vec<u32>) -> i64 {
        if order.len() == model.n {
            return crate::replay::peak(model, order).unwrap_or(i64::MAX);
        }
        let mut best = i64::MAX;
        for v in 0..model.n as u32 {
            if !order.contains(&v) && problem.predecessors(OpId(v)).all(|before| order.contains(&before.0)) {
                order.push(v);
                best = best.min(least(problem, model, order));
                order.pop();
            }
        }
        best
    }

    #[test]
    fn no_order_needs_less_than_the_bound() {
        let mut random = crate::shuffle::Random(1);
        let mut telling = 0;
        for case in 0..3000 {
            let problem = if case % 2 == 0 { draw(&mut random) } else { draw_tiles(&mut random) };
            let model = crate::model::build(&problem, &Default::default(), |_| true);
            let least = least(&problem, &model, &mut Vec::new());
            let bound = bound(&model, i64::MAX, 1_000_000, &mut 0);
            assert!(bound <= least, "case {case}: {bound} > {least}\n{:?}", problem.spec());
            telling += usize::from(bound > 0 && least < i64::MAX);
        }
        assert!(telling > 100, "{telling}");
    }
}
