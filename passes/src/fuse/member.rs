//! Which operations fusion may touch, and what it needs to know of them.

use crate::callees::facts_of;
use crate::pass::Context;
use crate::profile::OpSet;
use neap_ir::facts::{Access, Facts, Role};
use neap_ir::{BlockId, Module, OpId, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Attributes by which the user says something of an operation as it stands: it stays as it is.
const ASKED: &[&str] = &[
    "neap.keep",
    "neap.pin",
    "neap.class",
    "neap.group",
    "neap.reuse",
    "neap.resident",
    "neap.view",
    "neap.may_inplace",
    "neap.may_place",
    "neap.inplace",
    "neap.place",
    "sym_name",
];

/// The operations of a function that fusion may touch: pure, of one tensor result, without tokens and bodies, in the profile's set.
/// Everything else is opaque to it.
pub(super) struct Members {
    ops: FxHashSet<OpId>,
    /// Values that lie in a variable's state.
    aliases: FxHashSet<ValueId>,
    /// By operation of a block: how many before it write anything.
    writes: FxHashMap<OpId, u32>,
}

impl Members {
    pub(super) fn of(module: &Module, func: OpId, set: &OpSet, cx: &Context<'_>) -> Members {
        let effects = cx.effects(module, func);
        let quiet = cx.effects_without_aliases(module, func);
        let touches = |op: &OpId| {
            let free = quiet.get(*op).is_none() && set.contains(module.op_name(*op));
            let asked = ASKED.iter().any(|key| module.attr(*op, key).is_some());
            free && !asked && plain(module, cx.facts, *op)
        };
        let walk = module.walk(func);
        let ops = walk.iter().copied().filter(touches).collect();
        let mut writes = FxHashMap::default();
        if !effects.aliases.is_empty() {
            let mut count: FxHashMap<BlockId, u32> = FxHashMap::default();
            for op in walk {
                let Some(block) = module.parent_block(op) else { continue };
                let count = count.entry(block).or_default();
                writes.insert(op, *count);
                *count +=
                    u32::from(quiet.get(op).is_some_and(|found| found.values().any(|access| *access == Access::Write)));
            }
        }
        Members { ops, aliases: effects.aliases.into_keys().collect(), writes }
    }

    pub(super) fn contains(&self, op: OpId) -> bool {
        self.ops.contains(&op)
    }

    /// Operations made in place of members are members.
    pub(super) fn extend(&mut self, ops: impl IntoIterator<Item = OpId>) {
        self.ops.extend(ops);
    }

    /// Whether running `op` as late as `later` could read a view of state after the state has changed.
    pub(super) fn sees_a_write(&self, module: &Module, op: OpId, later: OpId) -> bool {
        let reads = module.operands(op).any(|value| self.aliases.contains(&value));
        reads && self.writes.get(&op) != self.writes.get(&later)
    }
}

/// One data result of tensor type, nothing else.
fn plain(module: &Module, facts: &Facts, op: OpId) -> bool {
    let tensor = |value: &ValueId| matches!(module.ty(module.value_ty(*value)), Type::Tensor { .. });
    let alone = module.op_regions(op).is_empty() && module.successors(op).is_empty();
    // A computed shape is known as such by the operation that reads it: it cannot go through a fused one.
    let constant =
        |value| module.defining_op(value).is_some_and(|from| facts_of(module, facts, from).role == Role::Constant);
    let values = matches!(module.results(op), [result] if tensor(result))
        && module.operands(op).all(|value| tensor(&value) || constant(value));
    let fixed = [Role::Constant, Role::Declare, Role::Yield, Role::Handle, Role::Alloc, Role::Token];
    alone && values && !fixed.contains(&facts_of(module, facts, op).role)
}
