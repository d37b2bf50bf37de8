//! Which operations become one: a value that only the operations of one group read, element by element, is not made.
//!
//! Backwards over a block: an operation joins the group of its readers if all of them are in the same one and read it in step with
//! their results. So of a group only the last operation's result is seen outside. No cycle can close: a path that leaves the group starts
//! at that result, and what reads it comes later than all of the group.

use super::member::Members;
use crate::callees::facts_of;
use crate::pass::Context;
use crate::shape::Shaped;
use neap_ir::facts::{Facts, Role};
use neap_ir::{BlockId, Module, OpId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A block's operations by group. A group is named by its last operation.
#[derive(Clone, Default)]
pub(super) struct Groups {
    /// Per member of a group of two or more: the group's last operation.
    pub(super) last: FxHashMap<OpId, OpId>,
    /// Operations that joined the group of their readers, in the order of the block, backwards.
    pub(super) joined: Vec<OpId>,
    /// Operations that could not, and why.
    pub(super) apart: Vec<(OpId, Apart)>,
    /// Groups that have a heavy operation.
    heavy: FxHashSet<OpId>,
}

/// Why an operation does not join an elementwise reader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Apart {
    /// Somebody outside of the group of `reader` reads it as well.
    ReadOutside { reader: OpId, outside: OpId },
    /// `reader` reads its elements more than once.
    ReadAgain { reader: OpId },
    /// The group of `reader` has a heavy operation already.
    SecondHeavy { reader: OpId },
    /// It reads a variable's state, which changes before `reader`.
    State { reader: OpId },
}

/// Whether the elements of the results are made one by one from elements of operands.
pub(super) fn is_elementwise(role: Role) -> bool {
    matches!(role, Role::Elementwise | Role::Quantize | Role::Dequantize)
}

/// Whether elementwise operations can follow while the result is made.
fn is_heavy(role: Role) -> bool {
    matches!(role, Role::Conv | Role::Matmul | Role::Pool | Role::Reduce | Role::Resize)
}

impl Groups {
    /// Groups the operations of a block, those in `refused` apart from their readers.
    pub(super) fn of(
        module: &Module,
        block: BlockId,
        members: &Members,
        refused: &FxHashSet<OpId>,
        cx: &Context<'_>,
    ) -> Groups {
        let mut groups = Groups::default();
        let ops: Vec<OpId> = module.block_ops(block).collect();
        for op in ops.iter().rev().filter(|op| members.contains(**op)) {
            let role = facts_of(module, cx.facts, *op).role;
            if !(is_elementwise(role) || is_heavy(role)) {
                continue;
            }
            match groups.home(module, block, members, *op, is_heavy(role), cx.facts) {
                Some(Ok(last)) if !refused.contains(op) => {
                    groups.last.insert(last, last);
                    groups.last.insert(*op, last);
                    groups.joined.push(*op);
                    if is_heavy(role) {
                        groups.heavy.insert(last);
                    }
                }
                Some(Err(why)) => groups.apart.push((*op, why)),
                _ => {}
            }
        }
        groups
    }

    /// The group that an operation joins; none if no reader is elementwise.
    fn home(
        &self,
        module: &Module,
        block: BlockId,
        members: &Members,
        op: OpId,
        heavy: bool,
        facts: &Facts,
    ) -> Option<Result<OpId, Apart>> {
        let result = module.results(op)[0];
        let elementwise = |reader: &OpId| {
            let inside = module.parent_block(*reader) == Some(block) && members.contains(*reader);
            inside && is_elementwise(facts_of(module, facts, *reader).role)
        };
        let uses = module.value(result).uses();
        // The order of uses has no meaning: the earliest operation by id decides what a message names.
        let reader = uses.iter().map(|usage| usage.op).filter(elementwise).min()?;
        let last = self.group(reader);
        let mut outside: Vec<OpId> = uses.iter().map(|usage| usage.op).filter(|op| self.group(*op) != last).collect();
        outside.sort_unstable();
        if let Some(outside) = outside.first().copied() {
            return Some(Err(Apart::ReadOutside { reader, outside }));
        }
        let streams = |usage: &neap_ir::Use| {
            let row = facts_of(module, facts, usage.op);
            let made = Shaped::of(module, module.results(usage.op)[0]);
            let same = Shaped::of(module, result)
                .zip(made)
                .is_some_and(|(from, to)| from.same_sizes(&to) && from.dense && to.dense);
            is_elementwise(row.role) && row.per_element(usage.operand as usize) && same
        };
        if !uses.iter().all(streams) {
            return Some(Err(Apart::ReadAgain { reader }));
        }
        if heavy && self.heavy.contains(&last) {
            return Some(Err(Apart::SecondHeavy { reader }));
        }
        if members.sees_a_write(module, op, last) {
            return Some(Err(Apart::State { reader }));
        }
        Some(Ok(last))
    }

    /// The last operation of the group of `op`; itself if it is alone.
    pub(super) fn group(&self, op: OpId) -> OpId {
        self.last.get(&op).copied().unwrap_or(op)
    }

    /// The groups of two or more, by their last operations, with their operations in the order of the block.
    pub(super) fn lists(&self, module: &Module, block: BlockId) -> Vec<(OpId, Vec<OpId>)> {
        let mut lists: FxHashMap<OpId, Vec<OpId>> = FxHashMap::default();
        for op in module.block_ops(block) {
            if let Some(last) = self.last.get(&op) {
                lists.entry(*last).or_default().push(op);
            }
        }
        module.block_ops(block).filter_map(|op| Some((op, lists.remove(&op)?))).collect()
    }
}

impl Apart {
    /// The reader and what to say, after "is not fused into READER".
    pub(super) fn explain(&self, module: &Module, op: OpId) -> (OpId, String) {
        match self {
            Apart::ReadOutside { reader, outside } => match path(module, *outside, *reader) {
                Some(path) => {
                    let mut names: Vec<&str> = std::iter::once(op).chain(path).map(|op| module.op_name(op)).collect();
                    if names.len() > NAMES {
                        names.splice(NAMES / 2..names.len() - NAMES / 2, ["..."]);
                    }
                    (*reader, format!("that would close a cycle, {}", names.join(" -> ")))
                }
                None => (*reader, format!("`{}` reads it too", module.op_name(*outside))),
            },
            Apart::ReadAgain { reader } => (*reader, "its elements are read more than once".to_owned()),
            Apart::SecondHeavy { reader } => (*reader, "there is a heavy operation already".to_owned()),
            Apart::State { reader } => (*reader, "the state that it reads has changed by then".to_owned()),
        }
    }
}

/// Operations of a path that a message names.
const NAMES: usize = 8;
/// Operations looked at for the path of a message.
const LOOK: usize = 64;

/// A path of values from one operation to another, both included, if a short look finds one.
fn path(module: &Module, from: OpId, to: OpId) -> Option<Vec<OpId>> {
    let mut before: FxHashMap<OpId, OpId> = FxHashMap::default();
    let mut open = vec![from];
    let mut at = 0;
    while let Some(op) = open.get(at).copied() {
        at += 1;
        if op == to {
            let mut path: Vec<OpId> = std::iter::successors(Some(op), |op| before.get(op).copied()).collect();
            path.reverse();
            return Some(path);
        }
        if open.len() > LOOK {
            return None;
        }
        let mut readers: Vec<OpId> =
            module.results(op).iter().flat_map(|value| module.value(*value).uses()).map(|usage| usage.op).collect();
        readers.sort_unstable();
        readers.dedup();
        for reader in readers {
            if reader != from && !before.contains_key(&reader) {
                before.insert(reader, op);
                open.push(reader);
            }
        }
    }
    None
}
