//! Steps: when each operation of a function runs.
//!
//! The body of a function is laid out flat, in pre-order through nested bodies. Every operation takes one step, but terminators and
//! constants take none. An operation with bodies spans `[begin, end)`, from its own step to one past the last step inside. A body
//! that describes what one kernel computes (`neap.fused`, `linalg.generic`) is not entered: the whole is one step.
//!
//! Sound because control flow is structured: each body is one block, so text order is an order of execution. A function with branches
//! between blocks is refused. Linear time; nesting costs no stack.

use neap_ir::diag::Diagnostic;
use neap_ir::facts::{Facts, OpFacts, Role, Run};
use neap_ir::{BlockId, Module, OpId};
use rustc_hash::FxHashMap;

/// Half-open steps `[begin, end)`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Steps {
    /// The first step inside.
    pub begin: u32,
    /// The first step behind.
    pub end: u32,
}

impl Steps {
    /// The steps from `begin` up to `end`.
    pub fn new(begin: u32, end: u32) -> Steps {
        Steps { begin, end }
    }

    /// The smallest range that covers both.
    pub fn hull(self, other: Steps) -> Steps {
        Steps { begin: self.begin.min(other.begin), end: self.end.max(other.end) }
    }

    /// Whether a step is inside.
    pub fn contains(self, step: u32) -> bool {
        self.begin <= step && step < self.end
    }

    /// Whether both share a step.
    pub fn meets(self, other: Steps) -> bool {
        self.begin.max(other.begin) < self.end.min(other.end)
    }
}

/// An operation of the timeline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EntryId(pub u32);

/// A body of the timeline; 0 is the function's own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BodyId(pub u32);

impl EntryId {
    /// The id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl BodyId {
    /// The id as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an operation is to the timeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// It takes a step.
    Step,
    /// It has no step: its results are resident.
    Constant,
    /// It has no step: it ends a body and hands values out.
    Terminator,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Entry<'f> {
    /// The operation.
    pub op: OpId,
    /// What is known of it.
    pub facts: &'f OpFacts,
    /// What it is to the timeline.
    pub kind: Kind,
    /// Its steps; for an operation without a step, empty and where it stands.
    pub steps: Steps,
    /// The body that it stands in.
    pub body: BodyId,
    /// How its bodies run; [`Run::None`] when none was entered.
    pub run: Run,
    /// Its bodies, in the order of its regions.
    pub bodies: Vec<BodyId>,
    /// One past its last nested entry.
    pub last: EntryId,
}

/// A body: one block of operations.
#[derive(Clone, Debug)]
pub struct Body {
    /// The operation that it belongs to; none for the function's own.
    pub owner: Option<EntryId>,
    /// Which region of that operation.
    pub region: u32,
    /// The block.
    pub block: BlockId,
    /// How many bodies are around it.
    pub depth: u32,
    /// Steps inside.
    pub steps: Steps,
    /// The entries, in order.
    pub entries: Vec<EntryId>,
}

/// The operations of a function, flat.
#[derive(Clone, Debug)]
pub struct Timeline<'f> {
    /// The function.
    pub func: OpId,
    /// In pre-order.
    pub entries: Vec<Entry<'f>>,
    /// In pre-order; the function's own first.
    pub bodies: Vec<Body>,
    /// The operation of each step.
    pub by_step: Vec<EntryId>,
    index: FxHashMap<OpId, EntryId>,
}

impl<'f> Timeline<'f> {
    /// Lays out a function.
    ///
    /// # Errors
    /// A region has several blocks.
    pub fn new(module: &Module, func: OpId, facts: &'f Facts) -> Result<Timeline<'f>, Diagnostic> {
        let mut build = Build { module, facts, timeline: Timeline::empty(func), frames: Vec::new(), steps: 0 };
        build.open(func, 0, None)?;
        while let Some(frame) = build.frames.last_mut() {
            match frame.next {
                Some(op) => {
                    frame.next = module.op(op).next();
                    build.enter(op)?;
                }
                None => build.close()?,
            }
        }
        Ok(build.timeline)
    }

    fn empty(func: OpId) -> Timeline<'f> {
        let (entries, bodies, by_step) = (Vec::new(), Vec::new(), Vec::new());
        Timeline { func, entries, bodies, by_step, index: FxHashMap::default() }
    }

    /// How many steps there are.
    pub fn len(&self) -> u32 {
        self.by_step.len() as u32
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.by_step.is_empty()
    }

    /// Where values that stay to the end die: a run without steps still holds its arguments in "step 0".
    pub fn end(&self) -> u32 {
        self.len().max(1)
    }

    /// An entry.
    pub fn entry(&self, entry: EntryId) -> &Entry<'f> {
        neap_ir::work::count(1);
        &self.entries[entry.index()]
    }

    /// A body.
    pub fn body(&self, body: BodyId) -> &Body {
        &self.bodies[body.index()]
    }

    /// The entry of an operation; none for one that is not in the function, or inside a kernel.
    pub fn find(&self, op: OpId) -> Option<EntryId> {
        self.index.get(&op).copied()
    }

    /// All entries with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (EntryId, &Entry<'f>)> {
        self.entries.iter().enumerate().map(|(at, entry)| (EntryId(at as u32), entry))
    }

    /// How the body's own operation runs its bodies; [`Run::Once`] for the function.
    pub fn run_of(&self, body: BodyId) -> Run {
        self.body(body).owner.map_or(Run::Once, |owner| self.entry(owner).run)
    }
}

struct Frame {
    body: BodyId,
    next: Option<OpId>,
}

struct Build<'a, 'f> {
    module: &'a Module,
    facts: &'f Facts,
    timeline: Timeline<'f>,
    frames: Vec<Frame>,
    steps: u32,
}

impl Build<'_, '_> {
    /// Starts the first region of `op` from `region` on that has a block; says whether there was one.
    fn open(&mut self, op: OpId, region: usize, owner: Option<EntryId>) -> Result<bool, Diagnostic> {
        for region in region..self.module.op_regions(op).len() {
            let [block, rest @ ..] = self.module.region_blocks(op, region) else { continue };
            if !rest.is_empty() {
                let message =
                    format!("`{}` has several blocks, and steps need structured control flow", self.module.op_name(op));
                let help =
                    "write branches and loops as `scf.if`, `scf.while`, `neap.if`, ... (mlir-opt --lift-cf-to-scf)";
                return Err(Diagnostic::error(self.module.op(op).span, message).help(help));
            }
            let body = BodyId(self.timeline.bodies.len() as u32);
            let (depth, steps) = (self.frames.len() as u32, Steps::new(self.steps, self.steps));
            let entries = Vec::new();
            self.timeline.bodies.push(Body { owner, region: region as u32, block: *block, depth, steps, entries });
            if let Some(owner) = owner {
                self.timeline.entries[owner.index()].bodies.push(body);
            }
            self.frames.push(Frame { body, next: self.module.block_ops(*block).next() });
            return Ok(true);
        }
        Ok(false)
    }

    fn enter(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let module = self.module;
        let facts = self.facts.of(module.op_name(op), module.data_operand_count(op), module.data_results(op).len());
        let kind = match facts.role {
            Role::Constant => Kind::Constant,
            Role::Yield if module.op(op).next().is_none() => Kind::Terminator,
            _ => Kind::Step,
        };
        let id = EntryId(self.timeline.entries.len() as u32);
        let body = self.frames[self.frames.len() - 1].body;
        let (begin, end) = (self.steps, self.steps + u32::from(kind == Kind::Step));
        let steps = Steps::new(begin, end);
        let last = EntryId(id.0 + 1);
        self.timeline.entries.push(Entry { op, facts, kind, steps, body, run: Run::None, bodies: Vec::new(), last });
        self.timeline.bodies[body.index()].entries.push(id);
        self.timeline.index.insert(op, id);
        if kind == Kind::Step {
            self.timeline.by_step.push(id);
            self.steps += 1;
        }
        if kind == Kind::Step && facts.body.run != Run::Kernel && self.open(op, 0, Some(id))? {
            self.timeline.entries[id.index()].run = facts.runs();
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Diagnostic> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let body = &mut self.timeline.bodies[frame.body.index()];
        // A body without steps stands behind the step of its own operation.
        body.steps.end = self.steps;
        let (owner, region) = (body.owner, body.region);
        let Some(owner) = owner else { return Ok(()) };
        let op = self.timeline.entries[owner.index()].op;
        if !self.open(op, region as usize + 1, Some(owner))? {
            let last = EntryId(self.timeline.entries.len() as u32);
            let entry = &mut self.timeline.entries[owner.index()];
            entry.last = last;
            entry.steps.end = self.steps;
        }
        Ok(())
    }
}
