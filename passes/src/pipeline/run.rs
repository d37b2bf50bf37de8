//! Runs a pipeline over the functions of a module, callees first.
//!
//! The runner trusts no pass: with [`Run::verify_each`] a pass that says "unchanged" must have left the module as it was, which the
//! module's count of changes tells without printing anything; what else must hold after a pass is the observer's to check. The
//! runner itself does no input or output and knows no clock: printing, timing and reproducers are observers.

use super::{Pipeline, PipelineError, Step};
use crate::callees::callees_first;
use crate::certificate::Certificate;
use crate::effects::Summaries;
use crate::pass::Context;
use crate::priced::Priced;
use crate::profile::Profile;
use crate::recomputed::Recomputing;
use neap_ir::diag::Diagnostic;
use neap_ir::facts::Facts;
use neap_ir::{Module, OpId};
use std::collections::BTreeMap;

/// What one pass did to one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassReport {
    /// The pass.
    pub name: &'static str,
    /// The function, without `@`.
    pub function: String,
    /// Whether anything changed.
    pub changed: bool,
    /// Counters, kebab-case.
    pub stats: BTreeMap<&'static str, u64>,
    /// What was refused and why, what was warned about.
    pub remarks: Vec<Diagnostic>,
    /// Proofs that the pass has found.
    pub certificates: Vec<Certificate>,
    /// What is computed again, and what that costs.
    pub recomputed: Vec<Recomputing>,
    /// What demands cost, where that was asked.
    pub prices: Vec<Priced>,
}

/// Watches a pipeline run: printing, timing, verifying, reproducers.
pub trait Observer {
    /// Called before a pass runs on a function.
    fn before(&mut self, _module: &Module, _step: &Step, _func: OpId) {}

    /// Called after a pass ran on a function.
    ///
    /// # Errors
    /// What is broken; it stops the pipeline.
    fn after(&mut self, _module: &Module, _step: &Step, _func: OpId, _changed: bool) -> Result<(), Vec<Diagnostic>> {
        Ok(())
    }
}

/// The observer that watches nothing.
pub struct Quiet;

impl Observer for Quiet {}

/// What a run depends on besides the module and the pipeline.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// What operations mean.
    pub facts: &'a Facts,
    /// What the runtime can realise.
    pub profile: &'a Profile,
    /// True once the user's time is up.
    pub stop: &'a dyn Fn() -> bool,
    /// Whether a pass that says "unchanged" is checked.
    pub verify_each: bool,
}

/// Runs a pipeline: per group, each function goes through all passes, callees before their callers, so that a caller's passes see
/// what its callees need.
///
/// # Errors
/// A call cycle, a pass that refuses its input, an observer or the runner that finds a pass wrong. The module is then not to be used.
pub fn run(
    module: &mut Module,
    pipeline: &Pipeline,
    run: Run<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<PassReport>, PipelineError> {
    let functions = callees_first(module, run.facts).map_err(|cycle| PipelineError::CallCycle(Box::new(cycle)))?;
    let mut reports = Vec::new();
    for group in &pipeline.groups {
        let summaries = Summaries::default();
        for func in &functions {
            for step in group {
                reports.push(run_step(module, step, *func, run, &summaries, observer)?);
            }
        }
    }
    Ok(reports)
}

fn run_step(
    module: &mut Module,
    step: &Step,
    func: OpId,
    run: Run<'_>,
    summaries: &Summaries,
    observer: &mut dyn Observer,
) -> Result<PassReport, PipelineError> {
    let name = step.info.name;
    let function = module.sym_name(func).unwrap_or_default().to_owned();
    let pass = (step.info.build)(&step.options).map_err(|message| PipelineError::BadOption { pass: name, message })?;
    let Run { facts, profile, stop, .. } = run;
    let mut cx = Context::new(facts, profile, summaries, stop);
    observer.before(module, step, func);
    let before = module.changes();
    let changed = match pass.run(module, func, &mut cx) {
        Ok(changed) => changed,
        Err(found) => return Err(PipelineError::Refused { pass: name, function, diagnostic: Box::new(found) }),
    };
    if run.verify_each && !changed && module.changes() != before {
        return Err(PipelineError::SilentChange { pass: name, function });
    }
    match observer.after(module, step, func, changed) {
        Ok(()) => {
            let Context { stats, remarks, certificates, recomputed, prices, .. } = cx;
            Ok(PassReport { name, function, changed, stats, remarks, certificates, recomputed, prices })
        }
        Err(diagnostics) => Err(PipelineError::Broken { pass: name, function, diagnostics }),
    }
}

#[cfg(test)]
mod tests;
