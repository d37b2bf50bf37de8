//! `dense<..>`, `sparse<..>`, `dense_resource<..>`, `array<..>`.
//!
//! As MLIR does, a literal is first read without a type, then turned into bytes, and printed from the bytes: equal elements as
//! one (splat), at most a hundred as a list, more as one hexadecimal string.

use super::cursor::{Parse, Parser};
use super::lexer::{Kind, Token, hex, is_bare, unescape};
use super::numbers::IntKind;
use super::raw::{Elem, Raw, nested_list};
use crate::attr::Attr;
use crate::loc::Span;
use crate::print;
use crate::types::{Dim, Ty, Type};

/// A literal before its type is known.
struct Literal {
    items: Vec<(bool, Token)>,
    /// Sizes of the nested lists; `None` for a single element, and for `<>`.
    shape: Option<Vec<u64>>,
    complex: bool,
    place: Span,
}

impl<'a> Parser<'a> {
    /// `dense<..> : T`.
    pub(super) fn dense(&mut self) -> Parse<Attr> {
        self.bump();
        self.expect(b'<', "after `dense`")?;
        let literal = self.literal()?;
        self.expect(b'>', "after the elements")?;
        self.expect(b':', "after the elements")?;
        let place = self.tok.span();
        let ty = self.ty()?;
        let (shape, elem) = self.static_shape(ty, place)?;
        let text = format!("dense<{}>", self.typed_literal(&literal, &shape, elem, true)?);
        Ok(Attr::Elements { text: text.into(), ty })
    }

    /// `dense_resource<key> : T`.
    pub(super) fn dense_resource(&mut self) -> Parse<Attr> {
        self.bump();
        self.expect(b'<', "after `dense_resource`")?;
        let key = match self.tok.kind {
            Kind::Bare => self.bytes(self.tok).into(),
            Kind::String => unescape(self.bytes(self.tok)),
            _ => return self.unexpected("expected the name of a resource"),
        };
        self.bump();
        self.expect(b'>', "after the resource")?;
        self.expect(b':', "after the resource")?;
        let mut text = "dense_resource<".to_owned();
        if is_bare(&key) {
            text.push_str(&String::from_utf8_lossy(&key));
        } else {
            print::quoted(&key, &mut text);
        }
        text.push('>');
        let ty = self.ty()?;
        Ok(Attr::Elements { text: text.into(), ty })
    }

    /// `sparse<indices, values> : T`.
    pub(super) fn sparse(&mut self) -> Parse<Attr> {
        self.bump();
        self.expect(b'<', "after `sparse`")?;
        let mut parts = Vec::new();
        if !self.at(b'>') {
            parts.push(self.literal()?);
            self.expect(b',', "between indices and values")?;
            parts.push(self.literal()?);
        }
        self.expect(b'>', "after the values")?;
        self.expect(b':', "after the elements")?;
        let place = self.tok.span();
        let ty = self.ty()?;
        let (shape, elem) = self.static_shape(ty, place)?;
        let mut text = "sparse<".to_owned();
        if let [indices, values] = &parts[..]
            && indices.shape.as_ref().is_none_or(|shape| shape.first() != Some(&0))
        {
            let index_shape = indices.shape.clone().unwrap_or_else(|| vec![1, shape.len() as u64]);
            let count = index_shape.first().copied().unwrap_or(1);
            let value_shape = values.shape.clone().unwrap_or_else(|| vec![count]);
            text.push_str(&self.typed_literal(indices, &index_shape, self.i64_ty, false)?);
            text.push_str(", ");
            text.push_str(&self.typed_literal(values, &value_shape, elem, true)?);
        }
        text.push('>');
        Ok(Attr::Elements { text: text.into(), ty })
    }

    /// Dimensions and element type of a shaped type without `?`.
    fn static_shape(&mut self, ty: Ty, place: Span) -> Parse<(Vec<u64>, Ty)> {
        let known = |dim: &Dim| match dim {
            Dim::Known(size) => Some(*size),
            Dim::Dynamic => None,
        };
        let found = match self.module.ty(ty) {
            Type::Tensor { shape: Some(shape), elem, .. } => {
                shape.iter().map(known).collect::<Option<Vec<u64>>>().map(|shape| (shape, *elem))
            }
            Type::Vector { shape, elem } if shape.iter().all(|(_, scalable)| !scalable) => {
                Some((shape.iter().map(|(size, _)| *size).collect(), *elem))
            }
            _ => None,
        };
        match found {
            Some(found) => Ok(found),
            None => self.error(place, "elements need a tensor or vector type whose dimensions are all known"),
        }
    }

    // ---- without a type -----------------------------------------------------------------------------

    fn literal(&mut self) -> Parse<Literal> {
        let place = self.tok.span();
        let mut literal = Literal { items: Vec::new(), shape: None, complex: false, place };
        if !self.at(b'>') {
            literal.shape = self.literal_part(&mut literal)?;
        }
        Ok(literal)
    }

    /// One element or one list; returns the shape of a list.
    fn literal_part(&mut self, literal: &mut Literal) -> Parse<Option<Vec<u64>>> {
        if !self.at(b'[') {
            self.literal_item(literal)?;
            return Ok(None);
        }
        let open = self.bump();
        self.enter()?;
        let mut count = 0;
        let mut inner: Option<Option<Vec<u64>>> = None;
        self.list_until(b']', "after the elements", |parser| {
            let shape = parser.literal_part(literal)?;
            count += 1;
            match &inner {
                Some(first) if *first != shape => parser.error(open.span(), "lists of unequal length or depth"),
                Some(_) => Ok(()),
                None => {
                    inner = Some(shape);
                    Ok(())
                }
            }
        })?;
        self.leave();
        let mut shape = vec![count];
        shape.extend(inner.flatten().unwrap_or_default());
        Ok(Some(shape))
    }

    fn literal_item(&mut self, literal: &mut Literal) -> Parse<()> {
        if !self.eat(b'(') {
            return self.literal_scalar(literal);
        }
        literal.complex = true;
        self.literal_scalar(literal)?;
        self.expect(b',', "between real and imaginary part")?;
        self.literal_scalar(literal)?;
        self.expect(b')', "after the imaginary part")?;
        Ok(())
    }

    fn literal_scalar(&mut self, literal: &mut Literal) -> Parse<()> {
        let negative = self.eat(b'-');
        let is_word = self.at_word("true") || self.at_word("false") || self.tok.kind == Kind::String;
        if !(matches!(self.tok.kind, Kind::Integer | Kind::Float) || (is_word && !negative)) {
            return self.unexpected("expected an element: a number, `true`, `false`, a string or a list");
        }
        literal.items.push((negative, self.tok));
        self.bump();
        Ok(())
    }

    // ---- with a type --------------------------------------------------------------------------------

    /// MLIR's print of a literal of a shape and element type, without the outer `<>`.
    fn typed_literal(&mut self, literal: &Literal, shape: &[u64], elem: Ty, allow_hex: bool) -> Parse<String> {
        let count = shape.iter().try_fold(1u64, |count, size| count.checked_mul(*size));
        let count = if shape.contains(&0) { Some(0) } else { count };
        let Some(count) = count.filter(|count| *count <= i64::MAX as u64) else {
            return self.error(literal.place, "the type has more than 2^63-1 elements");
        };
        self.deepen(shape.len() as u32)?;
        let (kind, parts) = match *self.module.ty(elem) {
            Type::Complex(part) => (self.elem_kind(part), 2),
            _ => (self.elem_kind(elem), 1),
        };
        let hex_string = matches!(&literal.items[..], [(_, tok)] if tok.kind == Kind::String)
            && literal.shape.is_none()
            && !matches!(kind, Elem::Text);
        if !hex_string {
            self.check_literal(literal, shape, count, parts == 2)?;
        }
        match kind {
            Elem::Text => self.string_elements(literal, shape),
            _ => {
                let bits = kind.bits();
                let one_bit = matches!(kind, Elem::Int(IntKind::Signless(1))) && parts == 1;
                let mut raw = Raw { bytes: Vec::new(), count, size: bits.div_ceil(8) as usize * parts, one_bit };
                match hex_string {
                    true => raw.bytes = self.hex_elements(literal, &raw)?,
                    false => self.encode_elements(literal, kind, &mut raw)?,
                }
                Ok(raw.print(shape, kind, parts, allow_hex))
            }
        }
    }

    fn elem_kind(&self, elem: Ty) -> Elem {
        match self.module.ty(elem) {
            Type::Float(keyword) => Elem::Float(keyword),
            other => IntKind::of(other).map_or(Elem::Text, Elem::Int),
        }
    }

    fn check_literal(&mut self, literal: &Literal, shape: &[u64], count: u64, complex: bool) -> Parse<()> {
        let splat = literal.shape.is_none();
        if splat && literal.items.is_empty() && count != 0 {
            return self.error(literal.place, format!("no elements are given, the type has {count}"));
        }
        if let Some(given) = &literal.shape
            && given != shape
            && !(count == 0 && literal.items.is_empty())
        {
            let message = format!("the elements have shape {given:?}, the type has {shape:?}");
            return self.error(literal.place, message);
        }
        if literal.complex != complex && !literal.items.is_empty() {
            let message = if complex { "complex elements are pairs: `(1.0, 2.0)`" } else { "the type is not complex" };
            return self.error(literal.place, message);
        }
        Ok(())
    }

    fn string_elements(&mut self, literal: &Literal, shape: &[u64]) -> Parse<String> {
        let mut items = Vec::new();
        for (_, tok) in &literal.items {
            if tok.kind != Kind::String {
                return self.error(tok.span(), "elements of this type can only be strings");
            }
            let mut text = String::new();
            print::quoted(&unescape(self.bytes(*tok)), &mut text);
            items.push(text);
        }
        if items.is_empty() {
            return Ok(String::new());
        }
        if items.iter().all(|item| *item == items[0]) {
            return Ok(items.swap_remove(0));
        }
        let mut text = String::new();
        nested_list(shape, &mut items.iter(), &mut |item, text| text.push_str(item), &mut text);
        Ok(text)
    }

    fn hex_elements(&mut self, literal: &Literal, raw: &Raw) -> Parse<Vec<u8>> {
        let spelled = self.bytes(literal.items[0].1);
        let digits = &spelled[1..spelled.len() - 1];
        let digits = digits.strip_prefix(b"0x").filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits.filter(|digits| digits.len().is_multiple_of(2)) else {
            return self
                .error(literal.place, "elements as a string are `\"0x..\"` with two hexadecimal digits per byte");
        };
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| hex(pair[0]) << 4 | hex(pair[1])).collect();
        if raw.accepts(&bytes) {
            return Ok(bytes);
        }
        let message = format!("the string has {} bytes, the type needs {}", bytes.len(), raw.total());
        self.error(literal.place, message)
    }

    fn encode_elements(&mut self, literal: &Literal, kind: Elem, raw: &mut Raw) -> Parse<()> {
        let size = kind.bits().div_ceil(8) as usize;
        for (at, (negative, tok)) in literal.items.iter().enumerate() {
            let bits = self.element_bits(*negative, *tok, kind)?;
            if raw.one_bit {
                if at % 8 == 0 {
                    raw.bytes.push(0);
                }
                raw.bytes[at / 8] |= (bits as u8) << (at % 8);
            } else {
                raw.bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
        if raw.one_bit && literal.shape.is_none() && raw.bytes == [1] {
            raw.bytes[0] = 0xFF;
        }
        Ok(())
    }

    fn element_bits(&mut self, negative: bool, tok: Token, kind: Elem) -> Parse<u128> {
        match (kind, tok.kind) {
            (Elem::Int(kind), Kind::Integer) => {
                let value = self.int_literal(negative, tok, kind)? as u128;
                Ok(if kind.width() == 128 { value } else { value & ((1 << kind.width()) - 1) })
            }
            (Elem::Int(IntKind::Signless(1)), Kind::Bare) => Ok((self.bytes(tok) == b"true").into()),
            (Elem::Float(keyword), Kind::Integer | Kind::Float) => self.float_bits(negative, tok, keyword),
            (Elem::Int(_), _) => self.error(tok.span(), "the type holds integers"),
            _ => self.error(tok.span(), "the type holds floats"),
        }
    }

    // ---- array<..> ----------------------------------------------------------------------------------

    /// `array<T: ..>`.
    pub(super) fn dense_array(&mut self) -> Parse<Attr> {
        self.bump();
        self.expect(b'<', "after `array`")?;
        let place = self.tok.span();
        let elem = match self.tok.kind {
            Kind::Bare => self.keyword_ty()?,
            _ => None,
        };
        let Some(elem) = elem else { return self.unexpected("expected an integer or float type") };
        self.bump();
        let kind = self.elem_kind(elem);
        let one_bit = matches!(kind, Elem::Int(IntKind::Signless(1)));
        if matches!(kind, Elem::Text | Elem::Int(IntKind::Index)) || !(one_bit || kind.bits().is_multiple_of(8)) {
            return self.error(place, "the elements of an array have `i1` or whole bytes");
        }
        let mut items = Literal { items: Vec::new(), shape: None, complex: false, place };
        if self.eat(b':') {
            self.literal_scalar(&mut items)?;
            while self.eat(b',') {
                self.literal_scalar(&mut items)?;
            }
        }
        self.expect(b'>', "after the elements")?;
        match kind {
            Elem::Float(keyword) => {
                let mut values = Vec::new();
                for (negative, tok) in items.items {
                    if !matches!(tok.kind, Kind::Integer | Kind::Float) {
                        return self.error(tok.span(), "the type holds floats");
                    }
                    values.push(self.float_literal(negative, tok, keyword)?.into());
                }
                Ok(Attr::DenseFloats { elem, values })
            }
            Elem::Int(kind) => self.int_array(elem, kind, &items.items),
            Elem::Text => self.error(place, "the elements of an array are numbers"),
        }
    }

    fn int_array(&mut self, elem: Ty, kind: IntKind, items: &[(bool, Token)]) -> Parse<Attr> {
        if kind == IntKind::Signless(1) {
            let mut values = Vec::new();
            for (_, tok) in items {
                if tok.kind != Kind::Bare {
                    return self.error(tok.span(), "expected `true` or `false`");
                }
                values.push(self.bytes(*tok) == b"true");
            }
            return Ok(Attr::DenseBools(values));
        }
        let mut values = Vec::new();
        for (negative, tok) in items {
            if tok.kind != Kind::Integer {
                return self.error(tok.span(), "the type holds integers");
            }
            match i64::try_from(self.int_literal(*negative, *tok, kind)?) {
                Ok(value) => values.push(value),
                Err(_) => return self.error(tok.span(), "elements of an array are at most 2^63-1"),
            }
        }
        Ok(Attr::DenseInts { elem, values })
    }
}
