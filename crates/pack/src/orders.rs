//! The orders in which heuristics take the items.

use crate::model::Model;
use crate::outcome::Order;

/// What an order looks at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// The first section.
    pub(crate) start: u32,
    /// How many sections, first to last.
    pub(crate) life: u32,
    /// Bytes.
    pub(crate) size: u64,
    /// The largest load of its sections, in bytes.
    pub(crate) load: u64,
}

impl Order {
    /// Every order.
    pub const ALL: [Order; 8] = [
        Order::Start,
        Order::Size,
        Order::Area,
        Order::Life,
        Order::Load,
        Order::Temporal,
        Order::Spatial,
        Order::Listed,
    ];

    /// A key of which the smallest comes first.
    pub(crate) fn key(self, traits: &Traits) -> (u128, u64) {
        let Traits { start, life, size, load } = *traits;
        let most = |x: u64| u128::from(u64::MAX - x);
        match self {
            Order::Start => (u128::from(start), u64::MAX - size),
            Order::Size => (most(size), u64::from(start)),
            Order::Area => (u128::MAX - u128::from(size) * u128::from(life), u64::MAX - size),
            Order::Life => (most(life.into()), u64::from(start)),
            Order::Load => (most(load), u64::MAX - size),
            Order::Temporal => (most(life.into()), u64::MAX - size),
            Order::Spatial => (most(size), u64::from(u32::MAX - life)),
            Order::Listed => (0, 0),
        }
    }

    /// `0..traits.len()` in this order.
    pub(crate) fn sorted(self, traits: &[Traits]) -> Vec<u32> {
        let mut keyed: Vec<((u128, u64), u32)> = traits.iter().zip(0..).map(|(t, id)| (self.key(t), id)).collect();
        keyed.sort_unstable();
        keyed.into_iter().map(|(_, id)| id).collect()
    }
}

/// The traits of each body.
pub(crate) fn body_traits(model: &Model) -> Vec<Traits> {
    let count = model.sections.count();
    let mut change = vec![0_i64; count + 1];
    for piece in &model.pieces {
        change[piece.from as usize] += piece.high - piece.low;
        change[piece.to as usize] -= piece.high - piece.low;
    }
    let mut sum = 0;
    let loads: Vec<u64> = change
        .iter()
        .map(|c| {
            sum += c;
            sum as u64
        })
        .collect();
    let highest = RangeMax::new(loads);
    let traits = |index: usize| {
        let pieces = model.pieces_of(index);
        let from = pieces.iter().map(|piece| piece.from).min().unwrap_or(0);
        let to = pieces.iter().map(|piece| piece.to).max().unwrap_or(0);
        Traits {
            start: from,
            life: to - from,
            size: model.bodies[index].extent as u64,
            load: highest.max(from as usize, to as usize),
        }
    };
    (0..model.bodies.len()).map(traits).collect()
}

/// A tree over an array that answers the maximum of a range in logarithmic time.
#[derive(Clone, Debug)]
pub(crate) struct RangeMax {
    leaves: usize,
    tree: Vec<u64>,
}

impl RangeMax {
    pub(crate) fn new(values: Vec<u64>) -> RangeMax {
        let leaves = values.len().max(1);
        let mut tree = vec![0; leaves];
        tree.extend(values);
        tree.resize(2 * leaves, 0);
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node].max(tree[2 * node + 1]);
        }
        RangeMax { leaves, tree }
    }

    /// The maximum of `[from, to)`, 0 if that is empty.
    pub(crate) fn max(&self, from: usize, to: usize) -> u64 {
        let (mut low, mut high, mut best) = (from + self.leaves, to + self.leaves, 0);
        while low < high {
            if low & 1 == 1 {
                best = best.max(self.tree[low]);
                low += 1;
            }
            if high & 1 == 1 {
                high -= 1;
                best = best.max(self.tree[high]);
            }
            low /= 2;
            high /= 2;
        }
        best
    }
}
