//! The answer as plain data.

use crate::problem::{BufferId, OpId, PoolId, ProblemError};
use std::fmt;

/// One step of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Event {
    /// An operation runs.
    Op(OpId),
    /// The spill of this number begins: the buffer leaves.
    Out(u32),
    /// The spill of this number ends: the buffer is back.
    In(u32),
}

/// A buffer that leaves its memory for a while.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Spill {
    /// Which one.
    pub buffer: BufferId,
    /// Where it comes back.
    pub offset: u64,
}

/// A schedule with places.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Plan {
    /// What happens, in order.
    pub events: Vec<Event>,
    /// By buffer: where it lies at first (0 for those that nothing touches).
    pub offsets: Vec<u64>,
    /// In the order in which they begin.
    pub spills: Vec<Spill>,
    /// Bytes that the spills move.
    pub traffic: u64,
    /// Cycles from the first start to the last end.
    pub makespan: u64,
}

/// Why there is no plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The problem is wrong.
    Problem(ProblemError),
    /// Even with everything spilled that can be, the buffers that must be there together were not placed.
    NoPlace {
        /// The memory.
        pool: PoolId,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Problem(error) => error.fmt(f),
            Failure::NoPlace { pool } => write!(f, "no places were found in memory {}", pool.0),
        }
    }
}

impl std::error::Error for Failure {}
