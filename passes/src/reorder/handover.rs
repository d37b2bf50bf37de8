//! Results of branches and calls that lie where a body's own value lies, so that handing it out copies nothing.
//!
//! A result may lie there if the value is made in that body, is all that lies in its bytes, has the result's size, is handed out once, and
//! nobody needs its bytes beyond what reads the result. The bytes are then taken from the first body's birth of the value
//! to the last reader of the result, in all bodies; so what is taken is kept only where the peak does not rise.

use super::flow;
use crate::analysis::Flow;
use crate::analysis::timeline::{Entry, EntryId, Kind};
use crate::analysis::values::{Home, Site, Slot};
use crate::pass::Context;
use neap_ir::diag::Diagnostic;
use neap_ir::facts::{Role, Run};
use neap_ir::{Attr, Module, OpId};
use rustc_hash::FxHashMap;

/// If not all can be taken together, so many operations are tried one by one.
const MOST_TRIED: usize = 32;

/// Results that a body's last operation hands over, of one operation with bodies.
struct Handover {
    lists: Vec<(OpId, Vec<u32>)>,
}

/// Takes what does not raise the peak; says whether anything changed. `after` becomes the function as it stands then.
pub(super) fn take<'f>(
    module: &mut Module,
    after: &mut Flow<'f>,
    wanted: bool,
    cx: &Context<'f>,
) -> Result<bool, Diagnostic> {
    let ends: Vec<OpId> =
        after.timeline.iter().filter(|(_, entry)| entry.kind == Kind::Terminator).map(|(_, entry)| entry.op).collect();
    if ends.len() < 2 {
        return Ok(false);
    }
    // What is tried is tried elsewhere: an unchanged module stays as it is.
    let mut trial = module.clone();
    if ends.iter().any(|op| !trial.handed(*op).is_empty()) {
        ends.iter().for_each(|op| trial.set_handed(*op, &[]));
        *after = flow(&trial, after.timeline.func, cx)?;
    }
    let found = if wanted { candidates(&trial, after) } else { Vec::new() };
    if !found.is_empty() {
        best(&mut trial, after, &found, cx)?;
    }
    let mut changed = false;
    for op in ends {
        let list = trial.handed(op);
        if module.handed(op) != list {
            module.set_handed(op, &list);
            changed = true;
        }
    }
    Ok(changed)
}

/// All together, else one by one.
fn best<'f>(module: &mut Module, after: &mut Flow<'f>, found: &[Handover], cx: &Context<'f>) -> Result<(), Diagnostic> {
    let func = after.timeline.func;
    found.iter().for_each(|handover| handover.write(module));
    let all = flow(module, func, cx)?;
    if all.profile.peak <= after.profile.peak {
        *after = all;
        return Ok(());
    }
    found.iter().for_each(|handover| handover.clear(module));
    for handover in found.iter().take(MOST_TRIED) {
        handover.write(module);
        let with = flow(module, func, cx)?;
        if with.profile.peak <= after.profile.peak {
            *after = with;
        } else {
            handover.clear(module);
        }
    }
    Ok(())
}

impl Handover {
    fn write(&self, module: &mut Module) {
        self.lists.iter().for_each(|(op, list)| module.set_handed(*op, list));
    }

    fn clear(&self, module: &mut Module) {
        self.lists.iter().for_each(|(op, _)| module.set_handed(*op, &[]));
    }
}

fn candidates(module: &Module, flow: &Flow<'_>) -> Vec<Handover> {
    let once = |entry: &Entry<'_>| matches!(entry.run, Run::Once | Run::Branch) && entry.facts.role != Role::AsyncStart;
    let mut found = Vec::new();
    for (id, entry) in flow.timeline.iter().filter(|(_, entry)| once(entry)) {
        if plain(module, entry.op) && !same_time(flow, id) {
            let lists: Vec<_> = entry.bodies.iter().filter_map(|body| handed(module, flow, entry, *body)).collect();
            found.extend((!lists.is_empty()).then_some(Handover { lists }));
        }
    }
    found
}

/// What the last operation of a body can hand over.
fn handed(
    module: &Module,
    flow: &Flow<'_>,
    entry: &Entry<'_>,
    body: crate::analysis::timeline::BodyId,
) -> Option<(OpId, Vec<u32>)> {
    let last = flow.timeline.entry(*flow.timeline.body(body).entries.last()?);
    if last.kind != Kind::Terminator {
        return None;
    }
    let mut handed: FxHashMap<Slot, u32> = FxHashMap::default();
    for slot in module.data_operands(last.op).filter_map(|value| flow.values.slot(value)) {
        *handed.entry(flow.values.owner(slot)).or_default() += 1;
    }
    let fits = |index: &u32| {
        let at = entry.facts.body.yield_lead + *index as usize;
        let value = module.data_operand(last.op, at).and_then(|value| flow.values.slot(value));
        let result = module.data_results(entry.op)[*index as usize];
        let (Some(value), Some(result)) = (value, flow.values.slot(result)) else { return false };
        let once = handed.get(&flow.values.owner(value)) == Some(&1);
        once && free(flow, result) && own(module, flow, value, result, body)
    };
    let list: Vec<u32> = (0..module.data_results(entry.op).len() as u32).filter(fits).collect();
    (!list.is_empty()).then_some((last.op, list))
}

/// Whether nothing is asked of an operation's results beyond their bytes.
fn plain(module: &Module, op: OpId) -> bool {
    let asked = ["neap.pin", "neap.class", "neap.keep"].iter().any(|key| module.attr(op, key).is_some());
    !asked && module.attr(op, "neap.reuse").and_then(Attr::as_str) != Some("never")
}

/// Whether a result has bytes of its own in the arena.
fn free(flow: &Flow<'_>, result: Slot) -> bool {
    let info = flow.values.info(result);
    info.owner == result && info.bytes > 0 && flow.values.home(result) == Home::Arena && !flow.live.held[result.index()]
}

/// Whether a value is the body's own and all that lies in its bytes.
fn own(module: &Module, flow: &Flow<'_>, value: Slot, result: Slot, body: crate::analysis::timeline::BodyId) -> bool {
    let (info, bytes) = (flow.values.info(value), flow.values.info(result).bytes);
    let owner = flow.values.info(info.owner);
    let Site::Result(made, _) = owner.site else { return false };
    let Some((storage, at)) = flow.storages.of[info.owner.index()] else { return false };
    let whole = info.offset == 0 && at == 0 && info.bytes == bytes && flow.storages.get(storage).size == bytes;
    let asked = flow.live.kept[info.owner.index()] || flow.live.held[info.owner.index()];
    let here = owner.body == body && flow.values.home(value) == Home::Arena;
    let members = flow.storages.get(storage).members.iter().all(|member| {
        let info = flow.values.info(member.slot);
        match info.site {
            Site::Result(made, _) => info.body == body && plain(module, flow.timeline.entry(made).op),
            _ => flow.values.owner(member.slot) == flow.values.owner(value),
        }
    });
    whole && here && !asked && members && plain(module, flow.timeline.entry(made).op)
}

/// Whether an operation runs at the same time as something else.
fn same_time(flow: &Flow<'_>, id: EntryId) -> bool {
    let mut at = flow.timeline.entry(id).body;
    while let Some(owner) = flow.timeline.body(at).owner {
        let entry = flow.timeline.entry(owner);
        if entry.run == Run::Parallel || entry.facts.role == Role::AsyncStart {
            return true;
        }
        at = entry.body;
    }
    false
}
