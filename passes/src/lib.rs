//! neap's passes: what is fused, what shares bytes, what is locked, when each operation runs, where each storage lies.
//!
//! Each pass is one file (or one folder), one line in the registry, one folder of golden tests. Passes do no input or output
//! and know no clock.

#[macro_use]
pub mod registry;

pub mod analysis;
pub mod callees;
pub mod certificate;
pub mod effects;
pub mod locks;
pub mod params;
pub mod pass;
pub mod pipeline;
pub mod priced;
pub mod profile;
mod random;
pub mod recomputed;
pub mod shape;
pub mod suggest;

macro_rules! modules {
    ($($pass:ident,)*) => {
        $(pub mod $pass;)*
    };
}

each_pass!(modules);
