//! Readers of a view of state that come after a write of that state.
//!
//! The view stands for the content at the time of the read. So either the write moves behind the reader, together with all between
//! them that depends on it, or, where the reader is one of those, the view becomes a copy.
//!
//! One sweep per block settles all of its views: operations are taken in the listed order, each once all that it depends on has been
//! taken, and a write depends on every reader of the views before it. Where that leaves a circle, a view in it becomes a copy. All
//! other dependencies are kept, so what comes out means the same.

use crate::effects::{FuncEffects, Resource};
use crate::locks::{Flow, candidates, is_terminator};
use crate::pass::Context;
use neap_ir::facts::{Access, Key, Role};
use neap_ir::{BlockId, Module, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Resolves all conflicts of a function, by moves where they are wanted and possible; returns whether anything changed.
pub(super) fn resolve(module: &mut Module, func: OpId, moves: bool, cx: &mut Context<'_>) -> bool {
    let effects = cx.effects(module, func);
    let views = views_of_state(module, func, &effects);
    if views.is_empty() {
        return false;
    }
    let late: Vec<(BlockId, Vec<View>)> = views
        .into_iter()
        .map(|(block, reads)| (block, Ops::of(module, block).views(module, &effects, cx, reads)))
        .filter(|(_, views)| views.iter().any(|view| view.late.is_some()))
        .collect();
    if late.is_empty() {
        return false;
    }
    // The reads of a view itself do not wait for the write, so effects are taken without them.
    let effects = cx.effects_without_aliases(module, func);
    let flow = Flow::of(module, func);
    for (block, mut views) in late {
        for view in views.iter_mut().filter(|view| view.late.is_some()) {
            view.copied |= !moves;
        }
        let mut sweep = Sweep::new(module, cx, block, &effects, &flow, views);
        let order = sweep.run();
        let Sweep { ops, views, .. } = sweep;
        write(module, block, &ops, &views, &order, moves, cx);
    }
    true
}

/// The first view of state that is read after its variable was written: the reader, the write, the variable.
pub(crate) fn stale(module: &Module, func: OpId, cx: &Context<'_>) -> Option<(OpId, OpId, Box<str>)> {
    let effects = cx.effects(module, func);
    views_of_state(module, func, &effects).into_iter().find_map(|(block, reads)| {
        let ops = Ops::of(module, block);
        let views = ops.views(module, &effects, cx, reads);
        views.into_iter().find_map(|view| Some((ops.list[view.late?], ops.list[view.write], view.name)))
    })
}

/// Reads declared as views, with their variable, by block.
fn views_of_state(module: &Module, func: OpId, effects: &FuncEffects) -> BTreeMap<BlockId, Vec<(OpId, Box<str>)>> {
    let mut found: BTreeMap<BlockId, Vec<(OpId, Box<str>)>> = BTreeMap::new();
    if effects.aliases.is_empty() {
        return found;
    }
    for op in module.walk(func) {
        // The roots: aliases whose operation has no operand that is one.
        let root = module.data_operands(op).all(|value| !effects.aliases.contains_key(&value));
        let name = module.data_results(op).iter().find_map(|result| effects.aliases.get(result)).filter(|_| root);
        if let (Some(name), Some(block)) = (name, module.parent_block(op)) {
            found.entry(block).or_default().push((op, name.clone()));
        }
    }
    found
}

/// The operations of a block by position.
struct Ops {
    list: Vec<OpId>,
    at: FxHashMap<OpId, usize>,
}

/// A view of a variable that is written later.
struct View {
    read: OpId,
    name: Box<str>,
    /// The next write of the variable.
    write: usize,
    /// Operations that read the view, themselves or in their bodies.
    readers: Vec<usize>,
    /// The last reader that the write must not come before and does.
    late: Option<usize>,
    copied: bool,
}

impl Ops {
    fn of(module: &Module, block: BlockId) -> Ops {
        let list: Vec<OpId> = module.block_ops(block).collect();
        let at = list.iter().enumerate().map(|(at, op)| (*op, at)).collect();
        Ops { list, at }
    }

    /// The views that reads make, as far as their variable is written later in the block.
    fn views(
        &self,
        module: &Module,
        effects: &FuncEffects,
        cx: &Context<'_>,
        mut reads: Vec<(OpId, Box<str>)>,
    ) -> Vec<View> {
        let mut next: FxHashMap<&str, usize> = FxHashMap::default();
        let mut any = None;
        let mut found = Vec::new();
        for at in (0..self.list.len()).rev() {
            let op = self.list[at];
            if let Some((read, name)) = reads.pop_if(|(read, _)| *read == op) {
                let write = next.get(&*name).copied().into_iter().chain(any).min();
                if let Some(write) = write {
                    found.push(self.view(module, effects, cx, (read, name), write));
                }
            }
            let writes = effects.get(op).into_iter().flatten().filter(|(_, access)| **access == Access::Write);
            for (resource, _) in writes {
                match resource {
                    Resource::Variable(name) => drop(next.insert(name, at)),
                    Resource::AnyVariable | Resource::All => any = Some(at),
                    _ => {}
                }
            }
        }
        found.reverse();
        found
    }

    fn view(
        &self,
        module: &Module,
        effects: &FuncEffects,
        cx: &Context<'_>,
        (read, name): (OpId, Box<str>),
        write: usize,
    ) -> View {
        let readers = self.readers(module, effects, read);
        // What runs bodies or functions may write before it reads, in them or on the next trip, and so may an operation that does
        // anything but copy the view into its variable.
        let inside = |op: OpId| crate::callees::facts_of(module, cx.facts, op).role != Role::Write;
        let late = readers.iter().copied().filter(|at| *at > write || *at == write && inside(self.list[*at])).max();
        // Nothing comes behind the end of the block, and nothing before itself.
        let itself = readers.iter().any(|at| *at == write && inside(self.list[*at]));
        let stuck = itself || late.is_some_and(|at| is_terminator(module, cx.facts, self.list[at]));
        View { read, name, write, readers, late, copied: stuck }
    }

    /// The operations that read, themselves or in their bodies, the view made by `read` or an alias of it.
    fn readers(&self, module: &Module, effects: &FuncEffects, read: OpId) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut open: Vec<ValueId> = module.data_results(read).to_vec();
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            for usage in module.value(value).uses() {
                let mut op = Some(usage.op);
                while let Some(inner) = op.filter(|op| !self.at.contains_key(op)) {
                    op = module.parent_op(inner);
                }
                found.extend(op.map(|op| self.at[&op]));
                let args = module
                    .op_regions(usage.op)
                    .iter()
                    .flat_map(|region| module.blocks(*region))
                    .flat_map(|block| module.block_args(*block));
                let further = module.results(usage.op).iter().chain(args);
                open.extend(further.copied().filter(|value| effects.aliases.contains_key(value)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The operations of a block, taken one by one.
struct Sweep {
    ops: Ops,
    views: Vec<View>,
    /// By operation: what waits for it, and what it waits for, by values and effects.
    succs: Vec<Vec<usize>>,
    preds: Vec<Vec<usize>>,
    /// By operation: the views that it reads, and those whose readers it waits for.
    reads: Vec<Vec<usize>>,
    holds: Vec<Vec<usize>>,
    /// By operation: how many of those have not been taken.
    left: Vec<usize>,
    readers_left: Vec<usize>,
    taken: Vec<bool>,
    ready: BinaryHeap<Reverse<usize>>,
}

impl Sweep {
    fn new(
        module: &Module,
        cx: &Context<'_>,
        block: BlockId,
        effects: &FuncEffects,
        flow: &Flow,
        views: Vec<View>,
    ) -> Sweep {
        let ops = Ops::of(module, block);
        let count = ops.list.len();
        let mut preds: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (at, op) in ops.list.iter().enumerate() {
            preds[at].extend(flow.read_by(*op).iter().map(|pred| ops.at[pred]));
        }
        for lock in candidates(module, cx.facts, block, effects) {
            preds[ops.at[&lock.after]].push(ops.at[&lock.before]);
        }
        // The end of a block stays its end.
        if let Some(last) = count.checked_sub(1).filter(|last| is_terminator(module, cx.facts, ops.list[*last])) {
            preds[last].extend(0..last);
        }
        let (mut succs, mut reads, mut holds) =
            (vec![Vec::new(); count], vec![Vec::new(); count], vec![Vec::new(); count]);
        for (at, list) in preds.iter_mut().enumerate() {
            list.sort_unstable();
            list.dedup();
            list.iter().for_each(|pred| succs[*pred].push(at));
        }
        let mut readers_left = vec![0; count];
        for (index, view) in views.iter().enumerate().filter(|(_, view)| !view.copied) {
            for reader in view.readers.iter().filter(|reader| **reader != view.write) {
                reads[*reader].push(index);
                readers_left[view.write] += 1;
            }
            holds[view.write].push(index);
        }
        let left: Vec<usize> = preds.iter().map(Vec::len).collect();
        let ready = (0..count).filter(|at| left[*at] + readers_left[*at] == 0).map(Reverse).collect();
        Sweep { ops, views, succs, preds, reads, holds, left, readers_left, taken: vec![false; count], ready }
    }

    /// The order, by position. Every circle costs a view.
    fn run(&mut self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.ops.list.len());
        loop {
            while let Some(Reverse(at)) = self.ready.pop() {
                self.taken[at] = true;
                order.push(at);
                for next in std::mem::take(&mut self.succs[at]) {
                    self.left[next] -= 1;
                    self.wake(next);
                }
                for view in std::mem::take(&mut self.reads[at]) {
                    if !self.views[view].copied {
                        let write = self.views[view].write;
                        self.readers_left[write] -= 1;
                        self.wake(write);
                    }
                }
            }
            if order.len() == self.ops.list.len() {
                return order;
            }
            self.cut();
        }
    }

    fn wake(&mut self, at: usize) {
        if self.left[at] + self.readers_left[at] == 0 && !self.taken[at] {
            self.ready.push(Reverse(at));
        }
    }

    /// Makes a copy of a view in a circle: of the one whose write comes first.
    fn cut(&mut self) {
        // What only readers hold back; there is such an operation, since all other dependencies follow the listed order.
        let held = |at: usize| !self.taken[at] && self.left[at] == 0;
        let Some(mut at) = (0..self.taken.len()).find(|at| held(*at)) else { return };
        let (mut path, mut seen): (Vec<(usize, usize)>, FxHashMap<usize, usize>) = Default::default();
        while !seen.contains_key(&at) {
            seen.insert(at, path.len());
            let open = |view: &usize| {
                let readers = &self.views[*view].readers;
                let reader = readers.iter().copied().find(|reader| !self.taken[*reader] && *reader != at);
                (!self.views[*view].copied).then_some(reader).flatten().map(|reader| (*view, reader))
            };
            let Some((view, mut reader)) = self.holds[at].iter().find_map(open) else { return };
            path.push((at, view));
            while self.left[reader] > 0 {
                let Some(before) = self.preds[reader].iter().copied().find(|pred| !self.taken[*pred]) else { return };
                reader = before;
            }
            at = reader;
        }
        let circle = &path[seen[&at]..];
        let Some((write, view)) = circle.iter().copied().min() else { return };
        self.views[view].copied = true;
        let open = self.views[view].readers.iter().filter(|reader| !self.taken[**reader] && **reader != write).count();
        self.readers_left[write] -= open;
        self.wake(write);
    }
}

/// Brings order and copies into the module, and says so.
fn write(
    module: &mut Module,
    block: BlockId,
    ops: &Ops,
    views: &[View],
    order: &[usize],
    moves: bool,
    cx: &mut Context<'_>,
) {
    if !order.is_sorted() {
        let ops: Vec<OpId> = order.iter().map(|at| ops.list[*at]).collect();
        module.set_block_order(block, &ops);
        let mut furthest = 0;
        let late = order.iter().filter(|at| {
            furthest = furthest.max(**at);
            furthest > **at
        });
        cx.count("moved", late.count() as u64);
    }
    for view in views {
        let Some(late) = view.late.or_else(|| view.readers.last().copied().filter(|_| view.copied)) else { continue };
        let (write, reader) = (ops.list[view.write], ops.list[late]);
        let (writer, reader, name) = (module.op_name(write).to_owned(), module.op_name(reader).to_owned(), &view.name);
        if !view.copied {
            let message = format!("`{writer}` moves behind `{reader}`, which reads a view of @{name} as it was before");
            cx.remark(module, write, message);
            continue;
        }
        let facts = crate::callees::facts_of(module, cx.facts, view.read);
        let Some(key) = facts.param(Key::Alias).and_then(|param| param.attr.as_deref()) else { continue };
        module.remove_attr(view.read, key);
        cx.count("copied", 1);
        let cannot = if moves { " and cannot come before it" } else { "" };
        let read = module.op_name(view.read).to_owned();
        let message = format!("`{read}` copies @{name}: `{reader}` reads it after `{writer}`{cannot}");
        cx.remark(module, view.read, message);
    }
}
