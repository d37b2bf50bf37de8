//! Tokens of MLIR text, made one at a time.
//!
//! The rules are MLIR's: only `//` comments, ASCII identifiers, strings that end on their line and may hold any byte, floats
//! that need a point (`1e5` is an integer and an identifier). What follows `<` in a shape or a dialect body is not made of
//! tokens: those parsers read bytes and set the position.

use crate::loc::Span;

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// End of the text.
    Eof,
    /// `func.func`, `f32`, `loc`: no sigil.
    Bare,
    /// `%name`.
    Percent,
    /// `@name`, `@"name"`.
    At,
    /// `#name`.
    Hash,
    /// `!name`.
    Bang,
    /// `^name`.
    Caret,
    /// `12`, `0xFF`.
    Integer,
    /// `1.`, `1.5e-3`.
    Float,
    /// `"text"`.
    String,
    /// `->`.
    Arrow,
    /// `{-#`.
    FileOpen,
    /// A single character: `( ) { } [ ] < > , : = - + ? * | / .`.
    Punct(u8),
    /// Something that is no token; the lexer says what.
    Bad,
}

/// A token: its kind and its half-open range of bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Token {
    /// The place of the token.
    pub(super) fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// A position in the text.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    /// The next byte.
    pub(super) pos: usize,
    /// Why the last token is [`Kind::Bad`].
    pub(super) problem: &'static str,
}

/// Classes of bytes, one bit each.
const ALPHA: u8 = 1;
const DIGIT: u8 = 2;
const HEX: u8 = 4;
/// `$ . _`
const MARK: u8 = 8;
const DASH: u8 = 16;

const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        if byte.is_ascii_alphabetic() {
            table[at] |= ALPHA;
        }
        if byte.is_ascii_digit() {
            table[at] |= DIGIT;
        }
        if byte.is_ascii_hexdigit() {
            table[at] |= HEX;
        }
        if byte == b'$' || byte == b'.' || byte == b'_' {
            table[at] |= MARK;
        }
        if byte == b'-' {
            table[at] |= DASH;
        }
        at += 1;
    }
    table
};

/// Whether text is a bare identifier: what may stand for a key or a symbol without quotes.
pub(crate) fn is_bare(text: &[u8]) -> bool {
    let Some((first, rest)) = text.split_first() else { return false };
    (first.is_ascii_alphabetic() || *first == b'_')
        && rest.iter().all(|byte| CLASS[*byte as usize] & (ALPHA | DIGIT | MARK) != 0)
}

/// Whether text may follow `%` or `^`: digits alone, or a name that does not begin with a digit or a dash.
pub(crate) fn is_suffix(text: &[u8]) -> bool {
    let Some((first, rest)) = text.split_first() else { return false };
    if first.is_ascii_digit() {
        return rest.iter().all(u8::is_ascii_digit);
    }
    CLASS[*first as usize] & (ALPHA | MARK) != 0
        && rest.iter().all(|byte| CLASS[*byte as usize] & (ALPHA | DIGIT | MARK | DASH) != 0)
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of a text.
    pub(super) fn new(text: &'a [u8]) -> Lexer<'a> {
        Lexer { text, pos: 0, problem: "" }
    }

    /// The byte at a distance from the position; 0 past the end.
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// Skips white space and comments.
    pub(super) fn skip_blank(&mut self) {
        while let Some(byte) = self.text.get(self.pos) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0 => self.pos += 1,
                b'/' if self.peek(1) == b'/' => {
                    let rest = &self.text[self.pos..];
                    self.pos += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                _ => break,
            }
        }
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Token {
        self.skip_blank();
        let start = self.pos;
        let kind = self.kind();
        Token { kind, start: start as u32, end: self.pos as u32 }
    }

    fn kind(&mut self) -> Kind {
        let Some(first) = self.text.get(self.pos).copied() else { return Kind::Eof };
        self.pos += 1;
        match first {
            b'%' => self.suffix(Kind::Percent),
            b'^' => self.suffix(Kind::Caret),
            b'!' => self.suffix(Kind::Bang),
            b'#' if self.peek(0) == b'-' && self.peek(1) == b'}' => {
                self.pos += 2;
                self.bad("`#-}` without `{-#`")
            }
            b'#' => self.suffix(Kind::Hash),
            b'@' => self.symbol(),
            b'"' => self.string(),
            b'-' if self.peek(0) == b'>' => {
                self.pos += 1;
                Kind::Arrow
            }
            b'{' if self.peek(0) == b'-' && self.peek(1) == b'#' => {
                self.pos += 2;
                Kind::FileOpen
            }
            b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'=' | b'-' | b'+' | b'?' | b'*'
            | b'|' | b'/' | b'.' => Kind::Punct(first),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip(ALPHA | DIGIT | MARK);
                Kind::Bare
            }
            b'0'..=b'9' => self.number(first),
            _ => {
                // The rest of a UTF-8 sequence belongs to the same character.
                while self.peek(0) & 0xC0 == 0x80 {
                    self.pos += 1;
                }
                self.bad("unexpected character")
            }
        }
    }

    fn bad(&mut self, problem: &'static str) -> Kind {
        self.problem = problem;
        Kind::Bad
    }

    fn skip(&mut self, classes: u8) {
        while CLASS[self.peek(0) as usize] & classes != 0 {
            self.pos += 1;
        }
    }

    fn suffix(&mut self, kind: Kind) -> Kind {
        if self.peek(0).is_ascii_digit() {
            self.skip(DIGIT);
        } else if CLASS[self.peek(0) as usize] & (ALPHA | MARK) != 0 {
            self.skip(ALPHA | DIGIT | MARK | DASH);
        } else {
            return self.bad("a name must follow");
        }
        kind
    }

    fn symbol(&mut self) -> Kind {
        match self.peek(0) {
            b'"' => {
                self.pos += 1;
                match self.string() {
                    Kind::String => Kind::At,
                    other => other,
                }
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip(ALPHA | DIGIT | MARK);
                Kind::At
            }
            _ => self.bad("a symbol's name must follow `@`"),
        }
    }

    fn number(&mut self, first: u8) -> Kind {
        if first == b'0' && self.peek(0) == b'x' && CLASS[self.peek(1) as usize] & HEX != 0 {
            self.pos += 2;
            self.skip(HEX);
            return Kind::Integer;
        }
        self.skip(DIGIT);
        if self.peek(0) != b'.' {
            return Kind::Integer;
        }
        self.pos += 1;
        self.skip(DIGIT);
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'-' | b'+'));
            if self.peek(1 + sign).is_ascii_digit() {
                self.pos += 1 + sign;
                self.skip(DIGIT);
            }
        }
        Kind::Float
    }

    /// The rest of a string after its opening quote.
    fn string(&mut self) -> Kind {
        loop {
            let rest = &self.text[self.pos..];
            let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | b'\n' | 0x0B | 0x0C)) else {
                self.pos = self.text.len();
                return self.bad("the string does not end");
            };
            self.pos += at + 1;
            match rest[at] {
                b'"' => return Kind::String,
                b'\\' if matches!(self.peek(0), b'"' | b'\\' | b'n' | b't') => self.pos += 1,
                b'\\' if self.peek(0).is_ascii_hexdigit() && self.peek(1).is_ascii_hexdigit() => self.pos += 2,
                b'\\' => return self.bad("unknown escape in a string"),
                _ => {
                    self.pos -= 1;
                    return self.bad("the string does not end on its line");
                }
            }
        }
    }
}

/// The bytes of a string token without its quotes, escapes replaced.
pub(super) fn unescape(quoted: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    let inner = &quoted[1..quoted.len() - 1];
    if !inner.contains(&b'\\') {
        return inner.into();
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        match (first, tail) {
            (b'\\', [b'n', ..]) => bytes.push(b'\n'),
            (b'\\', [b't', ..]) => bytes.push(b'\t'),
            (b'\\', [mark @ (b'"' | b'\\'), ..]) => bytes.push(*mark),
            (b'\\', [high, low, ..]) => {
                bytes.push(hex(*high) << 4 | hex(*low));
                rest = &rest[1..];
            }
            _ => {
                bytes.push(*first);
                continue;
            }
        }
        rest = &rest[1..];
    }
    bytes.into()
}

/// The value of a hexadecimal digit.
pub(super) fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => 0,
    }
}
