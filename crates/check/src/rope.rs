//! What bytes hold: ropes of segments over symbolic contents, in bits.
//!
//! A content is an endless sequence of bits with a name (a hash); a [`Seg`] is a nest of counted loops over it,
//! `content[start + i0*s0 + i1*s1 + ..]` in row-major order of the `i`. Slices, transposes, broadcasts and strided slices of a segment are again segments,
//! so data of any size moves at a cost that depends on its structure alone, and a transpose undone is the segment it was.
//!
//! Where a move does not fit (a transpose of a rope of several segments), the rope is *wrapped*: it becomes a content of its
//! own, named by the hash of the whole rope. Sound: equal names mean equal ropes. It only makes some equal things look different.

use crate::hash::Mix;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Bits, and positions in bits. Sizes reach 2^63 bytes, so 64 bits are not enough.
pub(crate) type Bits = i128;

/// How many pieces a move may make before it is wrapped.
pub(crate) const PIECES: Bits = 64;
/// How many runs two ropes of different structure are compared in.
const COMPARED: Bits = 1 << 16;

/// One loop of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Level {
    /// How often.
    pub(crate) count: Bits,
    /// Bits between two rounds.
    pub(crate) stride: Bits,
}

/// Loops, outermost first.
pub(crate) type Levels = SmallVec<[Level; 2]>;

/// Bits of one content, picked by a nest of loops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seg {
    pub(crate) content: u128,
    pub(crate) start: Bits,
    /// Never empty; no count is 1 unless it is the only one; no level continues the next one.
    pub(crate) levels: Levels,
}

/// A consecutive piece of a content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    content: u128,
    start: Bits,
    len: Bits,
}

/// A sequence of segments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Rope {
    pub(crate) segs: SmallVec<[Seg; 1]>,
    pub(crate) len: Bits,
}

/// Ropes that became contents of their own, by name.
pub(crate) type Wraps = FxHashMap<u128, Rope>;

/// One level.
pub(crate) fn level(count: Bits, stride: Bits) -> Level {
    Level { count, stride }
}

fn size(levels: &[Level]) -> Bits {
    levels.iter().map(|level| level.count).product()
}

/// Merges levels that continue each other, so that equal maps have equal levels.
fn normal(levels: impl IntoIterator<Item = Level>) -> Levels {
    let mut out = Levels::new();
    for next in levels {
        if next.count == 1 {
            continue;
        }
        match out.last_mut() {
            Some(last) if last.stride == next.count * next.stride => {
                *last = level(last.count * next.count, next.stride);
            }
            _ => out.push(next),
        }
    }
    if out.is_empty() {
        out.push(level(1, 1));
    }
    out
}

impl Seg {
    pub(crate) fn new(content: u128, start: Bits, levels: impl IntoIterator<Item = Level>) -> Seg {
        Seg { content, start, levels: normal(levels) }
    }

    pub(crate) fn flat(content: u128, start: Bits, len: Bits) -> Seg {
        Seg { content, start, levels: smallvec![level(len, 1)] }
    }

    pub(crate) fn len(&self) -> Bits {
        size(&self.levels)
    }

    fn is_flat(&self) -> bool {
        self.levels.len() == 1 && self.levels[0].stride == 1
    }

    /// Consecutive runs it is made of, before neighbours are joined.
    fn runs(&self) -> Bits {
        match self.levels.last() {
            Some(last) if last.stride == 1 && last.count > 0 => self.len() / last.count,
            _ => self.len(),
        }
    }

    /// Takes `next` in, if that is what follows.
    fn join(&mut self, next: &Seg) -> bool {
        if self.content != next.content {
            return false;
        }
        let (mine, other) = (&self.levels, &next.levels);
        let outer = mine[0];
        let after = self.start + outer.count * outer.stride;
        if mine.len() == other.len() && mine[1..] == other[1..] && outer.stride == other[0].stride {
            if next.start == after || (outer.count == 1 && mine.len() == 1) && next.start == self.start + 1 {
                self.levels[0].count += other[0].count;
                return true;
            }
        } else if mine[1..] == other[..] && next.start == after {
            self.levels[0].count += 1;
            return true;
        } else if mine[..] == other[1..] && next.start == self.start + other[0].stride {
            self.levels = other.clone();
            self.levels[0].count += 1;
            return true;
        }
        false
    }

    /// Appends bits `[from, to)` to `out`.
    fn slice(&self, from: Bits, to: Bits, out: &mut Rope) {
        cut(self.content, self.start, &self.levels, from, to, out);
    }

    /// Runs in order, joined where they follow each other.
    fn each_run(&self, start: Bits, levels: &[Level], out: &mut Vec<Run>) {
        match levels {
            [] => push_run(out, Run { content: self.content, start, len: 1 }),
            [one] if one.stride == 1 => push_run(out, Run { content: self.content, start, len: one.count }),
            [outer, inner @ ..] => {
                for round in 0..outer.count {
                    self.each_run(start + round * outer.stride, inner, out);
                }
            }
        }
    }
}

fn push_run(out: &mut Vec<Run>, run: Run) {
    match out.last_mut() {
        Some(last) if last.content == run.content && last.start + last.len == run.start => last.len += run.len,
        _ => out.push(run),
    }
}

/// Appends positions `[from, to)` of a nest of loops: a partial first round, whole rounds, a partial last round.
/// The recursion is as deep as the nest, which is as deep as a shape.
fn cut(content: u128, start: Bits, levels: &[Level], from: Bits, to: Bits, out: &mut Rope) {
    let [outer, inner @ ..] = levels else {
        out.push(Seg::flat(content, start, 1));
        return;
    };
    let step = size(inner);
    let (first, last) = (from / step, (to - 1) / step);
    if from % step == 0 && to % step == 0 {
        let mut whole = Levels::from_slice(levels);
        whole[0] = level(to / step - first, outer.stride);
        out.push(Seg::new(content, start + first * outer.stride, whole));
    } else if first == last {
        cut(content, start + first * outer.stride, inner, from % step, from % step + (to - from), out);
    } else {
        let body = (from + step - 1) / step * step;
        if body > from {
            cut(content, start, levels, from, body, out);
        }
        let tail = to / step * step;
        if tail > body {
            cut(content, start, levels, body, tail, out);
        }
        if to > tail {
            cut(content, start, levels, tail, to, out);
        }
    }
}

impl Rope {
    /// The first `len` bits of a content.
    pub(crate) fn of(content: u128, len: Bits) -> Rope {
        let mut rope = Rope::default();
        if len > 0 {
            rope.push(Seg::flat(content, 0, len));
        }
        rope
    }

    pub(crate) fn push(&mut self, seg: Seg) {
        self.len += seg.len();
        if !self.segs.last_mut().is_some_and(|last| last.join(&seg)) {
            self.segs.push(seg);
        }
    }

    pub(crate) fn append(&mut self, other: &Rope) {
        for seg in &other.segs {
            self.push(seg.clone());
        }
    }

    /// Bits `[from, to)`.
    pub(crate) fn slice(&self, from: Bits, to: Bits) -> Rope {
        let mut out = Rope::default();
        if from == 0 && to == self.len {
            return self.clone();
        }
        let mut at = 0;
        for seg in &self.segs {
            let (lo, hi) = (from.max(at) - at, to.min(at + seg.len()) - at);
            if lo < hi {
                seg.slice(lo, hi, &mut out);
            }
            at += seg.len();
            if at >= to {
                break;
            }
        }
        out
    }

    /// Its runs, if they are at most `limit`.
    fn runs(&self, limit: Bits) -> Option<Vec<Run>> {
        if self.segs.iter().map(Seg::runs).sum::<Bits>() > limit {
            return None;
        }
        let mut runs = Vec::new();
        for seg in &self.segs {
            seg.each_run(seg.start, &seg.levels, &mut runs);
        }
        Some(runs)
    }

    /// Feeds the rope: run by run where there are few, so that its structure does not matter.
    pub(crate) fn feed(&self, mix: &mut Mix) {
        mix.int(self.len);
        let Some(runs) = self.runs(PIECES) else {
            for seg in &self.segs {
                mix.wide(seg.content);
                mix.int(seg.start);
                mix.word(seg.levels.len() as u64);
                for level in &seg.levels {
                    mix.int(level.count);
                    mix.int(level.stride);
                }
            }
            return;
        };
        for run in runs {
            mix.wide(run.content);
            mix.int(run.start);
            mix.int(run.len);
        }
    }

    /// The hash of the rope.
    pub(crate) fn hash(&self) -> u128 {
        let mut mix = Mix::new("rope");
        self.feed(&mut mix);
        mix.done()
    }

    /// Makes the rope a content of its own.
    pub(crate) fn wrap(&self, wraps: &mut Wraps) -> Rope {
        let content = self.hash();
        wraps.entry(content).or_insert_with(|| self.clone());
        Rope::of(content, self.len)
    }

    /// The bits at `start + i0*s0 + ..`, for positions within the rope.
    pub(crate) fn gather(&self, start: Bits, levels: impl IntoIterator<Item = Level>, wraps: &mut Wraps) -> Rope {
        let levels = normal(levels);
        let total = size(&levels);
        if total == 0 {
            return Rope::default();
        }
        if levels.len() == 1 && levels[0].stride == 1 {
            return self.slice(start, start + total);
        }
        let last = start + levels.iter().map(|level| (level.count - 1) * level.stride.max(0)).sum::<Bits>();
        let mut at = 0;
        for seg in &self.segs {
            if at <= start && last < at + seg.len() {
                if let Some(seg) = compose(seg, start - at, &levels) {
                    return unwrapped(seg, wraps);
                }
                break;
            }
            at += seg.len();
        }
        let pattern = Seg { content: 0, start, levels };
        if pattern.runs() <= PIECES {
            let mut runs = Vec::new();
            pattern.each_run(start, &pattern.levels, &mut runs);
            let mut out = Rope::default();
            for run in runs {
                out.append(&self.slice(run.start, run.start + run.len));
            }
            return out;
        }
        let Seg { start, levels, .. } = pattern;
        let content = self.wrap(wraps).segs[0].content;
        unwrapped(Seg { content, start, levels }, wraps)
    }
}

/// A flat piece of a wrapped rope is that piece of the rope.
fn unwrapped(seg: Seg, wraps: &Wraps) -> Rope {
    match wraps.get(&seg.content) {
        Some(rope) if seg.is_flat() => rope.slice(seg.start, seg.start + seg.len()),
        _ => {
            let mut out = Rope::default();
            out.push(seg);
            out
        }
    }
}

/// The segment `inner` seen through another nest of loops over its positions, if that is a segment again: each outer loop must
/// run over one loop of `inner` without carrying into the next, or over whole loops of it.
fn compose(inner: &Seg, start: Bits, levels: &[Level]) -> Option<Seg> {
    let loops = &inner.levels;
    let mut place = vec![1; loops.len()];
    for at in (1..loops.len()).rev() {
        place[at - 1] = place[at] * loops[at].count;
    }
    let mut top: SmallVec<[Bits; 4]> = (0..loops.len()).map(|at| start / place[at] % loops[at].count).collect();
    let base = inner.start + top.iter().zip(loops).map(|(digit, level)| digit * level.stride).sum::<Bits>();
    let mut out = Levels::new();
    let mut todo: Vec<Level> = levels.iter().rev().copied().collect();
    while let Some(next) = todo.pop() {
        if next.count == 1 {
            continue;
        }
        if next.stride == 0 {
            out.push(next);
            continue;
        }
        let at = (0..loops.len()).find(|at| place[*at] <= next.stride)?;
        if next.stride % place[at] != 0 {
            return None;
        }
        let (step, count) = (next.stride / place[at], loops[at].count);
        if top[at] + step * (next.count - 1) < count {
            top[at] += step * (next.count - 1);
            out.push(level(next.count, step * loops[at].stride));
        } else if at > 0 && count % step == 0 && next.count % (count / step) == 0 && top[at] < step {
            // What other loops have added lies below `step`: whole rounds of this one carry nothing but themselves.
            todo.push(level(count / step, next.stride));
            todo.push(level(next.count / (count / step), place[at] * count));
        } else {
            return None;
        }
    }
    Some(Seg::new(inner.content, base, out))
}

/// Whether two ropes are the same bits, as far as can be told.
pub(crate) fn same(a: &Rope, b: &Rope, wraps: &Wraps) -> bool {
    first_difference(a, b, wraps).is_none()
}

/// The first bit at which two ropes differ, or may differ.
pub(crate) fn first_difference(a: &Rope, b: &Rope, wraps: &Wraps) -> Option<Bits> {
    if a == b {
        return None;
    }
    let (Some(left), Some(right)) = (open(a, wraps), open(b, wraps)) else { return Some(0) };
    let (mut i, mut j, mut at) = (0, 0, 0);
    let (mut left_at, mut right_at) = (0, 0);
    while let (Some(x), Some(y)) = (left.get(i), right.get(j)) {
        if x.content != y.content || x.start + left_at != y.start + right_at {
            return Some(at);
        }
        let step = (x.len - left_at).min(y.len - right_at);
        (left_at, right_at, at) = (left_at + step, right_at + step, at + step);
        if left_at == x.len {
            (i, left_at) = (i + 1, 0);
        }
        if right_at == y.len {
            (j, right_at) = (j + 1, 0);
        }
    }
    if i == left.len() && j == right.len() { None } else { Some(at) }
}

/// Runs with wrapped ropes opened, a few levels deep.
fn open(rope: &Rope, wraps: &Wraps) -> Option<Vec<Run>> {
    let mut runs = rope.runs(COMPARED)?;
    for _ in 0..8 {
        if !runs.iter().any(|run| wraps.contains_key(&run.content)) {
            break;
        }
        let mut opened = Vec::new();
        for run in runs {
            match wraps.get(&run.content) {
                Some(inner) => {
                    let part = inner.slice(run.start, run.start + run.len);
                    for run in part.runs(COMPARED)? {
                        push_run(&mut opened, run);
                    }
                }
                None => push_run(&mut opened, run),
            }
            if opened.len() as Bits > COMPARED {
                return None;
            }
        }
        runs = opened;
    }
    Some(runs)
}

#[cfg(test)]
mod tests;
