//! Cancels operations that only move elements where the movements add up to nothing, block by block, by equality saturation.

use super::extract::{Choice, extract};
use super::member::{Members, movement};
use super::term::{Graph, Tables, Term, laws};
use crate::callees::facts_of;
use crate::pass::Context;
use crate::shape::Shaped;
use egg::{Id, Runner, SimpleScheduler};
use neap_ir::facts::{Key, Role};
use neap_ir::{Attr, BlockId, Module, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Duration;

/// Rounds of the laws: chains of movements double their reach with each.
const ROUNDS: usize = 40;
/// Terms per operation of the block.
const TERMS: usize = 40;

/// What an operation does to the elements of one operand.
pub(super) enum Movement {
    /// The same bits.
    Bits(ValueId),
    /// Dimension `i` of the result is dimension `perm[i]` of the operand.
    Perm(ValueId, Vec<u32>),
}

/// Simplifies a block; returns whether anything changed.
pub(super) fn simplify(module: &mut Module, block: BlockId, members: &Members, cx: &mut Context<'_>) -> bool {
    let ops: Vec<OpId> = module.block_ops(block).filter(|op| members.contains(*op)).collect();
    if !ops.iter().any(|op| movement(module, cx.facts, *op).is_some()) {
        return false;
    }
    let terms = Terms::of(module, cx, &ops);
    let Terms { graph, leaves, classes } = terms;
    let limit = TERMS.saturating_mul(ops.len()).saturating_add(1_000);
    // Limits count rounds and terms; egg's default of five seconds would make the result depend on the machine.
    let runner = Runner::<Term, Tables, ()>::new(Tables::default())
        .with_egraph(graph)
        .with_iter_limit(ROUNDS)
        .with_node_limit(limit)
        .with_time_limit(Duration::MAX)
        .with_scheduler(SimpleScheduler)
        .run(&laws());
    let terms = Terms { graph: runner.egraph, leaves, classes };
    terms.apply(module, block, &ops, cx)
}

struct Terms {
    graph: Graph,
    leaves: Vec<ValueId>,
    /// The class of each operation, as made.
    classes: Vec<Id>,
}

/// What stands behind a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The value of a leaf.
    Leaf(usize),
    /// An operation as it is.
    Op(usize),
    /// An operation that moves elements, on another operand and by another permutation.
    Moved(usize, u32, Id),
}

impl Terms {
    fn of(module: &Module, cx: &Context<'_>, ops: &[OpId]) -> Terms {
        let mut tables = Tables::default();
        let mut known: FxHashSet<ValueId> = FxHashSet::default();
        let results: FxHashSet<ValueId> = ops.iter().map(|op| module.results(*op)[0]).collect();
        let mut leaves = Vec::new();
        for value in ops.iter().flat_map(|op| module.operands(*op)).filter(|value| !results.contains(value)) {
            if known.insert(value) {
                leaves.push(value);
            }
        }
        tables.leaves = leaves.iter().map(|value| module.value_ty(*value)).collect();
        tables.ops = ops.iter().map(|op| module.value_ty(module.results(*op)[0])).collect();
        for value in leaves.iter().copied().chain(results.iter().copied()) {
            if let Some(shape) = Shaped::of(module, value) {
                tables.dims.insert(module.value_ty(value), shape.dims.to_vec());
            }
        }
        let mut graph = Graph::new(tables);
        let mut class: FxHashMap<ValueId, Id> = FxHashMap::default();
        for (at, value) in leaves.iter().enumerate() {
            class.insert(*value, graph.add(Term::Leaf(at as u32)));
        }
        let mut classes = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            let result = module.results(*op)[0];
            let children = module.operands(*op).map(|value| class[&value]).collect();
            let mut id = graph.add(Term::Op(at as u32, children));
            let moved = movement(module, cx.facts, *op).map(|movement| match movement {
                Movement::Bits(from) => Term::Bits(module.value_ty(result), [class[&from]]),
                Movement::Perm(from, perm) => {
                    let number = graph.analysis.number(&perm);
                    Term::Perm(number, module.value_ty(result), [class[&from]])
                }
            });
            if let Some(moved) = moved {
                let moved = graph.add(moved);
                graph.union(id, moved);
                id = graph.find(id);
            }
            class.insert(result, id);
            classes.push(id);
        }
        graph.rebuild();
        Terms { graph, leaves, classes }
    }

    /// Rewrites the block to what extraction picks.
    fn apply(&self, module: &mut Module, block: BlockId, ops: &[OpId], cx: &mut Context<'_>) -> bool {
        let (choices, sources) = self.choices(module, ops, cx);
        let picked = extract(&choices, &self.roots(module, ops));
        let source = |class: Id| picked.get(&self.graph.find(class)).map(|at| sources[&self.graph.find(class)][*at]);
        let value = |module: &Module, class: Id| match source(class) {
            Some(Source::Leaf(leaf)) => Some(self.leaves[leaf]),
            Some(Source::Op(at) | Source::Moved(at, ..)) => Some(module.results(ops[at])[0]),
            None => None,
        };
        let handed_out = handed_out(module, block);
        let index: FxHashMap<OpId, usize> = ops.iter().enumerate().map(|(at, op)| (*op, at)).collect();
        let earlier = |module: &Module, at: usize, value: ValueId| {
            module.defining_op(value).and_then(|op| index.get(&op)).is_none_or(|position| *position < at)
        };
        let mut unread = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            let result = module.results(*op)[0];
            match source(self.classes[at]) {
                Some(Source::Moved(own, perm, child)) if own == at => {
                    let Some(root) = value(module, child) else { continue };
                    unread.extend(turn(module, cx, *op, root, self.graph.analysis.perm(perm)));
                    cx.count("composed", 1);
                    cx.remark(
                        module,
                        *op,
                        format!("`{}` does what it and those before it do together", module.op_name(*op)),
                    );
                }
                Some(Source::Op(own)) if own == at => {}
                _ => {
                    let Some(new) = value(module, self.classes[at]).filter(|new| earlier(module, at, *new)) else {
                        continue;
                    };
                    // A function hands out what it made itself, not its argument or a constant.
                    if handed_out.contains(&result) && !made_here(module, cx, new)
                        || module.value(result).uses().is_empty()
                    {
                        continue;
                    }
                    cx.count("cancelled", 1);
                    cx.remark(module, *op, format!("`{}` gives what is there already", module.op_name(*op)));
                    module.replace_uses(result, new);
                    unread.push(*op);
                }
            }
        }
        let changed = !unread.is_empty();
        sweep(module, ops, &unread);
        changed
    }

    /// Values that somebody reads who is no term of this block.
    fn roots(&self, module: &Module, ops: &[OpId]) -> Vec<Id> {
        let own: FxHashSet<OpId> = ops.iter().copied().collect();
        let outside =
            |op: &OpId| module.value(module.results(*op)[0]).uses().iter().any(|usage| !own.contains(&usage.op));
        let classes =
            ops.iter().zip(&self.classes).filter(|(op, _)| outside(op)).map(|(_, class)| self.graph.find(*class));
        let unique: std::collections::BTreeSet<Id> = classes.collect();
        unique.into_iter().collect()
    }

    fn choices(
        &self,
        module: &Module,
        ops: &[OpId],
        cx: &Context<'_>,
    ) -> (FxHashMap<Id, Vec<Choice>>, FxHashMap<Id, Vec<Source>>) {
        let (mut choices, mut sources) = (FxHashMap::default(), FxHashMap::default());
        for class in self.graph.classes() {
            let mut list: Vec<(Source, Choice)> = Vec::new();
            for term in &class.nodes {
                let children: Vec<Id> =
                    egg::Language::children(term).iter().map(|child| self.graph.find(*child)).collect();
                match term {
                    Term::Leaf(leaf) => list.push((Source::Leaf(*leaf as usize), Choice { cost: 0, children })),
                    Term::Op(at, _) => {
                        let cost = cost(module, cx, ops[*at as usize]);
                        list.push((Source::Op(*at as usize), Choice { cost, children }));
                    }
                    _ => {}
                }
            }
            self.moved(module, ops, cx, class, &mut list);
            list.sort_by_key(|(source, _)| order(source));
            choices.insert(class.id, list.iter().map(|(_, choice)| choice.clone()).collect());
            sources.insert(class.id, list.into_iter().map(|(source, _)| source).collect::<Vec<_>>());
        }
        (choices, sources)
    }

    /// An operation of the class whose permutation is an attribute can do any other permutation of the class.
    fn moved(
        &self,
        module: &Module,
        ops: &[OpId],
        cx: &Context<'_>,
        class: &egg::EClass<Term, neap_ir::Ty>,
        list: &mut Vec<(Source, Choice)>,
    ) {
        let turns = |source: &Source| match source {
            Source::Op(at) if permutes_by_attribute(module, cx, ops[*at]) => Some(*at),
            _ => None,
        };
        let Some(at) = list.iter().find_map(|(source, _)| turns(source)) else { return };
        let (cost, own) = (cost(module, cx, ops[at]), self.graph.find(self.child(module, cx, ops, at)));
        for term in &class.nodes {
            if let Term::Perm(perm, _, [child]) = term
                && self.graph.find(*child) != own
            {
                let child = self.graph.find(*child);
                list.push((Source::Moved(at, *perm, child), Choice { cost, children: vec![child] }));
            }
        }
    }

    /// The class of what operation `at` moves.
    fn child(&self, module: &Module, cx: &Context<'_>, ops: &[OpId], at: usize) -> Id {
        let index = facts_of(module, cx.facts, ops[at]).data_operand();
        let term = self.graph[self.graph.find(self.classes[at])].nodes.iter().find_map(|term| match term {
            Term::Op(op, children) if *op as usize == at => children.get(index).copied(),
            _ => None,
        });
        term.unwrap_or(self.classes[at])
    }
}

/// Earlier values first, so that of equally good ones the first to be there is taken.
fn order(source: &Source) -> (u8, usize, u32) {
    match source {
        Source::Leaf(leaf) => (0, *leaf, 0),
        Source::Op(at) => (1, *at, 0),
        Source::Moved(at, perm, _) => (1, *at, perm + 1),
    }
}

/// Bytes made and work done. Work on each byte of a heavy operation counts a thousandfold: it is never worth doing again.
fn cost(module: &Module, cx: &Context<'_>, op: OpId) -> u64 {
    let row = facts_of(module, cx.facts, op);
    let bytes = module.value_bytes(module.results(op)[0]).unwrap_or(u64::MAX / 4096);
    let times = match row.role {
        Role::Reshape => 0,
        Role::Conv | Role::Matmul | Role::Opaque | Role::Other => 1_000,
        _ => 2,
    };
    bytes.saturating_mul(times).saturating_add(1)
}

fn permutes_by_attribute(module: &Module, cx: &Context<'_>, op: OpId) -> bool {
    let row = facts_of(module, cx.facts, op);
    let by = row.param(Key::Perm).filter(|param| param.operand.is_none()).and_then(|param| param.attr.as_deref());
    row.role == Role::Transpose
        && by.is_some_and(|key| module.attr(op, key).is_some_and(|attr| attr.as_i64s().is_some()))
}

/// Gives a transpose another operand and permutation; the attribute keeps its form. Returns what it read from before.
fn turn(module: &mut Module, cx: &Context<'_>, op: OpId, from: ValueId, perm: &[u32]) -> Option<OpId> {
    let row = facts_of(module, cx.facts, op);
    let key = row.param(Key::Perm).and_then(|param| param.attr.as_deref())?;
    let values: Vec<i64> = perm.iter().map(|axis| i64::from(*axis)).collect();
    let attr = match module.attr(op, key) {
        Some(Attr::DenseInts { elem, .. }) => Attr::DenseInts { elem: *elem, values },
        Some(Attr::Array(items)) => {
            let ty = items.iter().find_map(|item| if let Attr::Int { ty, .. } = item { Some(*ty) } else { None });
            let ty = ty?;
            Attr::Array(values.iter().map(|value| Attr::Int { value: i128::from(*value), ty }).collect())
        }
        _ => return None,
    };
    let before = module.defining_op(module.operand(op, row.data_operand()));
    module.set_attr(op, key, attr);
    module.set_operand(op, row.data_operand(), from);
    before
}

/// Values that the block's terminator hands on.
fn handed_out(module: &Module, block: BlockId) -> FxHashSet<ValueId> {
    module.terminator(block).into_iter().flat_map(|op| module.operands(op)).collect()
}

fn made_here(module: &Module, cx: &Context<'_>, value: ValueId) -> bool {
    module.defining_op(value).is_some_and(|op| facts_of(module, cx.facts, op).role != Role::Constant)
}

/// Erases what lost its last reader: among `unread`, and those that only they read from.
fn sweep(module: &mut Module, ops: &[OpId], unread: &[OpId]) {
    let mut open: FxHashSet<OpId> = unread.iter().copied().collect();
    let own: FxHashSet<OpId> = ops.iter().copied().collect();
    for op in ops.iter().rev() {
        let read = !module.value(module.results(*op)[0]).uses().is_empty();
        if read || !open.contains(op) {
            continue;
        }
        open.extend(
            module.operands(*op).filter_map(|value| module.defining_op(value)).filter(|from| own.contains(from)),
        );
        module.erase(*op);
    }
}
