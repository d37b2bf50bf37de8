//! What runs and what it touches, for pictures: operations by step, values with bytes, who makes and who reads them, bytes at each step.
//!
//! Values stand storage by storage, as in the summary, and are told apart by the same names. What a body hands out is read by the operation
//! that the body belongs to; what the function hands out is read by no operation.

use super::collect::Inputs;
use super::storages::Placed;
use crate::apply;
use neap_ir::Module;
use neap_ir::print::ty_text;
use neap_passes::analysis::Flow;
use neap_passes::analysis::names::op_name;
use neap_passes::analysis::timeline::{EntryId, Kind};
use neap_passes::analysis::uses::for_each_read;
use neap_report::{Graph, Op, Value};

/// The graph of a planned function; `original` is the function before planning.
pub(super) fn graph(inputs: &Inputs<'_>, flow: &Flow<'_>, original: Option<&Flow<'_>>, placed: &Placed) -> Graph {
    let (values, of_slot) = values(inputs.planned, flow, placed);
    let own_order = apply::is_planned(inputs.source);
    Graph {
        ops: ops(inputs.planned, flow, &of_slot),
        values,
        before: original.map(|flow| flow.profile.bytes.clone()).unwrap_or_default(),
        after: flow.profile.bytes.clone(),
        before_shows: if own_order { "in this order, nothing shared" } else { "as given, nothing shared" },
    }
}

/// Values, and for each slot the index of its value.
fn values(module: &Module, flow: &Flow<'_>, placed: &Placed) -> (Vec<Value>, Vec<Option<u32>>) {
    let (mut list, mut of_slot) = (Vec::new(), vec![None; flow.values.len()]);
    for (id, storage) in flow.storages.iter() {
        let Some(number) = placed.ids.get(id.index()).copied().flatten() else { continue };
        let named = &placed.storages[number as usize];
        for (at, member) in storage.members.iter().enumerate() {
            let (info, live) = (flow.values.info(member.slot), flow.live.of(member.slot));
            of_slot[member.slot.index()] = Some(list.len() as u32);
            list.push(Value {
                name: named.names[at].clone(),
                ssa: named.values[at].clone(),
                ty: ty_text(module, module.value_ty(info.value)),
                storage: number,
                at: member.offset,
                bytes: info.bytes,
                live: [live.begin, live.end],
            });
        }
    }
    (list, of_slot)
}

/// Operations by step.
fn ops(module: &Module, flow: &Flow<'_>, of_slot: &[Option<u32>]) -> Vec<Op> {
    let timeline = &flow.timeline;
    let mut list: Vec<Op> = timeline
        .by_step
        .iter()
        .map(|id| {
            let entry = timeline.entry(*id);
            let kind = module.op_name(entry.op).to_owned();
            let named = op_name(module, entry.op).replace('`', "");
            let name = named.strip_prefix(&kind).and_then(|rest| rest.strip_prefix(" (")?.strip_suffix(')'));
            let slots = module.data_results(entry.op).iter().filter_map(|value| flow.values.slot(*value));
            let makes = slots.filter_map(|slot| of_slot[slot.index()]).collect();
            Op { name: name.unwrap_or_default().to_owned(), kind, end: entry.steps.end, reads: Vec::new(), makes }
        })
        .collect();
    for_each_read(module, timeline, &flow.values, |read| {
        if let (Some(step), Some(value)) = (step(flow, read.reader), of_slot[read.slot.index()]) {
            list[step as usize].reads.push(value);
        }
    });
    for op in &mut list {
        for side in [&mut op.reads, &mut op.makes] {
            side.sort_unstable();
            side.dedup();
        }
    }
    list
}

/// The step at which a read happens: a body's last words are read by the operation around it.
fn step(flow: &Flow<'_>, reader: EntryId) -> Option<u32> {
    let entry = flow.timeline.entry(reader);
    let entry = match entry.kind {
        Kind::Step => entry,
        Kind::Constant => return None,
        Kind::Terminator => flow.timeline.entry(flow.timeline.body(entry.body).owner?),
    };
    Some(entry.steps.begin)
}
