//! neap's passes: what is fused, what shares bytes, what is locked, when each operation runs, where each storage lies.
//!
//! Each pass is one file (or one folder), one line in the registry, one folder of golden tests. Passes do no input or output
//! and know no clock.

pub mod analysis;
pub mod assign_offsets;
pub mod callees;
pub mod canonicalize_views;
pub mod certificate;
pub mod cse;
pub mod dce;
pub mod effects;
pub mod fuse;
pub mod lock_effects;
pub mod locks;
pub mod params;
pub mod pass;
pub mod pipeline;
pub mod profile;
pub mod registry;
pub mod reorder;
pub mod shape;
pub mod strip_plan;
pub mod suggest;
