//! TFLite: the operators of each subgraph in the planned order, all else untouched.
//!
//! A subgraph lists its operators by pointers, so a new order is a permutation of these pointers: not one other byte changes, and whatever
//! stands behind the flatbuffer keeps its place. What refers to operators by their number, the metadata `model_control_dependencies`, is
//! renumbered ([`control`]).

mod control;
mod grow;
mod judge;
mod layout;
mod offline;
mod places;
mod wiring;

use crate::{error, order};
use layout::{Graph, Layout};
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, OpId};

pub use judge::Offline;
pub use places::Head;

/// What goes into the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The metadata `OfflineMemoryAllocation`: TFLite Micro puts each tensor where the plan has it.
    pub offsets: bool,
}

/// Writes the file of a plan.
///
/// `template` is the file that `source` was read from; `planned` is a plan of `source`. That the two compute the same is for a checker to
/// say; that the plan's operations are this file's operators is looked at here.
///
/// # Errors
/// The plan is not one of this file, or the file cannot hold it.
pub fn write(template: &[u8], source: &Module, planned: &Module, options: Options) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let layout = read(template)?;
    let functions = functions(&layout, source, planned)?;
    let orders: Vec<Vec<usize>> =
        functions.iter().map(|(_, order)| order.iter().map(|(index, _)| *index).collect()).collect();
    shared_lists(&layout, &orders)?;
    let mut out = template.to_vec();
    for (graph, order) in layout.graphs.iter().zip(&orders) {
        permute(&mut out, graph, order)?;
    }
    control::renumber(&mut out, &layout, &orders)?;
    compare(&layout, &orders, &out)?;
    if options.offsets {
        let plan = places::of(&layout, source, planned, &functions)?;
        let ordered = read(&out)?;
        offline::check(&ordered, &plan.placed, &|one, other| plan.together(one, other))?;
        let words = offline::words(&ordered, &plan.placed)?;
        out = grow::with_metadata(&out, &ordered, offline::NAME, &offline::bytes(&words))?;
        offsets_are(&out, &plan.placed)?;
    }
    Ok(out)
}

/// Reads the offsets of a file that TFLite Micro would follow, and looks at them; see [`Offline`]. None if the file has none. Tensors may lie in each
/// other's bytes only where an operator writes its result over an operand that nobody reads later; whether it may do so is for a checker.
///
/// # Errors
/// What is wrong with the list, which tensors can have no offset, or which overlap.
pub fn read_offsets(file: &[u8], module: &Module) -> Result<Option<Offline>, Vec<Diagnostic>> {
    let layout = read(file)?;
    let Some(offsets) = offline::read(&layout, file)? else { return Ok(None) };
    judge::judge(&layout, module, &offsets).map(Some)
}

/// The offsets that stand in the file are those of the plan, and good ones for whoever knows the file alone.
fn offsets_are(file: &[u8], placed: &places::Map) -> Result<(), Vec<Diagnostic>> {
    read_offsets(file, &neap_import::read_tflite(file)?)?;
    let found = offline::read(&read(file)?, file)?.unwrap_or_default();
    let same = placed.iter().filter(|(_, at)| at.bytes > 0).map(|(place, at)| (*place, at.offset)).eq(found);
    if same { Ok(()) } else { Err(vec![error("the offsets read back are not those of the plan")]) }
}

/// A function of the plan, with its operations and their numbers in the file, in the order of the plan.
type Function = (OpId, Vec<(usize, OpId)>);

fn read(bytes: &[u8]) -> Result<Layout, Vec<Diagnostic>> {
    layout::read(bytes).map_err(|broken| vec![error(format!("malformed TFLite file: {broken}"))])
}

/// For each subgraph, its function in the plan.
fn functions(layout: &Layout, source: &Module, planned: &Module) -> Result<Vec<Function>, Vec<Diagnostic>> {
    let functions = source.functions();
    if functions.len() != layout.graphs.len() {
        let what = format!("the module has {} functions, the file {} subgraphs", functions.len(), layout.graphs.len());
        return Err(vec![error(what)]);
    }
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for (func, graph) in functions.into_iter().zip(&layout.graphs) {
        let name = source.sym_name(func).unwrap_or_default();
        let known = planned.symbol(name).and_then(|func| Some((func, planned.entry(func)?)));
        let Some((func, block)) = known else {
            errors.push(error(format!("the plan has no function @{name}")));
            continue;
        };
        let order = order::planned(planned, block, name, graph.operators.len())
            .and_then(|order| wiring::compare(planned, func, &order, graph, &layout.buffers).map(|()| order));
        match order {
            Ok(order) => found.push((func, order)),
            Err(more) => errors.extend(more),
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

/// Subgraphs may share one list of operators; then they are run in one order.
fn shared_lists(layout: &Layout, orders: &[Vec<usize>]) -> Result<(), Vec<Diagnostic>> {
    let mut lists: Vec<(usize, usize, usize)> = Vec::new();
    for (index, graph) in layout.graphs.iter().enumerate().filter(|(_, graph)| !graph.operators.is_empty()) {
        lists.push((graph.list, graph.list + 4 * graph.operators.len(), index));
    }
    lists.sort_unstable();
    for pair in lists.windows(2) {
        let ((_, end, one), (begin, _, other)) = (pair[0], pair[1]);
        if begin < end && (orders[one] != orders[other] || layout.graphs[one].list != layout.graphs[other].list) {
            let what = format!("subgraphs {one} and {other} share their list of operators, but not their order");
            return Err(vec![error(what)]);
        }
    }
    Ok(())
}

/// Lets the entries of a list point to the operators in a new order.
fn permute(out: &mut [u8], graph: &Graph, order: &[usize]) -> Result<(), Vec<Diagnostic>> {
    for (position, index) in order.iter().enumerate() {
        let place = graph.list + 4 * position;
        let target = graph.operators[*index].at;
        let pointer = target.checked_sub(place).and_then(|pointer| u32::try_from(pointer).ok());
        let Some(pointer) = pointer.filter(|pointer| *pointer > 0) else {
            let what = format!(
                "operator {index} stands in the file before entry {position} of its list, where nothing can point to it"
            );
            return Err(vec![error(what)]);
        };
        out[place..place + 4].copy_from_slice(&pointer.to_le_bytes());
    }
    Ok(())
}

/// Reads back what was written: the same tables in the new order.
fn compare(layout: &Layout, orders: &[Vec<usize>], out: &[u8]) -> Result<(), Vec<Diagnostic>> {
    let again = read(out)?;
    let same = |graph: usize, order: &[usize]| {
        let (old, new) = (&layout.graphs[graph], &again.graphs[graph]);
        let operators = order.iter().map(|index| &old.operators[*index]);
        new.operators.len() == order.len()
            && new.operators.iter().eq(operators)
            && (&new.tensors, &new.inputs, &new.outputs) == (&old.tensors, &old.inputs, &old.outputs)
    };
    let all = again.graphs.len() == layout.graphs.len()
        && orders.iter().enumerate().all(|(graph, order)| same(graph, order))
        && again.buffers.len() == layout.buffers.len()
        && again.metadata == layout.metadata;
    if all { Ok(()) } else { Err(vec![error("parts of the file overlap: it cannot be changed in place")]) }
}
