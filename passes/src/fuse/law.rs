//! The laws: which terms are the same value, whatever the contents.
//!
//! A law is a row: its name, the equation, and what adds the other side to a class that holds one. Each has an example and a near miss in the
//! tests, where the independent checker runs both on random shapes; each is needed for its example, and some are broken there on
//! purpose, to see the checker refuse them. A law that a class does not fit adds nothing; none takes a term away.

mod joins;
mod maps;
mod moves;
#[cfg(test)]
mod tests;

use super::term::{Form, Graph, Tables, Term};
use egg::{Applier, Id, Language, Rewrite, SearchMatches, Searcher, Subst, Symbol, Var};

/// A law.
#[derive(Clone, Copy)]
pub(super) struct Law {
    pub(super) name: &'static str,
    /// The equation, for people.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by people, and by the tests"))]
    pub(super) law: &'static str,
    /// The kind of term that it begins with: classes without one are not looked at.
    head: u8,
    /// Adds the other side to a class; returns the classes that changed.
    pub(super) add: fn(&mut Graph, Id) -> Vec<Id>,
}

const fn law(head: u8, name: &'static str, law: &'static str, add: fn(&mut Graph, Id) -> Vec<Id>) -> Law {
    Law { name, law, head, add }
}

/// The laws.
pub(super) const LAWS: &[Law] = &[
    law(Term::BITS, "same-form", "bits(x) = x, where x has that form", moves::same_form),
    law(Term::BITS, "bits-of-bits", "bits(bits(x)) = bits(x)", moves::bits_of_bits),
    law(
        Term::PERM,
        "perm-of-perm",
        "perm(p, perm(q, x)) = perm(q after p, x), and x where that is the identity",
        moves::perm_of_perm,
    ),
    law(
        Term::PERM,
        "perm-of-units",
        "perm(p, x) = bits(x), where all dimensions but those of size 1 keep their order",
        moves::perm_of_units,
    ),
    law(Term::CUT, "cut-of-all", "cut(w, x) = x, where w is everything", moves::cut_of_all),
    law(Term::CUT, "cut-of-cut", "cut(v, cut(w, x)) = cut(v in w, x)", moves::cut_of_cut),
    law(Term::CUT, "cut-of-perm", "cut(w, perm(p, x)) = perm(p, cut(w by p, x))", moves::cut_of_perm),
    law(
        Term::CUT,
        "cut-of-pad",
        "cut(w, pad(x)) = cut(w less the margins, x), where w meets no margin",
        moves::cut_of_pad,
    ),
    law(Term::PAD, "pad-of-none", "pad(x) = x, where there are no margins", moves::pad_of_none),
    law(Term::SPREAD, "spread-of-same", "spread(x) = x, where nothing is repeated", moves::spread_of_same),
    law(Term::SPREAD, "spread-of-spread", "spread(d, spread(e, x)) = spread(d of e, x)", moves::spread_of_spread),
    law(Term::JOIN, "join-of-one", "join(x) = x", joins::join_of_one),
    law(
        Term::JOIN,
        "join-of-cuts",
        "join(cut(v, x), cut(w, x), ..) = cut(v and w and .., x), where they follow each other",
        joins::join_of_cuts,
    ),
    law(
        Term::CUT,
        "cut-of-join",
        "cut(w, join(x, y)) = cut(w less what is before y, y), where w lies in y",
        joins::cut_of_join,
    ),
    law(
        Term::MAP,
        "map-of-perm",
        "f(perm(p, x), perm(p, y)) = perm(p, f(x, y)), for f element by element",
        maps::map_of_perm,
    ),
    law(
        Term::BITS,
        "bits-of-map",
        "bits(f(x)) = f(bits(x)), for f element by element and the same elements",
        maps::bits_of_map,
    ),
    law(
        Term::CUT,
        "cut-of-map",
        "cut(w, f(x)) = f(cut(w, x)), for f element by element of one operand",
        maps::cut_of_map,
    ),
    law(
        Term::MAP,
        "quantize-of-dequantize",
        "quantize(dequantize(x)) = x, under one scale that is neither tiny nor huge",
        maps::quantized_again,
    ),
    law(Term::MAP, "neutral-operand", "x + 0 = x, x * 1 = x, for integers", maps::neutral_operand),
];

/// Laws as egg's rewrites.
pub(super) fn rewrites(laws: &[Law]) -> Vec<Rewrite<Term, Tables>> {
    laws.iter().filter_map(|law| Rewrite::new(law.name, Heads(law.head), Adds(law.add)).ok()).collect()
}

/// Finds the classes that hold a term of a kind.
struct Heads(u8);

impl Searcher<Term, Tables> for Heads {
    fn search_eclass_with_limit(&self, graph: &Graph, class: Id, limit: usize) -> Option<SearchMatches<'_, Term>> {
        let found = limit > 0 && graph[class].nodes.iter().any(|term| term.discriminant().0 == self.0);
        found.then(|| SearchMatches { eclass: class, substs: vec![Subst::default()], ast: None })
    }

    fn vars(&self) -> Vec<Var> {
        Vec::new()
    }
}

struct Adds(fn(&mut Graph, Id) -> Vec<Id>);

impl Applier<Term, Tables> for Adds {
    fn apply_one(
        &self,
        graph: &mut Graph,
        class: Id,
        _: &Subst,
        _: Option<&egg::PatternAst<Term>>,
        _: Symbol,
    ) -> Vec<Id> {
        // A class that has become part of another one since the search is looked at as that one in the next round: once, not once
        // for each of its parts.
        if graph.find(class) == class { (self.0)(graph, class) } else { Vec::new() }
    }
}

/// Terms of one kind that a law looks at per class: with more, a class of many equal movements would be looked at pair by pair.
const LOOK: usize = 4;

/// Pieces in which the checker follows data through joins and margins: a rewrite that it cannot follow is refused with the whole plan, so
/// what moves in more pieces stays as it is.
const FOLLOWED: u64 = 64;

/// A movement of one child: its number, the form, the child.
type Movement = (u32, Form, Id);

fn movements(graph: &Graph, class: Id, kind: fn(&Term) -> Option<Movement>) -> Vec<Movement> {
    let found = graph[class].nodes.iter().filter_map(kind);
    let mut found: Vec<Movement> = found.map(|(number, form, child)| (number, form, graph.find(child))).collect();
    // The smallest class is the one furthest back: chains double their reach with each round, and terms stay few.
    found.sort_unstable_by_key(|(number, form, child)| (*child, *number, *form));
    found.truncate(LOOK);
    found
}

fn perm(term: &Term) -> Option<Movement> {
    if let Term::Perm(number, form, [child]) = term { Some((*number, *form, *child)) } else { None }
}

fn cut(term: &Term) -> Option<Movement> {
    if let Term::Cut(number, form, [child]) = term { Some((*number, *form, *child)) } else { None }
}

fn bits(term: &Term) -> Option<Movement> {
    if let Term::Bits(form, [child]) = term { Some((0, *form, *child)) } else { None }
}

/// A term with several children: its number, the form, the children.
type Gathered<'a> = Option<(u32, Form, &'a [Id])>;

/// Terms with several children of a class.
fn several(graph: &Graph, class: Id, kind: fn(&Term) -> Gathered<'_>) -> Vec<(u32, Form, Vec<Id>)> {
    let found = graph[class].nodes.iter().filter_map(kind).take(LOOK);
    found.map(|(number, form, list)| (number, form, list.iter().map(|child| graph.find(*child)).collect())).collect()
}

fn join(term: &Term) -> Gathered<'_> {
    if let Term::Join(axis, form, children) = term { Some((*axis, *form, children)) } else { None }
}

fn map(term: &Term) -> Gathered<'_> {
    if let Term::Map(function, form, children) = term { Some((*function, *form, children)) } else { None }
}

/// Makes two classes one.
fn same(graph: &mut Graph, a: Id, b: Id, changed: &mut Vec<Id>) {
    if graph.union(a, b) {
        changed.push(a);
    }
}

/// Adds a term to a class.
fn also(graph: &mut Graph, class: Id, term: Term, changed: &mut Vec<Id>) {
    let added = graph.add(term);
    same(graph, class, added, changed);
}
