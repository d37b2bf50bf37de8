//! Bytes of values.
//!
//! A tensor of `n` elements of `b` bits has `ceil(n * b / 8)` bytes: sub-byte elements are packed. Other elements take whole
//! bytes (`i1` is one byte, `tf32` four). `neap.bytes` overrides the computed size. Sizes are at most 2^63-1; all
//! arithmetic is checked.

use crate::attr::Attr;
use crate::module::{Def, Module, OpId, ValueId};
use crate::types::{Dim, FLOATS, Ty, Type};

/// Why there is no size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SizeError {
    /// A dimension has no upper bound; its index.
    Dynamic(usize),
    /// A tensor or memref without a rank.
    Unranked,
    /// The element count is above 2^63-1.
    CountOverflow,
    /// The byte count is above 2^63-1.
    ByteOverflow,
    /// A dialect type of unknown size.
    Opaque,
    /// `neap.bytes` has a negative number or not one per data result.
    BadBytes,
}

impl SizeError {
    /// Whether the size is known to be more than any size may be, 2^63-1 bytes.
    pub fn is_too_large(&self) -> bool {
        matches!(self, SizeError::CountOverflow | SizeError::ByteOverflow)
    }
}

impl std::fmt::Display for SizeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SizeError::Dynamic(axis) => write!(f, "dimension {axis} has no upper bound"),
            SizeError::Unranked => f.write_str("the type has no rank"),
            SizeError::CountOverflow => f.write_str("element count overflows"),
            SizeError::ByteOverflow => f.write_str("byte size overflows"),
            SizeError::Opaque => f.write_str("the size of the type is not known"),
            SizeError::BadBytes => f.write_str("`neap.bytes` needs one number, at least 0, per data result"),
        }
    }
}

impl Module {
    /// Bits of one element of a type: 4 for `i4`, 8 for `i1`, 32 for `!quant.uniform<i32:..>`.
    pub fn elem_bits(&self, ty: Ty) -> Result<u64, SizeError> {
        match self.ty(ty) {
            Type::Integer { width: 1, .. } => Ok(8),
            Type::Integer { width, .. } => Ok(storage_bits((*width).into())),
            Type::Index => Ok(64),
            Type::Float(name) => {
                let bits = FLOATS.iter().find(|(other, _)| other == name).map_or(0, |(_, bits)| *bits);
                Ok(storage_bits(bits.into()))
            }
            Type::Complex(elem) => Ok(2 * self.elem_bits(*elem)?),
            Type::Vector { shape, elem } => {
                let dims = shape.iter().map(|(dim, _)| Dim::Known(*dim));
                let count = count(dims, &mut |_| None)?;
                let bits = self.elem_bits(*elem)?.checked_mul(count).ok_or(SizeError::ByteOverflow)?;
                Ok(bits.div_ceil(8).checked_mul(8).ok_or(SizeError::ByteOverflow)?)
            }
            Type::Dialect(body) => quant_bits(body).ok_or(SizeError::Opaque),
            _ => Err(SizeError::Opaque),
        }
    }

    /// Bytes of a type; `bound` gives the largest size of a dynamic dimension by its index, if it is known.
    pub fn ty_bytes(&self, ty: Ty, bound: &mut dyn FnMut(usize) -> Option<u64>) -> Result<u64, SizeError> {
        match self.ty(ty) {
            Type::Tensor { shape: None, .. } | Type::MemRef { shape: None, .. } => Err(SizeError::Unranked),
            Type::Tensor { shape: Some(shape), elem, .. } | Type::MemRef { shape: Some(shape), elem, .. } => {
                let count = count(shape.iter().copied(), bound)?;
                let bits = u128::from(count) * u128::from(self.elem_bits(*elem)?);
                i64::try_from(bits.div_ceil(8)).map(|bytes| bytes as u64).map_err(|_| SizeError::ByteOverflow)
            }
            // Tokens of any dialect order things and hold no bytes.
            Type::Dialect(body) if body.ends_with(".token") => Ok(0),
            Type::None => Ok(0),
            Type::Tuple(_) | Type::Function { .. } => Err(SizeError::Opaque),
            _ => Ok(self.elem_bits(ty)?.div_ceil(8)),
        }
    }

    /// Bytes of a value: `neap.bytes` where it is given, else the size of the type at the bounds of its named dimensions. An argument of a body is as
    /// large as the largest that is handed to it, and so is a result that comes out of bodies where its operation says nothing of it or its bodies
    /// may hand on other shapes.
    pub fn value_bytes(&self, value: ValueId) -> Result<u64, SizeError> {
        let own = self.own_bytes(value);
        let handed = match self.value(value).def() {
            // Types that are handed on as such are alike.
            Def::Arg(block, _) => {
                let around = self.region_op(self.block_region(block));
                self.is_body_arg(value) && (own.is_err() || self.says_sizes() || self.reshapes(around))
            }
            // Bytes that are said to be none are not looked for.
            Def::Result(op, _) => self.is_unsaid(op, value) || (self.reshapes(op) && own != Ok(0)),
        };
        let Some(sources) = (if handed { self.sources(value, true) } else { None }) else { return own };
        let sizes = sources.iter().filter(|source| **source != value).map(|source| self.own_bytes(*source));
        match own {
            // What is handed on without a size is refused by itself.
            Ok(own) => Ok(sizes.filter_map(Result::ok).fold(own, u64::max)),
            Err(error) => {
                let sizes: Result<Vec<u64>, SizeError> = sizes.collect();
                sizes.ok().and_then(|sizes| sizes.into_iter().max()).ok_or(error)
            }
        }
    }

    /// Whether any size may be another than that of a type as it stands.
    fn says_sizes(&self) -> bool {
        ["neap.bytes", "neap.bounds"].iter().any(|key| self.names().get(key).is_some())
    }

    /// Bytes of a value by what it says itself.
    fn own_bytes(&self, value: ValueId) -> Result<u64, SizeError> {
        let (given, index) = match self.value(value).def() {
            Def::Result(op, index) => (self.attr(op, "neap.bytes"), index as usize),
            Def::Arg(block, index) => {
                let func = self.region_op(self.block_region(block));
                let entry = self.entry(func) == Some(block);
                let given = if entry { self.arg_attr(func, index as usize, "neap.bytes") } else { None };
                (given, index as usize)
            }
        };
        if let Some(given) = given {
            let list = match given.as_i64() {
                Some(one) => vec![one],
                None => given.as_i64s().ok_or(SizeError::BadBytes)?,
            };
            let at = if matches!(self.value(value).def(), Def::Arg(..)) { 0 } else { index };
            return match list.get(at) {
                Some(bytes) if *bytes >= 0 => Ok(*bytes as u64),
                _ => Err(SizeError::BadBytes),
            };
        }
        let (axes, names) = (self.dynamic_axes(value), self.dim_names(value));
        self.ty_bytes(self.value_ty(value), &mut |axis| {
            let names = &names[axes.iter().position(|other| *other == axis)?];
            let bounds: Option<Vec<u64>> = names.iter().map(|name| self.dim_bound(name)).collect();
            bounds?.into_iter().max()
        })
    }

    /// The upper bound of a named dimension, from the module's `neap.bounds = {N = [1, 512]}`.
    pub fn dim_bound(&self, name: &str) -> Option<u64> {
        let Some(Attr::Dict(bounds)) = self.attr(self.top(), "neap.bounds") else { return None };
        let key = self.names().get(name)?;
        let (_, bound) = bounds.iter().find(|(other, _)| *other == key)?;
        let high = bound.as_i64().or_else(|| bound.as_i64s()?.get(1).copied())?;
        u64::try_from(high).ok()
    }

    /// Bytes of an operation's scratch, `neap.scratch`; 0 where none is given.
    pub fn scratch_bytes(&self, op: OpId) -> u64 {
        self.attr(op, "neap.scratch").and_then(Attr::as_i64).map_or(0, |bytes| bytes.max(0) as u64)
    }
}

/// Elements of a shape, at most 2^63-1; 0 if any dimension is 0, even where the others overflow.
fn count(dims: impl Iterator<Item = Dim>, bound: &mut dyn FnMut(usize) -> Option<u64>) -> Result<u64, SizeError> {
    let mut product = Some(1u64);
    let mut zero = false;
    for (axis, dim) in dims.enumerate() {
        let size = match dim {
            Dim::Known(size) => size,
            Dim::Dynamic => bound(axis).ok_or(SizeError::Dynamic(axis))?,
        };
        zero |= size == 0;
        product = product.and_then(|product| product.checked_mul(size)).filter(|product| *product <= i64::MAX as u64);
    }
    if zero { Ok(0) } else { product.ok_or(SizeError::CountOverflow) }
}

/// Sub-byte elements are packed, all others take whole bytes: `i24` three, `tf32` four.
fn storage_bits(bits: u64) -> u64 {
    match bits {
        0..=8 => bits,
        19 => 32,
        _ => bits.div_ceil(8) * 8,
    }
}

/// Storage bits of a quantized type `quant.uniform<i8:f32, ..>` (also `any`, `calibrated` has none): the integer before `:` or `<`.
fn quant_bits(body: &str) -> Option<u64> {
    let rest = body.strip_prefix("quant.")?.split_once('<')?.1;
    let digits: String = rest.trim_start_matches(['i', 'u', 's']).chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|bits| (1..=128).contains(bits)).map(storage_bits)
}
