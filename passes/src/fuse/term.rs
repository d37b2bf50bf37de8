//! A block as terms: what the e-graph holds.
//!
//! Every operation is a term of its own, with its operands as children. An operation that only moves elements is, besides, what it does to
//! them ([`Term::Bits`] to [`Term::Join`]), and one that computes element by element is a function of them ([`Term::Map`]). The laws
//! ([`super::law`]) are about these; an operation goes where its class also holds something cheaper.

use egg::{Analysis, DidMerge, EGraph, Id, Language};
use neap_ir::{Dim, Ty, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// The shape and the element type of a class's values, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Form(u32);

/// What a form is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Shape {
    /// Row-major without gaps. Unknown dimensions are told apart by their names, by number; none where a law made the shape.
    Dense { elem: Ty, dims: Vec<Dim>, names: Option<u32> },
    /// Anything else: no law knows its elements.
    Other(Ty),
}

/// What an unknown dimension is called.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum DimName {
    /// By the model: equal names are equal sizes.
    Given(String),
    /// Not at all: it is the dimension of this value.
    Of(ValueId, usize),
}

impl DimName {
    fn given(&self) -> Option<&str> {
        if let DimName::Given(name) = self { Some(name) } else { None }
    }
}

/// A term. The numbers stand for what the [`Tables`] have; the form is that of the term's own value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Term {
    /// A value from outside: an argument, or a result of an operation that is no term.
    Leaf(u32),
    /// An operation of the block.
    Op(u32, Box<[Id]>),
    /// The bits of the child under a form.
    Bits(Form, [Id; 1]),
    /// Dimension `i` of the result is dimension `perm[i]` of the child.
    Perm(u32, Form, [Id; 1]),
    /// A box of the child's elements.
    Cut(u32, Form, [Id; 1]),
    /// The child's dimension `i` is dimension `dims[i]` of the result, or has size 1 and is repeated along it.
    Spread(u32, Form, [Id; 1]),
    /// The child inside of margins.
    Pad(u32, Form, [Id; 1]),
    /// The children one after the other along a dimension.
    Join(u32, Form, Box<[Id]>),
    /// A function of the children's elements, or of the children where it is no elementwise one.
    Map(u32, Form, Box<[Id]>),
}

impl Language for Term {
    type Discriminant = (u8, u32, u32);

    fn discriminant(&self) -> (u8, u32, u32) {
        match self {
            Term::Leaf(leaf) => (0, *leaf, 0),
            Term::Op(op, _) => (1, *op, 0),
            Term::Bits(form, _) => (Term::BITS, 0, form.0),
            Term::Perm(perm, form, _) => (Term::PERM, *perm, form.0),
            Term::Cut(window, form, _) => (Term::CUT, *window, form.0),
            Term::Spread(dims, form, _) => (Term::SPREAD, *dims, form.0),
            Term::Pad(margins, form, _) => (Term::PAD, *margins, form.0),
            Term::Join(axis, form, _) => (Term::JOIN, *axis, form.0),
            Term::Map(function, form, _) => (Term::MAP, *function, form.0),
        }
    }

    fn matches(&self, other: &Term) -> bool {
        self.discriminant() == other.discriminant() && self.children().len() == other.children().len()
    }

    fn children(&self) -> &[Id] {
        match self {
            Term::Leaf(_) => &[],
            Term::Op(_, children) | Term::Join(_, _, children) | Term::Map(_, _, children) => children,
            Term::Bits(_, child)
            | Term::Perm(_, _, child)
            | Term::Cut(_, _, child)
            | Term::Spread(_, _, child)
            | Term::Pad(_, _, child) => child,
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Term::Leaf(_) => &mut [],
            Term::Op(_, children) | Term::Join(_, _, children) | Term::Map(_, _, children) => children,
            Term::Bits(_, child)
            | Term::Perm(_, _, child)
            | Term::Cut(_, _, child)
            | Term::Spread(_, _, child)
            | Term::Pad(_, _, child) => child,
        }
    }
}

/// The kinds of terms that laws begin with: the first number of the discriminant.
impl Term {
    pub(super) const BITS: u8 = 2;
    pub(super) const PERM: u8 = 3;
    pub(super) const CUT: u8 = 4;
    pub(super) const SPREAD: u8 = 5;
    pub(super) const PAD: u8 = 6;
    pub(super) const JOIN: u8 = 7;
    pub(super) const MAP: u8 = 8;
}

/// What a window takes along one dimension: `len` elements from `start` on, every `step`-th.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) step: u64,
}

/// Margins before the elements, per dimension; the operation tells apart how they are filled.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Margins {
    pub(super) op: u32,
    pub(super) low: Vec<u64>,
    pub(super) none: bool,
}

/// What laws need to know of a function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// An operation that computes it.
    pub(super) op: usize,
    /// By operand: read element by element.
    pub(super) lanes: Vec<bool>,
    /// Element `i` of the result depends on the elements `i` of the lanes and on nothing else that has a place, under any shape.
    pub(super) anywhere: bool,
    /// Operands of one rank only.
    pub(super) one_rank: bool,
    /// To or from a quantized type.
    pub(super) quantizes: bool,
    pub(super) dequantizes: bool,
    /// A constant that changes nothing, and the operands where it may stand.
    pub(super) neutral: Option<(i64, &'static [usize])>,
}

/// Things by number, each once.
#[derive(Clone, Debug)]
pub(super) struct Numbered<T> {
    list: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { list: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Numbered<T> {
    pub(super) fn number(&mut self, item: T) -> u32 {
        if let Some(number) = self.numbers.get(&item) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.list.push(item.clone());
        self.numbers.insert(item, number);
        number
    }

    pub(super) fn get(&self, number: u32) -> &T {
        &self.list[number as usize]
    }
}

/// What laws look up.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub(super) leaves: Vec<Form>,
    pub(super) ops: Vec<Form>,
    pub(super) functions: Vec<Function>,
    /// By leaf: the number that all elements of a constant are.
    pub(super) splats: FxHashMap<u32, i64>,
    /// Quantized element types that come back from their real numbers bit for bit.
    pub(super) lossless: FxHashSet<Ty>,
    /// The real numbers that quantized types stand for.
    pub(super) real: Option<Ty>,
    pub(super) forms: Numbered<Shape>,
    pub(super) names: Numbered<Vec<DimName>>,
    pub(super) perms: Numbered<Vec<u32>>,
    pub(super) windows: Numbered<Vec<Span>>,
    pub(super) margins: Numbered<Margins>,
    pub(super) spreads: Numbered<Vec<u32>>,
}

impl Tables {
    pub(super) fn form(&mut self, shape: Shape) -> Form {
        Form(self.forms.number(shape))
    }

    pub(super) fn shape(&self, form: Form) -> &Shape {
        self.forms.get(form.0)
    }

    pub(super) fn dims(&self, form: Form) -> Option<&[Dim]> {
        match self.shape(form) {
            Shape::Dense { dims, .. } => Some(dims),
            Shape::Other(_) => None,
        }
    }

    pub(super) fn elem(&self, form: Form) -> Option<Ty> {
        match self.shape(form) {
            Shape::Dense { elem, .. } => Some(*elem),
            Shape::Other(_) => None,
        }
    }

    /// The sizes of all dimensions, where they are known.
    pub(super) fn sizes(&self, form: Form) -> Option<Vec<u64>> {
        self.dims(form)?.iter().map(|dim| if let Dim::Known(size) = dim { Some(*size) } else { None }).collect()
    }

    /// The names of the dimensions that are not known; none where one of them has no name.
    pub(super) fn names(&self, form: Form) -> Option<Vec<&str>> {
        match self.shape(form) {
            Shape::Dense { dims, .. } if !dims.contains(&Dim::Dynamic) => Some(Vec::new()),
            Shape::Dense { names: Some(names), .. } => self.names.get(*names).iter().map(DimName::given).collect(),
            Shape::Dense { names: None, .. } => None,
            Shape::Other(_) => Some(Vec::new()),
        }
    }

    /// Other dimensions, the same elements.
    pub(super) fn reshaped(&mut self, form: Form, dims: Vec<Dim>) -> Option<Form> {
        let elem = self.elem(form)?;
        Some(self.form(Shape::Dense { elem, dims, names: None }))
    }

    /// The form of a window of another one.
    pub(super) fn cut(&mut self, form: Form, window: &[Span]) -> Option<Form> {
        self.reshaped(form, window.iter().map(|span| Dim::Known(span.len)).collect())
    }
}

/// The form of a class: all its terms have it.
impl Analysis<Term> for Tables {
    type Data = Form;

    fn make(egraph: &mut EGraph<Term, Tables>, term: &Term, _: Id) -> Form {
        match term {
            Term::Leaf(leaf) => egraph.analysis.leaves[*leaf as usize],
            Term::Op(op, _) => egraph.analysis.ops[*op as usize],
            Term::Bits(form, _)
            | Term::Perm(_, form, _)
            | Term::Cut(_, form, _)
            | Term::Spread(_, form, _)
            | Term::Pad(_, form, _)
            | Term::Join(_, form, _)
            | Term::Map(_, form, _) => *form,
        }
    }

    fn merge(&mut self, a: &mut Form, b: Form) -> DidMerge {
        debug_assert_eq!(*a, b, "the terms of a class have one form");
        DidMerge(false, false)
    }
}

pub(super) type Graph = EGraph<Term, Tables>;
