//! Golden tests: every `testdata/<pass>/*.mlir` through the passes of its first line, next to what came out.
//!
//! The first line is `// RUN: --<pass>[=options] .. [--profile=NAME]`. The snapshot beside the input, `NAME.mlir.snap`, has the printed
//! module, then the remarks and the statistics as comments. Inputs may be split with `// -----`.

use neap_ir::diag::Diagnostic;
use neap_ir::facts::Facts;
use neap_ir::parse::split_input;
use neap_ir::{Module, PrintOptions, parse, print};
use neap_passes::pipeline::{Pipeline, Quiet, Run, Step, run};
use neap_passes::profile::Profile;
use neap_passes::registry::PASSES;
use std::fmt::Write;
use std::path::Path;

/// Passes find nothing to do in what they made themselves: each runs a second time, and must change nothing.
#[test]
fn every_pass() {
    for pass in PASSES {
        let mut settings = insta::Settings::clone_current();
        // A filter leaves out whole folders; that no pass is without tests is another test's business.
        settings.set_allow_empty_glob(true);
        let files = format!("{}/*.mlir", pass.name);
        settings.bind(|| insta::glob!("../../testdata", &files, |path| check(path, true)));
    }
}

fn check(path: &Path, stable: bool) {
    let text = std::fs::read_to_string(path).expect("the input is readable");
    let flags =
        text.lines().next().and_then(|line| line.strip_prefix("// RUN: ")).expect("the first line is `// RUN: --..`");
    let (pipeline, profile) = read_flags(flags);
    let mut chunks: Vec<String> = Vec::new();
    for chunk in split_input(&text) {
        chunks.push(one(chunk.text, &pipeline, &profile, stable));
    }
    let name = path.file_name().and_then(|name| name.to_str()).expect("the name is text");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(path.parent().expect("the file is in a folder"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.remove_snapshot_suffix();
    settings.remove_input_file();
    settings.bind(|| insta::assert_snapshot!(name, chunks.join("// -----\n")));
}

fn read_flags(flags: &str) -> (Pipeline, Profile) {
    let mut steps = Vec::new();
    let mut profile = "none";
    for flag in flags.split(" --").map(|flag| flag.trim().trim_start_matches("--")) {
        match flag.split_once('=').unwrap_or((flag, "")) {
            ("profile", name) => profile = name,
            (pass, options) => {
                steps.extend(Step::parse(pass, options.trim_matches('\'')).unwrap_or_else(|error| panic!("{error}")))
            }
        }
    }
    (Pipeline::of(steps), Profile::builtin(profile).expect("the profile exists"))
}

/// The printed module with remarks and statistics (but the solvers' effort), or the error.
fn one(text: &str, pipeline: &Pipeline, profile: &Profile, stable: bool) -> String {
    let mut module = parse(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let facts = Facts::builtin();
    let settings = Run { facts: &facts, profile, stop: &|| false, verify_each: true };
    let mut out = String::new();
    match run(&mut module, pipeline, settings, &mut Quiet) {
        Err(error) => {
            let found = error.diagnostic();
            write!(out, "// error{}: {}", line_of(text, &found), found.message).expect("strings can be written");
            found
                .notes
                .iter()
                .chain(&found.help)
                .for_each(|note| write!(out, "\n//   {note}").expect("strings can be written"));
            out.push('\n');
        }
        Ok(reports) => {
            out.push_str(&printed(&module));
            for report in &reports {
                for remark in &report.remarks {
                    writeln!(out, "// {}{}: {}", report.name, line_of(text, remark), remark.message)
                        .expect("strings can be written");
                }
            }
            for report in &reports {
                let stats: Vec<String> = report
                    .stats
                    .iter()
                    .filter(|(key, count)| **count > 0 && **key != "nodes")
                    .map(|(key, count)| format!("{key} {count}"))
                    .collect();
                let changed = if report.changed { "changed" } else { "unchanged" };
                writeln!(out, "// {} @{}: {changed} {}", report.name, report.function, stats.join(", "))
                    .expect("strings can be written");
            }
            again(&module, pipeline, settings, stable);
        }
    }
    out.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// What was made reads back as it is, and a stable pipeline leaves it alone.
fn again(module: &Module, pipeline: &Pipeline, settings: Run<'_>, stable: bool) {
    let text = printed(module);
    let mut read = parse(&text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    assert_eq!(printed(&read), text, "printing is not stable");
    if stable {
        run(&mut read, pipeline, settings, &mut Quiet).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(printed(&read), text, "a second run changes something");
    }
}

fn printed(module: &Module) -> String {
    print(module, &PrintOptions::default())
}

fn line_of(text: &str, found: &Diagnostic) -> String {
    let line = 1 + text.as_bytes()[..found.span.start as usize].iter().filter(|byte| **byte == b'\n').count();
    if found.span.is_none() { String::new() } else { format!(":{line}") }
}
