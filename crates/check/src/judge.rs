//! Compares two runs of a function: results, buffers of the caller, last state, order.

use crate::exec::{Machine, Outcome};
use crate::names;
use crate::rope::{Rope, Wraps, same};
use crate::state::{Event, State};
use crate::violation::Violation;
use neap_ir::{Module, OpId, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// One side: a module, its function, how it ran.
pub(crate) struct Side<'a, 'm> {
    pub(crate) module: &'a Module,
    pub(crate) func: OpId,
    pub(crate) outcome: &'m Outcome,
    pub(crate) state: &'m State,
    pub(crate) wraps: &'m Wraps,
}

impl<'a, 'm> Side<'a, 'm> {
    pub(crate) fn new(
        machine: &'m Machine<'a, '_>,
        module: &'a Module,
        func: OpId,
        outcome: &'m Outcome,
    ) -> Side<'a, 'm> {
        Side { module, func, outcome, state: &machine.state, wraps: &machine.eval.wraps }
    }

    fn span(&self) -> Span {
        self.module.op(self.func).span
    }
}

/// Appends what differs.
pub(crate) fn compare(source: &Side<'_, '_>, planned: &Side<'_, '_>, out: &mut Vec<Violation>) {
    results(source, planned, out);
    kept(source, planned, out);
    crate::demands::compare(source.outcome, planned.outcome, planned.module, planned.func, out);
    state(source, planned, out);
    order(source, planned, out);
}

fn equal(source: &Side<'_, '_>, planned: &Side<'_, '_>, a: &Rope, b: &Rope) -> bool {
    // A wrapped rope is named by what it holds, so either table may open it.
    same(a, b, planned.wraps) || same(a, b, source.wraps)
}

fn results(source: &Side<'_, '_>, planned: &Side<'_, '_>, out: &mut Vec<Violation>) {
    let function = names::func(planned.module, planned.func);
    let pairs = source.outcome.results.iter().zip(&planned.outcome.results);
    for (index, ((from, want), (to, found))) in pairs.enumerate() {
        if !equal(source, planned, want, found) {
            out.push(Violation::Result {
                function: function.clone(),
                index,
                source: names::value(source.module, *from),
                planned: names::value(planned.module, *to),
                culprit: culprit(source, planned),
                span: planned.span(),
            });
        }
    }
    if source.outcome.results.len() != planned.outcome.results.len() {
        let what = "it returns another number of values than in the source";
        out.push(Violation::Functions { function: function.clone(), what, span: planned.span() });
    }
    for ((_, want), (value, found)) in source.outcome.buffers.iter().zip(&planned.outcome.buffers) {
        if !equal(source, planned, want, found) {
            let (function, value) = (function.clone(), names::value(planned.module, *value));
            out.push(Violation::Buffer { function, value, culprit: culprit(source, planned), span: planned.span() });
        }
    }
}

/// What the source keeps readable, the plan keeps too: under the same name, or under another one with the same content.
fn kept(source: &Side<'_, '_>, planned: &Side<'_, '_>, out: &mut Vec<Violation>) {
    if source.outcome.kept.is_empty() {
        return;
    }
    let (mut by_name, mut by_content) = (FxHashMap::default(), FxHashSet::default());
    for (value, rope) in &planned.outcome.kept {
        by_name.insert(names::value(planned.module, *value), rope);
        by_content.insert(rope.hash());
    }
    for (value, rope) in &source.outcome.kept {
        let name = names::value(source.module, *value);
        let found = match by_name.get(&name) {
            Some(other) => equal(source, planned, rope, other),
            None => by_content.contains(&rope.hash()),
        };
        if !found {
            let (function, span) = (names::func(planned.module, planned.func), planned.span());
            out.push(Violation::Kept { function, value: name, span });
        }
    }
}

/// The first planned operation that computes what the source never does, and which write has passed it, if that is why.
fn culprit(source: &Side<'_, '_>, planned: &Side<'_, '_>) -> Option<String> {
    let strange = |hashes: &[u128]| hashes.iter().any(|hash| !source.outcome.seen.contains(hash));
    let outer = |op: &OpId| planned.module.parent_op(*op) == Some(planned.func);
    let mut trace = planned.outcome.trace.iter();
    let (op, _) = trace.find(|(op, hashes)| outer(op) && strange(hashes))?;
    let name = names::op(planned.module, *op);
    let first = format!("{name} is the first to compute something else");
    let (Some(want), Some(found)) = (writers_before(source, &name), writers_before(planned, &name)) else {
        return Some(first);
    };
    let early = found.iter().find(|writer| !want.contains(writer));
    let late = want.iter().find(|writer| !found.contains(writer));
    Some(match (early, late) {
        (Some(writer), _) => format!("{first}: {writer} writes before it, and comes after it in the source"),
        (None, Some(writer)) => format!("{first}: {writer} writes after it, and comes before it in the source"),
        (None, None) => first,
    })
}

/// The operations that write anything outside of values before an operation runs, by name.
fn writers_before(side: &Side<'_, '_>, reader: &str) -> Option<Vec<String>> {
    let trace = &side.outcome.trace;
    let at = trace.iter().position(|(op, _)| names::op(side.module, *op) == reader)?;
    let before: FxHashSet<OpId> = trace[..at].iter().map(|(op, _)| *op).collect();
    let writers = side.state.events.iter().filter(|event| before.contains(&event.op));
    Some(writers.map(|event| names::op(side.module, event.op)).collect())
}

fn state(source: &Side<'_, '_>, planned: &Side<'_, '_>, out: &mut Vec<Violation>) {
    let (want, found) = (source.state.last(), planned.state.last());
    if want == found {
        return;
    }
    let mut resources: Vec<Option<u128>> = Vec::new();
    if want.0 == found.0 {
        let all = want.1.keys().chain(found.1.keys());
        resources.extend(all.filter(|key| want.1.get(key) != found.1.get(key)).map(|key| Some(*key)));
        resources.sort_unstable();
        resources.dedup();
    } else {
        resources.push(None);
    }
    for resource in resources {
        let name = match resource {
            None => "everything (an operation may touch anything)".to_owned(),
            Some(key) => {
                let name = planned.state.names.get(&key).or_else(|| source.state.names.get(&key));
                name.cloned().unwrap_or_else(|| "a variable".to_owned())
            }
        };
        let touches = |event: &&Event| resource.is_none() || event.resource.is_none() || event.resource == resource;
        let (mut a, mut b) = (source.state.events.iter().filter(touches), planned.state.events.iter().filter(touches));
        let (first, second) = loop {
            match (a.next(), b.next()) {
                (Some(x), Some(y)) if x.what == y.what && x.resource == y.resource => {}
                (x, y) => break (x, y),
            }
        };
        out.push(Violation::Effects {
            function: names::func(planned.module, planned.func),
            resource: name,
            source: first.map(|event| names::op(source.module, event.op)),
            planned: second.map(|event| names::op(planned.module, event.op)),
            span: second.map_or(planned.span(), |event| planned.module.op(event.op).span),
        });
    }
}

/// Tokens of the source: what comes first there comes first in the plan.
fn order(source: &Side<'_, '_>, planned: &Side<'_, '_>, out: &mut Vec<Violation>) {
    for (first, then, from, to) in &source.outcome.edges {
        let (Some((before, _)), Some((after, op))) = (planned.outcome.ran.get(first), planned.outcome.ran.get(then))
        else {
            continue;
        };
        if before > after {
            out.push(Violation::Order {
                function: names::func(planned.module, planned.func),
                first: names::op(source.module, *from),
                then: names::op(source.module, *to),
                span: planned.module.op(*op).span,
            });
        }
    }
}
