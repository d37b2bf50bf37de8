//! Quality and time of packings, on tables and on generated families.
//!
//! `bench` alone compares with peers (see [`peers`]): the tables of the folder `pack` below `NEAP_SHARED`, where that is set, and the families
//! at 1,000, 10,000, 100,000 and 1,000,000 buffers. `bench FOLDER..` reads every `*.csv` below and prints one line a table, `bench --family
//! inf|train|llm N` makes one; `--method NAME`, `--nodes N`, `--capacity N` choose what is run. `--tsv` prints, for programs, name, buffers, floor,
//! height, proof and seconds. Seconds are inside the solver.

mod clock;
mod families;
mod peers;

use std::io::Write;
use std::path::{Path, PathBuf};

use neap_pack::{Ends, Goal, Method, Options, Outcome, Problem, RegionId, Verdict, read_csv, solve, validate};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut options = Options::default();
    let mut tsv = false;
    let mut capacity = None;
    let mut inputs: Vec<(String, Problem)> = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or("a flag lacks its value");
        match arg.as_str() {
            "--method" => {
                let name = value()?;
                options.method = Method::named(&name).ok_or_else(|| format!("methods are {}", Method::NAMES))?;
            }
            "--nodes" => options.node_limit = value()?.parse()?,
            "--capacity" => capacity = Some(value()?.parse()?),
            "--family" => inputs.push(family(&value()?, value()?.parse()?)?),
            "--tsv" => tsv = true,
            path => read_all(Path::new(path), &mut inputs)?,
        }
    }
    let out = &mut std::io::stdout().lock();
    if inputs.is_empty() {
        return compare(out);
    }
    let mut total = Total::default();
    for (name, problem) in &inputs {
        let (outcome, seconds) = measure(problem, &options, capacity)?;
        total.add(&outcome, seconds);
        let count = problem.items().len();
        let (floor, height) = (outcome.lower_bound, outcome.height().ok_or("no solution")?);
        if tsv {
            writeln!(out, "{name}\t{count}\t{floor}\t{height}\t{}\t{seconds:.6}", outcome.proof)?;
        } else {
            let ratio = height as f64 / floor.max(1) as f64;
            let (proof, verdict, nodes) = (outcome.proof.to_string(), &outcome.verdict, outcome.nodes);
            writeln!(
                out,
                "{name:24} n={count:7} floor={floor:11} height={height:11} ratio={ratio:.5} {proof:7} {verdict:?} nodes={nodes} {seconds:.4} s"
            )?;
        }
    }
    if !tsv {
        writeln!(out, "geometric mean {:.5}, {:.4} s in all", total.mean(), total.seconds)?;
    }
    Ok(())
}

/// All tables and families, with peers.
fn compare(out: &mut dyn Write) -> Result<(), Failure> {
    let mut tables = Vec::new();
    match std::env::var_os("NEAP_SHARED") {
        Some(shared) => read_all(&Path::new(&shared).join("pack"), &mut tables)?,
        None => writeln!(out, "NEAP_SHARED does not name a folder with pack/: families only")?,
    }
    let mut generated = Vec::new();
    for count in [1_000, 10_000, 100_000, 1_000_000] {
        for kind in families::KINDS {
            generated.push(family(kind, count)?);
        }
    }
    for inputs in [tables, generated].iter().filter(|inputs| !inputs.is_empty()) {
        peers::table(inputs, out)?;
    }
    Ok(())
}

/// The outcome, checked where that is quick, and the seconds of one call.
fn measure(problem: &Problem, options: &Options, capacity: Option<u64>) -> Result<(Outcome, f64), Failure> {
    let mut options = *options;
    let mut problem = problem.clone();
    if capacity.is_some() {
        problem = problem.with_capacity(RegionId(0), capacity)?;
        options.goal = Goal::Fit;
    }
    let (outcome, seconds) = clock::timed(|| solve(&problem, &options, &mut |_| false));
    let judged = outcome.verdict == Verdict::Fits && problem.items().len() <= 30_000;
    if let Some(solution) = outcome.solution.as_ref().filter(|_| judged) {
        validate(&problem, solution)?;
    }
    Ok((outcome, seconds))
}

#[derive(Default)]
struct Total {
    logarithms: f64,
    count: usize,
    seconds: f64,
}

impl Total {
    fn add(&mut self, outcome: &Outcome, seconds: f64) {
        let ratio = outcome.height().unwrap_or(0) as f64 / outcome.lower_bound.max(1) as f64;
        self.logarithms += ratio.ln();
        self.count += 1;
        self.seconds += seconds;
    }

    fn mean(&self) -> f64 {
        (self.logarithms / self.count as f64).exp()
    }
}

fn family(kind: &str, count: u64) -> Result<(String, Problem), Failure> {
    Ok((format!("{kind}-{count}"), Problem::from_items(families::family(kind, count, 1)?)?))
}

fn read_all(path: &Path, inputs: &mut Vec<(String, Problem)>) -> Result<(), Failure> {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(path)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
        entries.sort();
        return entries
            .iter()
            .filter(|p| p.is_dir() || p.extension().is_some_and(|e| e == "csv"))
            .try_for_each(|p| read_all(p, inputs));
    }
    let table = read_csv(&std::fs::read_to_string(path)?, Ends::ByColumn, &[])?;
    inputs.push((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), table.problem));
    Ok(())
}
