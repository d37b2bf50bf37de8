//! A block as terms: what the e-graph holds, and the laws that hold between terms.
//!
//! Every operation is a term of its own, with its operands as children; so equal operations stay two, since sharing a value can raise the
//! peak. An operation that only moves elements is, besides, what it does to them: [`Term::Bits`], the same bits under another type,
//! or [`Term::Perm`], a permutation of dimensions. The laws are about these two; an operation cancels when its class also holds an
//! earlier value.

use egg::{Analysis, Applier, DidMerge, EGraph, Id, Language, Rewrite, SearchMatches, Searcher, Subst, Symbol, Var};
use neap_ir::{Dim, Ty};
use rustc_hash::FxHashMap;

/// A term.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Term {
    /// A value from outside: an argument, or a result of an operation that is no term.
    Leaf(u32),
    /// An operation of the block.
    Op(u32, Box<[Id]>),
    /// The bits of the child under a type.
    Bits(Ty, [Id; 1]),
    /// Dimension `i` of the result is dimension `perm[i]` of the child; the number of the permutation, and the result's type.
    Perm(u32, Ty, [Id; 1]),
}

/// What tells two kinds of terms apart, children aside.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Kind {
    Leaf(u32),
    Op(u32),
    Bits(Ty),
    Perm(u32, Ty),
}

impl Language for Term {
    type Discriminant = Kind;

    fn discriminant(&self) -> Kind {
        match self {
            Term::Leaf(leaf) => Kind::Leaf(*leaf),
            Term::Op(op, _) => Kind::Op(*op),
            Term::Bits(ty, _) => Kind::Bits(*ty),
            Term::Perm(perm, ty, _) => Kind::Perm(*perm, *ty),
        }
    }

    fn matches(&self, other: &Term) -> bool {
        self.discriminant() == other.discriminant() && self.children().len() == other.children().len()
    }

    fn children(&self) -> &[Id] {
        match self {
            Term::Leaf(_) => &[],
            Term::Op(_, children) => children,
            Term::Bits(_, child) | Term::Perm(_, _, child) => child,
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Term::Leaf(_) => &mut [],
            Term::Op(_, children) => children,
            Term::Bits(_, child) | Term::Perm(_, _, child) => child,
        }
    }
}

/// What laws look up: types of classes, shapes of types, permutations by number.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) leaves: Vec<Ty>,
    pub(super) ops: Vec<Ty>,
    pub(super) dims: FxHashMap<Ty, Vec<Dim>>,
    perms: Vec<Vec<u32>>,
    numbers: FxHashMap<Vec<u32>, u32>,
}

impl Tables {
    /// The number of a permutation.
    pub(super) fn number(&mut self, perm: &[u32]) -> u32 {
        if let Some(number) = self.numbers.get(perm) {
            return *number;
        }
        let number = self.perms.len() as u32;
        self.perms.push(perm.to_vec());
        self.numbers.insert(perm.to_vec(), number);
        number
    }

    /// The permutation of a number.
    pub(super) fn perm(&self, number: u32) -> &[u32] {
        &self.perms[number as usize]
    }
}

/// The type of a class: all its terms have it.
impl Analysis<Term> for Tables {
    type Data = Ty;

    fn make(egraph: &mut EGraph<Term, Tables>, term: &Term, _: Id) -> Ty {
        match term {
            Term::Leaf(leaf) => egraph.analysis.leaves[*leaf as usize],
            Term::Op(op, _) => egraph.analysis.ops[*op as usize],
            Term::Bits(ty, _) | Term::Perm(_, ty, _) => *ty,
        }
    }

    fn merge(&mut self, a: &mut Ty, b: Ty) -> DidMerge {
        debug_assert_eq!(*a, b, "the terms of a class have one type");
        DidMerge(false, false)
    }
}

pub(super) type Graph = EGraph<Term, Tables>;

/// A law: its name, and what it adds to a class. Returns the classes that changed.
struct Law {
    name: &'static str,
    add: fn(&mut Graph, Id) -> Vec<Id>,
}

/// The laws.
const LAWS: &[Law] = &[
    // Bits(t, x) = x where x has type t.
    Law { name: "same-type", add: same_type },
    // Bits(t, Bits(s, x)) = Bits(t, x).
    Law { name: "bits-of-bits", add: bits_of_bits },
    // Perm(p, Perm(q, x)) = Perm(q after p, x), which is x where that is the identity.
    Law { name: "perm-of-perm", add: perm_of_perm },
    // Perm(p, x) = Bits(x) where p keeps the order of all dimensions that are not 1.
    Law { name: "perm-of-units", add: perm_of_units },
];

/// The laws as egg's rewrites.
pub(super) fn laws() -> Vec<Rewrite<Term, Tables>> {
    LAWS.iter().filter_map(|law| Rewrite::new(law.name, Movers, Adds(law.add)).ok()).collect()
}

/// Finds the classes that hold a term that moves elements.
struct Movers;

impl Searcher<Term, Tables> for Movers {
    fn search_eclass_with_limit(&self, graph: &Graph, class: Id, limit: usize) -> Option<SearchMatches<'_, Term>> {
        let moves = |term: &Term| matches!(term, Term::Bits(..) | Term::Perm(..));
        let found = limit > 0 && graph[class].nodes.iter().any(moves);
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

fn same_type(graph: &mut Graph, class: Id) -> Vec<Id> {
    let found = bits(graph, class).find(|(ty, child)| graph[*child].data == *ty);
    found.map_or(Vec::new(), |(_, child)| join(graph, class, child))
}

fn bits_of_bits(graph: &mut Graph, class: Id) -> Vec<Id> {
    // The smallest class is the one furthest back: chains double their reach with each round, and terms stay few.
    let back = |child: Id| bits(graph, child).map(|(_, child)| graph.find(child)).min();
    let Some((ty, child)) = bits(graph, class).min_by_key(|(_, child)| graph.find(*child)) else { return Vec::new() };
    let Some(root) = back(child).filter(|root| *root != graph.find(child)) else { return Vec::new() };
    let added = graph.add(Term::Bits(ty, [root]));
    join(graph, class, added)
}

fn perm_of_perm(graph: &mut Graph, class: Id) -> Vec<Id> {
    let perms = |class: Id| {
        let perm = |term: &Term| {
            if let Term::Perm(perm, ty, [child]) = term { Some((graph.find(*child), *perm, *ty)) } else { None }
        };
        graph[class].nodes.iter().filter_map(perm).min()
    };
    let Some((child, outer, ty)) = perms(class) else { return Vec::new() };
    let Some((root, inner, _)) = perms(child).filter(|(root, ..)| *root != child) else { return Vec::new() };
    let (outer, inner) = (graph.analysis.perm(outer), graph.analysis.perm(inner));
    let both: Vec<u32> = outer.iter().map(|axis| inner[*axis as usize]).collect();
    if both.is_sorted() && graph[root].data == ty {
        return join(graph, class, root);
    }
    let both = graph.analysis.number(&both);
    let added = graph.add(Term::Perm(both, ty, [root]));
    join(graph, class, added)
}

fn perm_of_units(graph: &mut Graph, class: Id) -> Vec<Id> {
    let keeps = |term: &Term| {
        let Term::Perm(perm, ty, [child]) = term else { return None };
        let dims = graph.analysis.dims.get(&graph[*child].data)?;
        let long = graph.analysis.perm(*perm).iter().filter(|axis| dims.get(**axis as usize) != Some(&Dim::Known(1)));
        long.is_sorted().then_some((*ty, *child))
    };
    let Some((ty, child)) = graph[class].nodes.iter().find_map(keeps) else { return Vec::new() };
    let added = graph.add(Term::Bits(ty, [child]));
    join(graph, class, added)
}

fn bits(graph: &Graph, class: Id) -> impl Iterator<Item = (Ty, Id)> + '_ {
    graph[class]
        .nodes
        .iter()
        .filter_map(|term| if let Term::Bits(ty, [child]) = term { Some((*ty, *child)) } else { None })
}

fn join(graph: &mut Graph, a: Id, b: Id) -> Vec<Id> {
    if graph.union(a, b) { vec![a] } else { Vec::new() }
}
