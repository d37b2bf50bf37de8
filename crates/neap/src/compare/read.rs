//! Summaries as files: the fields that are compared, whoever wrote the others.

use crate::exit::Failure;
use crate::input;
use crate::streams::Streams;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The format that is read.
const VERSION: u32 = 1;

/// A summary.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Summary {
    /// The file that it is from.
    #[serde(skip)]
    pub file: String,
    version: u32,
    /// Whether it is that of several models in one arena: then its first function stands for all of them.
    #[serde(skip)]
    pub joint: bool,
    #[serde(default)]
    input: String,
    #[serde(default)]
    profile: String,
    /// The functions; of several buckets or models, those of all, by names that tell them apart.
    pub functions: Vec<Function>,
    #[serde(default)]
    buckets: Option<Buckets>,
}

/// Several models in one arena.
#[derive(Clone, Debug, Deserialize)]
struct Together {
    version: u32,
    plan: Joint,
    summaries: Vec<Summary>,
}

#[derive(Clone, Debug, Deserialize)]
struct Joint {
    arena: u64,
    #[serde(default)]
    arenas: Vec<Shared>,
    state: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct Shared {
    name: String,
    bytes: u64,
}

#[derive(Clone, Debug, Deserialize)]
struct Buckets {
    dim: String,
    table: Vec<Bucket>,
}

#[derive(Clone, Debug, Deserialize)]
struct Bucket {
    low: u64,
    high: u64,
    functions: Vec<Function>,
}

/// A function.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Function {
    /// Without `@`.
    pub name: String,
    /// Identifies the graph that was planned; empty where that is not said.
    #[serde(default)]
    pub fingerprint: String,
    /// The profile that it was planned for; empty where that is not said.
    #[serde(skip)]
    pub profile: String,
    /// Whether it lies in an arena that is compared as a whole.
    #[serde(skip)]
    pub inside: bool,
    /// Its figures.
    pub plan: Plan,
    #[serde(default)]
    bytes: Bytes,
    peak_step: Option<PeakStep>,
    /// Its arenas, in order of preference.
    #[serde(default)]
    pub arenas: Vec<Arena>,
    /// What has bytes of its own.
    pub storages: Vec<Storage>,
}

/// An arena of a function.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Arena {
    /// Without `@`.
    pub name: String,
    /// The largest end of a storage in it.
    pub used: u64,
}

/// Bytes outside of the arena.
#[derive(Clone, Debug, Default, Deserialize)]
struct Bytes {
    #[serde(default)]
    state: u64,
}

/// Figures of a plan.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Plan {
    /// Bytes of the arena.
    pub arena: u64,
    /// Most bytes held at one step.
    pub peak: u64,
    lower_bound: u64,
    order_proof: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct PeakStep {
    storages: Vec<usize>,
}

/// Values that share bytes.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Storage {
    /// As the model calls its values.
    pub names: Vec<String>,
    /// What makes each.
    made: Vec<String>,
    /// What writes first.
    op: String,
    /// Type of the first value.
    #[serde(rename = "type")]
    pub ty: String,
    /// Bytes.
    pub size: u64,
}

impl Summary {
    /// Reads a summary; `-` is the standard input.
    ///
    /// # Errors
    /// The file is none, or one of another version.
    pub fn read(path: &Path, streams: &mut Streams<'_>) -> Result<Summary, Failure> {
        let (name, text) = input::named_text(path, streams)?;
        let wrong = |why: String| {
            Failure::input(format!("`{name}` is no summary of a plan: {why}"))
                .help("`neap plan FILE -o SUMMARY.json` writes one")
        };
        let joint = serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|value| value.get("slots").is_some());
        let mut summary: Summary = match joint {
            true => serde_json::from_str::<Together>(&text).map(Together::whole),
            false => serde_json::from_str(&text),
        }
        .map_err(|error| match error.is_eof() && !text.trim().is_empty() {
            true => wrong(format!("it is cut off in the middle ({error})")),
            false => wrong(error.to_string()),
        })?;
        if summary.version != VERSION {
            return Err(wrong(format!("its version is {}, {VERSION} is read", summary.version)));
        }
        if let Some(buckets) = summary.buckets.take() {
            summary.functions = buckets.functions();
        }
        if !joint {
            summary.functions.iter_mut().for_each(|function| function.profile.clone_from(&summary.profile));
        }
        for function in &summary.functions {
            let held = function.peak_step.iter().flat_map(|peak| &peak.storages);
            if let Some(at) = held.into_iter().find(|at| **at >= function.storages.len()) {
                return Err(wrong(format!("@{} holds storage {at} at its peak and has none such", function.name)));
            }
        }
        summary.file = name;
        Ok(summary)
    }
}

impl Together {
    /// One function for the arena that all share and for their state, then those of each model.
    fn whole(self) -> Summary {
        let Joint { arena, arenas: several, state } = self.plan;
        let plan = Plan { arena, peak: arena, lower_bound: 0, order_proof: "none".to_owned() };
        let shared = |name: &str, used: u64| Arena { name: name.to_owned(), used };
        let mut arenas: Vec<Arena> = several.iter().map(|one| shared(&one.name, one.bytes)).collect();
        if arenas.is_empty() {
            arenas.push(shared("shared", arena));
        }
        arenas.push(shared("state", state));
        let all = Function { name: "all models".to_owned(), plan, arenas, ..Function::default() };
        let mut functions = vec![all];
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for summary in self.summaries {
            let count = seen.entry(summary.input.clone()).or_default();
            *count += 1;
            // The same file again is told apart by its number.
            let model = if *count == 1 { summary.input } else { format!("{}#{count}", summary.input) };
            let own = summary.buckets.map_or(summary.functions, Buckets::functions);
            functions.extend(own.into_iter().map(|function| Function {
                name: format!("{} of {model}", function.name),
                inside: true,
                profile: summary.profile.clone(),
                ..function
            }));
        }
        Summary { version: self.version, joint: true, functions, ..Summary::default() }
    }
}

impl Buckets {
    fn functions(self) -> Vec<Function> {
        let mut all = Vec::new();
        for bucket in self.table {
            let range = format!("[{}={}..{}]", self.dim, bucket.low, bucket.high);
            all.extend(bucket.functions.into_iter().map(|mut function| {
                function.name += &range;
                function
            }));
        }
        all
    }
}

impl Function {
    /// What is held at the peak, largest first.
    pub fn at_peak(&self) -> Vec<&Storage> {
        let held = self.peak_step.iter().flat_map(|peak| &peak.storages);
        held.map(|at| &self.storages[*at]).collect()
    }

    /// Bytes that outlive a run: the device holds them beside the arena.
    pub fn state(&self) -> u64 {
        self.bytes.state
    }

    /// What no order can do better than, where that is known.
    pub fn floor(&self) -> Option<u64> {
        (self.plan.order_proof != "none").then_some(self.plan.lower_bound)
    }

    /// Values with the steps at which they are made.
    pub fn made(&self) -> impl Iterator<Item = (String, u32)> {
        let pairs = self.storages.iter().flat_map(|storage| storage.names.iter().zip(&storage.made));
        pairs.filter_map(|(name, made)| Some((name.clone(), made.split_once('@')?.1.parse().ok()?)))
    }
}

impl Storage {
    /// What people call it.
    pub fn name(&self) -> String {
        self.names.first().cloned().unwrap_or_else(|| format!("scratch of {}", self.op))
    }

    /// What it is found again by: its values, or whose scratch it is.
    pub fn keys(&self) -> impl Iterator<Item = String> {
        let scratch = self.names.is_empty().then(|| self.name());
        self.names.iter().cloned().chain(scratch)
    }
}
