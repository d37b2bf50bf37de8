//! What to try next: the one thing that is most likely to help.

use super::{Function, Proof, SearchEnd};
use crate::size::grouped;

pub(super) fn next(function: &Function) -> String {
    if !function.unknown_ops.is_empty() {
        return "describe the unknown ops: --dialect-stub F.toml writes rows to fill in, --dialect F.toml reads them"
            .to_owned();
    }
    if !function.excluded.is_empty() {
        return "bound the dynamic dimensions: --dim N=1..512, or --dim VALUE.AXIS=1..512".to_owned();
    }
    let plan = &function.plan;
    if let (Proof::Gap, Some(least)) = (plan.order_proof, plan.least_peak) {
        return format!(
            "a longer search does not help: the runtime's own packer needs more than this for an order whose peak is {} B; only offsets of ours \
             keep to it, where a runtime takes them, as with --profile tflm",
            grouped(least.into())
        );
    }
    if plan.order_proof == Proof::Gap && plan.time_limit_hit {
        return "search longer for an order: a larger --time-limit, or see what stands at the peak: --summary=full"
            .to_owned();
    }
    if plan.order_proof == Proof::Gap && plan.search_end == SearchEnd::Budget {
        return "this is within the budget, where the search ended: without --budget it goes on".to_owned();
    }
    if plan.order_proof == Proof::Gap && plan.search_end == SearchEnd::Effort {
        return "search longer for an order: reorder{effort=N} in --pass-pipeline, or see what stands at the peak: --summary=full"
            .to_owned();
    }
    if plan.order_proof == Proof::Gap {
        return "see what stands at the peak: --summary=full; the search came to its end, a longer one finds the same"
            .to_owned();
    }
    if plan.arena > plan.peak {
        return "see where bytes are lost between storages: --summary=full, or -o PLAN.csv".to_owned();
    }
    if function.recomputed.as_ref().is_some_and(|found| !found.values.is_empty()) {
        return "this is the least with these values computed again; a smaller --budget may compute more again"
            .to_owned();
    }
    if plan.order_proof == Proof::Optimal && function.freer.is_some_and(|bytes| bytes < plan.arena) {
        return "this is the least for this graph under its profile; --summary=full lists all storages".to_owned();
    }
    if plan.order_proof == Proof::Optimal {
        return "this is the least for this graph: only a smaller graph needs less; --summary=full lists all storages"
            .to_owned();
    }
    "--summary=full lists all storages, --remarks says why something was not shared".to_owned()
}
