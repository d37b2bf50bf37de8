//! A case: what a user runs, one after the other, in the case's folder.

use crate::agree;
use crate::expect::{self, Said};
use crate::scale::{self, Scale};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The passes that keep the order of the input.
const LISTED: &str = "--pass-pipeline=canonicalize-views,lock-effects,reorder{order=input},assign-offsets";

/// How a case stands.
pub(crate) enum State {
    /// All of it is as it should be.
    Holds,
    /// What is missing.
    Pending(String),
    /// What is wrong.
    Fails(String),
}

/// `case.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// The fault, in a few words.
    #[expect(dead_code, reason = "for the reader of the file")]
    title: String,
    /// Why no plan is refused here; all other cases have one that is.
    no_wrong_plan: Option<String>,
    /// What does not exist yet, when not even a run of it can be written.
    pending: Option<String>,
    #[serde(default)]
    run: Vec<Run>,
    #[serde(default)]
    scale: Vec<Scale>,
}

/// One command and what it has to do.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// After `neap`, as in a shell with single quotes; `$listed` keeps the order of the input, `$tmp` is a folder of the case's own.
    args: String,
    #[serde(default)]
    exit: i32,
    /// On either stream.
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    silent: Vec<String>,
    /// Fields of the summary by JSON pointer.
    #[serde(default)]
    pub(crate) json: BTreeMap<String, serde_json::Value>,
    /// Half-open steps of the storage that a value lies in.
    #[serde(default)]
    pub(crate) live: BTreeMap<String, [u64; 2]>,
    #[serde(default)]
    pub(crate) offset: BTreeMap<String, u64>,
    /// Bytes of a value's storage.
    #[serde(default)]
    pub(crate) size: BTreeMap<String, u64>,
    /// The arena of a value.
    #[serde(default)]
    pub(crate) arena: BTreeMap<String, String>,
    /// Lists of values of which no two share a byte.
    #[serde(default)]
    pub(crate) apart: Vec<Vec<String>>,
    /// Lists of values that are one storage.
    #[serde(default)]
    pub(crate) together: Vec<Vec<String>>,
    /// The summary says the same as text, as JSON and as a table, to the byte, and its parts add up. With `--summary=full`.
    #[serde(default)]
    agree: bool,
    /// Files in `$tmp` that hold these integers one after the other, of 32 bits, the lowest byte first.
    #[serde(default)]
    words: BTreeMap<String, Vec<i32>>,
    /// Files in `$tmp` that hold this text.
    #[serde(default)]
    holds: BTreeMap<String, String>,
    /// So many times, with the same bytes out each time.
    #[serde(default)]
    repeat: u32,
    /// The name under which its plan is kept.
    keep: Option<String>,
    /// The kept plan that this one equals: the same place and time for every name.
    same_as: Option<String>,
    /// What it waits for.
    pending: Option<String>,
}

/// Plans that later runs are compared with.
type Kept = BTreeMap<String, serde_json::Value>;

impl Case {
    /// Runs the case of a folder.
    pub(crate) fn run(folder: &Path) -> State {
        let text = match std::fs::read_to_string(folder.join("case.toml")) {
            Ok(text) => text,
            Err(error) => return State::Fails(format!("{}: {error}", folder.join("case.toml").display())),
        };
        let case: Case = match toml::from_str(&text) {
            Ok(case) => case,
            Err(error) => return State::Fails(error.to_string()),
        };
        case.state(folder)
    }

    fn state(&self, folder: &Path) -> State {
        let refused = |run: &Run| run.args.starts_with("check ") && run.exit == 1;
        if self.no_wrong_plan.is_none() && self.pending.is_none() && !self.run.iter().any(refused) {
            return State::Fails("no plan is refused here".to_owned());
        }
        let tmp = match tempfile::tempdir() {
            Ok(tmp) => tmp,
            Err(error) => return State::Fails(error.to_string()),
        };
        let (mut wrong, mut waits) = (Vec::new(), Vec::from_iter(self.pending.clone()));
        let mut kept = Kept::new();
        for run in &self.run {
            match (run.go(folder, tmp.path(), &mut kept), &run.pending) {
                (Ok(()), None) => {}
                (Err(_), Some(why)) => waits.push(why.clone()),
                (Ok(()), Some(_)) => wrong.push(format!("`neap {}` holds now: it waits for nothing", run.args)),
                (Err(why), None) => wrong.push(format!("neap {}\n{why}", run.args)),
            }
        }
        wrong.extend(self.scale.iter().filter_map(|scale| scale::measure(scale, tmp.path()).err()));
        match (wrong.is_empty(), waits.is_empty()) {
            (true, true) => State::Holds,
            (true, false) => State::Pending(waits.join("; ")),
            (false, _) => State::Fails(wrong.join("\n\n")),
        }
    }
}

impl Run {
    fn go(&self, folder: &Path, tmp: &Path, kept: &mut Kept) -> Result<(), String> {
        let first = self.once(folder, tmp)?;
        for _ in 1..self.repeat {
            if self.once(folder, tmp)? != first {
                return Err("another run says something else".to_owned());
            }
        }
        let mut wrong = Vec::new();
        if first.exit != self.exit {
            wrong.push(format!("exit code {} instead of {}", first.exit, self.exit));
        }
        let all = format!("{}{}", first.out, first.err);
        wrong.extend(self.says.iter().filter(|text| !all.contains(*text)).map(|text| format!("nothing says `{text}`")));
        wrong.extend(self.silent.iter().filter(|text| all.contains(*text)).map(|text| format!("it says `{text}`")));
        if let Some(summary) = &first.summary {
            expect::summary(self, summary, &mut wrong);
        } else if !self.json.is_empty() {
            wrong.push("there is no summary".to_owned());
        }
        self.files(tmp, &mut wrong);
        if self.agree {
            let table = std::fs::read_to_string(tmp.join("summary.csv")).unwrap_or_default();
            let none = serde_json::Value::Null;
            agree::compare(first.summary.as_ref().unwrap_or(&none), &table, &first.out, &mut wrong);
        }
        if let Some(name) = &self.same_as
            && kept.get(name) != first.summary.as_ref().map(expect::places).as_ref()
        {
            wrong.push(format!("the plan is not the one kept as `{name}`"));
        }
        if let (Some(name), Some(summary)) = (&self.keep, &first.summary) {
            kept.insert(name.clone(), expect::places(summary));
        }
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}\n{all}", wrong.join("\n"))) }
    }

    /// Looks into what was written.
    fn files(&self, tmp: &Path, wrong: &mut Vec<String>) {
        let words = self.words.iter().map(|(name, words)| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            (name, bytes, format!("{words:?}"))
        });
        let texts = self.holds.iter().map(|(name, text)| (name, text.clone().into_bytes(), format!("`{text}`")));
        for (name, bytes, what) in words.chain(texts) {
            match std::fs::read(tmp.join(name)) {
                Ok(file) if file.windows(bytes.len().max(1)).any(|window| window == bytes) => {}
                Ok(_) => wrong.push(format!("{name} does not hold {what}")),
                Err(error) => wrong.push(format!("{name}: {error}")),
            }
        }
    }

    fn once(&self, folder: &Path, tmp: &Path) -> Result<Said, String> {
        let here = tmp.display().to_string();
        let mut args: Vec<String> =
            words(&self.args).iter().map(|arg| arg.replace("$listed", LISTED).replace("$tmp", &here)).collect();
        let summary = tmp.join("summary.json");
        let plans = args.first().is_some_and(|verb| verb == "plan");
        if plans {
            drop(std::fs::remove_file(&summary));
            args.extend(["-o".to_owned(), summary.display().to_string()]);
            if self.agree {
                args.extend(["-o".to_owned(), tmp.join("summary.csv").display().to_string()]);
            }
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_neap"));
        let output = command.args(&args).current_dir(folder).output().map_err(|error| error.to_string())?;
        Said::new(&output, plans.then_some(&summary))
    }
}

/// Words with blanks between them; none splits within single quotes, which go.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut quoted, mut open) = (Vec::new(), false, false);
    for c in text.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                continue;
            }
            c if c.is_whitespace() && !quoted => {
                open = false;
                continue;
            }
            _ => {}
        }
        if !open {
            words.push(String::new());
            open = true;
        }
        if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    words
}
