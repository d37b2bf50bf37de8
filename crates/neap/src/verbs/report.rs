//! `neap report PLANNED -o OUT`: pictures and tables of a plan that is there already.
//!
//! What `neap emit` does, for the writers that a person looks at: the plan is executed and compared before anything is drawn.

use crate::cli::Emit;
use crate::exit::{Exit, Failure};
use crate::streams::Streams;
use crate::verbs::emit;
use crate::writers::Writer;

/// Runs the verb.
///
/// # Errors
/// What is wrong, when it is not about a place in the plan; the rest has been said.
pub(crate) fn run(request: &Emit, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    for path in &request.outputs {
        let writer = Writer::choose(path, request.to.as_deref()).ok();
        if !writer.is_some_and(|writer| writer.draws() || matches!(writer, Writer::Json | Writer::Csv)) {
            let named = request.to.as_ref().map_or_else(|| path.display().to_string(), |name| format!("--to {name}"));
            let failure = Failure::usage(format!("`{named}` is no report"));
            return Err(failure.help(
                "a report is .html, .svg, .trace.json, .json or .csv, or `--to` names one of html, svg, trace, json, csv; \
                 `neap emit` writes model files, headers and MLIR",
            ));
        }
    }
    emit::run(request, streams)
}
