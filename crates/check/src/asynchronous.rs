//! Work that goes on beside the rest: from the operation that starts it to the one that awaits it, nothing else writes the bytes that it
//! touches.

use crate::homes::{Home, Homes};
use crate::live::Steps;
use neap_ir::facts::Role;
use neap_ir::{OpId, ValueId};
use rustc_hash::FxHashSet;

/// One piece of such work.
pub(crate) struct Work {
    /// What starts it.
    pub(crate) start: OpId,
    /// One past the step that awaits it; the end of the function where nothing does.
    pub(crate) until: u32,
    /// Whether it is never awaited.
    pub(crate) forever: bool,
    /// All values that it may touch: operands, results, what its bodies make and read.
    pub(crate) touched: Vec<ValueId>,
}

impl Work {
    /// The bytes that it may touch.
    pub(crate) fn homes(&self, homes: &Homes<'_>) -> Vec<Home> {
        let m = homes.module;
        let scratches = std::iter::once(self.start).chain(m.walk(self.start));
        let scratches = scratches.filter_map(|op| crate::overlap::scratch(homes, op));
        self.touched.iter().filter_map(|value| homes.of(*value).copied()).chain(scratches).collect()
    }
}

/// All asynchronous work of a function.
pub(crate) fn work(homes: &Homes<'_>, steps: &Steps) -> Vec<Work> {
    let m = homes.module;
    let starts = m.walk(homes.func).into_iter().filter(|op| homes.row(*op).role == Role::AsyncStart);
    starts
        .map(|start| {
            let awaited = awaited(homes, steps, start);
            let inner = std::iter::once(start).chain(m.walk(start));
            let touched = inner.flat_map(|op| m.data_operands(op).chain(m.data_results(op).iter().copied()));
            Work {
                start,
                until: awaited.unwrap_or(steps.total()),
                forever: awaited.is_none(),
                touched: touched.collect(),
            }
        })
        .collect()
}

/// One past the last step that awaits a start, also through a group that its token joins.
fn awaited(homes: &Homes<'_>, steps: &Steps, start: OpId) -> Option<u32> {
    let m = homes.module;
    let (mut todo, mut seen): (Vec<ValueId>, FxHashSet<ValueId>) = (m.results(start).to_vec(), FxHashSet::default());
    let mut last = None;
    while let Some(value) = todo.pop() {
        if !seen.insert(value) {
            continue;
        }
        for usage in m.value(value).uses().iter().filter(|usage| homes.row(usage.op).role == Role::AsyncAwait) {
            last = last.max(Some(steps.of(usage.op).1));
            let group = |value: &ValueId| m.defining_op(*value).is_some_and(|op| homes.row(op).role == Role::Token);
            todo.extend(m.operands(usage.op).filter(group));
        }
    }
    last
}
