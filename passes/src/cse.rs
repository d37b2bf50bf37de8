//! Computes equal values once.
//!
//! # Effect
//!
//! An operation that equals an earlier one of its block (same kind, operands, result types, and attributes but for the model's names)
//! is erased, and its readers read the earlier one. Sharing can lengthen lives and so raise the peak: this pass is
//! no part of `plan`.
//!
//! # Soundness
//!
//! Only operations without effects and regions that make tensors. Not those of which nothing is known but that they are pure: two of
//! them may differ in their names alone. Not constants, since large contents are elided from the text and equal text means
//! nothing; not what the user asked to keep or pinned.
//!
//! # Statistics
//!
//! - `erased`: operations erased.

use crate::callees::facts_of;
use crate::pass::{Context, Pass, PassInfo};
use neap_ir::diag::Diagnostic;
use neap_ir::facts::{Facts, Role};
use neap_ir::{Attrs, BlockId, Module, Name, OpId, Ty, Type, ValueId};
use rustc_hash::FxHashMap;

/// The line in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "cse",
    summary: "compute equal values once (may raise the peak)",
    options: &[],
    build: |_| Ok(Box::new(Cse)),
};

struct Cse;

/// What makes two operations equal.
#[derive(PartialEq, Eq, Hash)]
struct Shape {
    name: Name,
    operands: Vec<ValueId>,
    results: Vec<Ty>,
    attrs: Attrs,
    props: Attrs,
}

impl Pass for Cse {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        let effects = cx.effects(module, func);
        let mut known: FxHashMap<(BlockId, Shape), OpId> = FxHashMap::default();
        let mut erased = 0;
        for op in module.walk(func) {
            let Some(block) = module.parent_block(op) else { continue };
            if effects.get(op).is_some() || !comparable(module, cx.facts, op) {
                continue;
            }
            match known.entry((block, shape(module, op))) {
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert(op);
                }
                std::collections::hash_map::Entry::Occupied(entry) => {
                    let pairs: Vec<(ValueId, ValueId)> =
                        module.results(op).iter().copied().zip(module.results(*entry.get()).iter().copied()).collect();
                    pairs.into_iter().for_each(|(old, new)| module.replace_uses(old, new));
                    module.erase(op);
                    erased += 1;
                }
            }
        }
        cx.count("erased", erased);
        Ok(erased > 0)
    }
}

fn comparable(module: &Module, facts: &Facts, op: OpId) -> bool {
    let role = facts_of(module, facts, op).role;
    let unclear = [Role::Constant, Role::Opaque, Role::Other, Role::Alloc, Role::Declare, Role::Yield, Role::Token];
    let asked = ["neap.keep", "neap.pin"].iter().any(|key| module.attr(op, key).is_some());
    let tensor = |value: &ValueId| matches!(module.ty(module.value_ty(*value)), Type::Tensor { .. });
    let plain = module.op_regions(op).is_empty() && module.successors(op).is_empty();
    !unclear.contains(&role) && !asked && plain && module.data_results(op).iter().all(tensor)
}

fn shape(module: &Module, op: OpId) -> Shape {
    let named = |attrs: &Attrs| {
        let names = |key: &Name| matches!(module.text(*key), "neap.name" | "neap.names");
        attrs.iter().filter(|(key, _)| !names(key)).cloned().collect()
    };
    Shape {
        name: module.op(op).name(),
        operands: module.operands(op).collect(),
        results: module.results(op).iter().map(|value| module.value_ty(*value)).collect(),
        attrs: named(module.attrs(op)),
        props: module.props(op).map(named).unwrap_or_default(),
    }
}
