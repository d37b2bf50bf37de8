//! A budget that a plan does not keep, and what would help: each thing with what it brings and what it costs.

use serde::Serialize;

/// A budget that is not kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Missed {
    /// The function, without `@`.
    pub function: String,
    /// The arena, where the budget is one arena's.
    pub arena: Option<String>,
    /// Bytes that are there.
    pub budget: u64,
    /// Bytes that the plan takes.
    pub needed: u64,
    /// Bytes that every plan of the graph takes, as far as is known.
    pub floor: u64,
    /// Bytes that are missing.
    pub missing: u64,
    /// Whether there is a plan that keeps it.
    pub answer: Answer,
    /// What would help: what was computed, then estimates.
    pub helps: Vec<Help>,
}

/// Whether a plan of the graph as it is could keep a budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// None can: there is a proof.
    Cannot,
    /// None was found, and none is ruled out.
    NotFound,
}

/// What would help.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Help {
    /// What kind of thing it is.
    pub kind: HelpKind,
    /// What to do, in words.
    pub what: String,
    /// Bytes less, of the arena or of its peak.
    pub saves: u64,
    /// Bytes that are needed then.
    pub needs: u64,
    /// Whether that keeps the budget.
    pub fits: bool,
    /// What it costs, in `unit`; none where nobody has put a price on it.
    pub price: Option<u64>,
    /// What the price is counted in: cycles, arithmetic operations, bytes elsewhere.
    pub unit: Option<String>,
    /// Whether the figures are an estimate; else they were computed by making the plan, or by asking the solver.
    pub estimate: bool,
}

/// Kinds of things that help.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HelpKind {
    /// All values together that are worth computing again: `--rematerialize`.
    Recompute,
    /// One of these values.
    RecomputeValue,
    /// A value in another arena.
    OtherArena,
    /// An order that effects ask for.
    Lock,
    /// A value that is kept.
    Kept,
    /// A flag that holds bytes.
    Flag,
    /// An argument or result in the caller's own memory.
    External,
    /// An operation in tiles.
    Tiles,
    /// Smaller elements.
    ElementType,
}
