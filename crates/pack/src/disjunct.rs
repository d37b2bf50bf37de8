//! Exact search for problems of every kind: order the pairs that collide.
//!
//! Every body has a window `[least, most]` of offsets in its region. Start from the least offset of every body. If no
//! two bodies collide, that is a solution. Otherwise take a colliding pair `(p, q)`: the difference `offset(q) - offset(p)` lies
//! in a forbidden interval, and in every solution it lies in one of the *free* intervals between forbidden ones
//! (their union is what windows and gaps make of two shapes; it may have holes in the middle). Branch over them.
//! A free interval `[a, b]` is two inequalities, `offset(q) >= offset(p) + a` and `offset(p) >= offset(q) - b`; all least offsets
//! are raised until all inequalities of the branch and all alignments hold, all greatest offsets lowered likewise. A
//! window that becomes empty kills the branch.
//!
//! Complete: the free intervals of a pair cover all its solutions, and bounds only ever exclude offsets that the
//! inequalities exclude. Sound: raising is a least fixed point, so at a leaf the least offsets satisfy every
//! inequality taken, and no pair collides. No argument about bodies resting on each other is needed,
//! which is where exact solvers go wrong on windowed gaps. Bodies with several regions are split by region first.

use std::collections::VecDeque;

use crate::fit::Placement;
use crate::model::Model;
use crate::problem::RegionId;
use crate::rigid::Slot;

/// How a search ended.
pub(crate) enum Answer {
    /// A placement within the capacities.
    Found(Placement),
    /// There is none.
    Exhausted,
    /// The node limit, or the caller's wish, came first.
    Limit,
}

/// `offset(to) >= offset(from) + by`.
#[derive(Clone, Copy, Debug)]
struct Arc {
    from: u32,
    to: u32,
    by: i64,
}

/// Two bodies with the open intervals of `offset(second) - offset(first)` that they forbid, disjoint and ascending.
struct Pair {
    first: u32,
    second: u32,
    forbidden: Vec<(i64, i64)>,
}

enum Change {
    Least { body: u32, before: i64 },
    Most { body: u32, before: i64 },
    Region { body: u32 },
    Arc { from: u32, to: u32 },
}

/// What a branch point still has to try.
struct Choice {
    mark: usize,
    options: Vec<Way>,
    next: usize,
}

enum Way {
    /// Settle a body's region.
    Region { body: u32, slot: Slot },
    /// Keep `offset(q) - offset(p)` inside `[low, high]`.
    Between { p: u32, q: u32, low: i64, high: i64 },
}

/// One search.
pub(crate) struct Search<'a> {
    model: &'a Model,
    room: Vec<i64>,
    slot: Vec<Option<Slot>>,
    least: Vec<i64>,
    most: Vec<i64>,
    /// Arcs out of a body (they raise others) and into it (they lower it).
    out: Vec<Vec<Arc>>,
    into: Vec<Vec<Arc>>,
    trail: Vec<Change>,
    /// All bodies are aligned alike, so a round of inequalities that raises where it began has no end.
    alike: bool,
    /// Offsets raised or lowered that may still be, before the search gives up.
    work: u64,
    /// Pairs that can collide at all.
    pairs: Vec<Pair>,
    /// Nodes so far.
    pub(crate) nodes: u64,
}

impl<'a> Search<'a> {
    /// A search for a placement within `room` bytes of each region (`None` is any number).
    pub(crate) fn new(model: &'a Model, room: &[Option<u64>]) -> Self {
        let count = model.bodies.len();
        let mut slots = model.bodies.iter().flat_map(|body| body.slots.iter().map(|slot| (slot.residue, slot.modulus)));
        let first = slots.next();
        let alike = slots.all(|slot| Some(slot) == first);
        let room =
            room.iter().map(|bytes| bytes.map_or(i64::MAX / 4, |bytes| (bytes as i64).min(i64::MAX / 4))).collect();
        Search {
            model,
            room,
            slot: vec![None; count],
            least: vec![0; count],
            most: vec![i64::MAX / 4; count],
            out: vec![Vec::new(); count],
            into: vec![Vec::new(); count],
            trail: Vec::new(),
            alike,
            work: 0,
            pairs: pairs(model),
            nodes: 0,
        }
    }

    /// Searches within `limit` nodes; `stop` is asked now and then with the nodes so far.
    pub(crate) fn run(&mut self, limit: u64, stop: &mut dyn FnMut(u64) -> bool) -> Answer {
        self.work = limit.saturating_mul(64);
        for body in 0..self.model.bodies.len() as u32 {
            let [slot] = self.model.bodies[body as usize].slots[..] else { continue };
            if !self.settle(body, slot) {
                return Answer::Exhausted;
            }
        }
        let mut choices: Vec<Choice> = Vec::new();
        let mut dead = false;
        loop {
            if dead && !self.backtrack(&mut choices) {
                return if self.work == 0 { Answer::Limit } else { Answer::Exhausted };
            }
            self.nodes += 1;
            if self.work == 0 || self.nodes >= limit || self.nodes.is_multiple_of(4096) && stop(self.nodes) {
                return Answer::Limit;
            }
            let Some(options) = self.branch() else { return Answer::Found(self.placement()) };
            choices.push(Choice { mark: self.trail.len(), options, next: 0 });
            dead = true; // the first option is taken by `backtrack`
        }
    }

    /// Takes the next option of the last choice that has a live one; `false` when none is left.
    fn backtrack(&mut self, choices: &mut Vec<Choice>) -> bool {
        while let Some(choice) = choices.last_mut() {
            self.undo(choice.mark);
            let Some(option) = choice.options.get(choice.next) else {
                choices.pop();
                continue;
            };
            choice.next += 1;
            let alive = match *option {
                Way::Region { body, slot } => self.settle(body, slot),
                Way::Between { p, q, low, high } => self.between(p, q, low, high),
            };
            if alive {
                return true;
            }
        }
        false
    }

    fn placement(&self) -> Placement {
        let regions = self.slot.iter().map(|slot| slot.map_or(RegionId(0), |slot| slot.region)).collect();
        Placement { offsets: self.least.clone(), regions }
    }

    /// The options of the most constrained open question; `None` if there is none.
    fn branch(&self) -> Option<Vec<Way>> {
        let mut best: Option<(i64, &Pair)> = None;
        for pair in &self.pairs {
            let (p, q) = (pair.first as usize, pair.second as usize);
            let difference = self.least[q] - self.least[p];
            let collide = pair.forbidden.iter().any(|&(low, high)| low < difference && difference < high);
            if !collide || !matches!((self.slot[p], self.slot[q]), (Some(a), Some(b)) if a.region == b.region) {
                continue;
            }
            let (mut room, mut count) = (0_i64, 0);
            self.free(pair, |low, high| (room, count) = (room.saturating_add(high - low + 1), count + 1));
            let crowded = if count <= 1 { -1 } else { room };
            if best.is_none_or(|(least, _)| crowded < least) {
                best = Some((crowded, pair));
                // Nothing is more pressing than what has no choice.
                if crowded < 0 {
                    break;
                }
            }
        }
        if let Some((_, pair)) = best {
            return Some(self.ways(pair));
        }
        let open = (0..self.slot.len()).find(|&body| self.slot[body].is_none())?;
        let slots = self.model.bodies[open].slots.iter();
        Some(slots.map(|&slot| Way::Region { body: open as u32, slot }).collect())
    }

    /// Calls `visit` with each free interval of a pair that its windows permit, ascending.
    fn free(&self, pair: &Pair, mut visit: impl FnMut(i64, i64)) {
        let (p, q) = (pair.first as usize, pair.second as usize);
        let mut low = self.least[q] - self.most[p];
        let largest = self.most[q] - self.least[p];
        for &(until, next) in pair.forbidden.iter().chain(&[(largest, i64::MAX / 2)]) {
            let high = until.min(largest);
            if low <= high {
                visit(low, high);
            }
            low = low.max(next);
        }
    }

    /// The free intervals of a pair as options, those that raise least first.
    fn ways(&self, pair: &Pair) -> Vec<Way> {
        let (p, q) = (pair.first, pair.second);
        let difference = self.least[q as usize] - self.least[p as usize];
        let mut options = Vec::new();
        self.free(pair, |low, high| {
            let raise = if high < difference { difference - high } else { low - difference };
            options.push((raise, Way::Between { p, q, low, high }));
        });
        options.sort_by_key(|(raise, _)| *raise);
        options.into_iter().map(|(_, option)| option).collect()
    }

    fn settle(&mut self, body: u32, slot: Slot) -> bool {
        let one = &self.model.bodies[body as usize];
        self.slot[body as usize] = Some(slot);
        self.trail.push(Change::Region { body });
        let top = self.room[slot.region.index()] - one.extent;
        let (low, high) = one.fixed.map_or((0, top), |at| (at, at.min(top)));
        self.raise(body, low, None) && self.lower(body, high)
    }

    fn between(&mut self, p: u32, q: u32, low: i64, high: i64) -> bool {
        self.arc(Arc { from: p, to: q, by: low }) && self.arc(Arc { from: q, to: p, by: -high })
    }

    fn arc(&mut self, arc: Arc) -> bool {
        self.out[arc.from as usize].push(arc);
        self.into[arc.to as usize].push(arc);
        self.trail.push(Change::Arc { from: arc.from, to: arc.to });
        self.raise(arc.to, self.least[arc.from as usize] + arc.by, Some(arc.from))
            && self.lower(arc.from, self.most[arc.to as usize] - arc.by)
    }

    /// Raises `body` to `offset` or above, and all that follows from it.
    ///
    /// What an arc out of `origin` sets off must not raise `origin` itself: among bodies aligned alike, going round
    /// again would raise it again, for ever. Among others the rounds may end; they are counted as work.
    fn raise(&mut self, body: u32, offset: i64, origin: Option<u32>) -> bool {
        let mut queue = VecDeque::from([(body, offset)]);
        while let Some((body, offset)) = queue.pop_front() {
            let index = body as usize;
            let offset = self.slot[index].map_or(offset, |slot| slot.at_least(offset.max(self.least[index])));
            if offset <= self.least[index] {
                continue;
            }
            self.work = self.work.saturating_sub(1);
            if offset > self.most[index] || self.alike && origin == Some(body) || self.work == 0 {
                return false;
            }
            self.trail.push(Change::Least { body, before: self.least[index] });
            self.least[index] = offset;
            queue.extend(self.out[index].iter().map(|arc| (arc.to, offset + arc.by)));
        }
        true
    }

    /// Lowers the greatest offset of `body` to `offset` or below, and all that follows from it.
    fn lower(&mut self, body: u32, offset: i64) -> bool {
        let mut queue = VecDeque::from([(body, offset)]);
        while let Some((body, offset)) = queue.pop_front() {
            let index = body as usize;
            if offset >= self.most[index] {
                continue;
            }
            // The greatest permitted offset: one step below the least one above `offset`.
            let offset = self.slot[index].map_or(offset, |slot| slot.at_least(offset + 1) - slot.modulus);
            self.work = self.work.saturating_sub(1);
            if offset < self.least[index] || self.work == 0 {
                return false;
            }
            self.trail.push(Change::Most { body, before: self.most[index] });
            self.most[index] = offset;
            queue.extend(self.into[index].iter().map(|arc| (arc.from, offset - arc.by)));
        }
        true
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Change::Least { body, before }) => self.least[body as usize] = before,
                Some(Change::Most { body, before }) => self.most[body as usize] = before,
                Some(Change::Region { body }) => self.slot[body as usize] = None,
                Some(Change::Arc { from, to }) => {
                    self.out[from as usize].pop();
                    self.into[to as usize].pop();
                }
                None => return,
            }
        }
    }
}

/// All pairs with a forbidden interval that is not empty.
fn pairs(model: &Model) -> Vec<Pair> {
    let mut found = Vec::new();
    for p in 0..model.bodies.len() {
        for q in p + 1..model.bodies.len() {
            let mut forbidden: Vec<(i64, i64)> = Vec::new();
            for a in model.pieces_of(p) {
                let meets = model.pieces_of(q).iter().filter(|b| a.from.max(b.from) < a.to.min(b.to));
                forbidden.extend(meets.map(|b| (a.low - b.high, a.high - b.low)));
            }
            let apart = model.apart[p].iter().filter(|(other, _, _)| *other as usize == q);
            forbidden.extend(apart.map(|&(_, low, high)| (low, high)));
            if !forbidden.is_empty() {
                found.push(Pair { first: p as u32, second: q as u32, forbidden: merged(forbidden) });
            }
        }
    }
    found
}

/// The union of open intervals as disjoint ones, ascending; intervals that only touch leave the point between free.
fn merged(mut intervals: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    intervals.sort_unstable();
    let mut union: Vec<(i64, i64)> = Vec::with_capacity(intervals.len());
    for (low, high) in intervals {
        match union.last_mut() {
            Some(last) if low < last.1 => last.1 = last.1.max(high),
            _ => union.push((low, high)),
        }
    }
    union
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Gap, Item, Problem, Span};

    /// An item that holds its lowest bytes first and its highest ones later leaves a hollow for another, which an
    /// interval hull of what the two forbid each other would miss.
    fn hollow() -> Model {
        let gap = |from, to, low, high| Gap { steps: Span::new(from, to), window: Some(Span::new(low, high)) };
        let around = Item { gaps: vec![gap(0, 2, 0, 2), gap(2, 4, 4, 6)], ..Item::new(0, 4, 6) };
        Model::new(&Problem::from_items(vec![around, Item::new(0, 4, 2)]).expect("valid"))
    }

    #[test]
    fn a_hollow_is_found_and_less_room_is_refuted() {
        let model = hollow();
        let Answer::Found(placement) = Search::new(&model, &[Some(6)]).run(100, &mut |_| false) else { panic!("fits") };
        assert_eq!(placement.offsets, [0, 2]);
        assert!(matches!(Search::new(&model, &[Some(5)]).run(100, &mut |_| false), Answer::Exhausted));
    }

    #[test]
    fn open_intervals_that_touch_leave_a_point() {
        assert_eq!(merged(vec![(2, 6), (-2, 2), (3, 9)]), [(-2, 2), (2, 9)]);
    }
}
