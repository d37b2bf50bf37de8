//! Cores: solve exactly where it is tight, then fit the rest around it.
//!
//! Most of a large plan is loose; what keeps a heuristic from the floor are a few full sections. The items that are live in
//! a section filled above a threshold form the *core*, a small problem of its own, and the exact search packs it within
//! the goal. The others are then put in, largest area first, by ejection that moves core items last.
//!
//! A core that has no packing within a capacity proves that the whole problem has none.

use crate::corner::restart::{Answer, Restarts};
use crate::eject::Ejector;
use crate::fit::Placement;
use crate::plain::Plain;

/// Thresholds of fullness, in 64ths of the goal.
pub(crate) const THRESHOLDS: [u64; 5] = [62, 58, 52, 44, 32];

/// What came of a core.
pub(crate) enum Core {
    /// A packing of all items within the goal.
    Whole(Placement),
    /// The core has no packing within the goal.
    Exhausted,
    /// The core was not settled, or the rest did not go in.
    Open,
}

/// The items live in a section filled to more than `threshold` 64ths of `goal` bytes, ascending.
pub(crate) fn items(plain: &Plain, goal: u64, threshold: u64) -> Vec<u32> {
    let full = |&load: &u64| u128::from(load) * 64 > u128::from(goal) * u128::from(threshold);
    let mut before = vec![0_u32];
    plain.bound.iter().for_each(|load| before.push(before[before.len() - 1] + u32::from(full(load))));
    let inside = |id: &u32| before[plain.to[*id as usize] as usize] > before[plain.from[*id as usize] as usize];
    (0..plain.len() as u32).filter(inside).collect()
}

/// Packs the core `keep` within `goal` bytes in at most `nodes` nodes, then all else in at most `moves` moves. Bodies of the
/// ejector are those of the problem's items; `by_area` lists them. Returns the nodes spent, too.
pub(crate) fn solve(
    plain: &Plain,
    keep: &[u32],
    goal: u64,
    nodes: u64,
    ejector: &mut Ejector<'_>,
    by_area: &[u32],
    moves: u64,
) -> (Core, u64) {
    let core = plain.subset(keep);
    let mut exact = Restarts::new(&core);
    let offsets = match exact.ask(goal, nodes, &mut |_| false) {
        Answer::Found(offsets) => offsets,
        Answer::Exhausted => return (Core::Exhausted, exact.nodes()),
        Answer::Limit => return (Core::Open, exact.nodes()),
    };
    let mut given = vec![None; by_area.len()];
    core.items
        .iter()
        .zip(&offsets)
        .for_each(|(&item, offset)| given[item as usize] = Some((offset * plain.unit) as i64));
    let before = ejector.moves;
    let placement = ejector.complete(&given, by_area, goal as i64, moves);
    let spent = exact.nodes() + ejector.moves - before;
    (placement.map_or(Core::Open, Core::Whole), spent)
}
