//! `neap emit`, and what writing into model files adds to the other verbs.

use super::{Common, flags, many, one, read_source, required};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::path::PathBuf;

/// `neap emit`.
pub struct Emit {
    /// The plan, and what was said about its source.
    pub common: Common,
    /// The model file that the plan goes into.
    pub template: Option<PathBuf>,
    /// Files to write, by their extension.
    pub outputs: Vec<PathBuf>,
    /// The writer of the outputs, whatever their extension.
    pub to: Option<String>,
    /// Whether offsets go into the model file; none: by the profile.
    pub offsets: Option<bool>,
}

pub(super) fn command() -> Command {
    let command = Command::new("emit")
        .about("Writes a plan that is there already into a model file, a table, a header")
        .arg(flags::input("PLANNED").required(true).help("A planned module as text; `-` is the standard input"))
        .after_help(super::forms())
        .arg(
            flags::path("output", "OUT", "Writes a file, by its extension; repeatable")
                .short('o')
                .required(true)
                .action(ArgAction::Append),
        )
        .arg(to())
        .arg(template())
        .arg(offsets());
    flags::source(command)
}

/// `neap report`: the pictures and tables of `neap emit`, by a name that is looked for.
pub(super) fn report() -> Command {
    let command = Command::new("report")
        .about("Draws a plan that is there already: a page that opens from disk, an SVG, a trace for Perfetto")
        .arg(flags::input("PLANNED").required(true).help("A planned module as text; `-` is the standard input"))
        .after_help(super::forms())
        .arg(
            flags::path(
                "output",
                "OUT",
                "Writes .html, .svg, .trace.json, the summary (.json) or the storages (.csv); repeatable",
            )
            .short('o')
            .required(true)
            .action(ArgAction::Append),
        )
        .arg(flags::text(
            "to",
            "WRITER",
            "Writes the outputs as html, svg, trace, json or csv, whatever their extension",
        ));
    flags::source(command)
}

/// `--to WRITER`.
pub(super) fn to() -> Arg {
    flags::text(
        "to",
        "WRITER",
        "Writes the outputs as mlir, memref, json, csv, tflite, onnx, c, schedule, steps, memory, spills, html, svg or trace, whatever their extension",
    )
    .requires("output")
}

/// `--template MODEL`.
pub(super) fn template() -> Arg {
    flags::path("template", "MODEL", "The model file that the plan goes into, for .tflite, .onnx and NPU schedules")
}

/// `--offsets[=BOOL]`.
pub(super) fn offsets() -> Arg {
    flags::text(
        "offsets",
        "BOOL",
        "Adds `OfflineMemoryAllocation` to a .tflite [default: true with --profile tflm, else false]",
    )
    .value_parser(clap::value_parser!(bool))
    .hide_possible_values(true)
    .num_args(0..=1)
    .require_equals(true)
    .default_missing_value("true")
}

pub(super) fn read_report(matches: &ArgMatches) -> Emit {
    Emit {
        common: common(matches),
        template: None,
        outputs: many(matches, "output"),
        to: one(matches, "to"),
        offsets: None,
    }
}

fn common(matches: &ArgMatches) -> Common {
    Common {
        input: required(matches, "PLANNED"),
        source: read_source(matches),
        // The verb itself has the plan checked.
        no_check: true,
        verify_each: true,
        ..Common::default()
    }
}

pub(super) fn read(matches: &ArgMatches) -> Emit {
    Emit {
        common: common(matches),
        template: one(matches, "template"),
        outputs: many(matches, "output"),
        to: one(matches, "to"),
        offsets: one(matches, "offsets"),
    }
}
