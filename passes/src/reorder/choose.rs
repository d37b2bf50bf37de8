//! Which of several decisions is kept, measured on the module itself.
//!
//! What counts is what the profile's own packer makes of an order, then its peak. The candidates are the solver's order of least peak, further ones of the
//! same peak where a function has no nested bodies, the input's order, and, where the runtime packs by a rule of its own, the best of these with
//! small moves. The search stops as soon as an order packs without loss, or within the budget. Where
//! bodies make the solver's view an estimate, this is also what makes the answer never worse than the input's order.

use super::decide::{self, Ground};
use super::{Decision, apply, flow, polish};
use crate::analysis::Flow;
use crate::analysis::pack_problem::{Packing, arenas_of};
use crate::analysis::timeline::EntryId;
use crate::assign_offsets::{pack, packer_of};
use crate::pass::Context;
use neap_ir::Module;
use neap_ir::diag::Diagnostic;
use neap_order::{OpId, Options, OrderMode, Taken};
use neap_pack::{Method, Outcome, Proof};

/// Effort for packing one order, in nodes times storages.
const PACK_EFFORT: u64 = 2_000_000;

/// So many operations are written and packed again at most, over all candidates.
const MOST_WORK: usize = 40_000;

/// How many candidates of a function are written and packed again.
pub(super) fn tries(before: &Flow<'_>) -> usize {
    MOST_WORK / before.timeline.entries.len().max(1)
}

/// What the choice is made with.
pub(super) struct Choice<'a, 'f> {
    /// The function before anything was written.
    pub before: &'a Flow<'f>,
    /// What the decisions were made from.
    pub ground: &'a Ground,
    /// Facts and profile.
    pub cx: &'a Context<'f>,
}

/// The orders of all bodies and what is taken in each.
type Plan = Vec<(Vec<EntryId>, Taken)>;

/// Bytes that a plan needs when it is packed, then its peak.
type Score = (u64, u64);

impl<'f> Choice<'_, 'f> {
    /// Keeps the best decision in `decisions`, written into the module, and the function as it then stands in `after`. Says whether the
    /// module was touched.
    pub(super) fn best(
        &self,
        module: &mut Module,
        options: &Options,
        decisions: &mut [Decision],
        after: &mut Flow<'f>,
    ) -> Result<bool, Diagnostic> {
        let tries = tries(self.before);
        let exact = self.before.timeline.bodies.len() == 1;
        // The comparison with the listed order is owed where the solver only estimates.
        let tries = if exact { tries } else { tries.max(1) };
        if exact && options.latency_weight > 0 {
            // Bytes were given for time: what needs fewer would take it back.
            return Ok(false);
        }
        let listed = decisions.iter().all(|decision| decision.order.is_sorted());
        if tries == 0 || (!exact && listed) {
            return Ok(false);
        }
        let enough = |score: Score| options.budget.is_some_and(|budget| score.0 <= budget);
        let (mut best, lossless) = self.score(module, after)?;
        if exact && (lossless || enough(best)) {
            return Ok(false);
        }
        let mut changed = false;
        let mut kept = plan(decisions);
        let mut waiting: Vec<Plan> = self.candidates(module, options, decisions).into_iter().take(tries).collect();
        waiting.reverse();
        let mut polishes = exact;
        loop {
            let next = waiting.pop().or_else(|| {
                let once = std::mem::take(&mut polishes);
                once.then(|| self.polished(decisions, &kept)).flatten()
            });
            let Some(candidate) = next else { break };
            set(decisions, &candidate);
            changed |= apply::write(module, self.before, &self.ground.readers, decisions);
            let found = flow(module, self.before.timeline.func, self.cx)?;
            let (score, lossless) = self.score(module, &found)?;
            if score < best {
                (best, kept, *after) = (score, candidate, found);
                if exact && (lossless || enough(best)) {
                    break;
                }
            }
            if (self.cx.stop)() {
                break;
            }
        }
        set(decisions, &kept);
        Ok(changed | apply::write(module, self.before, &self.ground.readers, decisions))
    }

    /// A plan with small moves that the runtime's own packer likes better; none where we pack ourselves.
    fn polished(&self, decisions: &[Decision], kept: &Plan) -> Option<Plan> {
        let (method, align) = (packer_of(self.cx.profile)?, self.cx.profile.align);
        let ([decision], [(order, taken)]) = (decisions, kept.as_slice()) else { return None };
        let ops = &decision.answer.draft.ops;
        let place = |id: &EntryId| ops.binary_search(id).ok().map(|at| OpId(at as u32));
        let order: Vec<OpId> = order.iter().map(place).collect::<Option<_>>()?;
        let better = polish::polish(&decision.answer, &order, taken, (method, align), self.cx.stop)?;
        Some(vec![(better.into_iter().map(|op| ops[op.index()]).collect(), taken.clone())])
    }

    /// Further plans, the most promising first.
    fn candidates(&self, module: &Module, options: &Options, decisions: &mut [Decision]) -> Vec<Plan> {
        let mut found = Vec::new();
        if let [decision] = decisions {
            let ops = &decision.answer.draft.ops;
            for schedule in std::mem::take(&mut decision.answer.alternatives) {
                found.push(vec![(schedule.order.iter().map(|op| ops[op.index()]).collect(), schedule.taken)]);
            }
        }
        let keep = Options { order: OrderMode::Input, ..options.clone() };
        // Demands may need another order than the input's: then that is no candidate. Else both have the same candidates to take.
        if let Ok(listed) = decide::decide(module, self.before, self.ground, self.cx, &keep) {
            let same = listed.iter().zip(&*decisions).all(|(a, b)| a.filled.in_place == b.filled.in_place);
            found.extend(same.then(|| plan(&listed)));
        }
        found
    }

    /// What the function needs when the profile's own packer places it, and whether that is proved to be the least for any order.
    fn score(&self, module: &Module, flow: &Flow<'_>) -> Result<(Score, bool), Diagnostic> {
        let packing = Packing::new(module, flow, &arenas_of(module, flow.timeline.func)?, self.cx.profile)?;
        let method = packer_of(self.cx.profile).unwrap_or(Method::Search);
        let effort = PACK_EFFORT / (packing.storages.len() as u64).max(1);
        let outcome: Outcome = pack(&packing, method, effort, self.cx.stop);
        let height = outcome.height().unwrap_or(u64::MAX);
        Ok(((height, flow.profile.peak), outcome.proof == Proof::Optimal || height <= outcome.lower_bound))
    }
}

fn plan(decisions: &[Decision]) -> Plan {
    decisions.iter().map(|decision| (decision.order.clone(), decision.taken.clone())).collect()
}

fn set(decisions: &mut [Decision], plan: &Plan) {
    for (decision, (order, taken)) in decisions.iter_mut().zip(plan) {
        (decision.order, decision.taken) = (order.clone(), taken.clone());
    }
}
