//! Operations in generic form: `%r:2, %s = "dialect.op"(%a, %b#1)[^bb1] <{props}> ({regions}) {attrs} : (T, T) -> (T, T, T) loc(..)`.

use super::cursor::{Located, Parse, Parser};
use super::lexer::{Kind, Token, unescape};
use super::numbers::magnitude;
use super::regions::Blocks;
use super::values::UseRef;
use crate::loc::{Loc, Span};
use crate::module::OpId;
use crate::name::Name;
use crate::types::Ty;
use smallvec::SmallVec;

/// Results bound before `=`: a name, how many, where.
pub(super) type Groups = SmallVec<[(Name, u32, Span); 2]>;

/// Operations whose inherent attributes neap knows: given in `{..}`, they are moved to `<{..}>`, as MLIR does.
const INHERENT: &[(&str, &[&str])] = &[
    ("builtin.module", &["sym_name", "sym_visibility"]),
    ("func.func", &["arg_attrs", "function_type", "no_inline", "res_attrs", "sym_name", "sym_visibility"]),
];

impl<'a> Parser<'a> {
    /// One operation, detached. `blocks` are those of the region it stands in.
    pub(super) fn op(&mut self, blocks: &mut Blocks) -> Parse<OpId> {
        let groups = self.result_groups()?;
        match self.tok.kind {
            Kind::String => self.generic_op(blocks, &groups),
            Kind::Bare => self.sugar_op(&groups),
            _ => self.unexpected("expected an operation"),
        }
    }

    /// `%a, %b:2 =`, if it comes.
    fn result_groups(&mut self) -> Parse<Groups> {
        let mut groups = Groups::new();
        if self.tok.kind != Kind::Percent {
            return Ok(groups);
        }
        loop {
            let tok = self.expect_kind(Kind::Percent, "the name of a result")?;
            let name = self.value_name(tok);
            let mut count = 1;
            if self.eat(b':') {
                let literal = self.expect_kind(Kind::Integer, "the number of results")?;
                count = match magnitude(self.ascii(literal)).and_then(|count| u32::try_from(count).ok()) {
                    Some(count) if count > 0 => count,
                    _ => return self.error(literal.span(), "a group has at least one result"),
                };
            }
            groups.push((name, count, tok.span()));
            if !self.eat(b',') {
                break;
            }
        }
        self.expect(b'=', "after the results")?;
        Ok(groups)
    }

    fn generic_op(&mut self, blocks: &mut Blocks, groups: &Groups) -> Parse<OpId> {
        let name_tok = self.bump();
        let name = self.op_name(name_tok)?;
        let op = self.module.start_op(name);
        self.module.set_place(op, Loc::Unknown, name_tok.span());
        let operands = self.operand_list()?;
        if self.at(b'[') {
            self.successors(op, blocks)?;
        }
        if self.at(b'<') {
            self.bump();
            self.enter()?;
            let props = self.dict()?;
            self.leave();
            self.expect(b'>', "after the inherent attributes")?;
            self.module.set_sorted_props(op, props);
        }
        if self.eat(b'(') {
            let isolated = super::values::ISOLATED.contains(&self.module.text(name));
            self.list_until(b')', "after the regions", |parser| {
                let region = parser.module.add_region(op);
                parser.region(region, isolated)
            })?;
        }
        if self.at(b'{') {
            self.enter()?;
            let attrs = self.dict()?;
            self.leave();
            self.module.set_sorted_attrs(op, attrs);
        }
        self.settle_inherent(op);
        self.signature(op, &operands, groups, name_tok)?;
        let end = Span { start: self.last_end, end: self.last_end };
        let plain = self.module.op_regions(op).is_empty();
        self.module.set_place(op, Loc::Unknown, if plain { name_tok.span().to(end) } else { name_tok.span() });
        self.trailing_loc(Located::Op(op))?;
        Ok(op)
    }

    fn op_name(&mut self, tok: Token) -> Parse<Name> {
        let bytes = unescape(self.bytes(tok));
        if bytes.is_empty() || bytes.contains(&0) {
            return self.error(tok.span(), "the name of an operation is empty or has a zero byte");
        }
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(self.module.intern(text)),
            Err(_) => self.error(tok.span(), "the name of an operation is not valid UTF-8"),
        }
    }

    /// `(%a, %b#1)`.
    fn operand_list(&mut self) -> Parse<SmallVec<[UseRef; 8]>> {
        let mut operands = SmallVec::new();
        self.expect(b'(', "before the operands")?;
        self.list_until(b')', "after the operands", |parser| {
            operands.push(parser.value_use()?);
            Ok(())
        })?;
        Ok(operands)
    }

    /// `%a` or `%a#1`.
    pub(super) fn value_use(&mut self) -> Parse<UseRef> {
        let tok = self.expect_kind(Kind::Percent, "a value")?;
        let name = self.value_name(tok);
        let mut used = UseRef { name, number: 0, span: tok.span() };
        if self.tok.kind == Kind::Hash {
            let number = self.bump();
            used.span = tok.span().to(number.span());
            let digits = &self.ascii(number)[1..];
            used.number = match digits.parse() {
                Ok(number) if digits.bytes().all(|byte| byte.is_ascii_digit()) => number,
                _ => return self.error(number.span(), "expected the number of a result after `#`"),
            };
        }
        Ok(used)
    }

    fn successors(&mut self, op: OpId, blocks: &mut Blocks) -> Parse<()> {
        let open = self.bump();
        self.list_until(b']', "after the successors", |parser| {
            let label = parser.expect_kind(Kind::Caret, "a block")?;
            let block = parser.block_ref(blocks, label)?;
            parser.module.push_successor(op, block);
            Ok(())
        })?;
        if self.module.successors(op).is_empty() {
            return self.error(open.span(), "the list of successors is empty");
        }
        Ok(())
    }

    /// `: (T, ..) -> (T, ..)`: gives the operands and results their types.
    fn signature(&mut self, op: OpId, operands: &[UseRef], groups: &Groups, name: Token) -> Parse<()> {
        self.expect(b':', "before the types of the operation")?;
        let place = self.tok.span();
        let (mut inputs, mut results) = (SmallVec::new(), SmallVec::new());
        self.function_ty(&mut inputs, &mut results)?;
        if inputs.len() != operands.len() {
            let message = format!("{} operand types for {} operands", inputs.len(), operands.len());
            return self.error(place.to(Span { start: 0, end: self.last_end }), message);
        }
        self.bind_operands(op, operands, &inputs)?;
        self.bind_results(op, groups, &results, name)
    }

    /// Adds operands to an operation.
    pub(super) fn bind_operands(&mut self, op: OpId, operands: &[UseRef], types: &[Ty]) -> Parse<()> {
        let mut failed = false;
        for (used, ty) in operands.iter().zip(types) {
            match self.use_value(*used, *ty) {
                Ok(value) => self.module.push_operand(op, value),
                Err(_) => failed = true,
            }
        }
        // The results are still defined: one wrong use is one error.
        if failed && self.stopped { Err(super::cursor::Failed) } else { Ok(()) }
    }

    /// Adds results to an operation under the names they are bound to.
    pub(super) fn bind_results(&mut self, op: OpId, groups: &Groups, types: &[Ty], name: Token) -> Parse<()> {
        if groups.is_empty() {
            for ty in types {
                self.module.push_result(op, *ty);
            }
            return Ok(());
        }
        let bound: u64 = groups.iter().map(|(_, count, _)| u64::from(*count)).sum();
        if bound != types.len() as u64 {
            let message = format!("{bound} results are bound, the operation has {}", types.len());
            return self.error(groups[0].2.to(name.span()), message);
        }
        let mut rest = types;
        for (name, count, span) in groups {
            let (group, after) = rest.split_at(*count as usize);
            self.define_results(op, *name, *span, group)?;
            rest = after;
        }
        Ok(())
    }

    /// Moves inherent attributes that were given among the others.
    pub(super) fn settle_inherent(&mut self, op: OpId) {
        let name = self.module.op_name(op);
        let Some((_, keys)) = INHERENT.iter().find(|(known, _)| *known == name) else { return };
        for key in *keys {
            let given = self
                .module
                .names()
                .get(key)
                .is_some_and(|key| self.module.attrs(op).iter().any(|(name, _)| *name == key));
            if given && let Some(value) = self.module.remove_attr(op, key) {
                self.module.set_prop(op, key, value);
            }
        }
        self.module.drop_empty_props(op);
    }
}
