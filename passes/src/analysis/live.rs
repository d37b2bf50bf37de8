//! Live ranges of values: half-open steps from birth to one past the last read, reads of their views included.
//!
//! Arguments of the function are born at step 0, results at the step of their operation. Results of an operation with bodies are born
//! at the yield, its last step; what a loop gathers over its trips is there from its first step on. Arguments of a loop's bodies live as long as the loop. Where bodies run at the same time (or nothing is known
//! of how they run), all values inside live as long as the whole.
//!
//! The results of a branch are written at the yield of *each* body, while its last yielded values are still read. In flat time an
//! earlier body's yielded values end before the results begin, so such pairs are listed as [`Live::apart`].

use super::timeline::{BodyId, EntryId, Kind, Steps, Timeline};
use super::uses::{self, Read};
use super::values::{Site, Slot, Values};
use neap_ir::facts::{Role, Run};
use neap_ir::{Attr, Module};

/// So many pairs per branch are kept apart one by one; beyond, its results are born at the first body's yield instead.
const MOST_PAIRS: usize = 64;

/// Live ranges of the values of a function.
#[derive(Clone, Debug)]
pub struct Live {
    /// By value.
    pub steps: Vec<Steps>,
    /// By value: it stays to the end of the function by rule (a result, `neap.keep`, never awaited); true for owners alone.
    pub kept: Vec<bool>,
    /// By value: it has its bytes for the whole run and nothing may overwrite them; true for owners alone.
    pub held: Vec<bool>,
    /// Pairs of values whose bytes must not overlap though their steps do not meet.
    pub apart: Vec<(Slot, Slot)>,
}

impl Live {
    /// Finds the live ranges.
    pub fn new(module: &Module, timeline: &Timeline<'_>, values: &Values) -> Live {
        let hulls = hulls(module, timeline);
        let steps: Vec<Steps> = values.iter().map(|(slot, _)| born(module, timeline, values, slot)).collect();
        let (kept, held) = (vec![false; steps.len()], vec![false; steps.len()]);
        let mut live = Live { steps, kept, held, apart: Vec::new() };
        live.branch_results(module, timeline, values);
        live.reads(module, timeline, values);
        live.marks(module, timeline, values);
        for (slot, info) in values.iter().rev() {
            if let Some(hull) = hulls[info.body.index()] {
                live.steps[slot.index()] = live.steps[slot.index()].hull(hull);
            }
            if let Some(base) = info.base {
                let end = live.steps[slot.index()].end;
                live.steps[base.index()].end = live.steps[base.index()].end.max(end);
            }
        }
        live.whole_run(timeline, values);
        live
    }

    /// The live range of a value.
    pub fn of(&self, slot: Slot) -> Steps {
        neap_ir::work::count(1);
        self.steps[slot.index()]
    }

    fn reads(&mut self, module: &Module, timeline: &Timeline<'_>, values: &Values) {
        uses::for_each_read(module, timeline, values, |read: Read| {
            let steps = &mut self.steps[read.slot.index()];
            steps.end = steps.end.max(read.end);
            let reader = timeline.entry(read.reader);
            if read.forever || (reader.kind == Kind::Terminator && reader.body == BodyId(0)) {
                self.kept[values.owner(read.slot).index()] = true;
            }
        });
    }

    /// `neap.keep`, and arguments and results that are held.
    fn marks(&mut self, module: &Module, timeline: &Timeline<'_>, values: &Values) {
        let io = |attr: Option<&Attr>| attr.and_then(Attr::as_str) == Some("held");
        for (_, info) in values.iter() {
            let owner = info.owner.index();
            match info.site {
                Site::Argument(index) => {
                    let attr = |key| module.arg_attr(timeline.func, index as usize, key);
                    self.held[owner] |= io(attr(neap_ir::plan::IO));
                    self.kept[owner] |= attr("neap.keep").is_some();
                }
                Site::Result(id, _) => {
                    self.kept[owner] |= module.attr(timeline.entry(id).op, "neap.keep").is_some();
                }
                Site::BodyArg(_) => {}
            }
        }
        let Some(last) = timeline.bodies.first().and_then(|body| body.entries.last()) else { return };
        let terminator = timeline.entry(*last);
        for (index, value) in module.data_operands(terminator.op).enumerate() {
            let held =
                terminator.kind == Kind::Terminator && io(module.result_attr(timeline.func, index, neap_ir::plan::IO));
            if let Some(slot) = values.slot(value).filter(|_| held) {
                self.held[values.owner(slot).index()] = true;
            }
        }
    }

    fn whole_run(&mut self, timeline: &Timeline<'_>, values: &Values) {
        for (slot, _) in values.iter() {
            if self.kept[slot.index()] {
                self.steps[slot.index()].end = timeline.end();
            }
            if self.held[slot.index()] {
                self.steps[slot.index()] = Steps::new(0, timeline.end());
            }
        }
    }

    /// Keeps the results of a branch apart from what its earlier bodies yield.
    fn branch_results(&mut self, module: &Module, timeline: &Timeline<'_>, values: &Values) {
        for (_, entry) in timeline.iter().filter(|(_, entry)| entry.run == Run::Branch && entry.bodies.len() > 1) {
            let results: Vec<Slot> =
                module.data_results(entry.op).iter().filter_map(|value| values.slot(*value)).collect();
            let earlier = &entry.bodies[..entry.bodies.len() - 1];
            let yielded: Vec<Slot> = earlier.iter().flat_map(|body| yields(module, timeline, values, *body)).collect();
            if results.len() * yielded.len() <= MOST_PAIRS {
                let pairs = results.iter().flat_map(|result| yielded.iter().map(|slot| (*result, values.owner(*slot))));
                self.apart.extend(pairs);
                continue;
            }
            let first = timeline.body(entry.bodies[0]).steps.end - 1;
            for result in results {
                self.steps[result.index()].begin = first.max(entry.steps.begin);
            }
        }
    }
}

/// The values that a body hands out.
pub fn yields(module: &Module, timeline: &Timeline<'_>, values: &Values, body: BodyId) -> Vec<Slot> {
    let last = timeline.body(body).entries.last().map(|id| timeline.entry(*id));
    let Some(terminator) = last.filter(|entry| entry.kind == Kind::Terminator) else { return Vec::new() };
    module.data_operands(terminator.op).filter_map(|value| values.slot(value)).collect()
}

/// Birth and the first step behind it, before reads are counted.
fn born(module: &Module, timeline: &Timeline<'_>, values: &Values, slot: Slot) -> Steps {
    let info = values.info(slot);
    match info.site {
        Site::Argument(_) => Steps::new(0, 1),
        Site::BodyArg(_) => {
            let around = timeline.body(info.body).owner.map_or(Steps::new(0, 1), |owner| timeline.entry(owner).steps);
            if info.base.is_some() { Steps::new(around.begin, around.begin + 1) } else { around }
        }
        Site::Result(id, index) => {
            let entry = timeline.entry(id);
            let body = &entry.facts.body;
            // Results behind those that are carried from trip to trip hold a piece of every trip.
            let carried = || body.args.below(module.data_operand_count(entry.op)).count();
            let gathered = entry.run == Run::Loop && !body.cond_forwards && index as usize >= carried();
            let late = matches!(entry.run, Run::Once | Run::Branch | Run::Loop) && !gathered;
            let begin = if late { entry.steps.end - 1 } else { entry.steps.begin };
            Steps::new(begin, begin + 1)
        }
    }
}

/// By body: the steps that everything inside must cover, where bodies run at the same time as something else.
fn hulls(module: &Module, timeline: &Timeline<'_>) -> Vec<Option<Steps>> {
    let mut hulls: Vec<Option<Steps>> = Vec::with_capacity(timeline.bodies.len());
    for body in &timeline.bodies {
        let hull = body.owner.and_then(|owner| {
            let entry = timeline.entry(owner);
            let around: Option<Steps> = hulls[entry.body.index()];
            around.or_else(|| busy(module, timeline, owner))
        });
        hulls.push(hull);
    }
    hulls
}

/// The steps during which the bodies of an operation may be running, when that is not one after the other.
fn busy(module: &Module, timeline: &Timeline<'_>, id: EntryId) -> Option<Steps> {
    let entry = timeline.entry(id);
    match (entry.facts.role, entry.run) {
        (Role::AsyncStart, _) => Some(Steps::new(entry.steps.begin, uses::done(module, timeline, id))),
        (_, Run::Parallel) => Some(entry.steps),
        _ => None,
    }
}

/// The steps during which an operation holds its scratch.
pub fn scratch_steps(module: &Module, timeline: &Timeline<'_>) -> Vec<Steps> {
    let hulls = hulls(module, timeline);
    let of = |(id, entry): (EntryId, &super::timeline::Entry<'_>)| {
        let own = match entry.facts.role {
            Role::AsyncStart => Steps::new(entry.steps.begin, uses::done(module, timeline, id)),
            _ => entry.steps,
        };
        hulls[entry.body.index()].map_or(own, |hull| own.hull(hull))
    };
    timeline.iter().map(of).collect()
}
