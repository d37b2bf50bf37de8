//! Which operations of a block must keep their order because of what they touch, beyond what values already say.
//!
//! Per resource an access waits for the last write; a write waits for the reads since it, too. Of these edges those that data flow,
//! tokens or other edges imply are left out ([`reduce()`]). Operations in nested bodies count as the operation around them that stands
//! in the block; what happens inside a body is a question of its own. So the edges of all blocks together order everything.
//!
//! Terminators need no edge: nothing can pass them. An access to *any* variable or buffer counts as a write of all of them, also a
//! read: else every later write of one would have to wait for every such read, and edges would be quadratic.

mod reduce;

use crate::callees::facts_of;
use crate::effects::{Effects, FuncEffects, Resource};
use neap_ir::facts::{Access, Facts, Role};
use neap_ir::{BlockId, Module, OpId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;

pub use reduce::{Flow, reduce};

/// `after` must wait for `before`; both stand in the same block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lock {
    /// What must come first.
    pub before: OpId,
    /// What must wait.
    pub after: OpId,
    /// What `before` does that matters.
    pub first: Touch,
    /// What `after` does that matters.
    pub then: Touch,
}

/// An access to a resource, as a remark words it: `write @h`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Touch {
    /// Read or write.
    pub access: Access,
    /// Of what.
    pub resource: Resource,
}

/// The edges that order effects in a function and that no value says yet, in the order of the waiting operations. After
/// `lock-effects` these are the ones of operations that cannot carry tokens ([`carries_tokens`]); whoever reorders needs them all.
/// The number is how many may be superfluous, because looking for a detour had become too expensive.
#[must_use]
pub fn missing(module: &Module, facts: &Facts, func: OpId, effects: &FuncEffects) -> (Vec<Lock>, u64) {
    let mut locks = Vec::new();
    let mut unreduced = 0;
    let mut flow = None;
    for block in blocks(module, func) {
        let candidates = candidates(module, facts, block, effects);
        if !candidates.is_empty() {
            let flow = flow.get_or_insert_with(|| Flow::of(module, func));
            let (kept, rest) = reduce(module, block, flow, candidates);
            locks.extend(kept);
            unreduced += rest;
        }
    }
    (locks, unreduced)
}

/// All blocks of a function, outer ones first.
pub(crate) fn blocks(module: &Module, func: OpId) -> Vec<BlockId> {
    let mut ops = vec![func];
    ops.extend(module.walk(func));
    let regions = ops.iter().flat_map(|op| module.op_regions(*op));
    regions.flat_map(|region| module.blocks(*region).iter().copied()).collect()
}

/// Whether an operation ends its block and hands control on.
#[must_use]
pub fn is_terminator(module: &Module, facts: &Facts, op: OpId) -> bool {
    let last = module.op(op).next().is_none();
    let known = facts.get(module.op_name(op)).is_some();
    let yields = facts_of(module, facts, op).role == Role::Yield;
    last && (yields || !module.successors(op).is_empty() || !known && module.results(op).is_empty())
}

/// Whether an operation may have token operands and results. MLIR's own dialects fix the operands of their operations; on any other
/// one mlir-opt accepts what it does not know.
#[must_use]
pub fn carries_tokens(module: &Module, facts: &Facts, op: OpId) -> bool {
    let name = module.op_name(op);
    let dialect = name.split_once('.').map_or(name, |(dialect, _)| dialect);
    !REGISTERED.contains(&dialect) && !is_terminator(module, facts, op)
}

/// The dialects that `mlir-opt` verifies. Source: MLIR `InitAllDialects.h`, LLVM 22.
const REGISTERED: &[&str] = &[
    "acc",
    "affine",
    "amdgpu",
    "amx",
    "arith",
    "arm_neon",
    "arm_sme",
    "arm_sve",
    "async",
    "bufferization",
    "builtin",
    "cf",
    "complex",
    "dlti",
    "emitc",
    "func",
    "gpu",
    "index",
    "irdl",
    "linalg",
    "llvm",
    "math",
    "memref",
    "ml_program",
    "mpi",
    "nvgpu",
    "nvvm",
    "omp",
    "pdl",
    "pdl_interp",
    "ptr",
    "quant",
    "rocdl",
    "scf",
    "shape",
    "shard",
    "smt",
    "sparse_tensor",
    "spirv",
    "tensor",
    "tosa",
    "transform",
    "ub",
    "vector",
    "wasmssa",
    "x86vector",
    "xegpu",
    "xevm",
];

/// Edges of one block: each access to the last write, each write to the reads since. Their number is linear in that of accesses.
#[must_use]
pub fn candidates(module: &Module, facts: &Facts, block: BlockId, effects: &FuncEffects) -> Vec<Lock> {
    let mut tracker = Tracker::default();
    let mut locks: Vec<Lock> = Vec::new();
    for op in module.block_ops(block) {
        let Some(effects) = effects.get(op).filter(|_| !is_terminator(module, facts, op)) else { continue };
        let mut found: Vec<Lock> = Vec::new();
        for (resource, access) in effects {
            let then = Touch { access: *access, resource: resource.clone() };
            tracker.waits(&then, |(before, first)| {
                found.push(Lock { before: *before, after: op, first: first.clone(), then: then.clone() });
            });
        }
        tracker.record(op, effects);
        found.sort_by_key(|lock| lock.before);
        found.dedup_by_key(|lock| lock.before);
        locks.extend(found);
    }
    locks
}

/// An operation and what it did.
type Event = (OpId, Touch);

/// Since the last access to everything in a class: per resource the last write and the reads since.
#[derive(Default)]
struct Tracker {
    classes: [Class; 3],
}

#[derive(Default)]
struct Class {
    barrier: Option<Event>,
    resources: BTreeMap<Resource, History>,
}

#[derive(Default)]
struct History {
    write: Option<Event>,
    reads: Vec<Event>,
}

/// The classes that a resource belongs to, and whether it is all of them.
fn classes(resource: &Resource) -> (std::ops::Range<usize>, bool) {
    match resource {
        Resource::Variable(_) => (0..1, false),
        Resource::AnyVariable => (0..1, true),
        Resource::Memory(_) => (1..2, false),
        Resource::AnyMemory => (1..2, true),
        Resource::Rng | Resource::Io | Resource::Stats => (2..3, false),
        Resource::All => (0..3, true),
    }
}

impl Tracker {
    /// What an access must wait for.
    fn waits(&self, touch: &Touch, mut found: impl FnMut(&Event)) {
        let (classes, whole) = classes(&touch.resource);
        for class in &self.classes[classes] {
            let all = class.resources.values().filter(|_| whole);
            let one = class.resources.get(&touch.resource).filter(|_| !whole);
            let mut any = false;
            for history in all.chain(one) {
                any = true;
                let reads = if whole || touch.access == Access::Write { history.reads.as_slice() } else { &[] };
                let before = if reads.is_empty() { history.write.as_ref().or(class.barrier.as_ref()) } else { None };
                reads.iter().chain(before).for_each(&mut found);
            }
            if !any {
                class.barrier.iter().for_each(&mut found);
            }
        }
    }

    fn record(&mut self, op: OpId, effects: &Effects) {
        for (resource, access) in effects {
            let event = (op, Touch { access: *access, resource: resource.clone() });
            let (classes, whole) = classes(resource);
            for class in &mut self.classes[classes] {
                if whole {
                    *class = Class { barrier: Some(event.clone()), resources: BTreeMap::new() };
                } else if *access == Access::Write {
                    class.resources.insert(resource.clone(), History { write: Some(event.clone()), reads: Vec::new() });
                } else {
                    class.resources.entry(resource.clone()).or_default().reads.push(event.clone());
                }
            }
        }
    }
}

impl Lock {
    /// ``"`write @h` of `neap.write` waits for `read @h` of `neap.read`"``.
    #[must_use]
    pub fn explain(&self, module: &Module) -> String {
        let (first, then) = (self.first.word(module), self.then.word(module));
        let (before, after) = (module.op_name(self.before), module.op_name(self.after));
        format!("`{then}` of `{after}` waits for `{first}` of `{before}`")
    }
}

impl Touch {
    fn word(&self, module: &Module) -> String {
        format!("{} {}", self.access, self.resource.word(module))
    }
}

impl Resource {
    /// The resource by the program's own name for it.
    #[must_use]
    pub fn word(&self, module: &Module) -> String {
        match self {
            Resource::Memory(value) => match module.value(*value).name {
                Some(name) => format!("%{}", module.text(name)),
                None => "a buffer".to_owned(),
            },
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Rng => f.write_str("random numbers"),
            Resource::Io => f.write_str("the outside world"),
            Resource::Stats => f.write_str("statistics"),
            Resource::Variable(name) => write!(f, "@{name}"),
            Resource::AnyVariable => f.write_str("any variable"),
            Resource::Memory(_) => f.write_str("a buffer"),
            Resource::AnyMemory => f.write_str("any buffer"),
            Resource::All => f.write_str("anything"),
        }
    }
}

/// Positions of the operations of a block.
pub(crate) fn positions(module: &Module, block: BlockId) -> FxHashMap<OpId, u32> {
    module.block_ops(block).zip(0..).collect()
}

#[cfg(test)]
mod tests;
