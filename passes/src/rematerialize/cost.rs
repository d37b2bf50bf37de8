//! What running an operation once more costs.
//!
//! Cycles where every operation of the function that computes something says its `neap.cycles`; else an estimate from shapes, in
//! arithmetic operations. A matrix product takes one per result element and element of the contracted dimension (the last one of its first operand), a
//! convolution one per result element and weight of an output channel, without regard to padding and strides of a transposed one. All else
//! takes one per element of its largest operand or result; what is a view takes none. Sizes that vary count at their bounds.

use crate::analysis::Flow;
use crate::analysis::timeline::Kind;
use crate::callees::facts_of;
use crate::recomputed::Unit;
use crate::shape::Shaped;
use neap_ir::facts::{Facts, Role};
use neap_ir::{Attr, Module, OpId, Type, ValueId};

/// Prices of a function's operations.
#[derive(Clone, Copy)]
pub(super) struct Costs<'f> {
    facts: &'f Facts,
    /// What they are counted in.
    pub(super) unit: Unit,
}

impl<'f> Costs<'f> {
    /// Looks at what the operations say of themselves.
    pub(super) fn of(module: &Module, flow: &Flow<'_>, facts: &'f Facts) -> Costs<'f> {
        let mut steps = flow.timeline.iter().filter(|(_, entry)| entry.kind == Kind::Step && entry.bodies.is_empty());
        let said = |op: OpId| module.attr(op, "neap.cycles").is_some() || is_view(module, flow, op);
        let unit = if steps.all(|(_, entry)| said(entry.op)) { Unit::Cycles } else { Unit::Arithmetic };
        Costs { facts, unit }
    }

    /// All operations of a function, each once.
    pub(super) fn sum(self, module: &Module, flow: &Flow<'_>) -> u64 {
        let steps = flow.timeline.iter().filter(|(_, entry)| entry.kind == Kind::Step && entry.bodies.is_empty());
        steps.map(|(_, entry)| self.op(module, flow, entry.op)).fold(0, u64::saturating_add)
    }

    /// One operation.
    pub(super) fn op(self, module: &Module, flow: &Flow<'_>, op: OpId) -> u64 {
        if self.unit == Unit::Cycles {
            let cycles = module.attr(op, "neap.cycles").and_then(Attr::as_i64);
            return cycles.and_then(|cycles| u64::try_from(cycles).ok()).unwrap_or(0);
        }
        if is_view(module, flow, op) {
            return 0;
        }
        if module.op_regions(op).is_empty() {
            return self.own(module, op);
        }
        module.walk(op).into_iter().map(|inner| self.own(module, inner)).fold(0, u64::saturating_add)
    }

    fn own(self, module: &Module, op: OpId) -> u64 {
        let row = facts_of(module, self.facts, op);
        let made = module.data_results(op).iter().map(|value| elements(module, *value)).fold(0, u64::saturating_add);
        let shapes = |at: &(usize, ValueId)| !row.shape_operands.contains(at.0);
        let data = || module.data_operands(op).enumerate().filter(shapes).map(|(_, value)| value);
        match row.role {
            Role::Constant | Role::Yield | Role::Token | Role::Declare | Role::Handle => 0,
            Role::Matmul => {
                let inner = data().next().and_then(|value| sizes(module, value)?.last().copied());
                made.saturating_mul(inner.unwrap_or(1).max(1))
            }
            Role::Conv => made.saturating_mul(taps(module, op, data().take(2).collect()).unwrap_or(1).max(1)),
            _ => data().map(|value| elements(module, value)).fold(made, u64::max),
        }
    }
}

/// Weights that go into one element of a convolution's result.
fn taps(module: &Module, op: OpId, operands: Vec<ValueId>) -> Option<u64> {
    let result = sizes(module, *module.data_results(op).first()?)?;
    // Transposed ones have the weights first where an operand gives the shape.
    let weights = operands.into_iter().find(|value| {
        let made = module.defining_op(*value);
        made.is_some_and(|made| module.op_name(made).ends_with("constant") || module.operands(made).len() == 0)
    });
    let weights = weights.or_else(|| module.data_operand(op, 1))?;
    let name = module.op_name(op);
    let first = name.starts_with("onnx.") || name.contains("nchw") || name.contains("ncw");
    let channels = if first { result.get(1) } else { result.last() }?;
    Some(elements(module, weights) / (*channels).max(1))
}

/// Whether an operation only shows bytes that are there.
fn is_view(module: &Module, flow: &Flow<'_>, op: OpId) -> bool {
    let mut results = module.data_results(op).iter().filter_map(|value| flow.values.slot(*value));
    results.all(|slot| flow.values.owner(slot) != slot)
}

/// Elements of a value; bytes where nothing else is known.
fn elements(module: &Module, value: ValueId) -> u64 {
    let bytes = || module.value_bytes(value).unwrap_or(0);
    let elem = match module.ty(module.value_ty(value)) {
        Type::Tensor { elem, .. } | Type::MemRef { elem, .. } => *elem,
        _ => return bytes(),
    };
    match sizes(module, value) {
        Some(sizes) => sizes.into_iter().fold(1, u64::saturating_mul),
        None => bytes().saturating_mul(8) / module.elem_bits(elem).unwrap_or(8).max(1),
    }
}

fn sizes(module: &Module, value: ValueId) -> Option<Vec<u64>> {
    Shaped::of(module, value)?.sizes()
}
