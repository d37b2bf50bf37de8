//! The state of one call to [`crate::solve()`]: the best so far, the bound, the nodes spent, the verdict.

use crate::outcome::{Goal, Infeasible, Options, Outcome, Progress, Proof, Solution, Verdict, Watch};
use crate::problem::Problem;

/// What a solution is judged by; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Score {
    /// Bytes above capacities.
    over: u128,
    /// Bytes, times the place of their region in the item's list of wishes.
    unwanted: u128,
    /// The sum of heights.
    height: u128,
}

/// One call.
pub(crate) struct Run<'a, 'w> {
    pub(crate) problem: &'a Problem,
    pub(crate) options: &'a Options,
    watch: &'a mut Watch<'w>,
    best: Option<(Score, Solution)>,
    /// No solution has a lower sum of heights, in bytes.
    pub(crate) lower_bound: u64,
    pub(crate) infeasible: Option<Infeasible>,
    pub(crate) nodes: u64,
    /// A limit kept the search from finishing.
    pub(crate) limit_hit: bool,
    stopped: bool,
}

impl<'a, 'w> Run<'a, 'w> {
    pub(crate) fn new(problem: &'a Problem, options: &'a Options, watch: &'a mut Watch<'w>, lower_bound: u64) -> Self {
        Run {
            problem,
            options,
            watch,
            best: None,
            lower_bound,
            infeasible: None,
            nodes: 0,
            limit_hit: false,
            stopped: false,
        }
    }

    /// Keeps `solution` if it is the best.
    pub(crate) fn offer(&mut self, solution: Solution) {
        let score = self.score(&solution);
        if self.best.as_ref().is_none_or(|(best, _)| score < *best) {
            self.best = Some((score, solution));
        }
    }

    /// The sum of heights of the best solution, in bytes.
    pub(crate) fn height(&self) -> Option<u64> {
        self.best.as_ref().map(|(score, _)| score.height as u64)
    }

    /// The best solution.
    pub(crate) fn best_solution(&self) -> Option<&Solution> {
        self.best.as_ref().map(|(_, solution)| solution)
    }

    /// Whether the best solution is within all capacities.
    pub(crate) fn fits(&self) -> bool {
        self.best.as_ref().is_some_and(|(score, _)| score.over == 0)
    }

    /// Whether nothing better can be found, nothing better is asked for, or the caller wants to stop.
    pub(crate) fn done(&mut self) -> bool {
        let progress = Progress { nodes: self.nodes, height: self.height(), lower_bound: self.lower_bound };
        if !self.stopped && (self.watch)(&progress) {
            self.stopped = true;
            self.limit_hit = true;
        }
        self.stopped || self.infeasible.is_some() || self.best.as_ref().is_some_and(|(score, _)| self.enough(score))
    }

    /// As [`Run::done`], for searches that count `nodes` of their own.
    pub(crate) fn stop(&mut self, nodes: u64) -> bool {
        self.nodes += nodes;
        let done = self.done();
        self.nodes -= nodes;
        done
    }

    /// Nodes that may still be spent.
    pub(crate) fn left(&self) -> u64 {
        self.options.node_limit.saturating_sub(self.nodes)
    }

    fn enough(&self, score: &Score) -> bool {
        let optimal = score.unwanted == 0 && score.height <= u128::from(self.lower_bound);
        score.over == 0 && (self.options.goal == Goal::Fit || optimal)
    }

    fn score(&self, solution: &Solution) -> Score {
        let heights = solution.heights(self.problem);
        let regions = self.problem.regions();
        let over = heights
            .iter()
            .zip(regions)
            .map(|(&height, region)| u128::from(height.saturating_sub(region.capacity.unwrap_or(u64::MAX))));
        let unwanted = if regions.len() == 1 { 0 } else { self.unwanted(solution) };
        Score { over: over.sum(), unwanted, height: heights.iter().map(|&height| u128::from(height)).sum() }
    }

    fn unwanted(&self, solution: &Solution) -> u128 {
        let rank = |item: usize| {
            let region = solution.places[item].region;
            let wishes = &self.problem.items()[item].regions;
            if wishes.is_empty() { region.index() } else { wishes.iter().position(|&r| r == region).unwrap_or(0) }
        };
        let bytes = |item: usize| u128::from(self.problem.items()[item].size);
        (0..self.problem.items().len()).map(|item| bytes(item) * rank(item) as u128).sum()
    }

    /// The answer.
    pub(crate) fn outcome(self) -> Outcome {
        let verdict = match self.infeasible {
            _ if self.best.as_ref().is_some_and(|(score, _)| score.over == 0) => Verdict::Fits,
            Some(reason) => Verdict::ProvedInfeasible(reason),
            None if self.limit_hit => Verdict::Limit,
            None => Verdict::NotFound,
        };
        let solution = self.best.map(|(_, solution)| solution);
        let heights = solution.as_ref().map_or_else(Vec::new, |s| s.heights(self.problem));
        let base_aligns = solution.as_ref().map_or_else(Vec::new, |s| s.base_aligns(self.problem));
        let proof = match &solution {
            None => Proof::None,
            Some(_) if heights.iter().sum::<u64>() <= self.lower_bound => Proof::Optimal,
            Some(_) => Proof::Gap,
        };
        Outcome { verdict, solution, heights, base_aligns, lower_bound: self.lower_bound, proof, nodes: self.nodes }
    }
}
