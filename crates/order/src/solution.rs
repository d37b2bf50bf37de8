//! What a solver is asked and what it answers, as plain data.

use crate::certificate::Certificate;
use crate::error::OrderError;
use crate::ids::{ClassId, OpId, StorageId};
use crate::taken::Taken;
use std::ops::ControlFlow;

/// Which orders may be considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OrderMode {
    /// Search for the best order.
    #[default]
    Search,
    /// Keep the input's order; only candidates are decided.
    Input,
    /// The selection of MSC, a list scheduler for NPUs: net change, slack to the peak so far, critical path, id; a baseline.
    Msc,
    /// A random legal order, the same for the same seed; only candidates are decided.
    Shuffle(u64),
}

/// What to search for and how hard.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Options {
    /// Search effort in nodes (states looked at, moves tried, flow arcs scanned); the same answer on every machine.
    pub effort: u64,
    /// Which orders may be considered.
    pub order: OrderMode,
    /// Whether in-place candidates may be taken (required ones always are).
    pub in_place: bool,
    /// Whether placement candidates may be taken (required ones always are).
    pub placement: bool,
    /// Weight of the critical path against bytes in the greedy, in percent (0: bytes alone). With a positive weight the answer
    /// prefers a shorter makespan among orders whose peak exceeds the best by at most that share of the gap to the input's peak.
    pub latency_weight: u8,
    /// Stop as soon as the peak is at most, or the lower bound above, so many bytes.
    pub budget: Option<u64>,
    /// How many orders of equal peak to return besides the first.
    pub alternatives: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            effort: 2_000_000,
            order: OrderMode::Search,
            in_place: true,
            placement: true,
            latency_weight: 0,
            budget: None,
            alternatives: 0,
        }
    }
}

/// What stands behind `peak == lower_bound`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proof {
    /// Nothing: `lower_bound` may be below the optimum.
    None,
    /// [`Solution::certificate`] proves it.
    Flow,
    /// An exhausted search proves it.
    Search,
    /// The tree algorithm (Liu 1987) proves it.
    Tree,
}

/// Counters of a run, deterministic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Stats {
    /// Nodes of effort spent.
    pub nodes: u64,
    /// States stored by the exact search.
    pub states: u64,
    /// Free moves applied (Lemma A).
    pub free_moves: u64,
    /// Valleys committed, forwards and backwards (Lemma B).
    pub commits: u64,
    /// Maximum flows computed.
    pub flows: u64,
    /// Budgets refuted by the exact search.
    pub refuted: u64,
    /// Moves accepted by local search.
    pub moves: u64,
    /// Whether a limit (effort or the caller's stop) ended the search early.
    pub limited: bool,
}

/// A schedule with the candidates it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The order.
    pub order: Vec<OpId>,
    /// Candidates taken in it.
    pub taken: Taken,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// The order.
    pub order: Vec<OpId>,
    /// Candidates taken.
    pub taken: Taken,
    /// Representative of each storage after all unions.
    pub merged: Vec<StorageId>,
    /// The most bytes held in a step.
    pub peak: u64,
    /// The first step that holds `peak`.
    pub peak_step: usize,
    /// Peak of the input's order with nothing taken but what is required; `None` when that is no legal schedule.
    pub input_peak: Option<u64>,
    /// No order, with any candidates that the options allow, needs less.
    pub lower_bound: u64,
    /// What stands behind `peak == lower_bound`.
    pub proof: Proof,
    /// Flows that prove `Certificate::bound` (at most `lower_bound`).
    pub certificate: Option<Certificate>,
    /// Further schedules of the same peak, distinct.
    pub alternatives: Vec<Schedule>,
    /// Counters.
    pub stats: Stats,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// No order satisfies the classes.
    Infeasible {
        /// Why.
        proof: InfeasibleProof,
    },
    /// No order was found that satisfies the classes; there may be one.
    NotFound {
        /// Counters.
        stats: Stats,
    },
    /// The order that the options ask to keep is not legal.
    Order(OrderError),
}

/// Why no order can satisfy the classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InfeasibleProof {
    /// One op alone touches more of a class than is allowed.
    Op {
        /// The op.
        op: OpId,
        /// The class.
        class: ClassId,
        /// Storages of the class that must coexist during `op`, by their representative.
        storages: Vec<StorageId>,
    },
    /// All orders were searched.
    Search {
        /// Counters.
        stats: Stats,
    },
}

/// How a run is going.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Nodes of effort spent.
    pub nodes: u64,
    /// Peak of the best order so far.
    pub peak: u64,
    /// Proven lower bound so far.
    pub lower_bound: u64,
}

/// Called now and then; `Break` asks the solver to return the best it has.
pub type Watch<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Can the whole fit into a budget?
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetAnswer {
    /// Yes, with this.
    Fits(Box<Solution>),
    /// No order fits.
    Cannot {
        /// The best found, with its bound and proof.
        best: Box<Solution>,
        /// The op at which the bytes coexist.
        op: OpId,
        /// Storages that coexist there in every order (or, for proofs by search, in the best order found).
        storages: Vec<StorageId>,
    },
    /// Neither was shown.
    Unknown {
        /// The best found; the gap is `peak - lower_bound`.
        best: Box<Solution>,
    },
}
