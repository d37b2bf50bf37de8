//! A plain, concrete interpreter: one 64-bit hash per byte, tensors of a few elements, kernels that do the worst they may.
//!
//! A kernel of which nothing is known may fill its results and its scratch with rubbish before it reads its operands. An elementwise one reads
//! and writes element after element, a fused one too. A pair declared in place, a view and a placed part are taken as what they are.

use super::graph::{Graph, Io, Kind, Node, STATE, Tensor, VARIABLES};
use super::planner::Plan;

/// Bytes of a value.
pub(crate) type Bytes = Vec<u64>;

/// What can be seen from outside.
#[derive(PartialEq, Eq, Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) results: Vec<Bytes>,
    pub(crate) state: Vec<Bytes>,
    /// Every write with its variable, in order per variable.
    pub(crate) writes: Vec<Vec<Bytes>>,
    /// Kept values, by value.
    pub(crate) kept: Vec<(usize, Bytes)>,
    pub(crate) held: Vec<Bytes>,
    pub(crate) external: Vec<Bytes>,
}

fn mix(words: impl IntoIterator<Item = u64>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for word in words {
        hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        hash ^= hash >> 31;
    }
    hash.wrapping_mul(0xff51_afd7_ed55_8ccd)
}

fn fresh(tag: u64, index: u64, size: usize) -> Bytes {
    (0..size as u64).map(|byte| mix([tag, index, byte])).collect()
}

/// Where values are: in memory of their own, or in an arena.
trait Memory {
    fn read(&self, value: usize, byte: usize) -> Option<u64>;
    fn write(&mut self, value: usize, byte: usize, cell: u64);
}

struct Own(Vec<Option<Bytes>>);

impl Memory for Own {
    fn read(&self, value: usize, byte: usize) -> Option<u64> {
        self.0[value].as_ref()?.get(byte).copied()
    }
    fn write(&mut self, value: usize, byte: usize, cell: u64) {
        let bytes = self.0[value].get_or_insert_default();
        if bytes.len() <= byte {
            bytes.resize(byte + 1, 0);
        }
        bytes[byte] = cell;
    }
}

struct Arena {
    cells: Vec<u64>,
    /// First byte of each value; none for values outside.
    at: Vec<Option<usize>>,
    outside: Vec<Option<Bytes>>,
    defined: Vec<bool>,
}

impl Memory for Arena {
    fn read(&self, value: usize, byte: usize) -> Option<u64> {
        if !self.defined[value] {
            return None;
        }
        match self.at[value] {
            Some(start) => self.cells.get(start + byte).copied(),
            None => self.outside[value].as_ref()?.get(byte).copied(),
        }
    }
    fn write(&mut self, value: usize, byte: usize, cell: u64) {
        match self.at[value] {
            Some(start) => self.cells[start + byte] = cell,
            None => self.outside[value].get_or_insert_default()[byte] = cell,
        }
    }
}

/// Position of element `(row, column)` of the result in an operand that may be broadcast.
fn broadcast(t: Tensor, row: usize, column: usize) -> usize {
    let row = if t.rows == 1 { 0 } else { row };
    let column = if t.columns == 1 { 0 } else { column };
    row * t.columns + column
}

fn element(memory: &dyn Memory, value: usize, t: Tensor, index: usize) -> Option<u64> {
    let cells = (0..t.bytes).map(|byte| memory.read(value, index * t.bytes + byte));
    Some(mix(cells.collect::<Option<Vec<u64>>>()?))
}

fn whole(memory: &dyn Memory, values: &[usize], graph: &Graph) -> Option<u64> {
    let mut words = Vec::new();
    for value in values {
        for byte in 0..graph.values[*value].size() {
            words.push(memory.read(*value, byte)?);
        }
        words.push(77);
    }
    Some(mix(words))
}

fn run_kind(
    kind: &Kind,
    operands: &[usize],
    t: Tensor,
    index: usize,
    result: usize,
    graph: &Graph,
    memory: &dyn Memory,
) -> Option<Vec<u64>> {
    let (row, column) = (index / t.columns, index % t.columns);
    let function = |tag: u64, id: usize, words: &[u64]| -> Vec<u64> {
        (0..t.bytes as u64).map(|byte| mix([tag, id as u64, byte].into_iter().chain(words.iter().copied()))).collect()
    };
    Some(match kind {
        Kind::Opaque(id) => {
            let all = whole(memory, operands, graph)?;
            function(1, *id, &[all, result as u64, index as u64])
        }
        Kind::Element(id) => {
            let read = |value: &usize| {
                let from = graph.values[*value];
                element(memory, *value, from, broadcast(from, row, column))
            };
            function(2, *id, &operands.iter().map(read).collect::<Option<Vec<u64>>>()?)
        }
        Kind::Fused { first, operands: count, then, two, middle } => {
            let cells = run_kind(first, &operands[..*count], *middle, index, 0, graph, memory)?;
            let mut words = vec![mix(cells)];
            if *two {
                let from = graph.values[operands[*count]];
                words.push(element(memory, operands[*count], from, broadcast(from, row, column))?);
            }
            function(2, *then, &words)
        }
        _ => {
            let (value, from) = moved_from(kind, operands, row, column, index, result, graph);
            let bytes = graph.values[value].bytes;
            (0..bytes).map(|byte| memory.read(value, from * bytes + byte)).collect::<Option<Vec<u64>>>()?
        }
    })
}

/// The operand and its element that a moving node puts at an element of its result.
fn moved_from(
    kind: &Kind,
    operands: &[usize],
    row: usize,
    column: usize,
    index: usize,
    result: usize,
    graph: &Graph,
) -> (usize, usize) {
    let t = graph.values[operands[0]];
    match kind {
        Kind::Slice { axis: 0, start } => (operands[0], (row + start) * t.columns + column),
        Kind::Slice { start, .. } => (operands[0], row * t.columns + column + start),
        Kind::Split(0) => (operands[0], (row + result * t.rows / 2) * t.columns + column),
        Kind::Split(_) => (operands[0], row * t.columns + column + result * t.columns / 2),
        Kind::Transpose => (operands[0], column * t.columns + row),
        Kind::Concat(0) if row >= t.rows => (operands[1], (row - t.rows) * t.columns + column),
        Kind::Concat(1) if column >= t.columns => {
            (operands[1], row * graph.values[operands[1]].columns + column - t.columns)
        }
        Kind::Concat(_) => (operands[0], row * t.columns + column),
        _ => (operands[0], index),
    }
}

/// How one node may treat memory beyond its meaning.
#[derive(Default)]
struct Manner {
    /// Results that are not written: bytes of the operand, from a byte on.
    views: Vec<usize>,
    in_place: bool,
    /// Bytes of the first result that are there already.
    parts: Vec<(usize, usize)>,
    scratch: Option<(usize, usize)>,
}

struct Run<'g> {
    graph: &'g Graph,
    state: Vec<Bytes>,
    writes: Vec<Vec<Bytes>>,
    rubbish: u64,
}

impl<'g> Run<'g> {
    fn new(graph: &'g Graph) -> Run<'g> {
        let state = (0..VARIABLES).map(|variable| fresh(5, variable as u64, STATE.size())).collect();
        Run { graph, state, writes: vec![Vec::new(); VARIABLES], rubbish: 0 }
    }

    fn node(&mut self, node: &Node, memory: &mut dyn Memory, manner: &Manner) -> Option<()> {
        match node.kind {
            Kind::Read(variable) => {
                let content = self.state[variable].clone();
                content.iter().enumerate().for_each(|(byte, cell)| memory.write(node.results[0], byte, *cell));
                return Some(());
            }
            Kind::Write(variable) => {
                let read = (0..STATE.size()).map(|byte| memory.read(node.operands[0], byte));
                let bytes = read.collect::<Option<Bytes>>()?;
                self.writes[variable].push(bytes.clone());
                self.state[variable] = bytes;
                return Some(());
            }
            _ => {}
        }
        let streams = matches!(node.kind, Kind::Element(_) | Kind::Fused { .. });
        let inside = |index: usize, byte: usize| {
            index == 0 && manner.parts.iter().any(|(start, end)| *start <= byte && byte < *end)
        };
        if !streams && !manner.in_place {
            for (index, value) in node.results.iter().enumerate().filter(|(_, value)| !manner.views.contains(value)) {
                for byte in (0..self.graph.values[*value].size()).filter(|byte| !inside(index, *byte)) {
                    self.rubbish += 1;
                    memory.write(*value, byte, mix([9, self.rubbish]));
                }
            }
        }
        let mut late: Vec<(usize, usize, u64)> = Vec::new();
        for (result, value) in node.results.iter().enumerate().filter(|(_, value)| !manner.views.contains(value)) {
            let t = self.graph.values[*value];
            for index in 0..t.count() {
                let cells = run_kind(&node.kind, &node.operands, t, index, result, self.graph, memory)?;
                for (byte, cell) in cells.into_iter().enumerate() {
                    let byte = index * t.bytes + byte;
                    if inside(result, byte) {
                        continue;
                    }
                    match streams {
                        true => memory.write(*value, byte, cell),
                        false => late.push((*value, byte, cell)),
                    }
                }
            }
        }
        late.into_iter().for_each(|(value, byte, cell)| memory.write(value, byte, cell));
        Some(())
    }
}

/// Every value in memory of its own, in the order of the list.
pub(crate) fn source(graph_: &Graph) -> Seen {
    let mut own = Own(vec![None; graph_.values.len()]);
    for (arg, t) in graph_.values[..graph_.args.len()].iter().enumerate() {
        own.0[arg] = Some(fresh(3, arg as u64, t.size()));
    }
    let mut run = Run::new(graph_);
    for node in &graph_.nodes {
        run.node(node, &mut own, &Manner::default()).expect("a source runs");
    }
    seen(graph_, run, &own).expect("a source has results")
}

fn seen(graph: &Graph, run: Run<'_>, memory: &dyn Memory) -> Option<Seen> {
    let whole =
        |value: usize| (0..graph.values[value].size()).map(|byte| memory.read(value, byte)).collect::<Option<Bytes>>();
    let args = |io: Io| (0..graph.args.len()).filter(move |arg| graph.args[*arg] == io);
    let kept = graph.nodes.iter().filter(|node| node.keep).flat_map(|node| node.results.iter());
    let mut kept: Vec<(usize, Bytes)> = kept.map(|value| Some((*value, whole(*value)?))).collect::<Option<_>>()?;
    kept.sort_by_key(|(value, _)| *value);
    Some(Seen {
        results: graph.returned.iter().map(|value| whole(*value)).collect::<Option<_>>()?,
        state: run.state,
        writes: run.writes,
        kept,
        held: args(Io::Held).map(whole).collect::<Option<_>>()?,
        external: args(Io::External).map(whole).collect::<Option<_>>()?,
    })
}

/// The plan, in one arena. None: something is read before it is there, or lies beyond the arena.
pub(crate) fn planned(graph: &Graph, plan: &Plan) -> Option<Seen> {
    let mut arena = Arena {
        cells: (0..plan.arena.max(0) as u64 + 64).map(|byte| mix([8, byte])).collect(),
        at: vec![None; graph.values.len()],
        outside: vec![None; graph.values.len()],
        defined: vec![false; graph.values.len()],
    };
    let room = arena.cells.len() - 64;
    for (arg, t) in graph.values[..graph.args.len()].iter().enumerate() {
        arena.at[arg] = usize::try_from(plan.offsets[arg]).ok();
        if arena.at[arg].is_some_and(|start| start + t.size() > room)
            || (arena.at[arg].is_none() && graph.args[arg] != Io::External)
        {
            return None;
        }
        arena.defined[arg] = true;
        let bytes = fresh(3, arg as u64, t.size());
        arena.outside[arg] = Some(bytes.clone());
        bytes.into_iter().enumerate().for_each(|(byte, cell)| arena.write(arg, byte, cell));
    }
    let mut run = Run::new(graph);
    for id in &plan.order {
        let node = &graph.nodes[*id];
        let mut manner = Manner { in_place: plan.in_place.contains_key(id), ..Manner::default() };
        for value in &node.results {
            let t = graph.values[*value];
            if let Some((operand, start)) = plan.views.get(value) {
                let from = *node.operands.get(*operand)?;
                if !arena.defined[from] {
                    return None;
                }
                arena.at[*value] = arena.at[from].map(|at| at + start);
                if arena.at[*value].is_none() {
                    let outside = arena.outside[from].clone()?;
                    arena.outside[*value] = Some(outside.get(*start..*start + t.size())?.to_vec());
                }
                manner.views.push(*value);
            } else {
                arena.at[*value] = Some(usize::try_from(plan.offsets[*value]).ok()?);
            }
            if arena.at[*value].is_some_and(|start| start + t.size() > room) {
                return None;
            }
        }
        let places = plan.places.get(id).map_or(&[][..], Vec::as_slice);
        manner.parts = places
            .iter()
            .map(|(operand, start)| (*start, start + graph.values[node.operands[*operand]].size()))
            .collect();
        manner.scratch = plan.scratch.get(id).map(|start| (*start as usize, node.scratch));
        if node.scratch > 0 && manner.scratch.is_none_or(|(start, size)| start + size > room) {
            return None;
        }
        let soil = |arena: &mut Arena, run: &mut Run<'_>| {
            if let Some((start, size)) = manner.scratch {
                for byte in start..start + size {
                    run.rubbish += 1;
                    arena.cells[byte] = mix([10, run.rubbish]);
                }
            }
        };
        if node.operands.iter().any(|value| !arena.defined[*value]) {
            return None;
        }
        soil(&mut arena, &mut run);
        node.results.iter().for_each(|value| arena.defined[*value] = true);
        run.node(node, &mut arena, &manner)?;
        soil(&mut arena, &mut run);
    }
    seen(graph, run, &arena)
}
