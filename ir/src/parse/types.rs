//! Types.

use super::cursor::{Parse, Parser};
use super::lexer::Kind;
use crate::attr::Attr;
use crate::types::{self, Dim, Sign, Ty, Type};
use smallvec::SmallVec;

/// The widest integer type that MLIR has.
const MAX_WIDTH: u32 = (1 << 24) - 1;
/// The most dimensions of a shape: literals of a shape nest as deep.
const MAX_RANK: usize = 64;

impl<'a> Parser<'a> {
    /// A type.
    pub(super) fn ty(&mut self) -> Parse<Ty> {
        if self.at(b'(') {
            self.enter()?;
            let mut inputs = SmallVec::new();
            let mut results = SmallVec::new();
            self.function_ty(&mut inputs, &mut results)?;
            self.leave();
            return Ok(self.module.intern_ty(Type::Function { inputs: inputs.to_vec(), results: results.to_vec() }));
        }
        self.plain_ty()
    }

    /// `(T, ..) -> T` or `(T, ..) -> (T, ..)`, appended to two lists.
    pub(super) fn function_ty(&mut self, inputs: &mut SmallVec<[Ty; 8]>, results: &mut SmallVec<[Ty; 4]>) -> Parse<()> {
        self.expect(b'(', "before the operand types")?;
        self.list_until(b')', "after the operand types", |parser| {
            inputs.push(parser.ty()?);
            Ok(())
        })?;
        self.expect_kind(Kind::Arrow, "`->` in a function type")?;
        if !self.eat(b'(') {
            results.push(self.plain_ty()?);
            return Ok(());
        }
        self.list_until(b')', "after the result types", |parser| {
            results.push(parser.ty()?);
            Ok(())
        })
    }

    /// A type that is no function type.
    fn plain_ty(&mut self) -> Parse<Ty> {
        match self.tok.kind {
            Kind::Bang => self.dialect_ty(),
            Kind::Bare => match self.bytes(self.tok) {
                b"tensor" | b"memref" | b"vector" => self.shaped_ty(),
                b"complex" => {
                    self.bump();
                    self.expect(b'<', "after `complex`")?;
                    let elem = self.nested_ty()?;
                    self.expect(b'>', "after the element type")?;
                    Ok(self.module.intern_ty(Type::Complex(elem)))
                }
                b"tuple" => self.tuple(),
                _ => match self.keyword_ty()? {
                    Some(ty) => {
                        self.bump();
                        Ok(ty)
                    }
                    None => self.unexpected("expected a type"),
                },
            },
            _ => self.unexpected("expected a type"),
        }
    }

    fn nested_ty(&mut self) -> Parse<Ty> {
        self.enter()?;
        let ty = self.ty()?;
        self.leave();
        Ok(ty)
    }

    fn tuple(&mut self) -> Parse<Ty> {
        self.bump();
        self.expect(b'<', "after `tuple`")?;
        let mut items = Vec::new();
        self.list_until(b'>', "after the element types", |parser| {
            items.push(parser.nested_ty()?);
            Ok(())
        })?;
        Ok(self.module.intern_ty(Type::Tuple(items)))
    }

    /// The type that the next word alone names, if it does; the word is not taken.
    pub(super) fn keyword_ty(&mut self) -> Parse<Option<Ty>> {
        let word = self.ascii(self.tok);
        let ty = match word {
            "index" => Type::Index,
            "none" => Type::None,
            _ => match types::float(word) {
                Some(float) => float,
                None => match self.integer_word(word)? {
                    Some(integer) => integer,
                    None => return Ok(None),
                },
            },
        };
        Ok(Some(self.module.intern_ty(ty)))
    }

    fn integer_word(&mut self, word: &str) -> Parse<Option<Type>> {
        let (sign, digits) = match word.as_bytes() {
            [b'i', ..] => (Sign::None, &word[1..]),
            [b's', b'i', ..] => (Sign::Signed, &word[2..]),
            [b'u', b'i', ..] => (Sign::Unsigned, &word[2..]),
            _ => return Ok(None),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(None);
        }
        match digits.parse::<u32>() {
            Ok(width) if width <= MAX_WIDTH => Ok(Some(Type::Integer { width, sign })),
            _ => self.error(self.tok.span(), format!("an integer type has at most {MAX_WIDTH} bits")),
        }
    }

    // ---- shapes -------------------------------------------------------------------------------------

    /// `tensor<..>`, `memref<..>`, `vector<..>`.
    fn shaped_ty(&mut self) -> Parse<Ty> {
        let start = self.tok.start as usize;
        let cached = self.simple_shape(start);
        if let Some(end) = cached
            && let Some(ty) = self.ty_cache.get(&self.text[start..end])
        {
            let ty = *ty;
            self.seek(end);
            return Ok(ty);
        }
        let word = self.bump();
        if !self.at(b'<') {
            return self.unexpected(&format!("expected `<` after `{}`", self.ascii(word)));
        }
        self.enter()?;
        let ty = match self.bytes(word) {
            b"tensor" => self.tensor()?,
            b"memref" => self.memref()?,
            _ => self.vector()?,
        };
        self.leave();
        let ty = self.module.intern_ty(ty);
        if let Some(end) = cached {
            self.ty_cache.insert(&self.text[start..end], ty);
        }
        Ok(ty)
    }

    /// The end of a short shaped type without nested brackets or aliases.
    fn simple_shape(&self, start: usize) -> Option<usize> {
        let open = start + 6;
        if self.text.get(open) != Some(&b'<') {
            return None;
        }
        let rest = &self.text[open + 1..self.text.len().min(open + 48)];
        let at = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'?'))?;
        (rest[at] == b'>').then_some(open + at + 2)
    }

    fn tensor(&mut self) -> Parse<Type> {
        let shape = self.dims()?;
        let elem = self.ty()?;
        if !self.holds(elem) {
            return self.error(self.tok.span(), "a tensor cannot hold elements of this type");
        }
        let encoding = if self.eat(b',') { Some(Box::new(self.attr()?)) } else { None };
        self.expect(b'>', "after the tensor type")?;
        Ok(Type::Tensor { shape, elem, encoding })
    }

    /// Whether a type may be the element of a tensor.
    fn holds(&self, elem: Ty) -> bool {
        let refused = |ty: &Type| {
            matches!(ty, Type::Tensor { .. } | Type::MemRef { .. } | Type::Function { .. } | Type::Tuple(_))
        };
        !refused(self.module.ty(elem))
    }

    fn memref(&mut self) -> Parse<Type> {
        let shape = self.dims()?;
        let elem = self.ty()?;
        let (mut layout, mut space) = (None, None);
        while self.eat(b',') {
            let place = self.tok.span();
            let attr = self.attr()?;
            let is_layout =
                matches!(&attr, Attr::Text(text, _) if text.starts_with("strided<") || text.starts_with("affine_map<"));
            let taken = space.is_some() || (is_layout && (shape.is_none() || layout.is_some()));
            if taken {
                return self.error(place, "a memref has at most one layout, then at most one memory space");
            }
            let slot = if is_layout { &mut layout } else { &mut space };
            *slot = Some(Box::new(attr));
        }
        self.expect(b'>', "after the memref type")?;
        // The default memory space and the identity layout are not spelled out.
        let space = space.filter(|space| !matches!(**space, Attr::Int { value: 0, ty } if ty == self.i64_ty));
        let rank = shape.as_ref().map_or(0, Vec::len);
        let layout = layout.filter(|layout| !matches!(&**layout, Attr::Text(text, _) if is_identity(text, rank)));
        Ok(Type::MemRef { shape, elem, layout, space })
    }

    fn vector(&mut self) -> Parse<Type> {
        let mut shape = Vec::new();
        self.lexer.pos = self.tok.end as usize;
        loop {
            self.lexer.skip_blank();
            let scalable = self.lexer.peek(0) == b'[';
            if scalable {
                self.lexer.pos += 1;
                self.lexer.skip_blank();
            }
            if !self.lexer.peek(0).is_ascii_digit() {
                break;
            }
            let size = self.dim_size()?;
            if scalable {
                self.lexer.skip_blank();
                if self.lexer.peek(0) != b']' {
                    self.seek(self.lexer.pos);
                    return self.unexpected("expected `]` after a scalable dimension");
                }
                self.lexer.pos += 1;
            }
            self.times()?;
            shape.push((size, scalable));
            self.check_rank(shape.len())?;
        }
        self.seek(self.lexer.pos);
        let elem = self.ty()?;
        self.expect(b'>', "after the vector type")?;
        Ok(Type::Vector { shape, elem })
    }

    /// Dimensions after `<`, each followed by `x`; `None` for `*x`. The next token is `<`, afterwards the element type's first.
    fn dims(&mut self) -> Parse<Option<Vec<Dim>>> {
        self.lexer.pos = self.tok.end as usize;
        self.lexer.skip_blank();
        let mut dims = Vec::new();
        if self.lexer.peek(0) == b'*' {
            self.lexer.pos += 1;
            self.times()?;
            self.seek(self.lexer.pos);
            return Ok(None);
        }
        loop {
            self.lexer.skip_blank();
            match self.lexer.peek(0) {
                b'?' => {
                    self.lexer.pos += 1;
                    dims.push(Dim::Dynamic);
                }
                b'0'..=b'9' => dims.push(Dim::Known(self.dim_size()?)),
                _ => break,
            }
            self.times()?;
            self.check_rank(dims.len())?;
        }
        self.seek(self.lexer.pos);
        Ok(Some(dims))
    }

    fn check_rank(&mut self, rank: usize) -> Parse<()> {
        if rank <= MAX_RANK {
            return Ok(());
        }
        self.seek(self.lexer.pos);
        self.error(self.tok.span(), format!("a shape has at most {MAX_RANK} dimensions"))
    }

    fn dim_size(&mut self) -> Parse<u64> {
        let start = self.lexer.pos;
        let mut size = Some(0u64);
        while self.lexer.peek(0).is_ascii_digit() {
            let digit = u64::from(self.lexer.peek(0) - b'0');
            size =
                size.and_then(|size| size.checked_mul(10)?.checked_add(digit)).filter(|size| *size <= i64::MAX as u64);
            self.lexer.pos += 1;
        }
        match size {
            Some(size) => Ok(size),
            None => {
                let span = crate::loc::Span { start: start as u32, end: self.lexer.pos as u32 };
                self.seek(self.lexer.pos);
                self.error(span, "a dimension has at most 2^63-1 elements")
            }
        }
    }

    /// The `x` after a dimension.
    fn times(&mut self) -> Parse<()> {
        self.lexer.skip_blank();
        if self.lexer.peek(0) == b'x' {
            self.lexer.pos += 1;
            return Ok(());
        }
        self.seek(self.lexer.pos);
        self.unexpected("expected `x` after a dimension")
    }
}

/// Whether a layout is the identity map of a rank, in MLIR's normal form.
fn is_identity(text: &str, rank: usize) -> bool {
    let dims: Vec<String> = (0..rank).map(|dim| format!("d{dim}")).collect();
    let dims = dims.join(", ");
    text.strip_prefix("affine_map<").is_some_and(|rest| rest == format!("({dims}) -> ({dims})>"))
}
