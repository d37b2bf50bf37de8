//! Faults that users of memory planners reported: one folder per case in `testdata/cases`, with its graphs, what a user runs, what has to come
//! out, and the plan that a planner with the fault makes, which the checker has to refuse.
//!
//! A run that waits for something not yet built says so (`pending`). It is run all the same: its case does not count as
//! holding, and once it holds the word has to go.

mod agree;
mod case;
mod expect;
mod scale;

use case::{Case, State};
use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

/// So many cases there are.
const CASES: usize = 38;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cases")
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let states: Arc<Mutex<BTreeMap<String, State>>> = Arc::default();
    let mut trials: Vec<Trial> =
        (1..=CASES).map(|number| trial(format!("H{number:02}"), Arc::clone(&states))).collect();
    trials.push(Trial::test("no_folder_is_left_over", || Ok(left_over()?)));
    let whole = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if whole && let Ok(states) = states.lock() {
        say(&states);
    }
    conclusion.exit_code()
}

fn trial(name: String, states: Arc<Mutex<BTreeMap<String, State>>>) -> Trial {
    Trial::test(name.clone(), move || {
        let state = Case::run(&folder().join(&name));
        let failed = match &state {
            State::Fails(why) => Err(Failed::from(why)),
            State::Holds | State::Pending(_) => Ok(()),
        };
        if let Ok(mut states) = states.lock() {
            states.insert(name, state);
        }
        failed
    })
}

#[expect(clippy::print_stdout, reason = "the line that `cargo xtask test` shows")]
fn say(states: &BTreeMap<String, State>) {
    let holds = states.values().filter(|state| matches!(state, State::Holds)).count();
    println!("cases: {holds} of {CASES} hold");
    for (name, state) in states {
        if let State::Pending(why) = state {
            println!("  {name} not yet: {why}");
        }
    }
}

/// A folder that no case has is a case that nobody runs.
fn left_over() -> Result<(), String> {
    let entries = std::fs::read_dir(folder()).map_err(|error| error.to_string())?;
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let known = |name: &String| (1..=CASES).any(|number| *name == format!("H{number:02}")) || name == "README.md";
    match names.filter(|name| !known(name)).collect::<Vec<_>>() {
        left if left.is_empty() => Ok(()),
        left => Err(format!("no case is called {}", left.join(", "))),
    }
}
