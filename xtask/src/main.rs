//! The developer's verbs: `cargo xtask test`, `bless`, `new-pass`, `bench`, `fuzz`, `conformance`, `ci`; and a thin front for the
//! user's own (`cargo xtask opt ..` is `neap opt ..`).

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a developer's tool talks to a terminal")]

mod bench;
mod book;
mod ci;
mod conformance;
mod fuzz;
mod golden;
mod measure;
mod new_pass;
mod rng;
mod sh;

use clap::{Arg, ArgAction, ArgMatches, Command};
use std::process::ExitCode;

/// How a verb ends: an error is one message.
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    if let Some(code) = measure::child(&args).or_else(|| fuzz::child_main(&args)) {
        return code;
    }
    let verb = args.get(1).and_then(|arg| arg.to_str());
    if verb.is_some_and(|verb| neap::cli::command().find_subcommand(verb).is_some()) {
        return neap::main(args);
    }
    let matches = command().get_matches_from(args);
    match run(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> Command {
    let user: Vec<String> = neap::cli::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let pass = || Arg::new("pass").value_name("PASS").help("Only this pass");
    let seconds = Arg::new("seconds").long("seconds").default_value("60").value_parser(clap::value_parser!(u64));
    Command::new("cargo xtask")
        .about("The developer's verbs")
        .after_help(format!("The user's verbs are forwarded: {}", user.join(", ")))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([
            Command::new("test").about("All tests: unit, golden, property, tidy, and a second of fuzzing per target"),
            Command::new("bless").about("Rewrites the golden snapshots and shows the difference").arg(pass()),
            Command::new("new-pass")
                .about("Makes a pass: one file, one line in the registry, one folder of golden tests")
                .arg(Arg::new("name").value_name("NAME").required(true).help("Kebab-case, as in `--NAME`")),
            Command::new("bench")
                .about("Side by side with peers and with ourselves at other sizes; ratios, never bare seconds")
                .arg(Arg::new("what").value_parser(bench::NAMES).help("Default: all of them")),
            Command::new("fuzz")
                .about("Mutates a target's corpus on stable Rust, from a fixed seed")
                .arg(Arg::new("target").value_parser(fuzz::NAMES).required(true))
                .arg(Arg::new("input").value_name("FILE").help("Runs this input alone"))
                .arg(seconds.help("How long"))
                .arg(Arg::new("seed").long("seed").default_value("1").value_parser(clap::value_parser!(u64))),
            Command::new("conformance")
                .about("Compares with real peers; the models come from the folder in NEAP_SHARED")
                .arg(Arg::new("install").long("install").action(ArgAction::SetTrue).help("Installs the peers first"))
                .arg(Arg::new("only").long("only").value_parser(conformance::ALONE).help("This part alone")),
            Command::new("book")
                .about("Builds the book in `docs`, runs every command in it and in the README, and compares what they print")
                .arg(Arg::new("page").value_name("PAGE").help("Only this page, as in `quick-start`"))
                .arg(Arg::new("bless").long("bless").action(ArgAction::SetTrue).help("Writes what they print into the pages")),
            Command::new("fmt")
                .about("Formats every Rust file (`cargo fmt` does not see the passes, which the registry declares)"),
            Command::new("lint").about("Format, lints, documentation"),
            Command::new("ci").about("Format, lints, documentation, tests: what has to be green"),
        ])
}

fn run(matches: &ArgMatches) -> Outcome {
    let text = |matches: &ArgMatches, name: &str| matches.get_one::<String>(name).cloned();
    let number = |matches: &ArgMatches, name: &str| matches.get_one::<u64>(name).copied().unwrap_or(1);
    match matches.subcommand() {
        Some(("test", _)) => ci::test(),
        Some(("bless", matches)) => golden::bless(text(matches, "pass").as_deref()),
        Some(("new-pass", matches)) => new_pass::make(&text(matches, "name").unwrap_or_default()),
        Some(("bench", matches)) => bench::run(text(matches, "what").as_deref()),
        Some(("fuzz", matches)) => {
            let target = text(matches, "target").unwrap_or_default();
            match text(matches, "input") {
                Some(file) => fuzz::one(&target, file.as_ref()),
                None => fuzz::run(&target, number(matches, "seconds"), number(matches, "seed")),
            }
        }
        Some(("conformance", matches)) => {
            conformance::run(matches.get_flag("install"), text(matches, "only").as_deref())
        }
        Some(("book", matches)) => conformance::book(matches.get_flag("bless"), text(matches, "page").as_deref()),
        Some(("fmt", _)) => ci::format(false),
        Some(("lint", _)) => ci::lint(),
        Some(("ci", _)) => ci::run(),
        _ => unreachable!("clap requires one of the verbs above"),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_verb_of_ours_hides_one_of_the_users() {
        let user = neap::cli::command();
        for verb in super::command().get_subcommands() {
            assert!(user.find_subcommand(verb.get_name()).is_none(), "{}", verb.get_name());
        }
        super::command().debug_assert();
    }
}
