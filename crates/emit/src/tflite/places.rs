//! From a plan's attributes to one offset per tensor of a file, all subgraphs in one arena.
//!
//! What a control flow operator runs lies inside the operator's scratch in the caller's plan, so its offsets count from there. A subgraph that
//! is run from several places would need several offsets: its tensors are left to the runtime.

use super::Function;
use super::judge;
use super::layout::Layout;
use super::offline::{self, Place, Placed};
use crate::error;
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Module, OpId, ValueId, plan};
use std::collections::BTreeMap;

/// Where each tensor lies that the plan places.
pub(crate) type Map = BTreeMap<Place, Placed>;

/// What the planned part of the runtime's arena needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// Tensors that have an offset.
    pub tensors: usize,
    /// Bytes up to the end of the last of them.
    pub bytes: u64,
}

/// A plan by tensors.
pub(crate) struct Plan {
    pub(crate) placed: Map,
    /// The smallest tensor of those that share its bytes.
    pub(crate) with: BTreeMap<Place, Place>,
}

impl Plan {
    /// Whether the plan lets two tensors share bytes.
    pub(crate) fn together(&self, one: Place, other: Place) -> bool {
        self.root(one) == self.root(other)
    }

    fn root(&self, mut place: Place) -> Place {
        while let Some(next) = self.with.get(&place) {
            place = *next;
        }
        place
    }

    pub(crate) fn join(&mut self, one: Place, other: Place) {
        let (a, b) = (self.root(one), self.root(other));
        if a != b {
            self.with.insert(a.max(b), a.min(b));
        }
    }
}

/// Offsets and sharing of a plan of `source`, which the file is.
///
/// # Errors
/// The plan has several arenas, sizes that are not known, or others than the file's.
pub(crate) fn of(
    layout: &Layout,
    source: &Module,
    module: &Module,
    functions: &[Function],
) -> Result<Plan, Vec<Diagnostic>> {
    let arenas = module.block_ops(module.body()).filter(|op| module.op_name(*op) == "neap.arena").count();
    if arenas > 1 {
        return Err(vec![error(format!("the plan has {arenas} arenas, and the file can hold offsets in one"))]);
    }
    let bases = bases(layout, module, functions);
    let sizes = sizes(layout, source);
    let mut plan = Plan { placed: BTreeMap::new(), with: BTreeMap::new() };
    let mut errors = Vec::new();
    for (index, (func, order)) in functions.iter().enumerate() {
        let Some(base) = bases[index] else { continue };
        let mut walk = Walk { layout, module, index, base, sizes: &sizes, plan: &mut plan, tensors: BTreeMap::new() };
        if let Err(message) = walk.function(*func, order) {
            errors.push(error(message));
        }
    }
    if errors.is_empty() { Ok(plan) } else { Err(errors) }
}

/// The bytes of the file's own tensors, as far as they are known.
fn sizes(layout: &Layout, source: &Module) -> BTreeMap<Place, u64> {
    let mut found = BTreeMap::new();
    for (index, func) in source.functions().into_iter().enumerate().take(layout.graphs.len()) {
        let tensors = judge::tensors(layout, source, index, func).into_iter();
        found.extend(tensors.filter_map(|(value, tensor)| Some(((index, tensor), source.value_bytes(value).ok()?))));
    }
    found
}

/// Where the arena of each subgraph starts; none where it has no single place.
fn bases(layout: &Layout, module: &Module, functions: &[Function]) -> Vec<Option<i64>> {
    let callers = offline::callers(&layout.graphs);
    let scratch = |graph: usize, number: usize| {
        let (_, op) = functions[graph].1.iter().find(|(index, _)| *index == number)?;
        // An operator without scratch runs what needs no bytes.
        Some(module.attr(*op, plan::SCRATCH_OFFSET).and_then(Attr::as_i64).unwrap_or(0))
    };
    let mut bases = vec![None; layout.graphs.len()];
    if let Some(main) = bases.first_mut() {
        *main = callers[0].is_empty().then_some(0);
    }
    // Outer ones first, however deep they nest.
    for _ in 0..layout.graphs.len() {
        let before = bases.clone();
        for graph in 1..layout.graphs.len() {
            if let [(caller, number)] = callers[graph][..] {
                bases[graph] = before[caller].and_then(|base: i64| base.checked_add(scratch(caller, number)?));
            }
        }
        if bases == before {
            break;
        }
    }
    bases
}

struct Walk<'a> {
    layout: &'a Layout,
    module: &'a Module,
    index: usize,
    base: i64,
    sizes: &'a BTreeMap<Place, u64>,
    plan: &'a mut Plan,
    tensors: BTreeMap<ValueId, Place>,
}

impl Walk<'_> {
    fn function(&mut self, func: OpId, order: &[(usize, OpId)]) -> Result<(), String> {
        let (module, graph) = (self.module, &self.layout.graphs[self.index]);
        for (position, (value, tensor)) in module.func_args(func).iter().zip(&graph.inputs).enumerate() {
            let offset = module.arg_attr(func, position, plan::OFFSET).and_then(Attr::as_i64);
            self.place(*value, *tensor, offset.unwrap_or(-1))?;
        }
        for (number, op) in order {
            let offsets = module.attr(*op, plan::OFFSETS).and_then(Attr::as_i64s).unwrap_or_default();
            for (position, (value, tensor)) in
                module.data_results(*op).iter().zip(&graph.operators[*number].outputs).enumerate()
            {
                self.place(*value, *tensor, offsets.get(position).copied().unwrap_or(-1))?;
            }
            let views = module.views(*op).into_iter().map(|view| (view.result, view.operand));
            let over = module.in_places(*op, plan::INPLACE).into_iter().map(|pair| (pair.result, pair.operand));
            let parts = module.places(*op, plan::PLACE).into_iter().map(|part| (0, part.operand));
            for (result, operand) in views.chain(over).chain(parts) {
                let result =
                    module.data_results(*op).get(result as usize).and_then(|value| self.tensors.get(value)).copied();
                let operand =
                    module.data_operand(*op, operand as usize).and_then(|value| self.tensors.get(&value)).copied();
                if let (Some(result), Some(operand)) = (result, operand) {
                    self.plan.join(result, operand);
                }
            }
        }
        Ok(())
    }

    fn place(&mut self, value: ValueId, tensor: i32, offset: i64) -> Result<(), String> {
        let Ok(tensor) = usize::try_from(tensor) else { return Ok(()) };
        let place = (self.index, tensor);
        self.tensors.insert(value, place);
        if offset < 0 {
            return Ok(());
        }
        let name = || offline::tensor_place(self.index, tensor, &self.layout.graphs[self.index].tensors[tensor].name);
        let bytes = self.module.value_bytes(value).map_err(|error| format!("{}: {error}", name()))?;
        if let Some(here) = self.sizes.get(&place).filter(|here| **here != bytes) {
            return Err(format!("{}: it has {here} bytes in the file, {bytes} in the plan", name()));
        }
        let offset = self.base.checked_add(offset).ok_or_else(|| format!("{}: its offset is out of range", name()))?;
        if offset % offline::ALIGN != 0 && bytes > 0 {
            return Err(format!("{}: offset {offset} is no multiple of {}", name(), offline::ALIGN));
        }
        self.plan.placed.insert(place, Placed { offset, bytes });
        Ok(())
    }
}
