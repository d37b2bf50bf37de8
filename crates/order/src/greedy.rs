//! The greedy of the literature, with keys that stay true: smallest net change first, then the longest remaining critical path, then the
//! smallest id.
//!
//! When the second-last user of a storage runs, the net change of the last one drops; its key is updated then. O((V + E) log V).

use crate::model::{Model, NONE};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Longest path in cycles from each op to an end, itself included (every op counts 1 when no op has cycles).
pub(crate) fn critical_path(model: &Model, topo: &[u32]) -> Vec<i64> {
    let unit = u64::from(model.cycles.iter().all(|&c| c == 0));
    let mut path = vec![0i64; model.n];
    for &v in topo.iter().rev() {
        let v = v as usize;
        let rest = model.succs.row(v).iter().map(|&w| path[w as usize]).max().unwrap_or(0);
        path[v] = rest + (model.cycles[v] + unit) as i64;
    }
    path
}

/// A greedy order; `None` when a class limit (or a group) leaves no way on. `weight` is that of the critical path in percent.
pub(crate) fn order(model: &Model, path: &[i64], weight: u8) -> Option<Vec<u32>> {
    Greedy::new(model, path, weight).order()
}

/// The first op by `rank` that is ready and keeps the class limits, again and again: the order of the ranks with every op as early as the
/// classes let it. `None` when they leave no way on.
pub(crate) fn by_rank(model: &Model, rank: &[u32]) -> Option<Vec<u32>> {
    let path = vec![0; model.n];
    let mut g = Greedy::new(model, &path, 0);
    g.rank = Some(rank);
    g.order()
}

/// The selection of MSC: smallest net change, then the most slack to the peak so far (which, from one state, is the fewest bytes brought), then the longest
/// critical path, then the smallest id. The classes are kept, not weighed; `None` when they leave no way on.
pub(crate) fn msc(model: &Model, path: &[i64]) -> Option<Vec<u32>> {
    let mut g = Greedy::new(model, path, 0);
    g.slack = true;
    g.order()
}

/// Greedy by net change where ops that wait for nothing (a load of weights, say) run just before the first op that needs them, which is charged
/// with what they bring: what is loaded is used up before more is loaded. `None` when a class limit (or a group) leaves no way on, or no op waits for
/// nothing.
pub(crate) fn on_demand(model: &Model, path: &[i64]) -> Option<Vec<u32>> {
    let mut g = Greedy::new(model, path, 0);
    g.pull_sources().then(|| g.order())?
}

struct Greedy<'a> {
    model: &'a Model,
    path: &'a [i64],
    scale: Option<(f64, f64)>,
    /// When given, decides instead of bytes and path.
    rank: Option<&'a [u32]>,
    /// Whether, of equal changes, the one that brings fewer bytes goes first.
    slack: bool,
    /// Ops that run just before the first op that needs them; none, or one flag an op.
    pulled: Vec<bool>,
    /// Bytes that each ready op brings, whatever it frees.
    born: Vec<i64>,
    left: Vec<u32>,
    group_wait: Vec<u32>,
    group_ready: Vec<Vec<u32>>,
    group_left: Vec<u32>,
    open: u32,
    net: Vec<i64>,
    state: Vec<State>,
    users_left: Vec<u32>,
    users_xor: Vec<u32>,
    started: Vec<bool>,
    class_live: Vec<(i64, i64)>,
    steps: usize,
    heap: Heap,
    /// Ready ops that a class has no room for, by class: looked at again when it has.
    parked: Vec<Heap>,
    /// Ready ops of groups that wait for others.
    waiting: Vec<Vec<Entry>>,
}

/// Smallest first; ends with the op.
type Key = (i64, i64, i64, u32);
/// A key, the least on top.
type Entry = Reverse<Key>;
type Heap = BinaryHeap<Entry>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Ready,
    Done,
}

impl<'a> Greedy<'a> {
    fn new(model: &'a Model, path: &'a [i64], weight: u8) -> Greedy<'a> {
        let storages = model.size.len();
        let users = |s: usize| model.users.row(s);
        let mut g = Greedy {
            model,
            path,
            scale: scale(model, path, weight),
            rank: None,
            slack: false,
            pulled: Vec::new(),
            born: vec![0; model.n],
            left: (0..model.n).map(|v| model.preds.row(v).len() as u32).collect(),
            group_wait: vec![0; model.groups],
            group_ready: vec![Vec::new(); model.groups],
            group_left: vec![0; model.groups],
            open: NONE,
            net: vec![0; model.n],
            state: vec![State::Waiting; model.n],
            users_left: (0..storages).map(|s| users(s).len() as u32).collect(),
            users_xor: (0..storages).map(|s| users(s).iter().fold(0, |x, u| x ^ u)).collect(),
            started: model.open.clone(),
            class_live: crate::replay::initial_classes(model),
            steps: 0,
            heap: BinaryHeap::with_capacity(model.n),
            parked: vec![BinaryHeap::new(); model.limits.len()],
            waiting: vec![Vec::new(); model.groups],
        };
        if model.groups > 0 {
            g.count_groups();
        }
        g
    }

    fn count_groups(&mut self) {
        for v in 0..self.model.n {
            let group = self.model.group[v];
            if group == NONE {
                continue;
            }
            self.group_left[group as usize] += 1;
            let outside = self.model.preds.row(v).iter();
            let outside = outside.filter(|&&p| self.model.group[p as usize] != group).count();
            self.group_wait[group as usize] += outside as u32;
        }
    }

    /// Takes ops that wait for nothing out of the choice, and what they touch as started by whoever comes first. False when there is none.
    fn pull_sources(&mut self) -> bool {
        let m = self.model;
        let is_pulled = |v: usize| {
            let classless = || m.touch.row(v).iter().all(|&s| m.class[s as usize] == NONE);
            m.preds.row(v).is_empty() && !m.succs.row(v).is_empty() && m.group[v] == NONE && classless()
        };
        self.pulled = (0..m.n).map(is_pulled).collect();
        for v in (0..m.n).filter(|&v| self.pulled[v]) {
            self.state[v] = State::Done;
            for &s in m.touch.row(v) {
                self.users_left[s as usize] -= 1;
                self.users_xor[s as usize] ^= v as u32;
            }
            for &w in m.succs.row(v) {
                self.left[w as usize] -= 1;
            }
        }
        self.pulled.contains(&true)
    }

    fn order(mut self) -> Option<Vec<u32>> {
        let n = self.model.n;
        let mut order = Vec::with_capacity(n);
        for v in 0..n as u32 {
            if self.left[v as usize] == 0 && self.state[v as usize] == State::Waiting {
                self.ready(v);
            }
        }
        while order.len() < n {
            let v = self.next()?;
            self.pull(v, &mut order);
            order.push(v);
            self.run(v);
        }
        Some(order)
    }

    /// The pulled ops that `v` is the first to need.
    fn pull(&mut self, v: u32, order: &mut Vec<u32>) {
        if self.pulled.is_empty() {
            return;
        }
        for &p in self.model.preds.row(v as usize) {
            if std::mem::take(&mut self.pulled[p as usize]) {
                order.push(p);
            }
        }
    }

    fn key(&self, v: u32) -> Key {
        if let Some(rank) = self.rank {
            return (i64::from(rank[v as usize]), 0, 0, v);
        }
        let (net, path) = (self.net[v as usize], self.path[v as usize]);
        let first = match self.scale {
            None => net,
            Some((bytes, cycles)) => ((net as f64 * bytes - path as f64 * cycles) * 1e6) as i64,
        };
        (first, if self.slack { self.born[v as usize] } else { 0 }, -path, v)
    }

    fn ready(&mut self, v: u32) {
        let m = self.model;
        let (mut net, mut born) = (0, 0);
        for &s in m.touch.row(v as usize) {
            let s = s as usize;
            if !self.started[s] {
                net += m.size[s];
                born += m.size[s];
            }
            if self.users_left[s] == 1 && !m.kept[s] {
                net -= m.size[s];
            }
        }
        self.net[v as usize] = net;
        self.born[v as usize] = born;
        self.state[v as usize] = State::Ready;
        let group = m.group[v as usize];
        if group != NONE {
            self.group_ready[group as usize].push(v);
        }
        self.heap.push(Reverse(self.key(v)));
    }

    fn change(&mut self, v: u32, by: i64) {
        if by != 0 && self.state[v as usize] == State::Ready {
            self.net[v as usize] += by;
            self.heap.push(Reverse(self.key(v)));
        }
    }

    fn next(&mut self) -> Option<u32> {
        if self.open != NONE {
            let ready = &self.group_ready[self.open as usize];
            let fits = |v: &u32| self.state[*v as usize] == State::Ready && self.full_for(*v).is_none();
            return ready.iter().copied().filter(fits).min_by_key(|&v| self.key(v));
        }
        // Ops that fit later only, though no class is full.
        let mut large = Vec::new();
        let mut found = None;
        while let Some(Reverse(entry)) = self.pop() {
            let v = entry.3;
            if self.state[v as usize] != State::Ready || entry != self.key(v) {
                continue;
            }
            let group = self.model.group[v as usize];
            if group != NONE && self.group_wait[group as usize] > 0 {
                self.waiting[group as usize].push(Reverse(entry));
                continue;
            }
            match self.full_for(v) {
                None => {
                    found = Some(v);
                    break;
                }
                Some(class) if self.has_room(class) => large.push(Reverse(entry)),
                Some(class) => self.parked[class].push(Reverse(entry)),
            }
        }
        self.heap.extend(large);
        found
    }

    /// The least entry of those that no full class keeps back.
    fn pop(&mut self) -> Option<Entry> {
        let parked = (0..self.parked.len()).filter(|&class| !self.parked[class].is_empty() && self.has_room(class));
        let best = parked.max_by_key(|&class| self.parked[class].peek().copied());
        match best {
            Some(class) if self.parked[class].peek() > self.heap.peek() => self.parked[class].pop(),
            _ => self.heap.pop(),
        }
    }

    /// Storages and bytes of a class that are live now.
    fn live_in(&self, class: usize) -> (i64, i64) {
        let (live, first) = (self.class_live[class], self.model.first_class[class]);
        if self.steps == 0 { (live.0 + first.0, live.1 + first.1) } else { live }
    }

    fn has_room(&self, class: usize) -> bool {
        let (live, limit) = (self.live_in(class), self.model.limits[class]);
        live.0 < limit.count && live.1 < limit.bytes
    }

    /// A class that has no room for what `v` starts (in-place pairs are not counted on).
    fn full_for(&self, v: u32) -> Option<usize> {
        let m = self.model;
        if m.limits.is_empty() {
            return None;
        }
        let starts = || {
            let new = m.touch.row(v as usize).iter().map(|&s| s as usize);
            new.filter(|&s| m.class[s] != NONE && !self.started[s])
        };
        let over = |class: usize| {
            let mut live = self.live_in(class);
            starts().filter(|&s| m.class[s] as usize == class).for_each(|s| live = (live.0 + 1, live.1 + m.size[s]));
            live.0 > m.limits[class].count || live.1 > m.limits[class].bytes
        };
        if self.steps == 0 {
            // The first step may be too full already.
            return (0..m.limits.len()).find(|&class| over(class));
        }
        starts().map(|s| m.class[s] as usize).find(|&class| over(class))
    }

    fn run(&mut self, v: u32) {
        let m = self.model;
        self.state[v as usize] = State::Done;
        self.steps += 1;
        for &s in m.touch.row(v as usize) {
            let at = s as usize;
            if !self.started[at] {
                self.started[at] = true;
                self.count(at, 1);
                // No op waits for it before: several may start it, or its writer was pulled.
                if m.writer[at] != v {
                    for &u in m.users.row(at) {
                        self.born[u as usize] -= m.size[at];
                        self.change(u, -m.size[at]);
                    }
                }
            }
            self.users_left[at] -= 1;
            self.users_xor[at] ^= v;
            if self.users_left[at] == 1 && !m.kept[at] {
                self.change(self.users_xor[at], -m.size[at]);
            }
            if self.users_left[at] == 0 && !m.kept[at] {
                self.count(at, -1);
            }
        }
        let group = m.group[v as usize];
        for &w in m.succs.row(v as usize) {
            self.left[w as usize] -= 1;
            let other = m.group[w as usize];
            if other != NONE && other != group {
                self.group_wait[other as usize] -= 1;
                if self.group_wait[other as usize] == 0 {
                    self.heap.append(&mut BinaryHeap::from(std::mem::take(&mut self.waiting[other as usize])));
                }
            }
            if self.left[w as usize] == 0 {
                self.ready(w);
            }
        }
        if group != NONE {
            self.group_left[group as usize] -= 1;
            self.open = if self.group_left[group as usize] > 0 { group } else { NONE };
        }
    }

    fn count(&mut self, s: usize, sign: i64) {
        if self.model.class[s] != NONE {
            let c = &mut self.class_live[self.model.class[s] as usize];
            c.0 += sign;
            c.1 += sign * self.model.size[s];
        }
    }
}

/// Factors that bring bytes and cycles to one scale, for a positive weight.
fn scale(model: &Model, path: &[i64], weight: u8) -> Option<(f64, f64)> {
    if weight == 0 {
        return None;
    }
    let weight = f64::from(weight.min(100)) / 100.0;
    let most_bytes = model.size.iter().copied().max().unwrap_or(1).max(1) as f64;
    let most_path = path.iter().copied().max().unwrap_or(1).max(1) as f64;
    Some(((1.0 - weight) / most_bytes, weight / most_path))
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{problem, result, storage};
    use crate::model;
    use crate::taken::Taken;

    /// Ops 0 and 1 change nothing (each frees as many bytes as it brings), op 1 brings fewer: it has more slack, whatever its id.
    #[test]
    fn msc_prefers_slack_to_ids() {
        let arguments = vec![storage(50, &[], &[0]), storage(10, &[], &[1]), result(50, 0), result(10, 1)];
        let problem = problem(2, arguments);
        let model = model::build(&problem, &Taken::default(), |_| false);
        let path = [1, 1];
        assert_eq!(super::msc(&model, &path), Some(vec![1, 0]));
        assert_eq!(super::order(&model, &path, 0), Some(vec![0, 1]));
    }
}
