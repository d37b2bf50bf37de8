//! Whether a result is consecutive bytes of an operand, and where they start.

use super::Refusal;
use super::window::{self, Window};
use crate::params::{self, Unknown};
use crate::shape::{Shaped, only_moves, whole_bytes};
use neap_ir::facts::{Facts, Key, OpFacts, Role};
use neap_ir::{Attr, Dim, Module, OpId, Type, ValueId};

/// The start of data result `index` in data operand `operand`, in bytes.
pub(super) fn byte_offset(
    module: &Module,
    facts: &Facts,
    op: OpId,
    row: &OpFacts,
    index: usize,
    operand: usize,
) -> Result<u64, Refusal> {
    let result = module.data_results(op)[index];
    let operand = module.data_operand(op, operand).ok_or("it lacks the operand")?;
    if row.role == Role::Subview {
        return strided(module, op, result, operand);
    }
    let (to, from) = (Shaped::of(module, result), Shaped::of(module, operand));
    let (to, from) = (to.ok_or("the result has no rank")?, from.ok_or("the operand has no rank")?);
    if !only_moves(module, op) {
        return Err("it applies an activation".to_owned());
    }
    if !to.dense || !from.dense {
        return Err("a tensor with an encoding has a layout of its own".to_owned());
    }
    let unknown = |Unknown| "its parameters are not constant".to_owned();
    match row.role {
        Role::Transpose => {
            let perm = params::permutation(module, facts, op, row, from.dims.len());
            keeps_order(from.dims, &perm.ok_or("its permutation is not known, or does not fit the operand")?)?;
        }
        Role::Slice | Role::StridedSlice => {
            let window = window::sliced(module, facts, op, row, &from)?;
            return start(module, result, operand, &from, &window);
        }
        Role::Split | Role::Unpack => {
            let axis = params::int(module, facts, op, row, Key::Axis).map_err(unknown)?;
            let window = window::part(module, op, row, &from, axis, index)?;
            return start(module, result, operand, &from, &window);
        }
        Role::Reshape => {}
        _ => return Err("its bytes may move".to_owned()),
    }
    match (module.value_bytes(result), module.value_bytes(operand)) {
        (Ok(to), Ok(from)) if to != from => Err(format!("the result has {to} bytes and the operand {from}")),
        (Ok(_), Ok(_)) => Ok(0),
        // The same elements: the same bytes, however many.
        _ if module.elem_bits(to.elem) == module.elem_bits(from.elem) => Ok(0),
        _ => Err("the sizes are not known".to_owned()),
    }
}

/// Whether a permutation keeps the order of all dimensions that are not 1: then no byte moves.
fn keeps_order(dims: &[Dim], perm: &[usize]) -> Result<(), Refusal> {
    let long = perm.iter().filter(|axis| dims[**axis] != Dim::Known(1));
    if long.is_sorted() { Ok(()) } else { Err("it moves bytes".to_owned()) }
}

/// Where a window starts, if it is consecutive and lies inside the operand.
fn start(
    module: &Module,
    result: ValueId,
    operand: ValueId,
    from: &Shaped<'_>,
    window: &Window,
) -> Result<u64, Refusal> {
    let first = window.consecutive(from)?;
    let offset = whole_bytes(module, from.elem, first).ok_or("it does not start at a byte")?;
    let size = |value| module.value_bytes(value).map_err(|error| format!("a size is not known: {error}"));
    let (part, whole) = (size(result)?, size(operand)?);
    if whole_bytes(module, from.elem, window.count()?) != Some(part) {
        return Err("its size is not that of its elements".to_owned());
    }
    let fits = offset.checked_add(part).is_some_and(|end| end <= whole);
    if fits { Ok(offset) } else { Err("it ends outside of the operand".to_owned()) }
}

/// The start of a window of a buffer, from the layouts in the types: `strided<[4, 1], offset: 8>`. Its elements need not be consecutive: the whole
/// buffer is one storage, whatever part of it is looked at.
fn strided(module: &Module, op: OpId, result: ValueId, operand: ValueId) -> Result<u64, Refusal> {
    let (to, from) = (Layout::of(module, result)?, Layout::of(module, operand)?);
    if let Some(shift) = module.op_name(op).strip_suffix(".view").and_then(|_| module.data_operand(op, 1)) {
        let constant = module.defining_op(shift).and_then(|op| module.attr(op, "value")).and_then(Attr::as_i64);
        return constant.and_then(|bytes| u64::try_from(bytes).ok()).ok_or("its start is not constant".to_owned());
    }
    let elements = to.offset.checked_sub(from.offset).ok_or("it starts before the operand")?;
    whole_bytes(module, to.elem, elements).ok_or("it does not start at a byte".to_owned())
}

struct Layout {
    offset: u64,
    elem: neap_ir::Ty,
}

impl Layout {
    /// The layout of a memref.
    fn of(module: &Module, value: ValueId) -> Result<Layout, Refusal> {
        let Type::MemRef { shape: Some(dims), elem, layout, .. } = module.ty(module.value_ty(value)) else {
            return Err("it has no rank".to_owned());
        };
        let Some(layout) = layout else { return Ok(Layout { offset: 0, elem: *elem }) };
        let Attr::Text(text, _) = &**layout else { return Err("its layout is not known".to_owned()) };
        let body = text
            .strip_prefix("strided<[")
            .and_then(|text| text.strip_suffix('>'))
            .ok_or("its layout is not strided")?;
        let (strides, rest) = body.split_once(']').ok_or("its layout is not strided")?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| "its layout is not constant".to_owned());
        let offset = match rest.trim_start_matches([',', ' ']).strip_prefix("offset:") {
            Some(offset) => number(offset)?,
            None => 0,
        };
        strides.split(',').filter(|text| !text.trim().is_empty()).try_for_each(|stride| number(stride).map(drop))?;
        if dims.contains(&Dim::Dynamic) {
            return Err("its size is not constant".to_owned());
        }
        Ok(Layout { offset, elem: *elem })
    }
}
