//! Shapes in bits, at some sizes of the named dimensions ([`crate::sizes`]).

use crate::rope::{Bits, Level, level};
use crate::sizes::Sizes;
use neap_ir::types::Dim;
use neap_ir::{Module, Ty, Type, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::Arc;

/// A dense row-major value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    /// Elements per dimension, outermost first.
    pub(crate) dims: SmallVec<[Bits; 4]>,
    /// Bits of an element.
    pub(crate) elem: Bits,
}

impl Shape {
    /// Elements; none if there are more than memory has bits.
    pub(crate) fn count(&self) -> Option<Bits> {
        if self.dims.contains(&0) {
            return Some(0);
        }
        let count = self.dims.iter().try_fold(1, |product: Bits, dim| product.checked_mul(*dim))?;
        (count.checked_mul(self.elem)? <= (1 << 66)).then_some(count)
    }

    pub(crate) fn bits(&self) -> Option<Bits> {
        Some(self.count()? * self.elem)
    }

    /// Bits between neighbours in each dimension.
    pub(crate) fn strides(&self) -> SmallVec<[Bits; 4]> {
        let mut strides: SmallVec<[Bits; 4]> = self.dims.iter().map(|_| self.elem).collect();
        for at in (1..strides.len()).rev() {
            // Only shapes with a zero can saturate, and no bit of theirs is ever looked up.
            strides[at - 1] = strides[at].saturating_mul(self.dims[at]);
        }
        strides
    }

    /// The loop over an element's own bits.
    pub(crate) fn inner(&self) -> Level {
        level(self.elem, 1)
    }
}

/// Shapes of one module.
pub(crate) struct Shapes<'a> {
    module: &'a Module,
    sizes: &'a Sizes,
    fixed: RefCell<FxHashMap<Ty, Option<Arc<Shape>>>>,
}

impl<'a> Shapes<'a> {
    pub(crate) fn new(module: &'a Module, sizes: &'a Sizes) -> Shapes<'a> {
        Shapes { module, sizes, fixed: RefCell::default() }
    }

    /// The shape of a value; none if it is not known or has more than 2^63 bytes.
    pub(crate) fn of(&self, value: ValueId) -> Option<Arc<Shape>> {
        let ty = self.module.value_ty(value);
        if !matches!(self.module.ty(ty), Type::Dialect(_)) && self.module.dynamic_axes(value).is_empty() {
            let known = self.fixed.borrow().get(&ty).cloned();
            return known.unwrap_or_else(|| {
                let shape = self.make(value, ty).map(Arc::new);
                self.fixed.borrow_mut().insert(ty, shape.clone());
                shape
            });
        }
        self.make(value, ty).map(Arc::new)
    }

    /// Bits of a value; a value of unknown size counts as one word, of which nothing but equality is known.
    pub(crate) fn bits(&self, value: ValueId) -> Bits {
        self.of(value).and_then(|shape| shape.bits()).unwrap_or(64)
    }

    fn make(&self, value: ValueId, ty: Ty) -> Option<Shape> {
        let m = self.module;
        let shape = match m.ty(ty) {
            Type::Tensor { shape: Some(shape), elem, .. } | Type::MemRef { shape: Some(shape), elem, .. } => {
                let mut named = m.dim_names(value).into_iter();
                let mut dims = SmallVec::new();
                for dim in shape {
                    dims.push(match dim {
                        Dim::Known(size) => Bits::from(*size),
                        Dim::Dynamic => self.bound(&named.next()?)?,
                    });
                }
                match m.elem_bits(*elem) {
                    Ok(bits) => Shape { dims, elem: bits.into() },
                    Err(_) => Shape { dims: smallvec::smallvec![m.value_bytes(value).ok()?.into()], elem: 8 },
                }
            }
            Type::None => Shape { dims: smallvec::smallvec![0], elem: 8 },
            _ => match m.elem_bits(ty) {
                Ok(bits) => Shape { dims: SmallVec::new(), elem: bits.into() },
                Err(_) => Shape { dims: smallvec::smallvec![m.value_bytes(value).ok()?.into()], elem: 8 },
            },
        };
        shape.bits().map(|_| shape)
    }

    /// The largest of the dimensions that one can be.
    fn bound(&self, names: &[&str]) -> Option<Bits> {
        let sizes = names.iter().map(|name| self.sizes.of(name).or_else(|| self.module.dim_bound(name)));
        sizes.collect::<Option<Vec<u64>>>()?.into_iter().max().map(Bits::from)
    }
}
