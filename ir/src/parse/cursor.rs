//! The parser's state, and the steps every part of it takes: look at a token, take one, expect one, complain.

use super::lexer::{Kind, Lexer, Token, unescape};
use super::symbols::Aliases;
use super::values::Scopes;
use super::{GENERIC_FORM, MAX_DEPTH, MAX_ERRORS, MAX_EXPANSION};
use crate::diag::Diagnostic;
use crate::loc::Span;
use crate::module::{Module, OpId, ValueId};
use crate::name::Name;
use crate::types::{Sign, Ty, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// An error was reported; the caller need only stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed;

/// The result of reading one thing.
pub(super) type Parse<T> = Result<T, Failed>;

/// What the copy of an alias costs beyond its text, in bytes.
const COPY: u64 = 64;

/// What a location alias is for that is defined later in the text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Located {
    Op(OpId),
    Value(ValueId),
}

/// A location alias that was not defined when it was used.
pub(super) struct LateLoc<'a> {
    pub(super) whose: Located,
    pub(super) name: &'a [u8],
    pub(super) span: Span,
    pub(super) depth: u32,
}

/// The parser: one token of look-ahead over the text, and the module it fills.
pub(super) struct Parser<'a> {
    pub(super) text: &'a [u8],
    pub(super) lexer: Lexer<'a>,
    /// The token that comes next.
    pub(super) tok: Token,
    /// Where the last token that was taken ended.
    pub(super) last_end: u32,
    pub(super) module: Module,
    pub(super) diags: Vec<Diagnostic>,
    /// Set when the rest of the text cannot be read: operations are not recovered from any more.
    pub(super) stopped: bool,
    /// Nesting at this point, and the deepest since it was last reset.
    pub(super) depth: u32,
    pub(super) deepest: u32,
    /// Bytes that aliases have expanded to.
    pub(super) expanded: u64,
    pub(super) aliases: Aliases<'a>,
    pub(super) scopes: Scopes,
    /// Location aliases that were not defined when they were used.
    pub(super) late_locs: Vec<LateLoc<'a>>,
    /// Names whose definition could not be read: using them is no further error.
    pub(super) poisoned: FxHashSet<Name>,
    /// Shaped types without nested brackets, by their text.
    pub(super) ty_cache: FxHashMap<&'a [u8], Ty>,
    pub(super) i64_ty: Ty,
    pub(super) f64_ty: Ty,
}

impl<'a> Parser<'a> {
    /// A parser at the start of a text.
    pub(super) fn new(text: &'a [u8]) -> Parser<'a> {
        let mut lexer = Lexer::new(text);
        let tok = lexer.next();
        let mut module = Module::new();
        let i64_ty = module.intern_ty(Type::Integer { width: 64, sign: Sign::None });
        let f64_ty = module.intern_ty(Type::Float("f64"));
        Parser {
            text,
            lexer,
            tok,
            last_end: 0,
            module,
            diags: Vec::new(),
            stopped: false,
            depth: 0,
            deepest: 0,
            expanded: 0,
            aliases: Aliases::default(),
            scopes: Scopes::default(),
            late_locs: Vec::new(),
            poisoned: FxHashSet::default(),
            ty_cache: FxHashMap::default(),
            i64_ty,
            f64_ty,
        }
    }

    // ---- tokens -------------------------------------------------------------------------------------

    /// Takes the next token.
    pub(super) fn bump(&mut self) -> Token {
        let taken = self.tok;
        self.last_end = taken.end;
        self.tok = self.lexer.next();
        taken
    }

    /// Goes on reading at a byte.
    pub(super) fn seek(&mut self, pos: usize) {
        self.last_end = pos as u32;
        self.lexer.pos = pos;
        self.tok = self.lexer.next();
    }

    /// The text of a token.
    pub(super) fn bytes(&self, tok: Token) -> &'a [u8] {
        &self.text[tok.start as usize..tok.end as usize]
    }

    /// The text of a range of ASCII.
    pub(super) fn ascii(&self, tok: Token) -> &'a str {
        std::str::from_utf8(self.bytes(tok)).unwrap_or("")
    }

    /// Whether a punctuation mark comes next.
    pub(super) fn at(&self, mark: u8) -> bool {
        self.tok.kind == Kind::Punct(mark)
    }

    /// Whether a word comes next.
    pub(super) fn at_word(&self, word: &str) -> bool {
        self.tok.kind == Kind::Bare && self.bytes(self.tok) == word.as_bytes()
    }

    /// Takes a punctuation mark if it comes next.
    pub(super) fn eat(&mut self, mark: u8) -> bool {
        let found = self.at(mark);
        if found {
            self.bump();
        }
        found
    }

    /// Takes a word if it comes next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes a punctuation mark; `where_` says what it belongs to.
    pub(super) fn expect(&mut self, mark: u8, where_: &str) -> Parse<Token> {
        if self.at(mark) {
            return Ok(self.bump());
        }
        self.unexpected(&format!("expected `{}` {where_}", char::from(mark)))
    }

    /// Takes a token of a kind.
    pub(super) fn expect_kind(&mut self, kind: Kind, what: &str) -> Parse<Token> {
        if self.tok.kind == kind {
            return Ok(self.bump());
        }
        self.unexpected(&format!("expected {what}"))
    }

    /// `item, item, ..` up to a closing mark, which is taken; the opening one has been. No trailing comma.
    pub(super) fn list_until(
        &mut self,
        close: u8,
        where_: &str,
        mut item: impl FnMut(&mut Self) -> Parse<()>,
    ) -> Parse<()> {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.eat(b',') {
                self.expect(close, where_)?;
                return Ok(());
            }
        }
    }

    /// The bytes of a string token, which is taken.
    pub(super) fn string(&mut self, what: &str) -> Parse<std::borrow::Cow<'a, [u8]>> {
        let tok = self.expect_kind(Kind::String, what)?;
        Ok(unescape(self.bytes(tok)))
    }

    /// Text that must be UTF-8.
    pub(super) fn utf8(&mut self, bytes: &[u8], span: Span, what: &str) -> Parse<Box<str>> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.into()),
            Err(_) => self.error(span, format!("{what} is not valid UTF-8")),
        }
    }

    /// The name after `@`, which is taken.
    pub(super) fn symbol_name(&mut self, what: &str) -> Parse<Box<str>> {
        let tok = self.expect_kind(Kind::At, what)?;
        let rest = &self.bytes(tok)[1..];
        let name = if rest.first() == Some(&b'"') { unescape(rest) } else { rest.into() };
        self.utf8(&name, tok.span(), "the symbol")
    }

    // ---- limits -------------------------------------------------------------------------------------

    /// Goes one level deeper; [`Parser::leave`] comes back. On an error the whole operation is given up and the depth is reset.
    pub(super) fn enter(&mut self) -> Parse<()> {
        self.deepen(1)?;
        self.depth += 1;
        Ok(())
    }

    /// Comes back from [`Parser::enter`].
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Refuses what is `levels` deeper than here if that is too deep.
    pub(super) fn deepen(&mut self, levels: u32) -> Parse<()> {
        self.deepest = self.deepest.max(self.depth + levels);
        if self.depth + levels > MAX_DEPTH {
            self.stopped = true;
            return self.error(self.tok.span(), format!("nested deeper than {MAX_DEPTH} levels"));
        }
        Ok(())
    }

    /// Counts what an alias expands to: its text, and something for the memory of the copy.
    pub(super) fn expand(&mut self, bytes: u64, span: Span) -> Parse<()> {
        self.expanded = self.expanded.saturating_add(bytes + COPY);
        if self.expanded > MAX_EXPANSION {
            self.stopped = true;
            return self.error(span, format!("aliases expand to more than {} MiB", MAX_EXPANSION >> 20));
        }
        Ok(())
    }

    // ---- complaining --------------------------------------------------------------------------------

    /// Reports an error.
    pub(super) fn error<T>(&mut self, span: Span, message: impl Into<String>) -> Parse<T> {
        self.report(Diagnostic::error(span, message))
    }

    /// Reports a diagnostic.
    pub(super) fn report<T>(&mut self, diagnostic: Diagnostic) -> Parse<T> {
        self.diags.push(diagnostic);
        if self.diags.len() >= MAX_ERRORS {
            self.stopped = true;
        }
        Err(Failed)
    }

    /// Reports that the next token is not what should come.
    pub(super) fn unexpected<T>(&mut self, expected: &str) -> Parse<T> {
        let tok = self.tok;
        let message = match tok.kind {
            Kind::Bad => self.lexer.problem.to_owned(),
            Kind::Eof => format!("{expected}, but the text ends"),
            _ => {
                let found = String::from_utf8_lossy(self.bytes(tok));
                let found: String = found.chars().take(40).collect();
                format!("{expected}, found `{found}`")
            }
        };
        self.error(tok.span(), message)
    }

    /// Reports an operation in custom assembly; nothing after it is read.
    pub(super) fn custom_assembly<T>(&mut self, name: Token) -> Parse<T> {
        self.stopped = true;
        let message = format!("`{}` is written in a dialect's custom assembly", self.ascii(name));
        let note = "neap reads the generic form, `\"dialect.op\"(..) : (..) -> ..`, and of the custom forms `module`, `func.func` and `return`";
        self.report(Diagnostic::error(name.span(), message).note(note).help(GENERIC_FORM))
    }
}
