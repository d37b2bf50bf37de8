//! Turns a group into one `neap.fused` whose body is the group.

use neap_ir::{Attr, Module, OpId, OpSpec, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Attributes of the last operation that speak of its result, and so of the fused operation's.
const OF_RESULT: &[&str] = &["neap.name", "neap.names", "neap.bytes", "neap.dims"];

/// Makes one operation of a group, whose operations are given in order; the last one is the one whose result is read outside. It
/// stands where the last one stood. Operations and attributes inside stay as they are, so that a writer can unfold the body.
pub(super) fn fuse(module: &mut Module, ops: &[OpId]) -> Option<OpId> {
    let last = *ops.last()?;
    let operands = outside(module, ops);
    let result = module.results(last)[0];
    let (ty, name) = (module.value_ty(result), module.value(result).name);
    let loc = module.op(last).loc.clone();
    let attrs = attributes(module, ops);
    let attrs: Vec<(&str, Attr)> = attrs.iter().map(|(key, value)| (*key, value.clone())).collect();
    let spec = OpSpec { name: "neap.fused", operands: &operands, results: &[ty], attrs, loc: loc.clone() };
    let fused = module.create(spec);
    module.set_place(fused, loc, module.op(last).span);
    module.insert_before(last, fused);
    module.replace_uses(result, module.results(fused)[0]);
    module.set_value_name(module.results(fused)[0], name);
    module.set_value_name(result, None);
    let region = module.add_region(fused);
    let types: Vec<_> = operands.iter().map(|value| module.value_ty(*value)).collect();
    let block = module.add_block(region, &types);
    let args: FxHashMap<ValueId, ValueId> = operands.iter().copied().zip(module.block_args(block).to_vec()).collect();
    for op in ops {
        module.detach(*op);
        module.append(block, *op);
        let inside: Vec<ValueId> =
            module.operands(*op).map(|value| args.get(&value).copied().unwrap_or(value)).collect();
        module.set_operands(*op, &inside);
    }
    let end = module.create(OpSpec { name: "neap.yield", operands: &[result], ..OpSpec::default() });
    module.append(block, end);
    Some(fused)
}

/// What the group reads from outside, in the order of first reading.
fn outside(module: &Module, ops: &[OpId]) -> Vec<ValueId> {
    let made: FxHashSet<OpId> = ops.iter().copied().collect();
    let inside = |value: &ValueId| module.defining_op(*value).is_some_and(|op| made.contains(&op));
    let mut seen = FxHashSet::default();
    let reads = ops.iter().flat_map(|op| module.operands(*op));
    reads.filter(|value| !inside(value) && seen.insert(*value)).collect()
}

/// What the fused operation says of itself: of its result what the last one said, scratch and alignment of the most demanding one,
/// cycles of all.
fn attributes(module: &mut Module, ops: &[OpId]) -> Vec<(&'static str, Attr)> {
    let mut attrs = Vec::new();
    let Some(last) = ops.last().copied() else { return attrs };
    for key in OF_RESULT {
        attrs.extend(module.attr(last, key).cloned().map(|value| (*key, value)));
    }
    let all = |module: &Module, key| ops.iter().filter_map(|op| module.attr(*op, key)?.as_i64()).collect::<Vec<i64>>();
    let (scratch, align, cycles) = (all(module, "neap.scratch"), all(module, "neap.align"), all(module, "neap.cycles"));
    let cycles = (cycles.len() == ops.len()).then(|| cycles.iter().fold(0i64, |sum, one| sum.saturating_add(*one)));
    let numbers =
        [("neap.scratch", scratch.into_iter().max()), ("neap.align", align.into_iter().max()), ("neap.cycles", cycles)];
    for (key, number) in numbers {
        if let Some(number) = number {
            attrs.push((key, module.i64_attr(number)));
        }
    }
    attrs
}
