//! Quality and time on a folder of tables, or on generated families.
//!
//! `bench FOLDER..` reads every `*.csv` below; `bench --family inf|train|llm N` makes one; `--method NAME`, `--nodes N`,
//! `--capacity N` choose what is run. Prints height over floor, proof, and the seconds inside the solver.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use neap_pack::{Ends, Goal, Item, Method, Options, Order, Problem, RegionId, Verdict, read_csv, solve, validate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::default();
    let mut capacity = None;
    let mut inputs: Vec<(String, Problem)> = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or("a flag lacks its value");
        match arg.as_str() {
            "--method" => options.method = method(&value()?)?,
            "--nodes" => options.node_limit = value()?.parse()?,
            "--capacity" => capacity = Some(value()?.parse()?),
            "--family" => {
                let (kind, count) = (value()?, value()?.parse()?);
                inputs.push((format!("{kind}-{count}"), Problem::from_items(family(&kind, count, 1)?)?));
            }
            path => read_all(Path::new(path), &mut inputs)?,
        }
    }
    if inputs.is_empty() {
        let shared = std::env::var("NEAP_SHARED").map_err(|_| "no input: give folders, or set NEAP_SHARED")?;
        read_all(&Path::new(&shared).join("pack"), &mut inputs)?;
    }
    report(&inputs, &options, capacity)
}

fn report(
    inputs: &[(String, Problem)],
    options: &Options,
    capacity: Option<u64>,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let (mut logs, mut total) = (0.0, 0.0);
    for (name, problem) in inputs {
        let mut options = *options;
        let mut problem = problem.clone();
        if capacity.is_some() {
            problem = problem.with_capacity(RegionId(0), capacity)?;
            options.goal = Goal::Fit;
        }
        let start = Instant::now();
        let outcome = solve(&problem, &options, &mut |_| false);
        let seconds = start.elapsed().as_secs_f64();
        if let Some(solution) =
            outcome.solution.as_ref().filter(|_| outcome.verdict == Verdict::Fits && problem.items().len() <= 30_000)
        {
            validate(&problem, solution)?;
        }
        let height = outcome.height().ok_or("no solution")?;
        let ratio = height as f64 / outcome.lower_bound as f64;
        logs += ratio.ln();
        total += seconds;
        writeln!(
            out,
            "{name:32} n={:7} floor={:11} height={height:11} ratio={ratio:.5} {:7} {:?} nodes={} {seconds:.4} s",
            problem.items().len(),
            outcome.lower_bound,
            outcome.proof.to_string(),
            outcome.verdict,
            outcome.nodes
        )?;
    }
    writeln!(out, "geometric mean {:.5}, {total:.4} s in all", (logs / inputs.len() as f64).exp())?;
    Ok(())
}

fn method(name: &str) -> Result<Method, String> {
    let order = |name: &str| Order::ALL.into_iter().find(|order| format!("{order:?}").to_lowercase() == name);
    let (kind, rest) = name.split_once('-').unwrap_or((name, ""));
    Ok(match (kind, order(rest)) {
        ("search", _) => Method::Search,
        ("portfolio", _) => Method::Portfolio,
        ("litert", _) => Method::LiteRt,
        ("tflm", _) => Method::Tflm,
        ("hill", _) => Method::HillClimb,
        ("first", Some(order)) => Method::FirstFit(order),
        ("best", Some(order)) => Method::BestFit(order),
        ("skyline", Some(order)) => Method::Skyline(order),
        _ => return Err(format!("no method `{name}`")),
    })
}

fn read_all(path: &Path, inputs: &mut Vec<(String, Problem)>) -> Result<(), Box<dyn std::error::Error>> {
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

/// A small generator (SplitMix64), so that families need no crate.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn real(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn size(&mut self) -> u64 {
        let bytes = 2_f64.powf(8.0 + 14.0 * self.real()) as u64;
        bytes / 64 * 64
    }
}

/// Inference (one buffer an op, skips and long skips), training (activations kept until the mirrored op), decoder
/// (equal layers and caches that live to the end).
fn family(kind: &str, n: u64, seed: u64) -> Result<Vec<Item>, String> {
    let mut random = Random(seed);
    let mut items = Vec::new();
    match kind {
        "inf" => (0..n).for_each(|t| {
            let length = match random.real() {
                p if p < 0.84 => 1 + random.below(3),
                p if p < 0.96 => 4 + random.below(37),
                p if p < 0.99 => 40 + random.below(361),
                _ => 400 + random.below((n / 20).max(1)),
            };
            items.push(Item::new(t, (t + 1 + length).min(n + 1), random.size()));
        }),
        "train" => (0..n).for_each(|t| {
            let half = n / 2;
            let kept = t < half && random.real() < 0.45;
            let end = if kept { (n - t).max(t + 1) } else { t + 2 + random.below(4) };
            items.push(Item::new(t, end.min(n + 1), random.size()));
        }),
        "llm" => {
            let sizes = [2_097_152, 6_291_456, 8_388_608, 524_288, 65_536, 2_097_152];
            let (layers, end) = (n / 12, n / 12 * 12 + 1);
            (0..layers * 12).for_each(|t| {
                let life = match t % 12 {
                    0 => 12,
                    3 => end - t,
                    6 => 7,
                    k => 1 + k % 3,
                };
                items.push(Item::new(t, (t + 1 + life).min(end), sizes[(t % 6) as usize]));
            });
        }
        _ => return Err(format!("no family `{kind}`: inf, train or llm")),
    }
    Ok(items)
}
