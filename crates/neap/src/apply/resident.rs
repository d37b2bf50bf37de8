//! Operations that depend on constants alone, for runtimes that keep what those compute.
//!
//! A model with 16-bit weights computes its real weights by operations that read constants only. A runtime that keeps the results
//! runs them once; to the plan they are constants.

use neap_ir::facts::{Facts, Role};
use neap_ir::{Attr, Module, OpId};
use neap_passes::callees::facts_of;
use neap_passes::profile::{OpSet, Profile};

/// Marks the operations of a function, operands before readers.
pub(super) fn mark(module: &mut Module, func: OpId, facts: &Facts, profile: &Profile) {
    if profile.resident == OpSet::All(false) {
        return;
    }
    let returned = |module: &Module, op: OpId| {
        let uses = module.results(op).iter().flat_map(|value| module.value(*value).uses());
        uses.into_iter().any(|usage| module.op_name(usage.op) == "func.return")
    };
    for op in module.walk(func) {
        let row = facts_of(module, facts, op);
        let computes =
            !module.data_results(op).is_empty() && module.operands(op).len() > 0 && module.op_regions(op).is_empty();
        if !computes
            || !profile.resident.contains(module.op_name(op))
            || !row.effects.is_empty()
            || row.role == Role::Constant
            || returned(module, op)
        {
            continue;
        }
        let resident = module
            .operands(op)
            .all(|value| module.defining_op(value).is_some_and(|made| is_resident(module, made, facts)));
        if resident {
            module.set_attr(op, "neap.resident", Attr::Unit);
        }
    }
}

fn is_resident(module: &Module, op: OpId, facts: &Facts) -> bool {
    facts_of(module, facts, op).role == Role::Constant || module.attr(op, "neap.resident").is_some()
}
