//! What has to be green: format, lints, documentation, tests.

use crate::{Outcome, fuzz, sh};

/// All tests: those of the workspace, then a second of fuzzing per target.
pub(crate) fn test() -> Outcome {
    for target in fuzz::NAMES {
        fuzz::run(target, 1, 1)?;
    }
    // Last, so that the test runner has the last word.
    sh::run(&mut sh::cargo(["test", "--workspace", "--quiet"]))
}

/// Formats every Rust file, or only looks. By name, since `cargo fmt` does not see modules that a macro declares.
pub(crate) fn format(check: bool) -> Outcome {
    let listed =
        sh::stdout(&mut sh::program("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"]))?;
    let files = listed.lines().filter(|file| sh::root().join(file).exists());
    let flags = if check { &["--edition", "2024", "--check"][..] } else { &["--edition", "2024"] };
    sh::run(&mut sh::program("rustfmt", flags.iter().copied().chain(files)))
}

/// The one gate.
pub(crate) fn run() -> Outcome {
    lint()?;
    test()
}

/// Format, lints and documentation.
pub(crate) fn lint() -> Outcome {
    format(true)?;
    sh::run(&mut sh::cargo(["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    let mut doc = sh::cargo(["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"]);
    sh::run(doc.env("RUSTDOCFLAGS", "-D warnings -A rustdoc::private_intra_doc_links"))
}
