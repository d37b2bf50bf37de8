//! What must come before what, and why: the kinds of dependency are kept apart so that messages can name them.
//!
//! The program order is the topological order of the given edges (allocation before use and use before release included) that takes the smallest id
//! first. What operations do to buffers is read in that order, so given edges win over ids: the first operation that touches a buffer writes it;
//! later, `COPY_OUT` reads what it names, and any other operation writes its first buffer and reads the rest. Where a buffer is
//! written again, its content may be read, too, so the order of writes and reads is kept: a write comes after the write before it *and after the
//! reads of what that wrote*. All derived dependencies point forward in the program order, so they never make a cycle.

use super::graph::{BufferId, Graph, Kind, NodeId};
use neap_ir::diag::Diagnostic;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

/// Why one node comes before another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// The file has an edge.
    Given,
    /// A buffer is allocated before it is used.
    Allocation(BufferId),
    /// A buffer is written again.
    WriteAfterWrite(BufferId),
    /// A buffer is read after the last write before.
    ReadAfterWrite(BufferId),
    /// A buffer is written after its content before has been read.
    WriteAfterRead(BufferId),
    /// A buffer is used before it is freed.
    Release(BufferId),
}

impl Reason {
    /// As a message says it.
    pub fn text(self, graph: &Graph) -> impl fmt::Display {
        let id = |buffer: BufferId| graph.buffers[buffer.index()].id;
        match self {
            Reason::Given => "an edge of the file says so".to_owned(),
            Reason::Allocation(buffer) => format!("buffer {} is allocated before it is used", id(buffer)),
            Reason::WriteAfterWrite(buffer) => format!("both write buffer {}", id(buffer)),
            Reason::ReadAfterWrite(buffer) => format!("it reads buffer {}, which the other writes", id(buffer)),
            Reason::WriteAfterRead(buffer) => {
                format!("it writes buffer {} again, whose content the other reads", id(buffer))
            }
            Reason::Release(buffer) => format!("buffer {} is used before it is freed", id(buffer)),
        }
    }
}

/// One node before another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dependency {
    /// Comes first.
    pub first: NodeId,
    /// Comes later.
    pub then: NodeId,
    /// Why.
    pub reason: Reason,
}

/// What an operation does to a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Touches it first: its content comes from here.
    First,
    /// Writes it; the content before may be read, too.
    Write,
    /// Reads it.
    Read,
}

/// The operations in program order and what they do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// All nodes.
    pub order: Vec<NodeId>,
    /// By node: its place in `order`.
    pub place: Vec<u32>,
    /// By node: what it does to buffers (nothing for `ALLOC` and `FREE`).
    pub accesses: Vec<Vec<(BufferId, Access)>>,
    /// By buffer: the operations that touch it, in program order.
    pub users: Vec<Vec<NodeId>>,
    /// All dependencies between nodes.
    pub dependencies: Vec<Dependency>,
    /// Pairs of operations that must keep their order though no buffer says so.
    pub tokens: Vec<(NodeId, NodeId)>,
}

/// Finds what the operations do and what follows from it.
///
/// # Errors
/// A cycle, which is printed; edges that cannot be kept when buffers live exactly as long as they are used.
pub fn program(graph: &Graph) -> Result<Program, Vec<Diagnostic>> {
    let successors = successors(graph);
    let order = order(graph, &successors)?;
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, node)| place[node.index()] = at as u32);
    let mut program = Program {
        order,
        place,
        accesses: vec![Vec::new(); graph.nodes.len()],
        users: vec![Vec::new(); graph.buffers.len()],
        ..Program::default()
    };
    program.users(graph);
    program.accesses(graph);
    program.hazards(graph);
    program.tokens(graph)?;
    Ok(program)
}

/// By node: what comes after it by given edges, by allocation and by release.
fn successors(graph: &Graph) -> Vec<Vec<NodeId>> {
    let mut lists = vec![Vec::new(); graph.nodes.len()];
    for (from, to) in &graph.edges {
        lists[from.index()].push(*to);
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        let Kind::Op { bufs, .. } = &node.kind else { continue };
        let node = NodeId(at as u32);
        for buffer in bufs.iter().map(|buffer| graph.buffers[buffer.index()]) {
            lists[buffer.alloc.index()].push(node);
            lists[at].push(buffer.free);
        }
    }
    for buffer in &graph.buffers {
        lists[buffer.alloc.index()].push(buffer.free);
    }
    lists
}

fn order(graph: &Graph, successors: &[Vec<NodeId>]) -> Result<Vec<NodeId>, Vec<Diagnostic>> {
    let count = graph.nodes.len();
    let mut waits = vec![0u32; count];
    successors.iter().flatten().for_each(|then| waits[then.index()] += 1);
    let ready = (0..count).filter(|at| waits[*at] == 0).map(|at| Reverse(at as u32));
    let mut heap: BinaryHeap<Reverse<u32>> = ready.collect();
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse(at)) = heap.pop() {
        order.push(NodeId(at));
        for then in &successors[at as usize] {
            waits[then.index()] -= 1;
            if waits[then.index()] == 0 {
                heap.push(Reverse(then.0));
            }
        }
    }
    if order.len() == count { Ok(order) } else { Err(vec![cycle(graph, successors, &waits)]) }
}

/// A cycle among the nodes that still wait: following any waiting predecessor must come back.
fn cycle(graph: &Graph, successors: &[Vec<NodeId>], waits: &[u32]) -> Diagnostic {
    let mut before = vec![None; graph.nodes.len()];
    for (at, list) in successors.iter().enumerate().filter(|(at, _)| waits[*at] > 0) {
        list.iter().for_each(|then| before[then.index()] = Some(NodeId(at as u32)));
    }
    let start = (0..waits.len()).find(|at| waits[*at] > 0).unwrap_or_default();
    let mut met = vec![usize::MAX; graph.nodes.len()];
    let mut path = Vec::new();
    let mut at = NodeId(start as u32);
    while met[at.index()] == usize::MAX {
        met[at.index()] = path.len();
        path.push(at);
        at = before[at.index()].unwrap_or(at);
    }
    let mut nodes = path.split_off(met[at.index()]);
    nodes.reverse();
    let least = (0..nodes.len()).min_by_key(|at| nodes[*at]).unwrap_or_default();
    nodes.rotate_left(least);
    let mut names: Vec<String> = nodes.iter().take(12).map(|node| graph.name(*node)).collect();
    if nodes.len() > 12 {
        names.push(format!("({} more)", nodes.len() - 12));
    }
    names.push(graph.name(nodes[0]));
    let span = graph.nodes[nodes[0].index()].span;
    let mut cycle = Diagnostic::error(span, format!("the dependencies form a cycle: {}", names.join(" -> ")));
    for node in nodes.iter().skip(1).take(3) {
        cycle = cycle.related(graph.nodes[node.index()].span, "on the cycle");
    }
    cycle
}

impl Program {
    /// Users of buffers: the operations that list them, and those that edges of their `ALLOC` or `FREE` tie to them.
    fn users(&mut self, graph: &Graph) {
        let kind = |node: NodeId| &graph.nodes[node.index()].kind;
        for node in &self.order {
            if let Kind::Op { bufs, .. } = kind(*node) {
                bufs.iter().for_each(|buffer| self.users[buffer.index()].push(*node));
            }
        }
        let mut more: Vec<(BufferId, NodeId)> = Vec::new();
        for (from, to) in &graph.edges {
            let (buffer, node) = match (kind(*from), kind(*to)) {
                (Kind::Alloc(buffer), Kind::Op { .. }) => (*buffer, *to),
                (Kind::Op { .. }, Kind::Free(buffer)) => (*buffer, *from),
                _ => continue,
            };
            if !lists(graph, node, buffer) {
                more.push((buffer, node));
            }
        }
        for (buffer, node) in &more {
            self.users[buffer.index()].push(*node);
        }
        for (buffer, _) in more {
            let place = &self.place;
            let users = &mut self.users[buffer.index()];
            users.sort_unstable_by_key(|node| place[node.index()]);
            users.dedup();
        }
    }

    /// As the file lists the buffers; users by edges alone come last.
    fn accesses(&mut self, graph: &Graph) {
        for node in &self.order {
            if let Kind::Op { bufs, .. } = &graph.nodes[node.index()].kind {
                let access = |buffer: &BufferId| (*buffer, self.access(graph, *buffer, *node));
                self.accesses[node.index()] = bufs.iter().map(access).collect();
            }
        }
        for (at, users) in self.users.iter().enumerate() {
            let buffer = BufferId(at as u32);
            for node in users.iter().filter(|node| !lists(graph, **node, buffer)) {
                let access = if users[0] == *node { Access::First } else { Access::Read };
                self.accesses[node.index()].push((buffer, access));
            }
        }
    }

    fn access(&self, graph: &Graph, buffer: BufferId, node: NodeId) -> Access {
        let record = &graph.nodes[node.index()];
        match self.users[buffer.index()].first() {
            Some(first) if *first == node => Access::First,
            _ if &*record.op != "COPY_OUT" && graph.bufs(node).first() == Some(&buffer) => Access::Write,
            _ => Access::Read,
        }
    }

    fn hazards(&mut self, graph: &Graph) {
        let mut found: Vec<Dependency> = Vec::new();
        found.extend(graph.edges.iter().map(|(first, then)| Dependency {
            first: *first,
            then: *then,
            reason: Reason::Given,
        }));
        for (at, users) in self.users.iter().enumerate() {
            let id = BufferId(at as u32);
            let buffer = &graph.buffers[at];
            let mut add = |first, then, reason| found.push(Dependency { first, then, reason });
            let Some(mut last) = users.first().copied() else {
                add(buffer.alloc, buffer.free, Reason::Release(id));
                continue;
            };
            add(buffer.alloc, last, Reason::Allocation(id));
            let mut reads: Vec<NodeId> = Vec::new();
            for node in &users[1..] {
                if self.access(graph, id, *node) == Access::Write {
                    add(last, *node, Reason::WriteAfterWrite(id));
                    reads.drain(..).for_each(|read| add(read, *node, Reason::WriteAfterRead(id)));
                    last = *node;
                } else {
                    add(last, *node, Reason::ReadAfterWrite(id));
                    reads.push(*node);
                }
            }
            reads.push(last);
            reads.into_iter().for_each(|node| add(node, buffer.free, Reason::Release(id)));
        }
        self.dependencies = found;
    }

    /// Edges between operations that no buffer stands for, those of `ALLOC` and `FREE` said by the first and the last operations that touch the buffer.
    fn tokens(&mut self, graph: &Graph) -> Result<(), Vec<Diagnostic>> {
        let mut errors = super::json::Errors::default();
        let mut found = Vec::new();
        for (from, to) in &graph.edges {
            if self.is_fixed(graph, *from, *to) {
                errors.push(|| {
                    let message = format!("the edge from {} to {} cannot be kept", graph.name(*from), graph.name(*to));
                    Diagnostic::error(graph.nodes[from.index()].span, message).note(TIGHT)
                });
            }
            let (firsts, thens) = (self.stands_for(graph, *from, false), self.stands_for(graph, *to, true));
            for first in &firsts {
                for then in thens.iter().filter(|then| *then != first) {
                    if self.place[first.index()] > self.place[then.index()] {
                        errors.push(|| {
                            let (a, b) = (graph.name(*from), graph.name(*to));
                            let message = format!(
                                "the edge from {a} to {b} cannot be kept: {} would have to run before {}",
                                graph.name(*first),
                                graph.name(*then)
                            );
                            Diagnostic::error(graph.nodes[from.index()].span, message).note(TIGHT)
                        });
                    } else if !self.is_data(*first, *then) {
                        found.push((*first, *then));
                    }
                }
            }
        }
        errors.done()?;
        found.sort_unstable();
        found.dedup();
        self.tokens = found;
        Ok(())
    }

    /// Whether an edge asks that two buffers are allocated, or freed, in a row: only uses decide that.
    fn is_fixed(&self, graph: &Graph, from: NodeId, to: NodeId) -> bool {
        match (&graph.nodes[from.index()].kind, &graph.nodes[to.index()].kind) {
            (Kind::Alloc(a), Kind::Free(b)) => a != b,
            (Kind::Alloc(_), Kind::Alloc(_)) | (Kind::Free(_), Kind::Free(_)) => true,
            _ => false,
        }
    }

    /// The operations that a node's place is tied to.
    fn stands_for(&self, graph: &Graph, node: NodeId, as_target: bool) -> Vec<NodeId> {
        match &graph.nodes[node.index()].kind {
            Kind::Op { .. } => vec![node],
            Kind::Alloc(buffer) => self.users[buffer.index()].first().copied().into_iter().collect(),
            // Behind all that touch the buffer in any case.
            Kind::Free(_) if as_target => Vec::new(),
            Kind::Free(buffer) => self.users[buffer.index()].clone(),
        }
    }

    /// Whether `then` reads or overwrites what `first` makes or reads, directly.
    fn is_data(&self, first: NodeId, then: NodeId) -> bool {
        let work = self.accesses[first.index()].len() * self.accesses[then.index()].len();
        // Where it would take long to see, a token says it once more.
        work < 10_000
            && self.accesses[first.index()].iter().any(|(buffer, a)| {
                let other = self.accesses[then.index()].iter().find(|(other, _)| other == buffer);
                other.is_some_and(|(_, b)| *a != Access::Read || *b != Access::Read)
            })
    }
}

/// Why some edges cannot be kept.
const TIGHT: &str =
    "buffers are allocated right before the first operation that touches them and freed right behind the last";

/// Whether the file lists a buffer at a node.
fn lists(graph: &Graph, node: NodeId, buffer: BufferId) -> bool {
    graph.bufs(node).contains(&buffer)
}
