//! Rewrites a block to the cheapest graph that the laws allow, by equality saturation.

use super::extract::{Choice, extract};
use super::law::{Law, rewrites};
use super::make::{Patterns, make, take_over};
use super::movement::{Movement, movement};
use super::term::{Form, Graph, Tables, Term};
use super::translate::{Terms, may_be_neutral, terms};
use crate::callees::facts_of;
use crate::pass::Context;
use egg::{Id, Runner, SimpleScheduler};
use neap_ir::facts::Role;
use neap_ir::{BlockId, Dim, Module, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Duration;

/// Rounds of the laws: chains of movements double their reach with each.
const ROUNDS: usize = 40;
/// Terms per operation of the block.
const TERMS: usize = 40;

/// What stands behind a choice.
#[derive(Clone, PartialEq, Eq)]
enum Source {
    /// The value of a leaf.
    Leaf(usize),
    /// An operation as it is.
    Op(usize),
    /// An operation to be made for a term, like one that is there.
    Made(OpId, Term),
}

/// What a block is to become.
pub(super) struct Plan {
    terms: Terms,
    sources: FxHashMap<Id, Source>,
    /// Whether anything changes.
    pub(super) changes: bool,
    /// Whether what changes is more than movements that are nothing or become one: then values may live longer than before.
    pub(super) doubtful: bool,
}

/// Whether the laws have anything to begin with.
pub(super) fn worthwhile(module: &Module, cx: &Context<'_>, ops: &[OpId]) -> bool {
    let mut seen: FxHashSet<(neap_ir::Name, Vec<ValueId>)> = FxHashSet::default();
    ops.iter().any(|op| {
        let row = facts_of(module, cx.facts, *op);
        let begins = matches!(
            row.role,
            Role::Reshape
                | Role::Transpose
                | Role::Slice
                | Role::StridedSlice
                | Role::Concat
                | Role::Pack
                | Role::Split
                | Role::Pad
                | Role::Broadcast
                | Role::Quantize
        );
        // Two equal operations read the same.
        let mut twice = || !seen.insert((module.op(*op).name(), module.operands(*op).collect()));
        begins || may_be_neutral(module, cx, *op) || module.operands(*op).len() > 0 && twice()
    })
}

/// Decides what a block becomes under some laws; with `equal`, equal operations on equal operands are one value.
pub(super) fn plan(module: &mut Module, cx: &Context<'_>, ops: &[OpId], laws: &[Law], equal: bool) -> Plan {
    let Terms { graph, leaves, classes } = still(|| terms(module, cx, ops, equal));
    let limit = TERMS.saturating_mul(ops.len()).saturating_add(1_000);
    // Limits count rounds and terms; egg's default of five seconds would make the result depend on the machine.
    let runner = Runner::<Term, Tables, ()>::new(Tables::default())
        .with_egraph(graph)
        .with_iter_limit(ROUNDS)
        .with_node_limit(limit)
        .with_time_limit(Duration::MAX)
        .with_scheduler(SimpleScheduler);
    let runner = still(|| runner.run(&rewrites(laws)));
    let terms = Terms { graph: runner.egraph, leaves, classes };
    let sources = picked(&terms, module, cx, ops);
    let mut plan = Plan { terms, sources, changes: false, doubtful: false };
    for (at, op) in ops.iter().enumerate() {
        match plan.source(plan.terms.classes[at]) {
            Some(Source::Op(own)) if *own == at => {}
            None => {}
            source => {
                // A value that nobody needs is no change.
                let read = !module.value(module.results(*op)[0]).uses().is_empty();
                let nothing = matches!(movement(module, cx.facts, *op), Some(Movement::Bits(_) | Movement::Perm(..)));
                let turned = matches!(source, Some(Source::Made(_, Term::Perm(..) | Term::Bits(..))));
                let there = matches!(source, Some(Source::Leaf(_) | Source::Op(_)));
                plan.changes |= read;
                plan.doubtful |= read && !(nothing && (turned || there));
            }
        }
    }
    plan
}

/// Runs `work` under a clock that stands still: egg's times go into a report that nobody reads, and setting a true clock up takes longer than
/// most plans do.
fn still<T>(work: impl FnOnce() -> T) -> T {
    quanta::with_clock(&quanta::Clock::mock().0, work)
}

/// What each class is got from.
fn picked(terms: &Terms, module: &Module, cx: &Context<'_>, ops: &[OpId]) -> FxHashMap<Id, Source> {
    let graph = &terms.graph;
    let patterns = Patterns::of(module, cx, ops);
    let (mut choices, mut sources) = (FxHashMap::default(), FxHashMap::default());
    for class in graph.classes() {
        let mut list: Vec<(Source, Choice)> = Vec::new();
        for term in &class.nodes {
            let children: Vec<Id> = egg::Language::children(term).iter().map(|child| graph.find(*child)).collect();
            let (source, cost) = match term {
                Term::Leaf(leaf) => (Source::Leaf(*leaf as usize), 0),
                Term::Op(at, _) => {
                    (Source::Op(*at as usize), cost_of(module, cx, graph, ops[*at as usize], &class.nodes))
                }
                _ => match patterns.like(&graph.analysis, ops, term, class.data) {
                    Some(like) => {
                        (Source::Made(like, term.clone()), cost(module, graph, class.data, term).saturating_add(1))
                    }
                    None => continue,
                },
            };
            list.push((source, Choice { cost, children }));
        }
        // Earlier values first, so that of equally good ones the first to be there is taken.
        list.sort_by_key(|(source, _)| match source {
            Source::Leaf(leaf) => (0, *leaf, None),
            Source::Op(at) => (1, *at, None),
            Source::Made(_, term) => (2, 0, Some(term.clone())),
        });
        choices.insert(class.id, list.iter().map(|(_, choice)| choice.clone()).collect());
        sources.insert(class.id, list.into_iter().map(|(source, _)| source).collect::<Vec<_>>());
    }
    let picked = extract(&choices, &roots(terms, module, ops));
    let mut found = FxHashMap::default();
    let mut classes: Vec<Id> = picked.keys().copied().collect();
    classes.sort_unstable();
    for class in classes {
        let mut list = sources.remove(&class).unwrap_or_default();
        found.insert(class, list.swap_remove(picked[&class]));
    }
    found
}

/// Values that somebody reads who is no term of this block.
fn roots(terms: &Terms, module: &Module, ops: &[OpId]) -> Vec<Id> {
    let own: FxHashSet<OpId> = ops.iter().copied().collect();
    let outside = |op: &OpId| module.value(module.results(*op)[0]).uses().iter().any(|usage| !own.contains(&usage.op));
    let classes =
        ops.iter().zip(&terms.classes).filter(|(op, _)| outside(op)).map(|(_, class)| terms.graph.find(*class));
    let unique: std::collections::BTreeSet<Id> = classes.collect();
    unique.into_iter().collect()
}

/// What an operation costs: bytes made and work done. Work on each byte of a heavy operation counts a thousandfold: it is never worth
/// doing again.
fn cost_of(module: &Module, cx: &Context<'_>, graph: &Graph, op: OpId, class: &[Term]) -> u64 {
    let row = facts_of(module, cx.facts, op);
    let bytes = module.value_bytes(module.results(op)[0]).unwrap_or(MOST);
    match row.role {
        Role::Reshape => 1,
        Role::Conv | Role::Matmul | Role::Opaque | Role::Other => {
            bytes.min(MOST).saturating_mul(1_000).saturating_add(1)
        }
        // What may be a view costs nothing.
        _ if class.iter().any(|term| is_view(graph, term)) && !row.views.is_empty() => 1,
        _ => bytes.min(MOST).saturating_mul(2).saturating_add(1),
    }
}

/// Bytes that a cost counts at most.
const MOST: u64 = u64::MAX / 8_192;

/// What an operation made for a term costs.
fn cost(module: &Module, graph: &Graph, form: Form, term: &Term) -> u64 {
    if matches!(term, Term::Bits(..)) || is_view(graph, term) {
        return 1;
    }
    let sizes = graph.analysis.sizes(form);
    let count = sizes.and_then(|sizes| sizes.iter().try_fold(1u64, |count, size| count.checked_mul(*size)));
    let bits = graph.analysis.elem(form).and_then(|elem| module.elem_bits(elem).ok());
    let bytes = count.zip(bits).and_then(|(count, bits)| Some(count.checked_mul(bits)?.div_ceil(8)));
    bytes.unwrap_or(MOST).min(MOST).saturating_mul(2).saturating_add(1)
}

/// Whether a window's elements are consecutive: one dimension is cut, those before it are taken at one index, those after it in full.
fn is_view(graph: &Graph, term: &Term) -> bool {
    let Term::Cut(window, _, [child]) = term else { return false };
    let Some(dims) = graph.analysis.dims(graph[*child].data) else { return false };
    let spans = graph.analysis.windows.get(*window);
    let cut = spans.iter().position(|span| span.len != 1).unwrap_or(spans.len());
    let whole = |at: usize| dims.get(at) == Some(&Dim::Known(spans[at].len));
    spans.get(cut).is_none_or(|span| span.step == 1) && (cut + 1..spans.len()).all(whole)
}

impl Plan {
    fn source(&self, class: Id) -> Option<&Source> {
        self.sources.get(&self.terms.graph.find(class))
    }

    /// Rewrites the block; returns the operations made.
    pub(super) fn apply(&self, module: &mut Module, block: BlockId, ops: &[OpId], cx: &mut Context<'_>) -> Vec<OpId> {
        let handed_out: FxHashSet<ValueId> =
            module.terminator(block).into_iter().flat_map(|op| module.operands(op)).collect();
        let place = module.block_ops(block).enumerate().map(|(at, op)| (op, at)).collect();
        let mut rewrite = Rewrite { plan: self, ops, place, made: Vec::new(), values: FxHashMap::default() };
        let mut unread = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            let result = module.results(*op)[0];
            let own = matches!(self.source(self.terms.classes[at]), Some(Source::Op(own)) if *own == at);
            if own || module.value(result).uses().is_empty() {
                continue;
            }
            let before = rewrite.made.len();
            let Some(new) = rewrite.value(module, cx, self.terms.classes[at], *op) else { continue };
            // A function hands out what it made itself, not its argument or a constant.
            if new == result || handed_out.contains(&result) && !made_here(module, cx, new) {
                continue;
            }
            let name = module.op_name(*op).to_owned();
            let last = rewrite.made.last().copied().filter(|last| module.results(*last)[0] == new);
            match last.filter(|_| rewrite.made.len() > before) {
                Some(last) => {
                    cx.count("composed", 1);
                    cx.remark(module, *op, format!("`{name}` does what it and those before it do together"));
                    take_over(module, *op, last);
                }
                None => {
                    cx.count("cancelled", 1);
                    cx.remark(module, *op, format!("`{name}` gives what is there already"));
                }
            }
            module.replace_uses(result, new);
            unread.push(*op);
        }
        let made = rewrite.made;
        sweep(module, block, ops, &made, &unread)
    }
}

struct Rewrite<'a> {
    plan: &'a Plan,
    ops: &'a [OpId],
    /// By operation of the block, as it was: its place.
    place: FxHashMap<OpId, usize>,
    made: Vec<OpId>,
    /// By class: what was made for it.
    values: FxHashMap<Id, ValueId>,
}

impl Rewrite<'_> {
    /// The value of a class, with what is missing made right before `before`; none where something it is made of comes later.
    fn value(&mut self, module: &mut Module, cx: &Context<'_>, class: Id, before: OpId) -> Option<ValueId> {
        let graph = &self.plan.terms.graph;
        let mut stack = vec![(graph.find(class), false)];
        while let Some((class, ready)) = stack.pop() {
            if self.known(module, class, before)?.is_some() {
                continue;
            }
            let Source::Made(like, term) = self.plan.source(class)? else { return None };
            let children: Vec<Id> = egg::Language::children(term).iter().map(|child| graph.find(*child)).collect();
            if !ready {
                stack.push((class, true));
                stack.extend(children.into_iter().rev().map(|child| (child, false)));
                continue;
            }
            let mut operands = Vec::new();
            for child in children {
                operands.push(self.known(module, child, before)??);
            }
            let form = graph[class].data;
            let made = make(module, cx, &graph.analysis, (*like, term, form), &operands, before)?;
            self.made.push(made);
            self.values.insert(class, module.results(made)[0]);
        }
        self.known(module, graph.find(class), before)?
    }

    /// The value of a class that is there: `Some(None)` where one has to be made, none where it comes too late.
    fn known(&self, module: &Module, class: Id, before: OpId) -> Option<Option<ValueId>> {
        let value = match self.plan.source(class)? {
            Source::Leaf(leaf) => self.plan.terms.leaves[*leaf],
            Source::Op(at) => *module.results(self.ops[*at]).first()?,
            Source::Made(..) => return Some(self.values.get(&class).copied()),
        };
        let made_by = module.defining_op(value).and_then(|op| self.place.get(&op));
        let early = made_by.is_none_or(|at| self.place.get(&before).is_some_and(|end| at < end));
        early.then_some(Some(value))
    }
}

fn made_here(module: &Module, cx: &Context<'_>, value: ValueId) -> bool {
    module.defining_op(value).is_some_and(|op| facts_of(module, cx.facts, op).role != Role::Constant)
}

/// Erases what lost its last reader: among `unread` and `made`, and those that only they read from. Returns what was made and stays.
fn sweep(module: &mut Module, block: BlockId, ops: &[OpId], made: &[OpId], unread: &[OpId]) -> Vec<OpId> {
    let mut open: FxHashSet<OpId> = unread.iter().chain(made).copied().collect();
    let mut kept: FxHashSet<OpId> = made.iter().copied().collect();
    let own: FxHashSet<OpId> = ops.iter().chain(made).copied().collect();
    let order: Vec<OpId> = module.block_ops(block).filter(|op| own.contains(op)).collect();
    for op in order.iter().rev() {
        if !open.contains(op) || !module.value(module.results(*op)[0]).uses().is_empty() {
            continue;
        }
        open.extend(
            module.operands(*op).filter_map(|value| module.defining_op(value)).filter(|from| own.contains(from)),
        );
        kept.remove(op);
        module.erase(*op);
    }
    order.into_iter().filter(|op| kept.contains(op)).collect()
}
