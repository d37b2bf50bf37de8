//! Lower bounds: what is live at once has to lie somewhere.
//!
//! The floor of a region is the largest sum of live bytes over all sections. Alignment raises it: let `g`
//! divide all alignments and all windows' first bytes, then every piece starts at a multiple of `g`,
//! so every piece of a section but the topmost takes its size rounded up to `g`. Beyond the load, a
//! fixed item ends where it ends, and two items that never share bytes need the sum of their sizes.
//!
//! With several regions, the items of a section that may lie in a set of regions only need the sum of the
//! capacities of that set; a section that needs more proves that nothing fits.

use crate::model::{Model, Piece};
use crate::outcome::Infeasible;
use crate::plain::unpainted;
use crate::problem::{ItemId, Problem, RegionId, gcd};

/// The most sets of regions whose load is checked; more only weakens the bound.
const MAX_SETS: usize = 64;

/// A lower bound for the sum of all heights.
pub(crate) fn lower_bound(problem: &Problem, model: &Model) -> u64 {
    let pieces: Vec<&Piece> = model.pieces.iter().collect();
    let several = problem.regions().len() > 1;
    let unit = if several { 1 } else { granule(problem, model, |_| true) };
    let load = section_loads(&pieces, model.sections.count(), unit).into_iter().max().unwrap_or(0);
    if several {
        return load;
    }
    let items = problem.items();
    let fixed = model.bodies.iter().filter_map(|body| body.fixed.map(|at| (at + body.extent) as u64));
    let apart = problem.apart().iter().map(|&(a, b)| items[a.index()].size + items[b.index()].size);
    let extents = model.bodies.iter().map(|body| body.extent as u64);
    load.max(fixed.max().unwrap_or(0)).max(apart.max().unwrap_or(0)).max(extents.max().unwrap_or(0))
}

/// A proof that no solution is within the capacities, if the load or a single body gives one.
pub(crate) fn infeasible(problem: &Problem, model: &Model) -> Option<Infeasible> {
    // Where one region is all there is, what is live together says more; among several, which body is larger than each.
    let several = problem.regions().len() > 1;
    let alone = || if several { too_large(problem, model) } else { None };
    model.self_conflict().or_else(alone).or_else(|| overloaded(problem, model)).or_else(|| too_large(problem, model))
}

/// The largest number that divides the first byte of every piece of the bodies that `keep` names.
fn granule(problem: &Problem, model: &Model, keep: impl Fn(u32) -> bool) -> u64 {
    let mut unit = 0;
    for piece in model.pieces.iter().filter(|piece| keep(piece.body)) {
        for slot in &model.bodies[piece.body as usize].slots {
            unit = gcd(unit, problem.align_in(piece.item, slot.region));
        }
        if unit == 1 {
            return 1;
        }
    }
    let windows = problem.items().iter().flat_map(|item| item.gaps.iter().filter_map(|gap| gap.window));
    windows.fold(unit, |unit, window| gcd(unit, window.begin)).max(1)
}

/// The bytes each section needs, if every piece starts at a multiple of `unit`.
fn section_loads(pieces: &[&Piece], count: usize, unit: u64) -> Vec<u64> {
    let rounded = |piece: &Piece| ((piece.high - piece.low) as u64).div_ceil(unit) * unit;
    let mut change = vec![0_i64; count + 1];
    for piece in pieces {
        change[piece.from as usize] += rounded(piece) as i64;
        change[piece.to as usize] -= rounded(piece) as i64;
    }
    let mut sum = 0;
    let mut loads: Vec<u64> = change[..count]
        .iter()
        .map(|c| {
            sum += c;
            sum as u64
        })
        .collect();
    if unit > 1 {
        let slack = |piece: &Piece| rounded(piece) - (piece.high - piece.low) as u64;
        subtract_largest(pieces, slack, &mut loads);
    }
    loads
}

/// Takes from each section the largest slack of its pieces: pieces paint their sections once, largest first.
fn subtract_largest(pieces: &[&Piece], slack: impl Fn(&Piece) -> u64, loads: &mut [u64]) {
    let mut order: Vec<&Piece> = pieces.iter().copied().filter(|piece| slack(piece) > 0).collect();
    order.sort_by_key(|piece| std::cmp::Reverse(slack(piece)));
    let mut next: Vec<u32> = (0..=loads.len() as u32).collect();
    for piece in order {
        let mut section = unpainted(&mut next, piece.from);
        while section < piece.to {
            loads[section as usize] -= slack(piece);
            next[section as usize] = section + 1;
            section = unpainted(&mut next, section);
        }
    }
}

fn too_large(problem: &Problem, model: &Model) -> Option<Infeasible> {
    model.bodies.iter().find_map(|body| {
        let room = body.slots.iter().map(|slot| problem.regions()[slot.region.index()].capacity);
        let available = room.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
        let lowest = body.slots.iter().map(|slot| body.fixed.unwrap_or(slot.residue)).min()?;
        let needed = (lowest + body.extent) as u64;
        let largest = body.members.iter().max_by_key(|(id, _)| problem.items()[id.index()].size)?;
        (needed > available).then_some(Infeasible::TooLarge { item: largest.0, needed, available })
    })
}

fn overloaded(problem: &Problem, model: &Model) -> Option<Infeasible> {
    let set_of = |body: u32| {
        let mut set: Vec<RegionId> = model.bodies[body as usize].slots.iter().map(|slot| slot.region).collect();
        set.sort_unstable();
        set
    };
    let mut sets: Vec<Vec<RegionId>> = vec![(0..problem.regions().len() as u32).map(RegionId).collect()];
    for body in 0..model.bodies.len() as u32 {
        if problem.regions().len() > 1 && sets.len() < MAX_SETS && !sets.contains(&set_of(body)) {
            sets.push(set_of(body));
        }
    }
    sets.iter().find_map(|set| {
        let room = set.iter().map(|region| problem.regions()[region.index()].capacity).collect::<Option<Vec<u64>>>()?;
        let available = room.into_iter().fold(0, u64::saturating_add);
        let whole = set.len() == problem.regions().len();
        let inside =
            |body: u32| whole || model.bodies[body as usize].slots.iter().all(|slot| set.contains(&slot.region));
        let pieces: Vec<&Piece> = model.pieces.iter().filter(|piece| inside(piece.body)).collect();
        // The topmost piece of *each* region may end unrounded: only one region is sharpened.
        let unit = if set.len() == 1 { granule(problem, model, inside) } else { 1 };
        let loads = section_loads(&pieces, model.sections.count(), unit);
        let (section, &needed) = loads.iter().enumerate().rev().max_by_key(|&(_, load)| load)?;
        (needed > available).then(|| load_message(model, &pieces, section, needed, available))
    })
}

fn load_message(model: &Model, pieces: &[&Piece], section: usize, needed: u64, available: u64) -> Infeasible {
    let live = pieces.iter().filter(|piece| (piece.from as usize..piece.to as usize).contains(&section));
    let mut items: Vec<ItemId> = live.map(|piece| piece.item).collect();
    items.sort_unstable();
    match items[..] {
        [item] => Infeasible::TooLarge { item, needed, available },
        _ => Infeasible::Load { step: model.sections.steps[section], items, needed, available },
    }
}
