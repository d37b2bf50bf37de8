//! Says whether a solution is right, in the plainest way.
//!
//! [`validate`] compares all pairs of items in `O(n^2)`, splits each into the rectangles it holds (steps times
//! bytes), and looks for a common step and a common byte. [`sweep`] goes through time once, in `O(n log n)`, and keeps the
//! bytes that are held, for tables too long for all pairs. Neither shares code with the solvers: what they believe about the
//! problem cannot blind it.

use std::collections::BTreeMap;

use crate::error::Violation;
use crate::outcome::Solution;
use crate::problem::{Item, ItemId, Problem};

/// Checks every rule of `problem`, capacities included.
///
/// # Errors
///
/// The first rule that is broken.
pub fn validate(problem: &Problem, solution: &Solution) -> Result<(), Violation> {
    let items = problem.items();
    if solution.places.len() != items.len() {
        return Err(Violation::WrongCount { places: solution.places.len(), items: items.len() });
    }
    for (index, item) in items.iter().enumerate() {
        alone(problem, solution, ItemId(index as u32), item)?;
    }
    for second in 0..items.len() {
        for first in 0..second {
            if solution.places[first].region == solution.places[second].region {
                overlap(items, solution, first, second)?;
            }
        }
    }
    relations(problem, solution)
}

/// As [`validate`], in `O(n log n)`.
///
/// # Errors
///
/// A rule that is broken, not always the one that [`validate`] names.
pub fn sweep(problem: &Problem, solution: &Solution) -> Result<(), Violation> {
    let items = problem.items();
    if solution.places.len() != items.len() {
        return Err(Violation::WrongCount { places: solution.places.len(), items: items.len() });
    }
    let mut rows = Vec::with_capacity(items.len());
    for (id, item) in items.iter().enumerate() {
        alone(problem, solution, ItemId(id as u32), item)?;
        let held = rectangles(item).into_iter().filter(|(begin, end, low, high)| begin < end && low < high);
        rows.extend(held.map(|(begin, end, low, high)| (begin, end, low, high, id as u32)));
    }
    let mut events: Vec<(u64, bool, u32)> = Vec::with_capacity(2 * rows.len());
    for (row, &(begin, end, ..)) in rows.iter().enumerate() {
        // `false` sorts first: ends before begins.
        events.extend([(begin, true, row as u32), (end, false, row as u32)]);
    }
    events.sort_unstable();
    let mut held: BTreeMap<(u32, u64), (u64, u32)> = BTreeMap::new();
    for (step, begins, row) in events {
        let (.., low, high, id) = rows[row as usize];
        let place = solution.places[id as usize];
        let (region, low, high) = (place.region.0, place.offset + low, place.offset + high);
        if !begins {
            held.remove(&(region, low));
            continue;
        }
        let below = held.range(..(region, low)).next_back().filter(|&(&(r, _), &(end, _))| r == region && end > low);
        let above = held.range((region, low)..(region, high)).next();
        if let Some((_, &(_, other))) = below.or(above) {
            return Err(Violation::Overlap { first: ItemId(other), second: ItemId(id), step });
        }
        held.insert((region, low), (high, id));
    }
    relations(problem, solution)
}

fn alone(problem: &Problem, solution: &Solution, id: ItemId, item: &Item) -> Result<(), Violation> {
    let place = solution.places[id.index()];
    let Some(region) = problem.regions().get(place.region.index()) else {
        return Err(Violation::NoSuchRegion { item: id, region: place.region });
    };
    if !item.regions.is_empty() && !item.regions.contains(&place.region) {
        return Err(Violation::RegionNotAllowed { item: id, region: place.region });
    }
    for align in [item.align, region.align] {
        if !place.offset.is_multiple_of(align) {
            return Err(Violation::Misaligned { item: id, offset: place.offset, align });
        }
    }
    if let Some(fixed) = item.fixed.filter(|&fixed| fixed != place.offset) {
        return Err(Violation::NotFixed { item: id, offset: place.offset, fixed });
    }
    let capacity = region.capacity.unwrap_or(i64::MAX as u64);
    match place.offset.checked_add(item.size) {
        Some(end) if end <= capacity => Ok(()),
        _ => Err(Violation::OverCapacity { item: id, offset: place.offset, size: item.size, capacity }),
    }
}

/// What an item holds: steps `[.0, .1)` times bytes `[.2, .3)` relative to its offset.
fn rectangles(item: &Item) -> Vec<(u64, u64, u64, u64)> {
    let mut gaps = item.gaps.clone();
    gaps.sort_by_key(|gap| (gap.steps.begin, gap.steps.end));
    let mut parts = Vec::new();
    let mut step = item.live.begin;
    for gap in gaps {
        parts.push((step, gap.steps.begin, 0, item.size));
        if let Some(window) = gap.window {
            parts.push((gap.steps.begin, gap.steps.end, window.begin, window.end));
        }
        step = step.max(gap.steps.end);
    }
    parts.push((step, item.live.end, 0, item.size));
    parts
}

fn overlap(items: &[Item], solution: &Solution, first: usize, second: usize) -> Result<(), Violation> {
    let (a, b) = (&items[first], &items[second]);
    if a.live.end <= b.live.begin || b.live.end <= a.live.begin {
        return Ok(());
    }
    let (at, bt) = (solution.places[first].offset, solution.places[second].offset);
    for (a_begin, a_end, a_low, a_high) in rectangles(a) {
        for (b_begin, b_end, b_low, b_high) in rectangles(b) {
            let step = a_begin.max(b_begin);
            let steps = step < a_end.min(b_end);
            let bytes = (at + a_low).max(bt + b_low) < (at + a_high).min(bt + b_high);
            if steps && bytes {
                return Err(Violation::Overlap { first: ItemId(first as u32), second: ItemId(second as u32), step });
            }
        }
    }
    Ok(())
}

fn relations(problem: &Problem, solution: &Solution) -> Result<(), Violation> {
    let size = |id: ItemId| problem.items()[id.index()].size;
    let place = |id: ItemId| solution.places[id.index()];
    for &(first, second) in problem.apart() {
        let (a, b) = (place(first), place(second));
        let share = a.offset.max(b.offset) < (a.offset + size(first)).min(b.offset + size(second));
        if a.region == b.region && share {
            return Err(Violation::Shared { first, second });
        }
    }
    for distance in problem.distances() {
        let (a, b) = (place(distance.first), place(distance.second));
        let there = i128::from(b.offset) - i128::from(a.offset) == i128::from(distance.bytes);
        if a.region != b.region || !there {
            return Err(Violation::WrongDistance {
                first: distance.first,
                second: distance.second,
                bytes: distance.bytes,
            });
        }
    }
    Ok(())
}
