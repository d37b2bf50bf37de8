//! Names of dynamic dimensions.
//!
//! Results and arguments of functions say theirs in `neap.dims`. Arguments of bodies say nothing: what is handed to them has names. In a loop that is
//! what the loop starts with and what its bodies hand on, through any number of further bodies. Whichever of these an argument holds, its
//! dimension is one of theirs, so the largest of their bounds holds for it, and one name that all have is its own.
//!
//! Which operand goes to which argument is read from the embedded tables of op facts.

use crate::attr::Attr;
use crate::facts::{Facts, Run};
use crate::module::{Def, Module, ValueId};
use crate::types::{Dim, Type};
use rustc_hash::FxHashSet;

impl Module {
    /// Axes of a value whose size is `?`.
    pub fn dynamic_axes(&self, value: ValueId) -> Vec<usize> {
        match self.ty(self.value_ty(value)) {
            Type::Tensor { shape: Some(shape), .. } | Type::MemRef { shape: Some(shape), .. } => {
                (0..shape.len()).filter(|axis| shape[*axis] == Dim::Dynamic).collect()
            }
            _ => Vec::new(),
        }
    }

    /// For each dynamic axis of a value, in order: the names of the dimensions that it can be, sorted; none where one of them has no name.
    pub fn dim_names(&self, value: ValueId) -> Vec<Vec<&str>> {
        let axes = self.dynamic_axes(value);
        if axes.is_empty() {
            return Vec::new();
        }
        let Some(makers) = self.makers(value) else { return vec![Vec::new(); axes.len()] };
        let names = |axis: &usize| -> Vec<&str> {
            let names: Option<Vec<&str>> = makers.iter().map(|maker| self.stated_dim(*maker, *axis)).collect();
            let mut names = names.unwrap_or_default();
            names.sort_unstable();
            names.dedup();
            names
        };
        axes.iter().map(names).collect()
    }

    /// The one name of a dynamic axis; two axes without a name are not known to be equal.
    pub fn dim_name(&self, value: ValueId, axis: usize) -> Option<&str> {
        let at = self.dynamic_axes(value).iter().position(|other| *other == axis)?;
        match self.dim_names(value)[at][..] {
            [name] => Some(name),
            _ => None,
        }
    }

    /// What a value can be of what operations and callers make: the value itself, or for an argument of a body all that is handed to it. None
    /// where that is not known.
    fn makers(&self, value: ValueId) -> Option<Vec<ValueId>> {
        let (mut makers, mut seen, mut todo) = (Vec::new(), FxHashSet::default(), vec![value]);
        while let Some(value) = todo.pop() {
            match self.value(value).def() {
                Def::Arg(block, _) if self.op_name(self.region_op(self.block_region(block))) != "func.func" => {
                    if seen.insert(value) {
                        todo.extend(self.bound_to(value)?);
                    }
                }
                _ => makers.push(value),
            }
        }
        Some(makers)
    }

    /// What is handed to an argument of a body.
    fn bound_to(&self, value: ValueId) -> Option<Vec<ValueId>> {
        let Def::Arg(block, index) = self.value(value).def() else { return None };
        let op = self.region_op(self.block_region(block));
        let facts = Facts::builtin();
        let (count, regions) = (self.data_operand_count(op), self.op_regions(op).len());
        let body = &facts.of(self.op_name(op), count, self.data_results(op).len()).body;
        let region = (0..regions).find(|at| self.region_blocks(op, *at) == [block])?;
        let place = (index as usize).checked_sub(body.lead)?;
        let given = |at: usize, place: usize| match self.region_blocks(op, at) {
            [block] => self.data_operand(self.terminator(*block)?, place),
            _ => None,
        };
        let decides = body.cond == Some(region);
        if body.cond_forwards && !decides {
            return Some(vec![given(body.cond?, 1 + place)?]);
        }
        let mut found = vec![self.data_operand(op, body.args.below(count).nth(place)?)?];
        match body.run {
            Run::Loop => {
                let trips = (0..regions).filter(|at| Some(*at) != body.cond);
                trips.map(|at| given(at, body.yield_lead + place)).try_for_each(|value| {
                    found.push(value?);
                    Some(())
                })?;
            }
            Run::Once | Run::Branch | Run::Parallel => {}
            // What a kernel holds while it runs takes no bytes.
            Run::Kernel | Run::None => return None,
        }
        Some(found)
    }

    /// The name that `neap.dims` gives to an axis of a result or an argument of a function: the list runs over the `?` of all results in order, or
    /// of the argument alone.
    fn stated_dim(&self, value: ValueId, axis: usize) -> Option<&str> {
        let at = self.dynamic_axes(value).iter().position(|other| *other == axis)?;
        let (list, before) = match self.value(value).def() {
            Def::Result(op, index) => {
                let earlier = &self.results(op)[..index as usize];
                let before = earlier.iter().map(|value| self.dynamic_axes(*value).len()).sum();
                (self.attr(op, "neap.dims"), before)
            }
            Def::Arg(block, index) => {
                let func = self.region_op(self.block_region(block));
                let entry = self.entry(func) == Some(block);
                (if entry { self.arg_attr(func, index as usize, "neap.dims") } else { None }, 0)
            }
        };
        let Some(Attr::Array(list)) = list else { return None };
        list.get(before + at).and_then(Attr::as_str).filter(|name| !name.is_empty())
    }
}
