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
        let writer = Writer::choose(path, request.to.as_deref())?;
        if !writer.draws() && !matches!(writer, Writer::Json | Writer::Csv) {
            let failure = Failure::usage(format!("`{}` is no report", path.display()));
            return Err(failure.help(
                "`neap emit` writes model files, headers and MLIR; a report is .html, .svg, .trace.json, .json or .csv",
            ));
        }
    }
    emit::run(request, streams)
}
