//! First fit and best fit for every kind of constraint.
//!
//! Bodies are taken one after another; each goes to the lowest offset (or the smallest gap) that no
//! body placed before forbids, in the first of its regions whose capacity holds it. Bodies with a fixed
//! offset come first. A tree over the placed pieces, sorted by their first section, lists those that share
//! a section with a new one in time proportional to their number.
//!
//! Sound by construction: an offset is taken only if it lies in none of the forbidden intervals of
//! [`crate::model`]. Two fixed bodies that collide are a proof that nothing fits.

use crate::model::Model;
use crate::outcome::{Infeasible, Solution};
use crate::problem::{Problem, RegionId};
use crate::rigid::Slot;

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
pub(crate) fn fixed_conflict(problem: &Problem, model: &Model) -> Option<Infeasible> {
    let mut placer = Placer::new(problem, model);
    for body in 0..model.bodies.len() {
        let one = &model.bodies[body];
        let (Some(at), [slot]) = (one.fixed, one.slots.as_slice()) else {
            continue;
        };
        if let Some(other) = placer.collision(body, *slot, at) {
            let (first, second) = (model.bodies[other as usize].members[0].0, one.members[0].0);
            return Some(Infeasible::Conflict { first, second });
        }
        placer.put(body, at, slot.region);
    }
    None
}

/// Places the bodies in `order`, those with a fixed offset first. Where no region has room, the last one allowed is
/// overfilled, so the answer may break capacities (or, with several fixed bodies in the way, be `None`).
pub(crate) fn place(problem: &Problem, model: &Model, order: &[u32], choice: Choice) -> Option<Placement> {
    let mut placer = Placer::new(problem, model);
    let fixed = order.iter().filter(|&&body| model.bodies[body as usize].fixed.is_some());
    let free = order.iter().filter(|&&body| model.bodies[body as usize].fixed.is_none());
    for &body in fixed.chain(free) {
        let (offset, region) = placer.seek(body as usize, choice)?;
        placer.put(body as usize, offset, region);
    }
    Some(Placement { offsets: placer.offsets, regions: placer.regions })
}

struct Placer<'a> {
    problem: &'a Problem,
    model: &'a Model,
    /// Pieces by first section, and the place of each piece in that list.
    sorted: Vec<u32>,
    rank: Vec<u32>,
    /// Over `sorted`: the largest end of a placed piece, 0 where none is placed.
    tree: Vec<u32>,
    leaves: usize,
    offsets: Vec<i64>,
    regions: Vec<RegionId>,
    placed: Vec<bool>,
    blocked: Vec<(i64, i64, u32)>,
    stack: Vec<u32>,
}

impl<'a> Placer<'a> {
    fn new(problem: &'a Problem, model: &'a Model) -> Self {
        let mut sorted: Vec<u32> = (0..model.pieces.len() as u32).collect();
        sorted.sort_by_key(|&piece| model.pieces[piece as usize].from);
        let mut rank = vec![0; sorted.len()];
        sorted.iter().enumerate().for_each(|(place, &piece)| rank[piece as usize] = place as u32);
        let leaves = sorted.len().next_power_of_two();
        let count = model.bodies.len();
        Placer {
            problem,
            model,
            sorted,
            rank,
            tree: vec![0; 2 * leaves],
            leaves,
            offsets: vec![0; count],
            regions: vec![RegionId(0); count],
            placed: vec![false; count],
            blocked: Vec::new(),
            stack: Vec::new(),
        }
    }

    fn put(&mut self, body: usize, offset: i64, region: RegionId) {
        self.offsets[body] = offset;
        self.regions[body] = region;
        self.placed[body] = true;
        let first = self.model.pieces_of(body).first().map_or(0, |piece| self.index_of(piece));
        for (index, piece) in self.model.pieces_of(body).iter().enumerate() {
            let mut node = self.leaves + self.rank[first + index] as usize;
            while node > 0 && self.tree[node] < piece.to {
                self.tree[node] = piece.to;
                node /= 2;
            }
        }
    }

    fn index_of(&self, piece: &crate::model::Piece) -> usize {
        self.model.pieces.partition_point(|other| other.body < piece.body)
    }

    /// The offset and region that the rule chooses for `body`.
    fn seek(&mut self, body: usize, choice: Choice) -> Option<(i64, RegionId)> {
        let one = &self.model.bodies[body];
        let mut last = None;
        for &slot in &one.slots {
            let offset = match one.fixed {
                Some(at) => self.collision(body, slot, at).is_none().then_some(at),
                None => {
                    self.gather(body, slot.region);
                    Some(gap(slot, choice, &self.blocked))
                }
            };
            let Some(offset) = offset else { continue };
            let room = self.problem.regions()[slot.region.index()].capacity;
            if room.is_none_or(|capacity| (offset + one.extent) as u64 <= capacity) {
                return Some((offset, slot.region));
            }
            last = Some((offset, slot.region));
        }
        last
    }

    /// A placed body that collides with `body` at `offset`.
    fn collision(&mut self, body: usize, slot: Slot, offset: i64) -> Option<u32> {
        self.gather(body, slot.region);
        self.blocked.iter().find(|&&(low, high, _)| low < offset && offset < high).map(|&(_, _, other)| other)
    }

    /// The open intervals of offsets that placed bodies forbid to `body`, sorted.
    fn gather(&mut self, body: usize, region: RegionId) {
        let mut blocked = std::mem::take(&mut self.blocked);
        blocked.clear();
        let model = self.model;
        for piece in model.pieces_of(body) {
            self.visit(piece, region, &mut blocked);
        }
        for &(other, low, high) in &model.apart[body] {
            if self.placed[other as usize] && self.regions[other as usize] == region {
                let at = self.offsets[other as usize];
                blocked.push((at - high, at - low, other));
            }
        }
        blocked.sort_unstable();
        self.blocked = blocked;
    }

    /// All placed pieces that share a section with `piece`, by descending only where the largest end is late enough.
    fn visit(&mut self, piece: &crate::model::Piece, region: RegionId, blocked: &mut Vec<(i64, i64, u32)>) {
        let pieces = &self.model.pieces;
        let limit = self.sorted.partition_point(|&other| pieces[other as usize].from < piece.to) as u32;
        self.stack.push(1);
        while let Some(node) = self.stack.pop() {
            let depth = node.ilog2();
            let width = self.leaves as u32 >> depth;
            let first = (node - (1 << depth)) * width;
            if self.tree[node as usize] <= piece.from || first >= limit {
                continue;
            }
            if width > 1 {
                self.stack.extend([2 * node + 1, 2 * node]);
                continue;
            }
            let other = &pieces[self.sorted[first as usize] as usize];
            if self.regions[other.body as usize] == region {
                let at = self.offsets[other.body as usize];
                blocked.push((at + other.low - piece.high, at + other.high - piece.low, other.body));
            }
        }
    }
}

/// The offset for a body among `blocked` open intervals, sorted by their low ends.
fn gap(slot: Slot, choice: Choice, blocked: &[(i64, i64, u32)]) -> i64 {
    let mut offset = slot.at_least(0);
    let mut best: Option<(i64, i64)> = None;
    for &(low, high, _) in blocked {
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
