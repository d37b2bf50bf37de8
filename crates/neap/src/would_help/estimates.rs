//! What another model would need, roughly: a spatial operation in tiles, smaller elements. Nothing here was planned.

use crate::demands::Unmet;
use crate::drive::Job;
use crate::size::grouped;
use crate::summary::{Function, Help, HelpKind, Storage};
use neap_ir::facts::Role;
use neap_ir::{Module, OpId, ValueId};
use neap_passes::analysis::Flow;
use neap_passes::analysis::names::{op_name, value_name};
use neap_passes::analysis::values::{Home, Sharing, Site};
use neap_passes::shape::Shaped;

/// The estimates for a budget of the whole, or of one arena.
pub(super) fn of(job: &Job<'_>, planned: &Module, function: &Function, unmet: &Unmet) -> Vec<Help> {
    let tiles = tiles(job, planned, function, unmet);
    let halves =
        [("16-bit", 2), ("8-bit", 4)].into_iter().filter_map(|(name, part)| elements(function, unmet, name, part));
    tiles.into_iter().chain(halves).collect()
}

fn estimate(kind: HelpKind, what: String, saves: u64, unmet: &Unmet) -> Help {
    let needs = unmet.needed.saturating_sub(saves);
    Help { kind, what, saves, needs, fits: needs <= unmet.budget, price: None, unit: None, estimate: true }
}

/// Storages at the peak that hold 32-bit floats, with elements of a part of the size.
fn elements(function: &Function, unmet: &Unmet, name: &str, part: u64) -> Option<Help> {
    let peak = function.peak_step.as_ref()?;
    let held = peak.storages.iter().filter_map(|id| function.storages.get(*id as usize));
    let in_question = |storage: &&Storage| unmet.arena.as_ref().is_none_or(|arena| *arena == storage.arena);
    let floats = held.filter(in_question).filter(|storage| storage.ty.contains("xf32>"));
    let bytes: u64 = floats.map(|storage| storage.size - storage.size / part).fold(0, u64::saturating_add);
    let what = format!("{name} instead of 32-bit floats at the peak, {}", peak.op);
    (bytes > 0).then(|| estimate(HelpKind::ElementType, what, bytes, unmet))
}

/// What is made or read at the peak by a spatial operation, in two halves along its rows: whoever makes it and whoever reads it work on one half after
/// the other, so that half of it is there at a time, and the rows at the border twice.
fn tiles(job: &Job<'_>, planned: &Module, function: &Function, unmet: &Unmet) -> Option<Help> {
    let func = planned.symbol(&function.name)?;
    let flow = Flow::new(planned, func, &job.setup.facts, &job.setup.profile, Sharing::PLANNED).ok()?;
    let id = *flow.timeline.by_step.get(function.peak_step.as_ref()?.step as usize)?;
    let entry = flow.timeline.entry(id);
    let spatial = [Role::Conv, Role::Pool, Role::Resize, Role::Pad];
    let roles = || planned.walk(entry.op).into_iter().chain([entry.op]).map(|op| role(job, planned, op));
    if !roles().any(|role| spatial.contains(&role)) {
        return None;
    }
    // The caller hands arguments over whole, and takes results whole.
    let inner = |value: &ValueId| {
        let slot = flow.values.slot(*value)?;
        let whole =
            matches!(flow.values.info(slot).site, Site::Argument(_)) || flow.live.kept[flow.values.owner(slot).index()];
        let plain = flow.values.owner(slot) == slot && flow.values.home(slot) == Home::Arena;
        (plain && !whole && rows(job, planned, *value)? >= 2).then(|| (*value, flow.values.info(slot).bytes))
    };
    let touched = planned.data_operands(entry.op).chain(planned.data_results(entry.op).iter().copied());
    let found: Vec<(ValueId, u64)> = touched.filter_map(|value| inner(&value)).collect();
    let (value, bytes) = found.into_iter().max_by_key(|(_, bytes)| *bytes)?;
    let what = format!(
        "{} in two tiles along the rows of {} ({} B), without the rows at the border",
        op_name(planned, entry.op).replace('`', ""),
        value_name(planned, value),
        grouped(bytes.into())
    );
    Some(estimate(HelpKind::Tiles, what, bytes / 2, unmet))
}

fn role(job: &Job<'_>, module: &Module, op: OpId) -> Role {
    let facts = &job.setup.facts;
    facts.of(module.op_name(op), module.data_operand_count(op), module.data_results(op).len()).role
}

/// Rows of an image: the first of its two spatial dimensions. ONNX has channels before them, all others behind.
fn rows(job: &Job<'_>, module: &Module, value: ValueId) -> Option<u64> {
    let sizes = Shaped::of(module, value)?.sizes()?;
    let onnx = job.name.ends_with(".onnx")
        || module.defining_op(value).is_some_and(|op| module.op_name(op).starts_with("onnx."));
    if sizes.len() != 4 {
        return None;
    }
    sizes.get(if onnx { 2 } else { 1 }).copied()
}
