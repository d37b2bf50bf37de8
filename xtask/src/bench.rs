//! Benchmarks: side by side with peers, and with ourselves at other sizes. Ratios, never bare seconds.

mod fuse;
mod models;
mod npu;
mod order;
mod pack;

use crate::rng::Rng;
use crate::{Outcome, measure, sh};
use std::fmt::Write;
use std::path::PathBuf;

/// What there is.
pub(crate) const NAMES: [&str; 6] = ["order", "pack", "scale", "fuse", "models", "npu"];

/// Runs one benchmark, or all.
pub(crate) fn run(what: Option<&str>) -> Outcome {
    for name in NAMES {
        if what.is_none_or(|what| what == name) {
            println!("== {name}");
            match name {
                "scale" => scale()?,
                "fuse" => fuse::run()?,
                "models" => models::run()?,
                "npu" => npu::run()?,
                // The solvers know nothing of the rest and carry their benchmarks themselves.
                _ => {
                    let package = format!("neap-{name}");
                    sh::run(&mut sh::cargo(["run", "--quiet", "--release", "-p", &package, "--example", "bench"]))?;
                    match name {
                        "order" => order::models()?,
                        _ => pack::run()?,
                    }
                }
            }
        }
    }
    Ok(())
}

/// Time and memory of `neap opt` (parse, plan, verify, check, print) as graphs grow tenfold: near-linear means ratios near 10.
fn scale() -> Outcome {
    let mut before: Option<measure::Cost> = None;
    println!("{:>8}  {:>10}  {:>12}  {:>10}  {:>10}", "ops", "cpu ticks", "peak KiB", "time x", "memory x");
    for ops in [1_000, 10_000, 100_000] {
        let file = graph(ops)?;
        let cost = measure::neap(&["opt", &file.to_string_lossy(), "--summary=none"])?;
        let ratio = |now: u64, then: u64| format!("{:.1}", now as f64 / then.max(1) as f64);
        let (time, memory) = match &before {
            Some(before) => (ratio(cost.ticks, before.ticks), ratio(cost.peak_kib, before.peak_kib)),
            None => ("-".to_owned(), "-".to_owned()),
        };
        println!("{ops:>8}  {:>10}  {:>12}  {time:>10}  {memory:>10}", cost.ticks, cost.peak_kib);
        before = Some(cost);
    }
    Ok(())
}

/// A layered random graph: each op reads one to three of the last 24 results.
fn graph(ops: usize) -> Result<PathBuf, String> {
    let mut rng = Rng::new(7);
    let sizes: Vec<usize> = (0..ops).map(|_| 1024 * (1 + rng.below(64))).collect();
    let mut text = String::from("module {\n  func.func @main() -> tensor<1024xi8> {\n");
    for op in 0..ops {
        let reads = if op == 0 { 0 } else { 1 + rng.below(3).min(op - 1) };
        let mut operands: Vec<usize> = (0..reads).map(|_| op - 1 - rng.below(op.min(24))).collect();
        operands.dedup();
        let names: Vec<String> = operands.iter().map(|at| format!("%{at}")).collect();
        let types: Vec<String> = operands.iter().map(|at| format!("tensor<{}xi8>", sizes[*at])).collect();
        let (names, types) = (names.join(", "), types.join(", "));
        let _ = writeln!(text, "    %{op} = \"neap.opaque\"({names}) : ({types}) -> tensor<{}xi8>", sizes[op]);
    }
    let _ = writeln!(
        text,
        "    %out = \"neap.opaque\"(%{0}) : (tensor<{1}xi8>) -> tensor<1024xi8>",
        ops - 1,
        sizes[ops - 1]
    );
    text.push_str("    return %out : tensor<1024xi8>\n  }\n}\n");
    let path = sh::scratch("bench")?.join(format!("layered_{ops}.mlir"));
    sh::write(&path, text)?;
    Ok(path)
}
