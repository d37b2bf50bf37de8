//! `neap pack`: offsets for a table of buffers. The table is the product; how good the packing is goes to the error stream.

use crate::cli::Pack;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::outputs::{self, Output};
use crate::progress::Progress;
use crate::size::grouped;
use crate::streams::Streams;
use neap_pack::{Ends, ItemId, Options, Outcome, Proof, Region, Table, Verdict, read_csv, solve, validate, write_csv};

/// Runs the verb.
///
/// # Errors
/// The table is wrong, or nothing fits.
pub(crate) fn run(request: &Pack, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let written: Vec<_> = request.output.iter().cloned().collect();
    outputs::distinct(&[&request.input], &written)?;
    let input = Input::read(&request.input, streams)?;
    let text = std::str::from_utf8(&input.bytes).map_err(|_| Failure::input(format!("`{}` is no text", input.name)))?;
    let ends = if request.inclusive { Ends::Inclusive } else { Ends::ByColumn };
    let regions = request.capacity.map(|bytes| ("arena".to_owned(), Region { capacity: Some(bytes), align: 1 }));
    let table =
        read_csv(text, ends, regions.as_slice()).map_err(|error| Failure::input(format!("{}: {error}", input.name)))?;
    let progress = Progress::new(&mut *streams.err, streams.progress, request.time_limit);
    progress.label("pack".to_owned());
    let outcome = solve(&table.problem, &Options::default(), &mut |_| progress.stop());
    progress.clear();
    drop(progress);
    let Some(solution) = outcome.solution.as_ref().filter(|_| outcome.verdict == Verdict::Fits) else {
        return Err(unmet(&table, &outcome));
    };
    if let Err(violation) = validate(&table.problem, solution) {
        return Err(Failure::new(
            Exit::Bug,
            vec![neap_ir::diag::Diagnostic::error(
                neap_ir::Span::default(),
                format!("the packing is wrong: {violation}"),
            )],
        ));
    }
    streams.say(&summary(&table, &outcome));
    let csv = write_csv(&table, solution);
    match &request.output {
        Some(path) => {
            outputs::write_all(&[Output { path: path.clone(), bytes: csv.into_bytes() }])?;
            Ok(Exit::Done)
        }
        None => streams.deliver(&csv),
    }
}

fn unmet(table: &Table, outcome: &Outcome) -> Failure {
    let name = |id: ItemId| table.names.get(id.index()).cloned().unwrap_or_default();
    let height = grouped(outcome.height().unwrap_or(0).into());
    let message = match &outcome.verdict {
        Verdict::ProvedInfeasible(why) => format!("proved infeasible: {}", why.message(&name)),
        Verdict::Limit => format!("not found within the time limit: the best packing needs {height} B"),
        _ => format!("not found: the best packing needs {height} B"),
    };
    let failure = Failure::new(Exit::Demand, vec![neap_ir::diag::Diagnostic::error(neap_ir::Span::default(), message)]);
    match outcome.verdict {
        Verdict::ProvedInfeasible(_) => failure,
        _ => failure.help("a larger --capacity shows what can be reached"),
    }
}

fn summary(table: &Table, outcome: &Outcome) -> String {
    let height = grouped(outcome.height().unwrap_or(0).into());
    let floor = grouped(outcome.lower_bound.into());
    let proof = match outcome.proof {
        Proof::Optimal => "optimal",
        Proof::Gap => "the least height lies between the two",
        Proof::None => "nothing proved",
    };
    format!("{} buffers, {height} B, floor {floor} B: {proof}\n", table.names.len())
}
