//! Laws of movements alone.

use super::super::term::{Form, Graph, Span, Term};
use super::{FOLLOWED, also, bits, cut, movements, perm, same};
use egg::Id;
use neap_ir::Dim;

pub(in super::super) fn same_form(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (_, form, child) in movements(graph, class, bits) {
        if graph[child].data == form {
            same(graph, class, child, &mut changed);
        }
    }
    changed
}

pub(in super::super) fn bits_of_bits(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    let Some((_, form, child)) = movements(graph, class, bits).first().copied() else { return changed };
    let root = movements(graph, child, bits).first().map(|(_, _, root)| *root);
    if let Some(root) = root.filter(|root| *root != child) {
        also(graph, class, Term::Bits(form, [root]), &mut changed);
    }
    changed
}

pub(in super::super) fn perm_of_perm(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (outer, form, child) in movements(graph, class, perm) {
        let Some((inner, _, root)) = movements(graph, child, perm).first().copied() else { continue };
        if root == child {
            continue;
        }
        let (outer, inner) = (graph.analysis.perms.get(outer), graph.analysis.perms.get(inner));
        let both: Vec<u32> = outer.iter().map(|axis| inner[*axis as usize]).collect();
        if both.is_sorted() && graph[root].data == form {
            same(graph, class, root, &mut changed);
        } else {
            let both = graph.analysis.perms.number(both);
            also(graph, class, Term::Perm(both, form, [root]), &mut changed);
        }
    }
    changed
}

pub(in super::super) fn perm_of_units(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (number, form, child) in movements(graph, class, perm) {
        let Some(dims) = graph.analysis.dims(graph[child].data) else { continue };
        let order = graph.analysis.perms.get(number).iter();
        if order.filter(|axis| dims.get(**axis as usize) != Some(&Dim::Known(1))).is_sorted() {
            also(graph, class, Term::Bits(form, [child]), &mut changed);
        }
    }
    changed
}

pub(in super::super) fn cut_of_all(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (_, form, child) in movements(graph, class, cut) {
        // A window of everything has the form of what it is a window of, and no other one has it.
        if graph[child].data == form {
            same(graph, class, child, &mut changed);
        }
    }
    changed
}

pub(in super::super) fn cut_of_cut(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (outer, form, child) in movements(graph, class, cut) {
        let Some((inner, _, root)) = movements(graph, child, cut).first().copied() else { continue };
        if root == child {
            continue;
        }
        let spans = graph.analysis.windows.get(outer).iter().zip(graph.analysis.windows.get(inner));
        let both = spans.map(|(outer, inner)| {
            let start = outer.start.checked_mul(inner.step)?.checked_add(inner.start)?;
            Some(Span { start, len: outer.len, step: outer.step.checked_mul(inner.step)? })
        });
        let Some(both) = both.collect::<Option<Vec<Span>>>() else { continue };
        let both = graph.analysis.windows.number(both);
        also(graph, class, Term::Cut(both, form, [root]), &mut changed);
    }
    changed
}

pub(in super::super) fn cut_of_perm(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (window, form, child) in movements(graph, class, cut) {
        for (number, _, root) in movements(graph, child, perm) {
            let mut before = graph.analysis.windows.get(window).clone();
            for (at, axis) in graph.analysis.perms.get(number).iter().enumerate() {
                before[*axis as usize] = graph.analysis.windows.get(window)[at];
            }
            let from = graph[root].data;
            let Some(inner) = graph.analysis.cut(from, &before) else { continue };
            let before = graph.analysis.windows.number(before);
            let part = graph.add(Term::Cut(before, inner, [root]));
            also(graph, class, Term::Perm(number, form, [part]), &mut changed);
        }
    }
    changed
}

pub(in super::super) fn cut_of_pad(graph: &mut Graph, class: Id) -> Vec<Id> {
    let pad =
        |term: &Term| if let Term::Pad(number, form, [child]) = term { Some((*number, *form, *child)) } else { None };
    let mut changed = Vec::new();
    for (window, form, child) in movements(graph, class, cut) {
        for (margins, _, root) in movements(graph, child, pad) {
            let Some(sizes) = graph.analysis.sizes(graph[root].data) else { continue };
            if !followed(graph, graph[child].data, &sizes) {
                continue;
            }
            let low = &graph.analysis.margins.get(margins).low;
            let spans = graph.analysis.windows.get(window).iter().zip(low).zip(&sizes);
            let inside = spans.map(|((span, low), size)| {
                let start = span.start.checked_sub(*low)?;
                let inside = span.len == 0 || (span.len - 1).checked_mul(span.step)?.checked_add(start)? < *size;
                inside.then_some(Span { start, ..*span })
            });
            let Some(inside) = inside.collect::<Option<Vec<Span>>>() else { continue };
            let inside = graph.analysis.windows.number(inside);
            also(graph, class, Term::Cut(inside, form, [root]), &mut changed);
        }
    }
    changed
}

/// Whether the checker follows a padded value: in one piece per index of the dimensions before the last one with a margin.
fn followed(graph: &Graph, padded: Form, sizes: &[u64]) -> bool {
    let Some(made) = graph.analysis.sizes(padded) else { return false };
    let last = made.iter().zip(sizes).rposition(|(made, size)| made != size).unwrap_or(0);
    let rounds = made[..last].iter().try_fold(1u64, |count, size| count.checked_mul(*size));
    rounds.is_some_and(|rounds| rounds <= FOLLOWED)
}

pub(in super::super) fn pad_of_none(graph: &mut Graph, class: Id) -> Vec<Id> {
    let pad =
        |term: &Term| if let Term::Pad(number, form, [child]) = term { Some((*number, *form, *child)) } else { None };
    let mut changed = Vec::new();
    for (margins, form, child) in movements(graph, class, pad) {
        if graph.analysis.margins.get(margins).none && graph[child].data == form {
            same(graph, class, child, &mut changed);
        }
    }
    changed
}

fn spread(term: &Term) -> Option<(u32, Form, Id)> {
    if let Term::Spread(number, form, [child]) = term { Some((*number, *form, *child)) } else { None }
}

pub(in super::super) fn spread_of_same(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (number, form, child) in movements(graph, class, spread) {
        let order = graph.analysis.spreads.get(number);
        if graph[child].data == form && order.iter().enumerate().all(|(at, dim)| at as u32 == *dim) {
            same(graph, class, child, &mut changed);
        }
    }
    changed
}

pub(in super::super) fn spread_of_spread(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (outer, form, child) in movements(graph, class, spread) {
        let Some((inner, _, root)) = movements(graph, child, spread).first().copied() else { continue };
        if root == child {
            continue;
        }
        let outer = graph.analysis.spreads.get(outer);
        let both: Vec<u32> = graph.analysis.spreads.get(inner).iter().map(|dim| outer[*dim as usize]).collect();
        let both = graph.analysis.spreads.number(both);
        also(graph, class, Term::Spread(both, form, [root]), &mut changed);
    }
    changed
}
