//! The problem as solvers for the general case see it: bodies made of rectangles.
//!
//! A body (see [`crate::rigid`]) holds *pieces*: a range of sections times a range of bytes relative to
//! its offset. Gaps split an item into several pieces, windows narrow them. Two bodies at offsets `p` and
//! `q` collide exactly when `q - p` lies in one of finitely many open intervals, one per pair of
//! pieces that share a section, and one per pair of members that must stay apart. That is all that any
//! solver needs to know about gaps, windows, distances and separation.

use crate::outcome::{Infeasible, Place, Solution};
use crate::problem::{Item, ItemId, Problem, RegionId, Span};
use crate::rigid::{self, Body};
use crate::sections::Sections;

/// A rectangle of a body: sections `[from, to)` times bytes `[low, high)` from the body's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) body: u32,
    pub(crate) item: ItemId,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) low: i64,
    pub(crate) high: i64,
}

/// All bodies with their pieces.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) bodies: Vec<Body>,
    /// Grouped by body, see [`Model::pieces_of`].
    pub(crate) pieces: Vec<Piece>,
    first_piece: Vec<u32>,
    /// Per body: bodies with a member that must stay apart, and the forbidden open interval of
    /// `offset(other) - offset(this)`.
    pub(crate) apart: Vec<Vec<(u32, i64, i64)>>,
    pub(crate) sections: Sections,
}

impl Model {
    pub(crate) fn new(problem: &Problem) -> Model {
        let bodies = rigid::bodies(problem).unwrap_or_default(); // checked by `Problem::new`
        let mut spans = Vec::new();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut first_piece = vec![0];
        for (index, body) in bodies.iter().enumerate() {
            for &(item, shift) in &body.members {
                for (steps, bytes) in rectangles(&problem.items()[item.index()]) {
                    spans.push(steps);
                    let (low, high) = (shift + bytes.begin as i64, shift + bytes.end as i64);
                    pieces.push(Piece { body: index as u32, item, from: 0, to: 0, low, high });
                }
            }
            first_piece.push(pieces.len() as u32);
        }
        let (sections, ranges) = Sections::new(&spans);
        for (piece, range) in pieces.iter_mut().zip(ranges) {
            (piece.from, piece.to) = range;
        }
        let apart = apart(problem, &bodies);
        Model { bodies, pieces, first_piece, apart, sections }
    }

    /// The place of a body's first piece in `pieces`.
    pub(crate) fn first_piece(&self, body: usize) -> usize {
        self.first_piece[body] as usize
    }

    /// The pieces of a body.
    pub(crate) fn pieces_of(&self, body: usize) -> &[Piece] {
        &self.pieces[self.first_piece[body] as usize..self.first_piece[body + 1] as usize]
    }

    /// Two members of one body that hold the same byte, if there are such.
    pub(crate) fn self_conflict(&self) -> Option<Infeasible> {
        let joined = (0..self.bodies.len()).filter(|&body| self.bodies[body].members.len() > 1);
        joined.into_iter().find_map(|body| overlap_within(self.pieces_of(body)).or_else(|| self.apart_within(body)))
    }

    fn apart_within(&self, body: usize) -> Option<Infeasible> {
        let own = self.apart[body].iter().find(|&&(other, low, high)| other as usize == body && low < 0 && 0 < high);
        own.map(|_| Infeasible::Conflict {
            first: self.bodies[body].members[0].0,
            second: self.bodies[body].members[1].0,
        })
    }

    /// The problem's solution from an offset and a region per body.
    pub(crate) fn solution(&self, problem: &Problem, offsets: &[i64], regions: &[RegionId]) -> Solution {
        let mut places = vec![Place { region: RegionId(0), offset: 0 }; problem.items().len()];
        for (index, body) in self.bodies.iter().enumerate() {
            for &(item, shift) in &body.members {
                places[item.index()] = Place { region: regions[index], offset: (offsets[index] + shift) as u64 };
            }
        }
        Solution { places }
    }
}

/// The non-empty rectangles an item holds, steps times bytes.
pub(crate) fn rectangles(item: &Item) -> Vec<(Span, Span)> {
    let whole = Span::new(0, item.size);
    if item.gaps.is_empty() {
        return if item.live.is_empty() || item.size == 0 { Vec::new() } else { vec![(item.live, whole)] };
    }
    let mut gaps: Vec<_> = item.gaps.iter().filter(|gap| !gap.steps.is_empty()).collect();
    gaps.sort_by_key(|gap| gap.steps);
    let mut parts = Vec::with_capacity(2 * gaps.len() + 1);
    let mut step = item.live.begin;
    for gap in gaps {
        parts.push((Span::new(step, gap.steps.begin), whole));
        parts.extend(gap.window.map(|window| (gap.steps, window)));
        step = gap.steps.end;
    }
    parts.push((Span::new(step, item.live.end), whole));
    parts.retain(|(steps, bytes)| !steps.is_empty() && !bytes.is_empty());
    parts
}

fn apart(problem: &Problem, bodies: &[Body]) -> Vec<Vec<(u32, i64, i64)>> {
    let mut apart = vec![Vec::new(); bodies.len()];
    if problem.apart().is_empty() {
        return apart;
    }
    let mut home = vec![(0_u32, 0_i64); problem.items().len()];
    for (index, body) in bodies.iter().enumerate() {
        body.members.iter().for_each(|&(item, shift)| home[item.index()] = (index as u32, shift));
    }
    for &(first, second) in problem.apart() {
        let size = |id: ItemId| problem.items()[id.index()].size as i64;
        if size(first) == 0 || size(second) == 0 {
            continue;
        }
        let ((a, a_shift), (b, b_shift)) = (home[first.index()], home[second.index()]);
        let low = a_shift - b_shift - size(second);
        let high = a_shift + size(first) - b_shift;
        apart[a as usize].push((b, low, high));
        apart[b as usize].push((a, -high, -low));
    }
    apart
}

/// A sweep over sections keeps the bytes held, which must be disjoint.
fn overlap_within(pieces: &[Piece]) -> Option<Infeasible> {
    let mut events: Vec<(u32, bool, usize)> = Vec::with_capacity(2 * pieces.len());
    for (index, piece) in pieces.iter().enumerate() {
        events.push((piece.from, true, index));
        events.push((piece.to, false, index)); // `false` sorts first: ends before begins
    }
    events.sort_unstable();
    let mut held = std::collections::BTreeMap::new();
    for (_, begins, index) in events {
        let piece = &pieces[index];
        if !begins {
            held.remove(&piece.low);
            continue;
        }
        let below =
            held.range(..=piece.low).next_back().filter(|&(_, &other): &(_, &usize)| pieces[other].high > piece.low);
        let above = held.range(piece.low..).next().filter(|&(&low, _)| low < piece.high);
        if let Some((_, &other)) = below.or(above) {
            return Some(Infeasible::Conflict { first: pieces[other].item, second: piece.item });
        }
        held.insert(piece.low, index);
    }
    None
}
