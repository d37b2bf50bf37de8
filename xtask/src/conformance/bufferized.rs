//! Bufferized MLIR, planned and run: TFLite to TOSA to linalg to memref by LLVM's own passes, planned by neap, run by `mlir-runner`.
//!
//! The planned program gives what the unplanned one gives, its arena is within 2 % of what every order needs, and the same
//! program with all buffers at offset 0 gives something else, so that the comparison is known to see an overlap.

use super::{Tally, first, plan, tosa};
use crate::{Outcome, sh};
use std::fmt::Write;
use std::path::Path;

const MODELS: [&str; 5] =
    ["gen_swiftcell_64_f32", "keras_mobilenet_v1_f32", "litert_ff", "mp_face_detection_short_range", "mp_hand_recrop"];

const OPT: &str = "mlir-opt-22";
const RUNNER: &str = "mlir-runner-22";
const LIBRARIES: &str =
    "/usr/lib/llvm-22/lib/libmlir_runner_utils.so.22.1,/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so.22.1";

const BUFFERIZE: &str = "builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor),canonicalize,cse,\
    one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map},canonicalize,cse)";

const LOWER: &str = "builtin.module(convert-linalg-to-loops,expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-cf-to-llvm,\
    convert-arith-to-llvm,convert-math-to-llvm,convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)";

pub(super) fn run(shared: &Path, tally: &mut Tally) -> Outcome {
    let folder = sh::scratch("conformance/bufferized")?;
    println!("{:<36} {:>12} {:>12} {:>8}", "model", "arena", "floor", "ratio");
    let mut noticed = false;
    for model in MODELS {
        let outcome = one(shared, &folder, model);
        noticed |= outcome == Ok(true);
        tally.add(&format!("bufferized/{model}"), outcome.map(drop));
    }
    // Not every model's result depends on every buffer, but a harness that never sees an overlap sees nothing.
    let overlap = if noticed { Ok(()) } else { Err("buffers in each other's bytes go unnoticed".to_owned()) };
    tally.add("bufferized/overlap", overlap);
    Ok(())
}

/// Compares a model's planned and unplanned runs; says whether buffers in each other's bytes change what it prints.
fn one(shared: &Path, folder: &Path, model: &str) -> Result<bool, String> {
    let bytecode = tosa::bytecode(&shared.join(format!("models/{model}.tflite")), folder, model)?;
    let source = folder.join(format!("{model}.mlir"));
    let flags = ["--mlir-print-op-generic", "--mlir-print-local-scope", "--pass-pipeline", BUFFERIZE, "-o"];
    sh::stdout(sh::program(OPT, flags).args([&source, &bytecode]))?;
    let planned = folder.join(format!("{model}.memref.mlir"));
    let summary = plan(&source, &planned, &[])?;
    let (arena, floor) = (first(&summary, "arena"), first(&summary, "lower_bound"));
    println!("{model:<36} {arena:>12} {floor:>12} {:>8.3}", arena as f64 / floor as f64);
    if arena as f64 > floor as f64 * 1.02 {
        return Err(format!("the arena has {arena} bytes, the floor is {floor}"));
    }
    let plain = folder.join(format!("{model}.plain.mlir"));
    let print = [
        "opt",
        &source.to_string_lossy(),
        "--pass-pipeline=builtin.module()",
        "--no-check",
        "--summary=none",
        "-o",
        &plain.to_string_lossy(),
    ]
    .map(str::to_owned);
    sh::stdout(&mut sh::neap(print)?)?;
    let text = sh::read(&planned)?;
    let expected = outcome(&sh::read(&plain)?, folder, &format!("{model}.plain"))?;
    let found = outcome(&text, folder, &format!("{model}.planned"))?;
    if expected != found {
        return Err(format!("the planned program prints\n{found}\nand the unplanned one\n{expected}"));
    }
    let wrong = outcome(&overlapping(&text), folder, &format!("{model}.overlapping"))?;
    Ok(wrong != expected)
}

/// All views at the start of the arena.
fn overlapping(text: &str) -> String {
    let shift = |line: &str| line.contains("\"arith.constant\"") && line.contains(" : index}> : () -> index");
    let lines: Vec<String> = text
        .lines()
        .map(|line| match line.split_once("value = ") {
            Some((head, rest)) if shift(line) => {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                format!("{head}value = 0{rest}")
            }
            _ => line.to_owned(),
        })
        .collect();
    lines.join("\n")
}

/// What a program prints for fixed inputs.
fn outcome(text: &str, folder: &Path, name: &str) -> Result<String, String> {
    let (program, lowered) = (folder.join(format!("{name}.run.mlir")), folder.join(format!("{name}.llvm.mlir")));
    sh::write(&program, with_main(text)?)?;
    sh::stdout(sh::program(OPT, ["--pass-pipeline", LOWER, "-o"]).args([&lowered, &program]))?;
    let flags = ["-O2", "-e", "main", "--entry-point-result=void", "--shared-libs", LIBRARIES];
    let said = sh::stdout(sh::program(RUNNER, flags).arg(&lowered))?;
    // A line says where the result lies in memory.
    Ok(said.lines().filter(|line| !line.starts_with("Unranked")).collect::<Vec<_>>().join("\n"))
}

/// The program with a function `@main` that fills the inputs, runs the former `@main` and prints its results.
fn with_main(text: &str) -> Result<String, String> {
    let line = text.lines().find(|line| line.contains("func.func @main(")).ok_or("there is no function @main")?;
    let signature = line.split(" attributes ").next().unwrap_or(line);
    let (inputs, results) = signature.split_once("->").ok_or("@main has no result")?;
    let (inputs, results) = (memrefs(inputs), memrefs(results));
    let body = text.replace("@main", "@net");
    let end = body.rfind('}').ok_or("the module does not end")?;
    let mut main = String::from(
        "  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}\n  func.func @main() {\n",
    );
    for (at, ty) in inputs.iter().enumerate() {
        fill(&mut main, at, ty)?;
    }
    let names: Vec<String> = (0..inputs.len()).map(|at| format!("%in{at}")).collect();
    let _ = writeln!(
        main,
        "    %r:{} = func.call @net({}) : ({}) -> ({})",
        results.len(),
        names.join(", "),
        inputs.join(", "),
        results.join(", ")
    );
    for (at, ty) in results.iter().enumerate() {
        let _ = writeln!(
            main,
            "    %p{at} = memref.cast %r#{at} : {ty} to memref<*xf32>\n    func.call @printMemrefF32(%p{at}) : (memref<*xf32>) -> ()"
        );
    }
    main.push_str("    return\n  }\n");
    Ok(format!("{}{main}{}", &body[..end], &body[end..]))
}

/// The memref types of a signature.
fn memrefs(text: &str) -> Vec<String> {
    text.match_indices("memref<")
        .filter_map(|(at, _)| text[at..].split_once('>').map(|(ty, _)| format!("{ty}>")))
        .collect()
}

/// An input with values that differ from place to place.
fn fill(main: &mut String, at: usize, ty: &str) -> Outcome {
    let rank = ty.matches('x').count();
    if !ty.ends_with("xf32>") || rank == 0 {
        return Err(format!("an input of type {ty} is not filled here"));
    }
    let dims: Vec<String> = (0..rank).map(|dim| format!("d{dim}")).collect();
    let (dims, kinds) = (dims.join(", "), vec!["\"parallel\""; rank].join(", "));
    let _ = writeln!(main, "    %in{at} = memref.alloc() {{alignment = 64 : i64}} : {ty}");
    let _ = writeln!(
        main,
        "    linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>], iterator_types = [{kinds}]}} outs(%in{at} : {ty}) {{\n    ^bb0(%old: f32):\n      %s0 = arith.constant 5 : index"
    );
    for dim in 0..rank {
        let _ = writeln!(
            main,
            "      %i{dim} = linalg.index {dim} : index\n      %f{dim} = arith.constant {} : index\n      %m{dim} = arith.muli %i{dim}, %f{dim} : index\n      %s{} = arith.addi %s{dim}, %m{dim} : index",
            7 + 6 * dim,
            dim + 1
        );
    }
    let _ = writeln!(
        main,
        "      %c = arith.constant 29 : index\n      %w = arith.remui %s{rank}, %c : index\n      %n = arith.index_cast %w : index to i32\n      %v = arith.sitofp %n : i32 to f32\n      %k = arith.constant 0.0625 : f32\n      %x = arith.mulf %v, %k : f32\n      linalg.yield %x : f32\n    }}"
    );
    Ok(())
}

/// Whether the runner is there.
pub(super) fn present() -> Outcome {
    sh::stdout(&mut sh::program(RUNNER, ["--version"]))
        .map(drop)
        .map_err(|why| format!("{why}\nget it with `cargo xtask conformance --install`"))
}
