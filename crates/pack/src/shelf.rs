//! The bodies placed so far, and what they forbid to another one.
//!
//! A tree over all pieces, sorted by their first section, knows the largest end of the placed ones below each node,
//! so those that share a section with a new piece are listed in time proportional to their number.

use crate::model::{Model, Piece};
use crate::problem::RegionId;

/// An open interval of offsets that a placed body forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Block {
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) body: u32,
}

/// A partial placement that bodies can be put into and taken out of.
pub(crate) struct Shelf<'a> {
    model: &'a Model,
    /// Pieces by first section, and the place of each piece in that list.
    sorted: Vec<u32>,
    rank: Vec<u32>,
    /// Over `sorted`: the largest end of a placed piece, 0 where none is placed.
    tree: Vec<u32>,
    leaves: usize,
    pub(crate) offsets: Vec<i64>,
    pub(crate) regions: Vec<RegionId>,
    pub(crate) placed: Vec<bool>,
    pub(crate) blocked: Vec<Block>,
    stack: Vec<u32>,
}

impl<'a> Shelf<'a> {
    pub(crate) fn new(model: &'a Model) -> Self {
        let mut sorted: Vec<u32> = (0..model.pieces.len() as u32).collect();
        sorted.sort_by_key(|&piece| model.pieces[piece as usize].from);
        let mut rank = vec![0; sorted.len()];
        sorted.iter().enumerate().for_each(|(place, &piece)| rank[piece as usize] = place as u32);
        let leaves = sorted.len().next_power_of_two();
        let count = model.bodies.len();
        Shelf {
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

    pub(crate) fn put(&mut self, body: usize, offset: i64, region: RegionId) {
        self.offsets[body] = offset;
        self.regions[body] = region;
        self.placed[body] = true;
        let first = self.model.first_piece(body);
        for (index, piece) in self.model.pieces_of(body).iter().enumerate() {
            let mut node = self.leaves + self.rank[first + index] as usize;
            while node > 0 && self.tree[node] < piece.to {
                self.tree[node] = piece.to;
                node /= 2;
            }
        }
    }

    /// Takes a body out again.
    pub(crate) fn take(&mut self, body: usize) {
        self.placed[body] = false;
        let first = self.model.first_piece(body);
        for index in first..first + self.model.pieces_of(body).len() {
            let mut node = self.leaves + self.rank[index] as usize;
            self.tree[node] = 0;
            while node > 1 {
                node /= 2;
                let largest = self.tree[2 * node].max(self.tree[2 * node + 1]);
                if self.tree[node] == largest {
                    break;
                }
                self.tree[node] = largest;
            }
        }
    }

    /// A placed body that collides with `body` at `offset`.
    pub(crate) fn collision(&mut self, body: usize, region: RegionId, offset: i64) -> Option<u32> {
        self.gather(body, region);
        self.blocked.iter().find(|block| block.low < offset && offset < block.high).map(|block| block.body)
    }

    /// Fills `blocked` with the open intervals of offsets that placed bodies forbid to `body`, sorted.
    pub(crate) fn gather(&mut self, body: usize, region: RegionId) {
        let mut blocked = std::mem::take(&mut self.blocked);
        blocked.clear();
        let model = self.model;
        for piece in model.pieces_of(body) {
            self.visit(piece, region, &mut blocked);
        }
        for &(other, low, high) in &model.apart[body] {
            if self.placed[other as usize] && self.regions[other as usize] == region {
                let at = self.offsets[other as usize];
                blocked.push(Block { low: at - high, high: at - low, body: other });
            }
        }
        blocked.sort_unstable();
        self.blocked = blocked;
    }

    /// All placed pieces that share a section with `piece`, by descending only where the largest end is late enough.
    fn visit(&mut self, piece: &Piece, region: RegionId, blocked: &mut Vec<Block>) {
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
                blocked.push(Block {
                    low: at + other.low - piece.high,
                    high: at + other.high - piece.low,
                    body: other.body,
                });
            }
        }
    }
}
