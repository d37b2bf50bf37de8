//! Names of dynamic dimensions.
//!
//! Results and arguments of functions say theirs in `neap.dims`. Arguments of bodies say nothing: what is handed to them has names. In a loop that is
//! what the loop starts with and what its bodies hand on, through any number of further bodies. Whichever of these an argument holds, its
//! dimension is one of theirs, so the largest of their bounds holds for it, and one name that all have is its own. The same goes for results that come
//! out of bodies or called functions, where the operation says nothing of them.
//!
//! Which operand goes to which argument is read from the embedded tables of op facts.

use crate::attr::Attr;
use crate::facts::{Facts, Role, Run};
use crate::module::{Def, Module, OpId, ValueId};
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
        self.sources(value, false)
    }

    /// The same; with `reshaped`, also what comes into results that may have another shape than what is handed to them.
    pub(crate) fn sources(&self, value: ValueId, reshaped: bool) -> Option<Vec<ValueId>> {
        let (mut makers, mut seen, mut todo) = (Vec::new(), FxHashSet::default(), vec![value]);
        while let Some(value) = todo.pop() {
            if !seen.insert(value) {
                continue;
            }
            if self.is_body_arg(value) {
                todo.extend(self.bound_to(value)?);
                continue;
            }
            let (said, through) = match self.value(value).def() {
                Def::Arg(..) => (true, false),
                Def::Result(op, _) => {
                    let said = !self.is_unsaid(op, value);
                    (said, !said || (reshaped && self.reshapes(op)))
                }
            };
            let inner = if through { self.handed_back(value) } else { None };
            if said || inner.is_none() {
                makers.push(value);
            }
            todo.extend(inner.into_iter().flatten());
        }
        Some(makers)
    }

    /// Whether a value is an argument of a body: of any block but those of functions.
    pub(crate) fn is_body_arg(&self, value: ValueId) -> bool {
        match self.value(value).def() {
            Def::Arg(block, _) => self.op_name(self.region_op(self.block_region(block))) != "func.func",
            Def::Result(..) => false,
        }
    }

    /// Whether neither the type of a result nor its operation says how large it is.
    pub(crate) fn is_unsaid(&self, op: OpId, value: ValueId) -> bool {
        let says = |key: &str| self.attr(op, key).is_some();
        !says("neap.dims") && !says("neap.bytes") && self.ty_bytes(self.value_ty(value), &mut |_| None).is_err()
    }

    /// Whether what bodies of an operation hand on may have other shapes than what it goes to.
    pub(crate) fn reshapes(&self, op: OpId) -> bool {
        Facts::builtin().get(self.op_name(op)).is_some_and(|row| row.body.reshapes)
    }

    /// What a result that comes out of bodies or called functions can be. None for other results, and where it is not known.
    fn handed_back(&self, value: ValueId) -> Option<Vec<ValueId>> {
        let Def::Result(op, index) = self.value(value).def() else { return None };
        let index = index as usize;
        let facts = Facts::builtin();
        let count = self.data_operand_count(op);
        let row = facts.of(self.op_name(op), count, self.data_results(op).len());
        let body = &row.body;
        // Results of an asynchronous operation are promises.
        if matches!(body.run, Run::Kernel | Run::None) || row.role == Role::AsyncStart {
            return None;
        }
        let mut found = Vec::new();
        if body.run == Run::Loop && !body.cond_forwards {
            // What a loop gathers of every trip is none of what its trips hand on.
            found.push(self.data_operand(op, body.args.nth_below(count, index)?)?);
        }
        let regions = self.op_regions(op).len();
        let place = if body.cond_forwards { 1 + index } else { body.yield_lead + index };
        for at in 0..if regions > 0 { regions } else { body.callees.len() } {
            if (body.cond == Some(at)) == body.cond_forwards {
                let ends =
                    if regions > 0 { self.ends(op, at) } else { self.ends(self.callee(op, &body.callees[at])?, 0) };
                for last in &ends {
                    found.push(self.data_operand(*last, place)?);
                }
                if ends.is_empty() {
                    return None;
                }
            }
        }
        if found.is_empty() { None } else { Some(found) }
    }

    /// The function that an attribute names, if it has a body here.
    pub(crate) fn callee(&self, op: OpId, key: &str) -> Option<OpId> {
        let name = self.attr(op, key).and_then(|attr| attr.as_symbol().or(attr.as_str()))?;
        self.symbol(name).filter(|func| self.entry(*func).is_some())
    }

    /// The last operations of the blocks that leave a region.
    pub(crate) fn ends(&self, op: OpId, region: usize) -> Vec<OpId> {
        let lasts = self.region_blocks(op, region).iter().filter_map(|block| self.terminator(*block));
        lasts.filter(|last| self.successors(*last).is_empty()).collect()
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
        let mut found = vec![self.data_operand(op, body.args.nth_below(count, place)?)?];
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
