//! The least of the most bytes on the way from no task to all tasks.
//!
//! Best-first over sets of tasks, lowest worst point first. A task that does not raise the bytes runs at once: bytes are a submodular function of the set, so it
//! would not raise them later either, and whatever follows holds no more with it than without. Sets that are images of each other are one.
//!
//! The least worst point of what is still open is a bound whenever the search ends.

use super::Turns;
use super::alike::Alike;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Searches `small` until all tasks have run, `upper` is reached or about `end` is spent.
pub(super) fn bound(small: &Turns, upper: i64, end: u64, spent: &mut u64) -> i64 {
    let view = View::new(small);
    let alike = Alike::new(small, end, spent);
    let words = small.tasks.div_ceil(64);
    let mut best: FxHashMap<Vec<u64>, i64> = FxHashMap::default();
    let mut open: BinaryHeap<(Reverse<i64>, u32, Reverse<u32>)> = BinaryHeap::new();
    let mut sets: Vec<Vec<u64>> = Vec::new();
    let mut state = State::new(&view, &vec![0; words]);
    state.close(&view);
    open.push((Reverse(0), state.count, Reverse(0)));
    sets.push(state.done);
    while let Some((Reverse(worst), count, Reverse(id))) = open.pop() {
        if worst >= upper || count as usize == small.tasks || *spent > end {
            return worst.min(upper);
        }
        let set = std::mem::take(&mut sets[id as usize]);
        if best.get(&set).is_some_and(|known| *known < worst) {
            continue;
        }
        let from = State::new(&view, &set);
        *spent += view.links;
        let stands = alike.orbits(&set, spent);
        let alone = |task: &u32| stands[*task as usize] == *task;
        for task in (0..small.tasks as u32).filter(alone).filter(|&task| from.is_ready(&view, task)) {
            let mut next = from.clone();
            next.run(&view, task);
            let worst = worst.max(next.live);
            next.close(&view);
            let done = alike.canonical(next.done, spent);
            *spent += view.links;
            let known = best.get(&done);
            if known.is_none_or(|known| *known > worst) {
                best.insert(done.clone(), worst);
                open.push((Reverse(worst), next.count, Reverse(sets.len() as u32)));
                sets.push(done);
            }
        }
    }
    0
}

/// The links of a small problem by task.
struct View<'a> {
    small: &'a Turns,
    starts: Vec<Vec<u32>>,
    needs: Vec<Vec<u32>>,
    succs: Vec<Vec<u32>>,
    /// What looking at a set costs.
    links: u64,
}

impl<'a> View<'a> {
    fn new(small: &'a Turns) -> View<'a> {
        let flipped = |rows: &[Vec<u32>]| {
            let mut by_task = vec![Vec::new(); small.tasks];
            for (storage, row) in rows.iter().enumerate() {
                row.iter().for_each(|task| by_task[*task as usize].push(storage as u32));
            }
            by_task
        };
        let links = small.starts.iter().chain(&small.needs).map(Vec::len).sum::<usize>() + small.tasks;
        View {
            small,
            starts: flipped(&small.starts),
            needs: flipped(&small.needs),
            succs: flipped(&small.preds),
            links: links as u64 / 8,
        }
    }
}

/// A set of tasks with its bytes.
#[derive(Clone)]
struct State {
    done: Vec<u64>,
    count: u32,
    live: i64,
    /// Per storage, whether a task that starts it has run, and how many that need it have not.
    started: Vec<bool>,
    needed: Vec<u32>,
    waits: Vec<u32>,
}

impl State {
    fn new(view: &View<'_>, done: &[u64]) -> State {
        let small = view.small;
        let mut state = State {
            done: vec![0; done.len()],
            count: 0,
            live: small.base,
            started: small.open.clone(),
            // One more for whatever comes after the last task.
            needed: small
                .needs
                .iter()
                .zip(&small.kept)
                .map(|(row, kept)| row.len() as u32 + u32::from(*kept))
                .collect(),
            waits: small.preds.iter().map(|row| row.len() as u32).collect(),
        };
        let open = (0..small.size.len()).filter(|&s| state.started[s] && state.needed[s] > 0);
        state.live += open.map(|s| small.size[s]).sum::<i64>();
        for task in (0..small.tasks as u32).filter(|&task| has(done, task)) {
            state.run(view, task);
        }
        state
    }

    fn is_ready(&self, view: &View<'_>, task: u32) -> bool {
        (task as usize) < view.small.tasks && self.waits[task as usize] == 0 && !has(&self.done, task)
    }

    fn run(&mut self, view: &View<'_>, task: u32) {
        let at = task as usize;
        for &s in &view.starts[at] {
            let s = s as usize;
            if !std::mem::replace(&mut self.started[s], true) && self.needed[s] > 0 {
                self.live += view.small.size[s];
            }
        }
        for &s in &view.needs[at] {
            let s = s as usize;
            self.needed[s] -= 1;
            if self.needed[s] == 0 && self.started[s] {
                self.live -= view.small.size[s];
            }
        }
        view.succs[at].iter().for_each(|&next| self.waits[next as usize] -= 1);
        self.done[at / 64] |= 1 << (at % 64);
        self.count += 1;
    }

    /// Bytes more, or fewer, once `task` has run.
    fn change(&self, view: &View<'_>, task: u32) -> i64 {
        let (starts, needs) = (&view.starts[task as usize], &view.needs[task as usize]);
        let size = |s: u32| view.small.size[s as usize];
        let ends = |s: u32| self.needed[s as usize] == 1 && needs.binary_search(&s).is_ok();
        let begun = starts.iter().filter(|&&s| !self.started[s as usize] && self.needed[s as usize] > 0 && !ends(s));
        let ended = needs.iter().filter(|&&s| self.started[s as usize] && ends(s));
        begun.map(|&s| size(s)).sum::<i64>() - ended.map(|&s| size(s)).sum::<i64>()
    }

    /// Runs what raises nothing, as long as there is such a task.
    fn close(&mut self, view: &View<'_>) {
        let mut again = true;
        while std::mem::take(&mut again) {
            for task in 0..view.small.tasks as u32 {
                if self.is_ready(view, task) && self.change(view, task) <= 0 {
                    self.run(view, task);
                    again = true;
                }
            }
        }
    }
}

fn has(set: &[u64], task: u32) -> bool {
    set[task as usize / 64] >> (task % 64) & 1 == 1
}
