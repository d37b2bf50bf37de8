//! `neap check SOURCE PLANNED`: is this plan, whoever made it, right for this source?
//!
//! The source gets the same flags and profile as it got from the planner: who owns which bytes is part of the question.

use crate::apply;
use crate::cli::Check;
use crate::drive::{self, Setup};
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::report::{self, Source};
use crate::size::grouped;
use crate::streams::Streams;

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
    let read = |input: &Input| input.module().and_then(|module| drive::valid(&module).map(|()| module));
    let mut source = match read(&original) {
        Ok(module) => module,
        Err(failure) => return Ok(place(&original, &failure, streams)),
    };
    let module = match read(&planned) {
        Ok(module) => module,
        Err(failure) => return Ok(place(&planned, &failure, streams)),
    };
    apply::apply(&mut source, &request.source, &setup.profile, &setup.facts)?;
    let options = neap_check::Options {
        callees_have_arenas: setup.profile.own_arena_per_function,
        ..neap_check::Options::default()
    };
    let report = neap_check::check(&source, &module, &setup.facts, &options);
    if !report.accepted() {
        let failure = Failure::new(Exit::Input, report.diagnostics());
        return Ok(place(&planned, &failure, streams));
    }
    let mut text = String::new();
    for numbers in &report.functions {
        let (arena, peak) = (grouped(numbers.arena_bytes.into()), grouped(numbers.peak.into()));
        text +=
            &format!("@{}: accepted; arena {arena} B, peak {peak} B, alignment {}\n", numbers.function, numbers.align);
    }
    streams.deliver(&text)
}
