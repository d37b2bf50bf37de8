//! Turns the solver's certificate into one about the module.

use super::Decision;
use crate::analysis::Flow;
use crate::certificate::{Certificate, Edge, Node, SetFlow};
use crate::pass::Context;
use neap_ir::Module;

/// Keeps the certificate of a function without nested bodies, where the solver's view is exact.
pub(super) fn keep(module: &Module, cx: &mut Context<'_>, flow: &Flow<'_>, decisions: &[Decision]) {
    let [decision] = decisions else { return };
    let Some(certificate) = &decision.answer.certificate else { return };
    let draft = &decision.answer.draft;
    // What is demanded has joined storages before the search: the checker knows them apart.
    let demanded = |problem: &neap_order::Spec| {
        problem.in_place.iter().any(|pair| pair.required) || problem.placement.iter().any(|place| place.required)
    };
    if demanded(&draft.spec) {
        return;
    }
    let op = |op: neap_order::OpId| flow.timeline.entry(draft.ops[op.index()]).op;
    let value = |storage: neap_order::StorageId| flow.values.info(draft.owners[storage.index()]).value;
    let bytes = |storage: neap_order::StorageId| draft.spec.storages[storage.index()].size;
    let node = |node: neap_order::Node| match node {
        neap_order::Node::Source => Node::Source,
        neap_order::Node::Sink => Node::Sink,
        neap_order::Node::Op(at) => Node::Op(op(at)),
        neap_order::Node::In(storage) => Node::In(value(storage)),
        neap_order::Node::Out(storage) => Node::Out(value(storage)),
    };
    let edge = |edge: &neap_order::FlowEdge| Edge {
        from: node(edge.from),
        to: node(edge.to),
        capacity: edge.capacity,
        flow: edge.flow,
    };
    let set = |set: &neap_order::SetFlow| {
        let in_place = set.taken.in_place.iter().map(|index| decision.filled.in_place[*index].pair);
        let placed = set.taken.placement.iter().map(|index| decision.filled.placement[*index].pair);
        SetFlow {
            taken: in_place.chain(placed).collect(),
            constant: set.constant,
            value: set.value,
            edges: set.edges.iter().map(edge).collect(),
        }
    };
    cx.certificates.push(Certificate {
        function: module.sym_name(flow.timeline.func).unwrap_or_default().to_owned(),
        op: op(certificate.op),
        bound: certificate.bound,
        flows: certificate.flows.iter().map(set).collect(),
        held: decision.answer.held.iter().map(|storage| (value(*storage), bytes(*storage))).collect(),
    });
}
