//! What the passes know about a function: steps, whose bytes a value's are, live ranges, storages, bytes per step.
//!
//! Plain data, computed from the module, the facts and the attributes of a plan alone; no pass keeps any of it across a change. Half-open
//! steps everywhere ([`timeline::Steps`]). The checker has its own.

pub mod attrs;
pub mod candidates;
pub mod live;
pub mod names;
pub mod order_problem;
pub mod pack_problem;
pub mod peak;
pub mod scratch;
pub mod storage;
pub mod timeline;
pub mod uses;
pub mod values;

use crate::profile::Profile as Runtime;
use live::Live;
use neap_ir::diag::Diagnostic;
use neap_ir::facts::Facts;
use neap_ir::{Module, OpId};
use peak::Profile;
use storage::{Scratch, Storages};
use timeline::Timeline;
use values::{Sharing, Values};

/// All that is known about a function as it stands.
#[derive(Clone, Debug)]
pub struct Flow<'f> {
    /// When each operation runs.
    pub timeline: Timeline<'f>,
    /// Whose bytes each value's are.
    pub values: Values,
    /// When each value is needed.
    pub live: Live,
    /// What operations need besides their values.
    pub scratch: Vec<Scratch>,
    /// What shares bytes.
    pub storages: Storages,
    /// Bytes per step.
    pub profile: Profile,
}

impl<'f> Flow<'f> {
    /// Looks at a function.
    ///
    /// # Errors
    /// What makes planning impossible: unstructured control flow, unknown sizes, sums above 2^63-1, sharing that cannot be.
    pub fn new(
        module: &Module,
        func: OpId,
        facts: &'f Facts,
        runtime: &Runtime,
        sharing: Sharing,
    ) -> Result<Flow<'f>, Diagnostic> {
        let timeline = Timeline::new(module, func, facts)?;
        let values = Values::new(module, &timeline, sharing.views)?;
        let live = Live::new(module, &timeline, &values);
        let scratch = scratch::of(module, &timeline, runtime)?;
        let storages = Storages::new(module, &timeline, &values, &live, sharing, &scratch)?;
        let profile = Profile::new(module, &timeline, &values, &storages)?;
        Ok(Flow { timeline, values, live, scratch, storages, profile })
    }
}
