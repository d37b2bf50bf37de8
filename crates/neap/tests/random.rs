//! Random modules through every subset of the optional passes: whatever is left out, the plan computes what the source computes.
//!
//! The checker judges each run; what the passes did is counted, so that a generator that gives them nothing to do is seen.

mod support;

use neap::exit::Exit;
use neap::streams::Streams;
use std::collections::BTreeMap;
use support::{Rng, module};

/// Passes that a plan can do without, in the order of the pipeline.
const OPTIONAL: [&str; 6] = ["cse", "dce", "fuse", "canonicalize-views", "lock-effects", "reorder"];

/// Modules per subset.
const MODULES: u64 = 12;

fn run(args: &[&str], input: &str) -> (Exit, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut bytes = input.as_bytes();
    let streams = &mut Streams {
        input: &mut bytes,
        out: &mut out,
        err: &mut err,
        colour_out: false,
        colour_err: false,
        width: 80,
        progress: false,
    };
    let exit = neap::run(std::iter::once("neap").chain(args.iter().copied()).map(Into::into), streams);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("all output is text");
    (exit, text(out), text(err))
}

#[test]
#[allow(clippy::print_stdout, reason = "coverage is for people to read")]
fn every_subset_of_passes_keeps_the_meaning() {
    let mut coverage: BTreeMap<&str, usize> = BTreeMap::new();
    for subset in 0..1usize << OPTIONAL.len() {
        let chosen = OPTIONAL.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1).map(|(_, pass)| *pass);
        let passes: Vec<&str> = chosen.chain(["assign-offsets"]).collect();
        let pipeline = format!("--pass-pipeline={}", passes.join(","));
        for seed in 0..MODULES {
            let text = module(&mut Rng(seed * 1000 + subset as u64), 4 + 3 * seed as usize);
            let (exit, out, err) = run(&["opt", "-", &pipeline, "--summary=json"], &text);
            assert_eq!(exit, Exit::Done, "{pipeline}\n{text}\n{err}");
            assert!(err.contains("\"check\": \"passed\""), "{err}");
            for what in [
                "neap.fused",
                "neap.view",
                "neap.inplace",
                "neap.place ",
                "!neap.token",
                "neap.if",
                "neap.write",
                "neap.scratch_offset",
            ] {
                *coverage.entry(what).or_default() += out.matches(what).count();
            }
        }
    }
    println!("{} modules; {coverage:?}", MODULES << OPTIONAL.len());
    for (what, count) in coverage {
        assert!(count > 20, "only {count} of `{what}` in all plans: the modules give the passes too little to do");
    }
}

#[test]
fn a_plan_planned_again_is_the_same_plan() {
    for seed in 0..40 {
        let text = module(&mut Rng(seed), 20);
        let (exit, once, err) = run(&["opt", "-", "--summary=none"], &text);
        assert_eq!(exit, Exit::Done, "{text}\n{err}");
        let (exit, twice, err) = run(&["opt", "-", "--summary=none"], &once);
        assert_eq!(exit, Exit::Done, "{once}\n{err}");
        let bytes = |text: &str| {
            text.split("neap.arena_bytes = ").nth(1).and_then(|rest| rest.split(' ').next().map(str::to_owned))
        };
        assert_eq!(bytes(&once), bytes(&twice), "{text}");
    }
}
