//! Groups of flags that several verbs share.

use super::values::{self, arena, budget, pin, reuse};
use super::{Objective, SummaryKind, switch};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use neap_passes::registry::{PASSES, PIPELINES};
use std::path::PathBuf;

/// A positional file.
pub(super) fn input(name: &'static str) -> Arg {
    Arg::new(name).value_parser(value_parser!(PathBuf)).help("A model or a module as text; `-` is the standard input")
}

/// A flag with a path.
pub(super) fn path(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).value_parser(value_parser!(PathBuf)).help(help)
}

/// A flag with text.
pub(super) fn text(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// A flag with a size.
pub(super) fn size(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    text(name, value, help).value_parser(crate::size::parse)
}

/// `--time-limit S`.
pub(super) fn seconds() -> Arg {
    text("time-limit", "S", "Takes the best found after S seconds; without it, output does not depend on the machine")
        .value_parser(values::seconds)
}

/// `--dim N=LO..HI`.
pub(super) fn dim() -> Arg {
    text("dim", "N=LO..HI", "Bounds a named dimension, or axis AXIS (from 0) of a value as `VALUE.AXIS`; both ends count, and `N=64` is one size")
        .value_parser(values::dim)
        .action(ArgAction::Append)
}

/// What is said about the source.
pub(super) fn source(command: Command) -> Command {
    let list = |arg: Arg| arg.action(ArgAction::Append).help_heading("Source");
    command.args([
        text("profile", "P", "Runtime to plan for: none, tflite, tflm, ort, or a file [default: tflite for .tflite, ort for .onnx, else none]").help_heading("Source"),
        list(path("dialect", "F", "Reads op facts from a table")),
        list(text("assume-pure", "D", "Takes unknown ops of a dialect as pure; for a quick look only")),
        list(text("arena", "N=SIZE[:ALIGN]", "Declares an arena of SIZE bytes, in order of preference [default of ALIGN: the profile's]").value_parser(arena)),
        list(text("keep", "N", "Keeps a value's bytes from its birth to the end of the run")),
        list(text("pin", "N@OFF", "Places a value OFF bytes behind the start of its arena").value_parser(pin)),
        list(text(
            "external",
            "N[@ARENA]",
            "Leaves an argument or a result in the caller's memory, which takes bytes of an arena",
        )),
        dim().help_heading("Source"),
        path("scratch", "F.csv", "Adds what the runtime's kernels need beside tensors: `op,bytes` a line, of an operation or a kind such as tfl.svdf").help_heading("Source"),
        switch("exclude-dynamic", "Leaves values without a known size out of the plan").help_heading("Source"),
        list(
            text(
                "reuse",
                "[N=]POLICY",
                "How much of what may be shared is: never, auto, warn or must, for the run or where N is made [default: auto]",
            )
            .value_parser(reuse),
        ),
        switch("no-reuse", "Gives every value bytes of its own").help_heading("Source"),
    ])
}

/// `--objective`.
pub(super) fn objective() -> Arg {
    let parser = PossibleValuesParser::new(["peak", "traffic", "makespan"]).map(|name| match name.as_str() {
        "traffic" => Objective::Traffic,
        "makespan" => Objective::Makespan,
        _ => Objective::Peak,
    });
    text("objective", "WHAT", "What to have the least of; traffic (bytes moved) and makespan (cycles) spill within the memories of an NPU [default: peak]")
        .value_parser(parser)
}

/// What `opt` and `plan` share.
pub(super) fn common(command: Command) -> Command {
    let summary = PossibleValuesParser::new(["text", "full", "json", "none"]).map(|name| match name.as_str() {
        "full" => SummaryKind::Full,
        "json" => SummaryKind::Json,
        "none" => SummaryKind::None,
        _ => SummaryKind::Text,
    });
    command.args([
        text(
            "budget",
            "[@N=]SIZE",
            "Fails with exit code 3 if the plan needs more than SIZE bytes, in all arenas or in arena N",
        )
        .value_parser(budget)
        .action(ArgAction::Append),
        path("dialect-stub", "F.toml", "Writes conservative rows for the unknown ops, to be filled in"),
        path(
            "certificate",
            "F",
            "Writes the proofs of the lower bounds, one per line; `neap check --certificate` adds them up",
        ),
        text(
            "buckets",
            "N=A,B,..",
            "One plan for each range of a dimension's sizes up to A, up to B, ..; one arena for all",
        )
        .value_parser(values::buckets),
        switch("no-check", "Does not check the plan; the summary says so"),
        switch("remarks", "Shows why something was not fused, shared or placed"),
        text("summary", "KIND", "How the summary is written [default: text]").value_parser(summary),
        path("summary-file", "F", "Writes the summary to a file instead"),
        seconds(),
        text(
            "threads",
            "N",
            "Uses at most N threads [default: one per processor]; what is written is the same for all N",
        )
        .value_parser(values::threads),
        text("verify-each", "BOOL", "Runs the verifier after each pass [default: true]")
            .value_parser(value_parser!(bool))
            .hide_possible_values(true)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        switch("trace-steps", "Shows what is born, lives and dies at each step, and the bytes, on the error stream"),
        switch("mlir-timing", "Shows time per pass"),
        switch("mlir-pass-statistics", "Shows what each pass counted"),
    ])
}

/// Flags of MLIR's own tool.
pub(super) fn mlir(command: Command) -> Command {
    let names = |name, help| {
        text(name, "PASS", help)
            .action(ArgAction::Append)
            .value_delimiter(',')
            .value_parser(PossibleValuesParser::new(PASSES.iter().map(|pass| pass.name)))
    };
    let args = [
        text(
            "pass-pipeline",
            "PIPELINE",
            "Runs `builtin.module(func.func(fuse,reorder{effort=1000}))`, or just `fuse,reorder` [default: plan]",
        ),
        switch("list-passes", "Lists the passes and their options"),
        switch("dump-pass-pipeline", "Shows the pipeline on the error stream"),
        names("mlir-print-ir-before", "Shows the module before a pass"),
        names("mlir-print-ir-after", "Shows the module after a pass"),
        switch("mlir-print-ir-before-all", "Shows the module before each pass"),
        switch("mlir-print-ir-after-all", "Shows the module after each pass"),
        switch("mlir-print-ir-after-change", "Shows the module after each pass that changed it"),
        switch("split-input-file", "Takes what stands between `// -----` lines as modules of their own"),
        switch("verify-diagnostics", "Compares diagnostics with `// expected-error @+1 {{..}}` comments"),
        switch("mlir-print-op-generic", "Prints everything in the generic form"),
        path("mlir-pass-pipeline-crash-reproducer", "F", "Writes a reproducer when a pass fails"),
        switch("run-reproducer", "Runs the pipeline that a reproducer holds").conflicts_with("pass-pipeline"),
    ];
    command.args(args.map(|arg| arg.help_heading("As in mlir-opt")))
}

/// One flag per pass and per named pipeline.
pub(super) fn passes(command: Command) -> Command {
    command.args(pass_names().map(|(name, summary)| {
        let options = PASSES.iter().any(|pass| pass.name == name && !pass.options.is_empty());
        let arg = Arg::new(name).long(name).default_missing_value("");
        // A pass without options takes none.
        let arg = match options {
            true => arg.value_name("OPTION=VALUE ..").num_args(0..=1).require_equals(true),
            false => arg.num_args(0),
        };
        arg.action(ArgAction::Append)
            .conflicts_with_all(["pass-pipeline", "run-reproducer"])
            .help(summary)
            .help_heading("Passes, run in the order given [default: the pipeline `plan`]")
    }))
}

/// Names and options of the pass flags, in the order in which they were written.
pub(super) fn pass_flags(matches: &ArgMatches) -> Vec<(&'static str, String)> {
    let mut found: Vec<(usize, &'static str, String)> = Vec::new();
    for (name, _) in pass_names() {
        let indices = matches.indices_of(name).into_iter().flatten();
        let values = matches.get_many::<String>(name).into_iter().flatten();
        found.extend(indices.zip(values).map(|(index, value)| (index, name, value.clone())));
    }
    found.sort();
    found.into_iter().map(|(_, name, options)| (name, options)).collect()
}

fn pass_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let passes = PASSES.iter().map(|pass| (pass.name, pass.summary));
    passes.chain(PIPELINES.iter().map(|pipeline| (pipeline.name, pipeline.summary)))
}
