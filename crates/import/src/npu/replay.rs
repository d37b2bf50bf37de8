//! Judges a schedule by running it: the plain truth about a plan for an NPU graph.
//!
//! A schedule is a list of the file's own ids, with ids of its own for spills: the `k`-th spill (from 0) is `N + 2k` (out) and `N + 2k + 1` (in), where `N` is one
//! more than the largest id. Nothing here knows how a schedule was made. Rules: every node once, every dependency kept, buffers resident when they are
//! touched, no spilled buffer left outside, nothing resident at the end; in [`Rules::Order`] the limits of exclusive classes, in
//! [`Rules::Memory`] capacities, and no two resident buffers of a type on the same bytes.
//!
//! Time: an operation starts when all it depends on has ended and its pipe is free, in the order of the schedule. `ALLOC` and `FREE` take no time; bytes
//! are handed on when what lay there before has been freed or spilled.

use super::graph::{BufferId, Graph, Kind, NodeId};
use super::hazards::{Dependency, Program};
use super::pools::{POOLS, PoolId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;

/// A plan as its files say it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Ids in the order in which they run.
    pub schedule: Vec<u32>,
    /// Where each buffer is allocated; empty where order alone is planned.
    pub offsets: Vec<u64>,
    /// Each spill in order: the buffer, and where it comes back.
    pub spills: Vec<(BufferId, u64)>,
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// Order alone: exclusive classes, no capacities.
    Order,
    /// Offsets within the capacities; no exclusive classes.
    Memory,
}

/// What a plan needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// By step and type: bytes resident behind the step.
    pub resident: Vec<[u64; POOLS.len()]>,
    /// The most bytes resident in the types that count.
    pub peak: u64,
    /// By type: the most bytes resident.
    pub peaks: [u64; POOLS.len()],
    /// Bytes moved by spills: the size where the buffer is a copy of what `COPY_IN` brought, else twice.
    pub traffic: u64,
    /// Cycles from the start to the end of the last operation.
    pub makespan: u64,
}

/// A broken rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    /// An id that no node and no spill has.
    Unknown {
        /// The step.
        step: usize,
        /// The id.
        id: u32,
    },
    /// A node that stands twice.
    Twice {
        /// The step.
        step: usize,
        /// The id.
        id: u32,
    },
    /// A node that is missing.
    Missing {
        /// The node.
        node: NodeId,
    },
    /// A dependency that is not kept.
    Order(Dependency),
    /// A buffer that is not resident when it is touched, freed or spilled.
    NotResident {
        /// The step.
        step: usize,
        /// The buffer.
        buffer: BufferId,
    },
    /// A spill that is out of turn.
    Spill {
        /// The step.
        step: usize,
        /// The spill.
        spill: usize,
    },
    /// More live buffers in a class than it holds.
    Class {
        /// The step.
        step: usize,
        /// The class.
        pool: PoolId,
        /// How many are live.
        live: u32,
    },
    /// A buffer that lies outside its memory.
    Capacity {
        /// The step.
        step: usize,
        /// The buffer.
        buffer: BufferId,
        /// The first byte behind it.
        end: u64,
    },
    /// Two resident buffers on the same bytes.
    Overlap {
        /// The step.
        step: usize,
        /// The buffer.
        buffer: BufferId,
        /// The other buffer.
        other: BufferId,
    },
    /// A buffer without a place.
    NoOffset {
        /// The buffer.
        buffer: BufferId,
    },
    /// A buffer that is resident at the end.
    Left {
        /// The buffer.
        buffer: BufferId,
    },
}

impl Violation {
    /// As a message says it.
    pub fn text(&self, graph: &Graph) -> impl fmt::Display {
        let buffer = |id: BufferId| graph.buffers[id.index()].id;
        match self {
            Violation::Unknown { step, id } => format!("step {step}: no node has the id {id}"),
            Violation::Twice { step, id } => format!("step {step}: node {id} has run already"),
            Violation::Missing { node } => format!("{} is missing", graph.name(*node)),
            Violation::Order(broken) => format!(
                "{} runs before {}: {}",
                graph.name(broken.then),
                graph.name(broken.first),
                broken.reason.text(graph)
            ),
            Violation::NotResident { step, buffer: id } => {
                format!("step {step}: buffer {} is not resident", buffer(*id))
            }
            Violation::Spill { step, spill } => format!("step {step}: spill {spill} is out of turn"),
            Violation::Class { step, pool, live } => {
                format!("step {step}: {live} buffers of {} are live", pool.pool().name)
            }
            Violation::Capacity { step, buffer: id, end } => {
                let pool = graph.buffers[id.index()].pool.pool();
                format!(
                    "step {step}: buffer {} ends at {end} of the {} bytes of {}",
                    buffer(*id),
                    pool.capacity,
                    pool.name
                )
            }
            Violation::Overlap { step, buffer: id, other } => {
                format!("step {step}: buffers {} and {} lie on the same bytes", buffer(*id), buffer(*other))
            }
            Violation::NoOffset { buffer: id } => format!("buffer {} has no offset", buffer(*id)),
            Violation::Left { buffer: id } => format!("buffer {} is resident at the end", buffer(*id)),
        }
    }
}

/// Cycles of a spill in one direction.
pub fn spill_cycles(size: u64) -> u64 {
    size.saturating_mul(2).saturating_add(150)
}

/// By buffer: whether it holds what a `COPY_IN` brought, and nothing else ever, so that it can be dropped and fetched again.
pub fn backed(graph: &Graph, program: &Program) -> Vec<bool> {
    use super::hazards::Access;
    let mut backed = vec![false; graph.buffers.len()];
    for (at, users) in program.users.iter().enumerate() {
        backed[at] = users.first().is_some_and(|first| &*graph.nodes[first.index()].op == "COPY_IN");
    }
    let writes = program.accesses.iter().flatten().filter(|(_, access)| *access == Access::Write);
    writes.for_each(|(buffer, _)| backed[buffer.index()] = false);
    backed
}

/// Runs a plan.
///
/// # Errors
/// All rules that it breaks, up to some hundred.
pub fn replay(graph: &Graph, program: &Program, plan: &Plan, rules: Rules) -> Result<Outcome, Vec<Violation>> {
    let mut run = Run::new(graph, program, plan, rules);
    run.nodes();
    run.dependencies();
    // The rest needs a schedule that is one.
    if run.broken.is_empty() {
        run.steps();
    }
    if run.broken.is_empty() { Ok(run.outcome) } else { Err(run.broken) }
}

/// More violations than this are not listed.
pub const MOST: usize = 100;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Node(NodeId),
    Out(usize),
    In(usize),
}

struct Run<'a> {
    graph: &'a Graph,
    program: &'a Program,
    plan: &'a Plan,
    rules: Rules,
    events: Vec<Event>,
    /// By node: its step.
    step_of: Vec<usize>,
    broken: Vec<Violation>,
    outcome: Outcome,
}

impl<'a> Run<'a> {
    fn new(graph: &'a Graph, program: &'a Program, plan: &'a Plan, rules: Rules) -> Run<'a> {
        let step_of = vec![usize::MAX; graph.nodes.len()];
        Run {
            graph,
            program,
            plan,
            rules,
            events: Vec::new(),
            step_of,
            broken: Vec::new(),
            outcome: Outcome::default(),
        }
    }

    fn report(&mut self, violation: Violation) {
        if self.broken.len() < MOST {
            self.broken.push(violation);
        }
    }

    /// Ids become events; every node and both ends of every spill stand there once.
    fn nodes(&mut self) {
        let first_spill = self.graph.nodes.last().map_or(0, |node| u64::from(node.id) + 1);
        let mut spills = vec![false; 2 * self.plan.spills.len()];
        for (step, id) in self.plan.schedule.iter().copied().enumerate() {
            if let Ok(at) = self.graph.nodes.binary_search_by_key(&id, |node| node.id) {
                if self.step_of[at] != usize::MAX {
                    self.report(Violation::Twice { step, id });
                }
                self.step_of[at] = step;
                self.events.push(Event::Node(NodeId(at as u32)));
                continue;
            }
            let end = u64::from(id).checked_sub(first_spill).map(|at| at as usize);
            match end.filter(|end| *end < spills.len()) {
                None => self.report(Violation::Unknown { step, id }),
                Some(end) => {
                    if std::mem::replace(&mut spills[end], true) {
                        self.report(Violation::Twice { step, id });
                    }
                    self.events.push(if end % 2 == 0 { Event::Out(end / 2) } else { Event::In(end / 2) });
                }
            }
        }
        for at in 0..self.step_of.len() {
            if self.step_of[at] == usize::MAX {
                self.report(Violation::Missing { node: NodeId(at as u32) });
            }
        }
        if let Some(end) = spills.iter().position(|there| !there) {
            self.report(Violation::Spill { step: self.events.len(), spill: end / 2 });
        }
    }

    fn dependencies(&mut self) {
        let program = self.program;
        for dependency in &program.dependencies {
            if self.step_of[dependency.first.index()] >= self.step_of[dependency.then.index()]
                && self.broken.len() < MOST
            {
                self.report(Violation::Order(*dependency));
            }
        }
    }

    fn steps(&mut self) {
        let (graph, plan) = (self.graph, self.plan);
        if self.rules == Rules::Memory && plan.offsets.len() != graph.buffers.len() {
            let buffer = BufferId(plan.offsets.len().min(graph.buffers.len().saturating_sub(1)) as u32);
            return self.report(Violation::NoOffset { buffer });
        }
        let mut memory = Memory::new(graph, self.rules);
        let mut clock = Clock::new(graph, self.program);
        let backed = backed(graph, self.program);
        for (step, event) in std::mem::take(&mut self.events).into_iter().enumerate() {
            let found = match event {
                Event::Node(node) => self.node(node, step, &mut memory, &mut clock),
                Event::Out(spill) => {
                    let (buffer, _) = plan.spills[spill];
                    let size = graph.buffers[buffer.index()].size;
                    let is_copy = backed[buffer.index()];
                    let moves = if is_copy { 1 } else { 2 };
                    self.outcome.traffic = self.outcome.traffic.saturating_add(size.saturating_mul(moves));
                    let time = clock.spill_out(buffer, if is_copy { 0 } else { spill_cycles(size) });
                    memory.take(buffer, Where::Spilled(spill), time, step)
                }
                Event::In(spill) => {
                    let (buffer, offset) = plan.spills[spill];
                    memory.put(buffer, offset, Where::Spilled(spill), step).map(|free| {
                        clock.spill_in(buffer, spill_cycles(graph.buffers[buffer.index()].size), free);
                    })
                }
            };
            if let Err(violation) = found {
                self.report(violation);
            }
            self.outcome.resident.push(memory.resident);
            for (peak, now) in self.outcome.peaks.iter_mut().zip(memory.resident) {
                *peak = (*peak).max(now);
            }
            let counted = (0..POOLS.len()).filter(|pool| POOLS[*pool].counted).map(|pool| memory.resident[pool]).sum();
            self.outcome.peak = self.outcome.peak.max(counted);
        }
        self.outcome.makespan = clock.end;
        let left: Vec<BufferId> = memory.left().collect();
        left.into_iter().for_each(|buffer| self.report(Violation::Left { buffer }));
    }

    fn node(&self, node: NodeId, step: usize, memory: &mut Memory<'_>, clock: &mut Clock<'a>) -> Result<(), Violation> {
        let graph = self.graph;
        match &graph.nodes[node.index()].kind {
            Kind::Alloc(buffer) => {
                let offset = self.plan.offsets.get(buffer.index()).copied().unwrap_or_default();
                let free = memory.put(*buffer, offset, Where::Nowhere, step)?;
                clock.alloc(node, *buffer, free);
            }
            Kind::Free(buffer) => {
                let time = clock.free(node, *buffer);
                memory.take(*buffer, Where::Nowhere, time, step)?;
            }
            Kind::Op { pipe, cycles, .. } => {
                for (buffer, _) in &self.program.accesses[node.index()] {
                    memory.touch(*buffer, step)?;
                }
                clock.run(node, pipe, *cycles);
            }
        }
        Ok(())
    }
}

/// Where a buffer is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Nowhere,
    At(u64),
    /// Outside, by this spill.
    Spilled(usize),
}

/// What lies where.
struct Memory<'a> {
    graph: &'a Graph,
    rules: Rules,
    places: Vec<Where>,
    /// By type: start of each resident buffer.
    held: Vec<BTreeMap<u64, BufferId>>,
    /// By type: pieces of bytes that have been used, by start: end, and when they are free again.
    used: Vec<BTreeMap<u64, (u64, u64)>>,
    live: [u32; POOLS.len()],
    resident: [u64; POOLS.len()],
}

impl<'a> Memory<'a> {
    fn new(graph: &'a Graph, rules: Rules) -> Memory<'a> {
        Memory {
            graph,
            rules,
            places: vec![Where::Nowhere; graph.buffers.len()],
            held: vec![BTreeMap::new(); POOLS.len()],
            used: vec![BTreeMap::new(); POOLS.len()],
            live: [0; POOLS.len()],
            resident: [0; POOLS.len()],
        }
    }

    /// Places a buffer that must be `from` there; answers when its bytes are free.
    fn put(&mut self, id: BufferId, offset: u64, from: Where, step: usize) -> Result<u64, Violation> {
        let buffer = self.graph.buffers[id.index()];
        let pool = usize::from(buffer.pool.0);
        if self.places[id.index()] != from {
            return Err(match from {
                Where::Spilled(spill) => Violation::Spill { step, spill },
                _ => Violation::NotResident { step, buffer: id },
            });
        }
        self.places[id.index()] = Where::At(offset);
        self.live[pool] += 1;
        self.resident[pool] += buffer.size;
        if self.rules == Rules::Order {
            let live = self.live[pool];
            return match POOLS[pool].limit.is_some_and(|limit| live > limit) {
                true => Err(Violation::Class { step, pool: buffer.pool, live }),
                false => Ok(0),
            };
        }
        let end = offset.saturating_add(buffer.size);
        if end > POOLS[pool].capacity {
            return Err(Violation::Capacity { step, buffer: id, end });
        }
        if buffer.size == 0 {
            return Ok(0);
        }
        let size = |id: BufferId| self.graph.buffers[id.index()].size;
        let below = self.held[pool].range(..end).next_back();
        if let Some((start, other)) = below
            && start + size(*other) > offset
        {
            return Err(Violation::Overlap { step, buffer: id, other: *other });
        }
        self.held[pool].insert(offset, id);
        let reused = self.used[pool].range(..end).rev().take_while(|(_, (behind, _))| *behind > offset);
        Ok(reused.map(|(_, (_, free))| *free).max().unwrap_or(0))
    }

    /// Takes a buffer's bytes, free from `time` on; the buffer is `to` there then.
    fn take(&mut self, id: BufferId, to: Where, time: u64, step: usize) -> Result<(), Violation> {
        let buffer = self.graph.buffers[id.index()];
        let pool = usize::from(buffer.pool.0);
        let Where::At(offset) = self.places[id.index()] else {
            return Err(match to {
                Where::Spilled(spill) => Violation::Spill { step, spill },
                _ => Violation::NotResident { step, buffer: id },
            });
        };
        self.places[id.index()] = to;
        self.live[pool] -= 1;
        self.resident[pool] -= buffer.size;
        if self.rules == Rules::Memory && buffer.size > 0 {
            self.held[pool].remove(&offset);
            self.release(pool, offset, offset + buffer.size, time);
        }
        Ok(())
    }

    /// Records that bytes are free from `time` on; what was known about them before is earlier.
    fn release(&mut self, pool: usize, start: u64, end: u64, time: u64) {
        let used = &mut self.used[pool];
        let over: Vec<(u64, (u64, u64))> = used
            .range(..end)
            .rev()
            .take_while(|(_, (behind, _))| *behind > start)
            .map(|(at, piece)| (*at, *piece))
            .collect();
        for (at, (behind, free)) in over {
            used.remove(&at);
            if at < start {
                used.insert(at, (start, free));
            }
            if behind > end {
                used.insert(end, (behind, free));
            }
        }
        used.insert(start, (end, time));
    }

    fn touch(&self, id: BufferId, step: usize) -> Result<(), Violation> {
        match self.places[id.index()] {
            Where::At(_) => Ok(()),
            _ => Err(Violation::NotResident { step, buffer: id }),
        }
    }

    fn left(&self) -> impl Iterator<Item = BufferId> + '_ {
        (0..self.places.len()).filter(|at| self.places[*at] != Where::Nowhere).map(|at| BufferId(at as u32))
    }
}

/// When things end.
struct Clock<'a> {
    /// By buffer: when its bytes hold what they should, by allocation or by coming back.
    there: Vec<u64>,
    /// By buffer: when all that has happened to it so far has ended.
    known: Vec<u64>,
    /// By node: when it ended.
    ends: Vec<u64>,
    pipes: FxHashMap<&'a str, u64>,
    /// By node: what it waits for.
    before: Vec<Vec<NodeId>>,
    program: &'a Program,
    end: u64,
}

/// The pipe of spills out.
pub const OUT_PIPE: &str = "MTE3";
/// The pipe of spills in.
pub const IN_PIPE: &str = "MTE2";

impl<'a> Clock<'a> {
    fn new(graph: &'a Graph, program: &'a Program) -> Clock<'a> {
        let mut before = vec![Vec::new(); graph.nodes.len()];
        for dependency in &program.dependencies {
            before[dependency.then.index()].push(dependency.first);
        }
        let none = || vec![0; graph.buffers.len()];
        let ends = vec![0; graph.nodes.len()];
        Clock { there: none(), known: none(), ends, pipes: FxHashMap::default(), before, program, end: 0 }
    }

    fn alloc(&mut self, node: NodeId, buffer: BufferId, free: u64) {
        let time = self.waits(node).max(free);
        self.ends[node.index()] = time;
        (self.there[buffer.index()], self.known[buffer.index()]) = (time, time);
    }

    fn free(&mut self, node: NodeId, buffer: BufferId) -> u64 {
        let time = self.waits(node).max(self.known[buffer.index()]);
        self.ends[node.index()] = time;
        time
    }

    fn run(&mut self, node: NodeId, pipe: &'a str, cycles: u64) {
        let program = self.program;
        let accesses = &program.accesses[node.index()];
        let there = accesses.iter().map(|(buffer, _)| self.there[buffer.index()]).max().unwrap_or(0);
        let end = self.on(pipe, self.waits(node).max(there), cycles);
        self.ends[node.index()] = end;
        for (buffer, _) in accesses {
            let known = &mut self.known[buffer.index()];
            *known = (*known).max(end);
        }
    }

    fn spill_out(&mut self, buffer: BufferId, cycles: u64) -> u64 {
        let end = self.on(OUT_PIPE, self.known[buffer.index()], cycles);
        self.known[buffer.index()] = end;
        end
    }

    fn spill_in(&mut self, buffer: BufferId, cycles: u64, free: u64) {
        let end = self.on(IN_PIPE, self.known[buffer.index()].max(free), cycles);
        (self.there[buffer.index()], self.known[buffer.index()]) = (end, end);
    }

    fn waits(&self, node: NodeId) -> u64 {
        self.before[node.index()].iter().map(|first| self.ends[first.index()]).max().unwrap_or(0)
    }

    fn on(&mut self, pipe: &'a str, start: u64, cycles: u64) -> u64 {
        let free = self.pipes.entry(pipe).or_insert(0);
        *free = (*free).max(start).saturating_add(cycles);
        self.end = self.end.max(*free);
        *free
    }
}
