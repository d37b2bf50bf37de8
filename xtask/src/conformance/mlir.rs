//! LLVM's own `mlir-opt`: it accepts what we print, round-trips it, and prints the same bytes.

use crate::{Outcome, sh};
use neap_ir::print::normalise_ssa;
use std::path::Path;

const MLIR_OPT: &str = "mlir-opt-22";

/// Installs Debian's package.
pub(super) fn install() -> Outcome {
    if present().is_ok() {
        return Ok(());
    }
    sh::run(&mut sh::program("apt-get", ["update", "-q"]))?;
    sh::run(
        sh::program("apt-get", ["install", "-yq", "--no-install-recommends", "mlir-22-tools"])
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
}

/// Whether it is there.
pub(super) fn present() -> Outcome {
    let missing = |why: String| {
        format!("{why}\nget it with `cargo xtask conformance --install` or `apt-get install mlir-22-tools`")
    };
    sh::stdout(&mut sh::program(MLIR_OPT, ["--version"])).map(drop).map_err(missing)
}

/// A file that we printed: accepted, round-tripped, and byte-equal in the generic form up to SSA names.
pub(super) fn same_print(file: &Path) -> Outcome {
    let path = file.to_string_lossy();
    let flags = [
        "--allow-unregistered-dialect",
        "--mlir-print-op-generic",
        "--mlir-print-debuginfo",
        "--mlir-print-local-scope",
    ];
    let theirs = sh::program(MLIR_OPT, flags.into_iter().chain(["--verify-roundtrip", &*path]));
    let theirs = normalise_ssa(&without_places(&sh::stdout(&mut { theirs })?, &path));
    let ours =
        ["opt", &*path, "--pass-pipeline=builtin.module()", "--mlir-print-op-generic", "--no-check", "--summary=none"];
    let ours = normalise_ssa(&sh::stdout(&mut sh::neap(ours)?)?);
    first_difference(&theirs, &ours)
}

/// `mlir-opt` gives what has no location its place in the file; we print none.
fn without_places(text: &str, path: &str) -> String {
    let made_up = format!(" loc(\"{path}\":");
    let mut pieces = text.split(&made_up);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push_str(piece.split_once(')').map_or(piece, |(_, rest)| rest));
    }
    out
}

fn first_difference(theirs: &str, ours: &str) -> Outcome {
    if theirs == ours {
        return Ok(());
    }
    let (mut a, mut b) = (theirs.lines(), ours.lines());
    for line in 1.. {
        let (theirs, ours) = (a.next(), b.next());
        if theirs != ours {
            let show = |line: Option<&str>| line.unwrap_or("(the end)").trim().chars().take(400).collect::<String>();
            return Err(format!("line {line} differs\n  mlir-opt: {}\n  neap:     {}", show(theirs), show(ours)));
        }
        if theirs.is_none() {
            break;
        }
    }
    Err("the files differ in their line ends".to_owned())
}
