//! `neap check SOURCE PLANNED`: is this plan, whoever made it, right for this source?
//!
//! The source gets the same flags and profile as it got from the planner: who owns which bytes is part of the question. The plan is a planned
//! module, a table of offsets that another tool wrote, or a model file: that has to compute what the source computes, and offsets that it holds
//! are looked at.

use crate::apply;
use crate::cli::{Check, DimFlag};
use crate::drive::{self, Setup};
use crate::exit::{Exit, Failure};
use crate::foreign::{self, Table};
use crate::input::{Input, Kind};
use crate::proofs;
use crate::report::{self, Source};
use crate::size::grouped;
use crate::streams::Streams;
use neap_ir::Module;
use neap_passes::pipeline::Run;

/// Runs the verb.
///
/// # Errors
/// What is wrong, when it is not about a place in one of the inputs; the rest has been said.
pub(crate) fn run(request: &Check, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let original = Input::read(&request.original, streams)?;
    let planned = Input::read(&request.planned, streams)?;
    let setup = Setup::new(&request.source, original.kind.profile())?;
    let place = |input: &Input, failure: &Failure, streams: &mut Streams<'_>| {
        let source = Source { name: &input.name, text: input.text(), line: 0 };
        let text = report::text(&failure.diagnostics, source, streams.colour_err);
        streams.say(&text);
        failure.exit
    };
    let dims = &request.source.dims;
    let mut source = match module(&original, dims) {
        Ok(module) => module,
        Err(failure) => return Ok(place(&original, &failure, streams)),
    };
    let table = foreign::is_table(&planned.name, &planned.bytes);
    let read = if table { None } else { Some(module(&planned, dims)) };
    apply::apply(&mut source, &request.source, &setup.profile, &setup.facts)?;
    // What a table says is about places in the source.
    let about = if table { &original } else { &planned };
    let mut module = match read.unwrap_or_else(|| from_table(&source, &planned, &setup)) {
        Ok(module) => module,
        Err(failure) => return Ok(place(about, &failure, streams)),
    };
    if planned.kind == Kind::Tflite {
        apply::apply(&mut module, &request.source, &setup.profile, &setup.facts)?;
    }
    let options = neap_check::Options {
        callees_have_arenas: setup.profile.own_arena_per_function,
        ignore_fingerprint: request.ignore_fingerprint,
        offsets_only: table,
        semantics_only: planned.kind == Kind::Tflite,
        ..neap_check::Options::default()
    };
    let report = neap_check::check(&source, &module, &setup.facts, &options);
    if !report.accepted() {
        let failure = Failure::new(Exit::Input, report.diagnostics());
        return Ok(place(about, &failure, streams));
    }
    let mut text = String::new();
    if planned.kind == Kind::Tflite {
        if request.certificate.is_some() {
            let failure = Failure::usage(format!("`--certificate` is about a plan, and `{}` holds none", planned.name));
            return Err(failure.help("check the plan that was written as `.mlir` beside it"));
        }
        text += "accepted: both compute the same\n";
        match foreign::judged(&planned, &request.source, &setup) {
            Ok(Some(head)) => {
                let bytes = grouped(head.bytes.into());
                text +=
                    &format!("offsets for TFLite Micro: {} tensors in {bytes} B, none over another\n", head.tensors);
            }
            Ok(None) => {}
            Err(failure) => return Ok(place(&planned, &failure, streams)),
        }
        return streams.deliver(&text);
    }
    for numbers in &report.functions {
        let (arena, peak) = (grouped(numbers.arena_bytes.into()), grouped(numbers.peak.into()));
        text +=
            &format!("@{}: accepted; arena {arena} B, peak {peak} B, alignment {}\n", numbers.function, numbers.align);
    }
    if let Some(path) = &request.certificate {
        match proofs::hold(path, &module, &setup.facts) {
            Ok(more) => text += &more,
            Err(failure) => return Ok(place(about, &failure, streams)),
        }
    }
    streams.deliver(&text)
}

fn module(input: &Input, dims: &[DimFlag]) -> Result<Module, Failure> {
    input.module(dims).and_then(|module| drive::valid(&module).map(|()| module))
}

/// The source with the offsets of a table.
fn from_table(source: &Module, input: &Input, setup: &Setup) -> Result<Module, Failure> {
    let table = Table::read(&input.name, &input.bytes)?;
    let run = Run { facts: &setup.facts, profile: &setup.profile, stop: &|| false, verify_each: true };
    foreign::planned(source, &table, run)
}
