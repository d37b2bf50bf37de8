//! The door: which solver a problem and a method go to.

use crate::outcome::{Options, Outcome, Watch};
use crate::plain::Plain;
use crate::problem::Problem;
use crate::{general, straight};

/// Places the items of `problem` by the method in `options`.
///
/// `watch` is asked now and then whether to stop. The same problem and options give the same answer
/// on every machine, as long as `watch` never stops the search.
///
/// Near-linear in time and linear in memory on plain problems (one region, one alignment, no gaps, fixed offsets or
/// relations); otherwise time and memory grow with the pairs of items that are live together.
pub fn solve(problem: &Problem, options: &Options, watch: &mut Watch<'_>) -> Outcome {
    match Plain::new(problem) {
        Some(plain) => straight::solve(problem, &plain, options, watch),
        None => general::solve(problem, options, watch),
    }
}
