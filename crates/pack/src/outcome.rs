//! What a solver is asked and what it answers.

use std::fmt;

use crate::problem::{ItemId, Problem, RegionId};

/// Where an item lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The region.
    pub region: RegionId,
    /// The first byte, from the region's start.
    pub offset: u64,
}

/// A place for each item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Solution {
    /// One place per item, in the problem's order.
    pub places: Vec<Place>,
}

impl Solution {
    /// The height of each region: the highest end in it, in bytes.
    pub fn heights(&self, problem: &Problem) -> Vec<u64> {
        let mut heights = vec![0; problem.regions().len()];
        for (item, place) in problem.items().iter().zip(&self.places) {
            let height = &mut heights[place.region.index()];
            *height = place.offset.saturating_add(item.size).max(*height);
        }
        heights
    }

    /// The alignment that the base address of each region needs: the least common multiple of the
    /// alignments in it.
    pub fn base_aligns(&self, problem: &Problem) -> Vec<u64> {
        let mut aligns: Vec<u64> = problem.regions().iter().map(|region| region.align).collect();
        for (item, place) in problem.items().iter().zip(&self.places) {
            let align = &mut aligns[place.region.index()];
            *align = crate::problem::lcm(*align, item.align).unwrap_or(*align);
        }
        aligns
    }
}

/// How to place the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// All heuristics, improvement and exact search within the node limit.
    Search,
    /// All fast heuristics and nothing else; the best is kept.
    Portfolio,
    /// Lowest gap that fits, in the given order.
    FirstFit(Order),
    /// Smallest gap that fits, in the given order.
    BestFit(Order),
    /// Fill the lowest valley of the skyline over time, the given order breaking ties. Items with gaps, fixed
    /// offsets, relations or several regions are placed by first fit instead.
    Skyline(Order),
    /// LiteRT's arena planner: tensors held for the whole run first, then by size; best fit; 64-byte offsets.
    LiteRt,
    /// TFLite Micro's greedy planner: fixed offsets first, then by size; first fit; sizes and offsets in 16 bytes.
    Tflm,
    /// First fit by size, then swaps in the order, kept when they lower the height (as ARM Vela and TVM do).
    HillClimb,
}

/// The order in which a heuristic takes the items; ties go by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Order {
    /// First use first (execution order).
    Start,
    /// Largest size first.
    Size,
    /// Largest product of size and lifetime first.
    Area,
    /// Longest lifetime first.
    Life,
    /// Items live where the load is highest first, then the largest.
    Load,
    /// As XLA's heap: longest lifetime, then largest size (temporal).
    Temporal,
    /// As XLA's heap: largest size, then longest lifetime (spatial).
    Spatial,
    /// As the items are listed.
    Listed,
}

/// What counts as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The least height; in a problem with several regions, one that fits with the wanted regions well used.
    #[default]
    Minimise,
    /// Any solution within the capacities.
    Fit,
}

/// What to do, and when to give up. Limits count nodes, so the answer does not depend on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The method.
    pub method: Method,
    /// What counts as done.
    pub goal: Goal,
    /// Search nodes (or moves of a heuristic) after which the search gives up.
    pub node_limit: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { method: Method::Search, goal: Goal::Minimise, node_limit: 3_000_000 }
    }
}

/// How far a search is; handed to the callback now and then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Nodes so far.
    pub nodes: u64,
    /// The least total height found, if any.
    pub height: Option<u64>,
    /// No solution is lower than this.
    pub lower_bound: u64,
}

/// Asked now and then; `true` stops the search, which then answers with the best it has.
pub type Watch<'a> = dyn FnMut(&Progress) -> bool + 'a;

/// What is proved about the height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proof {
    /// The height equals the lower bound.
    Optimal,
    /// The height is above the lower bound; the truth lies between.
    Gap,
    /// There is no solution to prove anything about.
    None,
}

/// Why no solution exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Infeasible {
    /// At a step more bytes are live than the regions allowed for them have.
    Load {
        /// The step.
        step: u64,
        /// The items live there that may lie in these regions only.
        items: Vec<ItemId>,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that these regions have.
        available: u64,
    },
    /// An item, or items at fixed distances, larger than every region allowed for it.
    TooLarge {
        /// The item.
        item: ItemId,
        /// Bytes that are needed.
        needed: u64,
        /// The capacity of the largest region allowed.
        available: u64,
    },
    /// Two items with fixed offsets or at a fixed distance overlap whatever else happens.
    Conflict {
        /// One of them.
        first: ItemId,
        /// The other.
        second: ItemId,
    },
    /// The load fits, and an exhaustive search found no placement.
    Exhausted {
        /// The height that the load needs at least, summed over regions.
        floor: u64,
        /// The capacity, summed over regions.
        available: u64,
    },
}

/// The answer to the question of capacities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The solution is within all capacities.
    Fits,
    /// No solution exists.
    ProvedInfeasible(Infeasible),
    /// The method is not exhaustive and found none; one may exist.
    NotFound,
    /// The search hit its limit, or was stopped, before it found one.
    Limit,
}

/// A solver's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether the capacities are met.
    pub verdict: Verdict,
    /// The best solution; above a capacity when the verdict is not `Fits`, and absent when even that is impossible.
    pub solution: Option<Solution>,
    /// The height of each region in bytes; empty without a solution.
    pub heights: Vec<u64>,
    /// The alignment each region's base address needs; empty without a solution.
    pub base_aligns: Vec<u64>,
    /// No solution has a lower sum of heights.
    pub lower_bound: u64,
    /// What is proved about the sum of heights.
    pub proof: Proof,
    /// Search nodes spent.
    pub nodes: u64,
}

impl Outcome {
    /// The sum of the heights; `None` without a solution.
    pub fn height(&self) -> Option<u64> {
        self.solution.as_ref().map(|_| self.heights.iter().sum())
    }
}

impl Infeasible {
    /// The message with items named by `name`, which may add their sizes.
    pub fn message(&self, name: &dyn Fn(ItemId) -> String) -> String {
        match self {
            Infeasible::Load { step, items, needed, available } => {
                let short = needed - available;
                let shown: Vec<String> = items.iter().take(8).map(|&id| name(id)).collect();
                let more = if items.len() > 8 { format!(" and {} more", items.len() - 8) } else { String::new() };
                format!(
                    "no plan can fit: floor {needed} > {available} (needed {needed}, available {available}, short by {short}) at step {step}, live there: {}{more}",
                    shown.join(", ")
                )
            }
            Infeasible::TooLarge { item, needed, available } => {
                format!("no plan can fit: {} needs {needed}, its largest region has {available}", name(*item))
            }
            Infeasible::Conflict { first, second } => {
                format!(
                    "no plan can fit: {} and {} overlap by their fixed offsets or distance",
                    name(*first),
                    name(*second)
                )
            }
            Infeasible::Exhausted { floor, available } => {
                format!(
                    "no plan can fit: the floor {floor} is within {available}, but an exhaustive search found no placement"
                )
            }
        }
    }
}

impl fmt::Display for Infeasible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(&|id| id.to_string()))
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Proof::Optimal => "optimal",
            Proof::Gap => "gap",
            Proof::None => "none",
        })
    }
}
