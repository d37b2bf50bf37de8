//! What the parser needs beyond the public mutators: operations made piece by piece, values and blocks that are used before they
//! are defined, a top that is found only at the end of the text.

use super::{Attrs, Block, BlockId, Def, Module, Op, OpId, RegionId, Value, ValueId};
use crate::loc::Loc;
use crate::name::Name;
use crate::types::Ty;
use smallvec::SmallVec;

impl Module {
    /// A detached operation without anything.
    pub(crate) fn start_op(&mut self, name: Name) -> OpId {
        self.ops.alloc(Op::bare(name))
    }

    /// Sets all discardable attributes; the caller has sorted them and found no duplicate.
    pub(crate) fn set_sorted_attrs(&mut self, op: OpId, attrs: Attrs) {
        self.ops[op].attrs = attrs;
        self.renamed(op);
    }

    /// Sets all inherent attributes; the caller has sorted them and found no duplicate.
    pub(crate) fn set_sorted_props(&mut self, op: OpId, props: Attrs) {
        self.ops[op].props = Some(props);
        self.renamed(op);
    }

    /// Takes an empty `<{}>` from an operation.
    pub(crate) fn drop_empty_props(&mut self, op: OpId) {
        self.ops[op].props.take_if(|props| props.is_empty());
    }

    /// A value that is used before it is defined. Until [`Module::adopt_result`] or [`Module::adopt_block_arg`] it claims to be a
    /// result of the top that does not exist.
    pub(crate) fn forward_value(&mut self, ty: Ty) -> ValueId {
        let def = Def::Result(self.top, u32::MAX);
        self.values.alloc(Value { ty, def, uses: SmallVec::new(), name: None, loc: Loc::Unknown })
    }

    /// Makes a forward value the next result of an operation.
    pub(crate) fn adopt_result(&mut self, op: OpId, value: ValueId) {
        let index = self.ops[op].results.len() as u32;
        self.values[value].def = Def::Result(op, index);
        self.ops[op].results.push(value);
    }

    /// Makes a forward value the next argument of a block.
    pub(crate) fn adopt_block_arg(&mut self, block: BlockId, value: ValueId) {
        let index = self.blocks[block].args.len() as u32;
        self.values[value].def = Def::Arg(block, index);
        self.blocks[block].args.push(value);
    }

    /// A block of a region that is branched to before it is defined: not yet in the region's list.
    pub(crate) fn forward_block(&mut self, region: RegionId) -> BlockId {
        self.blocks.alloc(Block { args: Vec::new(), first: None, last: None, parent: region, label: None })
    }

    /// Puts a forward block at the end of its region.
    pub(crate) fn adopt_block(&mut self, block: BlockId) {
        let region = self.blocks[block].parent;
        self.regions[region].blocks.push(block);
        self.reblocked(region);
    }

    /// Makes a `builtin.module` of the body the top; the old top is left without parent and content.
    pub(crate) fn promote(&mut self, module: OpId) {
        self.detach(module);
        self.ops[self.top].regions.clear();
        self.top = module;
        self.index.take();
    }
}
