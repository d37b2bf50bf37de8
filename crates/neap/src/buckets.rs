//! `--buckets N=64,128,256`: the same module planned for each range of sizes, and one arena that is large enough for all.
//!
//! A plan at a bound holds for all smaller sizes but takes the bytes of the bound. A range of its own for small sizes takes fewer, at the price
//! of another plan. Each is planned and checked like any other, at its own bounds.

use crate::cli::{BucketsFlag, Common, DimFlag};
use crate::drive::{self, Job, Planned};
use crate::exit::Failure;
use crate::progress::Progress;
use crate::summary::{self, Bucket, Buckets};
use neap_ir::plan::BUCKET;
use neap_ir::{Attr, Module};

/// Runs a job for every bucket, or once where there are none. `module` was read with the job's own bounds, and `read` makes one of it with others: what
/// is computed from a dimension has the bounds of each bucket.
///
/// # Errors
/// What is wrong with the module or with one of the plans.
pub fn run(
    job: &Job<'_>,
    module: Module,
    read: impl Fn(&Module, &[DimFlag]) -> Result<Module, Failure>,
    progress: &Progress<'_>,
) -> Result<Planned, Failure> {
    let Some(flag) = &job.common.buckets else { return drive::run(job, module, progress) };
    crate::apply::dims::there(&module, "--buckets", &flag.name)?;
    let mut low = lowest(&module, job.common, flag)?;
    let mut runs: Vec<(u64, u64, Planned)> = Vec::new();
    for &high in &flag.sizes {
        let mut common = Common { buckets: None, ..job.common.clone() };
        common.source.dims.retain(|dim| dim.name != flag.name);
        common.source.dims.push(DimFlag { name: flag.name.clone(), low, high });
        let job = Job { common: &common, reproducer: job.reproducer.clone(), ..*job };
        let mut planned = read(&module, &common.source.dims)
            .and_then(|module| drive::run(&job, module, progress))
            .map_err(|failure| failure.note(format!("with {} from {low} to {high}", flag.name)))?;
        mark(&mut planned.module, flag, low, high);
        runs.push((low, high, planned));
        low = high + 1;
    }
    joined(runs, &flag.name, job.setup.profile.own_arena_per_function)
        .ok_or_else(|| Failure::usage("`--buckets` names no size"))
}

/// The plans of all ranges as one, by the least and the largest size of each, ascending; none where there are none.
pub fn joined(mut runs: Vec<(u64, u64, Planned)>, dim: &str, own: bool) -> Option<Planned> {
    let bucket = |(low, high, planned): &(u64, u64, Planned)| {
        let summary = planned.summary.as_ref()?;
        Some(Bucket {
            low: *low,
            high: *high,
            arena: summary::arena(summary, own),
            functions: summary.functions.clone(),
        })
    };
    let table: Option<Vec<Bucket>> = runs.iter().map(bucket).collect();
    let (least, most) = (runs.first().map_or(0, |run| run.0), runs.last().map_or(0, |run| run.1));
    let (_, _, mut last) = runs.pop()?;
    last.remarks.splice(0..0, runs.iter().flat_map(|run| run.2.remarks.iter().cloned()));
    last.smaller = runs.into_iter().map(|run| run.2.module).collect();
    if let (Some(summary), Some(table)) = (&mut last.summary, table) {
        let arenas = summary::joined(table.iter().map(|bucket| summary::needs(&bucket.functions, own)), u64::max);
        let largest = table.iter().map(|bucket| bucket.arena).max().unwrap_or(0);
        let arena = summary::total(&arenas).max(largest);
        let outside = format!("no plan below {least} or above {most}: refuse the input, or plan another bucket");
        summary.buckets = Some(Buckets { dim: dim.to_owned(), arena, arenas, outside, table });
    }
    Some(last)
}

/// Refuses ranges that do not follow each other without a gap.
///
/// # Errors
/// The first that does not.
pub fn follow(ranges: &[DimFlag]) -> Result<(), Failure> {
    for pair in ranges.windows(2) {
        if pair[0].name != pair[1].name || pair[0].high.checked_add(1) != Some(pair[1].low) {
            let what = format!(
                "the plan for {} from {} to {} does not follow the one from {} to {}",
                pair[1].name, pair[1].low, pair[1].high, pair[0].low, pair[0].high
            );
            return Err(Failure::input(what).help("a size between them has no plan"));
        }
    }
    Ok(())
}

/// Writes which sizes a plan is for.
fn mark(module: &mut Module, flag: &BucketsFlag, low: u64, high: u64) {
    let range = module.i64s_attr(vec![low as i64, high as i64]);
    let dict = module.dict_attr(vec![(flag.name.as_str(), range)]);
    let top = module.top();
    module.set_attr(top, BUCKET, dict);
}

/// The range of sizes that a plan is for, if it is one of several.
pub fn range(module: &Module) -> Option<DimFlag> {
    let Some(Attr::Dict(items)) = module.attr(module.top(), BUCKET) else { return None };
    let [(name, range)] = &items[..] else { return None };
    let bounds: Vec<u64> = range.as_i64s()?.into_iter().map(u64::try_from).collect::<Result<_, _>>().ok()?;
    let [low, high] = bounds[..] else { return None };
    Some(DimFlag { name: module.text(*name).to_owned(), low, high })
}

/// The flags of a run that plans the largest bucket alone.
pub fn largest(mut common: Common) -> Common {
    if let Some(flag) = common.buckets.take()
        && let Some(&high) = flag.sizes.last()
    {
        common.source.dims.retain(|dim| dim.name != flag.name);
        common.source.dims.push(DimFlag { name: flag.name, low: 1.min(high), high });
    }
    common
}

/// The least size of the dimension: by `--dim`, by the module, or 1.
fn lowest(module: &Module, common: &Common, flag: &BucketsFlag) -> Result<u64, Failure> {
    let given = common.source.dims.iter().find(|dim| dim.name == flag.name).map(|dim| dim.low);
    let stated = || {
        let Some(Attr::Dict(bounds)) = module.attr(module.top(), "neap.bounds") else { return None };
        let (_, bound) = bounds.iter().find(|(name, _)| module.text(*name) == flag.name)?;
        bound.as_i64s()?.first().and_then(|low| u64::try_from(*low).ok())
    };
    let low = given.or_else(stated).unwrap_or(1);
    match flag.sizes.first() {
        Some(first) if *first < low => Err(Failure::usage(format!(
            "`--buckets {}`: the first size is {first}, below the lower bound {low}",
            flag.name
        ))),
        _ => Ok(low),
    }
}
