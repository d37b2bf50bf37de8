//! The command line of `neap pack`. MiniMalloc's users find their flags: `--capacity --input --output --timeout --validate`.

use super::values::{self, ArenaFlag, Timeout};
use super::{file, flags, many, one, required, switch};
use clap::{ArgAction, ArgMatches, Command};
use neap_pack::Method;
use std::path::PathBuf;
use std::time::Duration;

/// `neap pack`.
pub struct Pack {
    /// A table of buffers.
    pub input: PathBuf,
    /// Where the table with offsets goes; none: the standard output.
    pub output: Option<PathBuf>,
    /// The most bytes the arena may take; none: as few as possible.
    pub capacity: Option<u64>,
    /// Arenas, in order of preference, instead of one.
    pub arenas: Vec<ArenaFlag>,
    /// How to pack.
    pub method: Method,
    /// Whether `upper` is the last step inside.
    pub inclusive: bool,
    /// Whether all pairs of buffers are compared at the end.
    pub validate: bool,
    /// After this time the best packing so far is taken.
    pub time_limit: Option<Duration>,
}

/// The verb and its flags.
pub(super) fn command() -> Command {
    Command::new("pack")
        .about("Packs a table of buffers (CSV with id, lower, upper, size): the same table with offsets")
        .after_help(format!(
            "Ranges are half-open: a buffer is held in the steps from `lower` up to, not including, `upper`. A column called `end` \
             instead of `upper` holds the last step, and so do all ends with --inclusive. Optional columns: alignment, gaps, offset, \
             hint, region. Sizes and offsets are bytes.\n\n{}",
            super::EXITS
        ))
        .arg(flags::input("FILE").help("The table; `-` is the standard input").required_unless_present("input"))
        .arg(flags::path("input", "FILE", "The table, as MiniMalloc's users give it").conflicts_with("FILE"))
        .arg(flags::path("output", "OUT", "Writes the table here [default: the standard output]").short('o'))
        .arg(flags::size("capacity", "SIZE", "Any packing within SIZE bytes will do; without it, the least height is sought"))
        .arg(
            flags::text("arena", "N=SIZE[:ALIGN]", "Packs into several arenas, in order of preference [default of ALIGN: 1]")
                .value_parser(values::arena)
                .action(ArgAction::Append)
                .conflicts_with("capacity"),
        )
        .arg(
            flags::text("method", "M", "Runs one method only, such as first-fit, best-fit-temporal or litert")
                .value_parser(values::method)
                .default_value("search"),
        )
        .arg(switch("inclusive", "Takes the end of a range as the last step inside, not the first behind"))
        .arg(
            switch("validate", "Compares all pairs of buffers at the end, in quadratic time")
                .action(ArgAction::Set)
                .num_args(0..=1)
                .require_equals(true)
                .value_parser(clap::value_parser!(bool))
                .default_value("false")
                .default_missing_value("true")
                .hide_default_value(true)
                .value_name("BOOL")
                .hide_possible_values(true),
        )
        .arg(flags::seconds())
        .arg(
            flags::text("timeout", "DURATION", "As --time-limit, with a unit: 500ms, 60s, 2m, inf")
                .value_parser(values::timeout)
                .conflicts_with("time-limit"),
        )
}

/// What they say.
pub(super) fn read(matches: &ArgMatches) -> Pack {
    Pack {
        input: one(matches, "input").unwrap_or_else(|| required(matches, "FILE")),
        output: file(matches, "output"),
        capacity: one(matches, "capacity"),
        arenas: many(matches, "arena"),
        method: one(matches, "method").unwrap_or(Method::Search),
        inclusive: matches.get_flag("inclusive"),
        validate: one(matches, "validate").unwrap_or(false),
        time_limit: one(matches, "time-limit").or_else(|| one::<Timeout>(matches, "timeout")?.0),
    }
}
