//! The order of a table that says at which steps operations start.
//!
//! Steps count operations in textual order, bodies inside, constants and terminators not. Operations without a step of their own (what they make
//! takes no bytes) stand where room is left for them, in the order of the source. Whether the outcome means the same is for the checker.

use crate::exit::Failure;
use neap_ir::facts::{Facts, Role, Run};
use neap_ir::{BlockId, Module, OpId, ValueId};
use neap_passes::analysis::names::op_name;
use neap_passes::callees::facts_of;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a table says of time.
#[derive(Default)]
pub(super) struct Times {
    /// The first step of operations, where it is said.
    pub(super) steps: FxHashMap<OpId, u32>,
    /// One past the last step of the storages of values, where it is said.
    pub(super) ends: FxHashMap<ValueId, u32>,
}

/// Brings all functions into the order of the steps.
///
/// # Errors
/// Two operations that start at one step, or one that starts where another one still runs.
pub(super) fn set(module: &mut Module, facts: &Facts, times: &Times) -> Result<(), Failure> {
    if times.steps.is_empty() {
        return Ok(());
    }
    for func in module.functions() {
        let Some(entry) = module.entry(func) else { continue };
        let mut todo = vec![(entry, 0)];
        // A block after the one around it: its first step is known then.
        while let Some((block, begin)) = todo.pop() {
            let order = ordered(module, facts, times, block, begin)?;
            module.set_block_order(block, &order);
            let mut step = begin;
            for op in order {
                let mut inside = step + u32::from(counts(module, facts, block, op));
                step += length(module, facts, block, op);
                if is_kernel(module, facts, op) {
                    continue;
                }
                let bodies: Vec<BlockId> =
                    module.op_regions(op).iter().flat_map(|region| module.blocks(*region)).copied().collect();
                for body in bodies {
                    todo.push((body, inside));
                    let ops: Vec<OpId> = module.block_ops(body).collect();
                    inside += ops.into_iter().map(|op| length(module, facts, body, op)).sum::<u32>();
                }
            }
        }
    }
    Ok(())
}

/// Whether an operation has a step.
fn counts(module: &Module, facts: &Facts, block: BlockId, op: OpId) -> bool {
    facts_of(module, facts, op).role != Role::Constant && module.terminator(block) != Some(op)
}

/// The steps of an operation and its bodies.
fn length(module: &Module, facts: &Facts, block: BlockId, op: OpId) -> u32 {
    let mut steps = u32::from(counts(module, facts, block, op));
    let mut kernels: FxHashSet<OpId> = FxHashSet::default();
    for inner in std::iter::once(op).chain(module.walk(op)) {
        let around = module.parent_op(inner).filter(|around| inner != op && kernels.contains(around));
        if around.is_some() || is_kernel(module, facts, inner) {
            kernels.insert(inner);
        }
        if inner != op && around.is_none() {
            steps += u32::from(module.parent_block(inner).is_some_and(|body| counts(module, facts, body, inner)));
        }
    }
    steps
}

/// Whether the bodies of an operation are no steps of the function's.
fn is_kernel(module: &Module, facts: &Facts, op: OpId) -> bool {
    facts_of(module, facts, op).body.run == Run::Kernel
}

fn ordered(module: &Module, facts: &Facts, times: &Times, block: BlockId, begin: u32) -> Result<Vec<OpId>, Failure> {
    let steps = &times.steps;
    let ops: Vec<OpId> = module.block_ops(block).collect();
    let (counted, others): (Vec<OpId>, Vec<OpId>) = ops.iter().partition(|op| counts(module, facts, block, **op));
    let mut pinned: Vec<(u32, OpId)> = counted.iter().filter_map(|op| Some((steps.get(op).copied()?, *op))).collect();
    pinned.sort_unstable();
    let mut free: Vec<OpId> = counted.iter().copied().filter(|op| !steps.contains_key(op)).collect();
    let last = module.terminator(block);
    let mut order: Vec<OpId> = others.iter().copied().filter(|op| Some(*op) != last).collect();
    let inside: FxHashSet<OpId> = counted.iter().copied().collect();
    let needed = needed(module, facts, block, &counted, times);
    let mut done: FxHashSet<OpId> = FxHashSet::default();
    let (mut step, mut next) = (begin, pinned.into_iter().peekable());
    while next.peek().is_some() || !free.is_empty() {
        let op = match next.peek().copied() {
            Some((at, op)) if at == step => {
                next.next();
                op
            }
            Some((at, op)) if at < step => {
                let what = format!("{} starts at step {at}, where another operation runs", op_name(module, op));
                return Err(Failure::input(what).help("the steps of the table are those of no order"));
            }
            pinned => {
                let room = pinned.map_or(u32::MAX, |(at, _)| at - step);
                // Effects stay in the order of the source.
                let first = free.iter().copied().find(|op| effects(module, facts, *op));
                let late = |op: OpId| effects(module, facts, op) && first != Some(op);
                let waits = |op: OpId| late(op) || waits(module, op, &inside, &done);
                let fits = |op: &OpId| length(module, facts, block, *op) <= room && !waits(*op);
                // What is needed soonest first, then the order of the source.
                let ready = free.iter().enumerate().filter(|(_, op)| fits(op));
                let found =
                    ready.min_by_key(|(at, op)| (needed.get(op).copied().unwrap_or(u32::MAX), *at)).map(|(at, _)| at);
                let found = found.or(if room == u32::MAX { Some(0) } else { None });
                let Some(found) = found else {
                    let what = format!("no operation can run at step {step} of the table");
                    return Err(Failure::input(what).help("the steps of the table are those of no order"));
                };
                free.remove(found)
            }
        };
        step += length(module, facts, block, op);
        done.insert(op);
        order.push(op);
    }
    order.extend(last);
    Ok(order)
}

/// Whether an operation may touch more than its operands and results.
fn effects(module: &Module, facts: &Facts, op: OpId) -> bool {
    let row = facts_of(module, facts, op);
    !row.is_pure() || !row.body.callees.is_empty()
}

/// Whether an operation reads, itself or in its bodies, what is not there yet.
fn waits(module: &Module, op: OpId, inside: &FxHashSet<OpId>, done: &FxHashSet<OpId>) -> bool {
    let all = std::iter::once(op).chain(module.walk(op));
    let mut makers =
        all.flat_map(|op| module.operands(op).collect::<Vec<_>>()).filter_map(|value| module.defining_op(value));
    makers.any(|maker| maker != op && inside.contains(&maker) && !done.contains(&maker))
}

/// The step before which an operation without a step of its own has to run: somebody needs what it makes, or what it reads is gone.
fn needed(module: &Module, facts: &Facts, block: BlockId, ops: &[OpId], times: &Times) -> FxHashMap<OpId, u32> {
    let steps = &times.steps;
    let here = |mut op: OpId| {
        while module.parent_block(op) != Some(block) {
            op = module.parent_op(op)?;
        }
        Some(op)
    };
    let mut found: FxHashMap<OpId, u32> = FxHashMap::default();
    // Readers stand behind what they read; an effect is needed by the one behind it.
    let mut behind: Option<u32> = None;
    for op in ops.iter().rev() {
        let readers = module.results(*op).iter().flat_map(|value| module.value(*value).uses());
        let readers = readers.filter_map(|usage| here(usage.op)).collect::<Vec<OpId>>();
        let first = readers.iter().filter_map(|reader| steps.get(reader).or_else(|| found.get(reader))).min().copied();
        let effects = effects(module, facts, *op);
        let first = if effects { first.into_iter().chain(behind).min() } else { first };
        let inside = module.walk(*op);
        let read = std::iter::once(op).chain(&inside).flat_map(|op| module.operands(*op));
        let first = first.into_iter().chain(read.filter_map(|value| times.ends.get(&value).copied())).min();
        if effects {
            behind = steps.get(op).copied().into_iter().chain(first).chain(behind).min();
        }
        found.extend(first.map(|step| (*op, step)));
    }
    found
}
