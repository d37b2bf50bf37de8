//! Skyline heuristics for plain problems: near-linear time, linear memory.
//!
//! The skyline is the height up to which each section is filled. Valleys are filled one after another: of the
//! items that lie inside a valley's range of sections, the first in the order is put on its ground; if none does, the
//! valley rises to its lower neighbour and merges with it. No list of overlapping pairs is ever made.
//!
//! Sound: an item is put where all its sections have the same height, on top of everything placed there before.

use std::cmp::Reverse;

use crate::orders::{RangeMax, Traits};
use crate::outcome::Order;
use crate::plain::Plain;

/// Offsets in units, with ties broken by `order`, and the height.
pub(crate) fn skyline(plain: &Plain, order: Order) -> (Vec<u64>, u64) {
    let ranked = order.sorted(&traits(plain, order));
    fill(plain, &ranked)
}

/// The traits of each item; the load only where the order looks at it.
pub(crate) fn traits(plain: &Plain, order: Order) -> Vec<Traits> {
    let highest = (order == Order::Load).then(|| RangeMax::new(plain.load.clone()));
    let load = |id: usize| highest.as_ref().map_or(0, |tree| tree.max(plain.from[id] as usize, plain.to[id] as usize));
    let one = |id: usize| Traits {
        start: plain.from[id],
        life: plain.to[id] - plain.from[id],
        size: plain.size[id],
        load: load(id),
    };
    (0..plain.len()).map(one).collect()
}

/// Items by `(size + mean * shift / 64) * life^(power / 64)`, largest first: between size, area and lifetime.
pub(crate) fn blended(plain: &Plain, power: u64, shift: u64) -> Vec<u32> {
    let sum: u128 = plain.size.iter().map(|&size| u128::from(size)).sum();
    let extra = (sum * u128::from(shift) / 64 / plain.len().max(1) as u128) as u64;
    let weight = |id: usize| {
        logarithm(plain.size[id] + extra) * 64 + logarithm(u64::from(plain.to[id] - plain.from[id])) * power
    };
    let mut keyed: Vec<(Reverse<u64>, u32)> = (0..plain.len()).map(|id| (Reverse(weight(id)), id as u32)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, id)| id).collect()
}

/// The binary logarithm in 2^-24ths: exact at powers of two, within 0.01 and ascending between them. Whole numbers only,
/// so that it is the same on every machine.
fn logarithm(x: u64) -> u64 {
    let Some(whole) = x.checked_ilog2() else { return 0 };
    let part = (u128::from(x) << 24 >> whole) as u64 - (1 << 24);
    let bend = (part * ((1 << 24) - part)) >> 24;
    (u64::from(whole) << 24) + part + bend * 22 / 64
}

/// Items by area or `size * life^1.2`, times a number between 1 and 2 from a fixed generator, largest first.
pub(crate) fn noisy(plain: &Plain, seed: u64) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 8) % (60 << 24)
    };
    let power = if seed.is_multiple_of(2) { 64 } else { 77 };
    let weight =
        |id: usize| logarithm(plain.size[id]) * 64 + logarithm(u64::from(plain.to[id] - plain.from[id])) * power;
    let mut keyed: Vec<(Reverse<u64>, u32)> =
        (0..plain.len()).map(|id| (Reverse(weight(id) + noise()), id as u32)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, id)| id).collect()
}

/// Fills valleys; `ranked` lists the items, the most wanted first.
pub(crate) fn fill(plain: &Plain, ranked: &[u32]) -> (Vec<u64>, u64) {
    let mut offsets = vec![0; plain.len()];
    if plain.len() == 0 {
        return (offsets, 0);
    }
    let mut waiting = Waiting::new(plain, ranked);
    let mut ground = Ground::new(plain.sections.count() as u32);
    let mut height = 0;
    let mut left = plain.len();
    while left > 0 {
        let (from, to, level) = ground.valley();
        match waiting.take(from, to) {
            Some(item) => {
                offsets[item as usize] = level;
                let top = level + plain.size[item as usize];
                height = height.max(top);
                ground.put(from, plain.from[item as usize], plain.to[item as usize], top);
                left -= 1;
            }
            None => ground.rise(from),
        }
    }
    (offsets, height)
}

/// The skyline as a list of segments, each named by its first section. Neighbours never have the same level.
///
/// A valley is done when it has risen to its lower neighbour, and no item inside it reaches out of it, so valleys do not
/// disturb each other: they may be filled in any order. The nearest one is taken, for it is still in the cache.
struct Ground {
    level: Vec<u64>,
    end: Vec<u32>,
    before: Vec<u32>,
    sections: u32,
    /// A segment.
    here: u32,
}

impl Ground {
    fn new(sections: u32) -> Ground {
        let count = sections as usize;
        let mut ground =
            Ground { level: vec![0; count], end: vec![0; count], before: vec![0; count], sections, here: 0 };
        ground.segment(0, sections, 0, u32::MAX);
        ground
    }

    fn segment(&mut self, from: u32, to: u32, level: u64, before: u32) {
        let index = from as usize;
        (self.level[index], self.end[index], self.before[index]) = (level, to, before);
        if to < self.sections {
            self.before[to as usize] = from;
        }
    }

    /// The levels left and right of a segment; above all others at the borders.
    fn beside(&self, from: u32) -> (u64, u64) {
        let (to, before) = (self.end[from as usize], self.before[from as usize]);
        let left = if before == u32::MAX { u64::MAX } else { self.level[before as usize] };
        let right = if to == self.sections { u64::MAX } else { self.level[to as usize] };
        (left, right)
    }

    /// A segment with higher ones on both sides: its sections and level.
    fn valley(&mut self) -> (u32, u32, u64) {
        loop {
            let (from, level) = (self.here, self.level[self.here as usize]);
            let (left, right) = self.beside(from);
            if left < level {
                self.here = self.before[from as usize];
            } else if right < level {
                self.here = self.end[from as usize];
            } else {
                return (from, self.end[from as usize], level);
            }
        }
    }

    /// Raises `[item_from, item_to)` inside the valley at `from` to `top`.
    fn put(&mut self, from: u32, item_from: u32, item_to: u32, top: u64) {
        let (level, to, before) = (self.level[from as usize], self.end[from as usize], self.before[from as usize]);
        let mut last = before;
        if from < item_from {
            self.segment(from, item_from, level, last);
            last = from;
        }
        self.segment(item_from, item_to, top, last);
        if item_to < to {
            self.segment(item_to, to, level, item_from);
        }
        self.merge(item_from);
    }

    /// Raises the valley at `from` to its lower neighbour.
    fn rise(&mut self, from: u32) {
        let (left, right) = self.beside(from);
        self.level[from as usize] = left.min(right);
        self.merge(from);
    }

    /// Joins the segment at `from` with neighbours of its level, and stays there.
    fn merge(&mut self, mut from: u32) {
        let level = self.level[from as usize];
        let (left, right) = self.beside(from);
        if right == level {
            self.end[from as usize] = self.end[self.end[from as usize] as usize];
        }
        if left == level {
            let before = self.before[from as usize];
            self.end[before as usize] = self.end[from as usize];
            from = before;
        }
        let end = self.end[from as usize];
        if end < self.sections {
            self.before[end as usize] = from;
        }
        self.here = from;
    }
}

/// The items still to be placed, by first section, in a tree that knows each subtree's least end and best rank.
struct Waiting<'a> {
    plain: &'a Plain,
    /// Items by first section, better ranks first among equals.
    sorted: Vec<u32>,
    /// The first place in `sorted` of each section.
    first: Vec<u32>,
    leaves: u32,
    tree: Vec<Node>,
    ranked: &'a [u32],
    stack: Vec<u32>,
}

const GONE: u32 = u32::MAX;

/// What a subtree holds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Node {
    least_end: u32,
    best_rank: u32,
}

const EMPTY: Node = Node { least_end: GONE, best_rank: GONE };

impl<'a> Waiting<'a> {
    fn new(plain: &'a Plain, ranked: &'a [u32]) -> Self {
        let sections = plain.sections.count();
        let mut first = vec![0; sections + 1];
        plain.from.iter().for_each(|&from| first[from as usize + 1] += 1);
        for section in 0..sections {
            first[section + 1] += first[section];
        }
        let leaves = (plain.len() as u32).next_power_of_two();
        let mut waiting = Waiting {
            plain,
            sorted: vec![0; plain.len()],
            first: first.clone(),
            leaves,
            tree: vec![EMPTY; 2 * leaves as usize],
            ranked,
            stack: Vec::new(),
        };
        for (rank, &item) in ranked.iter().enumerate() {
            let place = &mut first[plain.from[item as usize] as usize];
            waiting.sorted[*place as usize] = item;
            let leaf = leaves as usize + *place as usize;
            waiting.tree[leaf] = Node { least_end: plain.to[item as usize], best_rank: rank as u32 };
            *place += 1;
        }
        for node in (1..leaves as usize).rev() {
            waiting.pull(node);
        }
        waiting
    }

    /// Sums a node up from its halves; `false` if nothing changed.
    fn pull(&mut self, node: usize) -> bool {
        let (left, right) = (self.tree[2 * node], self.tree[2 * node + 1]);
        let both =
            Node { least_end: left.least_end.min(right.least_end), best_rank: left.best_rank.min(right.best_rank) };
        std::mem::replace(&mut self.tree[node], both) != both
    }

    /// Removes and returns the best item inside sections `[from, to)`.
    fn take(&mut self, from: u32, to: u32) -> Option<u32> {
        let (low, high) = (self.first[from as usize], self.first[to as usize]);
        let best = self.search(low, high, to)?;
        let mut node = best as usize;
        let item = self.ranked[self.tree[node].best_rank as usize];
        self.tree[node] = EMPTY;
        while node > 1 && self.pull(node / 2) {
            node /= 2;
        }
        debug_assert!(self.plain.from[item as usize] >= from && self.plain.to[item as usize] <= to);
        Some(item)
    }

    /// The leaf of the best rank among places `[low, high)` with an end of at most `to`.
    fn search(&mut self, low: u32, high: u32, to: u32) -> Option<u32> {
        if low == high {
            return None;
        }
        // The smallest subtree with both ends.
        let (first, last) = (self.leaves + low, self.leaves + high - 1);
        let top = first >> (u32::BITS - (first ^ last).leading_zeros());
        let (mut best, mut found) = (GONE, None);
        self.stack.clear();
        self.stack.push(top);
        while let Some(node) = self.stack.pop() {
            let Node { least_end, best_rank } = self.tree[node as usize];
            if least_end > to || best_rank >= best {
                continue;
            }
            if node >= self.leaves {
                (best, found) = (best_rank, Some(node));
                continue;
            }
            let (left, right) = (2 * node, 2 * node + 1);
            // Subtrees of the same depth are named in the order of what they hold.
            let below = right.leading_zeros() - self.leaves.leading_zeros();
            let (first, last) = (first >> below, last >> below);
            let left_first = self.tree[left as usize].best_rank <= self.tree[right as usize].best_rank;
            let (soon, late) = if left_first { (left, right) } else { (right, left) };
            self.stack.extend([late, soon].into_iter().filter(|child| (first..=last).contains(child)));
        }
        found
    }
}
