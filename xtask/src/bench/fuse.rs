//! The pass `fuse` alone, on graphs that double: a ratio near 2 per line is linear growth. Memory is that of a process that reads, fuses and
//! prints the largest graph of each family.

use crate::{Outcome, measure, sh};
use neap_ir::facts::Facts;
use neap_passes::pipeline::{Pipeline, Quiet, Run, run as run_pipeline};
use neap_passes::profile::Profile;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Runs per graph; the median counts.
const RUNS: usize = 3;
/// Operations.
const SIZES: [usize; 4] = [2_500, 5_000, 10_000, 20_000];
/// A family: its name, and what writes so many operations.
type Family = (&'static str, fn(&mut String, usize));

/// Element-wise chains; convolutions with what follows them; movements that cancel; slices and joins; residual blocks in another layout.
const FAMILIES: [Family; 5] =
    [("chains", chains), ("heavy", heavy), ("movements", movements), ("windows", windows), ("layouts", layouts)];

pub(super) fn run() -> Outcome {
    let facts = Facts::builtin();
    let profile = Profile::builtin("none").ok_or("the profile `none` is missing")?;
    let pipeline = Pipeline::parse("fuse").map_err(|error| error.to_string())?;
    println!("{:<10} {:>7} {:>9} {:>7} {:>8} {:>12}", "family", "ops", "ms", "ratio", "fused", "process MiB");
    for (name, make) in FAMILIES {
        let mut before: Option<Duration> = None;
        for ops in SIZES {
            let text = graph(make, ops);
            let module = neap_ir::parse(&text).map_err(|errors| format!("{name}: {errors:?}"))?;
            let mut times = Vec::new();
            let mut fused = 0;
            for _ in 0..RUNS {
                let mut module = module.clone();
                let settings = Run { facts: &facts, profile: &profile, stop: &|| false, verify_each: false };
                let start = Instant::now();
                let reports =
                    run_pipeline(&mut module, &pipeline, settings, &mut Quiet).map_err(|error| error.to_string())?;
                times.push(start.elapsed());
                let count = |key: &str| reports[0].stats.get(key).copied().unwrap_or(0);
                fused = count("members") + count("cancelled") + count("composed");
            }
            times.sort_unstable();
            let time = times[RUNS / 2];
            let ratio =
                before.map_or("-".to_owned(), |before| format!("{:.2}", time.as_secs_f64() / before.as_secs_f64()));
            let memory = if ops == SIZES[SIZES.len() - 1] {
                let file = sh::scratch("bench")?.join(format!("fuse_{name}.mlir"));
                sh::write(&file, &text)?;
                let cost = measure::neap(&["opt", &file.to_string_lossy(), "--fuse", "--summary=none", "--no-check"])?;
                (cost.peak_kib / 1024).to_string()
            } else {
                "-".to_owned()
            };
            println!("{name:<10} {ops:>7} {:>9.1} {ratio:>7} {fused:>8} {memory:>12}", time.as_secs_f64() * 1e3);
            before = Some(time);
        }
    }
    Ok(())
}

/// A function around a family's operations; the last of them is `%r` of the type [`TY`].
fn graph(make: fn(&mut String, usize), ops: usize) -> String {
    let mut text = format!("func.func @main(%x: {TY}, %w: tensor<8x3x3x8xf32>, %b: tensor<8xf32>) -> {TY} {{\n");
    make(&mut text, ops);
    let _ = writeln!(text, "  return %r : {TY}\n}}");
    text
}

const TY: &str = "tensor<1x16x16x8xf32>";
/// With its two middle dimensions changed over with the last one.
const TURNED: &str = "tensor<1x8x16x16xf32>";

fn unary(text: &mut String, result: &str, name: &str, operand: &str, ty: &str) {
    let _ = writeln!(text, "  %{result} = \"{name}\"(%{operand}) : ({ty}) -> {ty}");
}

fn chains(text: &mut String, ops: usize) {
    for at in 0..ops {
        let from = if at == 0 { "x".to_owned() } else { (at - 1).to_string() };
        let result = if at + 1 == ops { "r".to_owned() } else { at.to_string() };
        unary(text, &result, ["tosa.abs", "tosa.exp", "tosa.tanh"][at % 3], &from, TY);
    }
}

fn heavy(text: &mut String, ops: usize) {
    let mut last = "x".to_owned();
    for at in 0..ops / 4 {
        let _ = writeln!(
            text,
            "  %c{at} = \"onnx.Conv\"(%{last}, %w, %b) : ({TY}, tensor<8x3x3x8xf32>, tensor<8xf32>) -> {TY}"
        );
        unary(text, &format!("e{at}"), "onnx.Exp", &format!("c{at}"), TY);
        unary(text, &format!("t{at}"), "onnx.Tanh", &format!("e{at}"), TY);
        let name = if at + 1 == ops / 4 { "r".to_owned() } else { format!("s{at}") };
        let _ = writeln!(text, "  %{name} = \"onnx.Add\"(%t{at}, %{last}) : ({TY}, {TY}) -> {TY}");
        last = name;
    }
}

fn movements(text: &mut String, ops: usize) {
    let mut last = "x".to_owned();
    for at in 0..ops / 4 {
        let name = if at + 1 == ops / 4 { "r".to_owned() } else { format!("s{at}") };
        let _ = writeln!(text, "  %a{at} = \"onnx.Transpose\"(%{last}) {{perm = [0, 3, 1, 2]}} : ({TY}) -> {TURNED}");
        let _ = writeln!(text, "  %b{at} = \"onnx.Transpose\"(%a{at}) {{perm = [0, 2, 3, 1]}} : ({TURNED}) -> {TY}");
        unary(text, &format!("o{at}"), "neap.opaque", &format!("b{at}"), TY);
        unary(text, &name, "onnx.Identity", &format!("o{at}"), TY);
        last = name;
    }
}

fn windows(text: &mut String, ops: usize) {
    let half = "tensor<1x8x16x8xf32>";
    let mut last = "x".to_owned();
    let slice = |text: &mut String, result: &str, from: &str, start: u32| {
        let end = start + 8;
        let _ = writeln!(
            text,
            "  %{result} = \"stablehlo.slice\"(%{from}) {{start_indices = array<i64: 0, {start}, 0, 0>, limit_indices = array<i64: 1, {end}, 16, 8>, strides = array<i64: 1, 1, 1, 1>}} : ({TY}) -> {half}"
        );
    };
    for at in 0..ops / 5 {
        let name = if at + 1 == ops / 5 { "r".to_owned() } else { format!("s{at}") };
        slice(text, &format!("a{at}"), &last, 0);
        slice(text, &format!("b{at}"), &last, 8);
        unary(text, &format!("e{at}"), "stablehlo.abs", &format!("b{at}"), half);
        let order =
            if at % 2 == 0 { (format!("a{at}"), format!("b{at}")) } else { (format!("e{at}"), format!("a{at}")) };
        let _ = writeln!(
            text,
            "  %j{at} = \"stablehlo.concatenate\"(%{}, %{}) {{dimension = 1 : i64}} : ({half}, {half}) -> {TY}",
            order.0, order.1
        );
        unary(text, &name, "neap.opaque", &format!("j{at}"), TY);
        last = name;
    }
}

fn layouts(text: &mut String, ops: usize) {
    let mut last = "x".to_owned();
    for at in 0..ops / 5 {
        let name = if at + 1 == ops / 5 { "r".to_owned() } else { format!("s{at}") };
        let _ = writeln!(text, "  %a{at} = \"onnx.Transpose\"(%{last}) {{perm = [0, 3, 1, 2]}} : ({TY}) -> {TURNED}");
        unary(text, &format!("e{at}"), "onnx.Relu", &format!("a{at}"), TURNED);
        unary(text, &format!("f{at}"), "onnx.Exp", &format!("e{at}"), TURNED);
        let _ = writeln!(text, "  %b{at} = \"onnx.Transpose\"(%f{at}) {{perm = [0, 2, 3, 1]}} : ({TURNED}) -> {TY}");
        let _ = writeln!(
            text,
            "  %{name} = \"onnx.Conv\"(%b{at}, %w, %b) : ({TY}, tensor<8x3x3x8xf32>, tensor<8xf32>) -> {TY}"
        );
        last = name;
    }
}
