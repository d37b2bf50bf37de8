//! `neap check SOURCE PLANNED`: is this plan, whoever made it, right for this source?
//!
//! The source gets the same flags and profile as it got from the planner: who owns which bytes is part of the question. The plan is a planned
//! module, a table of offsets that another tool wrote, or a model file: that has to compute what the source computes, on the same constants, and offsets
//! that it holds are judged.

use crate::apply;
use crate::cli::Check;
use crate::contents::Names;
use crate::drive::{self, Setup};
use crate::exit::{Exit, Failure};
use crate::foreign::{self, Table};
use crate::input::{self, Input, Kind};
use crate::proofs;
use crate::report::{self, Source};
use crate::size::grouped;
use crate::streams::Streams;
use neap_ir::Module;
use neap_passes::pipeline::Run;
use std::collections::BTreeSet;

/// Runs the verb.
///
/// # Errors
/// What is wrong, when it is not about a place in one of the inputs; the rest has been said.
pub(crate) fn run(request: &Check, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let original = Input::read(&request.original, streams)?;
    let planned = Input::read(&request.planned, streams)?;
    let outcome = match planned.kind {
        Kind::Tflite | Kind::Onnx => model(request, &original, &planned),
        _ => plan(request, &original, &planned),
    };
    match outcome {
        Ok(text) => streams.deliver(&text),
        Err(Refused::Anywhere(failure)) => Err(failure),
        Err(Refused::In(input, failure)) => {
            let source = Source { name: &input.name, text: input.text(), line: 0 };
            let text = report::text(&failure.diagnostics, source, streams.colour_err);
            streams.say(&text);
            Ok(failure.exit)
        }
    }
}

/// Why a plan is not accepted.
enum Refused<'a> {
    /// At a place in one of the inputs.
    In(&'a Input, Failure),
    /// At no place.
    Anywhere(Failure),
}

impl From<Failure> for Refused<'_> {
    fn from(failure: Failure) -> Self {
        Refused::Anywhere(failure)
    }
}

/// What a plan is accepted for.
fn plan<'a>(request: &Check, original: &'a Input, planned: &'a Input) -> Result<String, Refused<'a>> {
    let dims = &request.source.dims;
    let table = foreign::is_table(&planned.name, &planned.bytes);
    let mut source = read(original, original.module(dims))?;
    let read_plan = if table { None } else { Some(read(planned, planned.module(dims))?) };
    let setup = Setup::new(&request.source, original.kind.profile())?;
    apply::apply(&mut source, &request.source, &setup.profile, &setup.facts)?;
    // What a table says is about places in the source.
    let about = if table { original } else { planned };
    let module = match read_plan {
        Some(module) => module,
        None => from_table(&source, planned, &setup).map_err(|failure| Refused::In(about, failure))?,
    };
    let options = neap_check::Options {
        callees_have_arenas: setup.profile.own_arena_per_function,
        ignore_fingerprint: request.ignore_fingerprint,
        offsets_only: table,
        ..neap_check::Options::default()
    };
    let report = neap_check::check(&source, &module, &setup.facts, &options);
    if !report.accepted() {
        return Err(Refused::In(about, Failure::new(Exit::Input, report.diagnostics())));
    }
    let mut text = String::new();
    for numbers in &report.functions {
        let (arena, peak) = (grouped(numbers.arena_bytes.into()), grouped(numbers.peak.into()));
        text +=
            &format!("@{}: accepted; arena {arena} B, peak {peak} B, alignment {}\n", numbers.function, numbers.align);
    }
    if let Some(path) = &request.certificate {
        text += &proofs::hold(path, &module, &setup.facts).map_err(|failure| Refused::In(about, failure))?;
    }
    Ok(text)
}

/// What a model file is accepted for.
fn model<'a>(request: &Check, original: &'a Input, planned: &'a Input) -> Result<String, Refused<'a>> {
    if request.certificate.is_some() {
        let failure = Failure::usage(format!("`--certificate` is about a plan, and `{}` holds none", planned.name));
        return Err(failure.help("check the plan that was written as `.mlir` beside it").into());
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
                .map_err(|errors| Refused::In(input, Failure::new(Exit::Input, errors)))
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
            foreign::judged(planned, &request.source, &setup).map_err(|failure| Refused::In(planned, failure))?;
        if let Some(head) = head {
            let bytes = grouped(head.bytes.into());
            text += &format!("offsets for TFLite Micro: {} tensors in {bytes} B, none over another\n", head.tensors);
        }
    }
    Ok(text)
}

/// A module that keeps the rules of the representation.
fn read(input: &Input, module: Result<Module, Failure>) -> Result<Module, Refused<'_>> {
    module.and_then(|module| drive::valid(&module).map(|()| module)).map_err(|failure| Refused::In(input, failure))
}

/// The source with the offsets of a table.
fn from_table(source: &Module, input: &Input, setup: &Setup) -> Result<Module, Failure> {
    let table = Table::read(&input.name, &input.bytes)?;
    let run = Run { facts: &setup.facts, profile: &setup.profile, stop: &|| false, verify_each: true };
    foreign::planned(source, &table, run)
}
