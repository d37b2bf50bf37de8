//! Laws of values joined along a dimension.

use super::super::term::{Form, Graph, Span, Term};
use super::{FOLLOWED, also, cut, join, movements, same, several};
use egg::Id;
use neap_ir::Dim;

pub(in super::super) fn join_of_one(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (_, form, parts) in several(graph, class, join) {
        if let [part] = parts[..]
            && graph[part].data == form
        {
            same(graph, class, part, &mut changed);
        }
    }
    changed
}

pub(in super::super) fn join_of_cuts(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (axis, form, parts) in several(graph, class, join) {
        let many = parts.len() > 1 && followed(graph, form, axis as usize, parts.len());
        let Some(first) = parts.first().filter(|_| many) else { continue };
        for (window, _, root) in movements(graph, *first, cut) {
            if let Some(window) = together(graph, axis as usize, window, root, &parts[1..]) {
                let window = graph.analysis.windows.number(window);
                also(graph, class, Term::Cut(window, form, [root]), &mut changed);
            }
        }
    }
    changed
}

/// The window that the first one and those of further parts of the same value make up.
fn together(graph: &Graph, axis: usize, first: u32, root: Id, rest: &[Id]) -> Option<Vec<Span>> {
    let mut all = graph.analysis.windows.get(first).clone();
    let mut end = all.get(axis)?.start + all[axis].len;
    for part in rest {
        let next = movements(graph, *part, cut).into_iter().find_map(|(window, _, from)| {
            let spans = graph.analysis.windows.get(window);
            let others = (0..all.len()).filter(|at| *at != axis).all(|at| spans.get(at) == all.get(at));
            let follows = spans.get(axis).is_some_and(|span| span.start == end && span.step == 1);
            (from == root && spans.len() == all.len() && others && follows).then(|| spans[axis].len)
        })?;
        end += next;
    }
    if all[axis].step != 1 {
        return None;
    }
    all[axis].len = end - all[axis].start;
    Some(all)
}

pub(in super::super) fn cut_of_join(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (window, form, child) in movements(graph, class, cut) {
        for (axis, whole, parts) in several(graph, child, join) {
            let axis = axis as usize;
            if !followed(graph, whole, axis, parts.len()) {
                continue;
            }
            let mut spans = graph.analysis.windows.get(window).clone();
            let Some(span) = spans.get(axis).copied().filter(|span| span.len > 0) else { continue };
            let mut before = 0;
            for part in parts {
                let Some(size) = size(graph, graph[part].data, axis) else { break };
                let last = span.start + (span.len - 1) * span.step;
                if span.start >= before && last < before + size {
                    spans[axis].start -= before;
                    let window = graph.analysis.windows.number(spans.clone());
                    also(graph, class, Term::Cut(window, form, [part]), &mut changed);
                    break;
                }
                before += size;
            }
        }
    }
    changed
}

/// Whether the checker follows joined values: each part lies in one piece per index of the dimensions before the axis.
fn followed(graph: &Graph, form: Form, axis: usize, parts: usize) -> bool {
    let Some(sizes) = graph.analysis.sizes(form) else { return false };
    let outer = sizes.iter().take(axis).try_fold(parts as u64, |count, size| count.checked_mul(*size));
    outer.is_some_and(|pieces| pieces <= FOLLOWED)
}

fn size(graph: &Graph, form: Form, axis: usize) -> Option<u64> {
    match graph.analysis.dims(form)?.get(axis)? {
        Dim::Known(size) => Some(*size),
        Dim::Dynamic => None,
    }
}
