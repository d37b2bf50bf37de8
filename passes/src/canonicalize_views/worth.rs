//! Views that cost more than a copy.
//!
//! A view of a part keeps the whole alive. Where the part is read long after everything else of the whole, copying the part frees the rest: that is
//! what this looks for. All views of one whole that outlive it are given up together, since one alone frees nothing, and only where the
//! greedy peak of the block falls.

use super::refuse;
use crate::callees::facts_of;
use crate::fuse::greedy_peak;
use crate::pass::Context;
use neap_ir::facts::Role;
use neap_ir::plan::View;
use neap_ir::{BlockId, Def, Module, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Operations looked at, over all trials of a function: each looks at the whole of it.
const WORK: usize = 1_000_000;
/// Trials per function at most.
const TRIALS: usize = 48;

/// Gives up views that hold wholes for too long, among those of `fresh` operations: what the input declares stays.
pub(super) fn give_up(module: &mut Module, func: OpId, ops: &[OpId], fresh: &[OpId], cx: &mut Context<'_>) {
    let trials = (WORK / module.op_count().max(1)).min(TRIALS);
    let fresh: FxHashSet<OpId> = fresh.iter().copied().collect();
    for (owner, parts) in outliving(module, ops, cx).into_iter().take(trials) {
        if !parts.iter().all(|(op, _)| fresh.contains(op)) {
            continue;
        }
        let Some(block) = block_of(module, owner) else { continue };
        let Some(before) = greedy_peak(module, func, block, cx) else { continue };
        let saved: Vec<(OpId, Vec<View>)> = parts.iter().map(|(op, _)| (*op, module.views(*op))).collect();
        for (op, index) in &parts {
            let rest: Vec<View> = module.views(*op).into_iter().filter(|view| view.result != *index).collect();
            module.set_views(*op, &rest);
        }
        match greedy_peak(module, func, block, cx) {
            Some(after) if after < before => {
                for (op, _) in &parts {
                    let less = before - after;
                    refuse(
                        module,
                        *op,
                        &format!("is no view: it would hold the whole longer, for {less} bytes at the peak"),
                        cx,
                    );
                }
            }
            _ => saved.into_iter().for_each(|(op, views)| module.set_views(op, &views)),
        }
    }
}

/// Owners with the views of parts of them, by operation and result, that are read later than anything else of them; most bytes first.
fn outliving(module: &Module, ops: &[OpId], cx: &Context<'_>) -> Vec<(ValueId, Vec<(OpId, u32)>)> {
    let place: FxHashMap<OpId, usize> = ops.iter().enumerate().map(|(at, op)| (*op, at)).collect();
    let mut owner: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    // By value: when it, or a view of it that holds all of it, is read last.
    let mut last: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut whole: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let mut parts: FxHashMap<ValueId, Vec<(OpId, u32)>> = FxHashMap::default();
    let bytes = |value: ValueId| module.value_bytes(value).unwrap_or(0);
    for op in ops {
        let must = facts_of(module, cx.facts, *op).views.iter().any(|view| view.must);
        for view in module.views(*op) {
            let (Some(result), Some(operand)) = (
                module.data_results(*op).get(view.result as usize).copied(),
                module.data_operand(*op, view.operand as usize),
            ) else {
                continue;
            };
            let root = owner.get(&operand).copied().unwrap_or(operand);
            owner.insert(result, root);
            let of = whole.get(&operand).copied().unwrap_or(operand);
            if bytes(result) < bytes(operand) && !must && of == root {
                parts.entry(root).or_default().push((*op, view.result));
            } else {
                whole.insert(result, of);
            }
        }
    }
    let read =
        |value: ValueId| module.value(value).uses().iter().filter_map(|usage| place.get(&usage.op).copied()).max();
    let held = |value: ValueId| whole.get(&value).copied().unwrap_or(value);
    for value in place
        .keys()
        .flat_map(|op| module.data_results(*op))
        .chain(owner.values())
        .copied()
        .collect::<std::collections::BTreeSet<_>>()
    {
        let entry = last.entry(held(value)).or_insert(0);
        *entry = (*entry).max(read(value).unwrap_or(0));
    }
    let mut found: Vec<(ValueId, Vec<(OpId, u32)>)> = Vec::new();
    let mut owners: Vec<ValueId> = parts.keys().copied().collect();
    owners.sort_unstable();
    for root in owners {
        let resident = module.defining_op(root).is_none_or(|op| facts_of(module, cx.facts, op).role == Role::Constant);
        // The parts themselves read the whole: what counts is who reads it besides.
        let by_parts = |usage: &neap_ir::Use| parts[&root].iter().any(|(op, _)| *op == usage.op);
        let others = module.value(root).uses().iter().filter(|usage| !by_parts(usage));
        let others = others.filter_map(|usage| place.get(&usage.op).copied()).max();
        let end = others.unwrap_or(0);
        let late: Vec<(OpId, u32)> = parts[&root]
            .iter()
            .copied()
            .filter(|(op, index)| last.get(&module.data_results(*op)[*index as usize]).is_some_and(|read| *read > end))
            .collect();
        let sum: u64 = late.iter().map(|(op, index)| bytes(module.data_results(*op)[*index as usize])).sum();
        if !resident && !late.is_empty() && sum < bytes(root) {
            found.push((root, late));
        }
    }
    let freed = |parts: &[(OpId, u32)], root: ValueId| {
        let kept: u64 = parts.iter().map(|(op, index)| bytes(module.data_results(*op)[*index as usize])).sum();
        bytes(root).saturating_sub(kept)
    };
    found.sort_by_key(|(root, parts)| std::cmp::Reverse(freed(parts, *root)));
    found
}

fn block_of(module: &Module, value: ValueId) -> Option<BlockId> {
    match module.value(value).def() {
        Def::Result(op, _) => module.parent_block(op),
        Def::Arg(block, _) => Some(block),
    }
}
