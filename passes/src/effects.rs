//! What the operations of a function touch: the effects of facts, brought down to the variables and buffers of the program.
//!
//! Facts speak of an attribute or an operand; [`FuncEffects`] follows it to the variable's name or the buffer's allocation, through
//! views and block arguments. What cannot be followed is *any* variable or *any* buffer, which conflicts with all of them. On top of
//! its own effects an operation has those of its regions and of the functions it runs; one that reads an alias of a variable's state
//! (`neap.read` as a view) reads the variable, and one that reads a buffer and says nothing of it reads it too.
//!
//! Sound because every step that loses track widens the resource. Distinct names are distinct variables, distinct allocations and
//! distinct arguments that neap places itself are distinct buffers; external buffers may be one another.

mod resolve;

use crate::callees::{called_by, facts_of};
use neap_ir::facts::{Access, Facts, Key, Role, Run};
use neap_ir::{Def, Module, OpId, ValueId};
use resolve::Resolve;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Something outside the values of the program that an operation may touch.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Resource {
    /// The random number generator.
    Rng,
    /// The outside world.
    Io,
    /// Statistics kept from run to run.
    Stats,
    /// The variable of this name.
    Variable(Box<str>),
    /// Some variable.
    AnyVariable,
    /// The buffer that this value was made with.
    Memory(ValueId),
    /// Some buffer.
    AnyMemory,
    /// Anything.
    All,
}

/// How an operation touches resources; `Write` where it reads and writes.
pub type Effects = BTreeMap<Resource, Access>;

/// The effects of all operations of a function.
#[derive(Debug, Default)]
pub struct FuncEffects {
    ops: FxHashMap<OpId, Effects>,
    /// Values that lie in a variable's state.
    pub aliases: FxHashMap<ValueId, Box<str>>,
}

/// What calls do, for the functions asked about so far. No pass gives a function effects that it has not, so it may be kept while passes run.
#[derive(Debug, Default)]
pub struct Summaries {
    known: RefCell<FxHashMap<OpId, Effects>>,
}

impl FuncEffects {
    /// The effects of `func` and all it runs.
    #[must_use]
    pub fn of(module: &Module, facts: &Facts, func: OpId) -> FuncEffects {
        Summaries::default().effects(module, facts, func, true)
    }

    /// The effects of an operation, its regions and the functions it runs; none if it is pure.
    #[must_use]
    pub fn get(&self, op: OpId) -> Option<&Effects> {
        self.ops.get(&op)
    }

    /// What a call of the function does: buffers of its own drop out.
    fn summary(&self, module: &Module, facts: &Facts, func: OpId) -> Effects {
        let mut sum = Effects::new();
        let top = module.entry(func).into_iter().flat_map(|block| module.block_ops(block));
        for (resource, access) in top.filter_map(|op| self.ops.get(&op)).flatten() {
            let own =
                |value| module.defining_op(value).is_some_and(|op| facts_of(module, facts, op).role == Role::Alloc);
            if !matches!(resource, Resource::Memory(value) if own(*value)) {
                add(&mut sum, resource.clone(), *access);
            }
        }
        sum
    }
}

/// Adds an effect; a write covers a read.
fn add(effects: &mut Effects, resource: Resource, access: Access) {
    let known = effects.entry(resource).or_insert(access);
    *known = (*known).max(access);
}

impl Summaries {
    /// The effects of `func` and all it runs. With `follow`, reading an alias of a variable's state reads the variable.
    #[must_use]
    pub fn effects(&self, module: &Module, facts: &Facts, func: OpId, follow: bool) -> FuncEffects {
        // Callees first, on a stack of our own. A circle of calls never gets here: the runner refuses it. Were there one, what closes it would
        // count as unknown.
        let mut open = vec![func];
        let mut entered: FxHashSet<OpId> = FxHashSet::default();
        while let Some(at) = open.last().copied() {
            let fresh = entered.insert(at);
            let wanted = if fresh { self.unknown(module, facts, at) } else { Vec::new() };
            let before = open.len();
            open.extend(wanted.into_iter().filter(|callee| !entered.contains(callee)));
            if open.len() > before {
                continue;
            }
            open.pop();
            if at != func && !self.known.borrow().contains_key(&at) {
                let found = one(module, facts, at, &self.known.borrow(), true);
                let summary = found.summary(module, facts, at);
                self.known.borrow_mut().insert(at, summary);
            }
        }
        one(module, facts, func, &self.known.borrow(), follow)
    }

    /// The callees of a function that have no summary yet.
    fn unknown(&self, module: &Module, facts: &Facts, func: OpId) -> Vec<OpId> {
        let known = self.known.borrow();
        let mut found = Vec::new();
        for op in module.walk(func) {
            let called = called_by(module, op, facts_of(module, facts, op));
            found.extend(called.into_iter().flatten().filter(|callee| !known.contains_key(callee)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn one(module: &Module, facts: &Facts, func: OpId, summaries: &FxHashMap<OpId, Effects>, follow: bool) -> FuncEffects {
    let ops = module.walk(func);
    let resolve = Resolve::new(module, facts);
    let aliases = if follow { aliases(&resolve, &ops) } else { FxHashMap::default() };
    let mut found = FuncEffects { ops: FxHashMap::default(), aliases };
    // Bodies before the operations around them.
    for op in ops.into_iter().rev() {
        let mut effects = found.ops.remove(&op).unwrap_or_default();
        own(&resolve, op, &found.aliases, &mut effects);
        called(&resolve, op, summaries, &mut effects);
        if effects.is_empty() {
            continue;
        }
        if let Some(around) = module.parent_op(op).filter(|around| *around != func) {
            let outer = found.ops.entry(around).or_default();
            effects.iter().for_each(|(resource, access)| add(outer, resource.clone(), *access));
        }
        found.ops.insert(op, effects);
    }
    found
}

/// Values that lie in a variable's state: reads declared as views, and all that may be a view of one.
fn aliases(resolve: &Resolve<'_>, ops: &[OpId]) -> FxHashMap<ValueId, Box<str>> {
    let module = resolve.module;
    let mut found: FxHashMap<ValueId, Box<str>> = FxHashMap::default();
    for op in ops {
        let facts = resolve.of(*op);
        if let Some(key) = facts.param(Key::Alias).and_then(|param| param.attr.as_deref())
            && module.attr(*op, key).is_some()
        {
            let variable = facts.effects.iter().map(|effect| resolve.resource(*op, &effect.resource));
            for resource in variable {
                if let (Some(Resource::Variable(name)), Some(result)) = (resource, module.results(*op).first()) {
                    found.insert(*result, name);
                }
            }
        }
        if found.is_empty() {
            continue;
        }
        for (index, result) in module.data_results(*op).iter().enumerate() {
            if let Some(name) = resolve.viewed(*op, index).and_then(|operand| found.get(&operand)) {
                found.insert(*result, name.clone());
            }
        }
        for region in module.op_regions(*op) {
            for arg in module.blocks(*region).first().into_iter().flat_map(|block| module.block_args(*block)) {
                if let Some(name) = resolve.bound(*arg).and_then(|operand| found.get(&operand)) {
                    found.insert(*arg, name.clone());
                }
            }
        }
    }
    found
}

/// The effects of an operation by itself.
fn own(resolve: &Resolve<'_>, op: OpId, aliases: &FxHashMap<ValueId, Box<str>>, effects: &mut Effects) {
    let module = resolve.module;
    let facts = resolve.of(op);
    for effect in &facts.effects {
        for resource in resolve.resources(op, &effect.resource) {
            add(effects, resource, effect.access);
        }
    }
    let views =
        |value: ValueId| (0..module.data_results(op).len()).any(|index| resolve.lies_in(op, index) == Some(value));
    // What is bound to the arguments of bodies is read there, if it is. A kernel's bodies are not looked into: it reads all that it is given.
    let bodies = !module.op_regions(op).is_empty() && facts.body.run != Run::Kernel;
    let count = if bodies { module.data_operand_count(op) } else { 0 };
    let bound: Vec<usize> = facts.body.args.below(count).collect();
    for (index, value) in module.data_operands(op).enumerate() {
        if facts.shape_operands.contains(index) {
            continue;
        }
        // A view counts as a reader as well: what only may be one copies until somebody says otherwise, and a copy reads.
        if let Some(name) = aliases.get(&value) {
            add(effects, Resource::Variable(name.clone()), Access::Read);
        }
        if resolve.is_buffer(value) && !views(value) && !bound.contains(&index) {
            let buffer = resolve.buffer(value);
            if facts.role == Role::Dealloc {
                add(effects, buffer, Access::Write);
            } else if !effects.contains_key(&buffer) {
                add(effects, buffer, Access::Read);
            }
        }
    }
}

/// The effects of the functions that an operation runs, in terms of the caller.
fn called(resolve: &Resolve<'_>, op: OpId, summaries: &FxHashMap<OpId, Effects>, effects: &mut Effects) {
    for callee in called_by(resolve.module, op, resolve.of(op)) {
        let Some(sum) = callee.and_then(|callee| summaries.get(&callee)) else {
            add(effects, Resource::All, Access::Write);
            continue;
        };
        for (resource, access) in sum {
            let resource = match resource {
                Resource::Memory(value) => match resolve.module.value(*value).def() {
                    Def::Arg(_, index) => resolve
                        .argument(op, index as usize)
                        .map_or(Resource::AnyMemory, |operand| resolve.buffer(operand)),
                    Def::Result(..) => Resource::AnyMemory,
                },
                other => other.clone(),
            };
            add(effects, resource, *access);
        }
    }
}
