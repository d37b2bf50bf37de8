//! What the user asks for, one file per verb.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod emit;
pub(crate) mod import;
pub(crate) mod opt;
pub(crate) mod pack;
pub(crate) mod plan;
pub(crate) mod report;
