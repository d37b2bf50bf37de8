//! Flags that contradict each other, or that do nothing where they stand: refused before anything is read.
//!
//! What is said of one thing is said once: of two answers neither is silently taken.

use super::values::{ArenaFlag, BucketsFlag, Budget, DimFlag, PinFlag, ReuseFlag};
use super::{Objective, SummaryKind, many, one};
use clap::ArgMatches;
use clap::parser::ValueSource;
use std::path::{Path, PathBuf};

/// What a plan with spills honours.
const SPILLED: &[&str] = &["FILE", "output", "to", "objective", "summary", "summary-file"];

/// What several models, or several instances of one, cannot have.
const NOT_TOGETHER: &[&str] = &[
    "certificate",
    "dialect-stub",
    "template",
    "offsets",
    "objective",
    "trace-steps",
    "rematerialize",
    "buckets",
    "mlir-timing",
    "mlir-pass-statistics",
];

/// The first contradiction.
pub(super) fn find(matches: &ArgMatches) -> Result<(), String> {
    let named = |name: &Option<String>| name.clone().unwrap_or_default();
    twice::<ArenaFlag>(matches, "arena", |flag| flag.name.clone())?;
    twice::<Budget>(matches, "budget", |flag| named(&flag.arena))?;
    twice::<PinFlag>(matches, "pin", |flag| flag.name.clone())?;
    twice::<DimFlag>(matches, "dim", |flag| flag.name.clone())?;
    twice::<ReuseFlag>(matches, "reuse", |flag| named(&flag.name))?;
    twice::<PathBuf>(matches, "dialect", |path| path.display().to_string())?;
    for flag in ["keep", "external", "assume-pure"] {
        twice::<String>(matches, flag, Clone::clone)?;
    }
    reuse(matches)?;
    buckets(matches)?;
    nothing(matches)?;
    standard_input(matches)
}

/// A flag that may be repeated for different things, given twice for the same.
fn twice<T: Clone + Send + Sync + 'static>(
    matches: &ArgMatches,
    flag: &str,
    key: impl Fn(&T) -> String,
) -> Result<(), String> {
    let Ok(Some(values)) = matches.try_get_many::<T>(flag) else { return Ok(()) };
    let keys: Vec<String> = values.map(key).collect();
    let raw: Vec<String> = raw(matches, flag);
    for (at, key) in keys.iter().enumerate() {
        if let Some(before) = keys[..at].iter().position(|other| other == key) {
            let (first, second) = (&raw[before], &raw[at]);
            return Err(format!(
                "`--{flag} {first}` and `--{flag} {second}` are about the same: only one may be given"
            ));
        }
    }
    Ok(())
}

/// The values as they were written.
fn raw(matches: &ArgMatches, flag: &str) -> Vec<String> {
    let values = matches.try_get_raw(flag).ok().flatten().into_iter().flatten();
    values.map(|value| value.to_string_lossy().into_owned()).collect()
}

fn is_given(matches: &ArgMatches, flag: &str) -> bool {
    matches.ids().any(|id| id == flag) && matches.value_source(flag) == Some(ValueSource::CommandLine)
}

fn reuse(matches: &ArgMatches) -> Result<(), String> {
    if !is_given(matches, "no-reuse") {
        return Ok(());
    }
    let policies: Vec<ReuseFlag> = many(matches, "reuse");
    match policies.iter().position(|flag| flag.policy != "never") {
        Some(at) => Err(format!("`--no-reuse` and `--reuse {}` contradict each other", raw(matches, "reuse")[at])),
        None => Ok(()),
    }
}

/// `--dim` says where the first bucket of a dimension begins; where the last one ends, both say.
fn buckets(matches: &ArgMatches) -> Result<(), String> {
    let Ok(Some(buckets)) = matches.try_get_one::<BucketsFlag>("buckets") else { return Ok(()) };
    let dims: Vec<DimFlag> = many(matches, "dim");
    match dims.iter().position(|dim| dim.name == buckets.name && Some(&dim.high) != buckets.sizes.last()) {
        Some(at) => Err(format!(
            "`--dim {}` and `--buckets {}` end at different sizes",
            raw(matches, "dim")[at],
            raw(matches, "buckets").join(" ")
        )),
        None => Ok(()),
    }
}

/// Flags that would do nothing.
fn nothing(matches: &ArgMatches) -> Result<(), String> {
    let none = |flag: &str| is_given(matches, flag) && one::<SummaryKind>(matches, flag) == Some(SummaryKind::None);
    if none("summary") && is_given(matches, "summary-file") {
        return Err("`--summary=none` leaves nothing to write to the `--summary-file`".to_owned());
    }
    if !matches.ids().any(|id| id == "FILE") {
        return Ok(());
    }
    let objective = matches.try_get_one::<Objective>("objective").ok().flatten().copied().unwrap_or_default();
    let given = || matches.ids().map(clap::Id::as_str).filter(|id| is_given(matches, id));
    if objective != Objective::Peak
        && let Some(flag) = given().find(|id| !SPILLED.contains(id))
    {
        let name = spelled(flag);
        return Err(format!(
            "{name} has no meaning with `--objective {}`: the memories and their sizes are those of the NPU",
            objective.name()
        ));
    }
    rematerialize(matches)?;
    let several = ["share-arena", "concurrent", "MORE"].into_iter().find(|flag| is_given(matches, flag));
    match (several, given().find(|id| NOT_TOGETHER.contains(id))) {
        (Some(several), Some(flag)) => Err(format!("{} has no meaning with {}", spelled(flag), spelled(several))),
        _ => Ok(()),
    }
}

/// `--rematerialize` without bytes to come down to. As a pass of `opt` it may say them itself, or go as low as is found; a budget of one arena
/// alone it would not hear of.
fn rematerialize(matches: &ArgMatches) -> Result<(), String> {
    if !is_given(matches, "rematerialize") {
        return Ok(());
    }
    let budgets: Vec<Budget> = many(matches, "budget");
    let own = matches.try_get_many::<String>("rematerialize");
    let pass = own.is_ok();
    let said = own.ok().flatten().is_some_and(|mut options| options.any(|options| options.contains("budget=")));
    if said || budgets.iter().any(|flag| flag.arena.is_none()) || (pass && budgets.is_empty()) {
        return Ok(());
    }
    Err("`--rematerialize` needs a `--budget SIZE` of the whole: values have no arena before they are placed"
        .to_owned())
}

fn spelled(id: &str) -> String {
    match id {
        "MORE" => "several models".to_owned(),
        _ => format!("`--{id}`"),
    }
}

/// The standard input can be read once.
fn standard_input(matches: &ArgMatches) -> Result<(), String> {
    let files = ["FILE", "MORE", "SOURCE", "PLANNED", "OLD", "NEW", "template"].into_iter();
    let paths = files.filter_map(|file| matches.try_get_many::<PathBuf>(file).ok().flatten()).flatten();
    match paths.filter(|path| *path == Path::new("-")).count() {
        0 | 1 => Ok(()),
        _ => Err("`-` is given twice, and the standard input can be read once".to_owned()),
    }
}
