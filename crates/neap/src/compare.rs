//! What changed between two summaries, and why: one list of rows behind text, JSON and CSV.
//!
//! The arena of a function changes by what its peak changes and by what is lost between storages; the peak changes by the storages that come to
//! it, that leave it, and that have another size there. These parts add up exactly. Values that are new or gone, other sizes and another order
//! are said besides, since they are what a person can act on.

pub mod read;
pub mod render;

use read::{Function, Storage, Summary};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::collections::BTreeSet;

/// What a row is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// Bytes of the arena.
    Arena,
    /// Bytes of one of several arenas.
    OneArena,
    /// Most bytes held at one step.
    Peak,
    /// Bytes lost between storages.
    Lost,
    /// What no order can do better than.
    Floor,
    /// Bytes that outlive a run; only where there are any.
    State,
    /// A storage that is held at the peak now and was not.
    AtPeakNow,
    /// A storage that was held at the peak and is not now.
    AtPeakBefore,
    /// A storage at both peaks, with another size.
    AtPeakResized,
    /// A storage of another size, anywhere.
    Resized,
    /// A value that was not there.
    ValueNew,
    /// A value that is not there any more.
    ValueGone,
    /// Values that are made at another place in the order: how many of those that both have.
    Moved,
}

/// One thing that changed, or a figure that did not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Row {
    /// Without `@`.
    pub function: String,
    /// What it is about.
    pub what: What,
    /// Of a storage its first value, of a value itself; empty for figures.
    pub name: String,
    /// Before, in bytes; none where there was nothing.
    pub old: Option<u64>,
    /// Now, in bytes; none where there is nothing.
    pub new: Option<u64>,
    /// `new - old`.
    pub delta: i128,
    /// For people.
    pub why: String,
}

/// The growth that is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Bytes.
    Bytes(u64),
    /// Millionths of what was.
    Millionths(u64),
}

impl Limit {
    /// Whether an arena grew by more.
    pub fn exceeded(self, old: u64, new: u64) -> bool {
        let grown = u128::from(new.saturating_sub(old));
        match self {
            Limit::Bytes(most) => grown > u128::from(most),
            Limit::Millionths(most) => grown * 1_000_000 > u128::from(old) * u128::from(most),
        }
    }
}

/// Two summaries side by side.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Comparison {
    /// Of this object.
    pub version: u32,
    /// The first summary's file.
    pub old: String,
    /// The second one's.
    pub new: String,
    /// The growth that is allowed, as given.
    pub max_growth: String,
    /// What the two plans do not have in common, so that figures may differ for that reason alone: the profile, the graph.
    pub notes: Vec<String>,
    /// Functions of which an arena or the state grew by more.
    pub grown: Vec<String>,
    /// Function by function, figures first.
    pub rows: Vec<Row>,
}

/// Compares. `limit` is the growth that is allowed, and how it was written.
pub fn compare(old: &Summary, new: &Summary, limit: (Limit, &str)) -> Comparison {
    let (before, now) = (by_name(old), by_name(new));
    let (mut rows, mut grown) = (Vec::new(), Vec::new());
    let nothing = Function::default();
    for function in &new.functions {
        let other = before.get(function.name.as_str()).copied();
        let old = other.unwrap_or(&nothing);
        let each = arenas(old, function).into_iter().any(|(_, old, new)| limit.0.exceeded(old, new));
        // State is never in an arena, and the device has to hold it as well.
        let state = limit.0.exceeded(old.state(), function.state());
        // What a model needs by itself is no growth of the arena that it shares.
        if !function.inside && (each || state || limit.0.exceeded(old.plan.arena, function.plan.arena)) {
            grown.push(function.name.clone());
        }
        Sides { name: &function.name, old, new: function, there: [other.is_some(), true] }.rows(&mut rows);
    }
    for function in old.functions.iter().filter(|function| !now.contains_key(function.name.as_str())) {
        Sides { name: &function.name, old: function, new: &nothing, there: [true, false] }.rows(&mut rows);
    }
    let notes = apart(&before, new);
    let (old, new) = (old.file.clone(), new.file.clone());
    Comparison { version: 1, old, new, max_growth: limit.1.to_owned(), notes, grown, rows }
}

/// What functions that both have do not have in common.
fn apart(before: &FxHashMap<&str, &Function>, new: &Summary) -> Vec<String> {
    let pairs = || new.functions.iter().filter_map(|now| Some((*before.get(now.name.as_str())?, now)));
    let differ = |old: &str, new: &str| !old.is_empty() && !new.is_empty() && old != new;
    let profiles: BTreeSet<(&str, &str)> = pairs()
        .map(|(old, now)| (old.profile.as_str(), now.profile.as_str()))
        .filter(|(old, now)| differ(old, now))
        .collect();
    let mut notes: Vec<String> = profiles
        .into_iter()
        .map(|(old, now)| {
            format!("the plans are for different profiles, {old} and {now}: what may share bytes differs")
        })
        .collect();
    let graphs: Vec<&str> = pairs()
        .filter(|(old, now)| differ(&old.fingerprint, &now.fingerprint))
        .map(|(_, now)| now.name.as_str())
        .collect();
    if let Some(first) = graphs.first() {
        let more =
            if graphs.len() == 1 { String::new() } else { format!(" and of {} more functions", graphs.len() - 1) };
        notes.push(format!("the plans are of different graphs: the fingerprints of @{first}{more} differ"));
    }
    notes
}

/// The arenas of a function by name, with what is used of each before and now, where there are several.
fn arenas<'a>(old: &'a Function, new: &'a Function) -> Vec<(&'a str, u64, u64)> {
    if old.arenas.len().max(new.arenas.len()) < 2 {
        return Vec::new();
    }
    let used =
        |of: &Function, name: &str| of.arenas.iter().find(|arena| arena.name == name).map_or(0, |arena| arena.used);
    let gone = old.arenas.iter().filter(|arena| new.arenas.iter().all(|other| other.name != arena.name));
    let all = new.arenas.iter().chain(gone);
    all.map(|arena| (arena.name.as_str(), used(old, &arena.name), used(new, &arena.name))).collect()
}

fn by_name(summary: &Summary) -> FxHashMap<&str, &Function> {
    summary.functions.iter().map(|function| (function.name.as_str(), function)).collect()
}

/// A figure of a function, where it is known.
type Figure = fn(&Function) -> Option<u64>;

/// The figures that every function has.
const FIGURES: [(What, Figure); 4] = [
    (What::Arena, |function| Some(function.plan.arena)),
    (What::Peak, |function| Some(function.plan.peak)),
    (What::Lost, |function| Some(function.plan.arena.saturating_sub(function.plan.peak))),
    (What::Floor, Function::floor),
];

/// A function before and now.
struct Sides<'a> {
    name: &'a str,
    old: &'a Function,
    new: &'a Function,
    there: [bool; 2],
}

impl Sides<'_> {
    fn row(&self, what: What, name: &str, old: Option<u64>, new: Option<u64>, why: impl Into<String>) -> Row {
        let delta = i128::from(new.unwrap_or(0)) - i128::from(old.unwrap_or(0));
        Row { function: self.name.to_owned(), what, name: name.to_owned(), old, new, delta, why: why.into() }
    }

    fn rows(&self, rows: &mut Vec<Row>) {
        let [old, new] = self.there;
        let why = match self.there {
            [false, _] => "the function is new",
            [_, false] => "the function is gone",
            _ => "",
        };
        for (what, of) in FIGURES {
            let mut row = self.row(what, "", of(self.old).filter(|_| old), of(self.new).filter(|_| new), why);
            if old && new && row.old.is_some() != row.new.is_some() {
                // What is not known of one side is no difference.
                (row.delta, row.why) = (0, "known of one side only".to_owned());
            }
            rows.push(row);
        }
        let state = [self.old, self.new].map(Function::state);
        if state != [0, 0] {
            rows.push(self.row(What::State, "", Some(state[0]).filter(|_| old), Some(state[1]).filter(|_| new), why));
        }
        if !(old && new) {
            return;
        }
        for (arena, before, now) in arenas(self.old, self.new) {
            rows.push(self.row(What::OneArena, arena, Some(before), Some(now), ""));
        }
        self.at_peak(rows);
        self.resized(rows);
        self.values(rows);
        if let Some((moved, of)) = moved(self.old, self.new) {
            let why = format!("of {of} values that both have are made at another place");
            rows.push(Row { delta: i128::from(moved), ..self.row(What::Moved, "", Some(0), Some(moved), why) });
        }
    }

    /// Storages at the two peaks, each with at most one of the other side: the differences add up to that of the peak.
    fn at_peak(&self, rows: &mut Vec<Row>) {
        let (old, new) = (self.old.at_peak(), self.new.at_peak());
        let free = owners(&old);
        let known = owners(&self.old.storages.iter().collect::<Vec<_>>());
        let mut left: Vec<bool> = vec![true; old.len()];
        let mut found = Vec::new();
        for storage in &new {
            let twin = storage.keys().find_map(|key| free.get(key.as_str()).copied().filter(|at| left[*at]));
            match twin {
                Some(at) => {
                    left[at] = false;
                    if old[at].size != storage.size {
                        let row = (Some(old[at].size), Some(storage.size), resize(old[at], storage));
                        found.push(self.row(What::AtPeakResized, &storage.name(), row.0, row.1, row.2));
                    }
                }
                None => {
                    let was = storage.keys().find_map(|key| known.get(key.as_str()));
                    let held = storage.keys().find_map(|key| free.get(key.as_str()));
                    let why = match (held, was) {
                        (Some(at), _) => format!("lay in the bytes of {}", old[*at].name()),
                        (None, Some(_)) => "was not held there: order or lifetime changed".to_owned(),
                        (None, None) => "new".to_owned(),
                    };
                    found.push(self.row(What::AtPeakNow, &storage.name(), None, Some(storage.size), why));
                }
            }
        }
        let here = owners(&self.new.storages.iter().collect::<Vec<_>>());
        for (storage, _) in old.iter().zip(&left).filter(|(_, left)| **left) {
            let is = storage.keys().any(|key| here.contains_key(key.as_str()));
            let why = if is { "is not held there any more: order or lifetime changed" } else { "gone" };
            found.push(self.row(What::AtPeakBefore, &storage.name(), Some(storage.size), None, why));
        }
        found.sort_by_key(|row| std::cmp::Reverse(row.delta.abs()));
        rows.extend(found);
    }

    /// Storages of another size than those in which the same first value lay.
    fn resized(&self, rows: &mut Vec<Row>) {
        let old: Vec<&Storage> = self.old.storages.iter().collect();
        let known = owners(&old);
        let mut found = Vec::new();
        for storage in &self.new.storages {
            let twin = storage.keys().next().and_then(|key| known.get(key.as_str())).map(|at| old[*at]);
            if let Some(twin) = twin.filter(|twin| twin.size != storage.size) {
                let (old, new) = (Some(twin.size), Some(storage.size));
                found.push(self.row(What::Resized, &storage.name(), old, new, resize(twin, storage)));
            }
        }
        found.sort_by_key(|row| std::cmp::Reverse(row.delta.abs()));
        rows.extend(found);
    }

    /// Values by name; their bytes are those of the storage that they lie in.
    fn values(&self, rows: &mut Vec<Row>) {
        let names = |function: &Function| -> FxHashSet<String> {
            function.storages.iter().flat_map(|storage| storage.names.iter().cloned()).collect()
        };
        let (before, now) = (names(self.old), names(self.new));
        let of = |function: &Function, other: &FxHashSet<String>| -> Vec<(String, u64)> {
            let all =
                function.storages.iter().flat_map(|storage| storage.names.iter().map(move |name| (name, storage)));
            all.filter(|(name, _)| !other.contains(*name)).map(|(name, storage)| (name.clone(), storage.size)).collect()
        };
        let largest = |mut list: Vec<(String, u64)>| {
            list.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
            list
        };
        for (name, size) in largest(of(self.new, &before)) {
            rows.push(self.row(What::ValueNew, &name, None, Some(size), "bytes of the storage that it lies in"));
        }
        for (name, size) in largest(of(self.old, &now)) {
            rows.push(self.row(What::ValueGone, &name, Some(size), None, "bytes of the storage that it lay in"));
        }
    }
}

/// For each value or scratch, which of the storages it lies in.
fn owners(storages: &[&Storage]) -> FxHashMap<String, usize> {
    let all = storages.iter().enumerate().flat_map(|(at, storage)| storage.keys().map(move |key| (key, at)));
    all.collect()
}

/// Why a storage has another size.
fn resize(old: &Storage, new: &Storage) -> String {
    if old.ty != new.ty && old.names.first() == new.names.first() {
        return format!("{} is now {}", old.ty, new.ty);
    }
    if old.names == new.names { "other padding, scratch or bytes" } else { "shares its bytes with other values" }
        .to_owned()
}

/// Of the values that both sides make at a step, how many are out of the old order, and how many there are; none where all are in order.
fn moved(old: &Function, new: &Function) -> Option<(u64, u64)> {
    let before: FxHashMap<String, u32> = old.made().collect();
    let mut common: Vec<(u32, u32, String)> =
        new.made().filter_map(|(name, step)| Some((step, *before.get(&name)?, name))).collect();
    common.sort();
    // The longest run that is in order on both sides; the others moved.
    let mut ends: Vec<u32> = Vec::new();
    for (_, step, _) in &common {
        let at = ends.partition_point(|end| end <= step);
        if at == ends.len() { ends.push(*step) } else { ends[at] = *step }
    }
    let moved = common.len() - ends.len();
    (moved > 0).then_some((moved as u64, common.len() as u64))
}
