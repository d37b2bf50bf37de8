//! Memory-aware ordering of a task graph, with proofs.
//!
//! [`solve()`] takes a [`Problem`] (ops, storages that they write and read, dependencies, candidates for sharing bytes) and returns the order
//! whose peak of live bytes is least, or the best it found together with a lower bound. Plain data in, plain data out: the crate knows no IR, no
//! clock and no files.

mod attempt;
mod beam;
mod bound;
mod budget;
mod certificate;
mod choices;
mod cones;
mod csr;
mod cursor;
mod cut;
mod deadlock;
mod error;
mod exact;
mod explain;
#[cfg(test)]
mod fixtures;
mod flow;
mod greedy;
mod ids;
mod infeasible;
mod latency;
mod matching;
mod model;
mod portfolio;
mod problem;
mod replay;
mod shuffle;
mod simulate;
mod solution;
mod solve;
mod states;
mod subtree;
mod taken;
mod tighten;
mod topo;
mod tree;
mod turns;
mod validate;
mod window;

pub use budget::{budget_answer, fits_budget};
pub use certificate::{Certificate, FlowEdge, Node, SetFlow};
pub use error::{OrderError, Place, ProblemError, Refusal};
pub use explain::{Change, Holder, WhatIfError, Why, holders, what_if};
pub use ids::{ClassId, GroupId, OpId, StorageId};
pub use latency::makespan;
pub use portfolio::quick;
pub use problem::{Class, InPlace, Op, Placement, Problem, Spec, Storage};
pub use simulate::{Merged, Simulation, simulate};
pub use solution::{
    BudgetAnswer, Failure, InfeasibleProof, Options, OrderMode, Progress, Proof, Schedule, Solution, Stats, Watch,
};
pub use solve::solve;
pub use taken::{Taken, merged, refusal};
