//! The door: from a problem to a schedule with a bound and a proof.
//!
//! Portfolio, then the candidates that must be decided, then a lower bound from the ops at the peak, then (where they differ) the exact
//! search; what stands behind `peak == lower_bound` is told apart.

use crate::attempt::{self, Attempt};
use crate::beam::{self, How, Ties};
use crate::bound::Bounder;
use crate::certificate::Certificate;
use crate::error::OrderError;
use crate::exact::{self, Limits};
use crate::ids::OpId;
use crate::problem::Problem;
use crate::solution::{
    Failure, InfeasibleProof, Options, OrderMode, Progress, Proof, Schedule, Solution, Stats, Watch,
};
use crate::taken::{Taken, merged};
use crate::{choices, greedy, infeasible, latency, model, portfolio, replay, simulate, topo, turns, window};
use rustc_hash::FxHashMap;

/// Ops at the peak whose flow bound is computed.
const MOST_PEAK_OPS: usize = 12;
/// And at most so many times the ops of the graph.
const PEAK_WORK: usize = 200_000;
/// How beams are led at each width: backwards or not, which of equal states go first, whether only peaks up to the bound are alike.
const BEAMS: [(bool, Ties, bool); 4] =
    [(false, Ties::Op, true), (true, Ties::Op, true), (false, Ties::Op, false), (false, Ties::Age, true)];
/// Up to so many choices of open candidates are all searched, so that the whole is proved.
const MOST_CHOICES: usize = 512;
/// And at most so many times the ops of the graph.
const CHOICE_WORK: usize = 256_000;

/// Orders `problem`.
///
/// # Errors
/// [`Failure`] when the classes cannot be satisfied or were not, or the order to keep is not legal.
pub fn solve(problem: &Problem, options: &Options, watch: Watch<'_>) -> Result<Solution, Failure> {
    let required = required(problem);
    let mut search = Search {
        problem,
        options,
        required,
        stats: Stats::default(),
        watch,
        proved_search: false,
        lower: 0,
        bounder: None,
        bounds: FxHashMap::default(),
    };
    let best = match options.order {
        OrderMode::Input if !problem.input_legal => return Err(Failure::Order(illegal(problem))),
        OrderMode::Input => search.keep((0..problem.ops() as u32).collect()),
        OrderMode::Shuffle(seed) => {
            let model = model::build(problem, &search.required, |_| options.in_place);
            search.keep(crate::shuffle::order(&model, seed))
        }
        OrderMode::Msc => {
            let model = model::build(problem, &search.required, |_| options.in_place);
            let path = greedy::critical_path(&model, &topo::order(&model.preds, &model.succs));
            greedy::msc(&model, &path).and_then(|order| search.keep(order))
        }
        OrderMode::Search => search.best(),
    };
    let stats = search.stats;
    let Some(best) = best else {
        let proof = infeasible::alone(problem, options);
        let searched = options.order == OrderMode::Search && search.proved_search;
        let proof = proof.or(searched.then_some(InfeasibleProof::Search { stats }));
        return Err(proof.map_or(Failure::NotFound { stats }, |proof| Failure::Infeasible { proof }));
    };
    let best = if options.order == OrderMode::Search { search.trade(best) } else { best };
    search.finish(best).ok_or(Failure::NotFound { stats })
}

fn illegal(problem: &Problem) -> OrderError {
    match simulate::simulate(problem, &input_order(problem), &Taken::default()) {
        Err(error) => error,
        Ok(_) => OrderError::NotAPermutation { op: OpId(0) },
    }
}

fn input_order(problem: &Problem) -> Vec<OpId> {
    (0..problem.ops() as u32).map(OpId).collect()
}

/// Candidates that the caller demands.
pub(crate) fn required(problem: &Problem) -> Taken {
    let spec = &problem.spec;
    Taken {
        in_place: (0..spec.in_place.len()).filter(|&i| spec.in_place[i].required).collect(),
        placement: (0..spec.placement.len()).filter(|&i| spec.placement[i].required).collect(),
    }
}

struct Search<'p, 'w> {
    problem: &'p Problem,
    options: &'p Options,
    required: Taken,
    stats: Stats,
    watch: Watch<'w>,
    /// Every choice of candidates was searched to its end: `lower` holds for all schedules.
    proved_search: bool,
    lower: i64,
    bounder: Option<Bounder<'p>>,
    /// Flow bounds found so far, by op.
    bounds: FxHashMap<u32, i64>,
}

impl<'p> Search<'p, '_> {
    /// A given order; only candidates are decided.
    fn keep(&mut self, order: Vec<u32>) -> Option<Attempt> {
        let fixed = |decided: &Taken| {
            let model = model::build(self.problem, decided, |_| self.options.in_place);
            let peak = replay::peak(&model, &order)?;
            let attempt = Attempt { decided: decided.clone(), model, order: order.clone(), peak, is_tree: false };
            attempt::complete(self.problem, &attempt).map(|_| attempt)
        };
        let mut best = fixed(&self.required)?;
        for group in attempt::open(self.problem, self.options, &self.required) {
            // Parts of one whole together first: one alone takes the bytes of the whole, and saves its own alone.
            let parts = group.iter().copied().filter(|open| matches!(open, attempt::Open::Placement(_)));
            let parts: Vec<attempt::Open> = parts.collect();
            let together = (parts.len() > 1).then_some(parts);
            for more in together.into_iter().chain(group.into_iter().map(|open| vec![open])) {
                let saves_copy = matches!(more[..], [attempt::Open::Placement(_), ..]);
                let decided = attempt::with(&best.decided, &more);
                if decided == best.decided {
                    continue;
                }
                let next = fixed(&decided);
                let better = |next: &Attempt| next.peak < best.peak || (saves_copy && next.peak == best.peak);
                best = next.filter(better).unwrap_or(best);
            }
        }
        Some(best)
    }

    fn best(&mut self) -> Option<Attempt> {
        let start = attempt::attempt(self.problem, self.options, &self.required)?;
        let groups = attempt::open(self.problem, self.options, &self.required);
        let rivals = choices::rivals(self.problem, &groups);
        let most = MOST_CHOICES.min(CHOICE_WORK / self.problem.ops().max(1));
        let best = if groups.is_empty() {
            self.exact(start)
        } else if choices::count(&rivals) <= most {
            self.all_choices(start, &rivals)
        } else {
            let mut decided = attempt::decide(self.problem, self.options, start, &groups, &mut self.stats);
            let lower = |search: &mut Self, best: &mut Attempt| {
                search.flows(best) < best.peak
                    && choices::improve(search.problem, search.options, best, &rivals, &mut search.stats)
            };
            if lower(self, &mut decided) {
                // What had no place may have one now.
                decided = attempt::decide(self.problem, self.options, decided, &groups, &mut self.stats);
            }
            let best = self.exact(decided);
            // The bound holds for this choice alone.
            (self.proved_search, self.lower) = (false, 0);
            best
        };
        (best.peak < i64::MAX).then_some(best)
    }

    /// Searches every choice of the open candidates. Of equal peaks, the one that takes more: it saves a copy.
    fn all_choices(&mut self, mut best: Attempt, rivals: &[Vec<attempt::Open>]) -> Attempt {
        let mut proved = true;
        let mut lower = i64::MAX;
        for choice in 0..choices::count(rivals) {
            let more = choices::choice(rivals, choice);
            let decided = attempt::with(&self.required, &more);
            let Some(next) = attempt::attempt(self.problem, self.options, &decided) else { continue };
            let next = self.exact(next);
            proved &= std::mem::take(&mut self.proved_search);
            lower = lower.min(self.lower);
            let places = |attempt: &Attempt| std::cmp::Reverse(attempt.decided.placement.len());
            if (next.peak, places(&next)) < (best.peak, places(&best)) {
                best = next;
            }
            if self.answers(0, best.peak) {
                proved = false;
                break;
            }
        }
        (self.proved_search, self.lower) = (proved, if proved { lower } else { 0 });
        best
    }

    /// The least peak for one choice of candidates.
    fn exact(&mut self, mut best: Attempt) -> Attempt {
        if best.is_tree {
            (self.proved_search, self.lower) = (true, best.peak);
            return best;
        }
        // Without effort the certificate that is made in the end has to do.
        let skip = best.order.is_empty() || self.options.effort == 0;
        let mut lower = if skip { 0 } else { self.flows(&best) };
        self.proved_search = lower >= best.peak;
        self.lower = lower.min(best.peak);
        if self.proved_search || self.options.effort == 0 || self.answers(lower, best.peak) {
            return best;
        }
        let floor = (0..best.model.n).map(|v| held_by(&best.model, v)).max().unwrap_or(0);
        lower = lower.max(floor).max(best.model.start_bytes());
        let turns = self.options.effort.saturating_sub(self.stats.nodes) / 4;
        lower = lower.max(turns::bound(&best.model, best.peak, turns, &mut self.stats.nodes));
        self.proved_search = lower >= best.peak;
        self.lower = lower.min(best.peak);
        if self.proved_search || self.answers(lower, best.peak) {
            return best;
        }
        let effort = self.options.effort.saturating_sub(self.stats.nodes);
        // Classes make few moves free: a search soon has more states than it can look at.
        let classes = !best.model.limits.is_empty();
        let effort_now = if classes { effort / 4 } else { effort / 2 };
        let target = self.options.budget.map(|budget| i64::try_from(budget).unwrap_or(i64::MAX));
        let limits = Limits { lower, upper: best.peak, target, effort: effort_now };
        let (watch, peak, spent) = (&mut self.watch, best.peak, self.stats.nodes);
        let mut stop = |nodes: u64, bound: i64| {
            let progress = Progress { nodes: spent + nodes, peak: peak as u64, lower_bound: bound as u64 };
            watch(progress).is_break()
        };
        let found = exact::search(&best.model, &best.order, limits, &mut self.stats, &mut stop);
        let lower = found.lower;
        if let Some(order) = found.order {
            self.improve(&mut best, order);
        }
        if lower < best.peak && !self.answers(lower, best.peak) {
            let bound = lower;
            // Nothing below the budget is asked for.
            let lower = target.map_or(bound, |target| target.max(bound));
            let start = best.clone();
            self.windows(&mut best, lower, effort / 4);
            if classes {
                // Few orders lead through classes: the beams are not held to what windows made of the start.
                let mut wide = start;
                self.beams(&mut wide, lower, effort / 2);
                best = if wide.peak < best.peak { wide } else { best };
                self.windows(&mut best, lower, effort / 4);
            } else {
                self.beams(&mut best, lower, effort / 4);
            }
        }
        self.lower = lower.min(best.peak);
        self.proved_search = lower >= best.peak;
        best
    }

    /// Whether the caller's budget is settled: an order fits, or none can.
    fn answers(&self, lower: i64, peak: i64) -> bool {
        self.options.budget.is_some_and(|budget| i128::from(peak) <= budget.into() || i128::from(lower) > budget.into())
    }

    /// Windows around the peak, solved exactly.
    fn windows(&mut self, best: &mut Attempt, lower: i64, effort: u64) {
        if best.order.is_empty() {
            return;
        }
        let mut order = best.order.clone();
        let (watch, peak) = (&mut self.watch, best.peak);
        let mut stop =
            |nodes: u64, bound: i64| watch(Progress { nodes, peak: peak as u64, lower_bound: bound as u64 }).is_break();
        window::improve(&best.model, &mut order, lower, effort, &mut self.stats, &mut stop);
        self.improve(best, order);
    }

    /// Beam searches, wider and wider, for what is left of the effort: both directions, peaks alike up to the bound or up to what is known.
    fn beams(&mut self, best: &mut Attempt, lower: i64, effort: u64) {
        let end = self.stats.nodes.saturating_add(effort);
        let mut width = 4;
        // A beam wider than any frontier can be has nothing more to try.
        while width < 1 << 24 {
            for (backwards, ties, to_bound) in BEAMS {
                if lower >= best.peak || self.stats.nodes >= end {
                    return;
                }
                let floor = if to_bound { lower } else { best.peak - 1 };
                let progress =
                    Progress { nodes: self.stats.nodes, peak: best.peak as u64, lower_bound: lower.max(0) as u64 };
                if (self.watch)(progress).is_break() {
                    return;
                }
                let effort = end - self.stats.nodes;
                let how = How { backwards, width, ties, floor, upper: best.peak, effort };
                if let Some(order) = beam::search(&best.model, how, &mut self.stats) {
                    self.improve(best, order);
                }
            }
            width *= 2;
        }
    }

    fn improve(&mut self, best: &mut Attempt, order: Vec<u32>) {
        let Some(peak) = replay::peak(&best.model, &order) else { return };
        let better = Attempt { order, peak, ..best.clone() };
        if peak < best.peak && attempt::complete(self.problem, &better).is_some() {
            *best = better;
        }
    }

    /// The best flow bound from the ops at the peak.
    fn flows(&mut self, best: &Attempt) -> i64 {
        peak_ops(best).into_iter().map(|v| self.bound(v)).max().unwrap_or(0)
    }

    fn bound(&mut self, v: u32) -> i64 {
        if let Some(bound) = self.bounds.get(&v) {
            return *bound;
        }
        let (bounder, stats) = self.bounder();
        let bound = bounder.bound(v, stats);
        self.bounds.insert(v, bound);
        bound
    }

    fn bounder(&mut self) -> (&mut Bounder<'p>, &mut Stats) {
        let new = || Bounder::new(self.problem, &self.required, self.options);
        (self.bounder.get_or_insert_with(new), &mut self.stats)
    }

    /// The strongest certificate from the ops at the peak.
    fn certificate(&mut self, best: &Attempt) -> Option<Certificate> {
        let ops = peak_ops(best);
        let strongest = match ops[..] {
            [only] => Some(only),
            _ => ops.into_iter().max_by_key(|&v| (self.bound(v), std::cmp::Reverse(v))),
        };
        let (bounder, stats) = self.bounder();
        strongest.map(|v| bounder.certificate(v, stats))
    }

    /// Bytes for time, where the options ask for it.
    fn trade(&self, best: Attempt) -> Attempt {
        if self.options.latency_weight == 0 {
            return best;
        }
        latency::trade(self.problem, self.options, best, self.input_peak())
    }

    /// The peak of the input's order with nothing taken but what is required.
    fn input_peak(&self) -> Option<u64> {
        simulate::peak(self.problem, &input_order(self.problem), &self.required).ok().map(|(peak, _)| peak)
    }

    fn finish(mut self, best: Attempt) -> Option<Solution> {
        let problem = self.problem;
        let (taken, peak, peak_step) = attempt::complete(problem, &best)?;
        let certificate = self.certificate(&best);
        let stats = self.stats;
        let flow = certificate.as_ref().map_or(0, |certificate| certificate.bound);
        let searched = self.lower.max(0) as u64;
        let proof = match () {
            () if flow >= peak => Proof::Flow,
            () if best.is_tree && best.decided == self.required && self.proved_search => Proof::Tree,
            () if self.proved_search && searched >= peak => Proof::Search,
            () => Proof::None,
        };
        let order: Vec<OpId> = best.order.iter().map(|v| OpId(*v)).collect();
        let alternatives = self.alternatives(&best, &order, peak);
        Some(Solution {
            merged: merged(problem, &taken),
            input_peak: self.input_peak(),
            lower_bound: flow.max(searched).min(peak),
            order,
            taken,
            peak,
            peak_step,
            proof,
            certificate,
            alternatives,
            stats,
        })
    }

    /// Further orders of the same choice and peak.
    fn alternatives(&self, best: &Attempt, order: &[OpId], peak: u64) -> Vec<Schedule> {
        let mut found: Vec<Schedule> = Vec::new();
        if self.options.alternatives == 0 || self.options.order != OrderMode::Search {
            return found;
        }
        let mut pool = portfolio::orders(&best.model, &best.order, self.options.latency_weight);
        let sunk = crate::tighten::sink(&best.model, &best.order);
        pool.extend(replay::peak(&best.model, &sunk).map(|peak| (peak, sunk)));
        for (_, next) in pool {
            let next = Attempt { order: next, ..best.clone() };
            let Some((taken, its_peak, _)) = attempt::complete(self.problem, &next) else { continue };
            let schedule = Schedule { order: next.order.into_iter().map(OpId).collect(), taken };
            let known = schedule.order == order || found.contains(&schedule);
            if its_peak == peak && !known && found.len() < self.options.alternatives {
                found.push(schedule);
            }
        }
        found
    }
}

/// Bytes that every order holds during `v`: what it touches, and its scratch, less what it may overwrite.
fn held_by(model: &model::Model, v: usize) -> i64 {
    let touched: i64 = model.touch.row(v).iter().map(|&s| model.size[s as usize]).sum();
    let saved: i64 = model.pairs(v).iter().map(|pair| pair.bytes).sum();
    model.base + model.scratch[v] + (touched - saved).max(0)
}

/// The ops that run at the peak of an order, first and last of long plateaus included.
fn peak_ops(best: &Attempt) -> Vec<u32> {
    let Some((held, _)) = replay::profile(&best.model, &best.order) else { return Vec::new() };
    let peak = held.iter().copied().max().unwrap_or(0);
    let mut ops: Vec<u32> = (0..held.len()).filter(|&k| held[k] == peak).map(|k| best.order[k]).collect();
    let most = (PEAK_WORK / best.model.n.max(1)).clamp(1, MOST_PEAK_OPS);
    let excess = ops.len().saturating_sub(most);
    if excess > 0 {
        ops.drain(most / 2..most / 2 + excess);
    }
    ops
}
