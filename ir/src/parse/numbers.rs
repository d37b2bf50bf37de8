//! Numbers as MLIR reads them: integers wrap into signless types (`255 : i8` is -1), floats are rounded from a double.

use super::cursor::{Parse, Parser};
use super::lexer::{Kind, Token};
use crate::attr::Attr;
use crate::float;
use crate::loc::Span;
use crate::types::{Sign, Ty, Type};

/// Bits of the widest integer whose value is understood.
const MAX_VALUE_WIDTH: u32 = 128;

/// An integer type's width and sign; `index` has 64 bits and takes no value above 2^63-1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IntKind {
    Signless(u32),
    Signed(u32),
    Unsigned(u32),
    Index,
}

impl IntKind {
    /// Of a type, if it is `index` or an integer.
    pub(super) fn of(ty: &Type) -> Option<IntKind> {
        match *ty {
            Type::Index => Some(IntKind::Index),
            Type::Integer { width, sign: Sign::None } => Some(IntKind::Signless(width)),
            Type::Integer { width, sign: Sign::Signed } => Some(IntKind::Signed(width)),
            Type::Integer { width, sign: Sign::Unsigned } => Some(IntKind::Unsigned(width)),
            _ => None,
        }
    }

    /// Width in bits.
    pub(super) fn width(self) -> u32 {
        match self {
            IntKind::Signless(width) | IntKind::Signed(width) | IntKind::Unsigned(width) => width,
            IntKind::Index => 64,
        }
    }

    /// The value that a literal has in this type, if it is in range.
    pub(super) fn value(self, negative: bool, magnitude: u128) -> Option<i128> {
        let width = self.width();
        if width == 0 {
            return (magnitude == 0 && !negative).then_some(0);
        }
        if width < 128 && magnitude >> width != 0 {
            return None;
        }
        let half = 1u128 << (width - 1);
        if negative {
            // As MLIR: the sign bit of the negated number must be set, so that -0 is out of range.
            return ((1..=half).contains(&magnitude) && !matches!(self, IntKind::Unsigned(_)))
                .then(|| (magnitude as i128).wrapping_neg());
        }
        match self {
            IntKind::Unsigned(_) => i128::try_from(magnitude).ok(),
            IntKind::Signless(_) if magnitude >= half => {
                Some(if width == 128 { magnitude as i128 } else { magnitude as i128 - (1i128 << width) })
            }
            _ => (magnitude < half).then_some(magnitude as i128),
        }
    }

    /// The value that bits have in this type.
    pub(super) fn bits_value(self, bits: u128) -> Option<i128> {
        match self {
            IntKind::Signed(width) => IntKind::Signless(width).value(false, bits),
            IntKind::Index => IntKind::Signless(64).value(false, bits),
            _ => self.value(false, bits),
        }
    }
}

/// The magnitude of an integer token; `None` above 2^128-1.
pub(super) fn magnitude(literal: &str) -> Option<u128> {
    match literal.strip_prefix("0x") {
        Some(hex) => u128::from_str_radix(hex, 16).ok(),
        None => literal.parse().ok(),
    }
}

impl<'a> Parser<'a> {
    /// An integer or float with or without a type.
    pub(super) fn number(&mut self) -> Parse<Attr> {
        let start = self.tok;
        let negative = self.eat(b'-');
        let literal = self.tok;
        let is_float = literal.kind == Kind::Float;
        if !is_float && literal.kind != Kind::Integer {
            return self.unexpected("expected a number after `-`");
        }
        self.bump();
        let ty = match self.eat(b':') {
            true => self.ty()?,
            false if is_float => self.f64_ty,
            false => self.i64_ty,
        };
        let span = start.span().to(Span { start: self.last_end, end: self.last_end });
        self.typed_number(negative, literal, ty, span)
    }

    fn typed_number(&mut self, negative: bool, literal: Token, ty: Ty, span: Span) -> Parse<Attr> {
        match *self.module.ty(ty) {
            Type::Float(keyword) => {
                let text = self.float_literal(negative, literal, keyword)?;
                Ok(Attr::Float { text: text.into(), ty })
            }
            ref other => match IntKind::of(other) {
                Some(kind) if literal.kind == Kind::Integer => {
                    let value = self.int_literal(negative, literal, kind)?;
                    match kind {
                        IntKind::Signless(1) => Ok(Attr::Bool(value != 0)),
                        _ => Ok(Attr::Int { value, ty }),
                    }
                }
                Some(_) => self.error(span, "a float literal cannot have an integer type"),
                None => self.error(span, "a number must have an integer, `index` or float type"),
            },
        }
    }

    /// The value of an integer literal in a type.
    pub(super) fn int_literal(&mut self, negative: bool, literal: Token, kind: IntKind) -> Parse<i128> {
        if kind.width() > MAX_VALUE_WIDTH {
            return self.error(literal.span(), format!("integer values have at most {MAX_VALUE_WIDTH} bits"));
        }
        if negative && matches!(kind, IntKind::Unsigned(_)) {
            return self.error(literal.span(), "an unsigned integer cannot be negative");
        }
        match magnitude(self.ascii(literal)).and_then(|magnitude| kind.value(negative, magnitude)) {
            Some(value) => Ok(value),
            None => self.error(literal.span(), "the integer is out of range for its type"),
        }
    }

    /// MLIR's print of a float literal in a type.
    pub(super) fn float_literal(&mut self, negative: bool, literal: Token, keyword: &str) -> Parse<String> {
        let bits = self.float_bits(negative, literal, keyword)?;
        let text = float::of(keyword).map_or(String::new(), |format| format.print(bits).0);
        // MLIR keeps the sign of a type that has no bit for it.
        let lost = negative && !text.starts_with('-') && keyword == "f8E8M0FNU" && !text.starts_with("0x");
        Ok(if lost { format!("-{text}") } else { text })
    }

    /// The bits of a float literal: a decimal one, or the bits in hexadecimal.
    pub(super) fn float_bits(&mut self, negative: bool, literal: Token, keyword: &str) -> Parse<u128> {
        let Some(format) = float::of(keyword) else {
            return self.error(literal.span(), format!("no literals of type `{keyword}` are known"));
        };
        let text = self.ascii(literal);
        if literal.kind == Kind::Float {
            return match text.parse::<f64>() {
                Ok(value) => Ok(format.encode(if negative { -value } else { value })),
                Err(_) => self.error(literal.span(), "not a float"),
            };
        }
        let Some(hex) = text.strip_prefix("0x") else {
            let message = "an integer literal cannot have a float type";
            let diagnostic = crate::diag::Diagnostic::error(literal.span(), message);
            return self.report(diagnostic.help(format!("add a point: `{text}.`")));
        };
        if negative {
            return self.error(literal.span(), "the bits of a float in hexadecimal have no sign of their own");
        }
        match u128::from_str_radix(hex, 16) {
            Ok(bits) if format.width >= 128 || bits >> format.width == 0 => Ok(bits),
            _ => self.error(literal.span(), format!("`{keyword}` has {} bits", format.width)),
        }
    }

    /// A plain integer, with a sign or without.
    pub(super) fn i64(&mut self, what: &str) -> Parse<i64> {
        let negative = self.eat(b'-');
        let literal = self.expect_kind(Kind::Integer, what)?;
        let value = magnitude(self.ascii(literal)).and_then(|magnitude| i128::try_from(magnitude).ok());
        match value.and_then(|value| i64::try_from(if negative { -value } else { value }).ok()) {
            Some(value) => Ok(value),
            None => self.error(literal.span(), "the integer is out of range"),
        }
    }
}
