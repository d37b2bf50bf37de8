//! Restarts: run times are heavy-tailed, so several rules take turns under growing node limits.
//!
//! Limits count nodes and the noise comes from a fixed generator, so a run is the same on every machine.

use rustc_hash::FxHashMap;

use super::search::{End, Rule, Search};
use crate::plain::Plain;

/// What candidates are ordered by, largest first.
#[derive(Clone, Copy, Debug)]
enum Weight {
    /// Lifetime, then size.
    Life,
    /// Lifetime, then the load of its fullest section.
    LifeLoad,
    /// How many others it is live with, then size.
    Degree,
    /// The load of its fullest section, then area.
    LoadArea,
    /// Size, then lifetime.
    Size,
}

/// Above this many items much is loose: other turns, and longer ones, pay.
const LOOSE: usize = 600;

/// A valley rule, a weight, and the noise on it in 64ths.
type Turn = (Rule, Weight, u64);

const TURNS: [Turn; 5] = [
    (Rule::Tightest, Weight::LifeLoad, 8),
    (Rule::Fewest, Weight::LoadArea, 8),
    (Rule::Fewest, Weight::Life, 8),
    (Rule::Tightest, Weight::Size, 28),
    (Rule::Narrowest, Weight::Degree, 16),
];

/// The same above [`LOOSE`] items.
const LOOSE_TURNS: [Turn; 4] = [
    (Rule::Fewest, Weight::LoadArea, 20),
    (Rule::Tightest, Weight::LoadArea, 14),
    (Rule::Tightest, Weight::LifeLoad, 8),
    (Rule::Narrowest, Weight::Degree, 16),
];

/// Rounds of turns after which short searches join in, and how many a round.
const LATE: usize = 6;
const SHORT_RUNS: usize = 12;

/// How a question to the search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Offsets in units, within the capacity.
    Found(Vec<u64>),
    /// No packing is within the capacity.
    Exhausted,
    /// The node limit, or the caller's wish, came first.
    Limit,
}

/// A search over one problem that can be asked for several capacities.
pub(crate) struct Restarts<'a> {
    plain: &'a Plain,
    search: Search,
    /// The same problem over its finest sections.
    finest: Option<(Plain, Search)>,
    seed: u64,
    /// The next turn and its node limit, by capacity: a question asked again goes on where it stopped.
    pending: FxHashMap<u64, (usize, u64)>,
}

impl<'a> Restarts<'a> {
    pub(crate) fn new(plain: &'a Plain) -> Self {
        Restarts { plain, search: Search::new(plain), finest: None, seed: 0x5EED, pending: FxHashMap::default() }
    }

    /// Gives the search the problem over its finest sections too, for [`Restarts::ask_finest`].
    pub(crate) fn with_finest(self, finest: Plain) -> Self {
        let search = Search::new(&finest);
        Restarts { finest: Some((finest, search)), ..self }
    }

    /// Nodes spent so far.
    pub(crate) fn nodes(&self) -> u64 {
        self.search.nodes + self.finest.as_ref().map_or(0, |(_, search)| search.nodes)
    }

    /// Looks for a packing within `capacity` bytes, spending at most about `nodes`; `stop` is asked between runs.
    pub(crate) fn ask(&mut self, capacity: u64, nodes: u64, stop: &mut dyn FnMut(u64) -> bool) -> Answer {
        if self.plain.lower_bound > capacity {
            return Answer::Exhausted;
        }
        self.search.set_capacity(self.plain, capacity);
        let last = self.nodes().saturating_add(nodes);
        let items = self.plain.len() as u64;
        let (turns, first): (&[Turn], u64) =
            if self.plain.len() > LOOSE { (&LOOSE_TURNS, 24 * items) } else { (&TURNS, 2 * items + 16) };
        let fresh = (0, first);
        let (mut turn, mut limit) = self.pending.get(&capacity).copied().unwrap_or(fresh);
        loop {
            let (rule, weight, noise) = turns[turn % turns.len()];
            let priority = priority(self.plain, &self.search, weight, noise, &mut self.seed);
            let left = last.saturating_sub(self.nodes());
            match self.search.run(rule, &priority, limit.min(left)) {
                End::Found => return Answer::Found(self.search.state.offset.clone()),
                End::Exhausted => return Answer::Exhausted,
                End::Limit => turn += 1,
            }
            if turn % turns.len() == 0 {
                if turn > LATE * turns.len() && self.short_runs(last) {
                    return Answer::Found(self.search.state.offset.clone());
                }
                limit += limit / 4;
            }
            if self.nodes() >= last || stop(self.nodes()) {
                break;
            }
        }
        self.pending.insert(capacity, (turn, limit));
        Answer::Limit
    }

    /// Short searches by size with much noise, which now and then succeed where long ones do not. Returns whether one did.
    fn short_runs(&mut self, last: u64) -> bool {
        (0..SHORT_RUNS).any(|_| {
            let priority = priority(self.plain, &self.search, Weight::Size, 32, &mut self.seed);
            let limit = (16 * self.plain.len() as u64).min(last.saturating_sub(self.nodes()));
            self.search.run(Rule::Tightest, &priority, limit) == End::Found
        })
    }

    /// Looks over the finest sections for a packing within `capacity` bytes, without noise: from one capacity to the next the choices differ enough.
    pub(crate) fn ask_finest(&mut self, capacity: u64, nodes: u64) -> Answer {
        let Some((finest, search)) = &mut self.finest else { return Answer::Limit };
        if finest.lower_bound > capacity {
            return Answer::Exhausted;
        }
        search.set_capacity(finest, capacity);
        let priority = priority(finest, search, Weight::LifeLoad, 0, &mut self.seed);
        match search.run(Rule::Ways, &priority, nodes) {
            End::Found => Answer::Found(search.state.offset.clone()),
            End::Exhausted => Answer::Exhausted,
            End::Limit => Answer::Limit,
        }
    }
}

/// What candidates are ordered by, largest first: a weight, and noise on it in 64ths.
fn priority(plain: &Plain, search: &Search, weight: Weight, noise: u64, seed: &mut u64) -> Vec<u64> {
    let most = plain.size.iter().copied().max().unwrap_or(1).max(1);
    let wide = plain.sections.count() as u64 + 1;
    // Fractions of 2^20, whatever the units.
    let scaled = |x: u64, most: u64| ((u128::from(x) << 20) / u128::from(most.max(1))) as u64;
    let fullest = |cells: std::ops::Range<usize>| plain.load[cells].iter().copied().max().unwrap_or(0);
    (0..plain.len())
        .map(|id| {
            let cells = plain.from[id] as usize..plain.to[id] as usize;
            let (life, size) = (scaled(cells.len() as u64, wide), scaled(plain.size[id], most));
            let base = match weight {
                Weight::Life => (life << 20) + size,
                Weight::LifeLoad => (life << 20) + scaled(fullest(cells), plain.floor),
                Weight::Degree => (scaled(search.state.degree(id), plain.len() as u64) << 20) + size,
                Weight::Size => (size << 20) + life,
                Weight::LoadArea => (scaled(fullest(cells), plain.floor) << 28) + ((life * size) >> 12),
            };
            base * (64 - noise + random(seed, 2 * noise + 1))
        })
        .collect()
}

fn random(seed: &mut u64, below: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed % below
}
