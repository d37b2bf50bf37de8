//! Elements of `dense<..>` and `sparse<..>` as bytes, and MLIR's print of them: equal elements as one, at most [`MAX_LISTED`] as a list,
//! more as one hexadecimal string.

use super::numbers::IntKind;
use crate::float;

/// Elements above which MLIR prints a hexadecimal string.
const MAX_LISTED: u64 = 100;

/// How an element is stored and printed.
#[derive(Clone, Copy)]
pub(super) enum Elem {
    Int(IntKind),
    Float(&'static str),
    Text,
}

impl Elem {
    /// Bits of an element.
    pub(super) fn bits(self) -> u32 {
        match self {
            Elem::Int(kind) => kind.width(),
            Elem::Float(keyword) => float::of(keyword).map_or(0, |format| format.width),
            Elem::Text => 0,
        }
    }

    fn print(self, bits: u128, text: &mut String) {
        match self {
            Elem::Int(IntKind::Signless(1)) => text.push_str(if bits & 1 == 1 { "true" } else { "false" }),
            Elem::Int(kind) => {
                let mask = if kind.width() >= 128 { u128::MAX } else { (1 << kind.width()) - 1 };
                match kind.bits_value(bits & mask) {
                    Some(value) => text.push_str(&value.to_string()),
                    None => text.push_str(&(bits & mask).to_string()),
                }
            }
            Elem::Float(keyword) => {
                if let Some(format) = float::of(keyword) {
                    let mask = if format.width >= 128 { u128::MAX } else { (1 << format.width) - 1 };
                    text.push_str(&format.print(bits & mask).0);
                }
            }
            Elem::Text => {}
        }
    }
}

/// Elements as bytes: one element where all are equal, else all; `i1` packed by the bit.
pub(super) struct Raw {
    pub(super) bytes: Vec<u8>,
    pub(super) count: u64,
    /// Bytes of an element.
    pub(super) size: usize,
    pub(super) one_bit: bool,
}

impl Raw {
    /// Bytes of all elements.
    pub(super) fn total(&self) -> u64 {
        if self.one_bit { self.count.div_ceil(8) } else { self.count.saturating_mul(self.size as u64) }
    }

    /// Whether bytes are all elements, or one for all.
    pub(super) fn accepts(&self, bytes: &[u8]) -> bool {
        let one = if self.one_bit { matches!(bytes, [0] | [0xFF]) } else { bytes.len() == self.size };
        one || bytes.len() as u64 == self.total()
    }

    fn is_splat(&self) -> bool {
        if !self.one_bit {
            return self.bytes.chunks(self.size.max(1)).all(|chunk| chunk == &self.bytes[..self.size]);
        }
        if self.count > 1 && matches!(self.bytes[..], [0] | [0xFF]) {
            return true;
        }
        (1..self.count as usize).all(|at| self.bits(at, 1) == self.bits(0, 1))
    }

    /// Bits of part `at` of `size` bytes.
    fn bits(&self, at: usize, size: usize) -> u128 {
        if self.one_bit {
            return (self.bytes[at / 8] >> (at % 8) & 1).into();
        }
        let mut bits = [0; 16];
        bits[..size].copy_from_slice(&self.bytes[at * size..][..size]);
        u128::from_le_bytes(bits)
    }

    /// MLIR's print, without the outer `<>`.
    pub(super) fn print(&self, shape: &[u64], kind: Elem, parts: usize, allow_hex: bool) -> String {
        let mut text = String::new();
        if self.count == 0 || (self.bytes.is_empty() && self.size > 0) {
            return text;
        }
        let element = |at: &usize, text: &mut String| match parts {
            1 => kind.print(self.bits(*at, self.size), text),
            _ => {
                text.push('(');
                kind.print(self.bits(2 * at, self.size / 2), text);
                text.push(',');
                kind.print(self.bits(2 * at + 1, self.size / 2), text);
                text.push(')');
            }
        };
        if self.is_splat() {
            element(&0, &mut text);
        } else if allow_hex && self.count > MAX_LISTED {
            text.push_str("\"0x");
            for byte in &self.bytes {
                text.push(char::from(b"0123456789ABCDEF"[usize::from(byte >> 4)]));
                text.push(char::from(b"0123456789ABCDEF"[usize::from(byte & 15)]));
            }
            text.push('"');
        } else {
            let mut indices = 0..self.count as usize;
            let mut items = std::iter::from_fn(|| indices.next());
            nested_list(shape, &mut items, &mut |at, text| element(&at, text), &mut text);
        }
        text
    }
}

/// `[[a, b], [c, d]]`. The nesting is that of a type that was read: limited.
pub(super) fn nested_list<T>(
    shape: &[u64],
    items: &mut dyn Iterator<Item = T>,
    print: &mut dyn FnMut(T, &mut String),
    text: &mut String,
) {
    let Some((size, rest)) = shape.split_first() else {
        if let Some(item) = items.next() {
            print(item, text);
        }
        return;
    };
    text.push('[');
    for at in 0..*size {
        if at > 0 {
            text.push_str(", ");
        }
        nested_list(rest, items, print, text);
    }
    text.push(']');
}
