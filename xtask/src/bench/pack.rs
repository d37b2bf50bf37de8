//! Packing, side by side with packers that others made: OmniMalloc from PyPI, MiniMalloc's binary where `NEAP_MINIMALLOC` names it.
//!
//! The peers that are re-implemented plainly, and the families of up to a million buffers, are in the solver's own benchmark, which runs first.
//! Against programs, time is processor time inside the call for OmniMalloc and of the process for MiniMalloc; ours is that of reaching the
//! peer's height, or a lower one.

use crate::{Outcome, measure, sh};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is installed into the environment of `conformance`.
const OMNIMALLOC: &str = "omnimalloc==1.0.0";
/// The driver that runs it.
const DRIVER: &str = include_str!("omni_driver.py");
/// The most seconds that a search of a peer may take.
const SECONDS: &str = "30";
/// The capacity that the tables of MiniMalloc's paper are packed into.
const CAPACITY: &str = "1048576";

/// A packing: its height and the seconds that it took.
#[derive(Clone, Copy)]
struct Packed {
    height: u64,
    seconds: f64,
}

pub(super) fn run() -> Outcome {
    let Some(shared) = std::env::var_os("NEAP_SHARED").map(PathBuf::from) else {
        println!(
            "NEAP_SHARED does not name a folder with pack/minimalloc: no comparison with OmniMalloc and MiniMalloc"
        );
        return Ok(());
    };
    let tables: Vec<PathBuf> = sh::files(&shared.join("pack/minimalloc"), "csv")?
        .into_iter()
        .filter(|table| stem(table) != "example")
        .collect();
    omnimalloc(&tables)?;
    match std::env::var_os("NEAP_MINIMALLOC") {
        Some(binary) => minimalloc(&tables, Path::new(&binary)),
        None => {
            println!("NEAP_MINIMALLOC does not name MiniMalloc's binary: no comparison with it");
            Ok(())
        }
    }
}

/// Each table by OmniMalloc's best setting, and by us to the same height.
fn omnimalloc(tables: &[PathBuf]) -> Outcome {
    let python = environment()?;
    let driver = sh::scratch("bench")?.join("omni_driver.py");
    sh::write(&driver, DRIVER)?;
    println!("\nheight, and time to reach it or a lower one (neap's time to the least height it finds in brackets)");
    println!("{:<16} {:>12} {:>12} {:>14} {:>10}", "table", "neap", "omnimalloc", "by", "time x");
    for table in tables {
        let text = sh::stdout(sh::program(&python, [driver.as_os_str(), SECONDS.as_ref()]).arg(table))?;
        let mut settings = BTreeMap::new();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [_, name, height, seconds] = fields[..] else { return Err(format!("cannot read `{line}`")) };
            settings.insert(name.to_owned(), packed(height, seconds)?);
        }
        let best =
            settings.iter().min_by(|(_, a), (_, b)| a.height.cmp(&b.height).then(a.seconds.total_cmp(&b.seconds)));
        let (name, theirs) = best.ok_or("OmniMalloc packed nothing")?;
        let least = ours(table, &[])?;
        let same = ours(table, &["--capacity", &theirs.height.to_string()])?;
        let reached = if same.height <= theirs.height { same } else { least };
        println!(
            "{:<16} {:>12} {:>12} {name:>14} {:>10}",
            stem(table),
            least.height,
            theirs.height,
            format!("{:.1} ({:.1})", theirs.seconds / reached.seconds, theirs.seconds / least.seconds)
        );
    }
    Ok(())
}

/// Each table within the capacity of MiniMalloc's paper.
fn minimalloc(tables: &[PathBuf], binary: &Path) -> Outcome {
    println!("\n{:<16} {:>12} {:>12} {:>10}", "table", "neap", "minimalloc", "time x");
    let out = sh::scratch("bench")?.join("minimalloc.csv");
    for table in tables {
        let flag = |name: &str, value: &Path| format!("--{name}={}", value.display());
        let args = [
            format!("--capacity={CAPACITY}"),
            flag("input", table),
            flag("output", &out),
            format!("--timeout={SECONDS}s"),
        ];
        let (output, seconds) = measure::processor_time(&mut sh::program(binary, args))?;
        let own = ours(table, &["--capacity", CAPACITY])?;
        let said = if output.status.success() { "packed" } else { "not found" };
        println!("{:<16} {:>12} {said:>12} {:>10}", stem(table), own.height, format!("{:.1}", seconds / own.seconds));
    }
    Ok(())
}

/// The Python of conformance's virtual environment, with OmniMalloc in it.
fn environment() -> Result<PathBuf, String> {
    let venv = sh::scratch("conformance")?.join("venv");
    let python = venv.join("bin/python");
    if !python.is_file() {
        sh::run(&mut sh::program("python3", ["-m".as_ref(), "venv".as_ref(), venv.as_os_str()]))?;
    }
    if sh::stdout(&mut sh::program(&python, ["-c", "import omnimalloc"])).is_err() {
        let pip = venv.join("bin/pip");
        sh::run(&mut sh::program(pip, ["install", "--quiet", "--disable-pip-version-check", OMNIMALLOC]))
            .map_err(|error| format!("{error}\n{OMNIMALLOC} is needed from PyPI; `bench pack` compares with it"))?;
    }
    Ok(python)
}

fn ours(table: &Path, flags: &[&str]) -> Result<Packed, String> {
    let table = table.to_string_lossy();
    let mut args = vec!["--tsv", &table];
    args.extend(flags);
    let text = sh::stdout(&mut bench(&args))?;
    let fields: Vec<&str> = text.trim().split('\t').collect();
    match fields[..] {
        [_, _, _, height, _, seconds] => packed(height, seconds),
        _ => Err(format!("cannot read `{text}`")),
    }
}

fn packed(height: &str, seconds: &str) -> Result<Packed, String> {
    let number = |text: &str| text.parse::<f64>().map_err(|error| format!("`{text}`: {error}"));
    Ok(Packed { height: number(height)? as u64, seconds: number(seconds)? })
}

fn bench(args: &[&str]) -> std::process::Command {
    let mut cargo = sh::cargo(["run", "--quiet", "--release", "-p", "neap-pack", "--example", "bench", "--"]);
    cargo.args(args);
    cargo
}

fn stem(table: &Path) -> String {
    let name = table.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}
