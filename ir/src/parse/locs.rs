//! Locations: `loc(..)`, in MLIR's normal form.

use super::cursor::{LateLoc, Located, Parse, Parser};
use super::lexer::Kind;
use crate::attr::Attr;
use crate::loc::Loc;
use crate::print;
use rustc_hash::FxHashSet;

impl<'a> Parser<'a> {
    /// `loc(..)` after an operation or an argument, if it comes. An alias may be defined later in the text: then it is noted.
    pub(super) fn trailing_loc(&mut self, whose: Located) -> Parse<()> {
        if !self.at_word("loc") {
            return Ok(());
        }
        if let Some(alias) = self.late_alias() {
            let tok = self.lexer_alias(alias)?;
            let late = LateLoc { whose, name: &self.bytes(tok)[1..], span: tok.span(), depth: self.depth };
            self.late_locs.push(late);
            return Ok(());
        }
        let loc = self.loc()?;
        self.set_loc(whose, loc);
        Ok(())
    }

    /// Sets the location of an operation or a value.
    pub(super) fn set_loc(&mut self, whose: Located, loc: Loc) {
        match whose {
            Located::Op(op) => {
                let span = self.module.op(op).span;
                self.module.set_place(op, loc, span);
            }
            Located::Value(value) => self.module.set_value_loc(value, loc),
        }
    }

    /// Where `loc(#alias)` starts after `loc`, if the alias is not defined yet.
    fn late_alias(&self) -> Option<usize> {
        let mut ahead = self.lexer.clone();
        let (open, hash, close) = (ahead.next(), ahead.next(), ahead.next());
        let alone = open.kind == Kind::Punct(b'(') && hash.kind == Kind::Hash && close.kind == Kind::Punct(b')');
        let name = if alone { &self.bytes(hash)[1..] } else { b"." };
        (!name.contains(&b'.') && !self.aliases.has_attr(name)).then_some(hash.start as usize)
    }

    fn lexer_alias(&mut self, at: usize) -> Parse<super::lexer::Token> {
        self.seek(at);
        let tok = self.bump();
        self.expect(b')', "after the location")?;
        Ok(tok)
    }

    /// `loc(..)`.
    pub(super) fn loc(&mut self) -> Parse<Loc> {
        self.bump();
        self.expect(b'(', "after `loc`")?;
        let loc = self.loc_body()?;
        self.expect(b')', "after the location")?;
        Ok(loc)
    }

    /// What stands between the brackets of `loc(..)`.
    pub(super) fn loc_body(&mut self) -> Parse<Loc> {
        self.enter()?;
        let kind = self.tok.kind;
        let loc = match kind {
            Kind::String => self.file_or_name()?,
            Kind::Hash => {
                let place = self.tok.span();
                match self.dialect_attr()? {
                    Attr::Loc(loc) => *loc,
                    attr @ Attr::Text(..) => Loc::File(print::attr_text(&self.module, &attr).into()),
                    _ => return self.error(place, "the alias is no location"),
                }
            }
            _ if self.eat_word("unknown") => Loc::Unknown,
            _ if self.eat_word("callsite") => self.call_site()?,
            _ if self.eat_word("fused") => self.fused()?,
            _ => return self.unexpected("expected a location"),
        };
        self.leave();
        Ok(loc)
    }

    fn file_or_name(&mut self) -> Parse<Loc> {
        let place = self.tok.span();
        let bytes = self.string("a string")?;
        if self.eat(b':') {
            let mut text = String::new();
            print::quoted(&bytes, &mut text);
            self.file_range(&mut text)?;
            return Ok(Loc::File(text.into()));
        }
        let name = self.utf8(&bytes, place, "the name of the location")?;
        let child = match self.eat(b'(') {
            true => {
                let child = self.loc_body()?;
                self.expect(b')', "after the location")?;
                child
            }
            false => Loc::Unknown,
        };
        Ok(Loc::Name(name, Box::new(child)))
    }

    /// `line:column`, `line:column to line:column`, `line:column to :column`, after the first colon.
    fn file_range(&mut self, text: &mut String) -> Parse<()> {
        let line = self.line_number()?;
        self.expect(b':', "after the line")?;
        let column = self.line_number()?;
        text.push_str(&format!(":{line}:{column}"));
        if !self.eat_word("to") {
            return Ok(());
        }
        let end_line = if self.at(b':') { line } else { self.line_number()? };
        self.expect(b':', "after the line")?;
        let end_column = self.line_number()?;
        match (end_line == line, end_column == column) {
            (true, true) => {}
            (true, false) => text.push_str(&format!(" to :{end_column}")),
            _ => text.push_str(&format!(" to {end_line}:{end_column}")),
        }
        Ok(())
    }

    fn line_number(&mut self) -> Parse<u32> {
        let place = self.tok.span();
        match u32::try_from(self.i64("a line or column")?) {
            Ok(number) => Ok(number),
            Err(_) => self.error(place, "a line or column is at most 2^32-1"),
        }
    }

    fn call_site(&mut self) -> Parse<Loc> {
        self.expect(b'(', "after `callsite`")?;
        let callee = self.loc_body()?;
        if !self.eat_word("at") {
            return self.unexpected("expected `at` between callee and caller");
        }
        let caller = self.loc_body()?;
        self.expect(b')', "after the caller")?;
        Ok(Loc::Call(Box::new(callee), Box::new(caller)))
    }

    /// `<meta>[a, b]` after `fused`. As MLIR: unknown and repeated places go, one place without metadata stands alone.
    fn fused(&mut self) -> Parse<Loc> {
        let mut meta = None;
        if self.eat(b'<') {
            meta = Some(Box::new(self.attr()?));
            self.expect(b'>', "after the metadata")?;
        }
        self.expect(b'[', "before the fused locations")?;
        let mut seen = FxHashSet::default();
        let mut list = Vec::new();
        let mut add = |loc: Loc| {
            if loc != Loc::Unknown && seen.insert(loc.clone()) {
                list.push(loc);
            }
        };
        self.list_until(b']', "after the fused locations", |parser| {
            match parser.loc_body()? {
                Loc::Fused(inner, locs) if inner == meta => locs.into_iter().for_each(&mut add),
                loc => add(loc),
            }
            Ok(())
        })?;
        match (list.len(), meta) {
            (0, None) => Ok(Loc::Unknown),
            (1, None) => Ok(list.remove(0)),
            (0, meta) => Ok(Loc::Fused(meta, vec![Loc::Unknown])),
            (_, meta) => Ok(Loc::Fused(meta, list)),
        }
    }
}
