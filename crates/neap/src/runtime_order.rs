//! What a runtime that re-sorts nodes by itself makes of a plan: two peaks, and the file whose own order suits it best.
//!
//! ONNX Runtime runs nodes in an order of its own unless the session asks for the file's. The file that is written has the plan's peak
//! in the order in which its nodes stand; among such files the one is taken that the runtime's own order suits best, and where one has the plan's peak
//! in both orders no option is needed.

use crate::drive::{Planned, Setup};
use crate::exit::{Exit, Failure};
use crate::input::Kind;
use crate::size::grouped;
use crate::summary::RuntimeOrder;
use crate::template::Template;
use neap_emit::onnx::runtime::{candidates, complete, default_order, priority_order};
use neap_import::onnx::{Outline, outline};
use neap_ir::diag::{Diagnostic, Severity};
use neap_ir::{Module, OpId, Span};
use neap_passes::analysis::Flow;
use neap_passes::analysis::values::Sharing;
use neap_passes::pipeline::{self, Pipeline, Quiet, Run};
use std::collections::BTreeMap;

/// What decides what is taken in a given order; nothing is packed.
const PASSES: &str = "canonicalize-views,lock-effects,reorder{order=input}";

/// The part of the plan's peak below which a gain does not count: what the runtime keeps beside tensors is of that size, and a file is not
/// changed for less.
const SLACK: u64 = 100;

/// Of a larger file only the given order and the plan's are looked at: each costs a run of the passes.
const MOST_NODES: usize = 20_000;

/// What was found.
pub struct Found {
    /// The peaks.
    pub peaks: RuntimeOrder,
    /// The nodes of the file in the order to write, by their numbers in it.
    pub order: Vec<usize>,
}

/// Looks at the runtime's own order, where it has one, and says so in the summary.
pub fn report(template: Option<&Template>, planned: &mut Planned, setup: &Setup) -> Option<Found> {
    let template = template.filter(|template| template.input.kind == Kind::Onnx && setup.profile.resorts);
    let (Some(template), Some(summary)) = (template, &mut planned.summary) else { return None };
    // A plan that no file can hold has no order there; a writer that is asked for one says why.
    let found = find(template, &planned.module, setup).ok()?;
    if let Some(function) = summary.functions.iter_mut().find(|function| function.name == "main") {
        function.runtime_order = Some(found.peaks);
    }
    Some(found)
}

/// Looks for the file to write.
///
/// # Errors
/// The plan is not one of this file.
pub fn find(template: &Template, planned: &Module, setup: &Setup) -> Result<Found, Failure> {
    let refused = |diagnostics| Failure::new(Exit::Input, diagnostics);
    let file = outline(&template.input.bytes).map_err(refused)?;
    let ours = neap_emit::onnx::planned_order(&file, planned).map_err(refused)?;
    let given: Vec<usize> = (0..file.nodes.len()).collect();
    let mut known: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
    let mut peak = |order: &[usize]| -> Result<u64, Failure> {
        if let Some(peak) = known.get(order) {
            return Ok(*peak);
        }
        let found = peak(&file, template, setup, order)?;
        known.insert(order.to_vec(), found);
        Ok(found)
    };
    let plan = peak(&ours)?;
    let enough = plan + plan / SLACK;
    let as_given = peak(&default_order(&file, &given))?;
    let in_file_order = peak(&priority_order(&file, &given))?;
    let runs = file.nodes.iter().enumerate().all(|(index, node)| node.before.iter().all(|first| *first < index));
    let standing = if runs { given } else { complete(&file, &default_order(&file, &given)) };
    // The file as it is comes first: of equally good ones it is kept. The first whose own order has the plan's peak ends the search.
    let mut all = candidates(&file, &standing);
    all.extend(candidates(&file, &ours));
    if file.nodes.len() > MOST_NODES {
        all = vec![standing, ours.clone()];
    }
    let mut best: Option<((bool, u64, u64), Vec<usize>)> = None;
    for order in all {
        let (by_default, by_file) = (peak(&default_order(&file, &order))?, peak(&priority_order(&file, &order))?);
        // Without the option it must be the plan's peak, with it never more than before; else the file is for those who set the option.
        let (suits, stands) = (by_default <= enough && by_file <= in_file_order, by_file <= enough);
        let rank = if suits { (false, by_file, by_default) } else { (true, by_default, by_file) };
        if (suits || stands) && best.as_ref().is_none_or(|(other, _)| rank < *other) {
            best = Some((rank, order));
        }
        if best.as_ref().is_some_and(|((needs, by_file, _), _)| !needs && *by_file <= enough) {
            break;
        }
    }
    let ((needs_priority, ..), order) = best.unwrap_or(((true, 0, 0), ours));
    let as_written = peak(&default_order(&file, &order))?;
    Ok(Found { peaks: RuntimeOrder { as_given, as_written, plan, needs_priority }, order })
}

/// The peak of the file's graph in an order of its nodes, with what can be shared in it.
fn peak(file: &Outline, template: &Template, setup: &Setup, order: &[usize]) -> Result<u64, Failure> {
    let mut module = template.source().clone();
    let broken = |diagnostic: Diagnostic| Failure::new(Exit::Input, vec![diagnostic]);
    let missing = || broken(Diagnostic::error(Span::default(), "the model has no function @main"));
    let func = module.symbol("main").ok_or_else(missing)?;
    let block = module.entry(func).ok_or_else(missing)?;
    let mut nodes: Vec<Option<OpId>> = vec![None; file.nodes.len()];
    let mut all: Vec<OpId> = Vec::new();
    let last = module.terminator(block);
    for op in module.block_ops(block) {
        match module.origin(op, "main").filter(|index| *index < nodes.len()) {
            Some(index) => nodes[index] = Some(op),
            None if Some(op) == last => {}
            None => all.push(op),
        }
    }
    all.extend(complete(file, order).into_iter().filter_map(|index| nodes[index]));
    all.extend(last);
    module.set_block_order(block, &all);
    let pipeline = Pipeline::parse(PASSES).map_err(|error| broken(error.diagnostic()))?;
    let run = Run { facts: &setup.facts, profile: &setup.profile, stop: &|| false, verify_each: false };
    pipeline::run(&mut module, &pipeline, run, &mut Quiet).map_err(|error| broken(error.diagnostic()))?;
    let flow = Flow::new(&module, func, &setup.facts, &setup.profile, Sharing::PLANNED).map_err(broken)?;
    Ok(flow.profile.peak)
}

/// What to do where the runtime's own order is worse than the plan's.
pub fn advice(peaks: &RuntimeOrder) -> Option<Diagnostic> {
    if !peaks.needs_priority {
        return None;
    }
    let (own, plan) = (grouped(peaks.as_written.into()), grouped(peaks.plan.into()));
    let what = format!("ONNX Runtime needs {own} B in the order that it chooses by itself, and {plan} B in the plan's");
    let mut diagnostic = Diagnostic::new(Severity::Warning, Span::default(), what);
    for line in [
        "options = onnxruntime.SessionOptions()",
        "options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC",
        "options.execution_order = onnxruntime.ExecutionOrder.PRIORITY_BASED",
    ] {
        diagnostic = diagnostic.note(line);
    }
    Some(diagnostic.help("make the session with these options, from the file that `-o OUT.onnx` writes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_named_where_it_is_needed() {
        let peaks = RuntimeOrder { as_given: 9000, as_written: 8000, plan: 5000, needs_priority: true };
        let advice = advice(&peaks).expect("there is something to say");
        assert_eq!((advice.severity, advice.notes.len()), (Severity::Warning, 3));
        assert!(advice.message.contains("8,000 B") && advice.notes[2].contains("PRIORITY_BASED"), "{advice:?}");
        assert!(super::advice(&RuntimeOrder { needs_priority: false, ..peaks }).is_none());
    }
}
