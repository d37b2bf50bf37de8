//! Random modules: whatever passes run, for whatever runtime, the plan computes what the source computes.
//!
//! Every module is planned with subsets of the optional passes; each plan is judged by the checker and executed on real bytes by the
//! interpreter of this folder, over several runs and at several sizes, against the source with every value in memory of its own. What the modules have and
//! what the passes did with them is counted and printed, and so little that nothing was tested is a failure. `NEAP_CASES` sets the number of
//! modules (`NEAP_CASES=20000 cargo test --release -p neap --test random_modules`).

mod broken;
mod campaign;
mod coverage;
mod generate;
mod kernels;
mod machine;
mod memory;
mod mutate;
mod tensor;

use campaign::{Case, PROFILES};
use coverage::Coverage;
use generate::Rng;
use neap_check::Violation;
use neap_ir::facts::Facts;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// Modules in the test that always runs.
const FEW: u64 = 120;

/// What is said of a view of a variable that is read after a write: without `lock-effects` such a read stays where it was listed.
const STALE: &str = "reads a view of @";

/// How many modules.
fn cases() -> u64 {
    let given = std::env::var("NEAP_CASES").ok();
    given.map_or(FEW, |text| text.parse().expect("NEAP_CASES is a number"))
}

/// First seed, to run one case alone.
fn first() -> u64 {
    std::env::var("NEAP_FIRST").map_or(1, |text| text.parse().expect("NEAP_FIRST is a number"))
}

fn say(text: &str) {
    writeln!(std::io::stderr(), "{text}").expect("standard error can be written");
}

/// What was seen of the plans of some modules.
#[derive(Default)]
struct Plans {
    coverage: Coverage,
    made: u64,
    /// Those that are no other plan's twin.
    judged: u64,
    stale: u64,
}

#[test]
fn every_subset_of_passes_keeps_the_meaning() {
    let tallies = campaign::each_seed(first()..first() + cases(), |seed, plans: &mut Plans| {
        let case = Case::new(seed);
        if std::env::var_os("NEAP_SHOW").is_some() {
            say(&case.text);
        }
        for profile in PROFILES.into_iter().filter(|profile| campaign::fits(&case, profile)) {
            let applied = case.applied(profile);
            let expected = applied.expected();
            let mut seen = BTreeSet::new();
            for subset in campaign::subsets(seed, profile, cases()) {
                let planned = match applied.plan(&subset) {
                    Ok(planned) => planned,
                    Err(error) if !subset.contains("lock-effects") && error.contains(STALE) => {
                        plans.stale += 1;
                        continue;
                    }
                    Err(error) => return Err(format!("{profile}, {subset}: {error}\n{}", case.text)),
                };
                plans.made += 1;
                if subset == campaign::FULL && profile == "none" {
                    plans.coverage.count(&case, &planned);
                }
                // A pass that has nothing to do makes a plan that was judged already.
                let text = campaign::text(&planned);
                if seen.contains(&text) {
                    continue;
                }
                if let Err(why) = applied.judge(&planned, &expected) {
                    return Err(format!("{profile}, {subset}: {why}\n{}\n{text}", case.text));
                }
                plans.judged += 1;
                seen.insert(text);
            }
        }
        Ok(())
    });
    let mut sum = Plans::default();
    for plans in &tallies {
        sum.coverage.add(&plans.coverage);
        (sum.made, sum.judged, sum.stale) = (sum.made + plans.made, sum.judged + plans.judged, sum.stale + plans.stale);
    }
    let Plans { coverage, made, judged, stale } = sum;
    say(&format!(
        "random modules: {made} plans, {judged} of them different, all accepted and executed; {stale} without locks refused for a stale view\n{coverage}"
    ));
    // One case alone is looked at for its own sake.
    if cases() >= FEW {
        coverage.require();
    }
}

/// A mutant keeps the figures of the plan that it was, and is not refused for them.
fn counts(violation: &Violation) -> bool {
    !violation.is_figure()
}

/// Mutants by kind: how many were made, compute something else, and are refused of these; and the ones that are not.
#[derive(Default)]
struct Mutants {
    table: BTreeMap<&'static str, [u64; 3]>,
    escapes: Vec<(u64, String)>,
}

#[test]
fn a_plan_that_computes_something_else_is_refused() {
    let tallies = campaign::each_seed(first()..first() + cases(), |seed, mutants: &mut Mutants| {
        let case = Case::new(seed);
        let applied = case.applied("none");
        let expected = applied.expected();
        let planned = applied.plan(campaign::FULL).map_err(|error| format!("{error}\n{}", case.text))?;
        for (at, (kind, change)) in mutate::KINDS.iter().enumerate() {
            for round in 0..2 {
                let mut rng = Rng(seed * 1000 + at as u64 * 10 + round);
                let mut mutant = planned.clone();
                if !change(&mut mutant, campaign::main_function(&planned), &mut rng) {
                    continue;
                }
                let differs = !applied.same(&mutant, &expected);
                let report = applied.check(&mutant);
                let refused = report.violations.iter().any(counts) || neap_ir::verify(&mutant).is_err();
                let row = mutants.table.entry(kind).or_default();
                row[0] += 1;
                row[1] += u64::from(differs);
                row[2] += u64::from(differs && refused);
                if differs && !refused {
                    let text = format!("{kind}, round {round}:\n{}\n{}", case.text, campaign::text(&mutant));
                    mutants.escapes.push((seed, text));
                }
            }
        }
        Ok(())
    });
    let (mut table, mut escapes) = (BTreeMap::<&str, [u64; 3]>::new(), Vec::new());
    for mutants in tallies {
        for (kind, counted) in mutants.table {
            table.entry(kind).or_default().iter_mut().zip(counted).for_each(|(sum, count)| *sum += count);
        }
        escapes.extend(mutants.escapes);
    }
    escapes.sort();
    let rows: Vec<String> = table
        .iter()
        .map(|(kind, [tried, differ, refused])| {
            format!("  {kind:22} tried {tried:6}  differ {differ:6}  of these refused {refused:6}")
        })
        .collect();
    let sum = |column: usize| table.values().map(|row| row[column]).sum::<u64>();
    let shown = format!("mutated plans: {} of {} that differ are refused\n{}", sum(2), sum(1), rows.join("\n"));
    say(&shown);
    for (seed, escape) in escapes.iter().take(9) {
        say(&format!("accepted, though it computes something else: seed {seed}, {escape}"));
    }
    assert!(sum(2) * 1000 >= sum(1) * 999, "{shown}");
    if cases() >= FEW {
        assert!(table.len() == mutate::KINDS.len() && table.values().all(|row| row[1] > 0), "{shown}");
    }
}

/// Models with state, calls and loops, in three runs: those in `testdata/tflite`, and with `NEAP_SHARED` the larger ones there.
#[test]
fn models_compute_the_same_in_every_run() {
    let mut files = Vec::new();
    let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tflite");
    let of = |folder: &std::path::Path| -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "tflite"));
        files.sort();
        files
    };
    files.extend(of(&own));
    if let Some(shared) = std::env::var_os("NEAP_SHARED") {
        let stateful = |path: &std::path::PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            ["litert_call_once", "litert_multi", "mww_", "tflm_"].iter().any(|prefix| name.starts_with(prefix))
        };
        let more: Vec<_> = of(&std::path::Path::new(&shared).join("models")).into_iter().filter(stateful).collect();
        assert!(!more.is_empty(), "no models under NEAP_SHARED");
        files.extend(more);
    }
    let mut states = 0;
    for file in files {
        let bytes = std::fs::read(&file).expect("it can be read");
        let module =
            neap_import::read_tflite(&bytes).unwrap_or_else(|errors| panic!("{}: {errors:#?}", file.display()));
        for profile in PROFILES {
            let applied = campaign::Applied::of(&module, profile, vec![kernels::Dims::new()]);
            let expected = applied.expected();
            states += usize::from(expected.iter().any(|(_, world)| !world.variables.is_empty()));
            let planned = applied.plan(campaign::FULL).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            applied.judge(&planned, &expected).unwrap_or_else(|why| panic!("{}, {profile}: {why}", file.display()));
            say(&format!("{} with profile {profile}: three runs agree", file.display()));
        }
    }
    assert!(states > 0, "no model has state");
}

#[test]
fn a_broken_rule_is_noticed() {
    for (rule, text) in broken::RULES {
        let mut facts = Facts::builtin();
        facts.add_table(text, "a false table").expect("the table is well-formed");
        let [mut refused, mut differ, mut escaped] = [0u64; 3];
        let mut seed = 0;
        while (refused < 3 || differ == 0) && seed < 1500 {
            seed += 1;
            let case = Case::new(seed);
            let applied = case.applied("none");
            // What is false may also keep the passes from making a plan at all.
            let Ok(planned) = applied.plan_with(campaign::FULL, &facts) else { continue };
            let accepted = applied.check(&planned).accepted();
            refused += u64::from(!accepted);
            if !applied.same(&planned, &applied.expected()) {
                differ += 1;
                escaped += u64::from(accepted);
            }
        }
        say(&format!("`{rule}`: {refused} refused, {differ} of them compute something else, in {seed} modules"));
        assert!(refused > 0 && differ > 0, "`{rule}` is false and was not noticed in {seed} modules");
        assert_eq!(escaped, 0, "`{rule}`: a plan that computes something else was accepted");
    }
}
