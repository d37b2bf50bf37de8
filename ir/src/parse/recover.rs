//! Going on after an error: the next operation is looked for, so that one run shows several errors.

use super::cursor::{Failed, Parse, Parser};
use super::lexer::{Kind, Token};

impl<'a> Parser<'a> {
    /// Skips from the start of an operation that could not be read to the next operation of its block, or to the end of the block.
    /// What the operation would have defined is remembered. An error if nothing more is to be read.
    pub(super) fn recover(&mut self, start: u32) -> Parse<()> {
        if self.stopped {
            return Err(Failed);
        }
        let failed_at = self.tok.start.max(self.last_end);
        self.seek(start as usize);
        self.poison();
        // Text that is indented no deeper than the operation does not belong to it, even where brackets do not match.
        let margin = self.column(start);
        let mut nested = 0u32;
        loop {
            let past = self.tok.start >= failed_at && self.tok.start > start;
            let first = self.starts_line(self.tok);
            match self.tok.kind {
                Kind::Eof => return Ok(()),
                _ if past && first && self.starts_op() && (nested == 0 || self.column(self.tok.start) <= margin) => {
                    return Ok(());
                }
                Kind::Punct(b'}') if past && first && self.column(self.tok.start) < margin => return Ok(()),
                Kind::Punct(b'{') => nested += 1,
                Kind::Punct(b'}') if nested == 0 && (past || first) => return Ok(()),
                Kind::Punct(b'}') => nested = nested.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    /// Remembers the results that the operation at this point binds.
    fn poison(&mut self) {
        let mut ahead = self.lexer.clone();
        let mut tok = self.tok;
        let mut names = Vec::new();
        while matches!(tok.kind, Kind::Percent | Kind::Integer | Kind::Punct(b',' | b':')) {
            if tok.kind == Kind::Percent {
                names.push(tok);
            }
            tok = ahead.next();
        }
        if tok.kind == Kind::Punct(b'=') {
            for tok in names {
                let name = self.value_name(tok);
                self.poisoned.insert(name);
            }
        }
    }

    /// Bytes between the start of the line and a place.
    fn column(&self, at: u32) -> usize {
        self.text[..at as usize].iter().rev().take_while(|byte| **byte != b'\n').count()
    }

    fn starts_line(&self, tok: Token) -> bool {
        let before = &self.text[..tok.start as usize];
        before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|byte| *byte == b'\n')
    }

    fn starts_op(&self) -> bool {
        matches!(self.tok.kind, Kind::Percent | Kind::String | Kind::Caret)
            || ["return", "func.return", "func.func", "module", "builtin.module"].iter().any(|word| self.at_word(word))
    }
}
