//! Which of several decisions is kept, measured on the module itself.
//!
//! Where bodies make the solver's view an estimate, the input's order is measured too and wins ties, so that the answer is never worse. Else, where
//! the order of least peak does not pack without loss, the other orders of the same peak are packed as the profile's runtime would,
//! and the lowest is taken.

use super::decide::{self, Ground};
use super::{Decision, apply, flow};
use crate::analysis::Flow;
use crate::analysis::pack_problem::{Packing, arenas};
use crate::assign_offsets::{pack, packer_of};
use crate::pass::Context;
use neap_ir::Module;
use neap_ir::diag::Diagnostic;
use neap_order::{Options, OrderMode};
use neap_pack::Method;

/// Effort for packing one order, in nodes.
const PACK_EFFORT: u64 = 20_000;

/// What the choice is made with.
pub(super) struct Choice<'a, 'f, 'c> {
    /// The function before anything was written.
    pub before: &'a Flow<'f>,
    /// What the decisions were made from.
    pub ground: &'a Ground,
    /// Facts and profile.
    pub cx: &'a Context<'c>,
}

impl<'f> Choice<'_, 'f, 'f> {
    /// Keeps the best decision in `decisions`, written into the module, and the function as it then stands in `after`. Says whether the
    /// module was touched.
    pub(super) fn best(
        &mut self,
        module: &mut Module,
        options: &Options,
        decisions: &mut Vec<Decision>,
        after: &mut Flow<'f>,
    ) -> Result<bool, Diagnostic> {
        if self.before.timeline.bodies.len() > 1 {
            return self.input(module, options, decisions, after);
        }
        self.alternatives(module, decisions, after)
    }

    fn input(
        &self,
        module: &mut Module,
        options: &Options,
        decisions: &mut Vec<Decision>,
        after: &mut Flow<'f>,
    ) -> Result<bool, Diagnostic> {
        if decisions.iter().all(|decision| decision.order.is_sorted()) {
            return Ok(false);
        }
        let keep = Options { order: OrderMode::Input, ..options.clone() };
        // Demands may need another order than the input's: then there is nothing to compare with.
        let Ok(kept) = decide::decide(module, self.before, self.ground, self.cx, &keep) else { return Ok(false) };
        let mut changed = apply::write(module, self.before, &self.ground.readers, &kept);
        let listed = flow(module, self.before.timeline.func, self.cx)?;
        if listed.profile.peak <= after.profile.peak {
            (*decisions, *after) = (kept, listed);
        } else {
            changed |= apply::write(module, self.before, &self.ground.readers, decisions);
        }
        Ok(changed)
    }

    fn alternatives(
        &self,
        module: &mut Module,
        decisions: &mut [Decision],
        after: &mut Flow<'f>,
    ) -> Result<bool, Diagnostic> {
        let [decision] = decisions else { return Ok(false) };
        let schedules = std::mem::take(&mut decision.answer.alternatives);
        let mut best = match schedules.is_empty() {
            true => return Ok(false),
            false => self.height(module, after)?,
        };
        let mut changed = false;
        let mut kept = (decision.order.clone(), decision.taken.clone());
        for schedule in schedules {
            if best <= after.profile.peak || (self.cx.stop)() {
                break;
            }
            decision.order = schedule.order.iter().map(|op| decision.answer.draft.ops[op.index()]).collect();
            decision.taken = schedule.taken;
            changed |= apply::write(module, self.before, &self.ground.readers, std::slice::from_ref(decision));
            let candidate = flow(module, self.before.timeline.func, self.cx)?;
            let height = self.height(module, &candidate)?;
            if candidate.profile.peak <= after.profile.peak && height < best {
                (best, *after) = (height, candidate);
                kept = (decision.order.clone(), decision.taken.clone());
            }
        }
        (decision.order, decision.taken) = kept;
        Ok(changed | apply::write(module, self.before, &self.ground.readers, std::slice::from_ref(decision)))
    }

    /// What the function needs when the profile's own packer places it.
    fn height(&self, module: &Module, flow: &Flow<'_>) -> Result<u64, Diagnostic> {
        let packing = Packing::new(module, flow, &arenas(module)?)?;
        let method = packer_of(self.cx.profile).unwrap_or(Method::Search);
        Ok(pack(&packing, method, PACK_EFFORT, self.cx.stop).height().unwrap_or(u64::MAX))
    }
}
