//! A faster order of the same events: each pipe takes the first event of its own that can start, as far as memory allows.
//!
//! The events are run against a clock. An event may overtake those before it when all it waits for has ended and the bytes that it brings fit, now and
//! over every step up to its old place in the order of what is left; so the rest can always run in its order, and no choice leads into a
//! dead end. What comes out is the order in which the events started.

use crate::level::Levels;
use crate::problem::Problem;
use crate::stays::Sequence;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Below any level: the step of an event that has run.
const GONE: i64 = -(1 << 61);

/// How far events may overtake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reach {
    /// Events of a pipe that are looked at.
    pub(crate) window: usize,
    /// Whether among them the one with the longest way to the end goes first.
    pub(crate) by_path: bool,
}

/// The order of the events of `sequence` by the time at which they start.
pub(crate) fn hoist(problem: &Problem, sequence: &Sequence, waits: &[Vec<u32>], reach: Reach) -> Vec<u32> {
    let mut run = Run::new(problem, sequence, waits);
    if reach.by_path {
        run.paths(waits);
    }
    run.all(reach)
}

struct Run<'a> {
    problem: &'a Problem,
    sequence: &'a Sequence,
    users: Vec<Vec<u32>>,
    /// By event: who waits for it, and for how many it waits.
    then: Vec<Vec<u32>>,
    missing: Vec<u32>,
    path: Vec<u64>,
    issued: Vec<bool>,
    /// By stay: whether it has begun, how many that need it have not started, when those that have will end.
    open: Vec<bool>,
    left: Vec<u32>,
    known: Vec<u64>,
    /// By memory: bytes over the steps of what is left, and bytes now.
    levels: Vec<Levels>,
    held: Vec<u64>,
    /// By pipe: its events that have not started, and when it is free.
    queue: Vec<Vec<u32>>,
    free: Vec<u64>,
    /// Ends of events and of stays to come.
    ends: BinaryHeap<Reverse<(u64, bool, u32)>>,
    front: usize,
    order: Vec<u32>,
}

impl<'a> Run<'a> {
    fn new(problem: &'a Problem, sequence: &'a Sequence, waits: &[Vec<u32>]) -> Run<'a> {
        let count = sequence.events.len();
        let mut then = vec![Vec::new(); count];
        for (event, list) in waits.iter().enumerate() {
            list.iter().for_each(|first| then[*first as usize].push(event as u32));
        }
        let users = sequence.users();
        let mut levels: Vec<Levels> = problem.pools.iter().map(|_| Levels::new(count)).collect();
        for stay in &sequence.stays {
            let buffer = &problem.buffers[stay.buffer.index()];
            levels[buffer.pool.index()].add(stay.begin as usize, stay.end as usize + 1, buffer.size as i64);
        }
        let mut queue: Vec<Vec<u32>> = Vec::new();
        for (event, what) in sequence.events.iter().enumerate() {
            let pipe = sequence.work(problem, *what).0 as usize;
            queue.resize_with(queue.len().max(pipe + 1), Vec::new);
            queue[pipe].push(event as u32);
        }
        // Taken from the end.
        queue.iter_mut().for_each(|list| list.reverse());
        Run {
            problem,
            sequence,
            then,
            missing: waits.iter().map(|list| list.len() as u32).collect(),
            path: Vec::new(),
            issued: vec![false; count],
            open: vec![false; sequence.stays.len()],
            left: users.iter().map(|list| list.len() as u32).collect(),
            known: vec![0; sequence.stays.len()],
            users,
            levels,
            held: vec![0; problem.pools.len()],
            free: vec![0; queue.len()],
            queue,
            ends: BinaryHeap::new(),
            front: 0,
            order: Vec::with_capacity(count),
        }
    }

    /// By event: cycles from its start to the end of all that waits for it.
    fn paths(&mut self, waits: &[Vec<u32>]) {
        let mut path = vec![0u64; waits.len()];
        for event in (0..waits.len()).rev() {
            path[event] += self.sequence.work(self.problem, self.sequence.events[event]).1;
            for first in &waits[event] {
                path[*first as usize] = path[*first as usize].max(path[event]);
            }
        }
        self.path = path;
    }

    fn all(mut self, reach: Reach) -> Vec<u32> {
        let mut time = 0;
        while self.order.len() < self.issued.len() {
            self.pass(time);
            let mut again = true;
            while again {
                again = false;
                for pipe in 0..self.queue.len() {
                    if self.free[pipe] <= time
                        && let Some(at) = self.next(pipe, reach)
                    {
                        let event = self.queue[pipe].remove(at);
                        self.start(event as usize, pipe, time);
                        again = true;
                    }
                }
                self.pass(time);
            }
            match self.ends.peek() {
                Some(Reverse((next, ..))) => time = *next,
                // Nothing runs and nothing can start: the order as it is.
                None => {
                    let rest: Vec<u32> =
                        (0..self.issued.len() as u32).filter(|at| !self.issued[*at as usize]).collect();
                    self.order.extend(rest);
                    break;
                }
            }
        }
        self.order
    }

    /// All that ends up to `time`.
    fn pass(&mut self, time: u64) {
        while let Some(Reverse((_, is_stay, at))) = self.ends.peek().copied().filter(|Reverse((end, ..))| *end <= time)
        {
            self.ends.pop();
            if is_stay {
                let buffer = &self.problem.buffers[self.sequence.stays[at as usize].buffer.index()];
                self.held[buffer.pool.index()] -= buffer.size;
                continue;
            }
            for then in std::mem::take(&mut self.then[at as usize]) {
                self.missing[then as usize] -= 1;
            }
        }
    }

    /// The place in a pipe's queue of the event that it starts now.
    fn next(&mut self, pipe: usize, reach: Reach) -> Option<usize> {
        let count = self.queue[pipe].len();
        let mut best: Option<(u64, usize)> = None;
        for at in (count.saturating_sub(reach.window)..count).rev() {
            let event = self.queue[pipe][at] as usize;
            if self.missing[event] > 0 || !self.fits(event) {
                continue;
            }
            if !reach.by_path {
                return Some(at);
            }
            if best.is_none_or(|(path, _)| self.path[event] > path) {
                best = Some((self.path[event], at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// Whether what an event brings fits now and up to its place.
    fn fits(&mut self, event: usize) -> bool {
        let sequence = self.sequence;
        let new: Vec<usize> =
            sequence.touches[event].iter().map(|stay| *stay as usize).filter(|stay| !self.open[*stay]).collect();
        if new.is_empty() {
            return true;
        }
        let pool = |stay: usize| self.problem.buffers[sequence.stays[stay].buffer.index()].pool.index();
        let size = |stay: usize| self.problem.buffers[sequence.stays[stay].buffer.index()].size;
        let pools: Vec<usize> = new.iter().map(|stay| pool(*stay)).collect();
        let now = pools.iter().all(|at| {
            let more: u64 = new.iter().filter(|stay| pool(**stay) == *at).map(|stay| size(*stay)).sum();
            self.held[*at] + more <= self.problem.pools[*at].capacity
        });
        if !now || event == self.front {
            return now;
        }
        let range = |stay: usize| (self.front, sequence.stays[stay].begin as usize);
        for stay in &new {
            let (from, to) = range(*stay);
            self.levels[pool(*stay)].add(from, to, size(*stay) as i64);
        }
        let fits =
            pools.iter().all(|at| self.levels[*at].most(self.front, event) <= self.problem.pools[*at].capacity as i64);
        for stay in &new {
            let (from, to) = range(*stay);
            self.levels[pool(*stay)].add(from, to, -(size(*stay) as i64));
        }
        fits
    }

    fn start(&mut self, event: usize, pipe: usize, time: u64) {
        let sequence = self.sequence;
        let cycles = sequence.work(self.problem, sequence.events[event]).1;
        let end = time + cycles;
        self.free[pipe] = end;
        self.issued[event] = true;
        self.order.push(event as u32);
        self.ends.push(Reverse((end, false, event as u32)));
        for stay in sequence.touches[event].iter().map(|stay| *stay as usize) {
            let buffer = &self.problem.buffers[sequence.stays[stay].buffer.index()];
            let (pool, size) = (buffer.pool.index(), buffer.size as i64);
            if !self.open[stay] {
                self.open[stay] = true;
                self.held[pool] += buffer.size;
                self.levels[pool].add(0, sequence.stays[stay].begin as usize, size);
            }
            // Up to the last that needs it and has not started.
            let old = *self.users[stay].last().unwrap_or(&0) as usize;
            while self.users[stay].last().is_some_and(|last| self.issued[*last as usize]) {
                self.users[stay].pop();
            }
            let new = self.users[stay].last().map_or(0, |last| *last as usize + 1);
            self.levels[pool].add(new, old + 1, -size);
            self.left[stay] -= 1;
            self.known[stay] = self.known[stay].max(end);
            if self.left[stay] == 0 {
                self.ends.push(Reverse((self.known[stay], true, stay as u32)));
            }
        }
        for levels in &mut self.levels {
            levels.add(event, event + 1, GONE);
        }
        while self.front < self.issued.len() && self.issued[self.front] {
            self.front += 1;
        }
    }
}
