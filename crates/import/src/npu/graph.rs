//! The graph as checked plain data: what the file says, with every reference resolved.

use super::json::{self, Errors, Placed};
use super::pools::{self, PoolId};
use neap_ir::Span;
use neap_ir::diag::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

/// Names a node by its place in [`Graph::nodes`], which are in the order of their ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// Names a buffer by its place in [`Graph::buffers`], which are in the order of their ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferId(pub u32);

impl NodeId {
    /// The place in the list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl BufferId {
    /// The place in the list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// The file's `Id`.
    pub id: u32,
    /// The file's `Op`.
    pub op: Box<str>,
    /// What it does.
    pub kind: Kind,
    /// Where it stands in the file.
    pub span: Span,
}

/// What a node does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Takes the bytes of a buffer.
    Alloc(BufferId),
    /// Gives them back.
    Free(BufferId),
    /// An operation.
    Op {
        /// What executes it; operations of one pipe run one after the other.
        pipe: Box<str>,
        /// How long it takes.
        cycles: u64,
        /// What it touches, each buffer once, as the file lists them.
        bufs: Vec<BufferId>,
    },
}

/// A buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// The file's `BufId`.
    pub id: u32,
    /// Bytes.
    pub size: u64,
    /// Its type.
    pub pool: PoolId,
    /// Its `ALLOC`.
    pub alloc: NodeId,
    /// Its `FREE`.
    pub free: NodeId,
}

/// An NPU graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// By id.
    pub nodes: Vec<Node>,
    /// By id.
    pub buffers: Vec<Buffer>,
    /// As the file gives them.
    pub edges: Vec<(NodeId, NodeId)>,
}

impl Graph {
    /// A node as messages name it.
    pub fn name(&self, node: NodeId) -> String {
        let node = &self.nodes[node.index()];
        format!("node {} ({})", node.id, node.op)
    }

    /// The buffers that a node touches.
    pub fn bufs(&self, node: NodeId) -> &[BufferId] {
        match &self.nodes[node.index()].kind {
            Kind::Op { bufs, .. } => bufs,
            Kind::Alloc(buffer) | Kind::Free(buffer) => std::slice::from_ref(buffer),
        }
    }
}

/// Reads a graph.
///
/// # Errors
/// All that is wrong with the file, each with its node and its place: fields that are missing or contradict each other, ids given twice,
/// buffers and nodes that do not exist, negative sizes, unknown buffer types.
pub fn read(bytes: &[u8]) -> Result<Graph, Vec<Diagnostic>> {
    let records = json::read(bytes)?;
    let mut errors = Errors::default();
    let places = places(&records.nodes, &mut errors);
    errors.done()?;
    let mut reader = Reader {
        places: &places,
        buffers: FxHashMap::default(),
        broken: FxHashSet::default(),
        graph: Graph::default(),
        errors: Errors::default(),
    };
    reader.buffers(&records.nodes);
    reader.nodes(&records.nodes);
    reader.edges(&records.edges);
    reader.sums();
    reader.errors.done()?;
    Ok(reader.graph)
}

/// Nodes in the order of their ids: by place in the result, the id and the place in the file.
fn places(nodes: &[Placed<json::Node>], errors: &mut Errors) -> Vec<(u32, usize)> {
    let mut places = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        match node.record.id.map(|id| (id, u32::try_from(id))) {
            Some((_, Ok(id))) => places.push((id, at)),
            Some((id, Err(_))) => {
                errors.push(|| Diagnostic::error(node.span, format!("`Id` {id} is not between 0 and 2^32-1")));
            }
            None => errors.push(|| Diagnostic::error(node.span, format!("entry {at} of `Nodes` has no `Id`"))),
        }
    }
    places.sort_unstable();
    for pair in places.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        errors.push(|| {
            Diagnostic::error(nodes[pair[1].1].span, format!("`Id` {} is given twice", pair[1].0))
                .related(nodes[pair[0].1].span, "given first here")
        });
    }
    places
}

struct Reader<'a> {
    places: &'a [(u32, usize)],
    /// By the file's id.
    buffers: FxHashMap<u32, BufferId>,
    /// Buffers, by what the file calls them, of which an `ALLOC` or a `FREE` is wrong or missing: that has been said.
    broken: FxHashSet<i64>,
    graph: Graph,
    errors: Errors,
}

/// The `ALLOC` or the `FREE` of a buffer.
#[derive(Clone, Copy)]
struct Event {
    buffer: u32,
    node: NodeId,
    size: u64,
    pool: PoolId,
    span: Span,
}

impl Reader<'_> {
    fn wrong(&mut self, node: &Placed<json::Node>, what: impl FnOnce(String) -> String) {
        self.errors.push(|| {
            let op = node.record.op.as_deref().unwrap_or("?");
            let name = format!("node {} ({op})", node.record.id.unwrap_or_default());
            Diagnostic::error(node.span, what(name))
        });
    }

    /// All buffers, each with one `ALLOC` and one `FREE` that agree.
    fn buffers(&mut self, nodes: &[Placed<json::Node>]) {
        let (mut allocs, mut frees): (Vec<Event>, Vec<Event>) = (Vec::new(), Vec::new());
        for (number, (_, at)) in self.places.iter().enumerate() {
            let node = &nodes[*at];
            let list = match node.record.op.as_deref() {
                Some("ALLOC") => &mut allocs,
                Some("FREE") => &mut frees,
                _ => continue,
            };
            match self.event(node, NodeId(number as u32)) {
                Some(event) => list.push(event),
                // What follows from it is no fault of its own.
                None => drop(node.record.buf.map(|buf| self.broken.insert(buf))),
            }
        }
        let by_buffer = |event: &Event| (event.buffer, event.node);
        allocs.sort_unstable_by_key(by_buffer);
        frees.sort_unstable_by_key(by_buffer);
        for (list, what) in [(&mut allocs, "ALLOC"), (&mut frees, "FREE")] {
            for pair in list.windows(2).filter(|pair| pair[0].buffer == pair[1].buffer) {
                self.errors.push(|| {
                    Diagnostic::error(pair[1].span, format!("buffer {} has two {what} nodes", pair[1].buffer))
                        .related(pair[0].span, "the other one")
                });
            }
            list.dedup_by_key(|event| event.buffer);
        }
        let mut frees = frees.into_iter().peekable();
        for alloc in allocs {
            while let Some(free) = frees.next_if(|free| free.buffer < alloc.buffer) {
                self.alone(free, "ALLOC");
            }
            match frees.next_if(|free| free.buffer == alloc.buffer) {
                None => self.alone(alloc, "FREE"),
                Some(free) => self.buffer(alloc, free),
            }
        }
        for free in frees {
            self.alone(free, "ALLOC");
        }
    }

    fn alone(&mut self, event: Event, missing: &str) {
        if !self.broken.insert(event.buffer.into()) {
            return;
        }
        self.errors.push(|| Diagnostic::error(event.span, format!("buffer {} has no {missing} node", event.buffer)));
    }

    fn buffer(&mut self, alloc: Event, free: Event) {
        if (alloc.size, alloc.pool) != (free.size, free.pool) {
            self.errors.push(|| {
                let what = |event: Event| format!("{} bytes in {}", event.size, event.pool.pool().name);
                let message =
                    format!("buffer {} is allocated with {} and freed with {}", alloc.buffer, what(alloc), what(free));
                Diagnostic::error(free.span, message).related(alloc.span, "allocated here")
            });
        }
        self.buffers.insert(alloc.buffer, BufferId(self.graph.buffers.len() as u32));
        let Event { buffer: id, size, pool, node, .. } = alloc;
        self.graph.buffers.push(Buffer { id, size, pool, alloc: node, free: free.node });
    }

    /// An `ALLOC` or a `FREE` with all its fields.
    fn event(&mut self, node: &Placed<json::Node>, id: NodeId) -> Option<Event> {
        let record = &node.record;
        let buffer = match record.buf.map(|buf| (buf, u32::try_from(buf))) {
            Some((_, Ok(buffer))) => Some(buffer),
            Some((buf, Err(_))) => {
                self.wrong(node, |name| format!("{name}: `BufId` {buf} is not between 0 and 2^32-1"));
                None
            }
            None => {
                self.wrong(node, |name| format!("{name} has no `BufId`"));
                None
            }
        };
        let size = match record.size.map(|size| (size, u64::try_from(size))) {
            Some((_, Ok(size))) => Some(size),
            Some((size, Err(_))) => {
                self.wrong(node, |name| format!("{name}: `Size` {size} is negative"));
                None
            }
            None => {
                self.wrong(node, |name| format!("{name} has no `Size`"));
                None
            }
        };
        let pool = match record.pool.as_deref().map(|pool| (pool, PoolId::of(pool))) {
            Some((_, Some(pool))) => Some(pool),
            Some((pool, None)) => {
                self.wrong(node, |name| format!("{name}: there is no buffer type `{pool}`, only {}", pools::names()));
                None
            }
            None => {
                self.wrong(node, |name| format!("{name} has no `Type`"));
                None
            }
        };
        Some(Event { buffer: buffer?, node: id, size: size?, pool: pool?, span: node.span })
    }

    fn nodes(&mut self, nodes: &[Placed<json::Node>]) {
        for (id, at) in self.places {
            let node = &nodes[*at];
            let kind = match node.record.op.as_deref() {
                None => {
                    self.wrong(node, |_| format!("node {id} has no `Op`"));
                    continue;
                }
                Some("ALLOC" | "FREE") => self.memory(node),
                Some(_) => self.operation(node),
            };
            let op = node.record.op.clone().unwrap_or_default().into();
            // With an error anywhere the graph is not handed out: the kind of a broken node does not matter.
            let kind = kind.unwrap_or(Kind::Alloc(BufferId(0)));
            self.graph.nodes.push(Node { id: *id, op, kind, span: node.span });
        }
    }

    fn memory(&mut self, node: &Placed<json::Node>) -> Option<Kind> {
        if node.record.bufs.is_some() {
            self.wrong(node, |name| format!("{name} has `Bufs`, which only operations have"));
        }
        let buffer = *self.buffers.get(&u32::try_from(node.record.buf?).ok()?)?;
        Some(if node.record.op.as_deref() == Some("ALLOC") { Kind::Alloc(buffer) } else { Kind::Free(buffer) })
    }

    fn operation(&mut self, node: &Placed<json::Node>) -> Option<Kind> {
        let record = &node.record;
        if record.buf.is_some() {
            self.wrong(node, |name| format!("{name} has `BufId`, which only ALLOC and FREE have"));
        }
        let cycles = match record.cycles.map(|cycles| (cycles, u64::try_from(cycles))) {
            Some((_, Ok(cycles))) => Some(cycles),
            Some((cycles, Err(_))) => {
                self.wrong(node, |name| format!("{name}: `Cycles` {cycles} is negative"));
                None
            }
            None => {
                self.wrong(node, |name| format!("{name} has no `Cycles`"));
                None
            }
        };
        if record.pipe.is_none() {
            self.wrong(node, |name| format!("{name} has no `Pipe`"));
        }
        let Some(list) = &record.bufs else {
            self.wrong(node, |name| format!("{name} has no `Bufs`"));
            return None;
        };
        let mut bufs: Vec<BufferId> = Vec::with_capacity(list.len());
        let mut seen = FxHashSet::default();
        for buf in list {
            match u32::try_from(*buf).ok().and_then(|buf| self.buffers.get(&buf).copied()) {
                Some(buffer) => bufs.extend(seen.insert(buffer).then_some(buffer)),
                None if self.broken.contains(buf) => {}
                None => self.wrong(node, |name| format!("{name} touches buffer {buf}, which has no ALLOC")),
            }
        }
        Some(Kind::Op { pipe: record.pipe.as_deref()?.into(), cycles: cycles?, bufs })
    }

    /// Sizes and cycles add up to less than 2^63, so that no sum of them overflows later.
    fn sums(&mut self) {
        let limit = |sum: u64, more: u64| sum.checked_add(more).filter(|sum| *sum <= i64::MAX as u64);
        if self.graph.buffers.iter().try_fold(0, |sum, buffer| limit(sum, buffer.size)).is_none() {
            self.errors.push(|| Diagnostic::error(Span::default(), "the sizes add up to more than 2^63-1 bytes"));
        }
        let mut cycles = self.graph.nodes.iter().map(|node| match &node.kind {
            Kind::Op { cycles, .. } => *cycles,
            _ => 0,
        });
        if cycles.try_fold(0, limit).is_none() {
            self.errors.push(|| Diagnostic::error(Span::default(), "the cycles add up to more than 2^63-1"));
        }
    }

    fn edges(&mut self, edges: &[Placed<[i64; 2]>]) {
        let find = |id: i64| {
            let id = u32::try_from(id).ok()?;
            self.places.binary_search_by_key(&id, |(id, _)| *id).ok().map(|at| NodeId(at as u32))
        };
        for (number, edge) in edges.iter().enumerate() {
            let [from, to] = edge.record;
            match (find(from), find(to)) {
                (Some(a), Some(b)) => self.graph.edges.push((a, b)),
                (None, _) => self.errors.push(|| no_node(edge.span, number, from)),
                (_, None) => self.errors.push(|| no_node(edge.span, number, to)),
            }
        }
    }
}

fn no_node(span: Span, number: usize, id: i64) -> Diagnostic {
    Diagnostic::error(span, format!("edge {number} names node {id}, which does not exist"))
}
