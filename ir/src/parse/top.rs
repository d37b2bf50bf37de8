//! The whole text: aliases, operations, resources; the module that holds them.

use super::MAX_DEPTH;
use super::cursor::{LateLoc, Parse, Parser};
use super::lexer::Kind;
use super::regions::Blocks;
use crate::attr::Attr;
use crate::diag::Diagnostic;
use crate::loc::Span;
use crate::module::{Module, OpId};

impl<'a> Parser<'a> {
    /// Reads the text to its end.
    pub(super) fn file(mut self) -> Result<Module, Vec<Diagnostic>> {
        let region = self.module.op_regions(self.module.top())[0];
        let body = self.module.body();
        let mut blocks = Blocks::new(region);
        let _ = self.items(body, &mut blocks);
        let _ = self.undefined_labels(&blocks);
        self.report_waiting(0);
        self.late_locations();
        self.unwrap_module();
        if self.diags.is_empty() {
            return Ok(self.module);
        }
        self.diags.sort_by_key(|diagnostic| diagnostic.span.start);
        Err(self.diags)
    }

    fn items(&mut self, body: crate::module::BlockId, blocks: &mut Blocks) -> Parse<()> {
        loop {
            let start = self.tok.start;
            // What is not a module will stand in one.
            self.depth = u32::from(!self.at_word("module") && !self.at_word("builtin.module"));
            match self.tok.kind {
                Kind::Eof => return Ok(()),
                Kind::Hash | Kind::Bang => {
                    if self.alias_def().is_err() {
                        self.recover(start)?;
                    }
                }
                Kind::FileOpen => self.resources()?,
                Kind::Punct(b'}') => {
                    let _ = self.unexpected::<()>("expected an operation");
                    if self.stopped {
                        return Err(super::cursor::Failed);
                    }
                    self.bump();
                }
                _ => {
                    self.op_in(body, blocks)?;
                }
            }
        }
    }

    /// `{-# .. #-}`, kept as text.
    fn resources(&mut self) -> Parse<()> {
        let open = self.tok;
        if self.module.resources.is_some() {
            self.stopped = true;
            return self.error(open.span(), "the text has a second `{-# .. #-}`");
        }
        let rest = &self.text[open.start as usize..];
        let Some(end) = resources_end(rest) else {
            self.stopped = true;
            return self.error(open.span(), "`{-#` is not closed by `#-}`");
        };
        match std::str::from_utf8(&rest[..end]) {
            Ok(text) => self.module.resources = Some(text.to_owned()),
            Err(_) => return self.error(open.span(), "the resources are not valid UTF-8"),
        }
        self.seek(open.start as usize + end);
        Ok(())
    }

    /// Locations whose alias is defined after its use.
    fn late_locations(&mut self) {
        for LateLoc { whose, name, span, depth } in std::mem::take(&mut self.late_locs) {
            if self.stopped {
                return;
            }
            self.depth = depth;
            match self.attr_alias(name, span) {
                Ok(Attr::Loc(loc)) => self.set_loc(whose, *loc),
                Ok(_) => {
                    let _ = self.error::<()>(span, "the alias is no location");
                }
                Err(_) => {}
            }
        }
    }

    /// A module that is all there is becomes the top.
    fn unwrap_module(&mut self) {
        let ops: Vec<OpId> = self.module.block_ops(self.module.body()).take(2).collect();
        match ops[..] {
            [only] if self.is_whole_module(only) => self.module.promote(only),
            _ if self.deepest >= MAX_DEPTH && self.diags.is_empty() => {
                let _ = self.error::<()>(Span::default(), format!("nested deeper than {MAX_DEPTH} levels"));
            }
            _ => {}
        }
    }

    fn is_whole_module(&self, op: OpId) -> bool {
        self.module.op_name(op) == "builtin.module"
            && self.module.op_regions(op).len() == 1
            && self.module.region_blocks(op, 0).len() == 1
            && self.module.block_args(self.module.region_blocks(op, 0)[0]).is_empty()
            && self.module.operands(op).len() == 0
            && self.module.results(op).is_empty()
            && self.module.successors(op).is_empty()
    }
}

/// Where a `{-# .. #-}` ends; strings in it may hold anything.
fn resources_end(text: &[u8]) -> Option<usize> {
    let mut at = 3;
    while at < text.len() {
        match text[at] {
            b'#' if text[at..].starts_with(b"#-}") => return Some(at + 3),
            b'"' => {
                at += 1;
                while text.get(at).is_some_and(|byte| *byte != b'"') {
                    at += 1 + usize::from(text[at] == b'\\');
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    None
}
