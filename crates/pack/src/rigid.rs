//! Bodies: items that move together.
//!
//! Items at a fixed distance are one rigid body. Its offset `x` has to satisfy one congruence per
//! region, `x = residue (mod modulus)`, which collects the alignments of all members (Chinese
//! remainder theorem), and lies at 0 or above. A body of one item is the ordinary case.
//!
//! Groups are found by a union-find whose edges carry distances, iterative and with path halving, so
//! chains of a million parts cost near-linear time and no stack.

use crate::error::ProblemError;
use crate::problem::{ItemId, MAX_BYTES, Problem, RegionId, too_much};

/// A region a body may lie in, and the offsets that its alignments leave there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) region: RegionId,
    /// Offsets are `residue + k * modulus`, `k >= 0`.
    pub(crate) residue: i64,
    pub(crate) modulus: i64,
}

impl Slot {
    /// The least permitted offset at or above `x`.
    pub(crate) fn at_least(self, x: i64) -> i64 {
        if x <= self.residue {
            return self.residue;
        }
        let over = (x - self.residue) % self.modulus;
        if over == 0 { x } else { x + (self.modulus - over) }
    }
}

/// Items at fixed distances from each other.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// The members and their distance from the body's offset, at least 0; sorted by item.
    pub(crate) members: Vec<(ItemId, i64)>,
    /// Bytes from the body's offset to its highest end.
    pub(crate) extent: i64,
    /// The offset, where a member's is given.
    pub(crate) fixed: Option<i64>,
    /// Where it may lie, the most wanted first; never empty in a checked problem.
    pub(crate) slots: Vec<Slot>,
}

/// Refuses distances, fixed offsets, alignments and region lists that contradict each other.
pub(crate) fn check(problem: &Problem) -> Result<(), ProblemError> {
    let plain_regions = problem.regions().iter().all(|region| region.align == 1);
    if problem.distances().is_empty() && plain_regions {
        return Ok(());
    }
    bodies(problem).map(|_| ())
}

/// All bodies, in the order of their first item.
pub(crate) fn bodies(problem: &Problem) -> Result<Vec<Body>, ProblemError> {
    let mut bodies = Vec::new();
    let mut moduli: u64 = 0;
    for members in groups(problem)? {
        let body = body(problem, members)?;
        if body.members.len() > 1 {
            let largest = body.slots.iter().map(|slot| slot.modulus as u64).max().unwrap_or(1);
            moduli = moduli.checked_add(largest).filter(|&m| m <= MAX_BYTES / 2).ok_or_else(|| too_much(problem))?;
        }
        bodies.push(body);
    }
    Ok(bodies)
}

/// Items by body, each with its distance from the lowest member.
fn groups(problem: &Problem) -> Result<Vec<Vec<(ItemId, i64)>>, ProblemError> {
    let count = problem.items().len();
    let mut forest = Forest { parent: (0..count as u32).collect(), shift: vec![0; count] };
    for distance in problem.distances() {
        forest.join(distance.first, distance.second, distance.bytes)?;
    }
    let mut place = vec![u32::MAX; count];
    let mut groups: Vec<Vec<(ItemId, i64)>> = Vec::new();
    for index in 0..count as u32 {
        let (root, shift) = forest.find(index);
        if place[root as usize] == u32::MAX {
            place[root as usize] = groups.len() as u32;
            groups.push(Vec::with_capacity(1));
        }
        groups[place[root as usize] as usize].push((ItemId(index), shift));
    }
    for members in &mut groups {
        let lowest = members.iter().map(|&(_, shift)| shift).min().unwrap_or(0);
        members.iter_mut().for_each(|member| member.1 -= lowest);
    }
    Ok(groups)
}

struct Forest {
    parent: Vec<u32>,
    /// Offset minus the parent's offset.
    shift: Vec<i64>,
}

impl Forest {
    /// The root of `x` and the distance of `x` from it.
    fn find(&mut self, mut x: u32) -> (u32, i64) {
        let mut shift = 0;
        while self.parent[x as usize] != x {
            let up = self.parent[x as usize];
            let above = self.parent[up as usize];
            if above != up {
                self.shift[x as usize] += self.shift[up as usize];
                self.parent[x as usize] = above;
            }
            shift += self.shift[x as usize];
            x = self.parent[x as usize];
        }
        (x, shift)
    }

    fn join(&mut self, first: ItemId, second: ItemId, bytes: i64) -> Result<(), ProblemError> {
        let (a, a_shift) = self.find(first.0);
        let (b, b_shift) = self.find(second.0);
        if a != b {
            let (low, high) = (a.min(b), a.max(b));
            let distance = a_shift + bytes - b_shift;
            self.parent[high as usize] = low;
            self.shift[high as usize] = if high == b { distance } else { -distance };
        } else if b_shift - a_shift != bytes {
            return Err(ProblemError::DistanceContradicts { item: second, first: b_shift - a_shift, second: bytes });
        }
        Ok(())
    }
}

fn body(problem: &Problem, members: Vec<(ItemId, i64)>) -> Result<Body, ProblemError> {
    let mut fixed: Option<i64> = None;
    let mut extent = 0;
    for &(id, shift) in &members {
        let item = &problem.items()[id.index()];
        extent = extent.max(shift + item.size as i64);
        if let Some(offset) = item.fixed {
            let at = offset as i64 - shift;
            match fixed {
                Some(before) if before != at => {
                    return Err(ProblemError::DistanceContradicts {
                        item: id,
                        first: before + shift,
                        second: offset as i64,
                    });
                }
                _ if at < 0 => {
                    return Err(ProblemError::DistanceContradicts { item: id, first: offset as i64, second: shift });
                }
                _ => fixed = Some(at),
            }
        }
    }
    let regions = common_regions(problem, &members)?;
    let slots: Vec<Slot> = regions.into_iter().filter_map(|region| slot(problem, &members, region, fixed)).collect();
    if slots.is_empty() {
        let (item, _) = members[0];
        return Err(ProblemError::AlignContradicts { item, align: problem.items()[item.index()].align });
    }
    Ok(Body { members, extent, fixed, slots })
}

fn common_regions(problem: &Problem, members: &[(ItemId, i64)]) -> Result<Vec<RegionId>, ProblemError> {
    let items = problem.items();
    let choosy = members.iter().find(|(id, _)| !items[id.index()].regions.is_empty());
    let mut regions = problem.allowed_regions(choosy.unwrap_or(&members[0]).0);
    for (id, _) in members {
        let allowed = &items[id.index()].regions;
        regions.retain(|region| allowed.is_empty() || allowed.contains(region));
    }
    if regions.is_empty() { Err(ProblemError::NoCommonRegion { item: members[0].0 }) } else { Ok(regions) }
}

/// The congruence of the body in `region`; `None` where it, or the fixed offset, has no answer.
fn slot(problem: &Problem, members: &[(ItemId, i64)], region: RegionId, fixed: Option<i64>) -> Option<Slot> {
    let (mut residue, mut modulus) = (0_i128, 1_i128);
    for &(id, shift) in members {
        let align = i128::from(problem.align_in(id, region));
        let wanted = i128::from(-shift).rem_euclid(align);
        (residue, modulus) = meet(residue, modulus, wanted, align)?;
        if modulus > i128::from(MAX_BYTES / 2) {
            return None;
        }
    }
    if fixed.is_some_and(|at| i128::from(at) % modulus != residue) {
        return None;
    }
    Some(Slot { region, residue: residue as i64, modulus: modulus as i64 })
}

/// The numbers that are `r` modulo `m` and `s` modulo `n`, as one congruence.
fn meet(r: i128, m: i128, s: i128, n: i128) -> Option<(i128, i128)> {
    let (g, inverse) = bezout(m, n);
    if (s - r) % g != 0 {
        return None;
    }
    let step = n / g;
    let k = (((s - r) / g) % step * (inverse % step)).rem_euclid(step);
    let modulus = m * step;
    Some(((r + m * k).rem_euclid(modulus), modulus))
}

/// `gcd(m, n)` and an `x` with `m * x = gcd (mod n)`.
fn bezout(m: i128, n: i128) -> (i128, i128) {
    let (mut a, mut b, mut x, mut y) = (m, n, 1_i128, 0_i128);
    while b != 0 {
        let q = a / b;
        (a, b) = (b, a - q * b);
        (x, y) = (y, x - q * y);
    }
    (a, x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Distance, Item, Region};

    #[test]
    fn congruences_meet_where_brute_force_says() {
        for (m, n) in [(1, 1), (4, 6), (8, 12), (5, 7), (16, 4), (9, 6)] {
            for r in 0..m {
                for s in 0..n {
                    let expected = (0..m * n).find(|x| x % m == r && x % n == s);
                    assert_eq!(meet(r, m, s, n).map(|(x, _)| x), expected, "{r} mod {m}, {s} mod {n}");
                }
            }
        }
    }

    fn chain(bytes: &[(u32, u32, i64)], fixed: &[(usize, u64)], aligns: &[u64]) -> Result<Problem, ProblemError> {
        let mut items: Vec<Item> = aligns.iter().map(|&align| Item { align, ..Item::new(0, 1, 8) }).collect();
        fixed.iter().for_each(|&(index, offset)| items[index].fixed = Some(offset));
        let distances =
            bytes.iter().map(|&(a, b, bytes)| Distance { first: ItemId(a), second: ItemId(b), bytes }).collect();
        Problem::new(items, vec![Region::default()], distances, Vec::new())
    }

    #[test]
    fn a_body_knows_its_members_distances_and_alignment() {
        let problem = chain(&[(0, 1, -8), (1, 2, 24)], &[], &[16, 1, 4]).expect("valid");
        let bodies = bodies(&problem).expect("valid");
        assert_eq!(bodies.len(), 1);
        assert_eq!(bodies[0].members, [(ItemId(0), 8), (ItemId(1), 0), (ItemId(2), 24)]);
        assert_eq!((bodies[0].extent, bodies[0].slots[0].residue, bodies[0].slots[0].modulus), (32, 8, 16));
        assert_eq!(bodies[0].slots[0].at_least(9), 24);
    }

    #[test]
    fn contradictions_name_the_item() {
        let error = chain(&[(0, 1, 8), (1, 2, 8), (0, 2, 17)], &[], &[1, 1, 1]).unwrap_err();
        assert_eq!(error, ProblemError::DistanceContradicts { item: ItemId(2), first: 16, second: 17 });
        let error = chain(&[(0, 1, 8)], &[(0, 8), (1, 8)], &[1, 1]).unwrap_err();
        assert_eq!(error, ProblemError::DistanceContradicts { item: ItemId(1), first: 16, second: 8 });
        let error = chain(&[(0, 1, 8)], &[(1, 0)], &[1, 1]).unwrap_err();
        assert!(matches!(error, ProblemError::DistanceContradicts { .. }));
        let error = chain(&[(0, 1, 2)], &[], &[4, 4]).unwrap_err();
        assert!(matches!(error, ProblemError::AlignContradicts { .. }));
    }

    #[test]
    fn a_chain_of_a_million_parts_needs_no_stack() {
        let n = 1_000_000;
        let items = vec![Item::new(0, 1, 1); n];
        let distances =
            (1..n as u32).rev().map(|b| Distance { first: ItemId(b - 1), second: ItemId(b), bytes: 1 }).collect();
        let problem = Problem::new(items, Vec::new(), distances, Vec::new()).expect("valid");
        assert_eq!(bodies(&problem).expect("valid")[0].extent, n as i64);
    }
}
