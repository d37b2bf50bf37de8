//! Affine expressions in MLIR's normal form: what `affine_map<..>` and `affine_set<..>` are made of.
//!
//! MLIR simplifies an expression as it is built, so that `d0 + 1 + 2` is `d0 + 3` before anything else sees it. The same rules are
//! applied here, one function per operator, in the same order. Source: MLIR `AffineExpr.cpp` (`simplifyAdd`, `simplifyMul`, ..)
//! and `AsmPrinter.cpp` (`printAffineExprInternal`), LLVM 22. Expressions are interned: equal ones have equal handles.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::fmt::Write;

/// A handle to an interned expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Expr(u32);

/// A binary operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Op {
    Add,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
    Dim(u32),
    Symbol(u32),
    Const(i64),
    Binary(Op, Expr, Expr),
}

/// What is known of a node.
#[derive(Clone, Copy, Debug)]
struct Info {
    depth: u32,
    /// Made of symbols and constants alone.
    symbolic: bool,
}

/// The table behind [`Expr`].
#[derive(Default, Debug)]
pub(crate) struct Exprs {
    nodes: IndexSet<Node, FxBuildHasher>,
    infos: Vec<Info>,
}

impl Exprs {
    /// `d0`, `d1`, ..
    pub(crate) fn dim(&mut self, index: u32) -> Expr {
        self.intern(Node::Dim(index))
    }

    /// `s0`, `s1`, ..
    pub(crate) fn symbol(&mut self, index: u32) -> Expr {
        self.intern(Node::Symbol(index))
    }

    /// A number.
    pub(crate) fn constant(&mut self, value: i64) -> Expr {
        self.intern(Node::Const(value))
    }

    /// `-expr`.
    pub(crate) fn negate(&mut self, expr: Expr) -> Expr {
        let minus_one = self.constant(-1);
        self.binary(Op::Mul, expr, minus_one)
    }

    /// `lhs op rhs`, simplified.
    pub(crate) fn binary(&mut self, op: Op, lhs: Expr, rhs: Expr) -> Expr {
        let simplified = match op {
            Op::Add => self.simplify_add(lhs, rhs),
            Op::Mul => self.simplify_mul(lhs, rhs),
            Op::FloorDiv => self.simplify_floor_div(lhs, rhs),
            Op::CeilDiv => self.simplify_ceil_div(lhs, rhs),
            Op::Mod => self.simplify_mod(lhs, rhs),
        };
        simplified.unwrap_or_else(|| self.intern(Node::Binary(op, lhs, rhs)))
    }

    /// How deep an expression nests.
    pub(crate) fn depth(&self, expr: Expr) -> u32 {
        self.infos[expr.0 as usize].depth
    }

    /// Whether an expression is made of symbols and constants alone.
    pub(crate) fn is_symbolic(&self, expr: Expr) -> bool {
        self.infos[expr.0 as usize].symbolic
    }

    fn intern(&mut self, node: Node) -> Expr {
        let (index, new) = self.nodes.insert_full(node);
        if new {
            self.infos.push(match node {
                Node::Dim(_) => Info { depth: 1, symbolic: false },
                Node::Symbol(_) | Node::Const(_) => Info { depth: 1, symbolic: true },
                Node::Binary(_, lhs, rhs) => Info {
                    depth: 1 + self.depth(lhs).max(self.depth(rhs)),
                    symbolic: self.is_symbolic(lhs) && self.is_symbolic(rhs),
                },
            });
        }
        Expr(index as u32)
    }

    fn node(&self, expr: Expr) -> Node {
        self.nodes[expr.0 as usize]
    }

    fn value(&self, expr: Expr) -> Option<i64> {
        match self.node(expr) {
            Node::Const(value) => Some(value),
            _ => None,
        }
    }

    fn parts(&self, expr: Expr, op: Op) -> Option<(Expr, Expr)> {
        match self.node(expr) {
            Node::Binary(found, lhs, rhs) if found == op => Some((lhs, rhs)),
            _ => None,
        }
    }

    /// `expr op constant`.
    fn with_constant(&self, expr: Expr, op: Op) -> Option<(Expr, i64)> {
        let (lhs, rhs) = self.parts(expr, op)?;
        Some((lhs, self.value(rhs)?))
    }

    /// Of two dimensions or two symbols the one with the smaller number stands left.
    fn out_of_order(&self, lhs: Expr, rhs: Expr) -> bool {
        match (self.node(lhs), self.node(rhs)) {
            (Node::Dim(a), Node::Dim(b)) | (Node::Symbol(a), Node::Symbol(b)) => a > b,
            _ => false,
        }
    }

    // ---- simplification -----------------------------------------------------------------------------

    fn simplify_add(&mut self, lhs: Expr, rhs: Expr) -> Option<Expr> {
        if let (Some(a), Some(b)) = (self.value(lhs), self.value(rhs)) {
            return Some(self.constant(a.checked_add(b)?));
        }
        // Constants, then symbols, stand right.
        if self.value(lhs).is_some() || (self.is_symbolic(lhs) && !self.is_symbolic(rhs)) {
            return Some(self.binary(Op::Add, rhs, lhs));
        }
        if self.out_of_order(lhs, rhs) {
            return Some(self.binary(Op::Add, rhs, lhs));
        }
        if let Some(b) = self.value(rhs) {
            if b == 0 {
                return Some(lhs);
            }
            if let Some((inner, a)) = self.with_constant(lhs, Op::Add) {
                let sum = self.constant(a.checked_add(b)?);
                return Some(self.binary(Op::Add, inner, sum));
            }
        }
        // a * x + b * x is (a + b) * x.
        let (left, a) = self.with_constant(lhs, Op::Mul).unwrap_or((lhs, 1));
        let (right, b) = self.with_constant(rhs, Op::Mul).unwrap_or((rhs, 1));
        if left == right {
            let factor = self.constant(a.checked_add(b)?);
            return Some(self.binary(Op::Mul, left, factor));
        }
        // (x + 2) + y is (x + y) + 2.
        if let Some((inner, a)) = self.with_constant(lhs, Op::Add) {
            let sum = self.binary(Op::Add, inner, rhs);
            let a = self.constant(a);
            return Some(self.binary(Op::Add, sum, a));
        }
        self.remainder(lhs, rhs)
    }

    /// x - (x floordiv q) * q is x mod q.
    fn remainder(&mut self, lhs: Expr, rhs: Expr) -> Option<Expr> {
        let Node::Binary(_, product, factor) = self.node(rhs) else { return None };
        if self.value(factor) == Some(-1)
            && let Some((quotient, q)) = self.parts(product, Op::Mul)
        {
            let (x, divisor) = self.parts(quotient, Op::FloorDiv)?;
            if divisor == q && x == lhs {
                return Some(self.binary(Op::Mod, lhs, q));
            }
        }
        if let Some((x, divisor)) = self.parts(product, Op::FloorDiv) {
            let negated = self.negate(factor);
            if x == lhs && divisor == negated {
                return Some(self.binary(Op::Mod, lhs, divisor));
            }
        }
        None
    }

    fn simplify_mul(&mut self, lhs: Expr, rhs: Expr) -> Option<Expr> {
        if let (Some(a), Some(b)) = (self.value(lhs), self.value(rhs)) {
            return Some(self.constant(a.checked_mul(b)?));
        }
        if !self.is_symbolic(rhs) || self.value(lhs).is_some() {
            return if self.is_symbolic(lhs) { Some(self.binary(Op::Mul, rhs, lhs)) } else { None };
        }
        if self.out_of_order(lhs, rhs) {
            return Some(self.binary(Op::Mul, rhs, lhs));
        }
        match self.value(rhs) {
            Some(1) => return Some(lhs),
            Some(0) => return Some(rhs),
            _ => {}
        }
        let (inner, a) = self.with_constant(lhs, Op::Mul)?;
        if let Some(b) = self.value(rhs) {
            let product = self.constant(a.checked_mul(b)?);
            return Some(self.binary(Op::Mul, inner, product));
        }
        let product = self.binary(Op::Mul, inner, rhs);
        let a = self.constant(a);
        Some(self.binary(Op::Mul, product, a))
    }

    fn simplify_floor_div(&mut self, lhs: Expr, rhs: Expr) -> Option<Expr> {
        let by = self.value(rhs).filter(|by| *by != 0)?;
        if let Some(value) = self.value(lhs) {
            let quotient = value.checked_div(by)?;
            let inexact = value % by != 0 && ((value < 0) != (by < 0));
            return Some(self.constant(quotient - i64::from(inexact)));
        }
        if by == 1 {
            return Some(lhs);
        }
        if let Some(exact) = self.divide_product(lhs, by) {
            return Some(exact);
        }
        let (a, b) = self.parts(lhs, Op::Add)?;
        if self.divisor(a).checked_rem(by)? == 0 || self.divisor(b).checked_rem(by)? == 0 {
            let (a, b) = (self.binary(Op::FloorDiv, a, rhs), self.binary(Op::FloorDiv, b, rhs));
            return Some(self.binary(Op::Add, a, b));
        }
        None
    }

    fn simplify_ceil_div(&mut self, lhs: Expr, rhs: Expr) -> Option<Expr> {
        let by = self.value(rhs).filter(|by| *by != 0)?;
        if let Some(value) = self.value(lhs) {
            let quotient = value.checked_div(by)?;
            let inexact = value % by != 0 && ((value < 0) == (by < 0));
            return Some(self.constant(quotient + i64::from(inexact)));
        }
        if by == 1 { Some(lhs) } else { self.divide_product(lhs, by) }
    }

    /// (x * 6) / 3 is x * 2.
    fn divide_product(&mut self, lhs: Expr, by: i64) -> Option<Expr> {
        let (inner, factor) = self.with_constant(lhs, Op::Mul)?;
        if factor.checked_rem(by)? != 0 {
            return None;
        }
        let factor = self.constant(factor / by);
        Some(self.binary(Op::Mul, inner, factor))
    }

    fn simplify_mod(&mut self, lhs: Expr, rhs: Expr) -> Option<Expr> {
        let by = self.value(rhs).filter(|by| *by >= 1)?;
        if let Some(value) = self.value(lhs) {
            return Some(self.constant(value.rem_euclid(by)));
        }
        if self.divisor(lhs) % by == 0 {
            return Some(self.constant(0));
        }
        if let Some((a, b)) = self.parts(lhs, Op::Add) {
            if self.divisor(a) % by == 0 {
                return Some(self.binary(Op::Mod, b, rhs));
            }
            if self.divisor(b) % by == 0 {
                return Some(self.binary(Op::Mod, a, rhs));
            }
        }
        let (inner, outer) = self.with_constant(lhs, Op::Mod)?;
        if outer >= 1 && outer % by == 0 { Some(self.binary(Op::Mod, inner, rhs)) } else { None }
    }

    /// The largest number known to divide every value of an expression.
    fn divisor(&self, expr: Expr) -> i64 {
        match self.node(expr) {
            Node::Dim(_) | Node::Symbol(_) => 1,
            Node::Const(value) => value.checked_abs().unwrap_or(1),
            Node::Binary(op, lhs, rhs) => match op {
                Op::FloorDiv | Op::CeilDiv => match self.value(rhs).filter(|by| *by != 0) {
                    Some(by) if self.divisor(lhs).checked_rem(by) == Some(0) => {
                        (self.divisor(lhs) / by).checked_abs().unwrap_or(1)
                    }
                    _ => 1,
                },
                Op::Mul => self.divisor(lhs).checked_mul(self.divisor(rhs)).unwrap_or(1),
                Op::Add | Op::Mod => gcd(self.divisor(lhs), self.divisor(rhs)),
            },
        }
    }

    // ---- printing -----------------------------------------------------------------------------------

    /// Appends an expression; `tight` puts brackets around operators.
    pub(crate) fn print(&self, expr: Expr, tight: bool, out: &mut String) {
        let (op, lhs, rhs) = match self.node(expr) {
            Node::Dim(index) => return number("d", index.into(), out),
            Node::Symbol(index) => return number("s", index.into(), out),
            Node::Const(value) => return number("", value.into(), out),
            Node::Binary(op, lhs, rhs) => (op, lhs, rhs),
        };
        out.push_str(if tight { "(" } else { "" });
        match op {
            Op::Add => self.print_sum(lhs, rhs, out),
            Op::Mul if self.value(rhs) == Some(-1) => {
                out.push('-');
                self.print(lhs, true, out);
            }
            _ => {
                self.print(lhs, true, out);
                out.push_str(match op {
                    Op::Add => " + ",
                    Op::Mul => " * ",
                    Op::FloorDiv => " floordiv ",
                    Op::CeilDiv => " ceildiv ",
                    Op::Mod => " mod ",
                });
                self.print(rhs, true, out);
            }
        }
        out.push_str(if tight { ")" } else { "" });
    }

    fn print_sum(&self, lhs: Expr, rhs: Expr, out: &mut String) {
        self.print(lhs, false, out);
        match (self.with_constant(rhs, Op::Mul), self.value(rhs)) {
            (Some((inner, -1)), _) => {
                out.push_str(" - ");
                self.print(inner, self.parts(inner, Op::Add).is_some(), out);
            }
            (Some((inner, factor)), _) if factor < -1 => {
                out.push_str(" - ");
                self.print(inner, true, out);
                number(" * ", -i128::from(factor), out);
            }
            (_, Some(value)) if value < 0 => number(" - ", -i128::from(value), out),
            _ => {
                out.push_str(" + ");
                self.print(rhs, false, out);
            }
        }
    }
}

fn number(before: &str, value: i128, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{before}{value}");
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
