//! Explanations as data: what holds the peak, what one edge or one kept storage costs.
//!
//! A what-if answer solves the changed problem again, so it is exact where the solver proves it and otherwise the best that was found.

use crate::error::{OrderError, ProblemError};
use crate::ids::{OpId, StorageId};
use crate::problem::Problem;
use crate::simulate::{Merged, simulate};
use crate::solution::{Failure, Options, Solution, Watch};
use crate::solve::solve;
use crate::taken::Taken;
use std::cmp::Reverse;

/// A storage that is held during a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The storage with its members and live range.
    pub storage: Merged,
    /// Why it is held.
    pub why: Why,
}

/// Why a storage is held during a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// The step's op writes it, and nothing of it was live before.
    Written,
    /// The step's op reads it for the last time.
    LastRead,
    /// It is still needed by this op, the last to touch it.
    NeededBy(OpId),
    /// It is kept to the end or for the whole run.
    Kept,
}

/// What is held during `step`, largest first.
///
/// # Errors
/// `order` with `taken` is not legal.
pub fn holders(problem: &Problem, order: &[OpId], taken: &Taken, step: usize) -> Result<Vec<Holder>, OrderError> {
    let run = simulate(problem, order, taken)?;
    let kept = |m: &Merged| {
        m.members.iter().any(|s| {
            let s = &problem.spec.storages[s.index()];
            s.live_out || s.whole_run
        })
    };
    let why = |m: &Merged| match () {
        () if kept(m) => Why::Kept,
        () if m.begin == step => Why::Written,
        () if m.end == step + 1 => Why::LastRead,
        () => order.get(m.end - 1).map_or(Why::Kept, |&op| Why::NeededBy(op)),
    };
    let live = run.storages.iter().filter(|m| m.begin <= step && step < m.end && m.size > 0);
    let mut held: Vec<Holder> = live.map(|m| Holder { storage: m.clone(), why: why(m) }).collect();
    held.sort_by_key(|h| Reverse(h.storage.size));
    Ok(held)
}

/// A change of the problem whose effect one wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// Without this edge (an index into [`crate::Spec::deps`]).
    WithoutDep(usize),
    /// This storage is neither kept to the end nor held for the whole run.
    NotKept(StorageId),
    /// This storage takes no bytes.
    Free(StorageId),
}

/// Why a what-if has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhatIfError {
    /// The change names an edge or a storage that does not exist.
    NoSuchPlace,
    /// The changed problem is not a problem.
    Problem(ProblemError),
    /// The changed problem has no solution.
    Failure(Failure),
}

/// Solves `problem` with `change` made.
///
/// # Errors
/// [`WhatIfError`].
pub fn what_if(
    problem: &Problem,
    options: &Options,
    change: Change,
    watch: Watch<'_>,
) -> Result<Solution, WhatIfError> {
    let mut spec = problem.spec.clone();
    match change {
        Change::WithoutDep(i) if i < spec.deps.len() => {
            let edge = spec.deps[i];
            // The same edge may be listed more than once.
            spec.deps.retain(|e| *e != edge);
        }
        Change::NotKept(s) if s.index() < spec.storages.len() => {
            let storage = &mut spec.storages[s.index()];
            (storage.live_out, storage.whole_run) = (false, false);
        }
        Change::Free(s) if s.index() < spec.storages.len() => spec.storages[s.index()].size = 0,
        _ => return Err(WhatIfError::NoSuchPlace),
    }
    let changed = Problem::new(spec).map_err(WhatIfError::Problem)?;
    solve(&changed, options, watch).map_err(WhatIfError::Failure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::problem::Spec;
    use std::ops::ControlFlow;

    #[test]
    fn the_peak_is_explained_by_what_is_read_and_written() {
        let p = fixtures::weights_first();
        let order = [0, 2, 1, 3].map(OpId);
        let held = holders(&p, &order, &Taken::default(), 1).expect("legal");
        let told: Vec<_> = held.iter().map(|h| (h.storage.members[0].0, h.why)).collect();
        assert_eq!(told, [(1, Why::LastRead), (0, Why::LastRead), (3, Why::Written)]);
        assert_eq!(held.iter().map(|h| h.storage.size).sum::<u64>(), 120);
    }

    #[test]
    fn an_edge_costs_what_the_peak_falls_by_without_it() {
        // Op 1 (which makes the second weight) is locked before op 2.
        let mut spec: Spec = fixtures::weights_first().spec().clone();
        spec.deps.push((OpId(1), OpId(2)));
        let p = Problem::new(spec).expect("legal");
        let mut watch = |_| ControlFlow::Continue(());
        let with = solve(&p, &Options::default(), &mut watch).expect("solved");
        let without = what_if(&p, &Options::default(), Change::WithoutDep(0), &mut watch).expect("solved");
        assert_eq!((with.peak, without.peak), (220, 120));
        assert_eq!(what_if(&p, &Options::default(), Change::WithoutDep(1), &mut watch), Err(WhatIfError::NoSuchPlace));
    }
}
