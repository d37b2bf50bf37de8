//! What is known of a value: its type, its dimensions, and of small constants the elements.

use super::model::{Content, Tensor};
use super::size::{Size, Sizes};

/// Dimensions; one that is not known is none.
pub(super) type Dims = Vec<Option<Size>>;

/// What is known of a value.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) enum Fact {
    /// Nothing.
    #[default]
    Unknown,
    Tensor(TensorFact),
    Sequence(Box<Fact>),
    Optional(Box<Fact>),
    /// A kind of value that has no dimensions.
    Other(&'static str),
}

/// What is known of a tensor.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct TensorFact {
    /// The element type's number in the schema; 0 if it is not known.
    pub(super) elem: i64,
    /// Dimensions; none if even their number is not known.
    pub(super) dims: Option<Dims>,
    /// The elements of a small tensor of integers, in row-major order.
    pub(super) content: Option<Dims>,
    /// The elements of a small tensor of floats.
    pub(super) floats: Option<Vec<f64>>,
}

/// Numbers of element types. Source: `TensorProto.DataType` in onnx.proto.
pub(super) mod elem {
    pub(in crate::onnx) const F32: i64 = 1;
    pub(in crate::onnx) const U8: i64 = 2;
    pub(in crate::onnx) const I32: i64 = 6;
    pub(in crate::onnx) const I64: i64 = 7;
    pub(in crate::onnx) const BOOL: i64 = 9;
    pub(in crate::onnx) const F16: i64 = 10;
    pub(in crate::onnx) const F64: i64 = 11;
    pub(in crate::onnx) const BF16: i64 = 16;

    /// Whether elements are floats of 16 bits or more.
    pub(in crate::onnx) fn is_float(elem: i64) -> bool {
        matches!(elem, F32 | F16 | F64 | BF16)
    }
}

impl TensorFact {
    /// A tensor of a type and dimensions.
    pub(super) fn new(elem: i64, dims: Option<Dims>) -> TensorFact {
        TensorFact { elem, dims, ..TensorFact::default() }
    }

    /// A constant of the file.
    pub(super) fn constant(tensor: &Tensor<'_>) -> TensorFact {
        let size = |size: &u64| Some(Size::of(i64::try_from(*size).ok()?));
        let mut fact = TensorFact::new(tensor.elem, Some(tensor.dims.iter().map(size).collect()));
        match &tensor.content {
            Some(Content::Ints(list)) => fact.content = Some(list.iter().map(|value| Some(Size::of(*value))).collect()),
            Some(Content::Floats(list)) => fact.floats = Some(list.clone()),
            None => {}
        }
        fact
    }

    /// The number of dimensions.
    pub(super) fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(Vec::len)
    }

    /// The number of elements.
    pub(super) fn count(&self) -> Option<Size> {
        self.dims.as_ref()?.iter().try_fold(Size::of(1), |product, dim| product.times(dim.as_ref()?))
    }
}

impl Fact {
    /// A tensor of a type and dimensions.
    pub(super) fn tensor(elem: i64, dims: Option<Dims>) -> Fact {
        Fact::Tensor(TensorFact::new(elem, dims))
    }

    /// What is known of a value that is one of two. With `bounded`, dimensions that differ are one of both, else anything.
    pub(super) fn either(self, other: Fact, sizes: &mut Sizes, bounded: bool) -> Fact {
        match (self, other) {
            (Fact::Tensor(a), Fact::Tensor(b)) => {
                let dims = match (a.dims, b.dims) {
                    (Some(a), Some(b)) if a.len() == b.len() => {
                        let one = |(a, b): (Option<Size>, Option<Size>)| match (a, b) {
                            (Some(a), Some(b)) if a == b => Some(a),
                            (Some(a), Some(b)) if bounded => sizes.either(&a, &b),
                            _ => None,
                        };
                        Some(a.into_iter().zip(b).map(one).collect())
                    }
                    _ => None,
                };
                let content = a.content.filter(|content| Some(content) == b.content.as_ref());
                let floats = a.floats.filter(|floats| Some(floats) == b.floats.as_ref());
                Fact::Tensor(TensorFact { elem: if a.elem == b.elem { a.elem } else { 0 }, dims, content, floats })
            }
            (Fact::Sequence(a), Fact::Sequence(b)) => Fact::Sequence(Box::new(a.either(*b, sizes, bounded))),
            (Fact::Optional(a), Fact::Optional(b)) => Fact::Optional(Box::new(a.either(*b, sizes, bounded))),
            (Fact::Other(a), Fact::Other(b)) if a == b => Fact::Other(a),
            _ => Fact::Unknown,
        }
    }

    /// The same without the elements.
    pub(super) fn without_content(self) -> Fact {
        match self {
            Fact::Tensor(tensor) => Fact::Tensor(TensorFact { content: None, floats: None, ..tensor }),
            other => other,
        }
    }
}
