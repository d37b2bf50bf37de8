//! Improvement by ejection: put what does not fit where it disturbs least, and place the disturbed again.
//!
//! Given a placement and a goal height, the bodies that reach above the goal are taken out. One at a time they are
//! put back below it: into a gap if there is one, else at the offset where the bodies in the way weigh least, and
//! those are taken out in turn. A body that found no gap grows heavier, so the search learns what is hard to place and
//! leaves it alone (guided ejection, Nagata and Braysy 2009, who routed vehicles with it). All kinds of constraints are
//! handled, since a body's room is described by forbidden intervals alone; fixed bodies are never ejected.
//!
//! Sound: the placement is complete only when nothing is left outside, and every body in it lies in no forbidden interval.

use crate::fit::{self, Choice, Placement};
use crate::model::Model;
use crate::rigid::Slot;
use crate::shelf::{Block, Shelf};

/// The placement being repaired.
pub(crate) struct Ejector<'a> {
    model: &'a Model,
    shelf: Shelf<'a>,
    /// How often a body found no gap, plus one.
    weight: Vec<u64>,
    /// How hard a body is to put again: grows with its lifetime.
    bulk: Vec<u64>,
    outside: Vec<u32>,
    seed: u64,
    /// The work done: one for each body put, and one for each 32 intervals looked at on the way.
    pub(crate) moves: u64,
}

impl<'a> Ejector<'a> {
    pub(crate) fn new(model: &'a Model) -> Self {
        let weight = vec![1; model.bodies.len()];
        let life =
            |body: usize| model.pieces_of(body).iter().map(|piece| u64::from(piece.to - piece.from)).sum::<u64>();
        let bulk = (0..model.bodies.len()).map(|body| 1 + life(body).isqrt()).collect();
        Ejector { model, shelf: Shelf::new(model), weight, bulk, outside: Vec::new(), seed: 0x9E37_79B9, moves: 0 }
    }

    /// Tries to bring `start` to the height in `goals` or below in every region, in at most `limit` moves.
    pub(crate) fn reach(&mut self, start: &Placement, goals: &[i64], limit: u64) -> Option<Placement> {
        self.load(start, goals);
        self.drain(goals, limit)
    }

    fn drain(&mut self, goals: &[i64], limit: u64) -> Option<Placement> {
        let stop = self.moves.saturating_add(limit);
        while let Some(body) = self.outside.pop() {
            self.moves += 1;
            if self.moves >= stop || !self.insert(body as usize, goals) {
                self.outside.push(body);
                return None;
            }
        }
        Some(Placement { offsets: self.shelf.offsets.clone(), regions: self.shelf.regions.clone() })
    }

    /// Tries to place everything below `goal` (one region), given offsets for some bodies; the others go in by area. Given
    /// bodies start out heavy, so that they are moved last.
    pub(crate) fn complete(
        &mut self,
        given: &[Option<i64>],
        by_area: &[u32],
        goal: i64,
        limit: u64,
    ) -> Option<Placement> {
        let mut start = Placement { offsets: vec![goal + 1; given.len()], regions: self.shelf.regions.clone() };
        for (body, offset) in given.iter().enumerate() {
            self.weight[body] = if offset.is_some() { GIVEN } else { 1 };
            start.offsets[body] = offset.unwrap_or(goal + 1);
        }
        self.load(&start, &[goal]);
        self.outside.clear();
        self.outside.extend(by_area.iter().rev().filter(|&&body| given[body as usize].is_none()));
        self.drain(&[goal], limit)
    }

    /// What the last failed attempt left, with the bodies outside put on top of the rest.
    pub(crate) fn leftover(&mut self) -> Placement {
        let mut outside = std::mem::take(&mut self.outside);
        outside.sort_by_key(|&body| (std::cmp::Reverse(self.model.bodies[body as usize].extent), body));
        for body in outside {
            let (index, region) = (body as usize, self.shelf.regions[body as usize]);
            let slot = self.slot(index);
            self.shelf.gather(index, region);
            let offset = fit::gap(slot, Choice::First, &self.shelf.blocked);
            self.shelf.put(index, offset, region);
        }
        Placement { offsets: self.shelf.offsets.clone(), regions: self.shelf.regions.clone() }
    }

    /// Makes the shelf that of `start` without the bodies above the goals.
    fn load(&mut self, start: &Placement, goals: &[i64]) {
        self.outside.clear();
        for (body, one) in self.model.bodies.iter().enumerate() {
            let (offset, region) = (start.offsets[body], start.regions[body]);
            let above = offset + one.extent > goals[region.index()] && one.fixed.is_none();
            if self.shelf.placed[body] && (above || self.shelf.offsets[body] != offset) {
                self.shelf.take(body);
            }
            if above {
                self.shelf.regions[body] = region;
                self.outside.push(body as u32);
            } else if !self.shelf.placed[body] {
                self.shelf.put(body, offset, region);
            }
        }
    }

    fn slot(&self, body: usize) -> Slot {
        let region = self.shelf.regions[body];
        let slots = &self.model.bodies[body].slots;
        slots.iter().copied().find(|slot| slot.region == region).unwrap_or(slots[0])
    }

    /// Puts a body below the goal of one of its regions, ejecting what is in the way; `false` if fixed bodies leave no room.
    fn insert(&mut self, body: usize, goals: &[i64]) -> bool {
        let model = self.model;
        let one = &model.bodies[body];
        let choice = if self.random(8) == 0 { Choice::First } else { Choice::Best };
        for &slot in &one.slots {
            self.shelf.gather(body, slot.region);
            self.moves += self.shelf.blocked.len() as u64 / 32;
            let offset = fit::gap(slot, choice, &self.shelf.blocked);
            if offset <= goals[slot.region.index()] - one.extent {
                self.shelf.put(body, offset, slot.region);
                return true;
            }
        }
        self.weight[body] += 1;
        let first = self.random(one.slots.len() as u64) as usize;
        (0..one.slots.len()).any(|turn| {
            let slot = one.slots[(first + turn) % one.slots.len()];
            self.force(body, slot, goals[slot.region.index()] - one.extent)
        })
    }

    /// Puts a body at the offset of at most `top` that disturbs least.
    fn force(&mut self, body: usize, slot: Slot, top: i64) -> bool {
        self.shelf.gather(body, slot.region);
        self.moves += self.shelf.blocked.len() as u64 / 16;
        let blocks = std::mem::take(&mut self.shelf.blocked);
        let place = self.cheapest(slot, top, &blocks);
        if let Some(offset) = place {
            for block in blocks.iter().filter(|block| block.low < offset && offset < block.high) {
                if self.shelf.placed[block.body as usize] {
                    self.shelf.take(block.body as usize);
                    self.outside.push(block.body);
                }
            }
            self.shelf.put(body, offset, slot.region);
        }
        self.shelf.blocked = blocks;
        place.is_some()
    }

    /// The offset of at most `top` at which the blocks weigh least. Candidates are the ends of blocks and the borders;
    /// the weight below is a prefix sum over lows minus one over highs.
    fn cheapest(&mut self, slot: Slot, top: i64, blocks: &[Block]) -> Option<i64> {
        if top < slot.residue {
            return None;
        }
        let down = |x: i64| slot.at_least(x - slot.modulus + 1);
        let mut candidates: Vec<i64> = vec![slot.at_least(0), down(top)];
        candidates.extend(blocks.iter().flat_map(|block| [slot.at_least(block.high), down(block.low)]));
        candidates.retain(|&offset| offset >= slot.residue && offset <= top);
        candidates.sort_unstable();
        candidates.dedup();
        let mut highs: Vec<(i64, u64)> = blocks.iter().map(|block| (block.high, self.cost(block.body))).collect();
        highs.sort_unstable();
        let (mut weight, mut low, mut high) = (0_u128, 0, 0);
        let mut best: Option<((u128, u64), i64)> = None;
        for offset in candidates {
            while low < blocks.len() && blocks[low].low < offset {
                weight += u128::from(self.cost(blocks[low].body));
                low += 1;
            }
            while high < highs.len() && highs[high].0 <= offset {
                weight -= u128::from(highs[high].1);
                high += 1;
            }
            let score = (weight, self.random(1 << 16));
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, offset));
            }
        }
        best.filter(|&((weight, _), _)| weight < u128::from(FIXED)).map(|(_, offset)| offset)
    }

    fn cost(&self, body: u32) -> u64 {
        if self.model.bodies[body as usize].fixed.is_some() {
            FIXED
        } else {
            self.weight[body as usize].min(1 << 20) * self.bulk[body as usize]
        }
    }

    fn random(&mut self, below: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % below
    }
}

/// The weight that a body of a solved core starts with.
const GIVEN: u64 = 32;

/// The weight of a fixed body; more than all others in the way together.
const FIXED: u64 = 1 << 52;
