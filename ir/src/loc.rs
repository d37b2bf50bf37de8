//! Places: where an operation came from (MLIR's `loc`), and where it stands in the text that was read.

use crate::attr::Attr;

/// MLIR's location of an operation, printed back where it is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Loc {
    /// `loc(unknown)`, also when none was written.
    #[default]
    Unknown,
    /// `loc("file":line:column)`, or a range: the text after `loc(` up to `)`, in MLIR's normal form.
    File(Box<str>),
    /// `loc("name"(child))`.
    Name(Box<str>, Box<Loc>),
    /// `loc(callsite(callee at caller))`.
    Call(Box<Loc>, Box<Loc>),
    /// `loc(fused<meta>[a, b])`.
    Fused(Option<Box<Attr>>, Vec<Loc>),
}

/// A half-open range of bytes in the text that was read; `0..0` where there is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }

    /// Whether there is no place: the value was made, not read.
    pub fn is_none(self) -> bool {
        self == Span::default()
    }
}
