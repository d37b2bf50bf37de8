//! The house rules that a compiler does not check: who may know whom, what a file opens with, what a pass consists of, what no file
//! may say. Reads `cargo metadata` and the sources.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file past this is two ideas.
const LONGEST: usize = 600;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root")
}

/// Files that git knows or would add, relative to the root, with their text; pictures and models are left out.
fn sources() -> Vec<(String, String)> {
    let list = ["ls-files", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(list).current_dir(root()).output();
    let listed = output.ok().filter(|output| output.status.success());
    let names: Vec<String> = match listed {
        Some(output) => String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect(),
        // An unpacked archive has no git.
        None => walk(root()),
    };
    let read = |name: String| Some((name.clone(), std::fs::read_to_string(root().join(&name)).ok()?));
    let found: Vec<_> = names.into_iter().filter_map(read).collect();
    assert!(found.len() > 50, "only {} files found: this test looks at nothing", found.len());
    found
}

fn walk(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().filter_map(|entry| Some(entry.ok()?.path())) {
            let name = path.file_name().unwrap_or_default();
            if path.is_dir() && name != "target" && name != ".git" {
                folders.push(path);
            } else if path.is_file() {
                found.push(path.strip_prefix(root()).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

fn rust() -> Vec<(String, String)> {
    let found: Vec<_> = sources().into_iter().filter(|(name, _)| name.ends_with(".rs")).collect();
    assert!(found.len() > 30, "only {} Rust files found", found.len());
    found
}

/// Direct dependencies of each workspace package, without those of tests.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let args = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let output = Command::new(cargo).args(args).current_dir(root()).output().expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let of = |package: &Value| {
        let list = package["dependencies"].as_array().cloned().unwrap_or_default();
        list.iter()
            .filter(|dependency| dependency["kind"] != "dev")
            .map(|dependency| text(&dependency["name"]))
            .collect()
    };
    packages.iter().map(|package| (text(&package["name"]), of(package))).collect()
}

fn report(rule: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "{rule}:\n  {}", wrong.join("\n  "));
}

#[test]
fn arrows_point_down() {
    let arrows = arrows();
    let ours: BTreeSet<&str> = arrows.keys().map(String::as_str).collect();
    // Who may know whom of ours: all else is an arrow that must never be.
    let allowed: &[(&str, &[&str])] = &[
        ("neap-ir", &[]),
        ("neap-order", &[]),
        ("neap-pack", &[]),
        ("neap-report", &[]),
        ("neap-spill", &["neap-pack"]),
        ("neap-check", &["neap-ir"]),
        ("neap-import", &["neap-ir"]),
        ("neap-emit", &["neap-import", "neap-ir"]),
        ("neap-passes", &["neap-ir", "neap-order", "neap-pack"]),
    ];
    let mut wrong = Vec::new();
    for (package, may) in allowed {
        for other in arrows[*package].iter().filter(|other| ours.contains(other.as_str())) {
            if !may.contains(&other.as_str()) {
                wrong.push(format!("{package} -> {other}"));
            }
        }
    }
    wrong.extend(
        arrows
            .iter()
            .filter(|(name, to)| *name != "neap-passes" && to.contains("egg"))
            .map(|(name, _)| format!("{name} -> egg")),
    );
    report("arrows that must never be", &wrong);
}

#[test]
fn passes_know_no_files_no_clock_and_no_terminal_and_only_fuse_knows_egg() {
    let words = [
        "std::fs",
        "std::io",
        "std::net",
        "std::process",
        "std::env",
        "Instant",
        "SystemTime",
        "println!",
        "eprintln!",
    ];
    let mut wrong = Vec::new();
    let mut fuse_uses_egg = false;
    for (name, text) in rust().into_iter().filter(|(name, _)| name.starts_with("passes/src/")) {
        // Tests may read their inputs.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code: String =
            code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        wrong.extend(words.iter().filter(|word| code.contains(**word)).map(|word| format!("{name}: {word}")));
        let egg = code.contains("egg::");
        let fuse = name == "passes/src/fuse.rs" || name.starts_with("passes/src/fuse/");
        fuse_uses_egg |= egg && fuse;
        wrong.extend((egg && !fuse).then(|| format!("{name}: egg")));
    }
    report("passes do no input or output", &wrong);
    assert!(fuse_uses_egg, "`fuse` does not use egg: this test looks for the wrong word");
}

#[test]
fn the_solvers_and_the_checker_know_no_clock() {
    let mut wrong = Vec::new();
    for (name, text) in rust() {
        let solver = ["crates/order/src/", "crates/pack/src/", "crates/spill/src/", "crates/check/src/", "ir/src/"]
            .iter()
            .any(|folder| name.starts_with(folder));
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for word in ["Instant::now", "SystemTime", "std::fs", "std::net", "std::process"] {
            wrong.extend((solver && code.contains(word)).then(|| format!("{name}: {word}")));
        }
    }
    report("time and files come in through the driver", &wrong);
}

#[test]
fn every_file_says_what_it_is_for_and_is_one_idea() {
    let mut wrong = Vec::new();
    for (name, text) in rust() {
        if !text.starts_with("//! ") {
            wrong.push(format!("{name} does not open with `//! `"));
        }
        let lines = text.lines().count();
        if lines > LONGEST {
            wrong.push(format!("{name} has {lines} lines, {LONGEST} is the most"));
        }
    }
    report("files", &wrong);
}

#[test]
fn a_pass_is_a_file_a_line_and_a_folder() {
    let sources = sources();
    let has = |name: &str| sources.iter().any(|(other, _)| other == name);
    let mut wrong = Vec::new();
    let names: BTreeSet<&str> = neap_passes::registry::PASSES.iter().map(|pass| pass.name).collect();
    assert!(names.len() >= 5, "only {} passes in the registry", names.len());
    assert_eq!(names.len(), neap_passes::registry::PASSES.len(), "two passes have one name");
    for name in &names {
        let file = format!("passes/src/{}.rs", name.replace('-', "_"));
        match sources.iter().find(|(other, _)| *other == file) {
            None => wrong.push(format!("pass `{name}` has no {file}")),
            Some((_, text)) => {
                let header: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
                for heading in ["Effect", "Soundness", "Statistics"] {
                    if !header.contains(&format!("//! # {heading}").as_str()) {
                        wrong.push(format!("{file} has no heading `# {heading}`"));
                    }
                }
            }
        }
        let inside = |suffix: &str| {
            sources.iter().any(|(other, _)| other.starts_with(&format!("testdata/{name}/")) && other.ends_with(suffix))
        };
        wrong.extend((!inside(".mlir")).then(|| format!("testdata/{name} has no test")));
        let miss = sources.iter().any(|(other, text)| {
            other.starts_with(&format!("testdata/{name}/"))
                && other.ends_with(".mlir")
                && (other.contains("_not") || text.contains("// -----") || text.matches("func.func").count() > 1)
        });
        wrong
            .extend((!miss).then(|| format!("testdata/{name} has no near miss (`*_not.mlir`, or a further function)")));
    }
    for (name, text) in &sources {
        // A pass that is registered nowhere, a snapshot without an input, an input without a snapshot.
        if name.starts_with("passes/src/")
            && text.contains("PassInfo {")
            && text.contains("name: \"")
            && !name.ends_with("tests.rs")
        {
            let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().replace('_', "-");
            let folder = Path::new(name)
                .parent()
                .and_then(Path::file_name)
                .unwrap_or_default()
                .to_string_lossy()
                .replace('_', "-");
            if !names.contains(stem.as_str()) && !names.contains(folder.as_str()) && !name.ends_with("pass.rs") {
                wrong.push(format!("{name} is in no line of the registry"));
            }
        }
        if let Some(folder) =
            name.strip_prefix("testdata/").and_then(|rest| rest.split_once('/')).map(|(folder, _)| folder)
            && names.contains(folder)
        {
            let pair = name.strip_suffix(".snap").map_or_else(|| format!("{name}.snap"), str::to_owned);
            wrong.extend((!has(&pair)).then(|| format!("{name} has no {pair}")));
        }
    }
    report("passes", &wrong);
}

#[test]
fn the_project_speaks_of_the_project_alone() {
    // Put together here, so that this file does not hold them.
    let machine = ["/wo", "/ro", "/ho"].iter().zip(["rk/", "ot/", "me/"]).map(|(a, b)| format!("{a}{b}"));
    let hosts = ["static.crates", "index.crates", "files.pythonhosted", "registry.npmjs", "deb.debian"]
        .iter()
        .map(|host| format!("{host}."));
    let forbidden: Vec<String> = machine.chain(hosts).chain([format!("{}{}", "../sha", "red")]).collect();
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        // Cargo writes the registry's name into the lock file.
        if name == "Cargo.lock" || name.ends_with("/Cargo.lock") {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            wrong.extend(
                forbidden
                    .iter()
                    .filter(|word| line.contains(word.as_str()))
                    .map(|word| format!("{name}:{}: {word}", number + 1)),
            );
        }
    }
    report("paths of machines and hosts of registries", &wrong);
}

#[test]
fn every_exception_to_a_lint_has_a_reason_and_nothing_is_unfinished() {
    let marks =
        [["to", "do!("].concat(), ["unimple", "mented!("].concat(), ["FIX", "ME"].concat(), ["#[ig", "nore"].concat()];
    let mut wrong = Vec::new();
    for (name, text) in rust() {
        for (number, line) in text.lines().enumerate() {
            wrong.extend(
                marks
                    .iter()
                    .filter(|mark| line.contains(mark.as_str()))
                    .map(|mark| format!("{name}:{}: {mark}", number + 1)),
            );
        }
        wrong.extend(text.contains(&["unsafe", " {"].concat()).then(|| format!("{name}: unsafe")));
    }
    report("signs of something unfinished", &wrong);
}

#[test]
fn paths_in_the_documents_exist() {
    let sources = sources();
    let exists = |path: &str| root().join(path).exists();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for document in ["README.md", "ARCHITECTURE.md"] {
        let (_, text) =
            sources.iter().find(|(name, _)| name == document).unwrap_or_else(|| panic!("{document} is missing"));
        for word in text.split('`').skip(1).step_by(2) {
            let tops = ["ir/", "passes/", "crates/", "profiles/", "testdata/", "xtask/", "fuzz/", ".ci/", ".cargo/"];
            let path = PathBuf::from(word);
            if tops.iter().any(|top| word.starts_with(top))
                && !word.contains(['*', '<', ' ', '{'])
                && !word.contains("NAME")
                && !word.replace('_', "-").contains("drop-marks")
            {
                seen += 1;
                wrong.extend((!exists(word)).then(|| format!("{document}: {}", path.display())));
            }
        }
    }
    assert!(seen > 5, "only {seen} paths found");
    report("paths that are not there", &wrong);
}
