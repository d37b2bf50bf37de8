//! What could be computed again instead of being held at a step.
//!
//! A storage is in the way if the operation of the step touches none of it, or copies it into a whole, and values in it are read later. It goes if every such value
//! is computed once more before the first late reader, from what is there anyway at that time. How far back the computation goes is a choice: what
//! it starts from is kept longer, which costs bytes at the step unless it is live there in any case. So for each storage there
//! are several candidates, each with the bytes that it takes from the step and with its price.

use super::cost::Costs;
use crate::analysis::Flow;
use crate::analysis::names::{op_name, value_name};
use crate::analysis::peak::holders;
use crate::analysis::storage::StorageId;
use crate::analysis::timeline::{EntryId, Kind};
use crate::analysis::values::{Home, Site, Slot};
use crate::callees::facts_of;
use crate::effects::FuncEffects;
use neap_ir::facts::{Facts, Role, Run};
use neap_ir::{BlockId, Module, OpId, Type, Use, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// How far back a computation may go, in operations on a path.
const DEPTHS: [usize; 9] = [1, 2, 3, 4, 6, 8, 12, 20, 40];
/// So many operations run again for one storage at most.
const MOST_OPS: usize = 64;
/// What is asked of an operation and may not be asked twice.
const ASKED: &[&str] = &["neap.keep", "neap.pin", "neap.group", "neap.class", "neap.reuse", "sym_name"];

/// A way to have a storage away at a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    /// The operations that run again, each behind what it reads.
    pub(super) ops: Vec<OpId>,
    /// The late reads.
    pub(super) uses: Vec<Use>,
    /// The late readers in the body of the values, or what holds them.
    pub(super) readers: Vec<OpId>,
    /// What is computed again, in words.
    pub(super) value: String,
    /// The first late reader, in words.
    pub(super) reader: String,
    /// Bytes of the storage.
    pub(super) bytes: u64,
    /// Bytes that the step loses.
    pub(super) gain: u64,
    /// What the operations cost.
    pub(super) cost: u64,
}

/// A function in the order in which it would run.
pub(super) struct View<'a, 'f> {
    pub(super) module: &'a Module,
    pub(super) flow: &'a Flow<'f>,
    pub(super) facts: &'a Facts,
    pub(super) effects: &'a FuncEffects,
    pub(super) costs: Costs<'f>,
}

/// Values of a storage that are read behind a step.
struct Late {
    block: BlockId,
    values: Vec<ValueId>,
    uses: Vec<Use>,
    readers: Vec<EntryId>,
}

impl View<'_, '_> {
    /// The candidates at a step, the best first: most bytes of those that are too many, per cost.
    pub(super) fn candidates(&self, step: u32, excess: u64) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        for storage in holders(&self.flow.storages, step) {
            let Some(late) = self.late(storage, step) else { continue };
            let mut seen: Vec<Vec<OpId>> = Vec::new();
            for depth in DEPTHS {
                let Some(candidate) = self.candidate(storage, step, &late, depth) else { continue };
                if !seen.contains(&candidate.ops) {
                    seen.push(candidate.ops.clone());
                    found.push(candidate);
                }
            }
        }
        // Cross-multiplied: bytes per cost, then bytes; ties keep the order of storages and depths.
        let worth = |candidate: &Candidate| (u128::from(candidate.gain.min(excess)), u128::from(candidate.cost) + 1);
        found.sort_by(|a, b| {
            let ((bytes, cost), (other_bytes, other_cost)) = (worth(a), worth(b));
            (other_bytes * cost).cmp(&(bytes * other_cost)).then(b.gain.cmp(&a.gain))
        });
        found
    }

    /// The operation that runs at a step, and those around it, each with its body's block.
    fn path(&self, step: u32) -> Vec<(BlockId, EntryId)> {
        let timeline = &self.flow.timeline;
        let mut path = Vec::new();
        let mut at = timeline.by_step.get(step as usize).copied();
        while let Some(id) = at {
            let body = timeline.body(timeline.entry(id).body);
            path.push((body.block, id));
            at = body.owner;
        }
        path
    }

    /// What of a storage is read behind a step; none where its bytes are needed during the step, or are no operation's to make again.
    fn late(&self, storage: StorageId, step: u32) -> Option<Late> {
        let storage = self.flow.storages.get(storage);
        if storage.scratch_of.is_some() || storage.held {
            return None;
        }
        let path = self.path(step);
        let mut late: Option<Late> = None;
        for member in &storage.members {
            let info = self.flow.values.info(member.slot);
            let value = info.value;
            let block = self.flow.timeline.body(info.body).block;
            let (_, now) = *path.iter().find(|(around, _)| *around == block)?;
            match info.site {
                Site::Result(def, _) if def == now => return None,
                // Not made yet: what will lie in these bytes is made from what is there then.
                Site::Result(def, _) if def > now => continue,
                _ => {}
            }
            let mut uses = Vec::new();
            for usage in self.module.value(value).uses() {
                let reader = self.outer(usage.op, block)?;
                match reader.cmp(&now) {
                    std::cmp::Ordering::Less => {}
                    // Made again, a part may lie in its whole.
                    std::cmp::Ordering::Equal if self.joins(usage.op, value) => uses.push((*usage, reader)),
                    std::cmp::Ordering::Equal => return None,
                    std::cmp::Ordering::Greater => uses.push((*usage, reader)),
                }
            }
            if uses.is_empty() {
                continue;
            }
            if !matches!(info.site, Site::Result(def, _) if def < now) {
                return None;
            }
            let empty = Late { block, values: Vec::new(), uses: Vec::new(), readers: Vec::new() };
            let late = late.get_or_insert(empty);
            if late.block != block {
                return None;
            }
            late.values.push(value);
            late.uses.extend(uses.iter().map(|(usage, _)| *usage));
            late.readers.extend(uses.iter().map(|(_, reader)| *reader));
        }
        late
    }

    /// Whether a value may be written straight into what an operation makes of it.
    fn joins(&self, op: OpId, value: ValueId) -> bool {
        let parts = self.module.places(op, neap_ir::plan::MAY_PLACE);
        parts.iter().any(|part| self.module.data_operands(op).nth(part.operand as usize) == Some(value))
    }

    /// The operation of a block that is `op` or holds it.
    fn outer(&self, op: OpId, block: BlockId) -> Option<EntryId> {
        let mut at = op;
        while self.module.parent_block(at) != Some(block) {
            at = self.module.parent_op(at)?;
        }
        self.flow.timeline.find(at)
    }

    /// The storage's late values, made again by operations up to `depth` back.
    fn candidate(&self, storage: StorageId, step: u32, late: &Late, depth: usize) -> Option<Candidate> {
        let flow = self.flow;
        let first = late.readers.iter().copied().min()?;
        let behind = flow.timeline.entry(first).steps.begin;
        let (mut ops, mut kept) = (Vec::new(), FxHashSet::default());
        let mut seen: FxHashSet<OpId> = FxHashSet::default();
        let mut open: Vec<(ValueId, usize)> = late.values.iter().map(|value| (*value, 0)).collect();
        let mut extra = 0u64;
        while let Some((value, far)) = open.pop() {
            let slot = flow.values.slot(value)?;
            let lies = flow.storages.of[slot.index()].map(|(id, _)| id);
            let must = lies == Some(storage);
            if !must {
                match flow.values.home(slot) {
                    Home::State => return None,
                    Home::Arena => {}
                    Home::External | Home::Constant | Home::Nothing => continue,
                }
                if self.is_there(slot, behind) {
                    continue;
                }
            }
            let makes = self.module.defining_op(value).filter(|op| self.again(*op, late.block));
            match makes.filter(|_| must || far < depth) {
                Some(op) => {
                    if seen.insert(op) {
                        ops.push(op);
                        open.extend(self.reads(op).into_iter().map(|read| (read, far + 1)));
                    }
                    if ops.len() > MOST_OPS {
                        return None;
                    }
                }
                None if must => return None,
                None => {
                    let owner = flow.values.owner(slot);
                    if !flow.live.of(slot).contains(step) && kept.insert(owner) {
                        extra = extra.saturating_add(flow.values.info(owner).bytes);
                    }
                }
            }
        }
        ops.sort_by_key(|op| flow.timeline.find(*op));
        let bytes = flow.storages.get(storage).size;
        let gain = bytes.checked_sub(extra).filter(|gain| *gain > 0)?;
        let costs = ops.iter().map(|op| self.costs.op(self.module, flow, *op));
        let mut readers = late.readers.clone();
        readers.sort_unstable();
        readers.dedup();
        Some(Candidate {
            uses: late.uses.clone(),
            readers: readers.iter().map(|id| flow.timeline.entry(*id).op).collect(),
            value: value_name(self.module, late.values[0]),
            reader: op_name(self.module, flow.timeline.entry(first).op),
            bytes,
            gain,
            cost: costs.fold(0, u64::saturating_add),
            ops,
        })
    }

    /// Whether a value is there at a step in any case.
    fn is_there(&self, slot: Slot, step: u32) -> bool {
        let owner = self.flow.values.owner(slot).index();
        self.flow.live.of(slot).end > step || self.flow.live.held[owner]
    }

    /// What an operation reads from around it, what its bodies read included.
    fn reads(&self, op: OpId) -> Vec<ValueId> {
        let mut reads: Vec<ValueId> = self.module.operands(op).collect();
        if !self.module.op_regions(op).is_empty() {
            let own = |value: &ValueId| self.flow.values.slot(*value).is_some();
            let inner = self.module.walk(op).into_iter();
            reads.extend(inner.flat_map(|inner| self.module.operands(inner).collect::<Vec<_>>()).filter(own));
        }
        reads
    }

    /// Whether an operation of a block may run twice: it makes the same tensors again and does nothing else.
    fn again(&self, op: OpId, block: BlockId) -> bool {
        let module = self.module;
        let row = facts_of(module, self.facts, op);
        let bodies = !module.op_regions(op).is_empty();
        let plain = !matches!(
            row.role,
            Role::Constant
                | Role::Handle
                | Role::Read
                | Role::Write
                | Role::Random
                | Role::Call
                | Role::If
                | Role::While
                | Role::For
                | Role::Yield
                | Role::AsyncStart
                | Role::AsyncAwait
                | Role::Token
                | Role::Alloc
                | Role::Dealloc
                | Role::Subview
                | Role::Declare
        );
        let tensor = |value: ValueId| matches!(module.ty(module.value_ty(value)), Type::Tensor { .. });
        plain
            && row.is_pure()
            && self.effects.get(op).is_none()
            && module.parent_block(op) == Some(block)
            && (!bodies || row.body.run == Run::Kernel)
            && row.body.callees.is_empty()
            && module.successors(op).is_empty()
            && module.results(op).iter().all(|value| tensor(*value))
            && !module.operands(op).any(|value| module.is_token(value))
            && !ASKED.iter().any(|key| module.attr(op, key).is_some())
    }
}

/// What an operation holds in every order, whatever is computed again: its operands, results and scratch, less what it may overwrite or need not
/// copy, and what is held for the whole run. The most of all operations, and which one; nothing is said of operations with bodies.
pub(super) fn floor(module: &Module, flow: &Flow<'_>) -> (u64, Option<OpId>) {
    let held: Vec<Slot> = flow.values.iter().map(|(slot, _)| slot).filter(|slot| is_held(flow, *slot)).collect();
    let scratch: FxHashMap<OpId, u64> = flow.scratch.iter().map(|scratch| (scratch.op, scratch.bytes)).collect();
    let (parts, wholes) = joined(module, flow);
    let mut most = (0, None);
    for (_, entry) in flow.timeline.iter().filter(|(_, entry)| entry.kind == Kind::Step && entry.bodies.is_empty()) {
        let mut seen: FxHashSet<Slot> = held.iter().copied().collect();
        let mut bytes = held.iter().map(|slot| flow.values.info(*slot).bytes).fold(0, u64::saturating_add);
        let spared = spared(module, flow, entry.op);
        let touched = module.operands(entry.op).chain(module.results(entry.op).iter().copied());
        let owners: Vec<Slot> =
            touched.filter_map(|value| flow.values.slot(value)).map(|slot| flow.values.owner(slot)).collect();
        // Beside a whole, a part may lie in it.
        let beside = |owner: Slot| owners.iter().any(|other| *other != owner && wholes.contains(other));
        for &owner in &owners {
            if !joins(module, entry.op) && parts.contains(&owner) && beside(owner) {
                continue;
            }
            if flow.values.home(owner) == Home::Arena && seen.insert(owner) {
                bytes = bytes.saturating_add(flow.values.info(owner).bytes);
            }
        }
        let scratch = scratch.get(&entry.op).copied().unwrap_or(0);
        let bytes = bytes.saturating_add(scratch).saturating_sub(spared);
        if bytes > most.0 {
            most = (bytes, Some(entry.op));
        }
    }
    most
}

fn joins(module: &Module, op: OpId) -> bool {
    !module.places(op, neap_ir::plan::MAY_PLACE).is_empty()
}

/// What may be laid into something else, and what something may be laid into.
fn joined(module: &Module, flow: &Flow<'_>) -> (FxHashSet<Slot>, FxHashSet<Slot>) {
    let (mut parts, mut wholes) = (FxHashSet::default(), FxHashSet::default());
    let owner = |value: ValueId| flow.values.slot(value).map(|slot| flow.values.owner(slot));
    for (_, entry) in flow.timeline.iter() {
        for part in module.places(entry.op, neap_ir::plan::MAY_PLACE) {
            parts.extend(module.data_operand(entry.op, part.operand as usize).and_then(owner));
            wholes.extend(module.data_results(entry.op).first().copied().and_then(owner));
        }
    }
    (parts, wholes)
}

fn is_held(flow: &Flow<'_>, slot: Slot) -> bool {
    flow.values.owner(slot) == slot && flow.live.held[slot.index()] && flow.values.home(slot) == Home::Arena
}

/// Bytes that an operation's candidates for sharing could spare at most.
fn spared(module: &Module, flow: &Flow<'_>, op: OpId) -> u64 {
    let bytes = |value: Option<ValueId>| {
        value.and_then(|value| flow.values.slot(value)).map_or(0, |slot| flow.values.info(slot).bytes)
    };
    let over: FxHashSet<u32> =
        module.in_places(op, neap_ir::plan::MAY_INPLACE).iter().map(|pair| pair.result).collect();
    let over = over.into_iter().map(|index| bytes(module.data_results(op).get(index as usize).copied()));
    let over = over.fold(0, u64::saturating_add);
    let parts = module.places(op, neap_ir::plan::MAY_PLACE);
    let parts = parts.iter().map(|part| bytes(module.data_operand(op, part.operand as usize)));
    parts.fold(over, u64::saturating_add)
}
