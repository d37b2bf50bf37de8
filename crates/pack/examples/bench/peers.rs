//! Side by side: what packers of runtimes and compilers do, re-implemented plainly, on the same problems.
//!
//! For each problem and method the height over the floor, and the time as a multiple of the search's own.

use std::io::Write;

use neap_pack::{Method, Options, Order, Outcome, Problem, solve};

use crate::clock::timed;

/// The methods, by what they model.
const PEERS: [(&str, Method); 6] = [
    ("portfolio", Method::Portfolio),
    ("tflite", Method::BestFit(Order::Size)),
    ("exec-order", Method::FirstFit(Order::Start)),
    ("xla-temporal", Method::BestFit(Order::Temporal)),
    ("xla-spatial", Method::BestFit(Order::Spatial)),
    ("hill-climb", Method::HillClimb),
];

/// Peers list the buffers that are live with each other; above so many buffers that takes minutes.
const MOST: usize = 150_000;

/// One line per problem, then geometric means.
pub(crate) fn table(inputs: &[(String, Problem)], out: &mut dyn Write) -> std::io::Result<()> {
    write!(out, "{:20} {:>7} {:>9} {:>8}", "height / floor", "buffers", "neap", "seconds")?;
    PEERS.iter().try_for_each(|(name, _)| write!(out, " {name:>19}"))?;
    writeln!(
        out,
        "\n{:20} {:>7} {:>9} {:>8}{}",
        "",
        "",
        "",
        "",
        format!(" {:>19}", "(time / neap's)").repeat(PEERS.len())
    )?;
    let mut logarithms = [(0.0, 0_usize); PEERS.len() + 1];
    for (name, problem) in inputs {
        let (own, seconds) = run(problem, Method::Search);
        let ratio = above(&own);
        let proved = if own.height() == Some(own.lower_bound) { "" } else { "?" };
        write!(out, "{name:20} {:7} {:>9} {seconds:8.4}", problem.items().len(), format!("{ratio:.5}{proved}"))?;
        add(&mut logarithms[0], ratio);
        for (index, (_, method)) in PEERS.iter().enumerate() {
            if problem.items().len() > MOST && *method != Method::Portfolio {
                write!(out, " {:>19}", "out of reach")?;
                continue;
            }
            let (outcome, time) = run(problem, *method);
            add(&mut logarithms[index + 1], above(&outcome));
            write!(out, " {:>19}", format!("{:.4} ({:.2})", above(&outcome), time / seconds))?;
        }
        writeln!(out)?;
        out.flush()?;
    }
    write!(out, "{:20} {:>7}", "geometric mean", inputs.len())?;
    for (index, (sum, count)) in logarithms.iter().enumerate() {
        let mean = (sum / *count as f64).exp();
        let cell = if index == 0 { format!("{mean:9.5} {:8}", "") } else { format!("{mean:19.4}") };
        write!(out, " {cell}")?;
    }
    writeln!(out, "\n`?`: not proved to be the least. Geometric means are over the problems that a method was run on.")
}

fn add(sum: &mut (f64, usize), ratio: f64) {
    sum.0 += ratio.ln();
    sum.1 += 1;
}

fn above(outcome: &Outcome) -> f64 {
    outcome.height().unwrap_or(0) as f64 / outcome.lower_bound.max(1) as f64
}

fn run(problem: &Problem, method: Method) -> (Outcome, f64) {
    // Hill climbing spends all it may: as many orders as a plan of the size would bear.
    let node_limit = match method {
        Method::HillClimb => 100 * problem.items().len() as u64,
        _ => Options::default().node_limit,
    };
    let options = Options { method, node_limit, ..Options::default() };
    timed(|| solve(problem, &options, &mut |_| false))
}
