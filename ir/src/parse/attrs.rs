//! Attributes: what a value of a key may be.

use super::cursor::{Parse, Parser};
use super::lexer::Kind;
use crate::attr::Attr;
use crate::loc::Span;
use crate::module::Attrs;
use crate::name::Name;
use crate::print;
use smallvec::SmallVec;

impl<'a> Parser<'a> {
    /// An attribute.
    pub(super) fn attr(&mut self) -> Parse<Attr> {
        match self.tok.kind {
            Kind::Integer | Kind::Float | Kind::Punct(b'-') => self.number(),
            Kind::String => self.string_attr(),
            Kind::At => self.symbol(),
            Kind::Hash => self.dialect_attr(),
            Kind::Punct(b'[') => self.array(),
            Kind::Punct(b'{') => {
                self.enter()?;
                let dict = self.dict()?;
                self.leave();
                Ok(Attr::Dict(dict))
            }
            Kind::Bare => self.word_attr(),
            Kind::Bang | Kind::Punct(b'(') => Ok(Attr::Type(self.ty()?)),
            _ => self.unexpected("expected an attribute"),
        }
    }

    fn word_attr(&mut self) -> Parse<Attr> {
        match self.bytes(self.tok) {
            b"unit" => {
                self.bump();
                Ok(Attr::Unit)
            }
            word @ (b"true" | b"false") => {
                self.bump();
                Ok(Attr::Bool(word == b"true"))
            }
            b"array" => self.dense_array(),
            b"dense" => self.dense(),
            b"dense_resource" => self.dense_resource(),
            b"sparse" => self.sparse(),
            b"affine_map" | b"affine_set" => self.affine(),
            b"strided" => self.strided(),
            b"distinct" => self.distinct(),
            b"loc" => Ok(Attr::Loc(Box::new(self.loc()?))),
            _ => Ok(Attr::Type(self.ty()?)),
        }
    }

    fn string_attr(&mut self) -> Parse<Attr> {
        let bytes: Box<[u8]> = self.string("a string")?.into();
        if self.eat(b':') {
            return Ok(Attr::TypedStr(bytes, self.ty()?));
        }
        Ok(Attr::Str(bytes))
    }

    /// `@root::@nested`.
    fn symbol(&mut self) -> Parse<Attr> {
        let root = self.symbol_name("a symbol")?;
        let mut nested = Vec::new();
        while self.at(b':') && self.text.get(self.tok.end as usize) == Some(&b':') {
            self.seek(self.tok.end as usize + 1);
            nested.push(self.symbol_name("a symbol after `::`")?);
        }
        Ok(Attr::Symbol { root, nested })
    }

    fn array(&mut self) -> Parse<Attr> {
        self.bump();
        self.enter()?;
        let mut items = Vec::new();
        self.list_until(b']', "after the elements", |parser| {
            items.push(parser.attr()?);
            Ok(())
        })?;
        self.leave();
        Ok(Attr::Array(items))
    }

    /// `{key = value, unit_key, ..}`, sorted; the next token is `{`.
    pub(super) fn dict(&mut self) -> Parse<Attrs> {
        self.expect(b'{', "before the attributes")?;
        let mut keys: SmallVec<[(Name, Span); 8]> = SmallVec::new();
        let mut attrs = Attrs::new();
        self.list_until(b'}', "after the attributes", |parser| {
            let (key, span) = parser.key()?;
            let value = if parser.eat(b'=') { parser.attr()? } else { Attr::Unit };
            keys.push((key, span));
            attrs.push((key, value));
            Ok(())
        })?;
        let names = self.module.names();
        let ordered = |a: &(Name, Attr), b: &(Name, Attr)| names.text(a.0) < names.text(b.0);
        if attrs.windows(2).all(|pair| ordered(&pair[0], &pair[1])) {
            return Ok(attrs);
        }
        attrs.sort_by(|a, b| names.text(a.0).cmp(names.text(b.0)));
        match attrs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            None => Ok(attrs),
            Some(pair) => {
                let twice = pair[0].0;
                let place =
                    keys.iter().filter(|(key, _)| *key == twice).nth(1).map_or(Span::default(), |(_, span)| *span);
                let message = format!("the attribute `{}` is given twice", self.module.text(twice));
                self.error(place, message)
            }
        }
    }

    fn key(&mut self) -> Parse<(Name, Span)> {
        let tok = self.tok;
        let name = match tok.kind {
            Kind::Bare => {
                let word = self.ascii(tok);
                self.bump();
                self.module.intern(word)
            }
            Kind::String => {
                let bytes = self.string("a key")?;
                if bytes.is_empty() {
                    return self.error(tok.span(), "the key of an attribute is empty");
                }
                let text = self.utf8(&bytes, tok.span(), "the key")?;
                self.module.intern(&text)
            }
            _ => return self.unexpected("expected the key of an attribute"),
        };
        Ok((name, tok.span()))
    }

    /// `strided<[1, ?], offset: 3>`, kept as text.
    fn strided(&mut self) -> Parse<Attr> {
        self.bump();
        self.expect(b'<', "after `strided`")?;
        self.expect(b'[', "before the strides")?;
        let mut strides = Vec::new();
        self.list_until(b']', "after the strides", |parser| {
            strides.push(parser.stride()?);
            Ok(())
        })?;
        let mut text = format!("strided<[{}]", strides.join(", "));
        if self.eat(b',') {
            if !self.eat_word("offset") {
                return self.unexpected("expected `offset`");
            }
            self.expect(b':', "after `offset`")?;
            let offset = self.stride()?;
            if offset != "0" {
                text.push_str(", offset: ");
                text.push_str(&offset);
            }
        }
        self.expect(b'>', "after the strides")?;
        text.push('>');
        Ok(Attr::Text(text.into(), None))
    }

    fn stride(&mut self) -> Parse<String> {
        if self.eat(b'?') {
            return Ok("?".to_owned());
        }
        Ok(self.i64("a stride or `?`")?.to_string())
    }

    /// `distinct[0]<attr>`, kept as text.
    fn distinct(&mut self) -> Parse<Attr> {
        self.bump();
        self.expect(b'[', "after `distinct`")?;
        let id = self.i64("the number of a distinct attribute")?;
        self.expect(b']', "after the number")?;
        self.expect(b'<', "before the attribute")?;
        let mut text = format!("distinct[{id}]<");
        if !self.at(b'>') {
            self.enter()?;
            let attr = self.attr()?;
            self.leave();
            if attr != Attr::Unit {
                text.push_str(&print::attr_text(&self.module, &attr));
            }
        }
        self.expect(b'>', "after the attribute")?;
        text.push('>');
        Ok(Attr::Text(text.into(), None))
    }
}
