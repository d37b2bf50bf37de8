//! When everything runs: each event starts when all it waits for has ended, its pipe is free, and the bytes it takes have been given back.

use crate::problem::Problem;
use crate::stays::Sequence;
use std::collections::BTreeMap;

/// Bytes of a memory that have been used, by start: end, and when they are free.
#[derive(Clone, Debug, Default)]
pub(crate) struct Released(BTreeMap<u64, (u64, u64)>);

impl Released {
    /// When all of `start..end` is free.
    pub(crate) fn free(&self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let pieces = self.0.range(..end).rev().take_while(|(_, (behind, _))| *behind > start);
        pieces.map(|(_, (_, free))| *free).max().unwrap_or(0)
    }

    /// `start..end` is free from `time` on, which is not before what was said about these bytes earlier.
    pub(crate) fn release(&mut self, start: u64, end: u64, time: u64) {
        if start >= end {
            return;
        }
        let over = self.0.range(..end).rev().take_while(|(_, (behind, _))| *behind > start);
        let over: Vec<(u64, (u64, u64))> = over.map(|(at, piece)| (*at, *piece)).collect();
        for (at, (behind, free)) in over {
            self.0.remove(&at);
            if at < start {
                self.0.insert(at, (start, free));
            }
            if behind > end {
                self.0.insert(end, (behind, free));
            }
        }
        self.0.insert(start, (end, time));
    }
}

/// A run of a sequence, event by event.
pub(crate) struct Clock<'a> {
    problem: &'a Problem,
    sequence: &'a Sequence,
    waits: &'a [Vec<u32>],
    pipes: Vec<u64>,
    ends: Vec<u64>,
    /// By stay: when all that needs it so far has ended.
    known: Vec<u64>,
    /// By stay: when its bytes were free.
    there: Vec<u64>,
    pub(crate) released: Vec<Released>,
    pub(crate) makespan: u64,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(problem: &'a Problem, sequence: &'a Sequence, waits: &'a [Vec<u32>]) -> Clock<'a> {
        let pipes = problem.ops.iter().map(|op| op.pipe).chain([problem.in_pipe, problem.out_pipe]).max().unwrap_or(0);
        Clock {
            problem,
            sequence,
            waits,
            pipes: vec![0; pipes as usize + 1],
            ends: vec![0; sequence.events.len()],
            known: vec![0; sequence.stays.len()],
            there: vec![0; sequence.stays.len()],
            released: vec![Released::default(); problem.pools.len()],
            makespan: 0,
        }
    }

    /// A stay begins at `offset`.
    pub(crate) fn begin(&mut self, stay: usize, offset: u64) {
        let buffer = &self.problem.buffers[self.sequence.stays[stay].buffer.index()];
        self.there[stay] = self.released[buffer.pool.index()].free(offset, offset + buffer.size);
        self.known[stay] = self.there[stay];
    }

    /// An event runs.
    pub(crate) fn run(&mut self, event: usize) {
        let waits = self.waits[event].iter().map(|first| self.ends[*first as usize]).max().unwrap_or(0);
        let touches = &self.sequence.touches[event];
        let there = touches.iter().map(|stay| self.there[*stay as usize]).max().unwrap_or(0);
        let (pipe, cycles) = self.sequence.work(self.problem, self.sequence.events[event]);
        let free = &mut self.pipes[pipe as usize];
        *free = (*free).max(waits).max(there) + cycles;
        self.ends[event] = *free;
        self.makespan = self.makespan.max(*free);
        for stay in touches {
            let known = &mut self.known[*stay as usize];
            *known = (*known).max(*free);
        }
    }

    /// A stay at `offset` ends.
    pub(crate) fn end(&mut self, stay: usize, offset: u64) {
        let buffer = &self.problem.buffers[self.sequence.stays[stay].buffer.index()];
        let time = self.known[stay];
        self.released[buffer.pool.index()].release(offset, offset + buffer.size, time);
    }
}

/// The cycles of a sequence whose stays lie at `offsets`.
pub(crate) fn makespan(problem: &Problem, sequence: &Sequence, waits: &[Vec<u32>], offsets: &[u64]) -> u64 {
    let mut clock = Clock::new(problem, sequence, waits);
    for event in 0..sequence.events.len() {
        for stay in sequence.touches[event].iter().map(|stay| *stay as usize) {
            if sequence.stays[stay].begin as usize == event {
                clock.begin(stay, offsets[stay]);
            }
        }
        clock.run(event);
        for stay in sequence.touches[event].iter().map(|stay| *stay as usize) {
            if sequence.stays[stay].end as usize == event {
                clock.end(stay, offsets[stay]);
            }
        }
    }
    clock.makespan
}
