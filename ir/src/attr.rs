//! Attributes: compile-time data on operations.
//!
//! Attributes neap reads are spelled out; anything else is kept as text ([`Attr::Text`]) in MLIR's
//! normal form, so that nothing is lost on the way through. Types inside an attribute are handles
//! into the module's own table, so an attribute belongs to one module.

use crate::loc::Loc;
use crate::name::Name;
use crate::types::Ty;

/// An attribute value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Attr {
    /// `unit`; printed as a bare key in a dictionary.
    Unit,
    /// `true`, `false`.
    Bool(bool),
    /// `4 : i64`, `7 : index`. As MLIR, the value is what the bits of the type hold, read as signed for
    /// signless and signed types and as unsigned for `uiN`.
    Int {
        /// The value; widths above 128 bits are rejected by the parser.
        value: i128,
        /// An integer type or `index`.
        ty: Ty,
    },
    /// `1.000000e+00 : f32`, or a hexadecimal form; the text is MLIR's own print.
    Float {
        /// The literal as MLIR prints it.
        text: Box<str>,
        /// A float type.
        ty: Ty,
    },
    /// `"text"`: bytes, not necessarily UTF-8.
    Str(Box<[u8]>),
    /// `"text" : T`, a string with a type.
    TypedStr(Box<[u8]>, Ty),
    /// `[a, b]`.
    Array(Vec<Attr>),
    /// `{k = v}`, sorted by the text of the key, without duplicates.
    Dict(Vec<(Name, Attr)>),
    /// A type as a value.
    Type(Ty),
    /// `@root::@nested`; names without `@` and without quotes.
    Symbol {
        /// The first name.
        root: Box<str>,
        /// The further ones.
        nested: Vec<Box<str>>,
    },
    /// `array<i64: 1, 2>` with an integer element type.
    DenseInts {
        /// Element type, `i8` to `i64`.
        elem: Ty,
        /// The elements.
        values: Vec<i64>,
    },
    /// `array<i1: true, false>`.
    DenseBools(Vec<bool>),
    /// `array<f32: 1.0>`: element literals as MLIR prints them.
    DenseFloats {
        /// Element type.
        elem: Ty,
        /// The elements' text.
        values: Vec<Box<str>>,
    },
    /// `dense<..> : T`, `dense_resource<..> : T`, `sparse<..> : T`: the text before ` : ` in MLIR's normal form.
    Elements {
        /// The text, from `dense` to `>`.
        text: Box<str>,
        /// A shaped type.
        ty: Ty,
    },
    /// A location as a value, `loc(..)`.
    Loc(Box<Loc>),
    /// `#dialect.body`, `affine_map<..>`, `strided<..>`, ...: whole text in MLIR's normal form, with its type where it
    /// has one.
    Text(Box<str>, Option<Ty>),
}

impl Attr {
    /// A string attribute.
    pub fn str(text: &str) -> Attr {
        Attr::Str(text.as_bytes().into())
    }

    /// A symbol reference without nesting.
    pub fn symbol(name: &str) -> Attr {
        Attr::Symbol { root: name.into(), nested: Vec::new() }
    }

    /// The text of a string attribute that is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Attr::Str(bytes) | Attr::TypedStr(bytes, _) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The value of an integer attribute that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Attr::Int { value, .. } => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// Integers of `array<iN: ..>`, `[1, 2]`.
    pub fn as_i64s(&self) -> Option<Vec<i64>> {
        match self {
            Attr::DenseInts { values, .. } => Some(values.clone()),
            Attr::Array(items) => items.iter().map(Attr::as_i64).collect(),
            _ => None,
        }
    }

    /// The root of a symbol reference.
    pub fn as_symbol(&self) -> Option<&str> {
        match self {
            Attr::Symbol { root, nested } if nested.is_empty() => Some(root),
            _ => None,
        }
    }
}
