//! Plans for ranges of a dimension's sizes: which one to take, and what a size outside of all means.

use super::{Function, Need, Summary, listed};
use crate::size::grouped;
use serde::Serialize;
use std::fmt::Write;

/// One plan for each range of sizes; all lie in one arena.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Buckets {
    /// The dimension, as the flag names it.
    pub dim: String,
    /// Bytes of the arena: those of the bucket that needs most; of several arenas, all together.
    pub arena: u64,
    /// Of several arenas each: the bytes of the bucket that needs most of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arenas: Vec<Need>,
    /// What a size in no range means.
    pub outside: String,
    /// Ascending: the first whose `high` is not below the size is the one to take.
    pub table: Vec<Bucket>,
}

/// The plan of one range.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Bucket {
    /// The least size.
    pub low: u64,
    /// The largest size.
    pub high: u64,
    /// Bytes of the arena that this plan needs.
    pub arena: u64,
    /// The functions of the plan.
    pub functions: Vec<Function>,
}

impl Buckets {
    /// A line for the whole and one for each range.
    pub(super) fn text(&self) -> String {
        let bytes = grouped(self.arena.into());
        let mut out = match self.arenas.len() {
            0 => format!("buckets of {}: one arena of {bytes} B for all\n", self.dim),
            several => {
                let each = self.arenas.iter().map(|need| (need.name.as_str(), need.bytes, None));
                format!("buckets of {}: {several} arenas, {bytes} B for all: {}\n", self.dim, listed(each))
            }
        };
        for bucket in &self.table {
            let range = format!("{}..{}", grouped(bucket.low.into()), grouped(bucket.high.into()));
            let _ = writeln!(out, "  {range:<15} {:>12} B", grouped(bucket.arena.into()));
        }
        let _ = writeln!(out, "  other sizes     {}\nthe largest bucket:", self.outside);
        out
    }
}

/// The functions of all buckets, by names that tell them apart.
pub fn all(summary: &Summary) -> Vec<Function> {
    let Some(buckets) = &summary.buckets else { return summary.functions.clone() };
    let named = |bucket: &Bucket| {
        let range = format!("[{}={}..{}]", buckets.dim, bucket.low, bucket.high);
        let named = bucket
            .functions
            .iter()
            .map(move |function| Function { name: format!("{}{range}", function.name), ..function.clone() });
        named.collect::<Vec<Function>>()
    };
    buckets.table.iter().flat_map(named).collect()
}
