//! Schedules for cores with several small memories and pipes: which buffers leave their memory for a while, where each one lies, and
//! when everything runs.
//!
//! [`solve()`] takes a [`Problem`] (operations on pipes, the buffers that they touch, memories with capacities) and returns a [`Plan`]: an order with
//! spills, an offset for every stay of a buffer, the bytes that the spills move and the cycles that the whole takes. Plain data in, plain data out: the
//! crate knows no IR, no clock and no files.

mod clock;
mod evict;
mod hoist;
mod level;
mod order;
mod place;
mod plan;
mod problem;
mod rng;
mod solve;
mod stays;

pub use plan::{Event, Failure, Plan, Spill};
pub use problem::{Buffer, BufferId, Op, OpId, Pool, PoolId, Problem, ProblemError};
pub use solve::{Objective, Options, solve};
