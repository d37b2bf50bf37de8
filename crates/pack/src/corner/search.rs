//! The search itself: an explicit stack of choices, so depth costs no call stack.
//!
//! A placement may split the sections into parts that no waiting item crosses. Parts are solved one after another,
//! and a part that fails fails the placement at once, without trying other packings of its siblings.
//!
//! A part is told by its ground, closed cells and waiting items, as a sum of 128-bit codes. Parts that failed within a
//! capacity are never entered again. (Two parts with equal codes would be confused; among a billion parts the
//! chance is below 2^-68.)

use rustc_hash::FxHashSet;

use super::state::State;
use crate::plain::Plain;

/// Failed parts kept at most; then no more are added.
const MAX_FAILED: usize = 8_000_000;

/// How valleys are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The one with the least room to spare in a section, then the lowest.
    Tightest,
    /// The one with the fewest sections, then the lowest.
    Narrowest,
    /// The one whose corner has the fewest candidates, then the lowest.
    Fewest,
    /// The one whose corner has the fewest ways to go on, closing it included where the section has room to spare, then the lowest.
    Ways,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All items are placed; the state holds the packing.
    Found,
    /// There is no packing within the capacity.
    Exhausted,
    /// The node limit.
    Limit,
}

/// A search that keeps its failures between runs.
pub(super) struct Search {
    pub(super) state: State,
    pub(super) nodes: u64,
    /// Bytes.
    capacity: u64,
    failed: FxHashSet<u128>,
    frames: Vec<Frame>,
    candidates: Vec<u32>,
    parts: Vec<(u32, u32)>,
}

/// A flat run: its open cells `[from, to)` and level.
#[derive(Clone, Copy, Debug)]
struct Valley {
    from: u32,
    to: u32,
    level: u64,
}

enum Frame {
    Choice(Choice),
    /// Parts `next..` of the shared list, up to the end it had when this frame was pushed.
    Parts {
        first: usize,
        next: usize,
    },
}

struct Choice {
    first: u32,
    last: u32,
    mark: usize,
    code: u128,
    valley: Valley,
    at_left: bool,
    /// Candidates `base..` in the shared list; `next` is tried next.
    base: usize,
    next: usize,
    end: usize,
    closed: bool,
}

enum Step {
    Enter(u32, u32),
    Return(bool),
}

impl Search {
    pub(super) fn new(plain: &Plain) -> Search {
        let state = State::new(plain);
        Search {
            state,
            nodes: 0,
            capacity: 0,
            failed: FxHashSet::default(),
            frames: Vec::new(),
            candidates: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Sets the capacity in bytes. Forgets the packing, and the failures too, which hold for the old capacity or lower ones only.
    pub(super) fn set_capacity(&mut self, plain: &Plain, capacity: u64) {
        self.reset();
        if capacity > self.capacity {
            self.failed.clear();
        }
        self.capacity = capacity;
        (self.state.limit, self.state.top) = plain.limits(capacity);
    }

    fn reset(&mut self) {
        self.state.undo(0);
        self.frames.clear();
        self.candidates.clear();
        self.parts.clear();
    }

    /// Searches within `limit` nodes; `priority` (larger first) orders candidates.
    pub(super) fn run(&mut self, rule: Rule, priority: &[u64], limit: u64) -> End {
        self.reset();
        let stop = self.nodes.saturating_add(limit);
        let mut step = self.split(0, self.state.ground.len() as u32);
        loop {
            step = match step {
                Step::Enter(..) if self.nodes >= stop => {
                    self.reset();
                    return End::Limit;
                }
                Step::Enter(first, last) => self.enter(first, last, rule, priority),
                Step::Return(found) => match self.frames.last() {
                    None if found => return End::Found,
                    None => return End::Exhausted,
                    Some(Frame::Parts { .. }) => self.resume_parts(found),
                    Some(Frame::Choice(_)) if found => {
                        self.pop_choice();
                        Step::Return(true)
                    }
                    Some(Frame::Choice(_)) => self.next_alternative(),
                },
            };
        }
    }

    fn pop_choice(&mut self) {
        if let Some(Frame::Choice(choice)) = self.frames.pop() {
            self.candidates.truncate(choice.base);
        }
    }

    /// Splits `[first, last)` where no waiting item crosses, tightest part first, and enters the first part.
    fn split(&mut self, first: u32, last: u32) -> Step {
        let state = &self.state;
        let base = self.parts.len();
        let mut from = first as usize;
        while from < last as usize {
            let mut to = from + 1;
            let mut waits = state.waiting[from] > 0;
            while to < last as usize && state.crossing[to - 1] > 0 {
                waits |= state.waiting[to] > 0;
                to += 1;
            }
            if waits {
                self.parts.push((from as u32, to as u32));
            }
            from = to;
        }
        if self.parts.len() - base > 1 {
            let room = |cell: usize| state.top[cell].saturating_sub(state.ground[cell] + state.waiting[cell]);
            let tight = |part: &(u32, u32)| {
                (part.0 as usize..part.1 as usize).filter(|&c| state.waiting[c] > 0).map(room).min()
            };
            self.parts[base..].sort_by_key(|part| (std::cmp::Reverse(tight(part)), part.1 - part.0));
        }
        self.frames.push(Frame::Parts { first: base, next: self.parts.len() });
        self.resume_parts(true)
    }

    fn resume_parts(&mut self, found: bool) -> Step {
        let Some(Frame::Parts { first, next }) = self.frames.last_mut() else { return Step::Return(found) };
        if found && *next > *first {
            *next -= 1;
            let (from, to) = self.parts[*next];
            return Step::Enter(from, to);
        }
        self.parts.truncate(*first);
        self.frames.pop();
        Step::Return(found)
    }

    fn enter(&mut self, first: u32, last: u32, rule: Rule, priority: &[u64]) -> Step {
        self.nodes += 1;
        let codes = &self.state.code[first as usize..last as usize];
        let code = codes.iter().fold(u128::from(first) << 32 | u128::from(last), |sum, code| sum.wrapping_add(*code));
        if self.failed.contains(&code) {
            return Step::Return(false);
        }
        let Some(valley) = self.choose(first as usize, last as usize, rule) else { return Step::Return(false) };
        let base = self.candidates.len();
        let at_left = self.gather(valley, priority);
        let end = self.candidates.len();
        let mark = self.state.mark();
        self.frames.push(Frame::Choice(Choice {
            first,
            last,
            mark,
            code,
            valley,
            at_left,
            base,
            next: base,
            end,
            closed: false,
        }));
        self.next_alternative()
    }

    /// The candidates of the corner with fewer of them, best first, equal items once. Returns whether it is the left one.
    fn gather(&mut self, valley: Valley, priority: &[u64]) -> bool {
        let base = self.candidates.len();
        let state = &self.state;
        let left = |item: &u32| !state.placed[*item as usize] && state.to[*item as usize] <= valley.to;
        let right = |item: &u32| !state.placed[*item as usize] && state.from[*item as usize] >= valley.from;
        self.candidates.extend(state.starts.of(valley.from as usize).iter().copied().filter(left));
        let lefts = self.candidates.len() - base;
        let rights = state.ends.of(valley.to as usize).iter().filter(|item| right(item)).count();
        let at_left = lefts <= rights;
        if !at_left {
            self.candidates.truncate(base);
            self.candidates.extend(state.ends.of(valley.to as usize).iter().copied().filter(right));
        }
        let shape = |item: u32| {
            let index = item as usize;
            (state.from[index], state.to[index], state.size[index], state.limit[index])
        };
        self.candidates[base..].sort_unstable_by_key(|&item| (std::cmp::Reverse(priority[item as usize]), item));
        let mut kept = base;
        for place in base..self.candidates.len() {
            let item = self.candidates[place];
            if !self.candidates[base..kept].iter().any(|&other| shape(other) == shape(item)) {
                self.candidates[kept] = item;
                kept += 1;
            }
        }
        self.candidates.truncate(kept);
        at_left
    }

    /// Tries what is left of the choice on top: the next candidate, then closing the corner; then it has failed.
    fn next_alternative(&mut self) -> Step {
        loop {
            let Some(Frame::Choice(choice)) = self.frames.last_mut() else { return Step::Return(false) };
            let (first, last) = (choice.first, choice.last);
            self.state.undo(choice.mark);
            if choice.next < choice.end {
                let item = self.candidates[choice.next] as usize;
                choice.next += 1;
                if self.state.put(item) && self.state.settle(first as usize, last as usize) {
                    return self.split(first, last);
                }
            } else if !choice.closed {
                choice.closed = true;
                let (valley, at_left) = (choice.valley, choice.at_left);
                if self.close(first as usize, last as usize, valley, at_left) {
                    return Step::Enter(first, last);
                }
            } else {
                if self.failed.len() < MAX_FAILED {
                    self.failed.insert(choice.code);
                }
                self.pop_choice();
                return Step::Return(false);
            }
        }
    }

    /// Closes the corner cell; `false` when that is at once impossible.
    fn close(&mut self, first: usize, last: usize, valley: Valley, at_left: bool) -> bool {
        let cell = if at_left { valley.from as usize } else { valley.to as usize - 1 };
        let state = &mut self.state;
        if state.waiting[cell] > 0 && state.ground[cell] + state.waiting[cell] >= state.top[cell] {
            return false;
        }
        let level = next_rest(state, first, last, valley, at_left);
        state.close(cell);
        level != u64::MAX && state.lift_over(cell..cell + 1, level) && state.settle(first, last)
    }

    /// The valley to branch on.
    fn choose(&self, first: usize, last: usize, rule: Rule) -> Option<Valley> {
        let state = &self.state;
        let mut best: Option<((u64, u64), Valley)> = None;
        let mut from = first;
        while from < last {
            let level = state.ground[from];
            let mut to = from + 1;
            while to < last && state.ground[to] == level {
                to += 1;
            }
            let walled = (from == first || state.ground[from - 1] > level) && (to == last || state.ground[to] > level);
            if walled && let Some(valley) = open_part(state, from, to) {
                let score = self.score(valley, rule);
                if best.is_none_or(|(least, _)| score < least) {
                    best = Some((score, valley));
                }
            }
            from = to;
        }
        best.map(|(_, valley)| valley)
    }

    fn score(&self, valley: Valley, rule: Rule) -> (u64, u64) {
        let state = &self.state;
        let cells = valley.from as usize..valley.to as usize;
        match rule {
            Rule::Narrowest => (u64::from(valley.to - valley.from), valley.level),
            Rule::Tightest => {
                let room = |cell: usize| state.top[cell].saturating_sub(valley.level + state.waiting[cell]);
                (cells.filter(|&cell| state.waiting[cell] > 0).map(room).min().unwrap_or(u64::MAX), valley.level)
            }
            Rule::Fewest | Rule::Ways => {
                let left = |&&item: &&u32| !state.placed[item as usize] && state.to[item as usize] <= valley.to;
                let right = |&&item: &&u32| !state.placed[item as usize] && state.from[item as usize] >= valley.from;
                let lefts = state.starts.of(cells.start).iter().filter(left).count() as u64;
                let rights = state.ends.of(cells.end).iter().filter(right).count() as u64;
                if rule == Rule::Fewest {
                    return (lefts.min(rights), valley.level);
                }
                let spare = |cell: usize| u64::from(valley.level + state.waiting[cell] < state.top[cell]);
                let ways = (2 * lefts + spare(cells.start)).min(2 * rights + spare(cells.end - 1));
                (ways, valley.level)
            }
        }
    }
}

fn open_part(state: &State, mut from: usize, mut to: usize) -> Option<Valley> {
    let level = state.ground[from];
    while from < to && state.closed[from] {
        from += 1;
    }
    while from < to && state.closed[to - 1] {
        to -= 1;
    }
    (from < to).then_some(Valley { from: from as u32, to: to as u32, level })
}

/// The lowest level at which something can rest over the corner cell once it is closed: on the wall beside it, on the
/// smallest item that fits into the rest of the run, or, if none fits, on the wall at the other end.
fn next_rest(state: &State, first: usize, last: usize, valley: Valley, at_left: bool) -> u64 {
    let (mut from, mut to) = (valley.from as usize, valley.to as usize);
    let inside = if at_left { from + 1..to } else { from..to - 1 };
    let fits = |item: &u32| !state.placed[*item as usize] && state.to[*item as usize] as usize <= inside.end;
    let items = inside.clone().flat_map(|cell| state.starts.of(cell).iter().copied().filter(fits));
    let least = items.map(|item| state.size[item as usize]).min();
    while from > first && state.ground[from - 1] == valley.level {
        from -= 1;
    }
    while to < last && state.ground[to] == valley.level {
        to += 1;
    }
    let left = if from > first { state.ground[from - 1] } else { u64::MAX };
    let right = if to < last { state.ground[to] } else { u64::MAX };
    let (near, far) = if at_left { (left, right) } else { (right, left) };
    near.min(least.map_or(far, |size| (valley.level + size).min(far)))
}
