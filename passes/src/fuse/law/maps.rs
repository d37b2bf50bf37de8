//! Laws of functions of elements.
//!
//! A movement passes a function: reshapes and windows from its result to the operands that it reads element by element, transposes from
//! those to the result. An operand of one element, repeated everywhere, stays as it is.

use super::super::term::{Form, Graph, Term};
use super::{also, bits, cut, map, movements, perm, same, several};
use egg::Id;
use neap_ir::Dim;

/// A function that computes the same wherever its elements lie, on a class.
struct Applied {
    function: u32,
    operands: Vec<Id>,
    /// By operand: moved with the result.
    lanes: Vec<bool>,
}

/// The functions of a class that a movement can pass; `rank` is that of the moved result.
fn passable(graph: &Graph, class: Id, rank: usize) -> Vec<Applied> {
    let form = graph[class].data;
    let found = several(graph, class, map).into_iter();
    let passable = found.filter_map(|(function, _, operands)| {
        let known = &graph.analysis.functions[function as usize];
        if !known.anywhere || known.lanes.len() != operands.len() {
            return None;
        }
        let dims = graph.analysis.dims(form)?;
        let mut lanes = Vec::new();
        for (operand, lane) in operands.iter().zip(&known.lanes) {
            let from = graph.analysis.dims(graph[*operand].data)?;
            let full = *lane && from == dims;
            let single = from.iter().all(|dim| *dim == Dim::Known(1));
            // One element is repeated under any shape, as long as the operation takes operands of another rank.
            let stays = single && (from.len() == rank || (!known.one_rank && from.len() < rank.min(dims.len() + 1)));
            if !full && !stays {
                return None;
            }
            lanes.push(full);
        }
        lanes.contains(&true).then_some(Applied { function, operands, lanes })
    });
    passable.collect()
}

/// Applies a function to moved operands: `move_one` makes the term of a moved operand from its form and class.
fn pass(
    graph: &mut Graph,
    class: Id,
    form: Form,
    applied: Applied,
    move_one: impl Fn(&mut Graph, Form, Id) -> Option<Term>,
    changed: &mut Vec<Id>,
) {
    let mut operands = Vec::new();
    for (operand, lane) in applied.operands.iter().zip(&applied.lanes) {
        if !*lane {
            operands.push(*operand);
            continue;
        }
        let from = graph[*operand].data;
        let Some(term) = move_one(graph, from, *operand) else { return };
        operands.push(graph.add(term));
    }
    also(graph, class, Term::Map(applied.function, form, operands.into()), changed);
}

/// A transpose that all lanes have passes the function, and meets the one behind it. One that a single lane of several has stays: the others would
/// have to be turned for it.
pub(in super::super) fn map_of_perm(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    let form = graph[class].data;
    let rank = graph.analysis.dims(form).map_or(0, <[Dim]>::len);
    for applied in passable(graph, class, rank) {
        let lanes: Vec<Id> =
            (0..applied.lanes.len()).filter(|at| applied.lanes[*at]).map(|at| applied.operands[at]).collect();
        for (number, _, _) in movements(graph, lanes[0], perm) {
            let turned = |operand: &Id| {
                movements(graph, *operand, perm)
                    .into_iter()
                    .find(|(other, ..)| *other == number)
                    .map(|(_, _, root)| root)
            };
            let Some(roots) = lanes.iter().map(turned).collect::<Option<Vec<Id>>>() else { continue };
            let Some(dims) = graph.analysis.dims(graph[roots[0]].data).map(<[Dim]>::to_vec) else { continue };
            let Some(inner) = graph.analysis.reshaped(form, dims) else { continue };
            let mut roots = roots.into_iter();
            let operands: Option<Vec<Id>> = applied
                .operands
                .iter()
                .zip(&applied.lanes)
                .map(|(operand, lane)| if *lane { roots.next() } else { Some(*operand) })
                .collect();
            let Some(operands) = operands else { continue };
            let inside = graph.add(Term::Map(applied.function, inner, operands.into()));
            also(graph, class, Term::Perm(number, form, [inside]), &mut changed);
        }
    }
    changed
}

pub(in super::super) fn bits_of_map(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (_, form, child) in movements(graph, class, bits) {
        let same_elements = graph.analysis.elem(form) == graph.analysis.elem(graph[child].data);
        let Some(dims) = graph.analysis.dims(form).map(<[Dim]>::to_vec).filter(|_| same_elements) else { continue };
        for applied in passable(graph, child, dims.len()) {
            let shape = |graph: &mut Graph, from: Form, operand: Id| {
                Some(Term::Bits(graph.analysis.reshaped(from, dims.clone())?, [operand]))
            };
            pass(graph, class, form, applied, shape, &mut changed);
        }
    }
    changed
}

pub(in super::super) fn cut_of_map(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (window, form, child) in movements(graph, class, cut) {
        let spans = graph.analysis.windows.get(window).clone();
        for applied in passable(graph, child, spans.len()) {
            // Operands that lie in different ways are one content to the checker, of which it follows no part.
            if applied.lanes.iter().filter(|lane| **lane).count() > 1 {
                continue;
            }
            let part = |graph: &mut Graph, from: Form, operand: Id| {
                Some(Term::Cut(window, graph.analysis.cut(from, &spans)?, [operand]))
            };
            pass(graph, class, form, applied, part, &mut changed);
        }
    }
    changed
}

/// A quantized number of at most 16 bits, times a scale and divided by it, both rounded to 24 bits, is off by less than 2^-7: it
/// rounds to itself. A product that overflows or loses bits below the smallest normal number is kept out by the bounds on the scale.
pub(in super::super) fn quantized_again(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    let form = graph[class].data;
    let lossless = graph.analysis.elem(form).is_some_and(|elem| graph.analysis.lossless.contains(&elem));
    for (function, _, operands) in several(graph, class, map) {
        let [real] = operands[..] else { continue };
        let through = graph.analysis.elem(graph[real].data);
        if !lossless
            || !graph.analysis.functions[function as usize].quantizes
            || through.is_none()
            || through != graph.analysis.real
        {
            continue;
        }
        for (inner, _, operands) in several(graph, real, map) {
            if let [root] = operands[..]
                && graph.analysis.functions[inner as usize].dequantizes
                && graph[root].data == form
            {
                same(graph, class, root, &mut changed);
            }
        }
    }
    changed
}

pub(in super::super) fn neutral_operand(graph: &mut Graph, class: Id) -> Vec<Id> {
    let mut changed = Vec::new();
    for (function, form, operands) in several(graph, class, map) {
        let ([a, b], Some((value, places))) = (&operands[..], graph.analysis.functions[function as usize].neutral)
        else {
            continue;
        };
        for (at, (constant, other)) in [(a, b), (b, a)].into_iter().enumerate() {
            let splat = |term: &Term| if let Term::Leaf(leaf) = term { graph.analysis.splats.get(leaf) } else { None };
            let neutral = graph[*constant].nodes.iter().filter_map(splat).any(|splat| *splat == value);
            if neutral && places.contains(&at) && graph[*other].data == form {
                same(graph, class, *other, &mut changed);
                break;
            }
        }
    }
    changed
}
