//! Results that a runtime keeps outside of its arena: what depends on constants alone, and what it allocates one by one.
//!
//! A model with 16-bit weights computes its real weights by operations that read constants only. A runtime that keeps the results
//! runs them once; to the plan they are constants. What a runtime takes from its heap during the run is no part of the arena either: a result
//! of the function then lies in memory of its own, as the caller's does.

use neap_ir::facts::{Facts, Role};
use neap_ir::plan::IO;
use neap_ir::{Attr, Module, OpId};
use neap_passes::callees::facts_of;
use neap_passes::profile::{OpSet, Profile};

/// Marks the operations of a function, operands before readers.
pub(super) fn mark(module: &mut Module, func: OpId, facts: &Facts, profile: &Profile) {
    let nothing = OpSet::All(false);
    if profile.resident == nothing && profile.heap == nothing && !profile.heap_for_run_time_shapes {
        return;
    }
    for op in module.walk(func) {
        let row = facts_of(module, facts, op);
        if row.role == Role::Constant || module.data_results(op).is_empty() || !module.op_regions(op).is_empty() {
            continue;
        }
        let name = module.op_name(op);
        let is_known = |value| module.defining_op(value).is_some_and(|made| is_resident(module, made, facts));
        let pure = row.effects.is_empty() && module.operands(op).len() > 0;
        let kept = pure && profile.resident.contains(name) && module.operands(op).all(is_known);
        let known = profile.resident_always.contains(name);
        let heap = profile.allocates(module, op, row, |made| is_resident(module, made, facts));
        let returned = returned(module, func, op);
        match returned.is_empty() {
            true if kept || known || heap => module.set_attr(op, "neap.resident", Attr::Unit),
            false if heap => {
                for index in returned
                    .into_iter()
                    .filter(|index| module.result_attr(func, *index, IO).is_none())
                    .collect::<Vec<_>>()
                {
                    module.set_result_attr(func, index, IO, Some(Attr::str("external")));
                }
            }
            _ => {}
        }
    }
}

/// The results of the function that an operation makes.
fn returned(module: &Module, func: OpId, op: OpId) -> Vec<usize> {
    let uses = module.results(op).iter().flat_map(|value| module.value(*value).uses());
    let returns =
        uses.filter(|usage| module.op_name(usage.op) == "func.return" && module.parent_op(usage.op) == Some(func));
    returns.map(|usage| usage.operand as usize).collect()
}

fn is_resident(module: &Module, op: OpId, facts: &Facts) -> bool {
    facts_of(module, facts, op).role == Role::Constant || module.attr(op, "neap.resident").is_some()
}
