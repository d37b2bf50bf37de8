//! The registry: one line per pass, one per named pipeline.

use crate::pass::PassInfo;
use crate::pipeline::NamedPipeline;

/// Every pass, in the order of `--list-passes`.
#[rustfmt::skip]
pub static PASSES: &[&PassInfo] = &[
    &crate::fuse::INFO,
    &crate::canonicalize_views::INFO,
    &crate::lock_effects::INFO,
    &crate::reorder::INFO,
    &crate::assign_offsets::INFO,
    &crate::cse::INFO,
    &crate::dce::INFO,
    &crate::strip_plan::INFO,
];

/// Every named pipeline.
#[rustfmt::skip]
pub static PIPELINES: &[NamedPipeline] = &[
    NamedPipeline {
        name: "plan",
        summary: "fuse, share bytes, order, place: what `neap plan` runs",
        passes: "fuse,canonicalize-views,lock-effects,reorder,assign-offsets",
    },
];
