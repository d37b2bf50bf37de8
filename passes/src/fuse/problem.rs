//! A block as the ordering solver sees it, for any grouping of its operations.
//!
//! An outline, made to compare groupings and no more: storages are values of the arena with what views them, in-place candidates those
//! of elementwise operations, and what a nested body holds is not looked into. Groupings are compared by the greedy's peak on it.

use super::group::{Groups, is_elementwise};
use crate::callees::facts_of;
use crate::effects::FuncEffects;
use crate::locks::{self, Flow, is_terminator};
use crate::pass::Context;
use crate::shape::Shaped;
use neap_ir::facts::Role;
use neap_ir::plan::IO;
use neap_ir::{Attr, BlockId, Def, Module, OpId, ValueId};
use neap_order::{InPlace, Op, OpId as Node, Options, Problem, Spec, Storage, StorageId, solve};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// What does not depend on the grouping.
pub(super) struct Outline<'a> {
    module: &'a Module,
    cx: &'a Context<'a>,
    /// The operations of the block that take a step.
    ops: Vec<OpId>,
    /// The value whose bytes a value of the arena has.
    owner: FxHashMap<ValueId, ValueId>,
    /// Values of the arena, each its own owner, in order.
    storages: Vec<ValueId>,
    /// By operation: the operations before it in the block that it, or its bodies, wait for.
    waits: FxHashMap<OpId, Vec<OpId>>,
    /// By operation: values of the block that it or its bodies read.
    reads: FxHashMap<OpId, Vec<ValueId>>,
    handed_out: Vec<ValueId>,
}

impl<'a> Outline<'a> {
    pub(super) fn of(
        module: &'a Module,
        block: BlockId,
        flow: &Flow,
        effects: &FuncEffects,
        cx: &'a Context<'a>,
    ) -> Outline<'a> {
        let steps = |op: &OpId| {
            let constant = facts_of(module, cx.facts, *op).role == Role::Constant;
            !constant && !is_terminator(module, cx.facts, *op)
        };
        let ops: Vec<OpId> = module.block_ops(block).filter(steps).collect();
        let terminator = module.terminator(block).filter(|op| is_terminator(module, cx.facts, *op));
        let handed_out = terminator.into_iter().flat_map(|op| module.data_operands(op)).collect();
        let (owner, storages) = (FxHashMap::default(), Vec::new());
        let (waits, reads) = (FxHashMap::default(), FxHashMap::default());
        let mut outline = Outline { module, cx, ops, owner, storages, waits, reads, handed_out };
        outline.values(block);
        for op in module.block_ops(block) {
            outline.waits.insert(op, flow.read_by(op).to_vec());
        }
        for lock in locks::candidates(module, cx.facts, block, effects) {
            outline.waits.entry(lock.after).or_default().push(lock.before);
        }
        for value in outline.owner.keys().copied().collect::<std::collections::BTreeSet<_>>() {
            for usage in module.value(value).uses() {
                let mut reader = Some(usage.op);
                while let Some(op) = reader.filter(|op| module.parent_block(*op) != Some(block)) {
                    reader = module.parent_op(op);
                }
                if let Some(reader) = reader {
                    outline.reads.entry(reader).or_default().push(value);
                }
            }
        }
        outline
    }

    /// Finds what takes bytes, and whose bytes those are.
    fn values(&mut self, block: BlockId) {
        let module = self.module;
        let func = module.region_op(module.block_region(block));
        for (index, arg) in module.block_args(block).iter().enumerate() {
            if module.arg_attr(func, index, IO).and_then(Attr::as_str) != Some("external") {
                self.own(*arg);
            }
        }
        for op in self.ops.clone() {
            let row = facts_of(module, self.cx.facts, op);
            if module.attr(op, "neap.resident").is_some() {
                continue;
            }
            let declared = module.views(op);
            for (index, result) in module.data_results(op).iter().enumerate() {
                let given =
                    declared.iter().find(|view| view.result as usize == index).map(|view| view.operand as usize);
                let likely = row.role == Role::Reshape && self.cx.profile.views.contains(module.op_name(op));
                let base = given.or_else(|| row.view_operand(index).filter(|_| likely));
                match base.and_then(|operand| module.data_operand(op, operand)) {
                    Some(base) => drop(self.owner.get(&base).copied().map(|owner| self.owner.insert(*result, owner))),
                    None => self.own(*result),
                }
            }
        }
    }

    fn own(&mut self, value: ValueId) {
        if self.module.value_bytes(value).is_ok_and(|bytes| bytes > 0) {
            self.owner.insert(value, value);
            self.storages.push(value);
        }
    }

    /// Number of operations that take a step.
    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    /// Those values whose bytes lie in the arena and whose life this block decides.
    pub(super) fn in_arena<'v>(
        &'v self,
        values: impl Iterator<Item = ValueId> + 'v,
    ) -> impl Iterator<Item = ValueId> + 'v {
        values.filter(|value| self.owner.contains_key(value))
    }

    /// Bytes of what a value lies in.
    pub(super) fn owner_bytes(&self, value: ValueId) -> Option<u64> {
        self.module.value_bytes(*self.owner.get(&value)?).ok()
    }

    /// The greedy's peak with operations grouped; none if the problem cannot be stated.
    pub(super) fn peak(&self, groups: &Groups) -> Option<u64> {
        let problem = Problem::new(self.spec(groups)).ok()?;
        // No effort beyond the greedy orders: many groupings are compared.
        let options = Options { effort: 0, ..Options::default() };
        let solution = solve(&problem, &options, &mut |_| ControlFlow::Continue(())).ok()?;
        Some(solution.peak)
    }

    fn spec(&self, groups: &Groups) -> Spec {
        let module = self.module;
        let mut spec = Spec::default();
        let mut node: FxHashMap<OpId, Node> = FxHashMap::default();
        for op in self.ops.iter().filter(|op| groups.group(**op) == **op) {
            node.insert(*op, Node(spec.ops.len() as u32));
            spec.ops.push(Op { scratch: module.scratch_bytes(*op), ..Op::default() });
        }
        let node_of = |op: &OpId| node.get(&groups.group(*op)).copied();
        let made = |value: &&ValueId| match module.value(**value).def() {
            Def::Result(op, _) => groups.group(op) == op,
            Def::Arg(..) => true,
        };
        let mut storage: FxHashMap<ValueId, StorageId> = FxHashMap::default();
        for value in self.storages.iter().filter(made) {
            storage.insert(*value, StorageId(spec.storages.len() as u32));
            let writers = module.defining_op(*value).as_ref().and_then(node_of).into_iter().collect();
            spec.storages.push(Storage {
                size: module.value_bytes(*value).unwrap_or(0),
                writers,
                ..Storage::default()
            });
        }
        for op in &self.ops {
            let Some(reader) = node_of(op) else { continue };
            if groups.group(*op) != *op {
                let scratch = &mut spec.ops[reader.index()].scratch;
                *scratch = (*scratch).max(module.scratch_bytes(*op));
            }
            for value in self.reads.get(op).into_iter().flatten() {
                if let Some(read) = self.owner.get(value).and_then(|owner| storage.get(owner)) {
                    spec.storages[read.index()].readers.push(reader);
                }
            }
            for before in
                self.waits.get(op).into_iter().flatten().filter_map(node_of).filter(|before| *before != reader)
            {
                spec.deps.push((before, reader));
            }
            self.in_place(*op, reader, groups, &storage, &mut spec);
        }
        for value in &self.handed_out {
            if let Some(out) = self.owner.get(value).and_then(|owner| storage.get(owner)) {
                spec.storages[out.index()].live_out = true;
            }
        }
        for storage in &mut spec.storages {
            storage.readers.sort_unstable();
            storage.readers.dedup();
        }
        spec.deps.sort_unstable();
        spec.deps.dedup();
        spec
    }

    /// The candidates of one operation, over its own result or its group's.
    fn in_place(
        &self,
        op: OpId,
        node: Node,
        groups: &Groups,
        storage: &FxHashMap<ValueId, StorageId>,
        spec: &mut Spec,
    ) {
        let module = self.module;
        let row = facts_of(module, self.cx.facts, op);
        let last = groups.group(op);
        let name = if last == op { module.op_name(op) } else { "neap.fused" };
        if !is_elementwise(row.role) || !self.cx.profile.in_place.contains(name) {
            return;
        }
        let [made] = module.data_results(last) else { return };
        let Some(result) = storage.get(made).copied() else { return };
        for (_, value) in module.data_operands(op).enumerate().filter(|(at, _)| row.per_element(*at)) {
            let Some(operand) =
                self.owner.get(&value).filter(|owner| **owner == value).and_then(|owner| storage.get(owner))
            else {
                continue;
            };
            let shapes = Shaped::of(module, value).zip(Shaped::of(module, *made));
            let bits = |shape: &Shaped<'_>| module.elem_bits(shape.elem).unwrap_or(u64::MAX);
            let over = shapes.is_some_and(|(from, to)| from.same_sizes(&to) && bits(&from) >= bits(&to));
            let again =
                spec.in_place.iter().rev().take_while(|known| known.op == node).any(|known| known.operand == *operand);
            if over && !again && operand != &result && self.streams(op, value, groups) {
                spec.in_place.push(InPlace { op: node, result, operand: *operand, required: false });
            }
        }
    }

    /// Whether all operations of the group of `op` read a value in step, so that the group's result may lie over it.
    fn streams(&self, op: OpId, value: ValueId, groups: &Groups) -> bool {
        let last = groups.group(op);
        self.module.value(value).uses().iter().filter(|usage| groups.group(usage.op) == last).all(|usage| {
            let row = facts_of(self.module, self.cx.facts, usage.op);
            is_elementwise(row.role) && row.per_element(usage.operand as usize)
        })
    }
}
