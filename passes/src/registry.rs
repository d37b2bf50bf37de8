//! The registry: one line per pass.

use crate::pass::PassInfo;

/// Every pass, in the order of `--list-passes`.
pub static PASSES: &[&PassInfo] = &[];
