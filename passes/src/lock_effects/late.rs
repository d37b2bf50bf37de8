//! Readers of a view of state that come after a write of that state.
//!
//! The view stands for the content at the time of the read. So either the write moves behind the reader, together with all between
//! them that depends on it, or, where the reader is one of those, the view becomes a copy. Moving keeps every dependency: what moves
//! keeps its order, and nothing that stays depends on what moves.

use crate::effects::{FuncEffects, Resource};
use crate::locks::{Flow, candidates, is_terminator, positions};
use crate::pass::Context;
use neap_ir::facts::{Access, Key};
use neap_ir::{BlockId, Module, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Resolves all conflicts of a function, by moves where they are wanted and possible; returns whether anything changed.
pub(super) fn resolve(module: &mut Module, func: OpId, moves: bool, cx: &mut Context<'_>) -> bool {
    let mut changed = false;
    let mut effects = FuncEffects::of(module, cx.facts, func);
    for (read, name) in views_of_state(module, func, &effects) {
        let Some(conflict) = conflict(module, &effects, read, &name) else { continue };
        let movable = if moves { conflict.movable(module, func, cx) } else { None };
        match movable {
            Some(moved) => conflict.delay(module, &moved, cx),
            None => conflict.copy(module, read, moves, cx),
        }
        effects = FuncEffects::of(module, cx.facts, func);
        changed = true;
    }
    changed
}

/// Reads declared as views, with their variable, in the order of the function.
fn views_of_state(module: &Module, func: OpId, effects: &FuncEffects) -> Vec<(OpId, Box<str>)> {
    if effects.aliases.is_empty() {
        return Vec::new();
    }
    // The roots: aliases whose operation has no operand that is one.
    let root = |op: &OpId| module.data_operands(*op).all(|value| !effects.aliases.contains_key(&value));
    let named = |op: OpId| {
        let found = module.data_results(op).iter().find_map(|result| effects.aliases.get(result));
        found.map(|name| (op, name.clone()))
    };
    module.walk(func).into_iter().filter(root).filter_map(named).collect()
}

/// A write of the state that stands before a reader of the view, in the block of the read.
struct Conflict {
    block: BlockId,
    name: Box<str>,
    write: OpId,
    /// Readers behind the write, in order.
    readers: Vec<OpId>,
}

fn conflict(module: &Module, effects: &FuncEffects, read: OpId, name: &str) -> Option<Conflict> {
    let block = module.parent_block(read)?;
    let writes = |op: &OpId| {
        effects.get(*op).is_some_and(|effects| {
            let hit = |resource: &Resource| match resource {
                Resource::Variable(other) => **other == *name,
                Resource::AnyVariable | Resource::All => true,
                _ => false,
            };
            effects.iter().any(|(resource, access)| *access == Access::Write && hit(resource))
        })
    };
    let write = std::iter::successors(module.op(read).next(), |op| module.op(*op).next()).find(writes)?;
    let readers: FxHashSet<OpId> = readers(module, effects, read, block);
    let behind = std::iter::successors(module.op(write).next(), |op| module.op(*op).next());
    let readers: Vec<OpId> = behind.filter(|op| readers.contains(op)).collect();
    (!readers.is_empty()).then(|| Conflict { block, name: name.into(), write, readers })
}

/// The operations of `block` that read, themselves or in their bodies, the view made by `read` or an alias of it.
fn readers(module: &Module, effects: &FuncEffects, read: OpId, block: BlockId) -> FxHashSet<OpId> {
    let mut found = FxHashSet::default();
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut open: Vec<ValueId> = module.data_results(read).to_vec();
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        for usage in module.value(value).uses() {
            let mut op = Some(usage.op);
            while let Some(inner) = op.filter(|op| module.parent_block(*op) != Some(block)) {
                op = module.parent_op(inner);
            }
            found.extend(op);
            let args = module
                .op_regions(usage.op)
                .iter()
                .flat_map(|region| module.blocks(*region))
                .flat_map(|block| module.block_args(*block));
            let further = module.results(usage.op).iter().chain(args);
            open.extend(further.copied().filter(|value| effects.aliases.contains_key(value)));
        }
    }
    found
}

impl Conflict {
    /// What has to move with the write, in order; `None` if a reader is among it or nothing may come behind the last reader.
    fn movable(&self, module: &Module, func: OpId, cx: &Context<'_>) -> Option<Vec<OpId>> {
        let last = *self.readers.last()?;
        if is_terminator(module, cx.facts, last) {
            return None;
        }
        // The reads of the view itself do not wait for the write, so effects are taken without them.
        let effects = FuncEffects::without_aliases(module, cx.facts, func);
        let flow = Flow::of(module, func);
        let mut waits: FxHashMap<OpId, Vec<OpId>> = FxHashMap::default();
        for lock in candidates(module, cx.facts, self.block, &effects) {
            waits.entry(lock.after).or_default().push(lock.before);
        }
        let mut moved = vec![self.write];
        let mut moves = FxHashSet::from_iter([self.write]);
        for op in std::iter::successors(module.op(self.write).next(), |op| module.op(*op).next()) {
            let before = flow.read_by(op).iter().chain(waits.get(&op).into_iter().flatten());
            if before.into_iter().any(|before| moves.contains(before)) {
                moves.insert(op);
                moved.push(op);
            }
            if op == last {
                break;
            }
        }
        self.readers.iter().all(|reader| !moves.contains(reader)).then_some(moved)
    }

    fn delay(&self, module: &mut Module, moved: &[OpId], cx: &mut Context<'_>) {
        let Some(last) = self.readers.last() else { return };
        let (reader, write) = (module.op_name(*last).to_owned(), module.op_name(self.write).to_owned());
        let mut anchor = *last;
        for op in moved {
            module.detach(*op);
            module.insert_after(anchor, *op);
            anchor = *op;
        }
        cx.count("moved", moved.len() as u64);
        let name = &self.name;
        cx.remark(
            module,
            self.write,
            format!("`{write}` moves behind `{reader}`, which reads a view of @{name} as it was before"),
        );
    }

    fn copy(&self, module: &mut Module, read: OpId, stuck: bool, cx: &mut Context<'_>) {
        let facts = crate::callees::facts_of(module, cx.facts, read);
        let Some(key) = facts.param(Key::Alias).and_then(|param| param.attr.as_deref()) else { return };
        module.remove_attr(read, key);
        cx.count("copied", 1);
        let at = positions(module, self.block);
        let reader =
            self.readers.iter().max_by_key(|reader| at.get(reader).copied()).map_or("", |op| module.op_name(*op));
        let (name, write, read_name) = (&self.name, module.op_name(self.write), module.op_name(read));
        let cannot = if stuck { " and cannot come before it" } else { "" };
        let message = format!("`{read_name}` copies @{name}: `{reader}` reads it after `{write}`{cannot}");
        cx.remark(module, read, message);
    }
}
