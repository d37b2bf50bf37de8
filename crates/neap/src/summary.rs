//! The summary: what a plan needs, what was gained, how far it is from the optimum, and what is not in the figure.
//!
//! One set of figures ([`Summary`]) behind all forms: the JSON object that scripts read is the struct itself, the texts are views of
//! it. All sizes are bytes; steps are half-open. The parts of `saved` add up to `source.peak - plan.arena`.

mod buckets;
mod chart;
mod collect;
mod csv;
mod full;
mod graph;
mod json;
mod missed;
mod needs;
mod next;
mod stages;
mod storages;
mod text;

use neap_report::Graph;
use serde::Serialize;
use std::collections::BTreeMap;

pub use buckets::{Bucket, Buckets, all};
pub use collect::{Inputs, collect};
pub use csv::csv;
pub use full::full;
pub use json::json;
pub use missed::{Answer, Help, HelpKind, Missed};
pub(crate) use needs::listed;
pub use needs::{Need, arena, joined, needs, total};
pub use stages::Stages;
pub(crate) use text::shown;
pub use text::text;

/// How text is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Look {
    /// Whether colours are used.
    pub colour: bool,
    /// How many characters a line holds.
    pub width: usize,
}

impl Look {
    /// Plain text for files.
    pub const PLAIN: Look = Look { colour: false, width: crate::streams::WIDTH };

    /// Text in a colour, by its number in the terminal's own palette.
    fn paint(self, colour: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// A run of the planner on one module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Summary {
    /// Of this object; grows when a field changes its meaning or goes.
    pub version: u32,
    /// Version of neap.
    pub neap: &'static str,
    /// The input as given.
    pub input: String,
    /// The runtime profile.
    pub profile: String,
    /// Whether the checker accepted the plan.
    pub check: Check,
    /// What the figures do not hold, for people.
    pub not_included: Vec<String>,
    /// In the order of the module; of several buckets, the largest one's.
    pub functions: Vec<Function>,
    /// One plan for each range of a dimension's sizes, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buckets: Option<Buckets>,
    /// Budgets that the plan does not keep, and what would help.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<Missed>,
    /// What each pass did to each function, in the order in which they ran.
    pub passes: Vec<Pass>,
}

/// Whether the plan was checked. A refused plan has no summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Executed on real bytes and accepted.
    Passed,
    /// The user asked for no check, or there was no plan to check.
    Skipped,
}

/// One function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Function {
    /// Without `@`.
    pub name: String,
    /// Identifies the graph that the plan was made for.
    pub fingerprint: String,
    /// Operations that take a step, after planning.
    pub ops: u64,
    /// Operations about which nothing is known, by name.
    pub unknown_ops: BTreeMap<String, u64>,
    /// Bytes of their results, by name: nothing of them is shared.
    pub unknown_bytes: BTreeMap<String, u64>,
    /// What is not in the arena, and what would be without sharing.
    pub bytes: Bytes,
    /// Before planning.
    pub source: Source,
    /// After planning.
    pub plan: Plan,
    /// What each kind of decision brought.
    pub saved: Saved,
    /// Where most bytes are held.
    pub peak_step: Option<PeakStep>,
    /// Each arena.
    pub arenas: Vec<Arena>,
    /// Everything that has bytes of its own.
    pub storages: Vec<Storage>,
    /// Values without a known size that were left out because the user said so.
    pub excluded: Vec<String>,
    /// What the flags that hold bytes cost, each by itself: `--keep`, `--pin`, `--external`; of the first sixteen.
    pub prices: Vec<Price>,
    /// What is computed again instead of being kept, and what that costs; none where it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recomputed: Option<Recomputing>,
    /// How many flags of the run have no price: beyond the first sixteen, out of time, or no plan without them.
    pub unpriced: u64,
    /// What the arena would need under a profile that allows every kind of sharing; none where that was not asked.
    pub freer: Option<u64>,
    /// What runs and what it touches, for pictures; none where nobody asked for one.
    #[serde(skip)]
    pub graph: Option<Graph>,
    /// What a runtime that re-sorts operations by itself makes of the model file; none where it does not.
    pub runtime_order: Option<RuntimeOrder>,
}

/// Peaks of a model file under the order that its runtime chooses by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RuntimeOrder {
    /// Of the file as it is given.
    pub as_given: u64,
    /// Of the file that the plan is written into.
    pub as_written: u64,
    /// In the plan's own order.
    pub plan: u64,
    /// Whether the session has to ask for the order of the file to have the plan's peak.
    pub needs_priority: bool,
}

/// What one flag costs: the arena with it, less the arena of the same plan without it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Price {
    /// `keep`, `pin` or `external`.
    pub flag: &'static str,
    /// The value as given.
    pub value: String,
    /// Bytes; negative where the arena is smaller with the flag.
    pub bytes: i64,
    /// Whether the search for the plan without the flag came to its end; else the flag costs these bytes at least.
    pub exact: bool,
}

/// Values that are computed again, so that nothing holds them where most is held.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Recomputing {
    /// What costs are counted in: `cycles` where every operation says its own, else `arithmetic operations`, an estimate from shapes.
    pub unit: &'static str,
    /// What one run of the function costs without.
    pub work: u64,
    /// What it costs more.
    pub extra: u64,
    /// Bytes that one operation holds by itself, whatever is computed again: the most of all operations.
    pub floor: u64,
    /// That operation, by the model's name.
    pub floor_op: String,
    /// Each value, in the order in which they were chosen.
    pub values: Vec<Recomputed>,
}

/// One value that is computed again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Recomputed {
    /// By the model's name.
    pub value: String,
    /// Its bytes.
    pub bytes: u64,
    /// What reads the new value first.
    pub reader: String,
    /// Operations that run once more for it.
    pub ops: u64,
    /// What they cost.
    pub extra: u64,
    /// The peak with the values before it, in a short search for an order.
    pub before: u64,
    /// The peak with this one as well.
    pub after: u64,
}

/// Bytes outside the arena, and totals.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Bytes {
    /// Constants and results that the runtime keeps.
    pub constants: u64,
    /// State that outlives a run.
    pub state: u64,
    /// Arguments and results in the caller's memory.
    pub external: u64,
    /// All tensors of a run, were none to share bytes.
    pub sum_of_tensors: u64,
    /// The largest scratch of an operation.
    pub scratch_max: u64,
    /// Whether the scratch of the runtime's kernels is in these figures.
    pub scratch: ScratchKnown,
}

/// How much is known of kernels' scratch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScratchKnown {
    /// It is all in the figures, or there is none.
    Known,
    /// Of some operations.
    Partial,
    /// Of none.
    #[default]
    Unknown,
}

/// The input as it is: its own order, nothing fused, no views, nothing in place, the same alignment and owners of arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Source {
    /// What the input is: a plan that is there already does not say what it was made from.
    pub of: Given,
    /// Most bytes held at one step.
    pub peak: u64,
    /// The first such step, in the given order.
    pub step: u32,
    /// What runs there, by the model's name; empty without operations.
    pub op: String,
}

/// What figures of the source are about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Given {
    /// The graph before planning.
    #[default]
    Input,
    /// The graph and the order of the plan itself: what fusion and order saved is not known.
    Plan,
}

/// The plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Plan {
    /// Most bytes held at one step.
    pub peak: u64,
    /// No order of the planned graph holds less at its peak.
    pub lower_bound: u64,
    /// Whether the peak is the bound.
    pub order_proof: Proof,
    /// What the bound rests on.
    pub proof_by: Option<ProofBy>,
    /// Bytes that the runtime has to provide, all arenas together.
    pub arena: u64,
    /// No offsets under this order need less.
    pub arena_lower_bound: u64,
    /// Whether the arena is that bound.
    pub offset_proof: Proof,
    /// What the base of the arena has to be a multiple of.
    pub base_align: u64,
    /// Cycles of the plan's order, operations of one `neap.pipe` one after the other, where all say their `neap.cycles`; an estimate from below.
    pub makespan: Option<u64>,
    /// Whether the user's time ran out before the search was done.
    pub time_limit_hit: bool,
    /// What ended the search for an order.
    pub search_end: SearchEnd,
    /// The peak of the best order, where the runtime's own packer needs more for it than for the order of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_peak: Option<u64>,
}

/// What ended a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchEnd {
    /// It came to its end.
    #[default]
    Done,
    /// Its effort was spent: a longer one might find a better order, or a better bound.
    Effort,
    /// What it had found was within the budget.
    Budget,
}

/// How good a figure is known to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// It meets its lower bound.
    Optimal,
    /// There is a bound below it.
    Gap,
    /// There is no bound.
    #[default]
    None,
}

/// What stands behind a lower bound on the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProofBy {
    /// A maximum flow, which the checker can verify.
    Flow,
    /// A search that ran dry.
    Search,
    /// The algorithm for trees.
    Tree,
}

/// What each kind of decision brought; may be negative. The sum is `source.peak - plan.arena`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Saved {
    /// Rewriting the graph.
    pub fuse: i64,
    /// Results that are parts of their operands.
    pub views: i64,
    /// Results that overwrite operands.
    pub in_place: i64,
    /// Parts that are written straight into the whole.
    pub placement: i64,
    /// Computing values again instead of keeping them, where that was asked for.
    pub recompute: i64,
    /// Running operations in another order.
    pub order: i64,
    /// 0, or negative: bytes lost between storages.
    pub packing: i64,
}

impl Saved {
    /// The parts by name, as people are told of them.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, i64); 7] {
        [
            ("fusion", self.fuse),
            ("views", self.views),
            ("in place", self.in_place),
            ("placement", self.placement),
            ("recompute", self.recompute),
            ("order", self.order),
            ("packing", self.packing),
        ]
    }
}

/// The step at which most bytes are held.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PeakStep {
    /// From 0.
    pub step: u32,
    /// What runs there, by the model's name.
    pub op: String,
    /// Ids of the storages held, largest first.
    pub storages: Vec<u32>,
}

/// One arena.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Arena {
    /// Without `@`.
    pub name: String,
    /// The largest end of a storage in it.
    pub used: u64,
    /// Most bytes held in it at one step.
    pub peak: u64,
    /// How large it is, where that is given.
    pub capacity: Option<u64>,
    /// What its storages' offsets are multiples of.
    pub align: u64,
}

/// Values that share bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Storage {
    /// From 0, within the function.
    pub id: u32,
    /// As the printed module spells them.
    pub values: Vec<String>,
    /// As the model calls them.
    pub names: Vec<String>,
    /// Where each value lies, in bytes from the storage's start.
    pub at: Vec<u64>,
    /// What makes each value, or needs the scratch: `arg0`, or `12.0@5` for result 0 of entry 12 of its graph in the model file, which starts at
    /// step 5; `-` where the file has no such entry, `~1` for the second value of its name in the source.
    pub made: Vec<String>,
    /// What writes first, by the model's name; empty for an argument.
    pub op: String,
    /// Type of the first value; empty for scratch.
    #[serde(rename = "type")]
    pub ty: String,
    /// Without `@`.
    pub arena: String,
    /// Bytes from the start of the arena; none without a plan.
    pub offset: Option<u64>,
    /// Bytes.
    pub size: u64,
    /// What the offset is a multiple of.
    pub align: u64,
    /// Half-open steps.
    pub live: [u32; 2],
    /// What it holds.
    pub kind: Kind,
}

/// What a storage holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An argument of the function.
    Argument,
    /// A result of the function.
    Result,
    /// What lives in between.
    Temporary,
    /// Bytes of one operation during its own step.
    Scratch,
    /// Bytes that outlive a run; never in the arena.
    State,
}

/// What one pass did to one function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Pass {
    /// Kebab-case.
    pub name: String,
    /// The function, without `@`.
    pub function: String,
    /// Whether anything changed.
    pub changed: bool,
    /// Counters.
    pub stats: BTreeMap<String, u64>,
}

/// The ranges of a dimension's sizes with what each needs; empty where there is one plan alone.
pub fn ranges(summary: &Summary) -> String {
    summary.buckets.as_ref().map_or(String::new(), Buckets::text)
}
