//! The three custom forms that are read: `module`, `func.func`, `return`.

use super::cursor::{Located, Parse, Parser};
use super::lexer::{Kind, Token};
use super::ops::Groups;
use crate::attr::Attr;
use crate::loc::Loc;
use crate::module::{Attrs, OpId};
use crate::types::{Ty, Type};
use smallvec::SmallVec;

/// The arguments of a function as they are read.
#[derive(Default)]
struct Signature {
    names: Vec<Token>,
    inputs: Vec<Ty>,
    arg_attrs: Vec<Attr>,
    /// Where `loc(..)` of each argument starts, if it has one.
    locs: Vec<Option<usize>>,
    results: Vec<Ty>,
    res_attrs: Vec<Attr>,
}

impl<'a> Parser<'a> {
    /// An operation that starts with a word.
    pub(super) fn sugar_op(&mut self, groups: &Groups) -> Parse<OpId> {
        let word = self.tok;
        let name = match self.bytes(word) {
            b"module" | b"builtin.module" => "builtin.module",
            b"func.func" => "func.func",
            b"return" | b"func.return" => "func.return",
            _ => return self.custom_assembly(word),
        };
        if let Some((_, _, span)) = groups.first() {
            return self.error(*span, format!("`{}` has no results", self.ascii(word)));
        }
        self.bump();
        let interned = self.module.intern(name);
        let op = self.module.start_op(interned);
        self.module.set_place(op, Loc::Unknown, word.span());
        match name {
            "builtin.module" => self.module_op(op)?,
            "func.func" => self.func_op(op)?,
            _ => self.return_op(op)?,
        }
        self.trailing_loc(Located::Op(op))?;
        Ok(op)
    }

    /// `@name attributes {..} { .. }` after `module`.
    fn module_op(&mut self, op: OpId) -> Parse<()> {
        self.visibility(op);
        if self.tok.kind == Kind::At {
            let name = self.symbol_name("the name of the module")?;
            self.module.set_prop(op, "sym_name", Attr::str(&name));
        }
        self.attributes(op)?;
        let region = self.module.add_region(op);
        self.region(region, true)?;
        if self.module.blocks(region).is_empty() {
            self.module.add_block(region, &[]);
        }
        Ok(())
    }

    fn visibility(&mut self, op: OpId) {
        for word in ["public", "private", "nested"] {
            if self.eat_word(word) {
                self.module.set_prop(op, "sym_visibility", Attr::str(word));
                return;
            }
        }
    }

    /// `attributes {..}`.
    fn attributes(&mut self, op: OpId) -> Parse<()> {
        if !self.eat_word("attributes") {
            return Ok(());
        }
        let place = self.tok.span();
        self.enter()?;
        let attrs = self.dict()?;
        self.leave();
        let own = ["sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"];
        if let Some((name, _)) = attrs.iter().find(|(name, _)| own.contains(&self.module.text(*name))) {
            let message = format!("`{}` has a form of its own", self.module.text(*name));
            return self.error(place, message);
        }
        self.module.set_sorted_attrs(op, attrs);
        self.settle_inherent(op);
        Ok(())
    }

    /// `@name(%a: T {..}, ..) -> (T {..}, ..) attributes {..} { .. }` after `func.func`.
    fn func_op(&mut self, op: OpId) -> Parse<()> {
        self.visibility(op);
        let name = self.symbol_name("the name of the function")?;
        let mut signature = Signature::default();
        self.expect(b'(', "before the arguments")?;
        self.list_until(b')', "after the arguments", |parser| parser.func_arg(&mut signature))?;
        if self.tok.kind == Kind::Arrow {
            self.bump();
            self.func_results(&mut signature)?;
        }
        let Signature { names, inputs, arg_attrs, locs, results, res_attrs } = signature;
        let function = Type::Function { inputs: inputs.clone(), results };
        let function = self.module.intern_ty(function);
        self.module.set_prop(op, "function_type", Attr::Type(function));
        self.module.set_prop(op, "sym_name", Attr::str(&name));
        let any = |list: &[Attr]| list.iter().any(|attr| !matches!(attr, Attr::Dict(items) if items.is_empty()));
        if any(&arg_attrs) {
            self.module.set_prop(op, "arg_attrs", Attr::Array(arg_attrs));
        }
        if any(&res_attrs) {
            self.module.set_prop(op, "res_attrs", Attr::Array(res_attrs));
        }
        self.attributes(op)?;
        let region = self.module.add_region(op);
        if !self.at(b'{') {
            return Ok(());
        }
        let open = self.tok.span();
        self.region_with(region, true, |parser, region| {
            if names.is_empty() {
                return Ok(None);
            }
            let block = parser.module.add_block(region, &[]);
            for ((name, ty), loc) in names.iter().zip(&inputs).zip(&locs) {
                let value = parser.define_arg(block, *name, *ty)?;
                if let Some(start) = loc {
                    let back = parser.tok.start;
                    parser.seek(*start);
                    parser.trailing_loc(Located::Value(value))?;
                    parser.seek(back as usize);
                }
            }
            if parser.tok.kind == Kind::Caret {
                return parser.unexpected("expected no label: the function's arguments are those of its first block");
            }
            Ok(Some(block))
        })?;
        if self.module.blocks(region).is_empty() {
            return self.error(open, "the body of the function is empty");
        }
        Ok(())
    }

    /// `%a: T {..} loc(..)`, or `T {..}` in a declaration.
    fn func_arg(&mut self, signature: &mut Signature) -> Parse<()> {
        let named = self.tok.kind == Kind::Percent;
        if !signature.inputs.is_empty() && named == signature.names.is_empty() {
            return self.unexpected("expected all arguments to have a name or none");
        }
        if named {
            signature.names.push(self.bump());
            self.expect(b':', "after the argument")?;
        }
        signature.inputs.push(self.ty()?);
        signature.arg_attrs.push(self.optional_dict()?);
        let start = self.at_word("loc").then_some(self.tok.start as usize);
        signature.locs.push(start);
        if start.is_some() {
            // Read twice: checked here, kept when the argument exists.
            self.bump();
            if self.tok.kind == Kind::Punct(b'(') {
                self.skip_brackets();
            }
        }
        Ok(())
    }

    /// Skips a balanced `( .. )`.
    fn skip_brackets(&mut self) {
        let mut nested = 0u32;
        loop {
            match self.tok.kind {
                Kind::Punct(b'(') => nested += 1,
                Kind::Punct(b')') => nested -= 1,
                Kind::Eof => return,
                _ => {}
            }
            self.bump();
            if nested == 0 {
                return;
            }
        }
    }

    fn optional_dict(&mut self) -> Parse<Attr> {
        if !self.at(b'{') {
            return Ok(Attr::Dict(Attrs::new()));
        }
        self.enter()?;
        let dict = self.dict()?;
        self.leave();
        Ok(Attr::Dict(dict))
    }

    fn func_results(&mut self, signature: &mut Signature) -> Parse<()> {
        if !self.eat(b'(') {
            signature.results.push(self.ty()?);
            signature.res_attrs.push(Attr::Dict(Attrs::new()));
            return Ok(());
        }
        self.list_until(b')', "after the results", |parser| {
            signature.results.push(parser.ty()?);
            signature.res_attrs.push(parser.optional_dict()?);
            Ok(())
        })
    }

    /// `{..} %a, %b : T, T` after `return`.
    fn return_op(&mut self, op: OpId) -> Parse<()> {
        if self.at(b'{') {
            self.enter()?;
            let attrs = self.dict()?;
            self.leave();
            self.module.set_sorted_attrs(op, attrs);
        }
        if self.tok.kind != Kind::Percent {
            return Ok(());
        }
        let mut operands = vec![self.value_use()?];
        while self.eat(b',') {
            operands.push(self.value_use()?);
        }
        let place = self.expect(b':', "before the types of the returned values")?.span();
        let mut types: SmallVec<[Ty; 4]> = SmallVec::new();
        types.push(self.ty()?);
        while self.eat(b',') {
            types.push(self.ty()?);
        }
        if types.len() != operands.len() {
            return self.error(place, format!("{} types for {} returned values", types.len(), operands.len()));
        }
        self.bind_operands(op, &operands, &types)
    }
}
