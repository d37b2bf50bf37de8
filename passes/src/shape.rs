//! Shapes and layouts of tensors, as far as sharing bytes depends on them.

use neap_ir::{Attr, Dim, Module, OpId, Ty, Type, ValueId};

/// A value of ranked type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shaped<'a> {
    /// Dimensions, outermost first.
    pub dims: &'a [Dim],
    /// Element type.
    pub elem: Ty,
    /// Row-major without gaps, as far as the type says.
    pub dense: bool,
}

impl<'a> Shaped<'a> {
    /// The shape of a value; none without a rank.
    #[must_use]
    pub fn of(module: &'a Module, value: ValueId) -> Option<Shaped<'a>> {
        match module.ty(module.value_ty(value)) {
            Type::Tensor { shape: Some(dims), elem, encoding } => {
                Some(Shaped { dims, elem: *elem, dense: encoding.is_none() })
            }
            Type::MemRef { shape: Some(dims), elem, layout, .. } => {
                Some(Shaped { dims, elem: *elem, dense: layout.is_none() })
            }
            _ => None,
        }
    }

    /// The sizes, if all are known.
    #[must_use]
    pub fn sizes(&self) -> Option<Vec<u64>> {
        self.dims.iter().map(|dim| if let Dim::Known(size) = dim { Some(*size) } else { None }).collect()
    }

    /// Whether every dimension is surely equal: dynamic ones are not.
    #[must_use]
    pub fn same_sizes(&self, other: &Shaped<'_>) -> bool {
        self.dims == other.dims && !self.dims.contains(&Dim::Dynamic)
    }

    /// Whether all dimensions before `axis` are 1.
    #[must_use]
    pub fn outermost(&self, axis: usize) -> bool {
        self.dims.iter().take(axis).all(|dim| *dim == Dim::Known(1))
    }
}

/// Whether an operation whose role is to move elements does nothing else to them: importers keep an activation that the runtime applies
/// on the way as an attribute.
#[must_use]
pub fn only_moves(module: &Module, op: OpId) -> bool {
    let activation = module.attr(op, "fused_activation_function").and_then(Attr::as_str);
    activation.is_none_or(|name| name == "NONE")
}

/// Bytes of a number of elements; none where they do not end at a byte.
#[must_use]
pub fn whole_bytes(module: &Module, elem: Ty, count: u64) -> Option<u64> {
    let bits = count.checked_mul(module.elem_bits(elem).ok()?)?;
    (bits % 8 == 0).then_some(bits / 8)
}
