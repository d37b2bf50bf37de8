//! Offsets that a file holds already: every rule that the runtime leaves to the writer.
//!
//! Looked at here is which tensors may have an offset at all, and that no two tensors lie in each other's bytes while both are needed, over all
//! subgraphs. Which operator may write over its operand is a matter of what the bytes hold: that is for a checker, which gets the offsets
//! by the values of the module.

use super::layout::{Buffer, Graph, Layout, Operator};
use super::offline::{self, Place, Placed};
use super::places::{Head, Map, Plan};
use crate::error;
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, OpId, ValueId};
use std::collections::{BTreeMap, BTreeSet};

/// What a file says of its tensors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offline {
    /// What the tensors with an offset need.
    pub head: Head,
    /// Arguments and results of all functions that are tensors of the file: the offset from the start of the head, none where the runtime finds a place.
    pub values: Vec<(ValueId, Option<i64>)>,
}

/// Operators that leave the bytes of their operand as they are.
const VIEWS: [&str; 4] = ["tfl.reshape", "tfl.squeeze", "tfl.expand_dims", "tfl.bitcast"];

/// Looks at offsets that a file holds.
///
/// # Errors
/// Which tensors can have none, and which overlap while both are needed.
pub(crate) fn judge(
    layout: &Layout,
    module: &Module,
    offsets: &BTreeMap<Place, i64>,
) -> Result<Offline, Vec<Diagnostic>> {
    let (mut placed, mut values, mut errors) = (Map::new(), Vec::new(), Vec::new());
    let mut over: BTreeSet<(Place, Place)> = BTreeSet::new();
    let mut views = Plan { placed: Map::new(), with: BTreeMap::new() };
    for (index, (func, graph)) in module.functions().into_iter().zip(&layout.graphs).enumerate() {
        let tensors = tensors(layout, module, index, func);
        for (value, tensor) in &tensors {
            values.push((*value, offsets.get(&(index, *tensor)).copied()));
        }
        for (op, operator) in operators(module, graph, func) {
            if let ([result], [operand, ..], true) =
                (&operator.outputs[..], &operator.inputs[..], VIEWS.contains(&module.op_name(op)))
            {
                views.join((index, *result as usize), (index, *operand as usize));
            }
        }
        let by_tensor: BTreeMap<usize, ValueId> = tensors.iter().map(|(value, tensor)| (*tensor, *value)).collect();
        for ((_, tensor), offset) in offsets.range((index, 0)..(index + 1, 0)) {
            let found = by_tensor.get(tensor).copied();
            match bytes(layout, module, (index, *tensor), found) {
                Ok(bytes) => {
                    placed.insert((index, *tensor), Placed { offset: *offset, bytes });
                }
                Err(why) => {
                    let place = offline::tensor_place(index, *tensor, &graph.tensors[*tensor].name);
                    errors.push(error(format!("{place} has offset {offset}, but {why}")));
                }
            }
        }
        over.extend(handed_on(index, graph));
    }
    if !errors.is_empty() {
        errors.truncate(20);
        return Err(errors);
    }
    let same =
        |one: Place, other: Place| placed.get(&one).map(|at| at.offset) == placed.get(&other).map(|at| at.offset);
    let together = |one: Place, other: Place| {
        same(one, other) && (views.together(one, other) || over.contains(&(one, other)) || over.contains(&(other, one)))
    };
    offline::check(layout, &placed, &together)?;
    let ends = placed.values().map(|at| at.offset as u64 + at.bytes);
    Ok(Offline { head: Head { tensors: placed.len(), bytes: ends.max().unwrap_or(0) }, values })
}

/// The operations of a function that are operators of its subgraph.
fn operators<'g>(module: &Module, graph: &'g Graph, func: OpId) -> Vec<(OpId, &'g Operator)> {
    let name = module.sym_name(func).unwrap_or_default();
    let of = |op: OpId| Some((op, graph.operators.get(module.origin(op, name)?)?));
    module.walk(func).into_iter().filter_map(of).collect()
}

/// Arguments and results of a function with their tensors.
pub(crate) fn tensors(layout: &Layout, module: &Module, index: usize, func: OpId) -> Vec<(ValueId, usize)> {
    let graph = &layout.graphs[index];
    let args = module.func_args(func).iter().copied().zip(graph.inputs.iter().copied());
    let made = operators(module, graph, func).into_iter().flat_map(|(op, operator)| {
        module.data_results(op).iter().copied().zip(operator.outputs.iter().copied()).collect::<Vec<_>>()
    });
    args.chain(made).filter_map(|(value, tensor)| Some((value, usize::try_from(tensor).ok()?))).collect()
}

/// The bytes that a tensor takes in the head; else why it takes none there.
fn bytes(layout: &Layout, module: &Module, (index, tensor): Place, value: Option<ValueId>) -> Result<u64, String> {
    let (graph, found) = (&layout.graphs[index], &layout.graphs[index].tensors[tensor]);
    let given = graph.inputs.iter().any(|input| usize::try_from(*input) == Ok(tensor));
    if found.is_external || layout.buffers.get(found.buffer).is_some_and(Buffer::is_filled) {
        return Err("it is a constant, which the runtime reads from the file".to_owned());
    }
    if found.is_variable && !given {
        return Err("it is state, whose bytes the runtime would give to others between two runs".to_owned());
    }
    let value = value.ok_or("no operator makes it, and nobody gives it")?;
    module.value_bytes(value).map_err(|error| error.to_string())
}

/// Pairs of an operator's result and an operand of which it is the last reader.
fn handed_on(index: usize, graph: &Graph) -> Vec<(Place, Place)> {
    let mut last: BTreeMap<i32, usize> = BTreeMap::new();
    for (number, operator) in graph.operators.iter().enumerate() {
        last.extend(operator.inputs.iter().map(|tensor| (*tensor, number)));
    }
    last.extend(graph.outputs.iter().map(|tensor| (*tensor, usize::MAX)));
    let mut pairs = Vec::new();
    for (number, operator) in graph.operators.iter().enumerate() {
        for input in operator.inputs.iter().filter(|input| **input >= 0 && last.get(input) == Some(&number)) {
            pairs.extend(operator.outputs.iter().map(|output| ((index, *output as usize), (index, *input as usize))));
        }
    }
    pairs
}
