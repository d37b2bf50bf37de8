//! The module: arenas of operations, values, blocks and regions. `edit.rs` holds the only code that changes them.
//!
//! # Invariants
//!
//! - A use is recorded at its value exactly once per operand slot; removing one is O(1).
//! - Operations of a block form a doubly linked list: inserting, moving and erasing are O(1).
//! - An erased operation has no parent, operands, results with uses, or regions; its id is never used again.
//! - Attributes are sorted by the text of their key and have no duplicates.

mod build;
mod copy;
mod edit;
mod index;

use crate::attr::Attr;
use crate::loc::{Loc, Span};
use crate::name::{Name, Names};
use crate::types::{Ty, Type, Types};
use la_arena::{Arena, Idx};
use smallvec::SmallVec;
use std::sync::OnceLock;

/// An operation's id.
pub type OpId = Idx<Op>;
/// A value's id.
pub type ValueId = Idx<Value>;
/// A block's id.
pub type BlockId = Idx<Block>;
/// A region's id.
pub type RegionId = Idx<Region>;

/// Attributes sorted by the text of their key.
pub type Attrs = Vec<(Name, Attr)>;

/// An operand: a value, and where this use stands in the value's list.
#[derive(Clone, Copy, Debug)]
struct Operand {
    value: ValueId,
    slot: u32,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Op {
    name: Name,
    operands: SmallVec<[Operand; 3]>,
    results: SmallVec<[ValueId; 1]>,
    attrs: Attrs,
    props: Option<Attrs>,
    regions: SmallVec<[RegionId; 1]>,
    successors: SmallVec<[BlockId; 1]>,
    parent: Option<BlockId>,
    prev: Option<OpId>,
    next: Option<OpId>,
    /// Where the operation came from.
    pub loc: Loc,
    /// Where it stands in the text that was read.
    pub span: Span,
}

/// Where a value is defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Def {
    /// The result of an operation, by index.
    Result(OpId, u32),
    /// The argument of a block, by index.
    Arg(BlockId, u32),
}

/// One use of a value: an operand slot of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Use {
    /// The reader.
    pub op: OpId,
    /// Which operand.
    pub operand: u32,
}

/// A value.
#[derive(Clone, Debug)]
pub struct Value {
    ty: Ty,
    def: Def,
    uses: SmallVec<[Use; 2]>,
    /// The SSA name without `%`, kept for printing. A result of a pack `%x:2` has the pack's name.
    pub name: Option<Name>,
    /// Where a block argument came from.
    pub loc: Loc,
}

/// A block: arguments, then operations.
#[derive(Clone, Debug)]
pub struct Block {
    args: Vec<ValueId>,
    first: Option<OpId>,
    last: Option<OpId>,
    parent: RegionId,
    /// The label without `^`, kept for printing.
    pub label: Option<Name>,
}

/// A region: blocks of one operation.
#[derive(Clone, Debug)]
pub struct Region {
    blocks: Vec<BlockId>,
    parent: OpId,
}

/// What a new operation is made of; regions and successors are added afterwards.
#[derive(Clone, Debug, Default)]
pub struct OpSpec<'a> {
    /// Full name, `dialect.op`.
    pub name: &'a str,
    /// Operands, data first, tokens last.
    pub operands: &'a [ValueId],
    /// Result types.
    pub results: &'a [Ty],
    /// Attributes in any order, later ones replace earlier ones of the same key.
    pub attrs: Vec<(&'a str, Attr)>,
    /// Where it came from.
    pub loc: Loc,
}

/// A compute graph: functions and symbols in the region of one `builtin.module`.
#[derive(Clone, Debug)]
pub struct Module {
    names: Names,
    types: Types,
    ops: Arena<Op>,
    values: Arena<Value>,
    blocks: Arena<Block>,
    regions: Arena<Region>,
    top: OpId,
    changes: u64,
    index: OnceLock<index::Index>,
    /// The file's `{-# .. #-}` section, kept as text and not interpreted.
    pub resources: Option<String>,
}

impl Default for Module {
    fn default() -> Self {
        Module::new()
    }
}

impl Module {
    /// An empty module: `builtin.module` with one region of one block.
    pub fn new() -> Module {
        let mut names = Names::default();
        let name = names.intern("builtin.module");
        let mut ops = Arena::default();
        let top = ops.alloc(Op::bare(name));
        let (types, values) = (Types::default(), Arena::default());
        let (blocks, regions) = (Arena::default(), Arena::default());
        let index = OnceLock::new();
        let mut module = Module { names, types, ops, values, blocks, regions, top, changes: 0, index, resources: None };
        let region = module.add_region(top);
        module.add_block(region, &[]);
        module
    }

    // ---- reading ------------------------------------------------------------------------------------

    /// The `builtin.module` operation that holds everything.
    pub fn top(&self) -> OpId {
        self.top
    }

    /// The block of the top-level operations.
    pub fn body(&self) -> BlockId {
        self.regions[self.ops[self.top].regions[0]].blocks[0]
    }

    /// Functions of the module body, in order: `func.func` operations that have a body.
    pub fn functions(&self) -> Vec<OpId> {
        let all = self.declared("func.func").iter().copied();
        all.filter(|op| !self.region_blocks(*op, 0).is_empty()).collect()
    }

    /// Interned names.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.names.text(name)
    }

    /// The type behind a handle.
    pub fn ty(&self, ty: Ty) -> &Type {
        self.types.get(ty)
    }

    /// The table of types.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// An operation.
    pub fn op(&self, op: OpId) -> &Op {
        crate::work::count(1);
        &self.ops[op]
    }

    /// Full name of an operation, `dialect.op`.
    pub fn op_name(&self, op: OpId) -> &str {
        crate::work::count(1);
        self.names.text(self.ops[op].name)
    }

    /// All operands, data first, tokens last.
    pub fn operands(&self, op: OpId) -> impl ExactSizeIterator<Item = ValueId> + DoubleEndedIterator + '_ {
        let operands = &self.ops[op].operands;
        crate::work::count(operands.len() as u64);
        operands.iter().map(|operand| operand.value)
    }

    /// The operand at an index.
    pub fn operand(&self, op: OpId, index: usize) -> ValueId {
        self.ops[op].operands[index].value
    }

    /// How many operands there are, tokens among them.
    pub fn operand_count(&self, op: OpId) -> usize {
        self.ops[op].operands.len()
    }

    /// All results, data first, tokens last.
    pub fn results(&self, op: OpId) -> &[ValueId] {
        crate::work::count(1);
        &self.ops[op].results
    }

    /// Operands before the first token: what op facts count.
    pub fn data_operands(&self, op: OpId) -> impl Iterator<Item = ValueId> + '_ {
        self.operands(op).take_while(|value| !self.is_token(*value))
    }

    /// The data operand at an index; tokens are the last operands.
    pub fn data_operand(&self, op: OpId, index: usize) -> Option<ValueId> {
        crate::work::count(1);
        self.ops[op].operands.get(index).map(|operand| operand.value).filter(|value| !self.is_token(*value))
    }

    /// How many operands are no tokens.
    pub fn data_operand_count(&self, op: OpId) -> usize {
        crate::work::count(1);
        let operands = &self.ops[op].operands;
        operands.iter().rposition(|operand| !self.is_token(operand.value)).map_or(0, |last| last + 1)
    }

    /// Results before the tokens, which are the last: what plan attributes run parallel to.
    pub fn data_results(&self, op: OpId) -> &[ValueId] {
        let results = self.results(op);
        &results[..results.iter().rposition(|value| !self.is_token(*value)).map_or(0, |last| last + 1)]
    }

    /// Whether a value is a `!neap.token`: an ordering edge without bytes.
    pub fn is_token(&self, value: ValueId) -> bool {
        matches!(self.ty(self.values[value].ty), Type::Dialect(body) if &**body == "neap.token")
    }

    /// An attribute, inherent (`<{..}>`) or discardable (`{..}`).
    pub fn attr(&self, op: OpId, key: &str) -> Option<&Attr> {
        crate::work::count(1);
        let key = self.names.get(key)?;
        let op = &self.ops[op];
        let find = |attrs: &'_ Attrs| attrs.iter().position(|(name, _)| *name == key);
        if let Some(props) = &op.props
            && let Some(at) = find(props)
        {
            return Some(&props[at].1);
        }
        find(&op.attrs).map(|at| &op.attrs[at].1)
    }

    /// Discardable attributes (all attributes of an operation printed without `<{..}>`).
    pub fn attrs(&self, op: OpId) -> &Attrs {
        &self.ops[op].attrs
    }

    /// Inherent attributes, if the operation has a `<{..}>`, be it empty.
    pub fn props(&self, op: OpId) -> Option<&Attrs> {
        self.ops[op].props.as_ref()
    }

    /// The type of a value.
    pub fn value_ty(&self, value: ValueId) -> Ty {
        self.values[value].ty
    }

    /// A value.
    pub fn value(&self, value: ValueId) -> &Value {
        crate::work::count(1);
        &self.values[value]
    }

    /// The operation that defines a value, if it is no block argument.
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.values[value].def {
            Def::Result(op, _) => Some(op),
            Def::Arg(..) => None,
        }
    }

    /// Regions of an operation.
    pub fn op_regions(&self, op: OpId) -> &[RegionId] {
        crate::work::count(1);
        &self.ops[op].regions
    }

    /// Blocks that an operation may branch to.
    pub fn successors(&self, op: OpId) -> &[BlockId] {
        &self.ops[op].successors
    }

    /// Blocks of a region.
    pub fn blocks(&self, region: RegionId) -> &[BlockId] {
        &self.regions[region].blocks
    }

    /// Blocks of an operation's region by index; none if there is no such region.
    pub fn region_blocks(&self, op: OpId, index: usize) -> &[BlockId] {
        self.ops[op].regions.get(index).map_or(&[], |region| &self.regions[*region].blocks)
    }

    /// The operation that a region belongs to.
    pub fn region_op(&self, region: RegionId) -> OpId {
        self.regions[region].parent
    }

    /// The first block of a function or other operation with a body.
    pub fn entry(&self, op: OpId) -> Option<BlockId> {
        self.region_blocks(op, 0).first().copied()
    }

    /// A block.
    pub fn block(&self, block: BlockId) -> &Block {
        crate::work::count(1);
        &self.blocks[block]
    }

    /// Arguments of a block.
    pub fn block_args(&self, block: BlockId) -> &[ValueId] {
        &self.blocks[block].args
    }

    /// The region of a block.
    pub fn block_region(&self, block: BlockId) -> RegionId {
        self.blocks[block].parent
    }

    /// How often the mutators changed anything that prints: equal counts mean that nothing changed in between.
    /// Setting what is already there is no change; interning is none.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Operations of a block, in order.
    pub fn block_ops(&self, block: BlockId) -> impl Iterator<Item = OpId> + '_ {
        std::iter::successors(self.blocks[block].first, |op| self.ops[*op].next)
    }

    /// The last operation of a block.
    pub fn terminator(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].last
    }

    /// The block of an operation; none for the top, for detached and for erased ones.
    pub fn parent_block(&self, op: OpId) -> Option<BlockId> {
        self.ops[op].parent
    }

    /// The operation around an operation.
    pub fn parent_op(&self, op: OpId) -> Option<OpId> {
        self.ops[op].parent.map(|block| self.regions[self.blocks[block].parent].parent)
    }

    /// All operations below `root`, without it, in pre-order. Iterative: nesting depth costs no stack.
    pub fn walk(&self, root: OpId) -> Vec<OpId> {
        let mut found = Vec::new();
        let mut stack: Vec<OpId> = Vec::new();
        self.push_children(root, &mut stack);
        while let Some(op) = stack.pop() {
            found.push(op);
            self.push_children(op, &mut stack);
        }
        found
    }

    fn push_children(&self, op: OpId, stack: &mut Vec<OpId>) {
        let from = stack.len();
        for region in &self.ops[op].regions {
            for block in &self.regions[*region].blocks {
                stack.extend(self.block_ops(*block));
            }
        }
        stack[from..].reverse();
    }

    /// How many operation ids were ever made: the length for tables indexed by `OpId::into_raw`.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// How many value ids were ever made.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }
}

impl Op {
    fn bare(name: Name) -> Op {
        Op {
            name,
            operands: SmallVec::new(),
            results: SmallVec::new(),
            attrs: Vec::new(),
            props: None,
            regions: SmallVec::new(),
            successors: SmallVec::new(),
            parent: None,
            prev: None,
            next: None,
            loc: Loc::Unknown,
            span: Span::default(),
        }
    }

    /// The interned full name.
    pub fn name(&self) -> Name {
        self.name
    }

    /// The next operation of the block.
    pub fn next(&self) -> Option<OpId> {
        self.next
    }

    /// The previous operation of the block.
    pub fn prev(&self) -> Option<OpId> {
        self.prev
    }
}

impl Value {
    /// Its type.
    pub fn ty(&self) -> Ty {
        self.ty
    }

    /// Where it is defined.
    pub fn def(&self) -> Def {
        self.def
    }

    /// Its readers, one entry per operand slot; the order has no meaning but depends on the input alone.
    pub fn uses(&self) -> &[Use] {
        &self.uses
    }
}
