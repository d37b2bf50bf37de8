//! The door: load check, heuristics, search, verdict.

use crate::fit::{self, Choice};
use crate::load;
use crate::model::Model;
use crate::orders::{Traits, body_traits};
use crate::outcome::{Goal, Infeasible, Method, Options, Order, Outcome, Progress, Proof, Solution, Verdict, Watch};
use crate::problem::Problem;

/// Places the items of `problem` by the method in `options`.
///
/// `watch` is asked now and then whether to stop. The same problem and options give the same answer
/// on every machine, as long as `watch` never stops the search.
pub fn solve(problem: &Problem, options: &Options, watch: &mut Watch<'_>) -> Outcome {
    let model = Model::new(problem);
    let mut run = Run::new(problem, &model, options, watch);
    if let Some(reason) = load::infeasible(problem, &model).or_else(|| fit::fixed_conflict(problem, &model)) {
        run.infeasible = Some(reason);
    }
    run.heuristics();
    run.outcome()
}

/// The state of one call: the best so far, the bound, the nodes spent.
struct Run<'a, 'w> {
    problem: &'a Problem,
    model: &'a Model,
    options: &'a Options,
    watch: &'a mut Watch<'w>,
    traits: Vec<Traits>,
    best: Option<(Score, Solution)>,
    lower_bound: u64,
    infeasible: Option<Infeasible>,
    nodes: u64,
    limit_hit: bool,
}

/// Less is better: bytes above capacities, then bytes in unwanted regions, then the sum of heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    over: u128,
    unwanted: u128,
    height: u128,
}

impl<'a, 'w> Run<'a, 'w> {
    fn new(problem: &'a Problem, model: &'a Model, options: &'a Options, watch: &'a mut Watch<'w>) -> Self {
        let lower_bound = load::lower_bound(problem, model);
        let traits = body_traits(model);
        Run {
            problem,
            model,
            options,
            watch,
            traits,
            best: None,
            lower_bound,
            infeasible: None,
            nodes: 0,
            limit_hit: false,
        }
    }

    fn heuristics(&mut self) {
        match self.options.method {
            Method::FirstFit(order) => self.fit(order, Choice::First),
            Method::BestFit(order) => self.fit(order, Choice::Best),
            _ => {
                for order in Order::ALL {
                    for choice in [Choice::First, Choice::Best] {
                        if !self.done() {
                            self.fit(order, choice);
                        }
                    }
                }
            }
        }
    }

    fn fit(&mut self, order: Order, choice: Choice) {
        self.nodes += self.model.bodies.len() as u64;
        let order = order.sorted(&self.traits);
        if let Some(placement) = fit::place(self.problem, self.model, &order, choice) {
            self.offer(placement.solution(self.problem, self.model));
        }
    }

    fn offer(&mut self, solution: Solution) {
        let score = self.score(&solution);
        if self.best.as_ref().is_none_or(|(best, _)| score < *best) {
            self.best = Some((score, solution));
        }
    }

    fn score(&self, solution: &Solution) -> Score {
        let heights = solution.heights(self.problem);
        let capacities = self.problem.regions().iter().map(|region| region.capacity.unwrap_or(u64::MAX));
        let over =
            heights.iter().zip(capacities).map(|(&height, capacity)| u128::from(height.saturating_sub(capacity))).sum();
        let unwanted = if self.problem.regions().len() == 1 { 0 } else { self.unwanted(solution) };
        Score { over, unwanted, height: heights.iter().map(|&height| u128::from(height)).sum() }
    }

    /// Bytes times the place of their region in the item's list of wishes.
    fn unwanted(&self, solution: &Solution) -> u128 {
        let rank = |item: usize| {
            let region = solution.places[item].region;
            let wishes = &self.problem.items()[item].regions;
            if wishes.is_empty() { region.index() } else { wishes.iter().position(|&r| r == region).unwrap_or(0) }
        };
        let bytes = |item: usize| u128::from(self.problem.items()[item].size);
        (0..self.problem.items().len()).map(|item| bytes(item) * rank(item) as u128).sum()
    }

    /// Whether nothing better can be found, or nothing better is asked for.
    fn done(&mut self) -> bool {
        let height = self.best.as_ref().map(|(score, _)| score.height as u64);
        let progress = Progress { nodes: self.nodes, height, lower_bound: self.lower_bound };
        self.limit_hit |= (self.watch)(&progress);
        self.limit_hit
            || self.infeasible.is_some() && height.is_some()
            || self.best.as_ref().is_some_and(|(score, _)| self.enough(score))
    }

    fn enough(&self, score: &Score) -> bool {
        let optimal = score.unwanted == 0 && score.height == u128::from(self.lower_bound);
        score.over == 0 && (self.options.goal == Goal::Fit || optimal)
    }

    fn outcome(self) -> Outcome {
        let fits = self.best.as_ref().is_some_and(|(score, _)| score.over == 0);
        let verdict = match self.infeasible {
            _ if fits => Verdict::Fits,
            Some(reason) => Verdict::ProvedInfeasible(reason),
            None if self.limit_hit => Verdict::Limit,
            None => Verdict::NotFound,
        };
        let solution = self.best.map(|(_, solution)| solution);
        let heights = solution.as_ref().map_or_else(Vec::new, |s| s.heights(self.problem));
        let base_aligns = solution.as_ref().map_or_else(Vec::new, |s| s.base_aligns(self.problem));
        let proof = match &solution {
            None => Proof::None,
            Some(_) if heights.iter().sum::<u64>() == self.lower_bound => Proof::Optimal,
            Some(_) => Proof::Gap,
        };
        Outcome { verdict, solution, heights, base_aligns, lower_bound: self.lower_bound, proof, nodes: self.nodes }
    }
}
