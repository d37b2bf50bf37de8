//! Who reads a value, seen from where the value is defined, and how long each read keeps it alive.
//!
//! A read inside a nested body counts, for the body that defines the value, as a read by the operation around it. A read inside a loop
//! that the value's definition is outside of keeps it alive to the loop's end, since the next trip reads again. What an asynchronous
//! operation touches is read once more by its await; without one it is never free.
//!
//! Near-linear: one pass over all operands, the loops around a read found by bisection.

use super::timeline::{BodyId, EntryId, Kind, Timeline};
use super::values::{Slot, Values};
use neap_ir::facts::{Role, Run};
use neap_ir::{Def, Module, OpId};

/// One read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Read {
    /// What is read.
    pub slot: Slot,
    /// Who reads.
    pub reader: EntryId,
    /// The operation in the body that defines the value which is the reader or holds it.
    pub outer: EntryId,
    /// The same for the body that defines the owner of its bytes.
    pub at_owner: EntryId,
    /// The same one body further in, when the read is nested: the body, and the operation in it.
    pub inside: Option<(BodyId, EntryId)>,
    /// The value must stay at least until this step (not included).
    pub end: u32,
    /// The value must stay to the end, though nothing is known to read it then.
    pub forever: bool,
}

/// Calls `see` for every read of the function, in the order of the timeline.
pub fn for_each_read(module: &Module, timeline: &Timeline<'_>, values: &Values, mut see: impl FnMut(Read)) {
    let mut walk = Walk { timeline, values, around: Vec::new(), loops: Vec::new() };
    for (id, entry) in timeline.iter() {
        walk.come_to(id);
        for value in module.operands(entry.op) {
            let Some(slot) = values.slot(value) else { continue };
            see(walk.read(slot, id, operand_end(timeline, id), false));
            if entry.facts.role == Role::AsyncAwait {
                let started = started_by(module, timeline, value);
                for slot in touched(module, timeline, values, started) {
                    see(walk.read(slot, id, entry.steps.end, false));
                }
            }
        }
        if entry.facts.body.run == Run::Kernel && !module.op_regions(entry.op).is_empty() {
            // What a kernel's body names from around it is read by the kernel.
            let inner = module.walk(entry.op).into_iter().filter(|op| *op != entry.op);
            for value in inner.flat_map(|op| module.operands(op).collect::<Vec<_>>()) {
                if let Some(slot) = values.slot(value) {
                    see(walk.read(slot, id, operand_end(timeline, id), false));
                }
            }
        }
        if is_never_awaited(module, timeline, id) {
            for slot in touched(module, timeline, values, Some(id)) {
                see(walk.read(slot, id, timeline.end(), true));
            }
        }
        if matches!(entry.run, Run::Loop | Run::Parallel) {
            walk.loops.push((timeline.body(entry.body).depth, id));
        }
        if entry.run != Run::None {
            walk.around.push(id);
        }
    }
}

/// The step at which an asynchronous operation is done with what it touches: the last await's, or the end.
pub fn done(module: &Module, timeline: &Timeline<'_>, start: EntryId) -> u32 {
    let entry = timeline.entry(start);
    if is_never_awaited(module, timeline, start) {
        return timeline.end();
    }
    let readers = module.results(entry.op).iter().flat_map(|value| module.value(*value).uses());
    let ends = readers.filter_map(|usage| timeline.find(usage.op)).map(|id| timeline.entry(id).steps.end);
    ends.fold(entry.steps.end, u32::max)
}

struct Walk<'a, 'f> {
    timeline: &'a Timeline<'f>,
    values: &'a Values,
    /// Operations with bodies around the current entry, outermost first.
    around: Vec<EntryId>,
    /// Those of them whose bodies run again or at the same time, with their depth.
    loops: Vec<(u32, EntryId)>,
}

impl Walk<'_, '_> {
    fn come_to(&mut self, id: EntryId) {
        let over = |around: EntryId| self.timeline.entry(around).last <= id;
        while self.around.last().is_some_and(|around| over(*around)) {
            self.around.pop();
        }
        while self.loops.last().is_some_and(|(_, around)| over(*around)) {
            self.loops.pop();
        }
    }

    fn read(&self, slot: Slot, reader: EntryId, end: u32, forever: bool) -> Read {
        let depth = self.timeline.body(self.values.info(slot).body).depth;
        let at = |depth: u32| self.around.get(depth as usize).copied().unwrap_or(reader);
        let owner = self.timeline.body(self.values.info(self.values.owner(slot)).body).depth;
        let (outer, at_owner) = (at(depth), at(owner));
        let inside = (at_owner != reader).then(|| at(owner + 1)).map(|id| (self.timeline.entry(id).body, id));
        // The outermost loop that is not around the definition as well.
        let again = self.loops.get(self.loops.partition_point(|(at, _)| *at < depth));
        let end = again.map_or(end, |(_, around)| end.max(self.timeline.entry(*around).steps.end));
        Read { slot, reader, outer, at_owner, inside, end, forever }
    }
}

/// How long an operand must stay for the read itself.
fn operand_end(timeline: &Timeline<'_>, reader: EntryId) -> u32 {
    let entry = timeline.entry(reader);
    match entry.kind {
        Kind::Terminator => yielded_end(timeline, entry.body),
        Kind::Constant => entry.steps.begin + 1,
        Kind::Step if matches!(entry.run, Run::Loop | Run::Parallel) => entry.steps.end,
        Kind::Step => entry.steps.begin + 1,
    }
}

/// How long what a body hands out must stay: to the body's end, where it is copied; to the end of all where bodies run at the same time, and where a
/// deciding body hands its values to the results, which are born at the loop's end.
fn yielded_end(timeline: &Timeline<'_>, body: BodyId) -> u32 {
    let info = timeline.body(body);
    let Some(owner) = info.owner else { return timeline.end() };
    let owner = timeline.entry(owner);
    if timeline.run_of(body) == Run::Parallel || owner.facts.body.cond_forwards {
        return owner.steps.end;
    }
    info.steps.end
}

fn started_by(module: &Module, timeline: &Timeline<'_>, handle: neap_ir::ValueId) -> Option<EntryId> {
    let Def::Result(op, _) = module.value(handle).def() else { return None };
    timeline.find(op).filter(|id| timeline.entry(*id).facts.role == Role::AsyncStart)
}

/// What an asynchronous operation touches: its operands, its results, and what its bodies read from outside.
fn touched(module: &Module, timeline: &Timeline<'_>, values: &Values, start: Option<EntryId>) -> Vec<Slot> {
    let Some(start) = start else { return Vec::new() };
    let entry = timeline.entry(start);
    let inside = (start.0 + 1..entry.last.0).map(|id| timeline.entry(EntryId(id)).op);
    let ops: Vec<OpId> = std::iter::once(entry.op).chain(inside).collect();
    let operands = ops.iter().flat_map(|op| module.operands(*op));
    let results = module.results(entry.op).iter().copied();
    let known = operands.chain(results).filter_map(|value| values.slot(value));
    let inside = |slot: &Slot| {
        let owner = timeline.body(values.info(*slot).body).owner;
        owner.is_some_and(|owner| start <= owner && owner < entry.last)
    };
    known.filter(|slot| !inside(slot)).collect()
}

fn is_never_awaited(module: &Module, timeline: &Timeline<'_>, id: EntryId) -> bool {
    if timeline.entry(id).facts.role != Role::AsyncStart {
        return false;
    }
    let mut readers =
        module.results(timeline.entry(id).op).iter().flat_map(|value| module.value(*value).uses()).peekable();
    let awaits = |op: OpId| timeline.find(op).is_some_and(|id| timeline.entry(id).facts.role == Role::AsyncAwait);
    readers.peek().is_none() || readers.any(|usage| !awaits(usage.op))
}
