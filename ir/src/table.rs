//! Tables by the number of a value or an operation, for one function of a module that may have very many.
//!
//! A function that is a good part of its module gets a plain list. A small one among many gets a map: a list as long as the module for each of
//! its functions would be quadratic.

use crate::module::{Module, OpId, ValueId};
use rustc_hash::FxHashMap;
use std::ops::{Index, IndexMut};

/// From this share of the module on, a list is cheaper.
const SHARE: usize = 16;

/// A table; what was never set is `none`.
#[derive(Debug)]
pub struct Table<T> {
    list: Vec<T>,
    map: FxHashMap<usize, T>,
    none: T,
}

impl<T: Clone> Table<T> {
    /// A table for `own` of `all` entries.
    fn new(all: usize, own: usize, none: T) -> Table<T> {
        let list = if own.saturating_mul(SHARE) >= all { vec![none.clone(); all] } else { Vec::new() };
        Table { list, map: FxHashMap::default(), none }
    }

    /// A table of the values of an operation and of all below it.
    pub fn of_values(module: &Module, root: OpId, none: T) -> Table<T> {
        let args = |op: OpId| module.op_regions(op).iter().flat_map(|region| module.blocks(*region));
        let count =
            |op: OpId| module.results(op).len() + args(op).map(|block| module.block_args(*block).len()).sum::<usize>();
        let own = count(root) + module.walk(root).into_iter().map(count).sum::<usize>();
        Table::new(module.value_count(), own, none)
    }

    /// A table of the operations of a function, each of which is set.
    pub fn of_ops(module: &Module, func: OpId, none: T) -> Table<T> {
        let ops = module.walk(func);
        let mut table = Table::new(module.op_count(), ops.len() + 1, none.clone());
        if table.list.is_empty() {
            table.map = ops.into_iter().chain([func]).map(|op| (number(op), none.clone())).collect();
        }
        table
    }

    /// The entry, if there is one.
    pub fn get(&self, at: usize) -> Option<&T> {
        if self.list.is_empty() { self.map.get(&at) } else { self.list.get(at) }
    }
}

/// The index of an operation in tables.
pub fn number(op: OpId) -> usize {
    op.into_raw().into_u32() as usize
}

/// The index of a value in tables.
pub fn value_number(value: ValueId) -> usize {
    value.into_raw().into_u32() as usize
}

impl<T: Clone> Index<usize> for Table<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        self.get(at).unwrap_or(&self.none)
    }
}

impl<T: Clone> IndexMut<usize> for Table<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        let none = &self.none;
        if self.list.is_empty() { self.map.entry(at).or_insert_with(|| none.clone()) } else { &mut self.list[at] }
    }
}
