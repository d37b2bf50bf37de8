//! The mutators: every change of a module goes through here, so that uses and lists stay whole.
//!
//! Making (`create`, `add_*`, `push_*`), changing (`set_*`, `replace_uses`) and moving (`append`, `insert_*`, `detach`, `erase`).

use super::{Attrs, Block, BlockId, Def, Module, Op, OpId, OpSpec, Operand, Region, RegionId, Use, Value, ValueId};
use crate::attr::Attr;
use crate::loc::{Loc, Span};
use crate::name::{Name, Names};
use crate::types::{Ty, Type};
use smallvec::SmallVec;

impl Module {
    // ---- making -------------------------------------------------------------------------------------

    /// Interns a string.
    pub fn intern(&mut self, text: &str) -> Name {
        self.names.intern(text)
    }

    /// Interns a type.
    pub fn intern_ty(&mut self, ty: Type) -> Ty {
        self.types.intern(ty)
    }

    /// The type `!neap.token`.
    pub fn token_ty(&mut self) -> Ty {
        self.types.intern(Type::Dialect("neap.token".into()))
    }

    /// A signless integer type.
    pub fn int_ty(&mut self, width: u32) -> Ty {
        self.types.intern(Type::Integer { width, sign: crate::types::Sign::None })
    }

    /// `value : i64`.
    pub fn i64_attr(&mut self, value: i64) -> Attr {
        Attr::Int { value: value.into(), ty: self.int_ty(64) }
    }

    /// `array<i64: ..>`.
    pub fn i64s_attr(&mut self, values: Vec<i64>) -> Attr {
        Attr::DenseInts { elem: self.int_ty(64), values }
    }

    /// `{key = value, ..}`.
    pub fn dict_attr(&mut self, items: Vec<(&str, Attr)>) -> Attr {
        let mut dict = Attrs::new();
        for (key, value) in items {
            let key = self.names.intern(key);
            put(&self.names, &mut dict, key, value);
        }
        Attr::Dict(dict)
    }

    /// Makes a detached operation; put it somewhere with [`Module::append`] or [`Module::insert_before`].
    pub fn create(&mut self, spec: OpSpec<'_>) -> OpId {
        let name = self.names.intern(spec.name);
        let mut op = Op::bare(name);
        op.loc = spec.loc;
        self.changes += 1;
        let op = self.ops.alloc(op);
        for value in spec.operands {
            self.push_operand(op, *value);
        }
        for ty in spec.results {
            self.push_result(op, *ty);
        }
        for (key, value) in spec.attrs {
            self.set_attr(op, key, value);
        }
        op
    }

    /// Adds an empty region to an operation.
    pub fn add_region(&mut self, op: OpId) -> RegionId {
        self.changes += 1;
        let region = self.regions.alloc(Region { blocks: Vec::new(), parent: op });
        self.ops[op].regions.push(region);
        region
    }

    /// Adds a block with arguments to a region.
    pub fn add_block(&mut self, region: RegionId, args: &[Ty]) -> BlockId {
        let block = Block { args: Vec::new(), first: None, last: None, parent: region, label: None };
        self.changes += 1;
        let block = self.blocks.alloc(block);
        self.regions[region].blocks.push(block);
        self.reblocked(region);
        for ty in args {
            self.push_block_arg(block, *ty);
        }
        block
    }

    /// Adds an argument to a block.
    pub fn push_block_arg(&mut self, block: BlockId, ty: Ty) -> ValueId {
        let index = self.blocks[block].args.len() as u32;
        let value = self.new_value(ty, Def::Arg(block, index));
        self.blocks[block].args.push(value);
        value
    }

    /// Adds a successor to an operation.
    pub fn push_successor(&mut self, op: OpId, block: BlockId) {
        self.changes += 1;
        self.ops[op].successors.push(block);
    }

    /// Adds an operand at the end.
    pub fn push_operand(&mut self, op: OpId, value: ValueId) {
        let index = self.ops[op].operands.len() as u32;
        let slot = self.add_use(value, Use { op, operand: index });
        self.ops[op].operands.push(Operand { value, slot });
    }

    /// Adds a result at the end.
    pub fn push_result(&mut self, op: OpId, ty: Ty) -> ValueId {
        let index = self.ops[op].results.len() as u32;
        let value = self.new_value(ty, Def::Result(op, index));
        self.ops[op].results.push(value);
        value
    }

    fn new_value(&mut self, ty: Ty, def: Def) -> ValueId {
        self.changes += 1;
        self.values.alloc(Value { ty, def, uses: SmallVec::new(), name: None, loc: Loc::Unknown })
    }

    // ---- changing -----------------------------------------------------------------------------------

    /// Sets where an operation stands in the text, and its location.
    pub fn set_place(&mut self, op: OpId, loc: Loc, span: Span) {
        self.changes += 1;
        self.ops[op].loc = loc;
        self.ops[op].span = span;
    }

    /// Names a value for printing.
    pub fn set_value_name(&mut self, value: ValueId, name: Option<Name>) {
        self.changes += u64::from(self.values[value].name != name);
        self.values[value].name = name;
    }

    /// Sets the location of a block argument.
    pub fn set_value_loc(&mut self, value: ValueId, loc: Loc) {
        self.changes += 1;
        self.values[value].loc = loc;
    }

    /// Names a block for printing.
    pub fn set_block_label(&mut self, block: BlockId, label: Option<Name>) {
        self.changes += 1;
        self.blocks[block].label = label;
    }

    /// Changes the type of a value.
    pub fn set_value_ty(&mut self, value: ValueId, ty: Ty) {
        self.changes += u64::from(self.values[value].ty != ty);
        self.values[value].ty = ty;
    }

    /// Renames an operation's kind.
    pub fn set_op_name(&mut self, op: OpId, name: &str) {
        let name = self.names.intern(name);
        self.changes += u64::from(self.ops[op].name != name);
        self.ops[op].name = name;
        self.renamed(op);
    }

    /// Sets an attribute: where the key is an inherent one, there; else among the discardable ones.
    pub fn set_attr(&mut self, op: OpId, key: &str, value: Attr) {
        let name = self.names.intern(key);
        let target = &mut self.ops[op];
        let changed = match &mut target.props {
            Some(props) if props.iter().any(|(known, _)| *known == name) => put(&self.names, props, name, value),
            _ => put(&self.names, &mut target.attrs, name, value),
        };
        self.changes += u64::from(changed);
        self.attr_changed(op, key);
    }

    /// Removes an attribute; returns it if it was there.
    pub fn remove_attr(&mut self, op: OpId, key: &str) -> Option<Attr> {
        let name = self.names.get(key)?;
        let target = &mut self.ops[op];
        let take = |attrs: &mut Attrs| {
            let at = attrs.iter().position(|(known, _)| *known == name)?;
            Some(attrs.remove(at).1)
        };
        let removed = target.props.as_mut().and_then(take).or_else(|| take(&mut target.attrs))?;
        self.changes += 1;
        self.attr_changed(op, key);
        Some(removed)
    }

    /// Sets an inherent attribute, adding `<{..}>` if there was none.
    pub fn set_prop(&mut self, op: OpId, key: &str, value: Attr) {
        let name = self.names.intern(key);
        self.ensure_props(op);
        let props = self.ops[op].props.get_or_insert_default();
        self.changes += u64::from(put(&self.names, props, name, value));
        self.attr_changed(op, key);
    }

    /// Gives an operation an empty `<{}>` if it has none.
    pub fn ensure_props(&mut self, op: OpId) {
        self.changes += u64::from(self.ops[op].props.is_none());
        self.ops[op].props.get_or_insert_default();
    }

    fn attr_changed(&mut self, op: OpId, key: &str) {
        if key == "sym_name" {
            self.renamed(op);
        }
    }

    /// Makes operand `index` of `op` read `value`.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: ValueId) {
        if self.operand(op, index) == value {
            return;
        }
        self.drop_use(op, index);
        let slot = self.add_use(value, Use { op, operand: index as u32 });
        self.ops[op].operands[index] = Operand { value, slot };
    }

    /// Replaces the whole operand list.
    pub fn set_operands(&mut self, op: OpId, values: &[ValueId]) {
        if self.operands(op).eq(values.iter().copied()) {
            return;
        }
        self.changes += 1;
        for index in 0..self.ops[op].operands.len() {
            self.drop_use(op, index);
        }
        self.ops[op].operands.clear();
        for value in values {
            self.push_operand(op, *value);
        }
    }

    /// Makes every reader of `old` read `new`.
    pub fn replace_uses(&mut self, old: ValueId, new: ValueId) {
        if old == new {
            return;
        }
        for usage in std::mem::take(&mut self.values[old].uses) {
            let slot = self.add_use(new, usage);
            self.ops[usage.op].operands[usage.operand as usize] = Operand { value: new, slot };
        }
    }

    /// Removes the results from `from` on; they must have no readers.
    pub fn truncate_results(&mut self, op: OpId, from: usize) {
        debug_assert!(self.ops[op].results[from..].iter().all(|value| self.values[*value].uses.is_empty()));
        self.changes += u64::from(from < self.ops[op].results.len());
        self.ops[op].results.truncate(from);
    }

    /// Removes the operands from `from` on.
    pub fn truncate_operands(&mut self, op: OpId, from: usize) {
        while self.ops[op].operands.len() > from {
            let last = self.ops[op].operands.len() - 1;
            self.drop_use(op, last);
            self.ops[op].operands.pop();
            self.changes += 1;
        }
    }

    /// Puts a detached operation at the end of a block.
    pub fn append(&mut self, block: BlockId, op: OpId) {
        let last = self.blocks[block].last;
        self.link(block, last, op, None);
    }

    /// Puts a detached operation before another one.
    pub fn insert_before(&mut self, anchor: OpId, op: OpId) {
        let block = self.ops[anchor].parent.expect("the anchor stands in a block");
        let prev = self.ops[anchor].prev;
        self.link(block, prev, op, Some(anchor));
    }

    /// Puts a detached operation after another one.
    pub fn insert_after(&mut self, anchor: OpId, op: OpId) {
        let block = self.ops[anchor].parent.expect("the anchor stands in a block");
        let next = self.ops[anchor].next;
        self.link(block, Some(anchor), op, next);
    }

    /// Takes an operation out of its block; it stays whole and can be put elsewhere.
    pub fn detach(&mut self, op: OpId) {
        let Some(block) = self.ops[op].parent.take() else { return };
        self.changes += 1;
        let (prev, next) = (self.ops[op].prev.take(), self.ops[op].next.take());
        match prev {
            Some(prev) => self.ops[prev].next = next,
            None => self.blocks[block].first = next,
        }
        match next {
            Some(next) => self.ops[next].prev = prev,
            None => self.blocks[block].last = prev,
        }
        self.relisted(block);
    }

    /// Orders a block: `order` is a permutation of its operations.
    pub fn set_block_order(&mut self, block: BlockId, order: &[OpId]) {
        if self.block_ops(block).eq(order.iter().copied()) {
            return;
        }
        debug_assert_eq!(order.len(), self.block_ops(block).count());
        self.changes += 1;
        for pair in order.windows(2) {
            self.ops[pair[0]].next = Some(pair[1]);
            self.ops[pair[1]].prev = Some(pair[0]);
        }
        if let (Some(first), Some(last)) = (order.first(), order.last()) {
            self.ops[*first].prev = None;
            self.ops[*last].next = None;
        }
        self.blocks[block].first = order.first().copied();
        self.blocks[block].last = order.last().copied();
        self.relisted(block);
    }

    /// Erases an operation and all below it. Its results must have no readers outside.
    pub fn erase(&mut self, op: OpId) {
        self.detach(op);
        let mut all = self.walk(op);
        all.push(op);
        for op in &all {
            self.truncate_operands(*op, 0);
            self.ops[*op].parent = None;
        }
        for op in &all {
            debug_assert!(self.ops[*op].results.iter().all(|value| self.values[*value].uses.is_empty()));
            self.ops[*op].regions.clear();
            self.ops[*op].successors.clear();
        }
    }

    /// Moves all blocks of region `from` to the end of region `to`.
    pub fn move_blocks(&mut self, from: RegionId, to: RegionId) {
        self.changes += 1;
        let blocks = std::mem::take(&mut self.regions[from].blocks);
        for block in &blocks {
            self.blocks[*block].parent = to;
        }
        self.regions[to].blocks.extend(blocks);
        self.reblocked(from);
        self.reblocked(to);
    }

    fn link(&mut self, block: BlockId, prev: Option<OpId>, op: OpId, next: Option<OpId>) {
        debug_assert!(self.ops[op].parent.is_none(), "detach before inserting");
        self.changes += 1;
        self.ops[op].parent = Some(block);
        self.ops[op].prev = prev;
        self.ops[op].next = next;
        match prev {
            Some(prev) => self.ops[prev].next = Some(op),
            None => self.blocks[block].first = Some(op),
        }
        match next {
            Some(next) => self.ops[next].prev = Some(op),
            None => self.blocks[block].last = Some(op),
        }
        self.relisted(block);
    }

    fn add_use(&mut self, value: ValueId, usage: Use) -> u32 {
        self.changes += 1;
        let uses = &mut self.values[value].uses;
        uses.push(usage);
        uses.len() as u32 - 1
    }

    fn drop_use(&mut self, op: OpId, index: usize) {
        let Operand { value, slot } = self.ops[op].operands[index];
        let uses = &mut self.values[value].uses;
        uses.swap_remove(slot as usize);
        if let Some(moved) = uses.get(slot as usize) {
            self.ops[moved.op].operands[moved.operand as usize].slot = slot;
        }
    }
}

/// Inserts into sorted attributes, replacing an equal key; returns whether that changed anything.
fn put(names: &Names, attrs: &mut Attrs, key: Name, value: Attr) -> bool {
    match attrs.binary_search_by(|(name, _)| names.text(*name).cmp(names.text(key))) {
        Ok(at) if attrs[at].1 == value => return false,
        Ok(at) => attrs[at].1 = value,
        Err(at) => attrs.insert(at, (key, value)),
    }
    true
}
