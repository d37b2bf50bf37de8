//! Regions and blocks.

use super::cursor::{Located, Parse, Parser};
use super::lexer::{Kind, Token};
use crate::loc::Span;
use crate::module::{BlockId, OpId, RegionId};
use crate::name::Name;
use rustc_hash::FxHashMap;

/// The blocks of the region that is being read.
pub(super) struct Blocks {
    region: RegionId,
    labels: FxHashMap<Name, Label>,
}

struct Label {
    block: BlockId,
    defined: bool,
    span: Span,
}

impl Blocks {
    /// Of a region, none yet.
    pub(super) fn new(region: RegionId) -> Blocks {
        Blocks { region, labels: FxHashMap::default() }
    }
}

impl<'a> Parser<'a> {
    /// `{ .. }` of a generic operation.
    pub(super) fn region(&mut self, region: RegionId, isolated: bool) -> Parse<()> {
        self.region_with(region, isolated, |_, _| Ok(None))
    }

    /// `{ .. }`. `entry` may make the first block and its arguments, once the region's names are open.
    pub(super) fn region_with(
        &mut self,
        region: RegionId,
        isolated: bool,
        entry: impl FnOnce(&mut Self, RegionId) -> Parse<Option<BlockId>>,
    ) -> Parse<()> {
        self.expect(b'{', "before the region")?;
        self.enter()?;
        let depth = self.depth;
        let mark = self.open_scope(isolated);
        let made = entry(self, region);
        let read = made.and_then(|entry| self.blocks(region, entry));
        self.depth = depth;
        self.close_scope(mark);
        read?;
        self.leave();
        self.expect(b'}', "after the region")?;
        Ok(())
    }

    fn blocks(&mut self, region: RegionId, entry: Option<BlockId>) -> Parse<()> {
        let mut blocks = Blocks::new(region);
        let mut open = entry;
        loop {
            match self.tok.kind {
                Kind::Punct(b'}') | Kind::Eof => break,
                Kind::Caret => match self.labelled_block(&mut blocks) {
                    Ok(block) => open = Some(block),
                    Err(_) => self.recover(self.last_end)?,
                },
                _ => {
                    let block = match open {
                        Some(block) => block,
                        None => *open.insert(self.module.add_block(region, &[])),
                    };
                    self.op_in(block, &mut blocks)?;
                }
            }
        }
        self.undefined_labels(&blocks)
    }

    /// One operation at the end of a block; after an error, goes on at the next one.
    pub(super) fn op_in(&mut self, block: BlockId, blocks: &mut Blocks) -> Parse<Option<OpId>> {
        let (start, depth) = (self.tok.start, self.depth);
        match self.op(blocks) {
            Ok(op) => {
                self.module.append(block, op);
                Ok(Some(op))
            }
            Err(_) => {
                self.depth = depth;
                self.recover(start)?;
                Ok(None)
            }
        }
    }

    fn labelled_block(&mut self, blocks: &mut Blocks) -> Parse<BlockId> {
        let label = self.bump();
        let name = self.label_name(label);
        let block = match blocks.labels.get_mut(&name) {
            Some(known) if known.defined => {
                let (text, first) = (self.ascii(label).to_owned(), known.span);
                let diagnostic =
                    crate::diag::Diagnostic::error(label.span(), format!("the block `{text}` is defined twice"));
                return self.report(diagnostic.related(first, "defined here first"));
            }
            Some(known) => {
                known.defined = true;
                known.span = label.span();
                known.block
            }
            None => {
                let block = self.module.forward_block(blocks.region);
                blocks.labels.insert(name, Label { block, defined: true, span: label.span() });
                block
            }
        };
        self.module.adopt_block(block);
        self.module.set_block_label(block, Some(name));
        if self.eat(b'(') {
            self.list_until(b')', "after the block's arguments", |parser| parser.block_arg(block))?;
        }
        self.expect(b':', "after the block's label")?;
        Ok(block)
    }

    fn label_name(&mut self, label: Token) -> Name {
        let text = &self.ascii(label)[1..];
        self.module.intern(text)
    }

    /// `%name: T loc(..)`.
    fn block_arg(&mut self, block: BlockId) -> Parse<()> {
        let name = self.expect_kind(Kind::Percent, "an argument")?;
        self.expect(b':', "after the argument")?;
        let ty = self.ty()?;
        let value = self.define_arg(block, name, ty)?;
        self.trailing_loc(Located::Value(value))
    }

    /// The block that a label means, which may come later.
    pub(super) fn block_ref(&mut self, blocks: &mut Blocks, label: Token) -> Parse<BlockId> {
        let name = self.label_name(label);
        if let Some(known) = blocks.labels.get(&name) {
            return Ok(known.block);
        }
        let block = self.module.forward_block(blocks.region);
        blocks.labels.insert(name, Label { block, defined: false, span: label.span() });
        Ok(block)
    }

    /// Reports labels that were used and never defined.
    pub(super) fn undefined_labels(&mut self, blocks: &Blocks) -> Parse<()> {
        let mut missing: Vec<(Span, Name)> =
            blocks.labels.iter().filter(|(_, label)| !label.defined).map(|(name, label)| (label.span, *name)).collect();
        missing.sort_by_key(|(span, _)| span.start);
        for (span, name) in &missing {
            let message = format!("the block `^{}` is not defined", self.module.text(*name));
            let _ = self.error::<()>(*span, message);
        }
        if self.stopped { Err(super::cursor::Failed) } else { Ok(()) }
    }
}
