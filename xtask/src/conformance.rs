//! Comparing with real peers: LLVM's own `mlir-opt`, runtimes' published figures, a converter from PyPI.
//!
//! Models and graphs come from the folder that the environment variable `NEAP_SHARED` names. A missing peer or folder is a failure
//! that says how to get it, never a silent skip.

mod browser;
mod budgets;
mod bufferized;
mod graphs;
mod mlir;
mod models;
mod onnx;
mod runtimes;
mod tosa;
mod wheel;

use crate::{Outcome, book, sh};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What was compared so far.
#[derive(Default)]
pub(crate) struct Tally {
    passed: usize,
    failed: Vec<String>,
}

impl Tally {
    /// Counts a comparison; an error is printed at once and again at the end.
    fn add(&mut self, name: &str, outcome: Outcome) {
        match outcome {
            Ok(()) => self.passed += 1,
            Err(message) => {
                println!("FAILED {name}: {message}");
                self.failed.push(format!("{name}: {}", message.lines().next().unwrap_or_default()));
            }
        }
    }

    /// What failed, and how many passed.
    fn end(&self) -> Outcome {
        for failed in &self.failed {
            println!("failed: {failed}");
        }
        println!("conformance: {} passed, {} failed", self.passed, self.failed.len());
        if self.failed.is_empty() { Ok(()) } else { Err("conformance failed".to_owned()) }
    }
}

/// Parts that can be run alone; all but `budgets` need no folder of models.
pub(crate) const ALONE: [&str; 4] = ["browser", "budgets", "own", "wheel"];

/// Runs all comparisons, or one part.
pub(crate) fn run(install: bool, only: Option<&str>) -> Outcome {
    if install {
        mlir::install()?;
        tosa::install()?;
        onnx::install()?;
        runtimes::install()?;
        wheel::install()?;
        browser::install()?;
        book::install()?;
    }
    if let Some(only) = only {
        let mut tally = Tally::default();
        match only {
            "browser" => browser::run(&mut tally)?,
            "budgets" => budgets::run(&shared()?, &mut tally)?,
            "own" => own(&mut tally)?,
            "wheel" => wheel::run(&mut tally)?,
            _ => unreachable!("clap knows the parts"),
        }
        return tally.end();
    }
    mlir::present()?;
    bufferized::present()?;
    let shared = shared()?;
    let mut tally = Tally::default();
    println!("== models: plan --profile tflite against LiteRT's own arena");
    models::run(&shared, &mut tally)?;
    println!("== budgets below what models need");
    budgets::run(&shared, &mut tally)?;
    println!("== models: .onnx against ONNX Runtime");
    onnx::run(&shared, &mut tally)?;
    println!("== emitted models in LiteRT and TFLite Micro");
    runtimes::run(&shared, &mut tally)?;
    println!("== the wheel");
    wheel::run(&mut tally)?;
    println!("== the page of a plan in headless Chromium");
    browser::run(&mut tally)?;
    println!("== graphs: peak against the order in the file");
    graphs::run(&shared, &mut tally)?;
    println!("== our own files: testdata");
    own(&mut tally)?;
    println!("== TOSA text made by tosa-converter-for-tflite");
    tosa::run(&shared, &mut tally)?;
    println!("== bufferized MLIR, planned and run by mlir-runner");
    bufferized::run(&shared, &mut tally)?;
    println!("== the book and the README");
    book::run(false, None, &mut |name, outcome| tally.add(name, outcome))?;
    tally.end()
}

/// The book and the README alone, or one page.
pub(crate) fn book(bless: bool, only: Option<&str>) -> Outcome {
    let mut tally = Tally::default();
    book::run(bless, only, &mut |name, outcome| tally.add(name, outcome))?;
    tally.end()
}

/// The folder with models and graphs.
pub(crate) fn shared() -> Result<PathBuf, String> {
    let folder = std::env::var_os("NEAP_SHARED")
        .map(PathBuf::from)
        .ok_or("NEAP_SHARED does not name a folder with models/ and graphs/")?;
    let missing = ["models/manifest.csv", "graphs/results.csv"].into_iter().find(|file| !folder.join(file).is_file());
    match missing {
        None => std::path::absolute(&folder).map_err(|error| error.to_string()),
        Some(file) => Err(format!("NEAP_SHARED={} has no {file}", folder.display())),
    }
}

/// Every module of `testdata` that neap reads, printed and compared with `mlir-opt`'s print.
fn own(tally: &mut Tally) -> Outcome {
    let mut folders = vec![sh::root().join("testdata")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut inside: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect();
        inside.sort();
        folders.extend(inside);
        for file in sh::files(&folder, "mlir")? {
            let read = sh::output(&mut sh::neap([
                "opt",
                &file.to_string_lossy(),
                "--strip-plan",
                "--no-check",
                "--summary=none",
                "--split-input-file",
            ])?)?;
            if read.status.success() {
                // Pieces of a split file are modules of their own, which may define the same symbols.
                for (at, piece) in String::from_utf8_lossy(&read.stdout).split("// -----").enumerate() {
                    let name = format!("{}.{at}", file.file_stem().unwrap_or_default().to_string_lossy());
                    let out = sh::scratch("conformance/own")?.join(format!("{name}.mlir"));
                    sh::write(&out, piece)?;
                    tally.add(&format!("{} as mlir-opt prints it", file.display()), mlir::same_print(&out));
                }
            }
        }
    }
    Ok(())
}

/// Plans a file: the planned module goes to `out`, the summary comes back.
pub(crate) fn plan(file: &Path, out: &Path, flags: &[&str]) -> Result<Value, String> {
    let (file, out) = (file.to_string_lossy(), out.to_string_lossy());
    let args = ["plan", &file, "-o", &out, "--summary=json"].into_iter().chain(flags.iter().copied());
    let text = sh::stdout(&mut sh::neap(args)?)?;
    serde_json::from_str(&text).map_err(|error| format!("the summary is no JSON: {error}"))
}

/// Whether the summary says that the checker accepted the plan.
fn checked(summary: &Value) -> Outcome {
    match summary["check"].as_str() {
        Some("passed") => Ok(()),
        other => Err(format!("the summary says \"check\": {other:?}")),
    }
}

/// A figure of the first function's plan.
pub(crate) fn first(summary: &Value, key: &str) -> u64 {
    summary["functions"][0]["plan"][key].as_u64().unwrap_or(u64::MAX)
}

/// Rows of a CSV file by column name. The files that are read here quote fields that hold a comma.
pub(crate) fn table(path: &Path) -> Result<Vec<Vec<(String, String)>>, String> {
    let text = sh::read(path)?;
    let mut lines = text.lines().map(fields);
    let header = lines.next().unwrap_or_default();
    Ok(lines.map(|row| header.iter().cloned().zip(row).collect()).collect())
}

fn fields(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => found.push(String::new()),
            _ => found.last_mut().unwrap_or_else(|| unreachable!("never empty")).push(c),
        }
    }
    found
}

pub(crate) fn field<'a>(row: &'a [(String, String)], name: &str) -> &'a str {
    row.iter().find(|(column, _)| column == name).map_or("", |(_, value)| value)
}
