//! Rule 6: what is read has been defined.
//!
//! One walk over the module in dominator order keeps the set of values in sight: a use is one look-up, whatever the nesting. Blocks that
//! cannot be reached are not looked at, as in MLIR.

use super::Verifier;
use super::domtree::DomTree;
use crate::module::{BlockId, Def, OpId, RegionId, ValueId};
use crate::parse::ISOLATED;
use crate::table::{Table, value_number};

/// Operations in whose regions the order of definitions has no meaning.
pub const GRAPH_REGIONS: &[&str] =
    &["builtin.module", "gpu.module", "hw.module", "ml_program.subgraph", "tf_executor.graph"];

/// So many operations are followed to find a circle.
const MOST_FOLLOWED: usize = 10_000;
/// So many operations of a circle are named.
const MOST_NAMED: usize = 12;

enum Step {
    Ops(Option<OpId>),
    Block(BlockId),
    Region(RegionId),
    /// Forgets the values since a place in the log.
    Forget(usize),
    Results(OpId),
    Isolation(u32),
}

struct Walk {
    stack: Vec<Step>,
    /// By value: the isolated operation within which it is in sight; 0 for none.
    visible: Table<u32>,
    log: Vec<ValueId>,
    isolation: u32,
    isolations: u32,
    trees: Vec<DomTree>,
    tree_of: rustc_hash::FxHashMap<RegionId, usize>,
}

impl Walk {
    fn define(&mut self, value: ValueId) {
        self.visible[value_number(value)] = self.isolation;
        self.log.push(value);
    }
}

impl Verifier<'_> {
    /// Checks the operands of all operations below one that reads nothing from outside.
    pub(super) fn dominance(&mut self, root: OpId) {
        let mut walk = Walk {
            stack: Vec::new(),
            visible: Table::of_values(self.module, root, 0),
            log: Vec::new(),
            isolation: 0,
            isolations: 0,
            trees: Vec::new(),
            tree_of: rustc_hash::FxHashMap::default(),
        };
        self.enter(root, &mut walk);
        while let Some(step) = walk.stack.pop() {
            match step {
                Step::Ops(None) => {}
                Step::Ops(Some(op)) => {
                    walk.stack.push(Step::Ops(self.module.op(op).next()));
                    self.operands(op, &walk);
                    self.enter(op, &mut walk);
                }
                Step::Block(block) => self.block_in_tree(block, &mut walk),
                Step::Region(region) => self.region(region, &mut walk),
                Step::Forget(from) => {
                    for value in walk.log.drain(from..) {
                        walk.visible[value_number(value)] = 0;
                    }
                }
                Step::Results(op) => self.module.results(op).iter().for_each(|value| walk.define(*value)),
                Step::Isolation(isolation) => walk.isolation = isolation,
            }
        }
    }

    fn enter(&mut self, op: OpId, walk: &mut Walk) {
        walk.stack.push(Step::Results(op));
        let regions = self.module.op_regions(op);
        if regions.is_empty() {
            return;
        }
        if ISOLATED.contains(&self.module.op_name(op)) {
            walk.stack.push(Step::Isolation(walk.isolation));
            walk.isolations += 1;
            walk.isolation = walk.isolations;
        }
        walk.stack.extend(regions.iter().rev().map(|region| Step::Region(*region)));
    }

    fn region(&mut self, region: RegionId, walk: &mut Walk) {
        let module = self.module;
        walk.stack.push(Step::Forget(walk.log.len()));
        let blocks = module.blocks(region);
        if GRAPH_REGIONS.contains(&module.op_name(module.region_op(region))) {
            for block in blocks {
                module.block_args(*block).iter().for_each(|value| walk.define(*value));
                module.block_ops(*block).flat_map(|op| module.results(op)).for_each(|value| walk.define(*value));
                walk.stack.push(Step::Ops(module.block_ops(*block).next()));
            }
            return;
        }
        if blocks.len() > 1 {
            walk.tree_of.insert(region, walk.trees.len());
            walk.trees.push(DomTree::of(module, region));
        }
        walk.stack.extend(blocks.first().map(|first| Step::Block(*first)));
    }

    fn block_in_tree(&mut self, block: BlockId, walk: &mut Walk) {
        let module = self.module;
        walk.stack.push(Step::Forget(walk.log.len()));
        if let Some(tree) = walk.tree_of.get(&module.block_region(block)) {
            walk.stack.extend(walk.trees[*tree].children(block).iter().map(|child| Step::Block(*child)));
        }
        module.block_args(block).iter().for_each(|value| walk.define(*value));
        walk.stack.push(Step::Ops(module.block_ops(block).next()));
    }

    fn operands(&mut self, op: OpId, walk: &Walk) {
        for value in self.module.operands(op) {
            if walk.visible[value_number(value)] != walk.isolation {
                self.not_in_sight(op, value);
            }
        }
    }

    fn not_in_sight(&mut self, op: OpId, value: ValueId) {
        let module = self.module;
        let (home, place) = match module.value(value).def() {
            Def::Result(def, _) => (module.parent_block(def), Some(module.op(def).span)),
            Def::Arg(block, _) => (Some(block), None),
        };
        let home = home.map(|block| module.block_region(block));
        let mut around = Some(op);
        let mut same = false;
        while let Some(inner) = around {
            same |= module.parent_block(inner).map(|block| module.block_region(block)) == home;
            around = module.parent_op(inner).filter(|outer| !ISOLATED.contains(&module.op_name(*outer)));
        }
        let circle = match module.value(value).def() {
            Def::Result(def, _) if same => self.circle(op, def),
            _ => None,
        };
        let name = self.value_name(value);
        let why = if same { "does not dominate this use" } else { "is not visible here" };
        let error = self.error(op, format!("`{name}` {why}"));
        if let Some(place) = place.filter(|place| !place.is_none()) {
            error.related.push((place, format!("`{name}` is defined here")));
        }
        error.notes.extend(circle);
    }

    /// The operations that wait for each other, if that is why `op` reads what `def` makes later.
    fn circle(&mut self, op: OpId, def: OpId) -> Option<String> {
        let module = self.module;
        let block = module.parent_block(op)?;
        // Backwards from `def`, breadth first: by operation, who reads it on the way.
        let mut reader: rustc_hash::FxHashMap<OpId, OpId> = rustc_hash::FxHashMap::default();
        let (mut todo, mut at) = (vec![def], 0);
        while let Some(next) = todo.get(at).copied().filter(|_| at < MOST_FOLLOWED) {
            at += 1;
            if next == op {
                let path = std::iter::successors(Some(op), |op| (*op != def).then(|| reader[op]));
                let path: Vec<OpId> = path.take(MOST_NAMED).collect();
                let mut names: Vec<String> = path.into_iter().map(|op| self.short(op)).collect();
                names.push(if names.len() < MOST_NAMED { self.short(op) } else { "..".to_owned() });
                return Some(format!("these wait for each other: {}", names.join(" -> ")));
            }
            for made in module.operands(next).filter_map(|value| module.defining_op(value)) {
                if module.parent_block(made) == Some(block) && made != def && !reader.contains_key(&made) {
                    reader.insert(made, next);
                    todo.push(made);
                }
            }
        }
        None
    }

    /// What an operation is called: its name, else its first result, else its kind.
    fn short(&mut self, op: OpId) -> String {
        let module = self.module;
        let name = module.attr(op, "neap.name").and_then(crate::attr::Attr::as_str);
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            return format!("`{name}`");
        }
        match module.results(op).first() {
            Some(value) => format!("`{}`", self.value_name(*value)),
            None => format!("`{}`", module.op_name(op)),
        }
    }
}
