//! What flags that hold bytes cost: the same plan once more without each of them.
//!
//! A price is the difference of two arenas, so prices of several flags need not add up.

use crate::cli::{Common, SourceFlags};
use crate::drive::{self, Job, Reproducer};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::summary::{Price, Summary};
use neap_ir::Module;

/// So many flags are priced; further ones would each take another run.
const MOST: usize = 16;

/// Adds the prices to the summary of a run on `module`, as it was before the run.
///
/// # Errors
/// A run without one of the flags fails.
pub fn add(job: &Job<'_>, module: &Module, summary: &mut Summary) -> Result<(), Failure> {
    for (flag, value, flags) in without(&job.common.source).into_iter().take(MOST) {
        let common = Common { source: flags, budgets: Vec::new(), no_check: true, ..job.common.clone() };
        let job = Job { common: &common, reproducer: Reproducer::Never, ..*job };
        let mut quiet = std::io::sink();
        let progress = Progress::new(&mut quiet, false, common.time_limit);
        let other = match drive::run(&job, module.clone(), &progress) {
            Ok(planned) => planned.summary,
            // What does not fit without the flag has no price.
            Err(failure) if failure.exit == Exit::Demand => None,
            Err(failure) => return Err(failure),
        };
        let Some(other) = other else { continue };
        for function in &mut summary.functions {
            let before = other.functions.iter().find(|other| other.name == function.name);
            // Other functions than the value's own cost the same.
            if let Some(before) = before.filter(|before| before.bytes != function.bytes || held(before, function)) {
                let bytes = function.plan.arena as i64 - before.plan.arena as i64;
                function.prices.push(Price { flag, value: value.clone(), bytes });
            }
        }
    }
    Ok(())
}

/// Whether two plans differ in what is held.
fn held(one: &crate::summary::Function, other: &crate::summary::Function) -> bool {
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
