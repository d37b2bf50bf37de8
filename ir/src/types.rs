//! Types, interned: two handles are equal exactly when the types are.
//!
//! Types neap computes with are spelled out; any other dialect type is kept as text ([`Type::Dialect`])
//! and printed back as it was read, in MLIR's normal form.

use crate::attr::Attr;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A handle to an interned [`Type`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ty(u32);

/// How an integer type reads its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sign {
    /// `i8`: no interpretation.
    None,
    /// `si8`.
    Signed,
    /// `ui8`.
    Unsigned,
}

/// The size of one dimension, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dim {
    /// A number known at compile time.
    Known(u64),
    /// `?`.
    Dynamic,
}

/// A builtin type, or a dialect type kept as text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// `i8`, `si8`, `ui8`; width in bits.
    Integer {
        /// Width in bits, at least 1.
        width: u32,
        /// Interpretation.
        sign: Sign,
    },
    /// `index`.
    Index,
    /// A float by its MLIR keyword: `f32`, `bf16`, `f8E4M3FN`, `tf32`, ...
    Float(&'static str),
    /// `complex<T>`.
    Complex(Ty),
    /// `tuple<T, ..>`.
    Tuple(Vec<Ty>),
    /// `none`.
    None,
    /// `vector<[4]x8xf32>`; a scalable dimension has `true`.
    Vector {
        /// Dimensions, each with whether it is scalable.
        shape: Vec<(u64, bool)>,
        /// Element type.
        elem: Ty,
    },
    /// `tensor<4x?xf32, #enc>`; `shape` is `None` for `tensor<*xf32>`.
    Tensor {
        /// Dimensions, outermost first.
        shape: Option<Vec<Dim>>,
        /// Element type.
        elem: Ty,
        /// Encoding attribute.
        encoding: Option<Box<Attr>>,
    },
    /// `memref<4xf32, layout, space>`; `shape` is `None` for `memref<*xf32>`.
    MemRef {
        /// Dimensions, outermost first.
        shape: Option<Vec<Dim>>,
        /// Element type.
        elem: Ty,
        /// Layout attribute (`strided<..>`, `affine_map<..>`), unless it is the identity.
        layout: Option<Box<Attr>>,
        /// Memory space.
        space: Option<Box<Attr>>,
    },
    /// `(T, ..) -> (T, ..)`.
    Function {
        /// Argument types.
        inputs: Vec<Ty>,
        /// Result types.
        results: Vec<Ty>,
    },
    /// `!dialect.body`, without the `!`, in MLIR's normal form: `neap.token`, `quant.uniform<..>`.
    Dialect(Box<str>),
}

/// MLIR's float keywords with their width in bits. Source: MLIR `BuiltinTypes.td`, LLVM 22.
pub const FLOATS: &[(&str, u32)] = &[
    ("bf16", 16),
    ("f128", 128),
    ("f16", 16),
    ("f32", 32),
    ("f4E2M1FN", 4),
    ("f64", 64),
    ("f6E2M3FN", 6),
    ("f6E3M2FN", 6),
    ("f80", 80),
    ("f8E3M4", 8),
    ("f8E4M3", 8),
    ("f8E4M3B11FNUZ", 8),
    ("f8E4M3FN", 8),
    ("f8E4M3FNUZ", 8),
    ("f8E5M2", 8),
    ("f8E5M2FNUZ", 8),
    ("f8E8M0FNU", 8),
    ("tf32", 19),
];

/// The float type of a keyword.
pub fn float(keyword: &str) -> Option<Type> {
    FLOATS.iter().find(|(name, _)| *name == keyword).map(|(name, _)| Type::Float(name))
}

/// The table behind [`Ty`].
#[derive(Clone, Default, Debug)]
pub struct Types {
    set: IndexSet<Type, FxBuildHasher>,
}

impl Types {
    /// The handle of a type, made if it is new.
    pub fn intern(&mut self, ty: Type) -> Ty {
        Ty(self.set.insert_full(ty).0 as u32)
    }

    /// The type of a handle.
    pub fn get(&self, ty: Ty) -> &Type {
        &self.set[ty.0 as usize]
    }

    /// How many distinct types there are.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}
