//! What flags that hold bytes cost: the plan once more without each of them.
//!
//! A price is the difference of two arenas, so prices of several flags need not add up. A plan is worth more time than its prices: all runs
//! without a flag together get a fixed part of the effort of the search, counted in nodes, so that pricing takes a bounded time and prices are the
//! same on every machine. Where such a run comes to the end of its part, a longer one might need less: the price is then what the flag costs at least.

use crate::buckets;
use crate::cli::{Common, SourceFlags};
use crate::demands;
use crate::drive::{self, Job, Reproducer};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::summary::{Function, Price, Summary};
use neap_ir::Module;
use neap_passes::pipeline::{Pipeline, PipelineError, Step};

/// So many flags are priced; further ones would each take another run, and are counted.
const MOST: usize = 16;

/// What all orderings for prices may look at, in nodes per body: a tenth of one plan's.
const ORDER_EFFORT: u64 = 200_000;
/// The same of packings, in nodes times storages.
const PACK_EFFORT: u64 = 60_000_000;

/// Adds the prices to the summary of a run on `module`, as it was before the run.
///
/// # Errors
/// What is wrong with the pipeline.
pub fn add(job: &Job<'_>, module: &Module, summary: &mut Summary, progress: &Progress<'_>) -> Result<(), Failure> {
    let flags = without(&job.common.source);
    let (share, mut left) = (flags.len().clamp(1, MOST) as u64, flags.len() as u64);
    // What is computed again for the budget is computed again without a flag as well.
    let asked = demands::asked(job.pipeline, job.common, false);
    let pipeline = short(&asked, share).map_err(|error| Failure::new(Exit::Usage, vec![error.diagnostic()]))?;
    for (flag, value, source) in flags.into_iter().take(MOST) {
        progress.label(format!("the price of --{flag} {value}"));
        let common = Common { source, budgets: Vec::new(), no_check: true, ..job.common.clone() };
        let common = buckets::largest(common);
        let job = Job { common: &common, pipeline: &pipeline, reproducer: Reproducer::Never, draw: false, ..*job };
        // Without the flag there may be no plan at all, as where a large value is in the caller's memory: then there is no price.
        let other = drive::once(&job, module.clone(), progress).ok().and_then(|planned| planned.summary);
        if progress.limit_hit() {
            break;
        }
        let Some(other) = other else { continue };
        left -= 1;
        for function in &mut summary.functions {
            let twin = other.functions.iter().find(|other| other.name == function.name);
            // Other functions than the value's own cost the same.
            if let Some(twin) = twin.filter(|twin| twin.bytes != function.bytes || held(twin, function)) {
                let bytes = function.plan.arena as i64 - twin.plan.arena as i64;
                // What holds or places bytes only forbids plans: a better one with the flag is one without it too.
                let bytes = if flag == "external" { bytes } else { bytes.max(0) };
                function.prices.push(Price { flag, value: value.clone(), bytes, exact: ended(&other, twin, share) });
            }
        }
    }
    for function in &mut summary.functions {
        function.unpriced = left;
    }
    progress.clear();
    Ok(())
}

/// The passes with a part of the effort, where nothing is said of it.
fn short(pipeline: &Pipeline, share: u64) -> Result<Pipeline, PipelineError> {
    let mut steps = Vec::new();
    for step in pipeline.steps() {
        let (text, name) = (step.to_string(), step.info().name);
        let given = text[name.len()..].trim_matches(['{', '}']);
        let effort = match name {
            "reorder" => ORDER_EFFORT / share,
            _ => PACK_EFFORT / share,
        };
        let searches = name != "rematerialize" && step.info().options.iter().any(|option| option.name == "effort");
        let options = match searches && !given.contains("effort=") {
            true => format!("{given} effort={effort}"),
            false => given.to_owned(),
        };
        steps.extend(Step::parse(name, options.trim())?);
    }
    Ok(Pipeline::of(steps))
}

/// Whether the searches of a run ended by themselves: more effort would find the same.
fn ended(run: &Summary, function: &Function, share: u64) -> bool {
    let own = run.passes.iter().filter(|pass| pass.function == function.name);
    own.filter_map(|pass| Some((pass.name.as_str(), *pass.stats.get("nodes")?))).all(|(pass, nodes)| match pass {
        "reorder" => nodes < ORDER_EFFORT / share,
        // Per storage, of which a small graph counts as a thousand.
        _ => nodes < PACK_EFFORT / share / (function.storages.len() as u64).max(1000),
    })
}

/// Whether two plans differ in what is held.
fn held(one: &Function, other: &Function) -> bool {
    one.storages != other.storages || one.plan.arena != other.plan.arena
}

/// The flags without each of those that hold bytes.
fn without(flags: &SourceFlags) -> Vec<(&'static str, String, SourceFlags)> {
    let mut found = Vec::new();
    for (at, name) in flags.keep.iter().enumerate() {
        let mut less = flags.clone();
        less.keep.remove(at);
        found.push(("keep", name.clone(), less));
    }
    for (at, pin) in flags.pins.iter().enumerate() {
        let mut less = flags.clone();
        less.pins.remove(at);
        found.push(("pin", format!("{}@{}", pin.name, pin.offset), less));
    }
    for (at, name) in flags.external.iter().enumerate() {
        let mut less = flags.clone();
        less.external.remove(at);
        found.push(("external", name.clone(), less));
    }
    found
}
