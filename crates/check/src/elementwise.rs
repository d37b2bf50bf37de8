//! Elementwise operations on ropes: a function applied to contents instead of elements.
//!
//! If `x` is a piece of content `c` and `y` a piece of content `d`, element `i` of `f(x, y)` is element `i + e` of the content named
//! "f of c and of d shifted by so much": the name does not depend on where the piece starts, so `f(slice(x))` and
//! `slice(f(x))` are the same bits, and so are reshapes, transposes and placements around `f`. An operand that repeats one
//! element enters the name with that element. Where operands run in different ways over many elements, the result is named by its whole operands.

use crate::hash::Mix;
use crate::rope::{Bits, Level, Levels, PIECES, Rope, Seg, level};
use smallvec::SmallVec;

/// One operand: its rope, stretched to the result's shape, and the bits of its elements.
pub(crate) struct Lane {
    pub(crate) rope: Rope,
    pub(crate) elem: Bits,
    /// Whether the operand has a single element, repeated everywhere.
    pub(crate) single: bool,
}

/// A piece of an operand in elements: where it starts, in bits, and its loops over elements, strides in bits.
struct Piece {
    content: u128,
    start: Bits,
    loops: Levels,
    uniform: bool,
}

/// Applies a function to lanes of `count` elements; `bits` per element of the result. None if elements are torn apart.
pub(crate) fn apply(function: u128, lanes: &[Lane], bits: Bits, count: Bits, commutes: bool) -> Option<Rope> {
    let mut out = Rope::default();
    let mut at = 0;
    while at < count {
        let (pieces, len) = front(lanes, at, count)?;
        match one(function, lanes, &pieces, bits, len, commutes) {
            Some(seg) => out.push(seg),
            None => joint(function, lanes, at, len, bits, commutes, &mut out)?,
        }
        at += len;
    }
    Some(out)
}

/// The longest stretch from element `at` on that is one segment in every lane.
fn front(lanes: &[Lane], at: Bits, count: Bits) -> Option<(SmallVec<[Piece; 2]>, Bits)> {
    let mut len = count - at;
    loop {
        let before = len;
        let mut pieces = SmallVec::new();
        for lane in lanes {
            let part = lane.rope.slice(at * lane.elem, (at + len) * lane.elem);
            let first = part.segs.first()?;
            if first.len() % lane.elem != 0 {
                return None;
            }
            len = len.min(first.len() / lane.elem);
            pieces.push(piece(first, lane)?);
        }
        if len == before {
            return Some((pieces, len));
        }
    }
}

fn piece(seg: &Seg, lane: &Lane) -> Option<Piece> {
    let (inner, outer) = seg.levels.split_last()?;
    if inner.stride != 1 || inner.count % lane.elem != 0 {
        return None;
    }
    let mut loops = Levels::from_slice(outer);
    if inner.count > lane.elem {
        loops.push(level(inner.count / lane.elem, lane.elem));
    }
    if loops.iter().any(|level| level.stride % lane.elem != 0) {
        return None;
    }
    let uniform = lane.single || (!loops.is_empty() && loops.iter().all(|level| level.stride == 0));
    Some(Piece { content: seg.content, start: seg.start, loops, uniform })
}

/// One segment of the result, if the lanes that vary run alike.
fn one(f: u128, lanes: &[Lane], pieces: &[Piece], bits: Bits, len: Bits, commutes: bool) -> Option<Seg> {
    let mut order: SmallVec<[usize; 4]> = (0..pieces.len()).collect();
    if commutes {
        order.sort_by_key(|at| (pieces[*at].uniform, pieces[*at].content, pieces[*at].start));
    }
    let lead = order.iter().copied().find(|at| !pieces[*at].uniform);
    let unit = |at: usize| pieces[at].loops.iter().map(move |level| (level.count, level.stride / lanes[at].elem));
    if let Some(lead) = lead
        && order.iter().any(|at| !pieces[*at].uniform && !unit(*at).eq(unit(lead)))
    {
        return None;
    }
    let first = lead.map_or(0, |lead| pieces[lead].start.div_euclid(lanes[lead].elem));
    let mut mix = Mix::new("elementwise");
    mix.wide(f);
    for at in order {
        let piece = &pieces[at];
        mix.wide(piece.content);
        mix.word(piece.uniform.into());
        mix.int(if piece.uniform { piece.start } else { piece.start - first * lanes[at].elem });
    }
    let inner = level(bits, 1);
    let loops: Levels = match lead {
        Some(lead) => unit(lead).map(|(count, stride)| level(count, stride * bits)).chain([inner]).collect(),
        None => [level(len, 0), inner].into_iter().collect(),
    };
    Some(Seg::new(mix.done(), first * bits, loops))
}

/// Lanes that run differently: piece by piece where there are few, else a content of its own.
fn joint(f: u128, lanes: &[Lane], at: Bits, len: Bits, bits: Bits, commutes: bool, out: &mut Rope) -> Option<()> {
    let parts: Vec<Rope> = lanes.iter().map(|lane| lane.rope.slice(at * lane.elem, (at + len) * lane.elem)).collect();
    let step = parts.iter().zip(lanes).filter_map(|(part, lane)| innermost(part.segs.first()?, lane)).min()?;
    if len <= step * PIECES && step < len && len % step == 0 {
        for round in 0..len / step {
            let cut = |(part, lane): (&Rope, &Lane)| Lane {
                rope: part.slice(round * step * lane.elem, (round + 1) * step * lane.elem),
                ..*lane
            };
            let lanes: Vec<Lane> = parts.iter().zip(lanes).map(cut).collect();
            out.append(&apply(f, &lanes, bits, step, commutes)?);
        }
        return Some(());
    }
    let mut mix = Mix::new("joint");
    mix.wide(f);
    parts.iter().for_each(|part| part.feed(&mut mix));
    out.push(Seg::flat(mix.done(), 0, len * bits));
    Some(())
}

/// Elements of the innermost loop.
fn innermost(seg: &Seg, lane: &Lane) -> Option<Bits> {
    let (inner, outer) = seg.levels.split_last()?;
    let last: Level =
        if inner.count > lane.elem { level(inner.count / lane.elem, lane.elem) } else { *outer.last()? };
    Some(last.count)
}
