//! Follows operands and attributes to the variable or buffer that they stand for. All walks are loops that only go backwards.

use super::Resource;
use crate::callees::facts_of;
use neap_ir::facts::{self, Facts, Key, OpFacts, Role, Run};
use neap_ir::{Attr, Def, Module, OpId, Type, ValueId};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

pub(super) struct Resolve<'a> {
    pub(super) module: &'a Module,
    pub(super) facts: &'a Facts,
    /// Where walks that were made before ended: a chain of views is walked once.
    origins: RefCell<FxHashMap<ValueId, ValueId>>,
}

impl<'a> Resolve<'a> {
    pub(super) fn new(module: &'a Module, facts: &'a Facts) -> Resolve<'a> {
        Resolve { module, facts, origins: RefCell::default() }
    }

    pub(super) fn of(&self, op: OpId) -> &'a OpFacts {
        facts_of(self.module, self.facts, op)
    }

    /// What an effect touches; several buffers for destination operands, nothing for a tensor.
    pub(super) fn resources(&self, op: OpId, resource: &facts::Resource) -> Vec<Resource> {
        match resource {
            facts::Resource::Memory(index) => self.buffers(op, *index..index.saturating_add(1)),
            facts::Resource::Outs => self.buffers(op, self.outs(op)),
            other => self.resource(op, other).into_iter().collect(),
        }
    }

    /// What an effect on no buffer touches.
    pub(super) fn resource(&self, op: OpId, resource: &facts::Resource) -> Option<Resource> {
        Some(match resource {
            facts::Resource::Rng => Resource::Rng,
            facts::Resource::Io => Resource::Io,
            facts::Resource::Stats => Resource::Stats,
            facts::Resource::All => Resource::All,
            facts::Resource::Attr(key) => self.named(op, key),
            facts::Resource::Handle(index) => {
                self.module.data_operand(op, *index).map_or(Resource::AnyVariable, |value| self.variable(value))
            }
            facts::Resource::Memory(_) | facts::Resource::Outs => return None,
        })
    }

    fn named(&self, op: OpId, key: &str) -> Resource {
        let name = self.module.attr(op, key).and_then(|attr| attr.as_symbol().or(attr.as_str()));
        name.map_or(Resource::AnyVariable, |name| Resource::Variable(name.into()))
    }

    /// The variable behind a handle.
    fn variable(&self, value: ValueId) -> Resource {
        let Some(op) = self.module.defining_op(self.origin(value)) else { return Resource::AnyVariable };
        let facts = self.of(op);
        if facts.role != Role::Handle {
            return Resource::AnyVariable;
        }
        let text = |key| {
            let attr = facts.param(key).and_then(|param| param.attr.as_deref());
            attr.and_then(|attr| self.module.attr(op, attr)).and_then(|attr| attr.as_symbol().or(attr.as_str()))
        };
        match (text(Key::Container).unwrap_or(""), text(Key::SharedName)) {
            (_, None) => Resource::AnyVariable,
            ("", Some(name)) => Resource::Variable(name.into()),
            (container, Some(name)) => Resource::Variable(format!("{container}/{name}").into()),
        }
    }

    /// Whether a value is a buffer rather than a tensor, which nothing can write.
    pub(super) fn is_buffer(&self, value: ValueId) -> bool {
        matches!(self.module.ty(self.module.value_ty(value)), Type::MemRef { .. })
    }

    /// The buffer that a memref stands for.
    pub(super) fn buffer(&self, value: ValueId) -> Resource {
        let origin = self.origin(value);
        match self.module.value(origin).def() {
            // What a constant names is a buffer that nothing writes.
            Def::Result(op, _) if matches!(self.of(op).role, Role::Alloc | Role::Constant) => Resource::Memory(origin),
            Def::Arg(block, index) => {
                let func = self.module.region_op(self.module.block_region(block));
                let placed = self.module.op_name(func) == "func.func" && self.module.entry(func) == Some(block);
                let io = self.module.arg_attr(func, index as usize, neap_ir::plan::IO).and_then(Attr::as_str);
                if placed && io != Some("external") { Resource::Memory(origin) } else { Resource::AnyMemory }
            }
            Def::Result(..) => Resource::AnyMemory,
        }
    }

    fn buffers(&self, op: OpId, operands: std::ops::Range<usize>) -> Vec<Resource> {
        let count = operands.end.saturating_sub(operands.start);
        let values = self.module.data_operands(op).skip(operands.start).take(count);
        values.filter(|value| self.is_buffer(*value)).map(|value| self.buffer(value)).collect()
    }

    /// The second segment of a destination-passing operation's operands; all of them where the segments are not given.
    fn outs(&self, op: OpId) -> std::ops::Range<usize> {
        let sizes = self.module.attr(op, "operandSegmentSizes").and_then(Attr::as_i64s);
        let sizes: Option<Vec<usize>> =
            sizes.map(|list| list.into_iter().filter_map(|size| size.try_into().ok()).collect());
        match sizes.as_deref() {
            Some([ins, outs, ..]) => *ins..ins.saturating_add(*outs),
            _ => 0..usize::MAX,
        }
    }

    /// The value that `value` is a view of or is bound to, as far back as it can be followed.
    fn origin(&self, value: ValueId) -> ValueId {
        let (mut at, mut passed) = (value, Vec::new());
        let mut origins = self.origins.borrow_mut();
        let origin = loop {
            if let Some(known) = origins.get(&at) {
                break *known;
            }
            passed.push(at);
            let before = match self.module.value(at).def() {
                Def::Result(op, index) => self.viewed(op, index as usize),
                Def::Arg(..) => self.bound(at),
            };
            match before {
                Some(before) => at = before,
                None => break at,
            }
        };
        origins.extend(passed.into_iter().map(|value| (value, origin)));
        origin
    }

    /// The operand that data result `index` is, or may become, a view of.
    pub(super) fn viewed(&self, op: OpId, index: usize) -> Option<ValueId> {
        self.lies_in(op, index).or_else(|| self.module.data_operand(op, self.of(op).view_operand(index)?))
    }

    /// The operand that data result `index` is a view of, so that the operation does nothing for it.
    pub(super) fn lies_in(&self, op: OpId, index: usize) -> Option<ValueId> {
        let declared = self.module.views(op).into_iter().find(|view| view.result as usize == index);
        let row = self.of(op);
        let must = || row.views.iter().any(|view| view.must && view.results.contains(index));
        let operand = match declared {
            Some(view) => Some(view.operand as usize),
            None => row.view_operand(index).filter(|_| must()),
        };
        self.module.data_operand(op, operand?)
    }

    /// The operand that a block argument has on every entry of its body.
    pub(super) fn bound(&self, arg: ValueId) -> Option<ValueId> {
        let Def::Arg(block, index) = self.module.value(arg).def() else { return None };
        let region = self.module.block_region(block);
        let op = self.module.region_op(region);
        let body = &self.of(op).body;
        if body.run == Run::None || self.module.blocks(region).first() != Some(&block) {
            return None;
        }
        let place = (index as usize).checked_sub(body.lead)?;
        let operand = self.argument(op, index as usize)?;
        let next = |block| {
            let yielded = self.module.terminator(block)?;
            self.module.data_operand(yielded, body.yield_lead + place)
        };
        // A loop hands on what its body yields: only an argument that is handed on as it is stays bound.
        let again = self.module.op_regions(op).iter().all(|region| {
            self.module
                .blocks(*region)
                .first()
                .copied()
                .is_some_and(|body| next(body) == self.module.block_args(body).get(index as usize).copied())
        });
        (body.run != Run::Loop || again).then_some(operand)
    }

    /// The operand of `op` that is bound to argument `index` of its bodies.
    pub(super) fn argument(&self, op: OpId, index: usize) -> Option<ValueId> {
        let body = &self.of(op).body;
        let place = index.checked_sub(body.lead)?;
        let count = self.module.data_operand_count(op);
        let operand = body.args.nth_below(count, place)?;
        self.module.data_operand(op, operand)
    }
}
