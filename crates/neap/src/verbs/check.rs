//! `neap check SOURCE PLANNED`: is this plan, whoever made it, right for this source?
//!
//! The source gets the same flags as it got from the planner, and the profile that the plan says it was made with: who owns which bytes is part of the
//! question. The plan is a planned module, several of them in one file (for ranges of sizes, or for models that share an arena), a table of
//! offsets, or a model file: that has to compute what the source computes, on the same constants, and offsets that it holds are judged.

use crate::apply;
use crate::buckets;
use crate::cli::{Check, DimFlag, SourceFlags};
use crate::contents::Names;
use crate::drive::{self, Setup};
use crate::exit::{Exit, Failure};
use crate::foreign::{self, Graph, Table};
use crate::input::{self, Input, Kind};
use crate::progress::Progress;
use crate::proofs;
use crate::report::{self, Source};
use crate::size::grouped;
use crate::streams::Streams;
use neap_ir::parse::split_input;
use neap_ir::plan::FINGERPRINT;
use neap_ir::{Attr, Fingerprints, Module, ValueId};
use neap_passes::pipeline::Run;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Runs the verb.
///
/// # Errors
/// What is wrong, when it is not about a place in one of the inputs; the rest has been said.
pub(crate) fn run(request: &Check, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let original = Input::read(&request.original, streams)?;
    let planned = Input::read(&request.planned, streams)?;
    let outcome = {
        let progress = Progress::new(&mut *streams.err, streams.progress, None);
        progress.label(format!("check of {}", planned.name));
        match planned.kind {
            Kind::Tflite | Kind::Onnx => model(request, &original, &planned),
            _ if foreign::is_table(&planned.name, &planned.bytes) => table(request, &original, &planned),
            _ => plans(request, &original, &planned),
        }
    };
    match outcome {
        Ok(text) => streams.deliver(&text),
        Err(Refused::Anywhere(failure)) => Err(failure),
        Err(Refused::In(input, line, failure)) => {
            let source = Source { name: &input.name, text: input.text(), line: 0 };
            let chunks = String::from_utf8_lossy(source.text);
            let chunk = split_input(&chunks).into_iter().find(|chunk| line > 0 && chunk.line == line);
            let source = chunk.map_or(source, |chunk| Source { text: chunk.text.as_bytes(), line, ..source });
            let text = report::text(&failure.diagnostics, source, streams.colour_err);
            streams.say(&text);
            Ok(failure.exit)
        }
    }
}

/// Why a plan is not accepted.
enum Refused<'a> {
    /// At a place in one of the inputs, in the part behind so many lines.
    In(&'a Input, usize, Failure),
    /// At no place.
    Anywhere(Failure),
}

impl From<Failure> for Refused<'_> {
    fn from(failure: Failure) -> Self {
        Refused::Anywhere(failure)
    }
}

/// What a file of plans is accepted for: one plan, or one for each range of sizes, or for each of several models.
fn plans<'a>(request: &Check, original: &'a Input, planned: &'a Input) -> Result<String, Refused<'a>> {
    let text = String::from_utf8_lossy(planned.text()).into_owned();
    let chunks = split_input(&text);
    let mut part = Part { request, original, planned, line: 0, alone: chunks.len() == 1, seen: RefCell::default() };
    if part.alone {
        let module = read(planned, planned.module(&request.source.dims))?;
        return Ok(part.check(&module)?.unwrap_or_default());
    }
    let (mut said, mut others, mut ranges) = (String::new(), 0, Vec::new());
    for chunk in &chunks {
        part.line = chunk.line;
        let module = input::read(planned.kind, &planned.name, chunk.text.as_bytes(), &[])
            .and_then(|module| drive::valid(&module).map(|()| module))
            .map_err(|failure| part.refused(failure))?;
        let Some(text) = part.check(&module)? else {
            others += 1;
            continue;
        };
        if let Some(range) = buckets::range(&module) {
            said += &said_of(&range);
            ranges.push(range);
        }
        said += &text;
    }
    if others == chunks.len() {
        let failure =
            Failure::input(format!("none of the {others} plans in `{}` is one of `{}`", planned.name, original.name));
        return Err(failure.help("plan the model again, and give the flags that it was planned with").into());
    }
    whole(&ranges, request)?;
    if others > 0 {
        said += &format!("{others} of {} plans are for other graphs, and were not looked at\n", chunks.len());
    }
    Ok(said)
}

/// Ranges follow each other without a gap, over all that the user asks for.
fn whole(ranges: &[DimFlag], request: &Check) -> Result<(), Failure> {
    buckets::follow(ranges)?;
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(()) };
    let asked = request.source.dims.iter().find(|dim| dim.name == first.name);
    match asked.filter(|asked| asked.low < first.low || asked.high > last.high) {
        Some(asked) => Err(Failure::input(format!(
            "there are plans for {} from {} to {}, not from {} to {}",
            asked.name, first.low, last.high, asked.low, asked.high
        ))),
        None => Ok(()),
    }
}

/// One plan of a file.
struct Part<'a, 'r> {
    request: &'r Check,
    original: &'a Input,
    planned: &'a Input,
    /// Lines of the file before it.
    line: usize,
    /// Whether there is no other one.
    alone: bool,
    /// The source as it was read last, and with which sizes.
    seen: RefCell<Option<(Module, Vec<DimFlag>)>>,
}

impl<'a> Part<'a, '_> {
    fn refused(&self, failure: Failure) -> Refused<'a> {
        Refused::In(self.planned, self.line, failure)
    }

    /// The source with these sizes, which is read once for each.
    fn source(&self, dims: &[DimFlag]) -> Result<Module, Failure> {
        let mut seen = self.seen.borrow_mut();
        let module = match &*seen {
            Some((module, before)) => self.original.again((module, before), dims)?,
            None => self.original.module(dims)?,
        };
        *seen = Some((module.clone(), dims.to_vec()));
        Ok(module)
    }

    /// The bounds that the plan is made for and judged within, where the source does not state others and others are not asked for. What follows from the
    /// sizes of arguments goes without saying.
    fn within(&self, module: &Module, asked: &[DimFlag]) -> Vec<DimFlag> {
        let mut open = apply::dims::stated(module);
        let mut known = asked.to_vec();
        let mut within = Vec::new();
        for arguments in [true, false] {
            if open.is_empty() {
                break;
            }
            let stated = self.source(&known).map_or(Vec::new(), |source| apply::dims::stated(&source));
            open.retain(|own| stated.iter().chain(&known).all(|dim| dim.name != own.name));
            let (now, later): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|own| !arguments || apply::dims::of_arguments(module, &own.name));
            known.extend(now.iter().cloned());
            within.extend(now);
            open = later;
        }
        within
    }

    /// What the plan is accepted for; none if it is one of several, and for another graph.
    fn check(&self, module: &Module) -> Result<Option<String>, Refused<'a>> {
        let mut flags = self.request.source.clone();
        let bucket = buckets::range(module);
        if let Some(range) = bucket.clone() {
            flags.dims.retain(|dim| dim.name != range.name);
            flags.dims.push(range);
        }
        let within = self.within(module, &flags.dims);
        flags.dims.extend(within.iter().cloned());
        let recorded = drive::recorded(module);
        let setup =
            Setup::new(&flags, recorded.unwrap_or(self.original.kind.profile())).map_err(|failure| match recorded {
                Some(name) if flags.profile.is_none() => {
                    failure.note(format!("the plan says that it was made with `--profile {name}`"))
                }
                _ => failure,
            })?;
        let read = self.source(&flags.dims);
        let source = read.and_then(|mut source| {
            drive::valid(&source)?;
            apply::apply(&mut source, &flags, &setup.profile, &setup.facts)?;
            Ok(source)
        });
        let source = match source {
            Ok(source) => source,
            // Another model has no dimension of this name.
            Err(_) if !self.alone && buckets::range(module).is_some() => return Ok(None),
            Err(failure) => return Err(Refused::In(self.original, 0, failure)),
        };
        if !self.alone && !self.request.ignore_fingerprint && !is_of(&source, module) {
            return Ok(None);
        }
        let note = contradiction(&flags, recorded);
        let options = neap_check::Options {
            callees_have_arenas: setup.profile.own_arena_per_function,
            ignore_fingerprint: self.request.ignore_fingerprint,
            ..neap_check::Options::default()
        };
        let mut text = accepted(&source, module, &setup, &options).map_err(|failure| {
            self.refused(match &note {
                Some(note) => failure.note(note.clone()),
                None => failure,
            })
        })?;
        if let Some(path) = &self.request.certificate {
            text += &proofs::hold(path, module, &setup.facts).map_err(|failure| self.refused(failure))?;
        }
        let within: String = within.iter().map(said_of).collect();
        Ok(Some(note.map(|note| format!("note: {note}\n")).unwrap_or_default() + &within + &text))
    }
}

/// The sizes that a plan is for.
fn said_of(dim: &DimFlag) -> String {
    format!("{} from {} to {}:\n", dim.name, dim.low, dim.high)
}

/// What is to be said where a flag names another profile than the plan does.
fn contradiction(flags: &SourceFlags, recorded: Option<&str>) -> Option<String> {
    let (given, recorded) = (flags.profile.as_deref()?, recorded?);
    (given != recorded)
        .then(|| format!("the plan was made with `--profile {recorded}`, and is checked with `--profile {given}`"))
}

/// Whether a plan says of each function that it was made for it.
fn is_of(source: &Module, planned: &Module) -> bool {
    let stamp = |name: &str| planned.attr(planned.symbol(name)?, FINGERPRINT).and_then(Attr::as_str);
    let mut fingerprints = Fingerprints::new(source);
    source.functions().into_iter().all(|func| {
        let here = fingerprints.of(func);
        stamp(source.sym_name(func).unwrap_or_default()) == Some(here.as_str())
    })
}

/// The figures of a plan that is right.
fn accepted(source: &Module, module: &Module, setup: &Setup, options: &neap_check::Options) -> Result<String, Failure> {
    let report = neap_check::check(source, module, &setup.facts, options);
    if !report.accepted() {
        return Err(Failure::new(Exit::Input, report.diagnostics()));
    }
    let mut text = String::new();
    for numbers in &report.functions {
        let (arena, peak) = (grouped(numbers.arena_bytes.into()), grouped(numbers.peak.into()));
        text +=
            &format!("@{}: accepted; arena {arena} B, peak {peak} B, alignment {}\n", numbers.function, numbers.align);
    }
    Ok(text)
}

/// What a table of offsets is accepted for. What it says is about places in the source.
fn table<'a>(request: &Check, original: &'a Input, planned: &'a Input) -> Result<String, Refused<'a>> {
    if request.certificate.is_some() {
        return Err(no_certificate(planned).into());
    }
    let table = Table::read(&planned.name, &planned.bytes).map_err(|failure| Refused::In(original, 0, failure))?;
    let mut source = read(original, original.module(&request.source.dims))?;
    foreign::functions_there(&source, &table)?;
    let recorded = table.profile.as_deref();
    let setup = Setup::new(&request.source, recorded.unwrap_or(original.kind.profile()))?;
    apply::apply(&mut source, &request.source, &setup.profile, &setup.facts)?;
    let run = Run { facts: &setup.facts, profile: &setup.profile, stop: &|| false, verify_each: true };
    let options = neap_check::Options {
        callees_have_arenas: setup.profile.own_arena_per_function,
        ignore_fingerprint: request.ignore_fingerprint,
        offsets_only: true,
        ..neap_check::Options::default()
    };
    let note = contradiction(&request.source, recorded);
    let judged = |graph: Graph| {
        let (module, stated) = foreign::planned(&source, &table, run, graph)?;
        let text = accepted(&source, &module, &setup, &options)?;
        lives(&module, &setup, &stated)?;
        Ok(text)
    };
    let text = judged(Graph::Given).or_else(|failure: Failure| {
        // Ours may be a plan of the fused graph. If it is not right for that either, the given one is what the user knows.
        let fused = table.is_ours().then(|| judged(Graph::Fused).ok()).flatten();
        fused.map(|text| format!("after fusion, {text}")).ok_or(failure)
    });
    let text = text.map_err(|failure| {
        let unsaid = recorded.is_none() && request.source.profile.is_none();
        let by = format!("judged by `--profile {}`: name the profile that the plan was made with", setup.name);
        Refused::In(original, 0, if unsaid { failure.note(by) } else { failure })
    })?;
    Ok(note.map(|note| format!("note: {note}\n")).unwrap_or_default() + &text)
}

/// The steps that a table states are those of its storages. With nested bodies the table does not say all that shares bytes, and only the order is
/// taken from it.
fn lives(module: &Module, setup: &Setup, stated: &[foreign::Stated]) -> Result<(), Failure> {
    let nested = |func: &neap_ir::OpId| module.walk(*func).iter().any(|op| !module.op_regions(*op).is_empty());
    let flat: Vec<neap_ir::OpId> = module.functions().into_iter().filter(|func| !nested(func)).collect();
    let found: FxHashMap<ValueId, (u32, u32)> = neap_check::lives(module, &setup.facts, &flat).into_iter().collect();
    for stated in stated {
        let Some(live) = found.get(&stated.value).filter(|live| **live != stated.live) else { continue };
        let what = format!(
            "{}: the storage is said to live for the steps [{}, {}), and lives for [{}, {})",
            stated.place, stated.live.0, stated.live.1, live.0, live.1
        );
        return Err(Failure::input(what));
    }
    Ok(())
}

fn no_certificate(planned: &Input) -> Failure {
    Failure::usage(format!("`--certificate` is about a planned module, and `{}` is none", planned.name))
        .help("check the plan that was written as `.mlir` beside it")
}

/// What a model file is accepted for.
fn model<'a>(request: &Check, original: &'a Input, planned: &'a Input) -> Result<String, Refused<'a>> {
    if request.certificate.is_some() {
        return Err(no_certificate(planned).into());
    }
    let dims = &request.source.dims;
    let setup = Setup::new(&request.source, original.kind.profile())?;
    let mut here = Names::of(&[&original.name]);
    let mut there = Names::of(&[&planned.name, &original.name]);
    let (mut source, mut module) = if original.kind == planned.kind {
        let source = read(original, input::read_named(original, dims, &mut here))?;
        (source, read(planned, input::read_named(planned, dims, &mut there))?)
    } else {
        (read(original, original.module(dims))?, read(planned, planned.module(dims))?)
    };
    if planned.kind == Kind::Onnx && original.kind == Kind::Onnx {
        let meaning = |input: &'a Input| {
            neap_import::onnx::meaning(&input.bytes)
                .map_err(|errors| Refused::In(input, 0, Failure::new(Exit::Input, errors)))
        };
        if meaning(original)? != meaning(planned)? {
            let what = "the two files name other versions of operator sets, or have other functions of their own";
            return Err(Failure::input(what).into());
        }
    }
    apply::apply(&mut source, &request.source, &setup.profile, &setup.facts)?;
    apply::apply(&mut module, &request.source, &setup.profile, &setup.facts)?;
    let report = neap_check::check_semantics(&source, &module, &setup.facts);
    if !report.accepted() {
        let failure = Failure::new(Exit::Input, report.diagnostics());
        let absent = here.missing.symmetric_difference(&there.missing).next();
        return Err(Refused::In(
            planned,
            0,
            match absent {
                Some(file) => failure.note(format!("`{file}` is there for one of the two files only")),
                None => failure,
            },
        ));
    }
    let list = |files: &BTreeSet<String>| files.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ");
    let mut text = "accepted: both compute the same".to_owned();
    if !here.missing.is_empty() {
        text += &format!(
            " if both find the same in {}: constants there were not compared, since it is not there as far as it is read",
            list(&here.missing)
        );
    }
    text += "\n";
    if !there.elsewhere.is_empty() {
        text += &format!("constants in {} were read beside the source\n", list(&there.elsewhere));
    }
    if planned.kind == Kind::Tflite {
        let head =
            foreign::judged(planned, &request.source, &setup).map_err(|failure| Refused::In(planned, 0, failure))?;
        if let Some(head) = head {
            let bytes = grouped(head.bytes.into());
            text += &format!("offsets for TFLite Micro: {} tensors in {bytes} B, none over another\n", head.tensors);
        }
    }
    Ok(text)
}

/// A module that keeps the rules of the representation.
fn read(input: &Input, module: Result<Module, Failure>) -> Result<Module, Refused<'_>> {
    module.and_then(|module| drive::valid(&module).map(|()| module)).map_err(|failure| Refused::In(input, 0, failure))
}
