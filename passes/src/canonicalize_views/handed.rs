//! What a loop's body hands on to its next trip.
//!
//! Values go to the body's arguments one after the other, so none of them may lie in an argument that gets another value: it would be
//! overwritten before it is handed on. A value that lies in its own argument, from its first byte on, is there already.

use super::Refusal;
use crate::callees::facts_of;
use neap_ir::facts::{Facts, Run};
use neap_ir::{Def, Module, OpId, ValueId};

/// Whether `result` may lie `at` bytes into an operand of its operation as far as loops are concerned.
pub(super) fn on(
    module: &Module,
    facts: &Facts,
    op: OpId,
    (result, operand): (ValueId, usize),
    at: u64,
) -> Result<(), Refusal> {
    let mut places = yielded(module, facts, op, result).peekable();
    if places.peek().is_none() {
        return Ok(());
    }
    let Some((root, offset)) = module.data_operand(op, operand).and_then(|value| root(module, value, at)) else {
        return Ok(());
    };
    let Def::Arg(block, index) = module.value(root).def() else { return Ok(()) };
    let around = module.region_op(module.block_region(block));
    let own = (index as usize).checked_sub(facts_of(module, facts, around).body.lead);
    let carried = module.parent_op(op) == Some(around);
    if !carried || offset == 0 && places.all(|place| Some(place) == own) {
        return Ok(());
    }
    Err("the next trip gets it elsewhere, when the argument that it lies in has another value".to_owned())
}

/// The places among what is carried that a value is handed to at the end of a loop's body.
fn yielded<'a>(
    module: &'a Module,
    facts: &'a Facts,
    op: OpId,
    result: ValueId,
) -> impl Iterator<Item = usize> + use<'a> {
    let around = module.parent_op(op).map(|around| &facts_of(module, facts, around).body);
    let body = around.filter(|body| body.run == Run::Loop);
    let last = module.parent_block(op).and_then(|block| module.terminator(block)).filter(|_| body.is_some());
    let uses = module.value(result).uses().iter().filter(move |usage| Some(usage.op) == last);
    uses.filter_map(move |usage| (usage.operand as usize).checked_sub(body?.yield_lead))
}

/// The value at the end of a chain of views, and how many bytes into it.
fn root(module: &Module, value: ValueId, at: u64) -> Option<(ValueId, u64)> {
    let (mut value, mut offset) = (value, at);
    while let Def::Result(op, index) = module.value(value).def() {
        let Some(view) = module.views(op).into_iter().find(|view| view.result as usize == index as usize) else {
            break;
        };
        value = module.data_operand(op, view.operand as usize)?;
        offset = offset.checked_add(view.byte_offset)?;
    }
    Some((value, offset))
}
