//! The order in which ONNX Runtime runs the nodes of a file, which is not the file's.
//!
//! *By default* it walks backwards from the nodes that nobody reads, depth first, and runs a node when it leaves it: of what a node
//! reads, the producer that stands last in the file is walked to first. With `PRIORITY_BASED` it takes of the nodes that can run the first
//! one in the file, Shape and Size before all others. Constant nodes are no nodes to it. Source: onnxruntime 1.32, `core/graph/graph.cc`
//! (`ReverseDFSFrom`), `core/graph/graph_viewer.cc`; compared with runs of real models in `cargo xtask conformance`.
//!
//! Optimisations that merge nodes change what there is to walk over; the prediction is for the nodes of the file.

use neap_import::onnx::Outline;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The nodes that run, and who reads whom, in the order of some file.
struct Graph {
    /// The file's number of each node.
    nodes: Vec<usize>,
    /// Producers of what each node reads, ascending; positions in `nodes`.
    before: Vec<Vec<usize>>,
}

impl Graph {
    fn new(file: &Outline, order: &[usize]) -> Graph {
        let nodes: Vec<usize> = order.iter().copied().filter(|index| !file.nodes[*index].is_constant).collect();
        let mut position = vec![usize::MAX; file.nodes.len()];
        nodes.iter().enumerate().for_each(|(at, index)| position[*index] = at);
        let producers = |index: &usize| {
            let found = file.nodes[*index].before.iter().map(|first| position[*first]);
            let mut found: Vec<usize> = found.filter(|at| *at != usize::MAX).collect();
            found.sort_unstable();
            found
        };
        let before = nodes.iter().map(producers).collect();
        Graph { nodes, before }
    }
}

/// The order in which a session with default options runs a file whose nodes stand in `order`. Constant nodes are left out.
pub fn default_order(file: &Outline, order: &[usize]) -> Vec<usize> {
    let graph = Graph::new(file, order);
    let mut is_read = vec![false; graph.nodes.len()];
    graph.before.iter().flatten().for_each(|at| is_read[*at] = true);
    let mut stack: Vec<(usize, bool)> =
        (0..graph.nodes.len()).filter(|at| !is_read[*at]).map(|at| (at, false)).collect();
    let mut seen = vec![false; graph.nodes.len()];
    let mut run = Vec::with_capacity(graph.nodes.len());
    while let Some((at, leave)) = stack.pop() {
        if leave {
            run.push(graph.nodes[at]);
        } else if !std::mem::replace(&mut seen[at], true) {
            stack.push((at, true));
            stack.extend(graph.before[at].iter().filter(|first| !seen[**first]).map(|first| (*first, false)));
        }
    }
    run
}

/// The order in which a session with `PRIORITY_BASED` runs a file whose nodes stand in `order`. Constant nodes are left out.
pub fn priority_order(file: &Outline, order: &[usize]) -> Vec<usize> {
    let graph = Graph::new(file, order);
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    let mut missing: Vec<usize> = graph.before.iter().map(Vec::len).collect();
    for (at, before) in graph.before.iter().enumerate() {
        before.iter().for_each(|first| after[*first].push(at));
    }
    let key = |at: usize| Reverse((!file.nodes[graph.nodes[at]].is_shape, at));
    let mut ready: BinaryHeap<_> = (0..graph.nodes.len()).filter(|at| missing[*at] == 0).map(key).collect();
    let mut run = Vec::with_capacity(graph.nodes.len());
    while let Some(Reverse((_, at))) = ready.pop() {
        run.push(graph.nodes[at]);
        for next in &after[at] {
            missing[*next] -= 1;
            if missing[*next] == 0 {
                ready.push(key(*next));
            }
        }
    }
    run
}

/// Orders of the file that may make the runtime's own order a good one: `wanted` itself, what the runtime makes of it and of that, and those
/// that lead the runtime to one of these. Each is one in which nodes can run; Constant nodes stand before their first reader.
pub fn candidates(file: &Outline, wanted: &[usize]) -> Vec<Vec<usize>> {
    let once = complete(file, &default_order(file, wanted));
    let twice = complete(file, &default_order(file, &once));
    let leading = [wanted, &once, &twice].map(|order| leading_to(file, order));
    let mut unique: Vec<Vec<usize>> = Vec::new();
    for order in [wanted.to_vec(), once, twice, turned(file, wanted)].into_iter().chain(leading) {
        if !unique.contains(&order) {
            unique.push(order);
        }
    }
    unique
}

/// Of the nodes that can run, always the one that `wanted` runs last: siblings stand in the opposite order.
fn turned(file: &Outline, wanted: &[usize]) -> Vec<usize> {
    let graph = Graph::new(file, wanted);
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
    let mut missing: Vec<usize> = graph.before.iter().map(Vec::len).collect();
    for (at, before) in graph.before.iter().enumerate() {
        before.iter().for_each(|first| after[*first].push(at));
    }
    let mut ready: BinaryHeap<usize> = (0..graph.nodes.len()).filter(|at| missing[*at] == 0).collect();
    let mut order = Vec::with_capacity(graph.nodes.len());
    while let Some(at) = ready.pop() {
        order.push(graph.nodes[at]);
        for next in &after[at] {
            missing[*next] -= 1;
            if missing[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    complete(file, &order)
}

/// An order of the file that the runtime turns into `wanted`, where `wanted` is one that it would choose at all, and that is close to it.
///
/// What is walked to first stands last: of the nodes that one node reads, and of those that nobody reads, the one that is to run first has to
/// stand behind the others. Each node comes as early as `wanted` has it and these demands allow; a demand that data contradict is dropped.
pub fn leading_to(file: &Outline, wanted: &[usize]) -> Vec<usize> {
    let graph = Graph::new(file, wanted);
    let count = graph.nodes.len();
    let mut is_read = vec![false; count];
    graph.before.iter().flatten().for_each(|at| is_read[*at] = true);
    let last: Vec<usize> = (0..count).filter(|at| !is_read[*at]).collect();
    // Positions ascend in the order in which nodes are to run: of two neighbours the second has to stand first.
    let (mut after, mut later) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    let (mut missing, mut demanded) = (vec![0usize; count], vec![0usize; count]);
    for (at, before) in graph.before.iter().enumerate() {
        missing[at] = before.len();
        before.iter().for_each(|first| after[*first].push(at));
    }
    for siblings in graph.before.iter().chain([&last]) {
        for pair in siblings.windows(2) {
            demanded[pair[0]] += 1;
            later[pair[1]].push(pair[0]);
        }
    }
    let mut ready = BTreeSet::new();
    // Those that could run but for a demand; the first of them runs when nothing else can.
    let mut held: BTreeSet<usize> = BTreeSet::new();
    for at in (0..count).filter(|at| missing[*at] == 0) {
        if demanded[at] == 0 {
            ready.insert(at)
        } else {
            held.insert(at)
        };
    }
    let mut order = Vec::with_capacity(count);
    while let Some(at) = ready.pop_first().or_else(|| held.pop_first()) {
        order.push(graph.nodes[at]);
        for next in &after[at] {
            missing[*next] -= 1;
            if missing[*next] == 0 {
                if demanded[*next] == 0 {
                    ready.insert(*next)
                } else {
                    held.insert(*next)
                };
            }
        }
        for next in &later[at] {
            demanded[*next] -= 1;
            if demanded[*next] == 0 && held.remove(next) {
                ready.insert(*next);
            }
        }
    }
    complete(file, &order)
}

/// An order of all nodes: Constant nodes before their first reader, those that nobody reads at the end.
pub fn complete(file: &Outline, order: &[usize]) -> Vec<usize> {
    let mut placed = vec![false; file.nodes.len()];
    let mut all = Vec::with_capacity(file.nodes.len());
    let add = |index: usize, placed: &mut Vec<bool>, all: &mut Vec<usize>| {
        if !std::mem::replace(&mut placed[index], true) {
            all.push(index);
        }
    };
    for index in order {
        for first in file.nodes[*index].before.iter().filter(|first| file.nodes[**first].is_constant) {
            add(*first, &mut placed, &mut all);
        }
        add(*index, &mut placed, &mut all);
    }
    (0..file.nodes.len()).for_each(|index| add(index, &mut placed, &mut all));
    all
}
