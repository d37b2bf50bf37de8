//! One arena: what each byte holds, and who wrote it. Bytes nobody wrote hold poison.
//!
//! Cost per access is logarithmic in the pieces that the arena holds plus the pieces touched, whatever the number of bytes. While a
//! branch is open, changes are logged, so that the next body starts from the same bytes.

use crate::hash::Mix;
use crate::rope::{Bits, Rope, Seg, Wraps, first_difference};
use std::collections::BTreeMap;

/// Who wrote: a value or an operation's scratch, and when.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Stamp {
    pub(crate) value: Option<neap_ir::ValueId>,
    pub(crate) op: Option<neap_ir::OpId>,
    pub(crate) step: u32,
}

#[derive(Clone, Debug)]
struct Cell {
    end: Bits,
    /// None: poison.
    seg: Option<Seg>,
    stamp: Stamp,
}

struct Undo {
    start: Bits,
    end: Bits,
    old: Vec<(Bits, Cell)>,
}

/// An arena's bytes, addressed in bits.
#[derive(Default)]
pub(crate) struct Memory {
    cells: BTreeMap<Bits, Cell>,
    log: Vec<Undo>,
    forks: usize,
}

/// Where bytes are not what they should be.
pub(crate) struct Mismatch {
    pub(crate) stamp: Stamp,
    /// Bits from the start of the range.
    pub(crate) at: Bits,
    /// Where the strange piece ends.
    pub(crate) end: Bits,
}

impl Memory {
    /// Cells that meet `[start, end)`, cut to it.
    fn pieces(&self, start: Bits, end: Bits) -> Vec<(Bits, Cell)> {
        let first = self.cells.range(..=start).next_back().map_or(start, |(at, _)| *at);
        let mut out = Vec::new();
        for (at, cell) in self.cells.range(first..end) {
            let (lo, hi) = ((*at).max(start), cell.end.min(end));
            if lo < hi {
                cut(cell, *at, lo, hi, &mut out);
            }
        }
        neap_ir::work::count(out.len() as u64);
        out
    }

    fn put(&mut self, start: Bits, end: Bits, new: impl Iterator<Item = (Bits, Cell)>) {
        let first = self.cells.range(..=start).next_back().map_or(start, |(at, _)| *at);
        let met: Vec<Bits> =
            self.cells.range(first..end).filter(|(_, cell)| cell.end > start).map(|(at, _)| *at).collect();
        neap_ir::work::count(met.len() as u64);
        let (mut old, mut kept) = (Vec::new(), Vec::new());
        for at in met {
            let cell = self.cells.remove(&at).expect("the cell was just found");
            if at < start {
                cut(&cell, at, at, start, &mut kept);
            }
            if cell.end > end {
                cut(&cell, at, end, cell.end, &mut kept);
            }
            if self.forks > 0 {
                cut(&cell, at, at.max(start), cell.end.min(end), &mut old);
            }
        }
        self.cells.extend(kept);
        self.cells.extend(new);
        if self.forks > 0 {
            self.log.push(Undo { start, end, old });
        }
    }

    /// Writes a rope.
    pub(crate) fn write(&mut self, start: Bits, rope: &Rope, stamp: Stamp) {
        let mut at = start;
        let cells = rope.segs.iter().map(|seg| {
            let from = at;
            at += seg.len();
            (from, Cell { end: at, seg: Some(seg.clone()), stamp })
        });
        let cells: Vec<(Bits, Cell)> = cells.collect();
        self.put(start, start + rope.len, cells.into_iter());
    }

    /// Poisons `[start, end)`.
    pub(crate) fn poison(&mut self, start: Bits, end: Bits, stamp: Stamp) {
        if start < end {
            self.put(start, end, std::iter::once((start, Cell { end, seg: None, stamp })));
        }
    }

    /// Whether `[start, start + rope.len)` holds `rope`; where not, who wrote there. Bits of `rope` that are `undefined` may be anything.
    pub(crate) fn expect(&self, start: Bits, rope: &Rope, undefined: u128, wraps: &Wraps) -> Option<Mismatch> {
        let end = start + rope.len;
        let pieces = self.pieces(start, end);
        if let ([(at, Cell { end: stop, seg: Some(found), .. })], [seg]) = (&pieces[..], &rope.segs[..])
            && *at == start
            && *stop == end
            && found == seg
        {
            return None;
        }
        let poison = Mix::new("poison").done();
        let (mut held, mut at) = (Rope::default(), start);
        for (from, cell) in &pieces {
            if *from > at {
                held.push(Seg::flat(poison, at, from - at));
            }
            held.push(cell.seg.clone().unwrap_or_else(|| Seg::flat(poison, *from, cell.end - from)));
            at = cell.end;
        }
        if at < end {
            held.push(Seg::flat(poison, at, end - at));
        }
        let at = if rope.segs.iter().any(|seg| seg.content == undefined) {
            defined_difference(&held, rope, undefined, wraps)
        } else {
            first_difference(&held, rope, wraps)
        }?;
        let (mut stamp, mut stop) = (Stamp::default(), rope.len);
        for (from, cell) in &pieces {
            let (from, to) = (from - start, cell.end - start);
            if from <= at && at < to {
                (stamp, stop) = (cell.stamp, to);
            } else if from > at {
                stop = stop.min(from);
                break;
            }
        }
        Some(Mismatch { stamp, at, end: stop })
    }

    /// From now on changes can be taken back; hands back the mark to which.
    pub(crate) fn fork(&mut self) -> usize {
        self.forks += 1;
        self.log.len()
    }

    /// Takes all changes since `mark` back and hands back where they were, and who made them.
    pub(crate) fn rollback(&mut self, mark: usize) -> Vec<(Bits, Bits, Stamp)> {
        let mut dirty = Vec::new();
        let forks = std::mem::take(&mut self.forks);
        while self.log.len() > mark {
            let undo = self.log.pop().expect("the log is longer than the mark");
            dirty.extend(self.pieces(undo.start, undo.end).into_iter().map(|(at, cell)| (at, cell.end, cell.stamp)));
            self.put(undo.start, undo.end, undo.old.into_iter());
        }
        self.forks = forks;
        dirty
    }

    /// Ends a fork; changes since then stay.
    pub(crate) fn join(&mut self) {
        self.forks -= 1;
        if self.forks == 0 {
            self.log.clear();
        }
    }
}

/// The part `[lo, hi)` of a cell that starts at `at`; several cells where the cut goes across loops.
fn cut(cell: &Cell, at: Bits, lo: Bits, hi: Bits, out: &mut Vec<(Bits, Cell)>) {
    let Some(seg) = cell.seg.as_ref().filter(|_| lo != at || hi != cell.end) else {
        return out.push((lo, Cell { end: hi, ..cell.clone() }));
    };
    let mut whole = Rope::default();
    whole.push(seg.clone());
    let mut from = lo;
    for seg in whole.slice(lo - at, hi - at).segs {
        let end = from + seg.len();
        out.push((from, Cell { end, seg: Some(seg), stamp: cell.stamp }));
        from = end;
    }
}

/// The first difference outside of undefined bits.
fn defined_difference(held: &Rope, rope: &Rope, undefined: u128, wraps: &Wraps) -> Option<Bits> {
    let mut at = 0;
    for seg in &rope.segs {
        let (from, to) = (at, at + seg.len());
        at = to;
        if seg.content == undefined {
            continue;
        }
        let mut want = Rope::default();
        want.push(seg.clone());
        if let Some(difference) = first_difference(&held.slice(from, to), &want, wraps) {
            return Some(from + difference);
        }
    }
    None
}
