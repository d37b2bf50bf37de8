//! First fit and best fit for every kind of constraint.
//!
//! Bodies are taken one after another; each goes to the lowest offset (or the smallest gap) that no
//! body placed before forbids, in the first of its regions whose capacity holds it. Bodies with a fixed
//! offset come first.
//!
//! Sound by construction: an offset is taken only if it lies in none of the forbidden intervals of
//! [`crate::model`]. Two fixed bodies that collide are a proof that nothing fits.

use crate::model::Model;
use crate::outcome::{Infeasible, Solution};
use crate::problem::{Problem, RegionId};
use crate::rigid::{Body, Slot};
use crate::shelf::{Block, Shelf};

/// How to choose among gaps that are large enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The lowest.
    First,
    /// The one that leaves the least.
    Best,
}

/// A placement of all bodies.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    pub(crate) offsets: Vec<i64>,
    pub(crate) regions: Vec<RegionId>,
}

impl Placement {
    /// The placement as a solution of `problem`.
    pub(crate) fn solution(&self, problem: &Problem, model: &Model) -> Solution {
        model.solution(problem, &self.offsets, &self.regions)
    }
}

/// Two fixed bodies that collide in every region that both may use; only checked where each has one region.
pub(crate) fn fixed_conflict(model: &Model) -> Option<Infeasible> {
    let mut shelf = Shelf::new(model);
    for body in 0..model.bodies.len() {
        let one = &model.bodies[body];
        let (Some(at), [slot]) = (one.fixed, one.slots.as_slice()) else {
            continue;
        };
        if let Some(other) = shelf.collision(body, slot.region, at) {
            let (first, second) = (model.bodies[other as usize].members[0].0, one.members[0].0);
            return Some(Infeasible::Conflict { first, second });
        }
        shelf.put(body, at, slot.region);
    }
    None
}

/// Places the bodies in `order`, those with a fixed offset first. Where no region has room, the last one allowed is
/// overfilled, so the answer may break capacities (or, with several fixed bodies in the way, be `None`).
pub(crate) fn place(problem: &Problem, model: &Model, order: &[u32], choice: Choice) -> Option<Placement> {
    let mut shelf = Shelf::new(model);
    let fixed = order.iter().filter(|&&body| model.bodies[body as usize].fixed.is_some());
    let free = order.iter().filter(|&&body| model.bodies[body as usize].fixed.is_none());
    for &body in fixed.chain(free) {
        let (offset, region) = seek(problem, &mut shelf, &model.bodies[body as usize], body as usize, choice)?;
        shelf.put(body as usize, offset, region);
    }
    Some(Placement { offsets: shelf.offsets, regions: shelf.regions })
}

/// The offset and region that the rule chooses for `body`.
fn seek(problem: &Problem, shelf: &mut Shelf<'_>, one: &Body, body: usize, choice: Choice) -> Option<(i64, RegionId)> {
    let mut last = None;
    for &slot in &one.slots {
        let offset = match one.fixed {
            Some(at) => shelf.collision(body, slot.region, at).is_none().then_some(at),
            None => {
                shelf.gather(body, slot.region);
                Some(gap(slot, choice, &shelf.blocked))
            }
        };
        let Some(offset) = offset else { continue };
        let room = problem.regions()[slot.region.index()].capacity;
        if room.is_none_or(|capacity| (offset + one.extent) as u64 <= capacity) {
            return Some((offset, slot.region));
        }
        last = Some((offset, slot.region));
    }
    last
}

/// The offset for a body among `blocked` open intervals, sorted by their low ends.
pub(crate) fn gap(slot: Slot, choice: Choice, blocked: &[Block]) -> i64 {
    let mut offset = slot.at_least(0);
    let mut best: Option<(i64, i64)> = None;
    for &Block { low, high, .. } in blocked {
        if offset <= low {
            if choice == Choice::First {
                return offset;
            }
            if best.is_none_or(|(left, _)| low - offset < left) {
                best = Some((low - offset, offset));
            }
        }
        if offset < high {
            offset = slot.at_least(high);
        }
    }
    best.map_or(offset, |(_, offset)| offset)
}
