//! Decides the order of operations, what is written in place and what is written straight into its whole, together.
//!
//! # Effect
//!
//! Each body is ordered by itself, innermost first; an operation with bodies is one operation of the body around it, with the bodies' own bytes as
//! scratch. The order, `neap.inplace` and `neap.place` come from one call of the ordering solver per body. Constants stand right before their first reader,
//! operations that depend on constants alone too. Among orders of equal peak the one that packs lowest under the profile's own
//! packer is taken. The function gets `neap.lower_bound` and `neap.proof`; a certificate goes to [`Context::certificates`].
//!
//! # Soundness
//!
//! The solver obeys every use of a value, every token and every edge that effects demand ([`crate::locks`]); a result overwrites an operand only where
//! every alias of its bytes has been read. The answer is never worse than the input's order, which is measured in flat time where bodies make
//! the solver's view an estimate. A bound is called proved only where the solver's view is exact.
//!
//! # Statistics
//!
//! - `moved`: operations that stand elsewhere among the operations of their body.
//! - `in-place`, `placed`: candidates taken.
//! - `refused`: candidates not taken, each with a remark.
//! - `peak-before`, `peak-after`: bytes, with views and what was taken before and after.
//! - `nodes`: effort spent by the solver.
//! - `priced`: lock edges, kept values and copies whose cost was looked for.
//! - `cut-short`: bodies whose search ran out of effort before its end.
//! - `within-budget`: 1 where the search ended with an order that keeps the budget, above what is proved.
//! - `least-peak`: bytes at the peak of the best order, where the runtime's own packer makes more of it than of the order that is kept.
//! - `makespan`: cycles of the order, where all operations say theirs.

mod apply;
mod block;
mod certificate;
mod choose;
mod constants;
mod copies;
mod costs;
mod decide;
mod demand;
mod handover;
mod polish;
mod refusals;

use crate::analysis::Flow;
use crate::analysis::candidates::Filled;
use crate::analysis::timeline::{BodyId, EntryId};
use crate::analysis::values::Sharing;
use crate::pass::{Context, OptionSpec, Pass, PassInfo};
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, OpId};
use neap_order::OrderMode;

/// The line in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "reorder",
    summary: "choose the order of operations, in-place and placement for the least peak",
    options: &[
        OptionSpec {
            name: "order",
            summary: "search, input (keep it), msc (a list scheduler) or shuffle",
            default: "search",
        },
        OptionSpec { name: "seed", summary: "which random order `shuffle` takes", default: "0" },
        OptionSpec { name: "effort", summary: "most nodes the search looks at per body", default: "2000000" },
        OptionSpec { name: "in-place", summary: "whether results may overwrite operands", default: "true" },
        OptionSpec { name: "placement", summary: "whether operands may be written into the result", default: "true" },
        OptionSpec {
            name: "budget",
            summary: "end the search where an order needs at most so many bytes, or none can",
            default: "none",
        },
        OptionSpec {
            name: "prices",
            summary: "whether remarks say what stands at the peak, what lock edges and kept values there cost, and what copies save; takes further searches",
            default: "false",
        },
        OptionSpec { name: "latency-weight", summary: "critical path against bytes, in percent", default: "0" },
    ],
    build: |options| {
        let seed = options.get(&INFO, "seed")?;
        let order = match options.get::<String>(&INFO, "order")?.as_str() {
            "search" => OrderMode::Search,
            "input" => OrderMode::Input,
            "msc" => OrderMode::Msc,
            "shuffle" => OrderMode::Shuffle(seed),
            other => {
                return Err(format!(
                    "option `order` of pass `reorder` cannot be `{other}`: search, input, msc or shuffle"
                ));
            }
        };
        let latency_weight: u8 = options.get(&INFO, "latency-weight")?;
        if latency_weight > 100 {
            return Err(format!("option `latency-weight` of pass `reorder` is a percentage, not {latency_weight}"));
        }
        let (in_place, placement) = (options.get(&INFO, "in-place")?, options.get(&INFO, "placement")?);
        let effort = options.get(&INFO, "effort")?;
        let budget = match options.get::<String>(&INFO, "budget")?.as_str() {
            "none" => None,
            _ => Some(options.get(&INFO, "budget")?),
        };
        let prices = options.get(&INFO, "prices")?;
        let options = neap_order::Options {
            effort,
            order,
            in_place,
            placement,
            latency_weight,
            budget,
            ..neap_order::Options::default()
        };
        Ok(Box::new(Reorder { options, prices }))
    },
};

/// So many further orders of the least peak are asked for, to pack them.
const ALTERNATIVES: usize = 8;

struct Reorder {
    options: neap_order::Options,
    /// Whether lock edges and kept values are priced.
    prices: bool,
}

/// What was decided about one body.
struct Decision {
    body: BodyId,
    /// Its operations of one step each, in the new order.
    order: Vec<EntryId>,
    /// What its candidates are.
    filled: Filled,
    /// Which of them are taken.
    taken: neap_order::Taken,
    /// The solver's answer.
    answer: block::Answer,
}

impl Pass for Reorder {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        let mut options = self.options.clone();
        if !cx.profile.honours_order && options.order == OrderMode::Search {
            options.order = OrderMode::Input;
        }
        let before = flow(module, func, cx)?;
        if options.order == OrderMode::Search {
            options.alternatives = ALTERNATIVES.min(choose::tries(&before));
        }
        if before.timeline.bodies.len() > 1 {
            // Of nested bodies the solver knows an estimate: none that a budget could be compared with.
            options.budget = None;
        }
        let ground = decide::Ground::new(module, &before, cx);
        let mut decisions = decide::decide(module, &before, &ground, cx, &options)?;
        let mut changed = apply::write(module, &before, &ground.readers, &decisions);
        let mut after = flow(module, func, cx)?;
        if options.order == OrderMode::Search {
            let choice = choose::Choice { before: &before, ground: &ground, cx };
            changed |= choice.best(module, &options, &mut decisions, &mut after)?;
        }
        changed |= handover::take(module, &mut after, options.in_place, cx)?;
        demand::check(module, cx, &before, &decisions)?;
        refusals::explain(module, cx, &before, &after, &decisions);
        if self.prices {
            costs::explain(module, cx, &before, &options, &decisions);
            copies::explain(module, cx, &before, &options, &decisions);
        }
        // Without a kind of candidates that the graph has, a bound speaks of these options and not of every order.
        let all = |decision: &Decision| {
            let spec = &decision.answer.draft.spec;
            (options.in_place || spec.in_place.is_empty()) && (options.placement || spec.placement.is_empty())
        };
        let proved = if decisions.iter().all(all) { decisions.as_slice() } else { &[] };
        changed |= apply::bounds(module, &before, &after, proved);
        apply::count(cx, &decisions);
        apply::count_search(cx, &decisions, &after, &options);
        costs::makespan(module, cx, &before, &decisions);
        cx.count("peak-before", before.profile.peak);
        cx.count("peak-after", after.profile.peak);
        certificate::keep(module, cx, &before, proved);
        Ok(changed)
    }
}

/// Orders a function by this pass's own search, with so much effort, and takes what it takes; the choice among orders of equal peak is left out. For
/// passes that ask what a graph would need: the module is a copy that they throw away.
pub(crate) fn settle<'f>(
    module: &mut Module,
    func: OpId,
    cx: &Context<'f>,
    effort: u64,
) -> Result<Flow<'f>, Diagnostic> {
    let order = if cx.profile.honours_order { OrderMode::Search } else { OrderMode::Input };
    let options = neap_order::Options { effort, order, ..neap_order::Options::default() };
    let before = flow(module, func, cx)?;
    let ground = decide::Ground::new(module, &before, cx);
    let decisions = decide::decide(module, &before, &ground, cx, &options)?;
    apply::write(module, &before, &ground.readers, &decisions);
    let mut after = flow(module, func, cx)?;
    handover::take(module, &mut after, true, cx)?;
    Ok(after)
}

/// The function as it stands, with what is taken.
fn flow<'f>(module: &Module, func: OpId, cx: &Context<'f>) -> Result<Flow<'f>, Diagnostic> {
    Flow::new(module, func, cx.facts, cx.profile, Sharing::PLANNED)
}
