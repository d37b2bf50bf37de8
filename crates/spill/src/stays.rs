//! Stays: the times a buffer is in its memory without a break, and the events of a plan that begin and end them.

use crate::evict::Gap;
use crate::plan::Event;
use crate::problem::{BufferId, OpId, Problem};

/// A buffer in its memory without a break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stay {
    pub(crate) buffer: BufferId,
    /// The first event that needs it: an operation, or the end of a spill.
    pub(crate) begin: u32,
    /// The last event that needs it.
    pub(crate) end: u32,
}

/// Events in an order, with what each one needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    pub(crate) events: Vec<Event>,
    /// The buffer of each spill.
    pub(crate) spilled: Vec<BufferId>,
    /// By event: the stays that it needs.
    pub(crate) touches: Vec<Vec<u32>>,
    pub(crate) stays: Vec<Stay>,
}

impl Sequence {
    /// An order with the spills of the gaps that are not kept: a buffer leaves right behind the use before and comes back right before the next.
    pub(crate) fn new(problem: &Problem, order: &[OpId], gaps: &[Gap]) -> Sequence {
        let mut outs: Vec<Vec<BufferId>> = vec![Vec::new(); order.len()];
        let mut ins: Vec<Vec<BufferId>> = vec![Vec::new(); order.len()];
        for gap in gaps.iter().filter(|gap| !gap.kept) {
            outs[gap.from as usize].push(gap.buffer);
            ins[gap.to as usize].push(gap.buffer);
        }
        let mut s = Sequence::default();
        // By buffer: its stay, and its spill under way.
        let mut stay = vec![u32::MAX; problem.buffers.len()];
        let mut spill = vec![u32::MAX; problem.buffers.len()];
        for (position, op) in order.iter().enumerate() {
            for buffer in &ins[position] {
                stay[buffer.index()] = s.stay(*buffer);
                s.push(Event::In(spill[buffer.index()]), vec![stay[buffer.index()]]);
            }
            let touches = problem.ops[op.index()].touches.iter().map(|buffer| {
                if stay[buffer.index()] == u32::MAX {
                    stay[buffer.index()] = s.stay(*buffer);
                }
                stay[buffer.index()]
            });
            let touches: Vec<u32> = touches.collect();
            s.push(Event::Op(*op), touches);
            for buffer in &outs[position] {
                spill[buffer.index()] = s.spilled.len() as u32;
                s.spilled.push(*buffer);
                s.push(Event::Out(spill[buffer.index()]), vec![stay[buffer.index()]]);
                stay[buffer.index()] = u32::MAX;
            }
        }
        s
    }

    fn stay(&mut self, buffer: BufferId) -> u32 {
        self.stays.push(Stay { buffer, begin: u32::MAX, end: 0 });
        self.stays.len() as u32 - 1
    }

    fn push(&mut self, event: Event, touches: Vec<u32>) {
        let at = self.events.len() as u32;
        for stay in &touches {
            let stay = &mut self.stays[*stay as usize];
            stay.begin = stay.begin.min(at);
            stay.end = at;
        }
        self.events.push(event);
        self.touches.push(touches);
    }

    /// The same events in another order; `order` lists their numbers.
    pub(crate) fn reordered(&self, order: &[u32]) -> Sequence {
        let mut s = Sequence { stays: self.stays.clone(), ..Sequence::default() };
        for stay in &mut s.stays {
            (stay.begin, stay.end) = (u32::MAX, 0);
        }
        // Spills are numbered in the order in which they begin.
        let mut number = vec![u32::MAX; self.spilled.len()];
        for event in order.iter().map(|at| self.events[*at as usize]) {
            if let Event::Out(spill) = event {
                number[spill as usize] = s.spilled.len() as u32;
                s.spilled.push(self.spilled[spill as usize]);
            }
        }
        for at in order {
            let event = match self.events[*at as usize] {
                Event::Out(spill) => Event::Out(number[spill as usize]),
                Event::In(spill) => Event::In(number[spill as usize]),
                op @ Event::Op(_) => op,
            };
            s.push(event, self.touches[*at as usize].clone());
        }
        s
    }

    /// By event: what must have ended before it, places in memory aside.
    pub(crate) fn waits(&self, problem: &Problem) -> Vec<Vec<u32>> {
        let mut at = vec![0u32; problem.ops.len()];
        let mut out = vec![0u32; self.spilled.len()];
        for (number, event) in self.events.iter().enumerate() {
            match event {
                Event::Op(op) => at[op.index()] = number as u32,
                Event::Out(spill) => out[*spill as usize] = number as u32,
                Event::In(_) => {}
            }
        }
        let mut waits = vec![Vec::new(); self.events.len()];
        for (first, then) in &problem.deps {
            waits[at[then.index()] as usize].push(at[first.index()]);
        }
        // By stay: the spill's end that begins it.
        let mut begun = vec![u32::MAX; self.stays.len()];
        for (number, event) in self.events.iter().enumerate() {
            let touches = &self.touches[number];
            match event {
                Event::In(spill) => {
                    waits[number].push(out[*spill as usize]);
                    begun[touches[0] as usize] = number as u32;
                }
                Event::Op(_) => {
                    let begun = touches.iter().map(|stay| begun[*stay as usize]).filter(|at| *at != u32::MAX);
                    waits[number].extend(begun);
                }
                Event::Out(_) => {}
            }
        }
        let users = self.users();
        for (number, event) in self.events.iter().enumerate() {
            if let Event::Out(_) = event {
                let before = users[self.touches[number][0] as usize].iter().copied().filter(|at| *at != number as u32);
                waits[number].extend(before);
            }
        }
        waits
    }

    /// By stay: the events that need it.
    pub(crate) fn users(&self) -> Vec<Vec<u32>> {
        let mut users = vec![Vec::new(); self.stays.len()];
        for (number, touches) in self.touches.iter().enumerate() {
            touches.iter().for_each(|stay| users[*stay as usize].push(number as u32));
        }
        users
    }

    /// The pipe of an event and how long it takes.
    pub(crate) fn work(&self, problem: &Problem, event: Event) -> (u32, u64) {
        match event {
            Event::Op(op) => (problem.ops[op.index()].pipe, problem.ops[op.index()].cycles),
            Event::Out(spill) => (problem.out_pipe, problem.buffers[self.spilled[spill as usize].index()].out_cycles()),
            Event::In(spill) => (problem.in_pipe, problem.buffers[self.spilled[spill as usize].index()].transfer()),
        }
    }
}
