//! Computes values again where they are needed, instead of holding them where most bytes are held, until a budget is met.
//!
//! # Effect
//!
//! While the function would need more than the budget, a storage that is only waiting at its worst step goes: copies of the operations that make its values
//! stand before the late readers, which read the copies' results. The copies start from what is live there anyway, or from something smaller that is
//! kept for them ([`candidates`]). Each round takes the candidate that saves most bytes per cost ([`cost`]); the best few are tried, which means that the
//! function is ordered once more with each. Where this ends above the budget, it is done once more from the start, as low as is found, and the lower way stays.
//! In the end whatever the result does not need is taken out again. A budget that
//! cannot be reached leaves what reaches lowest.
//!
//! The pass stands before `reorder`, which orders originals and copies alike; it is no part of the pipeline `plan`.
//!
//! # Soundness
//!
//! Only operations without effects, tokens and calls that make tensors are copied, and an operation in no table is none: a second run makes the
//! same values and leaves no trace. Not what the user keeps, pins, groups or puts in a class. A copy stands behind all that it reads, and no use but
//! those behind the worst step changes. Under a runtime that makes equal operations one nothing is done.
//!
//! # Statistics
//!
//! - `values`: values computed again; `copies`: operations that run once more.
//! - `peak-before`, `peak-after`: bytes, as an order found in a short search has them.
//! - `cycles` or `arithmetic` operations: what the copies cost; `of-cycles` or `of-arithmetic`: what the function cost before.
//! - `tried`: orders that were made to choose.

mod candidates;
mod cost;
mod edit;

use crate::analysis::Flow;
use crate::analysis::names::op_name;
use crate::pass::{Context, OptionSpec, Options, Pass, PassInfo};
use crate::recomputed::{Recomputed, Recomputing, Unit};
use crate::{assign_offsets, reorder};
use candidates::{Candidate, View};
use cost::Costs;
use edit::Twin;
use neap_ir::diag::Diagnostic;
use neap_ir::plan;
use neap_ir::{Attr, Module, OpId};
use std::cmp::Reverse;

/// The line in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "rematerialize",
    summary: "compute values again instead of keeping them, until a budget is met (needs the passes before `reorder`)",
    options: &[
        OptionSpec {
            name: "budget",
            summary: "stop where an order needs at most so many bytes; none: go as low as is found",
            default: "none",
        },
        OptionSpec {
            name: "extra",
            summary: "most cost of all copies, in percent of the function's own",
            default: "100",
        },
        OptionSpec { name: "effort", summary: "most nodes the search for one order looks at", default: "100000" },
    ],
    build: |options| {
        let budget = match options.get::<String>(&INFO, "budget")?.as_str() {
            "none" => None,
            _ => Some(options.get::<u64>(&INFO, "budget")?),
        };
        let (extra, effort) = (options.get(&INFO, "extra")?, options.get(&INFO, "effort")?);
        Ok(Box::new(Rematerialize { budget, extra, effort }))
    },
};

/// So many candidates are tried before the best of them is taken.
const TRIED: usize = 5;
/// So many of a round are tried at most, where none helps.
const MOST_TRIED: usize = 30;
/// So many values in a row may be taken that do not help by themselves: two may be in the way at two steps.
const STALLS: usize = 4;
/// Operations that are ordered at most, over all orders, and most orders.
const MOST_WORK: usize = 60_000;
const MOST_ORDERS: usize = 400;
/// How often the peak is lowered further because offsets lose bytes.
const TIGHTER: usize = 3;

struct Rematerialize {
    budget: Option<u64>,
    extra: u64,
    effort: u64,
}

impl Pass for Rematerialize {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        if !cx.profile.recomputes || module.entry(func).is_none() {
            return Ok(false);
        }
        let mut search = Search::new(self, module, func, cx)?;
        search.down()?;
        for _ in 0..TIGHTER {
            if !search.tighter()? {
                break;
            }
            search.down()?;
        }
        if !search.keeps()? {
            search.further()?;
        }
        search.spare()?;
        search.worth()?;
        let (found, module_after) = (search.report()?, search.module);
        let steps = search.steps;
        let (tried, copies) = (search.earlier + search.orders, steps.iter().map(|step| step.twins.len() as u64).sum());
        cx.count("values", steps.len() as u64);
        cx.count("copies", copies);
        cx.count("peak-before", found.before);
        cx.count("peak-after", found.after);
        let names = match found.unit {
            Unit::Cycles => ("cycles", "of-cycles"),
            Unit::Arithmetic => ("arithmetic", "of-arithmetic"),
        };
        cx.count(names.0, found.cost());
        cx.count(names.1, found.work);
        cx.count("tried", tried as u64);
        let changed = !steps.is_empty();
        if changed {
            *module = module_after;
        }
        for (step, value) in steps.iter().zip(&found.values) {
            let Some(twin) = step.twins.last() else { continue };
            cx.remark(module, twin.copy, explain(value, found.unit));
        }
        cx.recomputed.push(found);
        Ok(changed)
    }
}

fn explain(value: &Recomputed, unit: Unit) -> String {
    format!(
        "{} ({} bytes) is computed again before {}, by {} operation{} ({} {} more): the peak goes from {} to {} bytes",
        value.value,
        value.bytes,
        value.reader,
        value.ops,
        if value.ops == 1 { "" } else { "s" },
        value.cost,
        unit.as_str(),
        value.before,
        value.after
    )
}

/// A value that is computed again.
struct Step {
    candidate: Candidate,
    twins: Vec<Twin>,
}

/// A module with some values computed again, and how it would run.
struct Trial<'f> {
    module: Module,
    ordered: Module,
    flow: Flow<'f>,
    twins: Vec<Twin>,
}

/// What a function holds at most, and by how much all its steps together are over the budget.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Height {
    peak: u64,
    over: u128,
}

struct Search<'s, 'c, 'f> {
    pass: &'s Rematerialize,
    func: OpId,
    cx: &'c mut Context<'f>,
    /// With all steps taken so far.
    module: Module,
    /// The same in the order in which it would run.
    ordered: Module,
    flow: Flow<'f>,
    steps: Vec<Step>,
    /// The peak to reach.
    target: u64,
    costs: Costs<'f>,
    work: u64,
    before: u64,
    floor: (u64, String),
    /// Orders made on this way, and on one that was given up.
    orders: usize,
    earlier: usize,
}

impl<'s, 'c, 'f> Search<'s, 'c, 'f> {
    fn new(
        pass: &'s Rematerialize,
        module: &Module,
        func: OpId,
        cx: &'c mut Context<'f>,
    ) -> Result<Search<'s, 'c, 'f>, Diagnostic> {
        let mut ordered = module.clone();
        let flow = reorder::settle(&mut ordered, func, cx, pass.effort)?;
        let costs = Costs::of(&ordered, &flow, cx.facts);
        let work = costs.sum(&ordered, &flow);
        let (bytes, op) = candidates::floor(&ordered, &flow);
        let floor = (bytes, op.map_or(String::new(), |op| op_name(module, op)));
        let target = pass.budget.unwrap_or(0).max(bytes);
        let (module, before) = (module.clone(), flow.profile.peak);
        Ok(Search {
            pass,
            func,
            cx,
            module,
            ordered,
            flow,
            steps: Vec::new(),
            target,
            costs,
            work,
            before,
            floor,
            orders: 1,
            earlier: 0,
        })
    }

    fn height(&self, flow: &Flow<'_>) -> Height {
        let over = flow.profile.bytes.iter().map(|bytes| u128::from(bytes.saturating_sub(self.target)));
        Height { peak: flow.profile.peak, over: over.sum() }
    }

    /// Whether another order may be made.
    fn may_go_on(&self) -> bool {
        let ops = self.flow.timeline.entries.len().max(1);
        self.orders < MOST_ORDERS.min((MOST_WORK / ops).max(8)) && !(self.cx.stop)()
    }

    /// What the copies may still cost.
    fn left(&self) -> u64 {
        let most = u128::from(self.work) * u128::from(self.pass.extra) / 100;
        let spent: u64 = self.steps.iter().map(|step| step.candidate.cost).fold(0, u64::saturating_add);
        u64::try_from(most).unwrap_or(u64::MAX).saturating_sub(spent)
    }

    /// Takes values until the target is met or nothing helps; what did not help in the end is taken out.
    fn down(&mut self) -> Result<(), Diagnostic> {
        let (mut best, mut kept) = (self.height(&self.flow), self.steps.len());
        while self.flow.profile.peak > self.target && self.steps.len() < kept + STALLS && self.may_go_on() {
            let Some((candidate, trial)) = self.next()? else { break };
            self.take(candidate, trial);
            let now = self.height(&self.flow);
            if now < best {
                (best, kept) = (now, self.steps.len());
            }
        }
        if kept < self.steps.len() {
            let open: Vec<usize> = (kept..self.steps.len()).collect();
            let trial = self.without(&open)?;
            self.put_back(&open, trial);
        }
        Ok(())
    }

    /// The best of the candidates that help; else the one that is least in the way.
    fn next(&mut self) -> Result<Option<(Candidate, Trial<'f>)>, Diagnostic> {
        let now = self.height(&self.flow);
        let effects = self.cx.effects(&self.ordered, self.func);
        let (facts, costs) = (self.cx.facts, self.costs);
        let view = View { module: &self.ordered, flow: &self.flow, facts, effects: &effects, costs };
        let mut open = view.candidates(self.flow.profile.step, now.peak - self.target);
        let left = self.left();
        open.retain(|candidate| candidate.cost <= left);
        let mut best: Option<(Height, Candidate, Trial<'f>)> = None;
        for (at, candidate) in open.into_iter().take(MOST_TRIED).enumerate() {
            let helped = best.as_ref().is_some_and(|(height, ..)| *height < now);
            if (at >= TRIED && helped) || !self.may_go_on() {
                break;
            }
            let trial = self.with(&candidate)?;
            let height = self.height(&trial.flow);
            let better = match &best {
                None => true,
                Some((other, known, _)) => self.better(now, (height, &candidate), (*other, known)),
            };
            if better {
                best = Some((height, candidate, trial));
            }
        }
        Ok(best.map(|(_, candidate, trial)| (candidate, trial)))
    }

    /// Whether one trial is better than another: bytes of the peak per cost, counting no more than what is too much; else what is over in all steps.
    fn better(&self, now: Height, one: (Height, &Candidate), other: (Height, &Candidate)) -> bool {
        let saved = |height: Height| u128::from(now.peak.saturating_sub(height.peak.max(self.target)));
        let (mine, others) = (saved(one.0), saved(other.0));
        let (cost, other_cost) = (u128::from(one.1.cost) + 1, u128::from(other.1.cost) + 1);
        match (mine * other_cost).cmp(&(others * cost)) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => one.0 < other.0,
        }
    }

    fn with(&mut self, candidate: &Candidate) -> Result<Trial<'f>, Diagnostic> {
        let mut module = self.module.clone();
        let twins = edit::apply(&mut module, candidate);
        self.settled(module, twins)
    }

    fn settled(&mut self, module: Module, twins: Vec<Twin>) -> Result<Trial<'f>, Diagnostic> {
        self.orders += 1;
        let mut ordered = module.clone();
        let flow = reorder::settle(&mut ordered, self.func, self.cx, self.pass.effort)?;
        Ok(Trial { module, ordered, flow, twins })
    }

    fn take(&mut self, candidate: Candidate, trial: Trial<'f>) {
        (self.module, self.ordered, self.flow) = (trial.module, trial.ordered, trial.flow);
        self.steps.push(Step { candidate, twins: trial.twins });
    }

    /// The module with some steps undone; its twins are those of the steps that stay, in order.
    fn without(&mut self, open: &[usize]) -> Result<Trial<'f>, Diagnostic> {
        let mut module = self.module.clone();
        let mut all: Vec<Vec<Twin>> = self.steps.iter().map(|step| step.twins.clone()).collect();
        for at in open.iter().rev() {
            let (head, tail) = all.split_at_mut(*at + 1);
            let twins = std::mem::take(&mut head[*at]);
            edit::undo(&mut module, &twins, head.iter_mut().chain(tail.iter_mut()).flatten());
        }
        self.settled(module, all.into_iter().flatten().collect())
    }

    /// Goes on with what [`Search::without`] made.
    fn put_back(&mut self, open: &[usize], trial: Trial<'f>) {
        (self.module, self.ordered, self.flow) = (trial.module, trial.ordered, trial.flow);
        let mut twins = trial.twins.into_iter();
        let steps = std::mem::take(&mut self.steps);
        let stay = steps.into_iter().enumerate().filter(|(at, _)| !open.contains(at));
        for mut step in stay.map(|(_, step)| step) {
            let count = step.twins.len();
            step.twins = twins.by_ref().take(count).collect();
            self.steps.push(step);
        }
    }

    /// Takes out, the dearest first, whatever the peak does not need.
    fn spare(&mut self) -> Result<(), Diagnostic> {
        let most = self.flow.profile.peak.max(self.target);
        let mut costs: Vec<Reverse<u64>> = self.steps.iter().map(|step| Reverse(step.candidate.cost)).collect();
        costs.sort_unstable();
        costs.dedup();
        for Reverse(cost) in costs {
            let mut at = 0;
            while at < self.steps.len() {
                if self.steps[at].candidate.cost == cost && self.may_go_on() {
                    let trial = self.without(&[at])?;
                    if trial.flow.profile.peak <= most {
                        self.put_back(&[at], trial);
                        continue;
                    }
                }
                at += 1;
            }
        }
        Ok(())
    }

    /// Whether the peak has to go lower because the offsets lose bytes; sets the target then.
    fn tighter(&mut self) -> Result<bool, Diagnostic> {
        let Some(budget) = self.pass.budget else { return Ok(false) };
        let peak = self.flow.profile.peak;
        if peak > budget || !self.may_go_on() {
            return Ok(false);
        }
        let Some(arena) = self.arena(&self.module)?.filter(|arena| *arena > budget) else { return Ok(false) };
        let target = peak.saturating_sub(arena - budget);
        let possible = target >= self.floor.0;
        if possible {
            self.target = target;
        }
        Ok(possible)
    }

    /// Whether the function keeps its budget, once it is packed.
    fn keeps(&self) -> Result<bool, Diagnostic> {
        let Some(budget) = self.pass.budget else { return Ok(true) };
        Ok(self.flow.profile.peak <= budget && self.arena(&self.module)?.is_none_or(|arena| arena <= budget))
    }

    /// What is worth most on the way to a budget may end above it: from the start once more, as low as is found. Kept if that is lower.
    fn further(&mut self) -> Result<(), Diagnostic> {
        if self.orders == 1 || self.pass.budget.is_none_or(|budget| budget < self.floor.0) {
            return Ok(());
        }
        let all: Vec<usize> = (0..self.steps.len()).collect();
        let bare = self.without(&all)?;
        let steps = std::mem::take(&mut self.steps);
        let before = (self.module.clone(), self.ordered.clone(), self.flow.clone(), self.target);
        (self.module, self.ordered, self.flow) = (bare.module, bare.ordered, bare.flow);
        (self.target, self.earlier, self.orders) = (self.floor.0, self.orders, 0);
        self.down()?;
        // What is spared afterwards raises nothing: the bytes fit with this peak.
        self.target = self.flow.profile.peak;
        if self.target >= before.2.profile.peak && !self.keeps()? {
            (self.module, self.ordered, self.flow, self.target) = before;
            self.steps = steps;
        }
        Ok(())
    }

    /// Takes out everything if the function takes no fewer bytes once it is packed.
    fn worth(&mut self) -> Result<(), Diagnostic> {
        if self.steps.is_empty() || (self.cx.stop)() {
            return Ok(());
        }
        let open: Vec<usize> = (0..self.steps.len()).collect();
        let bare = self.without(&open)?;
        let (with, without) = (self.arena(&self.module)?, self.arena(&bare.module)?);
        if with.zip(without).is_some_and(|(with, without)| with >= without) {
            self.put_back(&open, bare);
        }
        Ok(())
    }

    /// Bytes that the planned function would take; none where there is no plan, for reasons of other passes.
    fn arena(&self, module: &Module) -> Result<Option<u64>, Diagnostic> {
        let mut module = module.clone();
        let Context { facts, profile, summaries, stop, .. } = *self.cx;
        let mut cx = Context::new(facts, profile, summaries, stop);
        for info in [&reorder::INFO, &assign_offsets::INFO] {
            let Ok(pass) = (info.build)(&Options::default()) else { return Ok(None) };
            if pass.run(&mut module, self.func, &mut cx).is_err() {
                return Ok(None);
            }
        }
        let bytes = module.attr(self.func, plan::ARENA_BYTES).and_then(Attr::as_i64);
        Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()))
    }

    /// What each step brings, with those before it taken, and what it costs.
    fn report(&mut self) -> Result<Recomputing, Diagnostic> {
        let count = self.steps.len();
        let mut peaks = vec![self.flow.profile.peak; count + 1];
        peaks[0] = self.before;
        for at in (1..count).rev() {
            let open: Vec<usize> = (at..count).collect();
            peaks[at] = self.without(&open)?.flow.profile.peak;
        }
        let values = self.steps.iter().enumerate().map(|(at, step)| Recomputed {
            value: step.candidate.value.clone(),
            bytes: step.candidate.bytes,
            reader: step.candidate.reader.clone(),
            ops: step.twins.len() as u64,
            cost: step.candidate.cost,
            before: peaks[at],
            after: peaks[at + 1],
        });
        Ok(Recomputing {
            function: self.module.sym_name(self.func).unwrap_or_default().to_owned(),
            unit: self.costs.unit,
            work: self.work,
            before: self.before,
            after: self.flow.profile.peak,
            floor: self.floor.0,
            floor_op: self.floor.1.clone(),
            values: values.collect(),
        })
    }
}
