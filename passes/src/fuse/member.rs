//! Which operations fusion may touch, and what it needs to know of them.

use super::simplify::Movement;
use crate::callees::facts_of;
use crate::params;
use crate::pass::Context;
use crate::profile::OpSet;
use crate::shape::{Shaped, only_moves};
use neap_ir::facts::{Access, Facts, Key, Role};
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

/// What an operation does, if it only moves the elements of one operand.
pub(super) fn movement(module: &Module, facts: &Facts, op: OpId) -> Option<Movement> {
    let row = facts_of(module, facts, op);
    let result = *module.results(op).first()?;
    let data = match row.role {
        Role::Reshape => row.view_operand(0).unwrap_or(0),
        _ => row.data_operand(),
    };
    let operand = module.data_operands(op).nth(data)?;
    let (to, from) = (Shaped::of(module, result)?, Shaped::of(module, operand)?);
    if !only_moves(module, op) || !to.dense || !from.dense {
        return None;
    }
    let same_type = module.value_ty(result) == module.value_ty(operand) && from.same_sizes(&to);
    let whole = module.value_bytes(result).is_ok_and(|bytes| module.value_bytes(operand) == Ok(bytes));
    let movement = match row.role {
        Role::Reshape if whole => Movement::Bits(operand),
        Role::Transpose => {
            let perm = params::permutation(module, facts, op, row, from.dims.len())?;
            let turned = perm.iter().map(|axis| from.dims[*axis]).eq(to.dims.iter().copied());
            let perm = perm.into_iter().map(|axis| axis as u32).collect();
            (turned && whole).then_some(Movement::Perm(operand, perm))?
        }
        // A single operand joined with nothing, a slice of everything, one part of a whole.
        Role::Concat if same_type && module.data_operands(op).count() == 1 => Movement::Bits(operand),
        Role::Slice | Role::Split if same_type && row.param(Key::Stride).is_none() => Movement::Bits(operand),
        Role::Broadcast if same_type && row.param(Key::Dims).is_none() => Movement::Bits(operand),
        _ => return None,
    };
    Some(movement)
}
