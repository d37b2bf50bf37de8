//! `neap pack`: offsets for a table of buffers. The table is the product; how good the packing is goes to the error stream.

use crate::cli::Pack;
use crate::exit::{Exit, Failure};
use crate::input::Input;
use crate::outputs::{self, Output};
use crate::progress::Progress;
use crate::size::grouped;
use crate::streams::Streams;
use neap_ir::Span;
use neap_ir::diag::Diagnostic;
use neap_pack::{
    Ends, Goal, Infeasible, ItemId, Options, Outcome, Proof, Region, Solution, Table, Verdict, read_csv, solve, sweep,
    validate, write_csv,
};

/// Runs the verb.
///
/// # Errors
/// The table is wrong, or nothing fits.
pub(crate) fn run(request: &Pack, streams: &mut Streams<'_>) -> Result<Exit, Failure> {
    let written: Vec<_> = request.output.iter().cloned().collect();
    outputs::prepare(&[(&request.input, "the input")], &written)?;
    let table = read(request, streams)?;
    let outcome = pack(request, &table, streams);
    let Some(solution) = outcome.solution.as_ref().filter(|_| outcome.verdict == Verdict::Fits) else {
        return Err(unmet(request, &table, &outcome));
    };
    judge(request, &table, solution)?;
    streams.say(&summary(request, &table, &outcome));
    let csv = write_csv(&table, solution);
    match &request.output {
        Some(path) => {
            outputs::write_all(&[Output { path: path.clone(), bytes: csv.into_bytes() }])?;
            Ok(Exit::Done)
        }
        None => streams.deliver(&csv),
    }
}

fn read(request: &Pack, streams: &mut Streams<'_>) -> Result<Table, Failure> {
    let input = Input::read(&request.input, streams)?;
    let text = std::str::from_utf8(&input.bytes).map_err(|_| Failure::input(format!("`{}` is no text", input.name)))?;
    let ends = if request.inclusive { Ends::Inclusive } else { Ends::ByColumn };
    let one = request.capacity.map(|bytes| ("arena".to_owned(), Region { capacity: Some(bytes), align: 1 }));
    let several = request
        .arenas
        .iter()
        .map(|arena| (arena.name.clone(), Region { capacity: Some(arena.size), align: arena.align.unwrap_or(1) }));
    let regions: Vec<_> = one.into_iter().chain(several).collect();
    let table = read_csv(text, ends, &regions).map_err(|error| {
        let message = format!("{}: {error}", input.name);
        match error.unknown_region {
            true => Failure::usage(message).help("`--arena NAME=SIZE` declares an arena; a table may name those alone"),
            false => Failure::input(message),
        }
    })?;
    match &table.regions[..] {
        [only] if only == "arena" => Ok(table),
        named if regions.is_empty() => {
            let message = format!("{}: the column `region` names {}", input.name, named.join(", "));
            let flags: Vec<String> = named.iter().map(|name| format!("--arena {name}=SIZE")).collect();
            Err(Failure::usage(message + ", of which no size is given")
                .help(format!("declare what the table names: `{}`", flags.join(" "))))
        }
        _ => Ok(table),
    }
}

fn pack(request: &Pack, table: &Table, streams: &mut Streams<'_>) -> Outcome {
    let goal = if request.capacity.is_some() { Goal::Fit } else { Goal::Minimise };
    let mut options = Options { method: request.method, goal, ..Options::default() };
    if request.time_limit.is_some() {
        options.node_limit = u64::MAX;
    }
    let progress = Progress::new(&mut *streams.err, streams.progress, request.time_limit);
    progress.label("pack".to_owned());
    let outcome = solve(&table.problem, &options, &mut |_| progress.stop());
    progress.clear();
    outcome
}

/// What the solver says is never taken for granted: one sweep through time always, all pairs where asked for.
fn judge(request: &Pack, table: &Table, solution: &Solution) -> Result<(), Failure> {
    let all = if request.validate { validate(&table.problem, solution) } else { Ok(()) };
    sweep(&table.problem, solution).and(all).map_err(|violation| {
        Failure::new(Exit::Bug, vec![Diagnostic::error(Span::default(), format!("the packing is wrong: {violation}"))])
    })
}

fn unmet(request: &Pack, table: &Table, outcome: &Outcome) -> Failure {
    let name = |id: ItemId| table.names.get(id.index()).cloned().unwrap_or_default();
    let sized = |id: ItemId| format!("{} {}", name(id), table.problem.items()[id.index()].size);
    let message = match &outcome.verdict {
        Verdict::ProvedInfeasible(why @ Infeasible::Load { .. }) => {
            format!("proved infeasible: {}", why.message(&sized))
        }
        Verdict::ProvedInfeasible(why) => format!("proved infeasible: {}", why.message(&name)),
        _ => not_found(request, table, outcome),
    };
    let failure = Failure::new(Exit::Demand, vec![Diagnostic::error(Span::default(), message)]);
    match outcome.verdict {
        Verdict::ProvedInfeasible(_) => failure,
        Verdict::Limit => failure.help("more time (--time-limit) or a larger --capacity"),
        _ if request.method.is_exact() => failure.help("a larger --capacity shows what can be reached"),
        _ => failure.help("--method=search is exact: it finds a packing, or proves that there is none"),
    }
}

fn not_found(request: &Pack, table: &Table, outcome: &Outcome) -> String {
    let limit = if outcome.verdict == Verdict::Limit { " before its limit" } else { "" };
    let found = outcome.height().map_or_else(
        || "found no place for every buffer".to_owned(),
        |height| format!("needs {} B{limit}", grouped(height.into())),
    );
    let capacities = table.problem.regions().iter().filter_map(|region| region.capacity);
    let available = grouped(capacities.fold(0, u64::saturating_add).into());
    let floor = grouped(outcome.lower_bound.into());
    format!("not found: {} {found}, {available} B are there, and the floor {floor} B would fit", request.method)
}

fn summary(request: &Pack, table: &Table, outcome: &Outcome) -> String {
    let height = grouped(outcome.height().unwrap_or(0).into());
    let floor = grouped(outcome.lower_bound.into());
    let proof = match outcome.proof {
        Proof::Optimal => "optimal".to_owned(),
        Proof::Gap => {
            let gap = outcome.height().unwrap_or(0) as f64 / outcome.lower_bound.max(1) as f64 - 1.0;
            format!("{:.2} % above it, not proved to be the least", 100.0 * gap)
        }
        Proof::None => "nothing proved".to_owned(),
    };
    let ends = if table.inclusive { "ends are last steps" } else { "half-open" };
    let mut text = format!("{} buffers, {ends}, {height} B, floor {floor} B: {proof}", table.names.len());
    if table.regions.len() > 1 {
        let region = |(index, name): (usize, &String)| {
            let capacity = table.problem.regions()[index].capacity;
            let of = capacity.map_or_else(String::new, |bytes| format!(" of {}", grouped(bytes.into())));
            format!("{name} {}{of} B", grouped(outcome.heights[index].into()))
        };
        let regions: Vec<String> = table.regions.iter().enumerate().map(region).collect();
        text.push_str(&format!("; {}", regions.join(", ")));
    }
    if outcome.base_aligns.iter().any(|align| *align > 1) {
        let aligns: Vec<String> = outcome.base_aligns.iter().map(u64::to_string).collect();
        text.push_str(&format!("; base aligned to {}", aligns.join(", ")));
    }
    text.push_str(if request.validate { "; all pairs compared\n" } else { "\n" });
    text
}
