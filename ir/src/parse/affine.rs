//! `affine_map<..>` and `affine_set<..>`, kept as text.

use super::cursor::{Parse, Parser};
use crate::attr::Attr;

impl<'a> Parser<'a> {
    /// An affine map or integer set.
    pub(super) fn affine(&mut self) -> Parse<Attr> {
        let word = self.bump();
        let keyword = self.ascii(word);
        let open = self.expect(b'<', "after the keyword")?;
        let mut end = open.end;
        let mut depth = 0u32;
        while !(depth == 0 && self.at(b'>')) {
            match self.tok.kind {
                super::lexer::Kind::Eof | super::lexer::Kind::Bad => return self.unexpected("expected `>`"),
                super::lexer::Kind::Punct(b'<') => depth += 1,
                super::lexer::Kind::Punct(b'>') if self.text[self.tok.start as usize - 1] != b'=' => depth -= 1,
                _ => {}
            }
            end = self.bump().end;
            if self.at(b'>') && self.text.get(self.tok.end as usize) == Some(&b'=') {
                self.bump();
            }
        }
        let inner = String::from_utf8_lossy(&self.text[open.end as usize..end as usize]).into_owned();
        self.expect(b'>', "after the map")?;
        Ok(Attr::Text(format!("{keyword}<{inner}>").into(), None))
    }
}
