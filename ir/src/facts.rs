//! Op facts: one table that says, for every known op of every dialect, what passes and the checker
//! may rely on. No pass holds knowledge about a named op; a new op is a new row.
//!
//! The tables are data, one TOML file per dialect in `ir/facts`, embedded into the library. Users add
//! theirs with [`Facts::add_table`]; a later row replaces an earlier one of the same name.
//!
//! Sound because silence is conservative: an op in no table may do anything and shares nothing,
//! a row without `effects` may do anything, a row without `inplace` or `views` shares nothing.
//!
//! Facts know names only. Ops whose meaning hangs on how many operands or results they have (an
//! `onnx.Dropout` without a training flag) have a narrower row as well, which [`Facts::of`] finds;
//! [`Facts::get`] always answers with the general one.

mod row;
mod stub;
mod table;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

pub use row::{Access, Body, Effect, InPlace, Indices, Key, OpFacts, Param, Resource, Role, Rule, Run, View, ViewOf};
pub use stub::stub;

/// The embedded tables: file name and text.
const TABLES: &[(&str, &str)] = &[
    ("arith.toml", include_str!("../facts/arith.toml")),
    ("async.toml", include_str!("../facts/async.toml")),
    ("func.toml", include_str!("../facts/func.toml")),
    ("linalg.toml", include_str!("../facts/linalg.toml")),
    ("math.toml", include_str!("../facts/math.toml")),
    ("memref.toml", include_str!("../facts/memref.toml")),
    ("neap.toml", include_str!("../facts/neap.toml")),
    ("npu.toml", include_str!("../facts/npu.toml")),
    ("onnx.toml", include_str!("../facts/onnx.toml")),
    ("scf.toml", include_str!("../facts/scf.toml")),
    ("stablehlo.toml", include_str!("../facts/stablehlo.toml")),
    ("tensor.toml", include_str!("../facts/tensor.toml")),
    ("tfl.toml", include_str!("../facts/tfl.toml")),
    ("tosa.toml", include_str!("../facts/tosa.toml")),
];

static BUILTIN: LazyLock<Facts> = LazyLock::new(|| {
    let mut facts = Facts { ops: Arc::default(), pure_dialects: BTreeSet::new() };
    for (file, text) in TABLES {
        if let Err(error) = facts.add_table(text, file) {
            panic!("embedded table of op facts: {error}");
        }
    }
    facts
});
static UNKNOWN: LazyLock<OpFacts> = LazyLock::new(OpFacts::unknown);
static PURE: LazyLock<OpFacts> = LazyLock::new(|| OpFacts::pure(Role::Opaque));

/// The table of op facts. Cheap to clone: the rows are shared.
#[derive(Clone, Debug)]
pub struct Facts {
    ops: Arc<FxHashMap<String, Entry>>,
    pure_dialects: BTreeSet<String>,
}

/// All rows of one op.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// Rows that hold only for some numbers of operands and results, in the order of the table.
    narrow: Vec<(When, OpFacts)>,
    /// The row that always holds.
    general: Option<OpFacts>,
}

/// The condition of a narrow row, on the numbers of data operands and data results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct When {
    max_operands: usize,
    max_results: usize,
}

impl Facts {
    /// The embedded tables, parsed once per process.
    #[must_use]
    pub fn builtin() -> Facts {
        BUILTIN.clone()
    }

    /// The general row of the op `name` (with its dialect: `tfl.conv_2d`), or `None` if no table has
    /// it and its dialect is not assumed pure.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OpFacts> {
        self.find(name, None)
    }

    /// The row for an op with these numbers of data operands and results; an op in no table gets
    /// the conservative row.
    #[must_use]
    pub fn of(&self, name: &str, operands: usize, results: usize) -> &OpFacts {
        self.find(name, Some((operands, results))).unwrap_or(&UNKNOWN)
    }

    /// Adds the rows of a table. A row replaces all earlier rows of the same op.
    ///
    /// # Errors
    /// The first thing that is wrong in `text`, with its line. Nothing is added then.
    pub fn add_table(&mut self, text: &str, file: &str) -> Result<(), FactsError> {
        let entries = table::parse(text, file)?;
        Arc::make_mut(&mut self.ops).extend(entries);
        Ok(())
    }

    /// From now on takes every op of `dialect` about which nothing is known as a pure function of
    /// its operands. For a quick look only: it is not sound in general.
    pub fn assume_pure(&mut self, dialect: &str) {
        self.pure_dialects.insert(dialect.to_owned());
    }

    /// The names of all ops that have a row, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.ops.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    fn find(&self, name: &str, counts: Option<(usize, usize)>) -> Option<&OpFacts> {
        let row = self.ops.get(name).and_then(|entry| entry.pick(counts));
        let known = |row: &OpFacts| !row.may_do_anything() || row.body.run != Run::None;
        if !row.is_some_and(known) && self.is_assumed_pure(name) {
            return Some(&PURE);
        }
        row
    }

    fn is_assumed_pure(&self, name: &str) -> bool {
        let dialect = name.split_once('.').map_or(name, |(dialect, _)| dialect);
        self.pure_dialects.contains(dialect)
    }
}

impl Entry {
    fn pick(&self, counts: Option<(usize, usize)>) -> Option<&OpFacts> {
        let fits = |when: &When| {
            counts.is_some_and(|(operands, results)| operands <= when.max_operands && results <= when.max_results)
        };
        let narrow = self.narrow.iter().find(|(when, _)| fits(when));
        narrow.map(|(_, row)| row).or(self.general.as_ref())
    }
}

/// What is wrong in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactsError {
    /// The table's name, as given by the caller.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for FactsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for FactsError {}
