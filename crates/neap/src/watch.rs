//! Watches a pipeline: verifies after each pass, shows the module between passes, measures time, and notes the stages that the
//! summary tells apart.

use crate::cli::PrintIr;
use crate::drive::Setup;
use crate::progress::Progress;
use crate::summary::Stages;
use neap_ir::diag::Diagnostic;
use neap_ir::print::{PrintOptions, print};
use neap_ir::{Module, OpId};
use neap_passes::pipeline::{Observer, Step};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The observer of a run.
pub struct Watch<'a, 'p> {
    /// The clock and the error stream.
    pub progress: &'a Progress<'p>,
    /// When the module is shown.
    pub print_ir: &'a PrintIr,
    /// How it is printed.
    pub options: PrintOptions,
    /// Whether the verifier runs after each pass.
    pub verify_each: bool,
    /// Facts and profile.
    pub setup: &'a Setup,
    /// Peaks between passes.
    pub stages: Stages,
    /// Time per pass, in the order of first use.
    pub times: Vec<(&'static str, Duration)>,
    /// When the pass that runs started.
    pub started: Instant,
}

impl Watch<'_, '_> {
    fn show(&self, module: &Module, when: &str, step: &Step, func: OpId) {
        let name = module.sym_name(func).unwrap_or_default();
        let title = format!(
            "// -----// IR Dump {when} {} ({}) ('func.func' operation: @{name}) //----- //\n",
            step.info().name,
            step
        );
        self.progress.say(&(title + &print(module, &self.options) + "\n"));
    }

    /// Time per pass, as `--mlir-timing` shows it.
    pub fn timing(&self) -> String {
        let total: Duration = self.times.iter().map(|(_, time)| *time).sum();
        let mut out = String::from("===- execution time of passes, wall clock -===\n");
        for (name, time) in &self.times {
            let share = time.as_secs_f64() / total.as_secs_f64().max(f64::MIN_POSITIVE) * 100.0;
            let _ = writeln!(out, "  {:>9.4} s ({share:>5.1} %)  {name}", time.as_secs_f64());
        }
        let _ = writeln!(out, "  {:>9.4} s (100.0 %)  total", total.as_secs_f64());
        out
    }
}

impl Observer for Watch<'_, '_> {
    fn before(&mut self, module: &Module, step: &Step, func: OpId) {
        let name = step.info().name;
        self.stages.before(module, name, func, self.setup);
        if self.print_ir.before_all || self.print_ir.before.iter().any(|other| other == name) {
            self.show(module, "Before", step, func);
        }
        self.progress.label(format!("{name} on @{}", module.sym_name(func).unwrap_or_default()));
        self.started = Instant::now();
    }

    fn after(&mut self, module: &Module, step: &Step, func: OpId, changed: bool) -> Result<(), Vec<Diagnostic>> {
        let (name, time) = (step.info().name, self.started.elapsed());
        match self.times.iter_mut().find(|(other, _)| *other == name) {
            Some((_, sum)) => *sum += time,
            None => self.times.push((name, time)),
        }
        let named = self.print_ir.after.iter().any(|other| other == name);
        if self.print_ir.after_all || named || self.print_ir.after_change && changed {
            self.show(module, "After", step, func);
        }
        if self.verify_each { neap_ir::verify::verify_function(module, func) } else { Ok(()) }
    }
}
