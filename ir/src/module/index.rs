//! What stands in the module body, by symbol and by kind, so that a lookup costs the same however many functions there are.
//!
//! The table is made when it is first asked for and dropped by every change of the body's list or of a name in it; `edit.rs` is the only
//! place where such a change can happen.

use super::{BlockId, Module, OpId, RegionId};
use crate::attr::Attr;
use crate::name::Name;
use rustc_hash::FxHashMap;

/// Operations of the module body.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The first operation of each symbol name.
    by_symbol: FxHashMap<Box<str>, OpId>,
    /// All operations of a kind, in order.
    by_kind: FxHashMap<Name, Vec<OpId>>,
}

impl Module {
    /// The operation of the module body that defines a symbol.
    pub fn symbol(&self, name: &str) -> Option<OpId> {
        crate::work::count(1);
        self.index().by_symbol.get(name).copied()
    }

    /// Operations of one kind in the module body, in order: `neap.arena`, `neap.var`, ..
    pub fn declared(&self, kind: &str) -> &[OpId] {
        let found = self.names.get(kind).and_then(|kind| self.index().by_kind.get(&kind));
        found.map_or(&[], Vec::as_slice)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            for op in self.block_ops(self.body()) {
                if let Some(name) = self.attr(op, "sym_name").and_then(Attr::as_str) {
                    index.by_symbol.entry(name.into()).or_insert(op);
                }
                index.by_kind.entry(self.ops[op].name).or_default().push(op);
            }
            index
        })
    }

    /// A block's list of operations has changed.
    pub(super) fn relisted(&mut self, block: BlockId) {
        if self.index.get().is_some() && self.region_is_top(self.blocks[block].parent) {
            self.index.take();
        }
    }

    /// The kind or the name of an operation has changed.
    pub(super) fn renamed(&mut self, op: OpId) {
        if let Some(block) = self.ops[op].parent {
            self.relisted(block);
        }
    }

    /// A region's list of blocks has changed.
    pub(super) fn reblocked(&mut self, region: RegionId) {
        if self.index.get().is_some() && self.region_is_top(region) {
            self.index.take();
        }
    }

    fn region_is_top(&self, region: RegionId) -> bool {
        self.regions[region].parent == self.top
    }
}

#[cfg(test)]
mod tests {
    use crate::attr::Attr;
    use crate::module::{Module, OpId, OpSpec};

    fn declare(module: &mut Module, kind: &str, name: &str) -> OpId {
        let op = module.create(OpSpec { name: kind, attrs: vec![("sym_name", Attr::str(name))], ..OpSpec::default() });
        let body = module.body();
        module.append(body, op);
        op
    }

    #[test]
    fn what_is_looked_up_follows_every_change_of_the_body() {
        let mut module = Module::new();
        assert_eq!(module.symbol("a"), None);
        let a = declare(&mut module, "neap.arena", "a");
        let b = declare(&mut module, "neap.var", "b");
        assert_eq!((module.symbol("a"), module.symbol("b")), (Some(a), Some(b)));
        assert_eq!((module.declared("neap.arena"), module.declared("neap.class")), (&[a][..], &[][..]));

        module.set_attr(b, "sym_name", Attr::str("c"));
        assert_eq!((module.symbol("b"), module.symbol("c")), (None, Some(b)));
        module.set_op_name(b, "neap.arena");
        assert_eq!(module.declared("neap.arena"), [a, b]);
        module.set_block_order(module.body(), &[b, a]);
        assert_eq!(module.declared("neap.arena"), [b, a]);
        module.remove_attr(b, "sym_name");
        assert_eq!(module.symbol("c"), None);
        module.set_prop(b, "sym_name", Attr::str("d"));
        assert_eq!(module.symbol("d"), Some(b));
        module.detach(a);
        assert_eq!((module.symbol("a"), module.declared("neap.arena")), (None, &[b][..]));
        module.insert_before(b, a);
        assert_eq!((module.symbol("a"), module.declared("neap.arena")), (Some(a), &[a, b][..]));
        module.erase(b);
        assert_eq!((module.symbol("d"), module.declared("neap.arena")), (None, &[a][..]));
    }

    #[test]
    fn the_first_of_two_equal_names_is_found() {
        let mut module = Module::new();
        let first = declare(&mut module, "neap.var", "a");
        declare(&mut module, "neap.var", "a");
        assert_eq!(module.symbol("a"), Some(first));
    }
}
