//! Pictures of a plan: a page that opens from disk, an SVG for documents, a trace for viewers of timelines.
//!
//! - Plain data in, text out: nothing here opens a file, looks at a module or computes a figure. What a picture shows is what the summary
//!   says, number for number.
//! - A picture needs nothing but itself: no network, no font, no script from elsewhere.
//! - Sizes go up to 2^63-1, which is more than a script's numbers hold: larger ones than 2^53 travel as text.

mod columns;
pub mod html;
pub mod svg;
pub mod trace;

use serde::Serialize;

/// A plan to draw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Picture {
    /// The input as given.
    pub input: String,
    /// Version of neap.
    pub neap: String,
    /// The runtime profile.
    pub profile: String,
    /// Whether the checker accepted the plan.
    pub checked: bool,
    /// What the figures do not hold, for people.
    pub not_included: Vec<String>,
    /// In the order of the summary.
    pub functions: Vec<Function>,
    /// What each pass did.
    pub passes: Vec<Pass>,
}

/// One function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Function {
    /// Without `@`.
    pub name: String,
    /// Its figures.
    pub figures: Figures,
    /// What saved what, in the order of the ladder; the sum is `source_peak - arena`.
    pub saved: Vec<(&'static str, i64)>,
    /// In order of preference.
    pub arenas: Vec<Arena>,
    /// Everything that has bytes of its own.
    pub storages: Vec<Storage>,
    /// What runs and what it touches.
    pub graph: Graph,
    /// Further figures: constants, state and so on.
    pub others: Vec<(&'static str, u64)>,
}

/// The figures of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Bytes that the runtime has to provide.
    pub arena: u64,
    /// Most bytes held at one step.
    pub peak: u64,
    /// No order needs less; none where that is not known.
    pub lower_bound: Option<u64>,
    /// What stands behind the bound, for people.
    pub proof: String,
    /// Most bytes held at one step of the input as it was.
    pub source_peak: u64,
    /// Whether the source is the plan itself: then it stands in the plan's order.
    pub source_is_plan: bool,
    /// The first such step.
    pub source_step: u32,
    /// What runs there.
    pub source_op: String,
    /// The step at which most bytes are held; none without steps.
    pub peak_step: Option<u32>,
    /// What runs there.
    pub peak_op: String,
    /// Storages that are held there, largest first.
    pub at_peak: Vec<u32>,
}

/// One arena.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Arena {
    /// Without `@`.
    pub name: String,
    /// The largest end of a storage in it.
    pub used: u64,
    /// Most bytes held in it at one step.
    pub peak: u64,
    /// How large it is, where that is given.
    pub capacity: Option<u64>,
    /// What offsets in it are multiples of.
    pub align: u64,
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
    /// Bytes that outlive a run; never in an arena.
    State,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 5] = [Kind::Argument, Kind::Result, Kind::Temporary, Kind::Scratch, Kind::State];

    /// As summaries spell it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Argument => "argument",
            Kind::Result => "result",
            Kind::Temporary => "temporary",
            Kind::Scratch => "scratch",
            Kind::State => "state",
        }
    }
}

/// Values that share bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Storage {
    /// What it holds.
    pub kind: Kind,
    /// Index of its arena.
    pub arena: u32,
    /// Bytes from the start of the arena; none for state.
    pub offset: Option<u64>,
    /// Bytes.
    pub size: u64,
    /// What the offset is a multiple of.
    pub align: u64,
    /// Half-open steps.
    pub live: [u32; 2],
    /// What writes first; empty for an argument.
    pub op: String,
}

/// What runs, what it touches, and what is held meanwhile.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// Values with bytes, storage by storage.
    pub values: Vec<Value>,
    /// By step.
    pub ops: Vec<Op>,
    /// Bytes held during each step before planning.
    pub before: Vec<u64>,
    /// Bytes held during each step of the plan.
    pub after: Vec<u64>,
    /// What `before` is, for people.
    pub before_shows: &'static str,
}

/// A value with bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// As the model calls it; told apart by a number where several are called the same.
    pub name: String,
    /// As the printed module spells it.
    pub ssa: String,
    /// Its type as text.
    pub ty: String,
    /// The storage that it lies in.
    pub storage: u32,
    /// Bytes from the storage's start.
    pub at: u64,
    /// Its own bytes.
    pub bytes: u64,
    /// Half-open steps in which it is needed.
    pub live: [u32; 2],
}

/// An operation with a step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Op {
    /// Its kind, as `tfl.conv_2d`.
    pub kind: String,
    /// As the model calls it; else its first value.
    pub name: String,
    /// One past the last step inside it.
    pub end: u32,
    /// Values that it reads, by index, ascending.
    pub reads: Vec<u32>,
    /// Values that it makes, by index, ascending.
    pub makes: Vec<u32>,
}

/// What one pass did to one function.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Pass {
    /// Kebab-case.
    pub name: String,
    /// The function, without `@`.
    pub function: String,
    /// Whether anything changed.
    pub changed: bool,
    /// Counters.
    pub stats: Vec<(String, u64)>,
}

impl Function {
    /// Values of each storage, as ranges of indices: values stand storage by storage.
    pub fn values_of(&self) -> Vec<std::ops::Range<usize>> {
        let mut ranges = vec![0..0; self.storages.len()];
        for (at, value) in self.graph.values.iter().enumerate() {
            let range = &mut ranges[value.storage as usize];
            if range.end == 0 {
                *range = at..at;
            }
            range.end = at + 1;
        }
        ranges
    }

    /// What people call a storage: its first value, or whose scratch it is.
    pub fn storage_name(&self, storage: usize, values: &std::ops::Range<usize>) -> String {
        match self.graph.values.get(values.clone()) {
            Some([first, ..]) => first.name.clone(),
            _ => format!("scratch of {}", self.storages[storage].op),
        }
    }
}
