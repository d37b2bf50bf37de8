//! The command line: verbs and flags, and what they say as data.
//!
//! Flags that MLIR's own tool has are spelled as there. Pass flags come from the registry, one per pass, and run in the order in
//! which they are written.

mod compare;
mod conflicts;
mod emit;
mod flags;
mod pack;
mod values;

use crate::outputs::Reads;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command};
use neap_passes::profile::Profile;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use compare::{Compare, Format};
pub use emit::Emit;
pub use pack::Pack;
pub use values::{ArenaFlag, BucketsFlag, Budget, DimFlag, PinFlag, ReuseFlag};

/// What is asked for.
pub enum Request {
    /// `neap opt`.
    Opt(Box<Opt>),
    /// `neap plan`.
    Plan(Box<Plan>),
    /// `neap check`.
    Check(Box<Check>),
    /// `neap compare`.
    Compare(Compare),
    /// `neap emit`.
    Emit(Box<Emit>),
    /// `neap report`.
    Report(Box<Emit>),
    /// `neap import`.
    Import(Import),
    /// `neap pack`.
    Pack(Pack),
}

/// How the summary is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SummaryKind {
    /// A dozen lines per function.
    #[default]
    Text,
    /// Everything: all storages, arenas, pass statistics.
    Full,
    /// The object that scripts read.
    Json,
    /// Nothing.
    None,
}

/// What is said about the source: who owns which bytes, what operations mean, how large things are.
#[derive(Clone, Default)]
pub struct SourceFlags {
    /// Name or file of the runtime profile; none: by the kind of input.
    pub profile: Option<String>,
    /// Files with op facts.
    pub dialects: Vec<PathBuf>,
    /// Dialects whose unknown ops are taken as pure.
    pub assume_pure: Vec<String>,
    /// Arenas, in order of preference.
    pub arenas: Vec<ArenaFlag>,
    /// Values whose bytes nobody may reuse.
    pub keep: Vec<String>,
    /// Values at fixed offsets.
    pub pins: Vec<PinFlag>,
    /// Arguments and results in the caller's memory.
    pub external: Vec<String>,
    /// Bounds of dimensions.
    pub dims: Vec<DimFlag>,
    /// Whether values without a known size are left out.
    pub exclude_dynamic: bool,
    /// Policies of reuse: of a value, or of the run where there is no name.
    pub reuse: Vec<ReuseFlag>,
    /// Whether no two values may share bytes.
    pub no_reuse: bool,
    /// A table of what the runtime's kernels need.
    pub scratch: Option<PathBuf>,
}

impl SourceFlags {
    /// The files that are read for them.
    pub fn files(&self) -> Vec<Reads<'_>> {
        let tables = self.dialects.iter().map(|path| (path.as_path(), "a table that is read"));
        let scratch = self.scratch.iter().map(|path| (path.as_path(), "the table of scratch"));
        let profile = self.profile.iter().filter(|name| Profile::builtin(name).is_none());
        tables.chain(scratch).chain(profile.map(|name| (Path::new(name), "the profile"))).collect()
    }
}

/// What `opt` and `plan` have in common.
#[derive(Clone, Default)]
pub struct Common {
    /// The input; `-` is the standard input.
    pub input: PathBuf,
    /// About the source.
    pub source: SourceFlags,
    /// The most bytes an arena may take.
    pub budgets: Vec<Budget>,
    /// A table of conservative rows for the unknown ops is written here.
    pub dialect_stub: Option<PathBuf>,
    /// Proofs of the lower bounds are written here.
    pub certificate: Option<PathBuf>,
    /// Whether the plan is printed unchecked.
    pub no_check: bool,
    /// Whether remarks are shown.
    pub remarks: bool,
    /// How the summary is written.
    pub summary: SummaryKind,
    /// Where the summary goes instead.
    pub summary_file: Option<PathBuf>,
    /// After this time the best plan so far is taken.
    pub time_limit: Option<Duration>,
    /// How many threads the work may be shared among.
    pub threads: usize,
    /// Whether the verifier runs after each pass.
    pub verify_each: bool,
    /// Whether time per pass is shown.
    pub timing: bool,
    /// Whether it is shown what is born, lives and dies at each step.
    pub trace_steps: bool,
    /// Whether pass statistics are shown.
    pub statistics: bool,
    /// The pipeline as text; none: pass flags, else `plan`.
    pub pipeline: Option<String>,
    /// Ranges of a dimension that are planned one by one.
    pub buckets: Option<BucketsFlag>,
}

impl Common {
    /// Whether something is shown that is drawn from what runs at each step.
    pub fn draws(&self) -> bool {
        self.trace_steps || self.summary == SummaryKind::Full
    }
}

/// `neap opt`.
pub struct Opt {
    /// What it shares with `plan`.
    pub common: Common,
    /// Passes in the order of their flags, with their options.
    pub passes: Vec<(&'static str, String)>,
    /// Where the module goes; none: the standard output.
    pub output: Option<PathBuf>,
    /// Whether the passes are listed and nothing else is done.
    pub list_passes: bool,
    /// Whether the pipeline is shown.
    pub dump_pipeline: bool,
    /// When the module is shown between passes.
    pub print_ir: PrintIr,
    /// Whether `// -----` separates modules.
    pub split_input: bool,
    /// Whether diagnostics are compared with `// expected-error {{..}}` comments.
    pub verify_diagnostics: bool,
    /// Whether all is printed in the generic form.
    pub generic: bool,
    /// Where a reproducer goes when a pass fails.
    pub reproducer: Option<PathBuf>,
    /// Whether the pipeline is read from the input's reproducer.
    pub run_reproducer: bool,
}

/// When the module is shown between passes, on the error stream.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct PrintIr {
    /// Before these passes.
    pub before: Vec<String>,
    /// After these passes.
    pub after: Vec<String>,
    /// Before every pass.
    pub before_all: bool,
    /// After every pass.
    pub after_all: bool,
    /// After every pass that changed something.
    pub after_change: bool,
}

/// What a plan is to have the least of.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Objective {
    /// Bytes at the worst step.
    #[default]
    Peak,
    /// Bytes moved by spills, within the capacities of an NPU.
    Traffic,
    /// Cycles, within the capacities of an NPU.
    Makespan,
}

impl Objective {
    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Objective::Peak => "peak",
            Objective::Traffic => "traffic",
            Objective::Makespan => "makespan",
        }
    }
}

/// `neap plan`.
pub struct Plan {
    /// What it shares with `opt`.
    pub common: Common,
    /// Further models for the same arena.
    pub others: Vec<PathBuf>,
    /// Whether several models share an arena.
    pub share_arena: bool,
    /// How many of them may run at the same time; of one model alone, how many instances.
    pub concurrent: Option<u64>,
    /// Files to write, by their extension.
    pub outputs: Vec<PathBuf>,
    /// The writer of the outputs, whatever their extension.
    pub to: Option<String>,
    /// The model file that the plan goes into; none: the input.
    pub template: Option<PathBuf>,
    /// What is best.
    pub objective: Objective,
    /// Whether offsets go into the model file; none: by the profile.
    pub offsets: Option<bool>,
    /// Whether values are computed again where that meets the budget.
    pub rematerialize: bool,
}

/// `neap check`.
pub struct Check {
    /// The module before planning.
    pub original: PathBuf,
    /// The module with the plan.
    pub planned: PathBuf,
    /// About the source: as given to the planner.
    pub source: SourceFlags,
    /// Whether a plan for another graph is judged all the same.
    pub ignore_fingerprint: bool,
    /// Certificates to verify.
    pub certificate: Option<PathBuf>,
}

/// `neap import`.
pub struct Import {
    /// A model file.
    pub input: PathBuf,
    /// Where the module goes; none: the standard output.
    pub output: Option<PathBuf>,
    /// Sizes of named dimensions.
    pub dims: Vec<DimFlag>,
}

/// The whole command line of `neap`.
pub fn command() -> Command {
    Command::new("neap")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A memory planner for neural networks: order, sharing and offsets, decided before the first inference")
        .after_help(EXITS)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands([
            opt(),
            plan(),
            emit::command(),
            emit::report(),
            check(),
            compare::command(),
            import(),
            pack::command(),
        ])
}

/// What every verb ends with.
const EXITS: &str = "Exit codes: 0 done and checked, 1 the input is wrong or a plan is refused, 2 the command line is wrong, \
    3 a demand (budget, capacity, `must`, growth in `compare`) cannot be met, 4 a bug of ours, 130 interrupted";

/// What the values of flags mean.
const FORMS: &str = "Sizes and offsets are bytes: 262144, 256K or 256KiB. A value has the model's own name or its SSA name (`%3`, `%3#1`; \
    `@function/NAME` where several have it); of a name, each flag is given once.";

fn forms() -> String {
    format!("{FORMS}\n\n{EXITS}")
}

fn opt() -> Command {
    let command = Command::new("opt")
        .about("Runs passes on a module: planned text on the standard output, all else on the error stream")
        .arg(flags::input("FILE").default_value("-"))
        .arg(
            flags::path(
                "output",
                "OUT",
                "Writes the module (.mlir), bufferized MLIR (.memref.mlir), a C header (.h), the summary (.json), the storages (.csv) or a \
                 picture (.html, .svg, .trace.json) \
                 [default: the module, on the standard output]",
            )
            .short('o'),
        )
        .after_help(forms());
    flags::passes(flags::mlir(flags::common(flags::source(command))))
}

fn plan() -> Command {
    let command = Command::new("plan")
        .about("Plans a model: the summary on the standard output, files by extension")
        .arg(flags::input("FILE").required(true))
        .arg(flags::input("MORE").num_args(0..).help("Further models, with `--share-arena`"))
        .after_help(forms())
        .arg(switch("share-arena", "Plans several models for one arena, in which they run one after the other"))
        .arg(
            flags::text("concurrent", "N", "So many of the models, or instances of one model, run at the same time")
                .value_parser(clap::value_parser!(u64).range(1..)),
        )
        .arg(
            flags::path(
                "output",
                "OUT",
                "Writes the module (.mlir), bufferized MLIR (.memref.mlir), the model (.tflite, .onnx), a C header (.h), an NPU schedule (.schedule, \
                 .steps.csv, .memory, .spills), the summary (.json), the storages (.csv) or pictures (.html, .svg, .trace.json); repeatable",
            )
            .short('o')
            .action(ArgAction::Append),
        )
        .arg(emit::to())
        .arg(emit::template())
        .arg(flags::objective())
        .arg(emit::offsets())
        .arg(
            switch("rematerialize", "Computes values again instead of keeping them, as far as the `--budget` needs it; the summary has the price")
                .requires("budget")
                .conflicts_with("pass-pipeline"),
        )
        .arg(flags::text("pass-pipeline", "PIPELINE", "Runs these passes, as `fuse,reorder,assign-offsets` [default: plan]"));
    flags::common(flags::source(command))
}

fn check() -> Command {
    let command = Command::new("check")
        .about("Executes source and plan on real bytes and compares what they compute")
        .arg(flags::input("SOURCE").required(true))
        .arg(
            flags::input("PLANNED")
                .required(true)
                .help("The planned module, or another tool's offsets: CSV with a header (`value,offset`), or JSON"),
        )
        .after_help(forms())
        .arg(switch("ignore-fingerprint", "Judges the plan although it was made for another graph"))
        .arg(flags::path("certificate", "F", "Verifies proofs of lower bounds against the plan"));
    flags::source(command)
}

fn import() -> Command {
    Command::new("import")
        .about("Reads a model file and prints it as a module")
        .after_help(EXITS)
        .arg(flags::input("FILE").required(true).help("A model file; `-` is the standard input"))
        .arg(flags::path("output", "OUT", "Writes the module here [default: the standard output]").short('o'))
        .arg(flags::dim())
}

/// Reads a command line, program name first.
///
/// # Errors
/// Clap's own message, also for `--help` and `--version`.
pub fn parse(args: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Request, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(args)?;
    if let Some((verb, inside)) = matches.subcommand()
        && let Err(what) = conflicts::find(inside)
        && let Some(verb) = command.find_subcommand_mut(verb)
    {
        return Err(verb.error(ErrorKind::ArgumentConflict, what));
    }
    Ok(match matches.subcommand() {
        Some(("opt", matches)) => Request::Opt(Box::new(read_opt(matches))),
        Some(("plan", matches)) => Request::Plan(Box::new(Plan {
            common: read_common(matches),
            others: many(matches, "MORE"),
            share_arena: matches.get_flag("share-arena"),
            concurrent: one(matches, "concurrent"),
            outputs: many(matches, "output"),
            to: one(matches, "to"),
            template: one(matches, "template"),
            objective: one(matches, "objective").unwrap_or_default(),
            offsets: one(matches, "offsets"),
            rematerialize: matches.get_flag("rematerialize"),
        })),
        Some(("emit", matches)) => Request::Emit(Box::new(emit::read(matches))),
        Some(("report", matches)) => Request::Report(Box::new(emit::read_report(matches))),
        Some(("compare", matches)) => Request::Compare(compare::read(matches)),
        Some(("check", matches)) => Request::Check(Box::new(Check {
            original: required(matches, "SOURCE"),
            planned: required(matches, "PLANNED"),
            source: read_source(matches),
            ignore_fingerprint: matches.get_flag("ignore-fingerprint"),
            certificate: one(matches, "certificate"),
        })),
        Some(("import", matches)) => Request::Import(Import {
            input: required(matches, "FILE"),
            output: file(matches, "output"),
            dims: many(matches, "dim"),
        }),
        Some(("pack", matches)) => Request::Pack(pack::read(matches)),
        _ => unreachable!("clap requires one of the verbs above"),
    })
}

fn read_opt(matches: &ArgMatches) -> Opt {
    Opt {
        common: read_common(matches),
        passes: flags::pass_flags(matches),
        output: file(matches, "output"),
        list_passes: matches.get_flag("list-passes"),
        dump_pipeline: matches.get_flag("dump-pass-pipeline"),
        print_ir: PrintIr {
            before: many(matches, "mlir-print-ir-before"),
            after: many(matches, "mlir-print-ir-after"),
            before_all: matches.get_flag("mlir-print-ir-before-all"),
            after_all: matches.get_flag("mlir-print-ir-after-all"),
            after_change: matches.get_flag("mlir-print-ir-after-change"),
        },
        split_input: matches.get_flag("split-input-file"),
        verify_diagnostics: matches.get_flag("verify-diagnostics"),
        generic: matches.get_flag("mlir-print-op-generic"),
        reproducer: one(matches, "mlir-pass-pipeline-crash-reproducer"),
        run_reproducer: matches.get_flag("run-reproducer"),
    }
}

fn read_common(matches: &ArgMatches) -> Common {
    Common {
        input: required(matches, "FILE"),
        source: read_source(matches),
        budgets: many(matches, "budget"),
        dialect_stub: one(matches, "dialect-stub"),
        certificate: one(matches, "certificate"),
        no_check: matches.get_flag("no-check"),
        remarks: matches.get_flag("remarks"),
        summary: one(matches, "summary").unwrap_or_default(),
        summary_file: one(matches, "summary-file"),
        time_limit: one(matches, "time-limit"),
        threads: one(matches, "threads").unwrap_or_else(values::cores),
        verify_each: one(matches, "verify-each").unwrap_or(true),
        timing: matches.get_flag("mlir-timing"),
        trace_steps: matches.get_flag("trace-steps"),
        statistics: matches.get_flag("mlir-pass-statistics"),
        pipeline: one(matches, "pass-pipeline"),
        buckets: one(matches, "buckets"),
    }
}

fn read_source(matches: &ArgMatches) -> SourceFlags {
    SourceFlags {
        profile: one(matches, "profile"),
        dialects: many(matches, "dialect"),
        assume_pure: many(matches, "assume-pure"),
        arenas: many(matches, "arena"),
        keep: many(matches, "keep"),
        pins: many(matches, "pin"),
        external: many(matches, "external"),
        dims: many(matches, "dim"),
        exclude_dynamic: matches.get_flag("exclude-dynamic"),
        reuse: many(matches, "reuse"),
        no_reuse: matches.get_flag("no-reuse"),
        scratch: one(matches, "scratch"),
    }
}

fn one<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Option<T> {
    matches.get_one::<T>(name).cloned()
}

/// A file to write; `-` is the standard output, as without the flag.
fn file(matches: &ArgMatches, name: &str) -> Option<PathBuf> {
    one(matches, name).filter(|path: &PathBuf| path != Path::new("-"))
}

fn many<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Vec<T> {
    matches.get_many::<T>(name).map(|values| values.cloned().collect()).unwrap_or_default()
}

fn required(matches: &ArgMatches, name: &str) -> PathBuf {
    one(matches, name).unwrap_or_else(|| unreachable!("clap requires {name}"))
}

/// A flag without a value.
fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}
