//! Peaks between passes, so that the summary can say what each kind of decision brought.
//!
//! Rewriting and views are measured before the order is chosen, in the order of the input; what is written in place and what is placed
//! are measured in the order of the plan, with the other decisions as they are. Between them stand the order and what is computed again, which may show
//! in another order only: it has what it brings in the order of the input, or else what its pass found, and the order has the rest. So the parts
//! add up to the whole.

use crate::drive::Setup;
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, OpId};
use neap_passes::analysis::Flow;
use neap_passes::analysis::values::Sharing;
use std::collections::BTreeMap;

/// The pass that chooses the order: what ran before it kept the order of the input.
pub(super) const ORDERING: &str = "reorder";
/// The pass that has values computed again: a stage of its own.
const COPYING: &str = "rematerialize";

/// Peaks of functions before their order was chosen.
#[derive(Clone, Debug, Default)]
pub struct Stages(BTreeMap<String, Before>);

/// Peaks in the order of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Before {
    /// After rewriting, with no sharing.
    pub(super) rewritten: u64,
    /// After rewriting, with views.
    pub(super) viewed: u64,
    /// The same with values computed again.
    pub(super) recomputed: u64,
}

impl Stages {
    /// Notes the peaks of a function when its order is about to be chosen.
    pub fn before(&mut self, module: &Module, pass: &str, func: OpId, setup: &Setup) {
        if pass != ORDERING && pass != COPYING {
            return;
        }
        let name = module.sym_name(func).unwrap_or_default().to_owned();
        let views = Sharing { views: true, ..Sharing::NONE };
        let peaks = peak(module, func, setup, Sharing::NONE).ok().zip(peak(module, func, setup, views).ok());
        if let Some((rewritten, viewed)) = peaks {
            let known = self.0.entry(name).or_insert(Before { rewritten, viewed, recomputed: viewed });
            known.recomputed = viewed;
        }
    }

    pub(super) fn get(&self, function: &str) -> Option<Before> {
        self.0.get(function).copied()
    }
}

/// The peak of a function as it stands.
pub(super) fn peak(module: &Module, func: OpId, setup: &Setup, sharing: Sharing) -> Result<u64, Diagnostic> {
    flow(module, func, setup, sharing).map(|flow| flow.profile.peak)
}

/// All that is known of a function.
pub(super) fn flow<'f>(
    module: &Module,
    func: OpId,
    setup: &'f Setup,
    sharing: Sharing,
) -> Result<Flow<'f>, Diagnostic> {
    Flow::new(module, func, &setup.facts, &setup.profile, sharing)
}
