//! The solver beside plain baselines, peaks and time in one run: `cargo run --release -p neap-order --example bench -- [FOLDER]`.
//!
//! FOLDER (default: the one that `NEAP_SHARED` names) holds `graphs/NAME.json` with `graphs/results.csv` (peaks that others reached), and `npu/NAME.json` with
//! graphs of an NPU. Without either, the generated families alone are run. Baselines are in `baselines.rs`, written plainly: what they
//! reach is given as a multiple of our peak, our time as a multiple of theirs. Time is processor time of this thread.

mod baselines;
mod families;
mod graphs;

use neap_order::{OpId, Options, Problem, Proof, Taken, simulate, solve};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).map(PathBuf::from);
    let folder = folder.or_else(|| std::env::var_os("NEAP_SHARED").map(PathBuf::from));
    let mut out = std::io::stdout().lock();
    let mut tables: Vec<(&str, Vec<graphs::Named>)> = Vec::new();
    match &folder {
        Some(folder) => {
            tables.push(("networks", graphs::networks(&folder.join("graphs"))?));
            tables.push(("NPU graphs, one live storage in each of L0A, L0B, L0C", graphs::npu(&folder.join("npu"))?));
        }
        None => writeln!(out, "no networks: name their folder in NEAP_SHARED")?,
    }
    tables.push(("generated", families::of(300)));
    for (title, list) in tables {
        writeln!(out, "-- {title}")?;
        table(&mut out, list)?;
    }
    writeln!(out, "-- the greedy alone, as at run time")?;
    quick(&mut out)?;
    writeln!(out, "-- growth, the portfolio alone")?;
    growth(&mut out)
}

/// One line per graph. Ratios above 1: the baseline needs more bytes than we do; we need more time than the greedy.
fn table(out: &mut impl Write, list: Vec<graphs::Named>) -> std::io::Result<()> {
    writeln!(
        out,
        "{:28} {:>6} {:>12} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>6} {:>9} {:>8}",
        "graph", "ops", "peak", "file", "greedy", "best3", "known", "tract", "gap %", "proof", "ms", "time x"
    )?;
    let (mut all, mut known, mut proved, mut fast, mut above) = (0, 0, 0, 0, 0);
    for graphs::Named { name, problem, best, tract } in list {
        let (time, answer) = measured(|| solve(&problem, &Options::default(), &mut |_| ControlFlow::Continue(())).ok());
        let Some(answer) = answer else {
            writeln!(out, "{name:28} {:>6} no order found", problem.ops())?;
            continue;
        };
        let (greedy_time, greedy) = measured(|| baselines::greedy(&problem));
        let file = peak(&problem, &baselines::file(&problem));
        let greedy = peak(&problem, &greedy);
        let three = baselines::three(&problem).iter().filter_map(|order| peak(&problem, order)).min();
        let ratio = |bytes: Option<u64>| {
            bytes.map_or("-".to_owned(), |bytes| format!("{:.3}", bytes as f64 / answer.peak.max(1) as f64))
        };
        let gap = (answer.peak - answer.lower_bound) as f64 / answer.lower_bound.max(1) as f64 * 100.0;
        all += 1;
        known += usize::from(best.is_none_or(|best| answer.peak <= best));
        proved += usize::from(answer.proof != Proof::None);
        fast += usize::from(time < Duration::from_millis(20));
        above += usize::from([file, greedy, three, tract].into_iter().flatten().any(|bytes| bytes < answer.peak));
        writeln!(
            out,
            "{name:28} {:6} {:12} {:>7} {:>7} {:>7} {:>7} {:>7} {gap:>7.2} {:>6} {:9.2} {:8.1}",
            problem.ops(),
            answer.peak,
            ratio(file),
            ratio(greedy),
            ratio(three),
            ratio(best),
            ratio(tract),
            format!("{:?}", answer.proof).to_lowercase(),
            time.as_secs_f64() * 1e3,
            time.as_secs_f64() / greedy_time.as_secs_f64().max(1e-9),
        )?;
    }
    writeln!(
        out,
        "{all} graphs: {known} at the best known or below, {above} above some other column, {proved} proved, {fast} in under 20 ms"
    )
}

/// One greedy order of graphs of 500 ops: microseconds, and how much more it needs than the search.
fn quick(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{:20} {:>6} {:>12} {:>8} {:>9}", "graph", "ops", "peak", "search x", "us")?;
    for graphs::Named { name, problem, .. } in families::of(500) {
        let (time, order) = measured(|| neap_order::quick(&problem));
        let held = order.and_then(|order| peak(&problem, &order)).unwrap_or(0);
        let best = solve(&problem, &Options::default(), &mut |_| ControlFlow::Continue(()));
        let ratio = held as f64 / best.map_or(1, |best| best.peak).max(1) as f64;
        writeln!(out, "{name:20} {:6} {held:12} {ratio:8.3} {:9.1}", problem.ops(), time.as_secs_f64() * 1e6)?;
    }
    Ok(())
}

/// The portfolio (no search) as graphs grow: time per op stays level where growth is near-linear.
fn growth(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "{:10} {:>8} {:>14} {:>7} {:>6} {:>9} {:>9} {:>8}",
        "family", "ops", "peak", "gap %", "proof", "ms", "ns/op", "time x"
    )?;
    let options = Options { effort: 0, ..Options::default() };
    for (name, make) in families::GROWING {
        for ops in [1_000, 10_000, 100_000, 1_000_000] {
            let problem = make(ops);
            let (time, answer) = measured(|| solve(&problem, &options, &mut |_| ControlFlow::Continue(())).ok());
            let (greedy_time, _) = measured(|| baselines::greedy(&problem));
            let Some(answer) = answer else { continue };
            let gap = (answer.peak - answer.lower_bound) as f64 / answer.lower_bound.max(1) as f64 * 100.0;
            writeln!(
                out,
                "{name:10} {ops:8} {:14} {gap:>7.2} {:>6} {:9.1} {:9} {:8.1}",
                answer.peak,
                format!("{:?}", answer.proof).to_lowercase(),
                time.as_secs_f64() * 1e3,
                time.as_nanos() / ops as u128,
                time.as_secs_f64() / greedy_time.as_secs_f64().max(1e-9),
            )?;
        }
    }
    Ok(())
}

/// The peak of an order with nothing shared; `None` where it is not legal.
fn peak(problem: &Problem, order: &[OpId]) -> Option<u64> {
    simulate(problem, order, &Taken::default()).ok().map(|run| run.peak)
}

/// Time per call, over so many calls that the clock's grain does not count.
fn measured<T>(mut call: impl FnMut() -> T) -> (Duration, T) {
    let start = processor_time();
    let mut calls = 1;
    let mut answer = call();
    while calls < 20_000 && processor_time() - start < Duration::from_millis(40) {
        answer = call();
        calls += 1;
    }
    ((processor_time() - start) / calls, answer)
}

/// Of this thread so far; the kernel brings it up to date every few milliseconds.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0))
}
