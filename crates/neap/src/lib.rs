//! The driver: verbs, pipeline, check and summary behind one command line.
//!
//! Data flows one way: the input becomes a module ([`input`]), flags and profile become attributes of it ([`apply`]), passes plan it
//! and the checker compares the result with where it started ([`drive`]), a summary says what was gained ([`summary`]), and
//! files are written whole or not at all ([`outputs`]). A plan that the checker does not accept is never printed.

pub mod apply;
pub mod buckets;
pub mod cli;
pub mod compare;
pub mod contents;
pub mod demands;
pub mod drive;
pub mod exit;
mod foreign;
pub mod input;
pub mod npu;
pub mod outputs;
pub mod picture;
pub mod prices;
pub mod progress;
pub mod proofs;
pub mod report;
pub mod reproducer;
pub mod runtime_order;
pub mod size;
pub mod steps;
pub mod streams;
pub mod stub;
pub mod summary;
pub mod template;
pub mod together;
mod verbs;
pub mod watch;
pub mod weights;
pub mod would_help;
pub mod writers;

use cli::Request;
use exit::{Exit, Failure};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use streams::Streams;

/// The program: arguments with the program's name first, the process's own streams.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    outputs::remove_staged_on_interrupt();
    let colour = |choice: anstream::ColorChoice| !matches!(choice, anstream::ColorChoice::Never);
    // The error stream is not locked: the line that says what is going on is drawn from another thread.
    let (stdout, mut stderr) = (std::io::stdout(), std::io::stderr());
    let mut streams = Streams {
        colour_out: colour(anstream::AutoStream::choice(&stdout)),
        colour_err: colour(anstream::AutoStream::choice(&stderr)),
        width: width(
            std::env::var("COLUMNS").ok().as_deref(),
            terminal_size::terminal_size().map(|(width, _)| width.0),
        ),
        progress: stderr.is_terminal(),
        input: &mut std::io::stdin().lock(),
        out: &mut stdout.lock(),
        err: &mut stderr,
    };
    let exit = catch_unwind(AssertUnwindSafe(|| run(args, &mut streams)));
    ExitCode::from(exit.unwrap_or(Exit::Bug) as u8)
}

/// How many characters a line holds: what `COLUMNS` says, as shells and scripts set it, else what the terminal has.
fn width(columns: Option<&str>, terminal: Option<u16>) -> usize {
    let said = columns.and_then(|text| text.trim().parse::<u16>().ok()).filter(|columns| *columns > 0);
    said.or(terminal).map_or(streams::WIDTH, usize::from)
}

/// One run on given streams; what goes wrong is said on the error stream.
pub fn run(args: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> Exit {
    let request = match cli::parse(args) {
        Ok(request) => request,
        Err(error) => return usage(&error, streams),
    };
    let outcome = match &request {
        Request::Opt(request) => verbs::opt::run(request, streams),
        Request::Plan(request) => verbs::plan::run(request, streams),
        Request::Check(request) => verbs::check::run(request, streams),
        Request::Compare(request) => verbs::compare::run(request, streams),
        Request::Emit(request) => verbs::emit::run(request, streams),
        Request::Report(request) => verbs::report::run(request, streams),
        Request::Import(request) => verbs::import::run(request, streams),
        Request::Pack(request) => verbs::pack::run(request, streams),
    };
    outcome.unwrap_or_else(|failure| say(&failure, streams))
}

/// Says what is wrong, at no place in an input.
fn say(failure: &Failure, streams: &mut Streams<'_>) -> Exit {
    let source = report::Source { name: "", text: &[], line: 0 };
    let text = report::text(&failure.diagnostics, source, streams.colour_err);
    streams.say(&text);
    failure.exit
}

/// Clap's own messages, `--help` and `--version` among them.
fn usage(error: &clap::Error, streams: &mut Streams<'_>) -> Exit {
    let text = |colour: bool| if colour { error.render().ansi().to_string() } else { error.render().to_string() };
    if error.use_stderr() {
        let text = text(streams.colour_err);
        streams.say(&text);
        return Exit::Usage;
    }
    let text = text(streams.colour_out);
    streams.deliver(&text).unwrap_or_else(|failure| say(&failure, streams))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_before_the_terminal() {
        assert_eq!(width(Some("72"), Some(120)), 72);
        assert_eq!(width(None, Some(120)), 120);
        assert_eq!(width(Some("wide"), Some(120)), 120);
        assert_eq!(width(Some("0"), None), streams::WIDTH);
        assert_eq!(width(Some("-3"), None), streams::WIDTH);
    }
}
