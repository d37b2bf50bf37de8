//! What each operator makes of its operands: types, dimensions, and the elements of small integer tensors that shapes depend on.
//!
//! Source: the operator schemas of onnx 1.23. A rule says nothing (`None`) where it cannot be sure; the file's own words or a name for
//! the unknown dimension take its place. Rules judge nothing: a model that no runtime would run gets unknown dimensions, not an error.

mod algebra;
mod content;
mod movement;
mod nets;
mod spatial;

use super::fact::{Dims, Fact, TensorFact, elem};
use super::model::{Node, Setting};
use super::size::{Size, Sizes};

/// One node and what is known of its operands.
pub(super) struct View<'a, 'b> {
    pub(super) node: &'b Node<'a>,
    /// Operands; none where one is left out or unknown.
    pub(super) operands: Vec<Option<Fact>>,
    /// Version of the standard operators.
    pub(super) opset: i64,
    pub(super) sizes: &'b mut Sizes,
}

/// The results of a standard operator without graphs inside; none if it is not known.
pub(super) fn apply(view: &mut View<'_, '_>) -> Option<Vec<Fact>> {
    let mut results = movement::apply(view)
        .or_else(|| spatial::apply(view))
        .or_else(|| algebra::apply(view))
        .or_else(|| nets::apply(view))?;
    if let Some(Fact::Tensor(first)) = results.first_mut() {
        content::compute(view, first);
    }
    Some(results)
}

impl<'a> View<'a, '_> {
    pub(super) fn op(&self) -> &'a str {
        self.node.op
    }

    /// Whether the operand is there.
    pub(super) fn has(&self, at: usize) -> bool {
        self.node.inputs.get(at).is_some_and(|name| !name.is_empty())
    }

    pub(super) fn tensor(&self, at: usize) -> Option<&TensorFact> {
        match self.operands.get(at)? {
            Some(Fact::Tensor(tensor)) => Some(tensor),
            _ => None,
        }
    }

    pub(super) fn dims(&self, at: usize) -> Option<&Dims> {
        self.tensor(at)?.dims.as_ref()
    }

    pub(super) fn rank(&self, at: usize) -> Option<usize> {
        self.dims(at).map(Vec::len)
    }

    /// The element type, 0 if it is not known.
    pub(super) fn elem(&self, at: usize) -> i64 {
        self.tensor(at).map_or(0, |tensor| tensor.elem)
    }

    pub(super) fn content(&self, at: usize) -> Option<&Dims> {
        self.tensor(at)?.content.as_ref()
    }

    /// The elements of a constant of integers.
    pub(super) fn known(&self, at: usize) -> Option<Vec<i64>> {
        self.content(at)?.iter().map(|size| size.as_ref()?.known()).collect()
    }

    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        self.node.int(name).unwrap_or(default)
    }

    /// Integers of an attribute, or of an operand where the node has it; the inner none: it has neither, the outer: not known.
    pub(super) fn list(&self, attribute: &str, operand: usize) -> Option<Option<Vec<i64>>> {
        if let Some(values) = self.node.ints(attribute) {
            return Some(Some(values.to_vec()));
        }
        if self.has(operand) { self.known(operand).map(Some) } else { Some(None) }
    }

    /// The operand's type under other dimensions.
    pub(super) fn like(&self, at: usize, dims: Option<Dims>) -> Fact {
        Fact::tensor(self.elem(at), dims)
    }

    /// The operand's type and dimensions.
    pub(super) fn same(&self, at: usize) -> Fact {
        self.like(at, self.dims(at).cloned())
    }
}

/// A dimension counted from the end where it is negative.
pub(super) fn axis(at: i64, rank: usize) -> Option<usize> {
    let from_end = if at < 0 { at.checked_add(i64::try_from(rank).ok()?)? } else { at };
    usize::try_from(from_end).ok().filter(|axis| *axis < rank)
}

/// Dimensions of operands that broadcast as in NumPy.
pub(super) fn broadcast(sizes: &mut Sizes, operands: &[&Dims]) -> Dims {
    let rank = operands.iter().map(|dims| dims.len()).max().unwrap_or(0);
    (0..rank)
        .map(|at| {
            let mut found: Option<Option<Size>> = None;
            for dims in operands {
                let Some(index) = (dims.len() + at).checked_sub(rank) else { continue };
                found = Some(match (found, &dims[index]) {
                    (None, dim) => dim.clone(),
                    (Some(one), dim) => together(sizes, one, dim.clone()),
                });
            }
            found.flatten()
        })
        .collect()
}

/// Two dimensions that broadcast.
fn together(sizes: &mut Sizes, a: Option<Size>, b: Option<Size>) -> Option<Size> {
    let (known_a, known_b) = (a.as_ref().and_then(Size::known), b.as_ref().and_then(Size::known));
    match (a, b) {
        (a, b) if a == b => a,
        (_, b) if known_a == Some(1) => b,
        (a, _) if known_b == Some(1) => a,
        // A size above 1 is the result's, or nothing fits.
        (a, _) if known_a.is_some_and(|size| size > 1) && known_b.is_none() => a,
        (_, b) if known_b.is_some_and(|size| size > 1) && known_a.is_none() => b,
        // Of two names one may stand for 1.
        (Some(a), Some(b)) if known_a.is_none() && known_b.is_none() => sizes.larger(&a, &b),
        _ => None,
    }
}

/// Known dimensions.
pub(super) fn fixed(dims: &[i64]) -> Dims {
    dims.iter().map(|size| Some(Size::of(*size))).collect()
}

/// The element type of an attribute that names one.
pub(super) fn named_elem(node: &Node<'_>, name: &str, default: i64) -> i64 {
    match node.setting(name) {
        Some(Setting::Int(value)) => *value,
        _ => default,
    }
}

/// The scalar of an element type.
pub(super) fn scalar(elem: i64) -> Fact {
    Fact::tensor(elem, Some(Vec::new()))
}

/// Indices: 64-bit integers.
pub(super) const INDEX: i64 = elem::I64;
