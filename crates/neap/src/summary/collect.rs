//! Collects the figures of a summary from the source, the planned module and what the passes counted.

use super::graph::graph;
use super::stages::{self, flow, peak};
use super::storages::{self, Placed, Spelled};
use super::{
    Bytes, Check, Function, Given, Pass, PeakStep, Plan, Proof, ProofBy, Recomputed, Recomputing, Saved, ScratchKnown,
    SearchEnd, Source, Stages, Summary,
};
use crate::apply::Applied;
use crate::drive::Setup;
use crate::size::grouped;
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Module, OpId, plan};
use neap_passes::analysis::Flow;
use neap_passes::analysis::names::op_name;
use neap_passes::analysis::scratch::own_bytes;
use neap_passes::analysis::storage::Class;
use neap_passes::analysis::values::Sharing;
use neap_passes::pipeline::PassReport;
use std::collections::BTreeMap;

/// What a summary is made from.
pub struct Inputs<'a> {
    /// The input as given.
    pub name: &'a str,
    /// Facts and profile.
    pub setup: &'a Setup,
    /// The module before the first pass.
    pub source: &'a Module,
    /// The module with its plan.
    pub planned: &'a Module,
    /// Peaks between passes.
    pub stages: &'a Stages,
    /// What the flags did.
    pub applied: &'a Applied,
    /// What the passes did.
    pub reports: &'a [PassReport],
    /// What the checker said.
    pub check: Check,
    /// Whether the user's time ran out.
    pub time_limit_hit: bool,
    /// Whether there will be pictures.
    pub draw: bool,
}

/// Collects the summary of all functions that have a plan.
///
/// # Errors
/// A function that cannot be looked at, though the passes could.
pub fn collect(inputs: &Inputs<'_>) -> Result<Summary, Diagnostic> {
    let source = with_callees(inputs.source, inputs.planned);
    let names = Spelled::of(inputs.planned, &inputs.setup.facts);
    // What passes counted, by function; of a pass that ran twice, the last run is the plan's.
    let mut counts: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for report in inputs.reports {
        let stats = report.stats.iter().map(|(name, count)| (*name, *count));
        counts.entry(&report.function).or_default().extend(stats);
    }
    let mut functions = Vec::new();
    for func in inputs.planned.functions() {
        if inputs.planned.attr(func, plan::ARENA_BYTES).is_some() {
            let counted = inputs.planned.sym_name(func).and_then(|name| counts.get(name));
            functions.push(function(inputs, &source, func, &names, counted)?);
        }
    }
    let pass = |report: &PassReport| Pass {
        name: report.name.to_owned(),
        function: report.function.clone(),
        changed: report.changed,
        stats: report.stats.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
    };
    Ok(Summary {
        version: 1,
        neap: env!("CARGO_PKG_VERSION"),
        input: inputs.name.to_owned(),
        profile: inputs.setup.name.clone(),
        check: inputs.check,
        not_included: not_included(inputs),
        functions,
        buckets: None,
        missed: Vec::new(),
        passes: inputs.reports.iter().map(pass).collect(),
    })
}

/// What the profile leaves out; kernels' scratch only where the input and the flags leave it open.
fn not_included(inputs: &Inputs<'_>) -> Vec<String> {
    let mut list = inputs.setup.profile.not_included.clone();
    match inputs.applied.excluded.len() {
        0 => {}
        1 => list.insert(0, "1 value of no known size".to_owned()),
        count => list.insert(0, format!("{} values of no known size", grouped(count as i128))),
    }
    let module = inputs.planned;
    let given = module.functions().iter().flat_map(|func| module.walk(*func)).any(|op| own_bytes(module, op) > 0);
    for what in list.iter_mut().filter(|what| given && *what == "kernel scratch (unknown)") {
        *what = "kernel scratch of operations for which none is given".to_owned();
    }
    list
}

/// The source in which callees need what they need in the plan: what a function saves is its own doing then.
fn with_callees(source: &Module, planned: &Module) -> Module {
    let mut module = source.clone();
    for func in module.functions() {
        let name = module.sym_name(func).unwrap_or_default().to_owned();
        let bytes =
            planned.symbol(&name).and_then(|other| planned.attr(other, plan::ARENA_BYTES)).and_then(Attr::as_i64);
        if let Some(bytes) = bytes {
            let bytes = module.i64_attr(bytes);
            module.set_attr(func, plan::ARENA_BYTES, bytes);
        }
    }
    module
}

fn function(
    inputs: &Inputs<'_>,
    source: &Module,
    func: OpId,
    names: &Spelled,
    counted: Option<&BTreeMap<&str, u64>>,
) -> Result<Function, Diagnostic> {
    let (module, setup) = (inputs.planned, inputs.setup);
    let name = module.sym_name(func).unwrap_or_default().to_owned();
    let flow = flow(module, func, setup, Sharing::PLANNED)?;
    let original =
        source.symbol(&name).map(|func| super::stages::flow(source, func, setup, Sharing::NONE)).transpose()?;
    let source_peak = original.as_ref().map_or(flow.profile.peak, |flow| flow.profile.peak);
    let placed = storages::placed(module, &flow, names)?;
    let (unknown_ops, unknown_bytes) = unknown(inputs, &flow);
    let plan = plan_of(inputs, func, counted, &flow, &placed);
    let excluded =
        inputs.applied.excluded.iter().filter(|(function, _)| *function == name).map(|(_, value)| value.clone());
    Ok(Function {
        fingerprint: text(module, func, plan::FINGERPRINT),
        ops: flow.timeline.len().into(),
        unknown_ops,
        unknown_bytes,
        bytes: bytes(inputs, &flow, original.as_ref()),
        source: original.as_ref().map_or_else(Source::default, |flow| given(inputs, source, flow)),
        saved: saved(inputs, func, &name, source_peak, &plan)?,
        peak_step: peak_step(module, &flow, &placed),
        graph: inputs.draw.then(|| graph(inputs, &flow, original.as_ref(), &placed)),
        plan,
        arenas: placed.arenas,
        storages: placed.storages,
        excluded: excluded.collect(),
        prices: Vec::new(),
        recomputed: recomputed(inputs, &name),
        unpriced: 0,
        freer: None,
        runtime_order: None,
        name,
    })
}

/// What a pass computes again.
fn recomputed(inputs: &Inputs<'_>, function: &str) -> Option<Recomputing> {
    let mut found = inputs.reports.iter().rev().flat_map(|report| &report.recomputed);
    let found = found.find(|found| found.function == function)?;
    let value = |value: &neap_passes::recomputed::Recomputed| Recomputed {
        value: value.value.clone(),
        bytes: value.bytes,
        reader: value.reader.replace('`', ""),
        ops: value.ops,
        extra: value.cost,
        before: value.before,
        after: value.after,
    };
    Some(Recomputing {
        unit: found.unit.as_str(),
        work: found.work,
        extra: found.cost(),
        floor: found.floor,
        floor_op: found.floor_op.replace('`', ""),
        values: found.values.iter().map(value).collect(),
    })
}

/// The peak of the order that was given.
fn given(inputs: &Inputs<'_>, module: &Module, flow: &Flow<'_>) -> Source {
    let (peak, step) = (flow.profile.peak, flow.profile.step);
    let entry = flow.timeline.by_step.get(step as usize).map(|id| flow.timeline.entry(*id));
    // Where nothing ran, the plan was there already.
    let of = if inputs.reports.is_empty() { Given::Plan } else { Given::Input };
    Source { of, peak, step, op: entry.map_or_else(String::new, |entry| op_name(module, entry.op).replace('`', "")) }
}

fn text(module: &Module, op: OpId, key: &str) -> String {
    module.attr(op, key).and_then(Attr::as_str).unwrap_or_default().to_owned()
}

fn number(module: &Module, op: OpId, key: &str) -> Option<u64> {
    module.attr(op, key).and_then(Attr::as_i64).and_then(|value| u64::try_from(value).ok())
}

fn plan_of(
    inputs: &Inputs<'_>,
    func: OpId,
    counted: Option<&BTreeMap<&str, u64>>,
    flow: &Flow<'_>,
    placed: &Placed,
) -> Plan {
    let module = inputs.planned;
    let peak = flow.profile.peak;
    let arena = number(module, func, plan::ARENA_BYTES).unwrap_or(0);
    let bound = number(module, func, plan::LOWER_BOUND);
    let order_proof = match bound {
        Some(bound) if bound >= peak => Proof::Optimal,
        Some(_) => Proof::Gap,
        None => Proof::None,
    };
    let proof_by = match text(module, func, plan::PROOF).as_str() {
        "certified" => Some(ProofBy::Flow),
        "search" => Some(ProofBy::Search),
        "tree" => Some(ProofBy::Tree),
        _ => None,
    };
    let counted = |key: &str| counted.and_then(|counts| counts.get(key)).copied();
    let arena_lower_bound = counted("arena-lower-bound").unwrap_or(peak).min(arena);
    Plan {
        peak,
        lower_bound: bound.unwrap_or(0),
        order_proof,
        proof_by,
        arena,
        arena_lower_bound,
        offset_proof: if arena == arena_lower_bound { Proof::Optimal } else { Proof::Gap },
        base_align: placed.base_align,
        makespan: counted("makespan"),
        time_limit_hit: inputs.time_limit_hit,
        search_end: match (counted("within-budget"), counted("cut-short")) {
            (Some(_), _) => SearchEnd::Budget,
            (None, Some(_)) => SearchEnd::Effort,
            (None, None) => SearchEnd::Done,
        },
        least_peak: counted("least-peak"),
    }
}

/// Operations that no table knows, and the bytes of their results.
fn unknown(inputs: &Inputs<'_>, flow: &Flow<'_>) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
    let (module, facts) = (inputs.planned, &inputs.setup.facts);
    let (mut counts, mut bytes) = (BTreeMap::new(), BTreeMap::new());
    for entry in flow.timeline.entries.iter().filter(|entry| facts.get(module.op_name(entry.op)).is_none()) {
        let name = module.op_name(entry.op).to_owned();
        let slots = module.data_results(entry.op).iter().filter_map(|value| flow.values.slot(*value));
        let sum = slots.map(|slot| flow.values.info(slot).bytes).fold(0, u64::saturating_add);
        *counts.entry(name.clone()).or_insert(0) += 1;
        let total: &mut u64 = bytes.entry(name).or_insert(0);
        *total = total.saturating_add(sum);
    }
    (counts, bytes)
}

fn bytes(inputs: &Inputs<'_>, flow: &Flow<'_>, original: Option<&Flow<'_>>) -> Bytes {
    let values = original.map_or(flow, |original| original);
    let tensors = values.storages.in_arena().filter(|(_, storage)| storage.class != Class::Scratch);
    let open = inputs.setup.profile.not_included.iter().any(|what| what.contains("scratch"));
    let scratch = match (open, flow.scratch.iter().all(|scratch| scratch.bytes == scratch.callee)) {
        (false, _) => ScratchKnown::Known,
        (true, false) => ScratchKnown::Partial,
        (true, true) => ScratchKnown::Unknown,
    };
    Bytes {
        constants: flow.storages.sum(Class::Constant),
        state: flow.storages.sum(Class::State).max(storages::variables(inputs.planned, flow)),
        external: flow.storages.sum(Class::External),
        sum_of_tensors: tensors.map(|(_, storage)| storage.size).fold(0, u64::saturating_add),
        scratch_max: flow.scratch.iter().map(|scratch| scratch.bytes).max().unwrap_or(0),
        scratch,
    }
}

/// A ladder from the naive truth to the plan; each step changes one thing.
fn saved(inputs: &Inputs<'_>, func: OpId, name: &str, source: u64, plan: &Plan) -> Result<Saved, Diagnostic> {
    let (module, setup) = (inputs.planned, inputs.setup);
    let views = Sharing { views: true, ..Sharing::NONE };
    let viewed = peak(module, func, setup, views)?;
    let in_place = peak(module, func, setup, Sharing { in_place: true, ..views })?;
    let (rewritten, before_copies, before_order) = match inputs.stages.get(name) {
        Some(before) => (before.rewritten, before.viewed, before.recomputed),
        // Without an ordering pass the order is the input's own.
        None => (peak(module, func, setup, Sharing::NONE)?, viewed, viewed),
    };
    let less = |from: u64, to: u64| from as i64 - to as i64;
    let recompute = match copies(inputs, name) {
        // What is computed again may only show once the order makes use of it: it brought at least what the pass found it to bring.
        Some(Copies { found, ordered: true }) => {
            less(before_copies, before_order).max(found.min(less(before_copies, viewed)))
        }
        Some(Copies { ordered: false, .. }) => less(before_copies, viewed),
        None => less(before_copies, before_order),
    };
    Ok(Saved {
        fuse: less(source, rewritten),
        views: less(rewritten, before_copies),
        recompute,
        order: less(before_copies, viewed) - recompute,
        in_place: less(viewed, in_place),
        placement: less(in_place, plan.peak),
        packing: less(plan.peak, plan.arena),
    })
}

/// What is computed again in a function.
struct Copies {
    /// Bytes that it takes off the peak, each time as the pass found it: by ordering the function without and with it.
    found: i64,
    /// Whether an order was chosen after it.
    ordered: bool,
}

/// None where nothing is computed again.
fn copies(inputs: &Inputs<'_>, function: &str) -> Option<Copies> {
    let own = inputs.reports.iter().filter(|report| report.function == function);
    own.fold(None, |copies: Option<Copies>, report| {
        let here = report.recomputed.iter().filter(|found| found.function == function && !found.values.is_empty());
        let bytes: Vec<i64> = here.map(|found| found.before as i64 - found.after as i64).collect();
        match copies {
            _ if !bytes.is_empty() => {
                let before = copies.map_or(0, |copies| copies.found);
                Some(Copies { found: before + bytes.iter().sum::<i64>(), ordered: false })
            }
            Some(copies) => Some(Copies { ordered: copies.ordered || report.name == stages::ORDERING, ..copies }),
            None => None,
        }
    })
}

fn peak_step(module: &Module, flow: &Flow<'_>, placed: &Placed) -> Option<PeakStep> {
    let step = flow.profile.step;
    let entry = flow.timeline.by_step.get(step as usize).map(|id| flow.timeline.entry(*id))?;
    let held = neap_passes::analysis::peak::holders(&flow.storages, step);
    let storages = held.into_iter().filter_map(|id| placed.ids.get(id.index()).copied().flatten()).collect();
    Some(PeakStep { step, op: op_name(module, entry.op).replace('`', ""), storages })
}
