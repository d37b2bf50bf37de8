//! Candidates: results that may overwrite an operand, operands that may be written straight into the result.

use super::fused::streams;
use super::{Refusal, Returned, asked, never, refuse, row_of};
use crate::callees::facts_of;
use crate::params::{self, Unknown};
use crate::pass::Context;
use crate::shape::{Shaped, only_moves, whole_bytes};
use neap_ir::facts::{Key, Role, Rule};
use neap_ir::plan::{self, InPlace, Place};
use neap_ir::{Attr, Module, OpId, ValueId};

/// Finds the operands that results of an operation may overwrite.
pub(super) fn in_place(module: &mut Module, op: OpId, returned: &Returned, cx: &mut Context<'_>) {
    let row = row_of(module, cx, op);
    let known = [plan::MAY_INPLACE, plan::INPLACE].iter().any(|key| module.attr(op, key).is_some());
    let fused = module.op_name(op) == "neap.fused";
    if row.inplace.is_empty() && !fused || known {
        return;
    }
    let views = module.views(op);
    let mut found = Vec::new();
    for (index, result) in module.data_results(op).to_vec().into_iter().enumerate() {
        if views.iter().any(|view| view.result as usize == index) {
            continue;
        }
        let operands: Vec<ValueId> = module.data_operands(op).collect();
        for (at, operand) in operands.iter().enumerate() {
            let streams = || (fused && streams(module, cx.facts, op, at)).then_some(Rule::Lockstep);
            let Some(rule) = row.inplace_rule(index, at).or_else(streams) else { continue };
            // A constant offers no bytes.
            if is_constant(module, cx, *operand) {
                continue;
            }
            // The same value once more has to be read in the same way: it is a candidate, too.
            let again = operands[..at].contains(operand);
            match realisable(module, op, result, *operand, returned, cx)
                .and_then(|()| fits(module, rule, result, *operand))
            {
                Ok(()) => found.push(InPlace { result: index as u32, operand: at as u32 }),
                Err(why) if !again => refuse(module, op, &format!("cannot overwrite operand {at}: {why}"), cx),
                Err(_) => {}
            }
        }
    }
    cx.count("in-place", found.len() as u64);
    module.set_in_places(op, plan::MAY_INPLACE, &found);
}

fn is_constant(module: &Module, cx: &Context<'_>, value: ValueId) -> bool {
    module.defining_op(value).is_some_and(|op| facts_of(module, cx.facts, op).role == Role::Constant)
}

/// Whether the profile and the user allow it.
fn realisable(
    module: &Module,
    op: OpId,
    result: ValueId,
    operand: ValueId,
    returned: &Returned,
    cx: &Context<'_>,
) -> Result<(), Refusal> {
    let profile = cx.profile;
    let title = &profile.title;
    // Read twice by one operation is read twice.
    let shared = || module.value(operand).uses().len() > 1;
    let of_function = returned.values.contains(&result) || returned.values.contains(&operand);
    match () {
        () if !profile.in_place.contains(module.op_name(op)) => Err(format!("{title} has a kernel that does not")),
        () if never(module, op) => Err("`neap.reuse` is \"never\"".to_owned()),
        () if profile.in_place_above > 0
            && module.value_bytes(result).is_ok_and(|bytes| bytes <= profile.in_place_above) =>
        {
            Err(format!("{title} does not for {} bytes or less", profile.in_place_above))
        }
        () if profile.in_place_single_reader && shared() => Err(format!("{title} wants it to be read here alone")),
        () if !profile.share_results && of_function => Err(format!("{title} keeps the function's results apart")),
        () if !profile.share_arguments && module.defining_op(operand).is_none() => {
            Err(format!("{title} keeps the function's arguments apart"))
        }
        () => Ok(()),
    }
}

/// Whether the types bear out a rule.
fn fits(module: &Module, rule: Rule, result: ValueId, operand: ValueId) -> Result<(), Refusal> {
    let (to, from) = (Shaped::of(module, result), Shaped::of(module, operand));
    let (to, from) = (to.ok_or("the result has no rank")?, from.ok_or("it has no rank")?);
    if !to.dense || !from.dense {
        return Err("a tensor with an encoding has a layout of its own".to_owned());
    }
    if !to.same_sizes(&from) && to.dims != from.dims {
        return Err("it has another shape and is read more than once".to_owned());
    }
    if !to.same_sizes(&from) {
        return Err("the shapes are not constant".to_owned());
    }
    let bits = |elem| module.elem_bits(elem).map_err(|_| "the element size is not known".to_owned());
    let (to_bits, from_bits) = (bits(to.elem)?, bits(from.elem)?);
    let layout = |value, shape: &Shaped<'_>| {
        let elements =
            shape.sizes().and_then(|sizes| sizes.iter().try_fold(1u64, |count, size| count.checked_mul(*size)));
        let bits = elements.and_then(|count| count.checked_mul(module.elem_bits(shape.elem).ok()?));
        module.value_bytes(value).ok() == bits.map(|bits| bits.div_ceil(8))
    };
    match rule {
        Rule::Lockstep if to_bits > from_bits => {
            Err(format!("its elements have {from_bits} bits and the result's {to_bits}"))
        }
        Rule::Rows if to_bits != from_bits => {
            Err(format!("its elements have {from_bits} bits and the result's {to_bits}"))
        }
        Rule::Exact if module.value_ty(result) != module.value_ty(operand) => Err("it has another type".to_owned()),
        _ if !layout(result, &to) || !layout(operand, &from) => {
            Err("`neap.bytes` says that its layout is another".to_owned())
        }
        _ => Ok(()),
    }
}

/// Finds the operands that may be written straight into the result of an operation that joins them.
pub(super) fn placement(module: &mut Module, op: OpId, returned: &Returned, cx: &mut Context<'_>) {
    let row = row_of(module, cx, op);
    let known = [plan::MAY_PLACE, plan::PLACE].iter().any(|key| module.attr(op, key).is_some());
    if !matches!(row.role, Role::Concat | Role::Pack) || known || module.data_results(op).len() != 1 {
        return;
    }
    let offsets = match joined(module, op, returned, cx) {
        Ok(offsets) => offsets,
        Err(why) => return refuse(module, op, &format!("copies its operands: {why}"), cx),
    };
    let mut found = Vec::new();
    let operands: Vec<ValueId> = module.data_operands(op).collect();
    for (at, byte_offset) in offsets.into_iter().enumerate() {
        match part(module, op, &operands, at, byte_offset, cx) {
            Ok(()) => found.push(Place { operand: at as u32, byte_offset }),
            Err(why) => refuse(module, op, &format!("copies operand {at}: {why}"), cx),
        }
    }
    cx.count("placed", found.len() as u64);
    module.set_places(op, plan::MAY_PLACE, &found);
}

/// Where the operands start in the result, if they follow each other byte for byte.
fn joined(module: &Module, op: OpId, returned: &Returned, cx: &Context<'_>) -> Result<Vec<u64>, Refusal> {
    let row = row_of(module, cx, op);
    let result = module.data_results(op)[0];
    let title = &cx.profile.title;
    if !cx.profile.placement.contains(module.op_name(op)) {
        return Err(format!("{title} cannot write into a part"));
    }
    if never(module, op) {
        return Err("`neap.reuse` is \"never\"".to_owned());
    }
    if !only_moves(module, op) {
        return Err("it applies an activation".to_owned());
    }
    if asked(module, op) || returned.external.contains(&result) {
        return Err("the place of the result is given".to_owned());
    }
    if !cx.profile.share_results && returned.values.contains(&result) {
        return Err(format!("{title} keeps the function's results apart"));
    }
    let to = Shaped::of(module, result).filter(|to| to.dense).ok_or("the layout of the result is not known")?;
    let axis = params::int(module, cx.facts, op, row, Key::Axis).map_err(|Unknown| "its axis is not constant")?;
    let axis = axis.and_then(|axis| params::axis(axis, to.dims.len())).ok_or("its axis is not known")?;
    if !to.outermost(axis) {
        return Err(format!("dimension {axis} is not the outermost, so the parts are interleaved"));
    }
    let mut offsets = Vec::new();
    let mut end = 0u64;
    for operand in module.data_operands(op) {
        let from = Shaped::of(module, operand).filter(|from| from.dense && from.elem == to.elem);
        let sizes = from.and_then(|from| from.sizes()).ok_or("the layout of an operand is not known")?;
        let count = sizes.iter().try_fold(1u64, |count, size| count.checked_mul(*size)).ok_or("a size overflows")?;
        let bytes = whole_bytes(module, to.elem, count).ok_or("a part does not end at a byte")?;
        if module.value_bytes(operand) != Ok(bytes) {
            return Err("`neap.bytes` says that the layout of an operand is another".to_owned());
        }
        offsets.push(end);
        end = end.checked_add(bytes).ok_or("a size overflows")?;
    }
    if module.value_bytes(result) != Ok(end) {
        return Err("the parts do not make up the result".to_owned());
    }
    Ok(offsets)
}

/// Whether one operand may be written by whoever makes it.
fn part(
    module: &Module,
    op: OpId,
    operands: &[ValueId],
    at: usize,
    byte_offset: u64,
    cx: &Context<'_>,
) -> Result<(), Refusal> {
    let operand = operands[at];
    let from = module.defining_op(operand).ok_or("it is an argument")?;
    let index = module.results(from).iter().position(|value| *value == operand).unwrap_or(0);
    if operands.iter().filter(|other| **other == operand).count() > 1 {
        return Err("it is there twice".to_owned());
    }
    if is_constant(module, cx, operand) || module.attr(from, "neap.resident").is_some() {
        return Err("it is constant".to_owned());
    }
    if module.views(from).iter().any(|view| view.result as usize == index) {
        return Err("it is a view of something else".to_owned());
    }
    if facts_of(module, cx.facts, from)
        .param(Key::Alias)
        .and_then(|param| param.attr.as_deref())
        .is_some_and(|key| module.attr(from, key).is_some())
    {
        return Err("it is a variable's state".to_owned());
    }
    if asked(module, from) || never(module, from) {
        return Err("its own place is given".to_owned());
    }
    if module.parent_block(from) != module.parent_block(op) {
        return Err("it is made outside of the body".to_owned());
    }
    let asked =
        module.attr(from, plan::ALIGN).and_then(Attr::as_i64).and_then(|align| u64::try_from(align).ok()).unwrap_or(1);
    let align = cx.profile.align.max(asked);
    if byte_offset.is_multiple_of(align) {
        Ok(())
    } else {
        Err(format!("it would start at byte {byte_offset}, alignment is {align}"))
    }
}
