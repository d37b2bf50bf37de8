//! What starts with `#` or `!`: aliases, and dialect attributes and types, whose bodies are kept as text.

use super::cursor::{Parse, Parser};
use super::lexer::{Kind, Token};
use crate::attr::Attr;
use crate::loc::Span;
use crate::print;
use crate::types::{Ty, Type};
use rustc_hash::FxHashMap;

/// What an alias stands for, how deep it nests, and how many bytes it spells.
#[derive(Clone, Debug)]
struct Alias<T> {
    value: T,
    depth: u32,
    weight: u64,
}

/// The aliases defined so far.
#[derive(Default)]
pub(super) struct Aliases<'a> {
    attrs: FxHashMap<&'a [u8], Alias<Attr>>,
    types: FxHashMap<&'a [u8], Alias<Ty>>,
}

impl Aliases<'_> {
    /// Whether an attribute alias is defined.
    pub(super) fn has_attr(&self, name: &[u8]) -> bool {
        self.attrs.contains_key(name)
    }
}

impl<'a> Parser<'a> {
    /// `#name = attr` or `!name = type`.
    pub(super) fn alias_def(&mut self) -> Parse<()> {
        let tok = self.bump();
        let name = &self.bytes(tok)[1..];
        if name.contains(&b'.') {
            return self.error(tok.span(), "the name of an alias has no point");
        }
        let is_attr = tok.kind == Kind::Hash;
        let taken = if is_attr { self.aliases.attrs.contains_key(name) } else { self.aliases.types.contains_key(name) };
        if taken {
            return self.error(tok.span(), format!("the alias `{}` is defined twice", self.ascii(tok)));
        }
        self.expect(b'=', "after the alias")?;
        self.deepest = self.depth;
        let (expanded, start) = (self.expanded, self.tok.start);
        if is_attr {
            let value = self.attr()?;
            let alias = self.measure(value, expanded, start);
            self.aliases.attrs.insert(name, alias);
        } else {
            let value = self.ty()?;
            let alias = self.measure(value, expanded, start);
            self.aliases.types.insert(name, alias);
        }
        Ok(())
    }

    fn measure<T>(&mut self, value: T, expanded_before: u64, start: u32) -> Alias<T> {
        let weight = self.expanded - expanded_before + u64::from(self.last_end - start);
        Alias { value, depth: self.deepest - self.depth + 1, weight }
    }

    /// An attribute that starts with `#`.
    pub(super) fn dialect_attr(&mut self) -> Parse<Attr> {
        let tok = self.bump();
        let Some(text) = self.dialect_text(tok)? else { return self.attr_alias(&self.bytes(tok)[1..], tok.span()) };
        let ty = if self.eat(b':') { Some(self.ty()?) } else { None };
        Ok(Attr::Text(format!("#{text}").into(), ty))
    }

    /// What an attribute alias stands for.
    pub(super) fn attr_alias(&mut self, name: &[u8], span: Span) -> Parse<Attr> {
        let Some(alias) = self.aliases.attrs.get(name) else {
            return self.error(span, format!("the alias `#{}` is not defined", String::from_utf8_lossy(name)));
        };
        let (depth, weight) = (alias.depth, alias.weight);
        self.deepen(depth)?;
        self.expand(weight, span)?;
        Ok(self.aliases.attrs[name].value.clone())
    }

    /// A type that starts with `!`.
    pub(super) fn dialect_ty(&mut self) -> Parse<Ty> {
        let tok = self.bump();
        if let Some(text) = self.dialect_text(tok)? {
            let text = super::quant::normal_form(&text).unwrap_or(text);
            return Ok(self.module.intern_ty(Type::Dialect(text.into())));
        }
        let name = &self.bytes(tok)[1..];
        let Some(alias) = self.aliases.types.get(name) else {
            return self.error(tok.span(), format!("the alias `{}` is not defined", self.ascii(tok)));
        };
        let (ty, depth, weight) = (alias.value, alias.depth, alias.weight);
        self.deepen(depth)?;
        self.expand(weight, tok.span())?;
        Ok(ty)
    }

    /// The text after `#` or `!` in MLIR's normal form, `dialect.body` or `dialect<body>`; `None` if it is an alias. The token
    /// with the sigil has been taken.
    fn dialect_text(&mut self, tok: Token) -> Parse<Option<String>> {
        let word = &self.ascii(tok)[1..];
        let has_body = self.at(b'<') && self.tok.start == tok.end;
        let (dialect, pretty) = match word.split_once('.') {
            Some((dialect, pretty)) => (dialect, Some(pretty)),
            None => (word, None),
        };
        if !has_body && pretty.is_none() {
            return Ok(None);
        }
        let mut body = pretty.unwrap_or("").to_owned();
        if has_body {
            let spelled = self.body()?;
            let kept = if pretty.is_none() { &spelled[1..spelled.len() - 1] } else { &spelled[..] };
            body.push_str(kept);
        }
        if body.ends_with('-') {
            // It would print as `dialect<body->`, where `->` is an arrow.
            return self.error(tok.span(), "the name of a dialect's attribute or type cannot end in `-`");
        }
        Ok(Some(if is_pretty(body.as_bytes()) { format!("{dialect}.{body}") } else { format!("{dialect}<{body}>") }))
    }

    /// A balanced `<..>`, aliases in it replaced by what they stand for.
    fn body(&mut self) -> Parse<String> {
        let open = self.tok;
        let mut nested = Vec::new();
        let mut at = open.start as usize;
        let mut text = Vec::new();
        loop {
            let from = at;
            let byte = self.text.get(at).copied().unwrap_or(0);
            at += 1;
            match byte {
                0 => {
                    self.seek(self.text.len());
                    return self.error(open.span(), "the bracket is not closed");
                }
                b'<' | b'[' | b'(' | b'{' => nested.push(byte),
                b'-' if self.text.get(at) == Some(&b'>') => at += 1,
                b'>' | b']' | b')' | b'}' => {
                    let opened = nested.pop().unwrap_or(0);
                    if !matches!((opened, byte), (b'<', b'>') | (b'[', b']') | (b'(', b')') | (b'{', b'}')) {
                        self.seek(at);
                        let span = Span { start: from as u32, end: at as u32 };
                        return self.error(span, "the brackets do not match");
                    }
                }
                b'"' => {
                    self.seek(from);
                    if self.tok.kind != Kind::String {
                        return self.unexpected("expected a string");
                    }
                    at = self.tok.end as usize;
                }
                b'#' | b'!' => {
                    if let Some((expanded, end)) = self.alias_in_body(from)? {
                        text.extend_from_slice(expanded.as_bytes());
                        at = end;
                        continue;
                    }
                }
                _ => {}
            }
            text.extend_from_slice(&self.text[from..at]);
            if nested.is_empty() {
                break;
            }
        }
        self.seek(at);
        match String::from_utf8(text) {
            Ok(text) => Ok(text),
            Err(_) => self.error(open.span(), "the text is not valid UTF-8"),
        }
    }

    /// What the alias at a byte stands for, as text, and where its name ends.
    fn alias_in_body(&mut self, at: usize) -> Parse<Option<(String, usize)>> {
        self.lexer.pos = at;
        let tok = self.lexer.next();
        let name = self.bytes(tok).get(1..).unwrap_or(b"");
        let text = match tok.kind {
            Kind::Hash if self.aliases.attrs.contains_key(name) => {
                let attr = self.attr_alias(name, tok.span())?;
                print::attr_text(&self.module, &attr)
            }
            Kind::Bang if self.aliases.types.contains_key(name) => {
                let alias = &self.aliases.types[name];
                let (ty, weight) = (alias.value, alias.weight);
                self.expand(weight, tok.span())?;
                print::ty_text(&self.module, ty)
            }
            _ => return Ok(None),
        };
        Ok(Some((text, tok.end as usize)))
    }
}

/// Whether MLIR prints a dialect symbol as `dialect.body`: an identifier, then nothing or one balanced `<..>`.
fn is_pretty(body: &[u8]) -> bool {
    if !body.first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_');
    let rest = &body[body.iter().take_while(|byte| word(byte)).count()..];
    if rest.is_empty() {
        return true;
    }
    if rest.first() != Some(&b'<') || rest.last() != Some(&b'>') {
        return false;
    }
    let mut nested = Vec::new();
    let mut at = 0;
    while at < rest.len() {
        let byte = rest[at];
        at += 1;
        match byte {
            0 => return false,
            b'<' | b'[' | b'(' | b'{' => nested.push(byte),
            b'-' if rest.get(at) == Some(&b'>') => at += 1,
            b'>' | b']' | b')' | b'}' => {
                let opened = nested.pop().unwrap_or(0);
                if !matches!((opened, byte), (b'<', b'>') | (b'[', b']') | (b'(', b')') | (b'{', b'}')) {
                    return false;
                }
                if nested.is_empty() {
                    break;
                }
            }
            _ => {}
        }
    }
    at == rest.len() && nested.is_empty()
}
