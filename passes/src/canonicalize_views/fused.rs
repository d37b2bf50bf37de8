//! Which operands a fused operation reads in step with its result: those whose elements reach it through elementwise operations alone.
//!
//! A fused kernel makes its result element by element. Result element `i` then depends on element `i` of such an operand and of no other
//! element of it, so that the result may be written over it, if its elements are no larger.

use crate::callees::facts_of;
use crate::shape::Shaped;
use neap_ir::facts::{Facts, Role};
use neap_ir::{Module, OpId, ValueId};
use rustc_hash::FxHashSet;

/// Whether `op` is a fused operation that reads data operand `operand` in step with its results.
pub(super) fn streams(module: &Module, facts: &Facts, op: OpId, operand: usize) -> bool {
    let Some(block) = module.entry(op).filter(|_| module.op_name(op) == "neap.fused") else { return false };
    let Some(arg) = module.block_args(block).get(operand).copied() else { return false };
    let Some(shape) = Shaped::of(module, arg) else { return false };
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut open = vec![arg];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        if !Shaped::of(module, value).is_some_and(|other| other.same_sizes(&shape) && other.dense) {
            return false;
        }
        for usage in module.value(value).uses() {
            if module.terminator(block) == Some(usage.op) {
                continue;
            }
            let row = facts_of(module, facts, usage.op);
            let elementwise = matches!(row.role, Role::Elementwise | Role::Quantize | Role::Dequantize);
            if !elementwise || !row.per_element(usage.operand as usize) || module.parent_block(usage.op) != Some(block)
            {
                return false;
            }
            open.extend(module.data_results(usage.op));
        }
    }
    true
}
