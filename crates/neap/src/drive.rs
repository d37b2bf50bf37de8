//! One module from input to checked plan: flags become attributes, passes run, the checker compares, demands are met.
//!
//! The checker gets the module as it was before the first pass, and sees nothing of what the passes computed. What it does not accept
//! goes no further: the run ends, with a reproducer when the plan is our own.

use crate::apply::{self, Applied};
use crate::cli::{Common, PrintIr, SourceFlags, SummaryKind};
use crate::demands;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::progress::Progress;
use crate::proofs;
use crate::reproducer;
use crate::summary::{self, Check, Stages, Summary};
use crate::watch::Watch;
use crate::would_help;
use neap_check::Certificate;
use neap_ir::diag::{Diagnostic, Severity};
use neap_ir::facts::Facts;
use neap_ir::plan::PROFILE;
use neap_ir::print::PrintOptions;
use neap_ir::{Attr, Module};
use neap_passes::pipeline::{self, PassReport, Pipeline, PipelineError, Quiet, Run};
use neap_passes::priced::Priced;
use neap_passes::profile::Profile;
use neap_passes::registry::PIPELINES;
use neap_passes::suggest::closest;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Instant;

/// What operations mean and what the runtime can do.
pub struct Setup {
    /// Op facts, the user's tables included.
    pub facts: Facts,
    /// The runtime profile.
    pub profile: Profile,
    /// What it is called.
    pub name: String,
}

impl Setup {
    /// Reads tables and profile.
    ///
    /// # Errors
    /// A file that cannot be read or is wrong, a profile that does not exist.
    pub fn new(flags: &SourceFlags, default_profile: &str) -> Result<Setup, Failure> {
        let mut facts = Facts::builtin();
        for path in &flags.dialects {
            let text = input::text(path)?;
            facts.add_table(&text, &path.display().to_string()).map_err(|error| Failure::usage(error.to_string()))?;
        }
        flags.assume_pure.iter().for_each(|dialect| facts.assume_pure(dialect));
        let name = flags.profile.as_deref().unwrap_or(default_profile);
        Ok(Setup { facts, profile: profile(name)?, name: name.to_owned() })
    }
}

/// The profile that a plan says it was made with.
pub fn recorded(planned: &Module) -> Option<&str> {
    planned.attr(planned.top(), PROFILE).and_then(Attr::as_str)
}

/// An embedded profile by name, or a file of the user's.
fn profile(name: &str) -> Result<Profile, Failure> {
    if let Some(profile) = Profile::builtin(name) {
        return Ok(profile);
    }
    let file = name.contains(['.', '/']).then(|| PathBuf::from(name));
    let Some(file) = file else {
        let names: Vec<&str> = Profile::names().collect();
        let failure = Failure::usage(format!("there is no profile `{name}`"))
            .note(format!("there are: {}, or a file", names.join(", ")));
        return Err(match closest(name, names.into_iter()) {
            Some(close) => failure.help(format!("did you mean `{close}`?")),
            None => failure,
        });
    };
    Profile::parse(&input::text(&file)?, name).map_err(|error| Failure::usage(error.to_string()))
}

/// What to do with a module.
pub struct Job<'a> {
    /// What the summary calls the input.
    pub name: &'a str,
    /// The flags.
    pub common: &'a Common,
    /// Facts and profile.
    pub setup: &'a Setup,
    /// The passes.
    pub pipeline: &'a Pipeline,
    /// Whether the user asked for no other pipeline than `plan`.
    pub default_pipeline: bool,
    /// When the module is shown between passes.
    pub print_ir: &'a PrintIr,
    /// How it is printed then.
    pub options: PrintOptions,
    /// Whether and where a reproducer is written.
    pub reproducer: Reproducer,
    /// Whether there will be pictures of the plan.
    pub draw: bool,
}

/// When a module that goes wrong is kept for whoever mends it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub enum Reproducer {
    /// In the working directory, where the fault is our own.
    #[default]
    OnBug,
    /// Here, whatever goes wrong.
    At(PathBuf),
    /// Not at all: nobody asked for this plan.
    Never,
}

/// A module after its passes.
pub struct Planned {
    /// The module; of several buckets, the one with the largest sizes.
    pub module: Module,
    /// The modules of smaller buckets, smallest first.
    pub smaller: Vec<Module>,
    /// What it needs; none without a plan.
    pub summary: Option<Summary>,
    /// Proofs of lower bounds, verified unless the check was left out.
    pub certificates: Vec<Certificate>,
    /// Warnings, and explanations for those who ask.
    pub remarks: Vec<Diagnostic>,
    /// What demands of the graph cost, where that was asked.
    pub prices: Vec<Priced>,
    /// Time and statistics, where they were asked for.
    pub said: String,
}

impl Planned {
    /// All modules, those of smaller buckets first.
    pub fn modules(&self) -> impl Iterator<Item = &Module> {
        self.smaller.iter().chain(std::iter::once(&self.module))
    }
}

/// Runs the passes on a module and checks the outcome; says also what a target that can do everything would need.
///
/// # Errors
/// The module is wrong, a demand cannot be met, or the plan is not accepted.
pub fn run(job: &Job<'_>, module: Module, progress: &Progress<'_>) -> Result<Planned, Failure> {
    let bound = job.default_pipeline && job.setup.name != FREEST && job.common.summary != SummaryKind::None;
    let limits = !job.common.budgets.is_empty() || would_help::limited(job.common, &module);
    let original = (bound || limits).then(|| module.clone());
    let mut tried = tried(job, module, progress).map_err(|failure| match &original {
        Some(original) => would_help::room(job, original, failure, progress),
        None => failure,
    })?;
    if let Some(original) = original.as_ref().filter(|_| !tried.unmet.is_empty()) {
        would_help::add(job, original, &mut tried, progress);
    }
    if let Some(original) = original.filter(|_| bound) {
        freer(job, original, &mut tried, progress);
    }
    tried.kept(job.common)
}

/// Says what a target that can do everything would need, where that is less; where a budget is not kept, beside what is missing.
fn freer(job: &Job<'_>, original: Module, tried: &mut Tried, progress: &Progress<'_>) {
    let Some(profile) = Profile::builtin(FREEST) else { return };
    let setup = Setup { facts: job.setup.facts.clone(), profile, name: FREEST.to_owned() };
    let freer =
        Job { setup: &setup, print_ir: &PrintIr::default(), reproducer: Reproducer::Never, draw: false, ..*job };
    progress.label("a freer target".to_owned());
    // Its plan is checked like any other; where there is none, nothing is said.
    let other = self::tried(&freer, original, progress).ok().and_then(|other| other.planned.summary);
    progress.clear();
    let twin = |name: &str| other.iter().flat_map(|other| &other.functions).find(|other| other.name == name);
    for function in tried.planned.summary.iter_mut().flat_map(|summary| &mut summary.functions) {
        function.freer = twin(&function.name).map(|twin| twin.plan.arena);
    }
    for unmet in &mut tried.unmet {
        unmet.diagnostic.notes.extend(twin(&unmet.function).and_then(|twin| demands::freer(unmet, twin, FREEST)));
    }
}

/// The profile that allows every kind of sharing.
const FREEST: &str = "none";

/// Runs the passes on a module and checks the outcome; says nothing of freer targets.
///
/// # Errors
/// The module is wrong, a demand cannot be met, or the plan is not accepted.
pub fn once(job: &Job<'_>, module: Module, progress: &Progress<'_>) -> Result<Planned, Failure> {
    tried(job, module, progress)?.kept(job.common)
}

/// A plan, and the demands that it does not meet.
pub struct Tried {
    /// The plan, checked.
    pub planned: Planned,
    /// The demands.
    pub unmet: Vec<demands::Unmet>,
    /// The passes that made it.
    pub pipeline: Pipeline,
}

impl Tried {
    /// The plan, if it meets all demands.
    fn kept(self, common: &Common) -> Result<Planned, Failure> {
        if self.unmet.is_empty() {
            return Ok(self.planned);
        }
        let mut failure = Failure::new(Exit::Demand, self.unmet.into_iter().map(|unmet| unmet.diagnostic).collect());
        failure.missed = self.planned.summary.clone().map(Box::new);
        Err(proofs::beside(failure, common, &self.pipeline, self.planned))
    }
}

/// Runs the passes on a module and checks the outcome, whether or not it meets the demands.
///
/// # Errors
/// The module is wrong, or the plan is not accepted.
pub fn tried(job: &Job<'_>, module: Module, progress: &Progress<'_>) -> Result<Tried, Failure> {
    let pipeline = demands::asked(job.pipeline, job.common, true);
    let asked = Job { pipeline: &pipeline, reproducer: job.reproducer.clone(), ..*job };
    let again = demands::total(&job.common.budgets).map(|_| module.clone());
    let (mut planned, mut reports) = attempt(&asked, module, progress)?;
    if let Some(module) = again.filter(|_| demands::ended_early(&job.common.budgets, planned.summary.as_ref())) {
        // The order fits and its offsets do not: another order may, and is worth the whole search.
        let pipeline = demands::asked(job.pipeline, job.common, false);
        let asked = Job { pipeline: &pipeline, reproducer: job.reproducer.clone(), ..*job };
        (planned, reports) = attempt(&asked, module, progress)?;
    }
    let unmet = demands::unmet(
        &job.common.budgets,
        planned.summary.as_ref(),
        &planned.module,
        &reports,
        job.setup.profile.packer,
    )?;
    Ok(Tried { planned, unmet, pipeline })
}

/// One run of the passes, checked.
fn attempt(job: &Job<'_>, mut module: Module, progress: &Progress<'_>) -> Result<(Planned, Vec<PassReport>), Failure> {
    valid(&module)?;
    let facts = &job.setup.facts;
    let stop = || progress.stop();
    let run = Run { facts, profile: &job.setup.profile, stop: &stop, verify_each: job.common.verify_each };
    if job.default_pipeline && apply::is_planned(&module) {
        // A plan is made from the graph, not from an older plan.
        let strip = Pipeline::parse("strip-plan").map_err(|error| bug(error.diagnostic()))?;
        pipeline::run(&mut module, &strip, run, &mut Quiet).map_err(|error| failed(&error))?;
    }
    offsets_hold(job.pipeline, apply::is_planned(&module))?;
    let applied = apply::apply(&mut module, &job.common.source, &job.setup.profile, facts)?;
    demands::known(&job.common.budgets, &module)?;
    if plans(job.pipeline) {
        apply::fingerprint(&mut module);
    }
    let source = module.clone();
    let mut watch = Watch {
        progress,
        print_ir: job.print_ir,
        options: job.options,
        verify_each: job.common.verify_each,
        setup: job.setup,
        stages: Stages::default(),
        times: Vec::new(),
        started: Instant::now(),
    };
    let reports = passes(job, &mut module, &source, run, &mut watch)?;
    if plans(job.pipeline) && apply::is_planned(&module) {
        let top = module.top();
        module.set_attr(top, PROFILE, Attr::str(&job.setup.name));
    }
    progress.label("check".to_owned());
    let check = checked(job, &source, &module)?;
    let (certificates, unproved) = proofs::verified(&module, facts, proofs::of(&module, facts, &reports));
    let summary = summarise(job, &source, &module, &watch.stages, &applied, &reports, check, progress)?;
    progress.clear();
    let heeded = demands::not_heeded(job.pipeline, job.setup);
    let said = reports.iter().flat_map(|report| report.remarks.iter().cloned());
    let remarks = said.chain(unproved).chain(heeded).collect();
    let mut said = if job.common.timing { watch.timing() } else { String::new() };
    if job.common.statistics {
        said += &statistics(&reports);
    }
    if job.common.trace_steps {
        said += &summary.iter().map(crate::steps::text).collect::<String>();
    }
    let prices = reports.iter().flat_map(|report| report.prices.iter().cloned()).collect();
    Ok((Planned { module, smaller: Vec::new(), summary, certificates, remarks, prices, said }, reports))
}

/// Refuses passes that would leave offsets of another order than the one they make.
fn offsets_hold(pipeline: &Pipeline, planned: bool) -> Result<(), Failure> {
    let (mut there, mut hold) = (planned, true);
    for step in pipeline.steps() {
        match step.info().name {
            "strip-plan" => (there, hold) = (false, true),
            "assign-offsets" => (there, hold) = (true, true),
            "reorder" => hold &= !there,
            _ => {}
        }
    }
    let message = "`reorder` behind `assign-offsets`: offsets are for the order that was there before";
    let help = "put `assign-offsets` behind it; `strip-plan` takes an older plan off";
    if hold { Ok(()) } else { Err(Failure::usage(message).help(help)) }
}

/// The rules of the representation.
///
/// # Errors
/// All that is wrong.
pub fn valid(module: &Module) -> Result<(), Failure> {
    neap_ir::verify::verify(module).map_err(|diagnostics| Failure::new(Exit::Input, diagnostics))
}

fn passes(
    job: &Job<'_>,
    module: &mut Module,
    source: &Module,
    run: Run<'_>,
    watch: &mut Watch<'_, '_>,
) -> Result<Vec<PassReport>, Failure> {
    let ran = catch_unwind(AssertUnwindSafe(|| pipeline::run(module, job.pipeline, run, watch)));
    // After each pass its function was verified; in the end, all of it.
    let whole = || if run.verify_each { neap_ir::verify::verify(module) } else { Ok(()) };
    let failure = match ran {
        Ok(Ok(reports)) => match whole() {
            Ok(()) => return Ok(reports),
            Err(diagnostics) => Failure::new(Exit::Bug, diagnostics),
        },
        Ok(Err(error)) => failed(&error),
        Err(_) => bug(Diagnostic::error(neap_ir::Span::default(), "a pass broke down")),
    };
    watch.progress.clear();
    // Asked for, it is written whatever went wrong; else only where it is our own fault.
    match &job.reproducer {
        Reproducer::OnBug if failure.exit != Exit::Bug => Err(failure),
        _ => Err(reproduce(job, source, failure)),
    }
}

fn failed(error: &PipelineError) -> Failure {
    let exit = match error {
        PipelineError::Broken { .. } | PipelineError::SilentChange { .. } => Exit::Bug,
        // The input is right; a capacity or a `must` cannot be met.
        PipelineError::Refused { diagnostic, .. } if diagnostic.unmet => Exit::Demand,
        PipelineError::CallCycle(_) | PipelineError::Refused { .. } => Exit::Input,
        _ => Exit::Usage,
    };
    Failure::new(exit, vec![error.diagnostic()])
}

fn bug(diagnostic: Diagnostic) -> Failure {
    Failure::new(Exit::Bug, vec![diagnostic])
}

fn place(module: &Module) -> PathBuf {
    let first = module.functions().first().and_then(|func| module.sym_name(*func)).unwrap_or_default();
    reproducer::place(first)
}

/// Writes a reproducer and says so.
fn reproduce(job: &Job<'_>, source: &Module, failure: Failure) -> Failure {
    let place = match &job.reproducer {
        Reproducer::Never => return failure,
        Reproducer::At(place) => place.clone(),
        Reproducer::OnBug => place(source),
    };
    let text = reproducer::text(source, &job.pipeline.to_string(), &job.common.source, &job.setup.name);
    let output = crate::outputs::Output { path: place.clone(), bytes: text.into_bytes() };
    let failure = match crate::outputs::write_all(&[output]) {
        Ok(()) => failure.note(format!("a reproducer is in {}", place.display())),
        Err(error) => failure.note(format!("no reproducer: {}", error.diagnostics[0].message)),
    };
    if failure.exit == Exit::Bug {
        failure.help("this is a bug in neap: please report it with the reproducer")
    } else {
        failure
    }
}

/// Executes source and plan and compares; without a plan, compares what the two compute.
fn checked(job: &Job<'_>, source: &Module, module: &Module) -> Result<Check, Failure> {
    if job.common.no_check {
        return Ok(Check::Skipped);
    }
    let options = neap_check::Options {
        // What an earlier run left carries what that one began with.
        ignore_fingerprint: apply::is_begun(source),
        semantics_only: !apply::is_planned(module),
        callees_have_arenas: job.setup.profile.own_arena_per_function,
        threads: job.common.threads,
        ..neap_check::Options::default()
    };
    let report = neap_check::check(source, module, &job.setup.facts, &options);
    if report.accepted() {
        return Ok(Check::Passed);
    }
    let diagnostics = report.diagnostics();
    if !plans(job.pipeline) {
        return Err(Failure::new(Exit::Input, diagnostics));
    }
    let mut all = vec![Diagnostic::error(neap_ir::Span::default(), "the checker refuses the plan; it is not printed")];
    all.extend(diagnostics);
    let failure = Failure::new(Exit::Bug, all);
    Err(reproduce(job, source, failure))
}

/// Refuses a plan that someone else made and that does not do what the source does.
///
/// # Errors
/// What the checker says.
pub fn accepted(source: &Module, planned: &Module, setup: &Setup, ignore_fingerprint: bool) -> Result<(), Failure> {
    let options = neap_check::Options {
        ignore_fingerprint,
        callees_have_arenas: setup.profile.own_arena_per_function,
        ..neap_check::Options::default()
    };
    let report = neap_check::check(source, planned, &setup.facts, &options);
    if report.accepted() { Ok(()) } else { Err(Failure::new(Exit::Input, report.diagnostics())) }
}

/// Whether a pipeline has any of the passes that a plan is made by.
fn plans(pipeline: &Pipeline) -> bool {
    let planner = |pass: &str| {
        PIPELINES.iter().any(|known| known.name == "plan" && known.passes.split(',').any(|name| name == pass))
    };
    pipeline.steps().any(|step| planner(step.info().name))
}

#[allow(clippy::too_many_arguments, reason = "all that a summary is made of, named once")]
fn summarise(
    job: &Job<'_>,
    source: &Module,
    module: &Module,
    stages: &Stages,
    applied: &Applied,
    reports: &[PassReport],
    check: Check,
    progress: &Progress<'_>,
) -> Result<Option<Summary>, Failure> {
    if !apply::is_planned(module) {
        return Ok(None);
    }
    let inputs = summary::Inputs {
        name: job.name,
        setup: job.setup,
        source,
        planned: module,
        stages,
        applied,
        reports,
        check,
        time_limit_hit: progress.limit_hit(),
        draw: job.draw,
    };
    summary::collect(&inputs).map(Some).map_err(bug)
}

/// What passes counted, and in builds that count it, all work on modules so far.
fn statistics(reports: &[PassReport]) -> String {
    let mut out = String::from("===- pass statistics -===\n");
    for report in reports {
        out += &format!("{} on @{}\n", report.name, report.function);
        for (name, count) in &report.stats {
            out += &format!("  {count:>12}  {name}\n");
        }
    }
    if let Some(looks) = neap_ir::work::counted() {
        out += &format!("all\n  {looks:>12}  looks\n");
    }
    out
}

/// Whether a remark is shown: warnings always, explanations to those who ask.
pub fn is_shown(diagnostic: &Diagnostic, common: &Common) -> bool {
    common.remarks || diagnostic.severity > Severity::Remark
}
