//! Shared by the checker's tests.

pub(crate) mod graph;
pub(crate) mod oracle;
pub(crate) mod planner;
