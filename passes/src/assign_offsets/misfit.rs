//! Why a plan does not fit, in words that one can act on: what is needed and what is there, at which step, in which operation, what is live
//! there by name, and whether it is proved that nothing fits.

use super::arena_names;
use crate::analysis::Flow;
use crate::analysis::names::op_name;
use crate::analysis::pack_problem::{Arena, Packing};
use crate::analysis::peak::storage_name;
use neap_ir::Module;
use neap_ir::diag::Diagnostic;
use neap_pack::{Infeasible, ItemId, Method, Outcome, Verdict};

/// The most storages that a message names.
const MOST_NAMED: usize = 8;

/// The error of an outcome that does not fit.
pub(super) fn explain(
    module: &Module,
    flow: &Flow<'_>,
    packing: &Packing,
    arenas: &[Arena],
    method: Method,
    outcome: &Outcome,
) -> Diagnostic {
    let view = View { module, flow, packing, arenas };
    let error = match &outcome.verdict {
        Verdict::ProvedInfeasible(why) => view.infeasible(why),
        _ => view.not_found(method, outcome),
    };
    error.unmet()
}

struct View<'a, 'f> {
    module: &'a Module,
    flow: &'a Flow<'f>,
    packing: &'a Packing,
    arenas: &'a [Arena],
}

impl View<'_, '_> {
    fn infeasible(&self, why: &Infeasible) -> Diagnostic {
        let span = self.module.op(self.flow.timeline.func).span;
        match why {
            Infeasible::Load { step, items, needed, available } => self.load(*step as u32, items, *needed, *available),
            Infeasible::TooLarge { item, needed, available } => {
                let message = format!(
                    "no plan can fit: {} alone needs {needed} bytes, and the largest arena has {available} (short by {})",
                    self.name(*item),
                    needed.saturating_sub(*available)
                );
                Diagnostic::error(span, message).note(format!("arenas: {}", arena_names(self.arenas)))
            }
            Infeasible::Conflict { first, second } => {
                let message = format!(
                    "no plan can fit: {} and {} overlap at their fixed offsets",
                    self.name(*first),
                    self.name(*second)
                );
                Diagnostic::error(span, message).help("change `neap.pin` of one of them")
            }
            Infeasible::Exhausted { floor, available } => {
                let message = format!(
                    "no plan can fit: the floor {floor} is within {available} bytes, but every placement was tried"
                );
                Diagnostic::error(span, message).note(format!("arenas: {}", arena_names(self.arenas)))
            }
        }
    }

    fn load(&self, step: u32, items: &[ItemId], needed: u64, available: u64) -> Diagnostic {
        let entry = self.flow.timeline.by_step.get(step as usize).map(|id| self.flow.timeline.entry(*id));
        let place = entry.map_or_else(String::new, |entry| format!(" in {}", op_name(self.module, entry.op)));
        let message = format!(
            "no plan can fit: floor {needed} > {available} bytes available (needed {needed}, available {available}, short by {}) at step {step}{place}",
            needed.saturating_sub(available)
        );
        let op = entry.map_or(self.flow.timeline.func, |entry| entry.op);
        let mut items = items.to_vec();
        items.sort_by_key(|item| std::cmp::Reverse(self.packing.problem.items()[item.index()].size));
        let size = |item: &ItemId| self.packing.problem.items()[item.index()].size;
        let mut shown: Vec<String> =
            items.iter().take(MOST_NAMED).map(|item| format!("{} {}", self.name(*item), size(item))).collect();
        if items.len() > MOST_NAMED {
            shown.push(format!("{} more", items.len() - MOST_NAMED));
        }
        Diagnostic::error(self.module.op(op).span, message)
            .note(format!("live there: {}", shown.join(", ")))
            .note(format!("arenas: {}", arena_names(self.arenas)))
            .help("raise the capacity, let `reorder` choose the order, or split the operation at this step")
    }

    fn not_found(&self, method: Method, outcome: &Outcome) -> Diagnostic {
        let available: u64 = self.arenas.iter().filter_map(|arena| arena.capacity).fold(0, u64::saturating_add);
        let found = match outcome.height() {
            Some(height) => format!("this method found {height} bytes"),
            None => "this method found no place for every storage".to_owned(),
        };
        let floor = outcome.lower_bound;
        let message =
            format!("the plan does not fit: {found}, {available} are available, and the floor {floor} would fit");
        let help = match method {
            Method::Search => "raise `assign-offsets{effort=..}`: the search stopped at its limit",
            _ => "use the exact method: `assign-offsets{method=search}`",
        };
        Diagnostic::error(self.module.op(self.flow.timeline.func).span, message)
            .note(format!("arenas: {}", arena_names(self.arenas)))
            .help(help)
    }

    fn name(&self, item: ItemId) -> String {
        storage_name(self.module, &self.flow.values, &self.flow.storages, self.packing.storages[item.index()])
    }
}
