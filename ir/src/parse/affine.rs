//! `affine_map<(d0)[s0] -> (..)>` and `affine_set<(d0)[s0] : (.. >= 0)>`, kept as text in MLIR's normal form.

use super::cursor::{Parse, Parser};
use super::lexer::{Kind, Token};
use crate::affine::{Expr, Exprs, Op};
use crate::attr::Attr;
use rustc_hash::FxHashMap;

/// The names of dimensions and symbols while a map is read.
#[derive(Default)]
struct Space<'a> {
    exprs: Exprs,
    names: FxHashMap<&'a [u8], Expr>,
    dims: u32,
    symbols: u32,
}

impl<'a> Parser<'a> {
    /// An affine map or integer set.
    pub(super) fn affine(&mut self) -> Parse<Attr> {
        let keyword = self.bump();
        let is_map = self.bytes(keyword) == b"affine_map";
        self.expect(b'<', "after the keyword")?;
        let mut space = Space::default();
        self.expect(b'(', "before the dimensions")?;
        self.affine_names(&mut space, b')')?;
        if self.eat(b'[') {
            self.affine_names(&mut space, b']')?;
        }
        let mut text = format!("{}<({})", self.ascii(keyword), numbered("d", space.dims));
        if space.symbols > 0 {
            text.push_str(&format!("[{}]", numbered("s", space.symbols)));
        }
        if is_map {
            self.expect_kind(Kind::Arrow, "`->` before the results")?;
        } else {
            self.expect(b':', "before the constraints")?;
        }
        text.push_str(if is_map { " -> (" } else { " : (" });
        self.expect(b'(', "before the expressions")?;
        let mut first = true;
        self.list_until(b')', "after the expressions", |parser| {
            let separator = if first { "" } else { ", " };
            first = false;
            text.push_str(separator);
            if is_map { parser.affine_result(&mut space, &mut text) } else { parser.constraint(&mut space, &mut text) }
        })?;
        self.expect(b'>', "after the expressions")?;
        text.push_str(")>");
        Ok(Attr::Text(text.into(), None))
    }

    fn affine_names(&mut self, space: &mut Space<'a>, close: u8) -> Parse<()> {
        self.list_until(close, "after the names", |parser| {
            let tok = parser.expect_kind(Kind::Bare, "a name")?;
            let expr = match close {
                b')' => {
                    space.dims += 1;
                    space.exprs.dim(space.dims - 1)
                }
                _ => {
                    space.symbols += 1;
                    space.exprs.symbol(space.symbols - 1)
                }
            };
            match space.names.insert(parser.bytes(tok), expr) {
                None => Ok(()),
                Some(_) => parser.error(tok.span(), format!("the name `{}` is given twice", parser.ascii(tok))),
            }
        })
    }

    fn affine_result(&mut self, space: &mut Space<'a>, text: &mut String) -> Parse<()> {
        let expr = self.sum(space)?;
        space.exprs.print(expr, false, text);
        Ok(())
    }

    /// `a >= b`, `a <= b`, `a == b` as `a - b >= 0`, `b - a >= 0`, `a - b == 0`.
    fn constraint(&mut self, space: &mut Space<'a>, text: &mut String) -> Parse<()> {
        let left = self.sum(space)?;
        let mark = match self.tok.kind {
            Kind::Punct(mark @ (b'>' | b'<' | b'=')) => mark,
            _ => return self.unexpected("expected `>=`, `<=` or `==`"),
        };
        self.bump();
        self.expect(b'=', "in `>=`, `<=` or `==`")?;
        let right = self.sum(space)?;
        let (from, minus) = if mark == b'<' { (right, left) } else { (left, right) };
        let negated = space.exprs.negate(minus);
        let difference = space.exprs.binary(Op::Add, from, negated);
        self.deepen(space.exprs.depth(difference))?;
        space.exprs.print(difference, false, text);
        text.push_str(if mark == b'=' { " == 0" } else { " >= 0" });
        Ok(())
    }

    /// `a + b - c`.
    fn sum(&mut self, space: &mut Space<'a>) -> Parse<Expr> {
        self.enter()?;
        let mut sum = self.product(space)?;
        while matches!(self.tok.kind, Kind::Punct(b'+' | b'-')) {
            let minus = self.bump();
            let mut term = self.product(space)?;
            if self.bytes(minus) == b"-" {
                term = space.exprs.negate(term);
            }
            sum = space.exprs.binary(Op::Add, sum, term);
            self.deepen(space.exprs.depth(sum))?;
        }
        self.leave();
        Ok(sum)
    }

    /// `a * b floordiv c`.
    fn product(&mut self, space: &mut Space<'a>) -> Parse<Expr> {
        let mut product = self.affine_operand(space)?;
        while let Some(op) = self.affine_op() {
            let tok = self.bump();
            let factor = self.affine_operand(space)?;
            let right = space.exprs.is_symbolic(factor);
            if !(right || (op == Op::Mul && space.exprs.is_symbolic(product))) {
                return self
                    .error(tok.span(), "one side of the product, or the divisor, must be made of symbols and numbers");
            }
            product = space.exprs.binary(op, product, factor);
            self.deepen(space.exprs.depth(product))?;
        }
        Ok(product)
    }

    fn affine_op(&self) -> Option<Op> {
        match self.tok.kind {
            Kind::Punct(b'*') => Some(Op::Mul),
            Kind::Bare => match self.bytes(self.tok) {
                b"floordiv" => Some(Op::FloorDiv),
                b"ceildiv" => Some(Op::CeilDiv),
                b"mod" => Some(Op::Mod),
                _ => None,
            },
            _ => None,
        }
    }

    fn affine_operand(&mut self, space: &mut Space<'a>) -> Parse<Expr> {
        let tok: Token = self.tok;
        match tok.kind {
            Kind::Punct(b'(') => {
                self.bump();
                let expr = self.sum(space)?;
                self.expect(b')', "after the expression")?;
                Ok(expr)
            }
            Kind::Punct(b'-') => {
                self.bump();
                self.enter()?;
                let expr = self.affine_operand(space)?;
                self.leave();
                Ok(space.exprs.negate(expr))
            }
            Kind::Integer => {
                let value = self.i64("a number")?;
                Ok(space.exprs.constant(value))
            }
            Kind::Bare => match space.names.get(self.bytes(tok)) {
                Some(expr) => {
                    let expr = *expr;
                    self.bump();
                    Ok(expr)
                }
                None => self.error(tok.span(), format!("`{}` is no dimension or symbol of the map", self.ascii(tok))),
            },
            _ => self.unexpected("expected an affine expression"),
        }
    }
}

/// `d0, d1, ..`.
fn numbered(letter: &str, count: u32) -> String {
    (0..count).map(|index| format!("{letter}{index}")).collect::<Vec<_>>().join(", ")
}
