//! The registry: one line per pass, one per named pipeline.

use crate::pass::PassInfo;
use crate::pipeline::NamedPipeline;

/// Hands the names of all passes to another macro: the modules (in `lib.rs`) and the table below come from one list, so that a
/// pass is one line.
macro_rules! each_pass {
    ($then:ident) => {
        $then! {
            fuse,
            canonicalize_views,
            lock_effects,
            rematerialize,
            reorder,
            assign_offsets,
            cse,
            dce,
            strip_plan,
            // New passes go above this line.
        }
    };
}

macro_rules! table {
    ($($pass:ident,)*) => {
        /// Every pass, in the order of `--list-passes`.
        pub static PASSES: &[&PassInfo] = &[$(&crate::$pass::INFO),*];
    };
}

each_pass!(table);

/// Every named pipeline.
#[rustfmt::skip]
pub static PIPELINES: &[NamedPipeline] = &[
    NamedPipeline {
        name: "plan",
        summary: "fuse, share bytes, order, place: what `neap plan` runs",
        passes: "fuse,canonicalize-views,lock-effects,reorder,assign-offsets",
    },
    NamedPipeline {
        name: "plan-recompute",
        summary: "the same, with values computed again to meet a budget: what `neap plan --rematerialize` runs",
        passes: "fuse,canonicalize-views,lock-effects,rematerialize,reorder,assign-offsets",
    },
];
