//! Where values of a plan lie, and which lie together.

use neap_ir::{Attr, Def, Module, OpId, ValueId, plan};

/// The offset that a plan gives to a value itself.
pub(super) fn home(module: &Module, value: ValueId) -> Option<i64> {
    let offset = match module.value(value).def() {
        Def::Result(op, index) => *module.attr(op, plan::OFFSETS).and_then(Attr::as_i64s)?.get(index as usize)?,
        Def::Arg(block, index) => {
            let owner = module.region_op(module.block_region(block));
            if module.op_name(owner) == "func.func" {
                module.arg_attr(owner, index as usize, plan::OFFSET).and_then(Attr::as_i64)?
            } else {
                *module.attr(owner, plan::ARG_OFFSETS).and_then(Attr::as_i64s)?.get(slot(module, owner, value)?)?
            }
        }
    };
    (offset >= 0).then_some(offset)
}

/// The place of an argument among those of all bodies of its operation.
fn slot(module: &Module, owner: OpId, value: ValueId) -> Option<usize> {
    let regions = module.op_regions(owner).iter();
    let args = regions.flat_map(|region| module.blocks(*region)).flat_map(|block| module.block_args(*block));
    args.copied().collect::<Vec<ValueId>>().iter().position(|other| *other == value)
}

/// All values of a function that a plan gives an offset, views among them.
pub(super) fn planned_values(module: &Module, func: OpId) -> Vec<ValueId> {
    let mut all = module.func_args(func).to_vec();
    for op in module.walk(func).into_iter().filter(|op| !inside_kernel(module, *op)) {
        all.extend_from_slice(module.data_results(op));
        let regions = module.op_regions(op).iter();
        all.extend(regions.flat_map(|region| module.blocks(*region)).flat_map(|block| module.block_args(*block)));
    }
    all.into_iter().filter(|value| home(module, *value).is_some()).collect()
}

fn inside_kernel(module: &Module, op: OpId) -> bool {
    module.parent_op(op).is_some_and(|parent| module.op_name(parent) == "neap.fused")
}

/// Pairs of values of which one lies in the other: by views alone, or by all that a plan declares.
fn pairs(module: &Module, func: OpId, views_only: bool) -> Vec<(ValueId, ValueId)> {
    let mut found = Vec::new();
    for op in module.walk(func) {
        let operands: Vec<ValueId> = module.data_operands(op).collect();
        let results = module.data_results(op);
        let mut add = |result: u32, operand: u32| {
            if let (Some(to), Some(from)) = (results.get(result as usize), operands.get(operand as usize)) {
                found.push((*from, *to));
            }
        };
        module.views(op).iter().for_each(|view| add(view.result, view.operand));
        if !views_only {
            module.in_places(op, plan::INPLACE).iter().for_each(|pair| add(pair.result, pair.operand));
            module.places(op, plan::PLACE).iter().for_each(|place| add(0, place.operand));
        }
    }
    found
}

/// A value and the views that lie in it.
pub(super) fn with_views(module: &Module, func: OpId, value: ValueId) -> Vec<ValueId> {
    let mut all = vec![value];
    for (from, to) in pairs(module, func, true) {
        if all.contains(&from) && !all.contains(&to) {
            all.push(to);
        }
    }
    all
}

/// All values that share bytes with one by declaration.
pub(super) fn storage(module: &Module, func: OpId, value: ValueId) -> Vec<ValueId> {
    let mut all = vec![value];
    let pairs = pairs(module, func, false);
    loop {
        let before = all.len();
        for (a, b) in &pairs {
            match (all.contains(a), all.contains(b)) {
                (true, false) => all.push(*b),
                (false, true) => all.push(*a),
                _ => {}
            }
        }
        if all.len() == before {
            return all;
        }
    }
}

/// Moves values by some bytes; false, and nothing done, if one of them would come to lie below 0 or nothing moves.
pub(super) fn shift(module: &mut Module, values: &[ValueId], delta: i64) -> bool {
    let homes: Vec<(ValueId, i64)> = values.iter().filter_map(|value| Some((*value, home(module, *value)?))).collect();
    if delta == 0 || homes.is_empty() || homes.iter().any(|(_, home)| home + delta < 0) {
        return false;
    }
    for (value, home) in homes {
        match module.value(value).def() {
            Def::Result(op, index) => set(module, op, plan::OFFSETS, index as usize, home + delta),
            Def::Arg(block, index) => {
                let owner = module.region_op(module.block_region(block));
                if module.op_name(owner) == "func.func" {
                    let offset = module.i64_attr(home + delta);
                    module.set_arg_attr(owner, index as usize, plan::OFFSET, Some(offset));
                } else if let Some(slot) = slot(module, owner, value) {
                    set(module, owner, plan::ARG_OFFSETS, slot, home + delta);
                }
            }
        }
    }
    true
}

fn set(module: &mut Module, op: OpId, key: &str, at: usize, offset: i64) {
    let mut list = module.attr(op, key).and_then(Attr::as_i64s).unwrap_or_default();
    list[at] = offset;
    let list = module.i64s_attr(list);
    module.set_attr(op, key, list);
}
