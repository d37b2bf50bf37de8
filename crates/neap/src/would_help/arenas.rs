//! A value in another arena: both arenas are packed once more, without it and with it.
//!
//! Only values that are held where the arena holds most are looked at, the largest first, and only those that no pin ties to their place.

use super::MOST;
use crate::demands::Unmet;
use crate::size::grouped;
use crate::summary::{Arena, Function, Help, HelpKind, Storage};
use neap_pack::{Item, Options, Problem, Region};

/// Effort of one packing, in nodes: arenas of a few hundred storages are settled long before.
const EFFORT: u64 = 20_000;

/// The values whose place in another arena makes this one smaller.
pub(super) fn other(unmet: &Unmet, function: &Function) -> Vec<Help> {
    let Some(name) = unmet.arena.as_deref() else { return Vec::new() };
    let Some(arena) = function.arenas.iter().find(|arena| arena.name == name) else { return Vec::new() };
    let step = fullest(function, name);
    let mut held: Vec<&Storage> = inside(function, name).filter(|storage| covers(storage, step)).collect();
    held.sort_by_key(|storage| std::cmp::Reverse(storage.size));
    let mut helps: Vec<Help> = Vec::new();
    for storage in held.into_iter().take(2 * MOST) {
        for target in function.arenas.iter().filter(|target| target.name != name) {
            helps.extend(moved(unmet, function, arena, storage, target));
        }
    }
    helps.sort_by_key(|help| (!help.fits, std::cmp::Reverse(help.saves), help.price));
    helps.truncate(MOST);
    helps
}

fn inside<'a>(function: &'a Function, arena: &'a str) -> impl Iterator<Item = &'a Storage> {
    function.storages.iter().filter(move |storage| storage.arena == arena && storage.offset.is_some())
}

fn covers(storage: &Storage, step: u32) -> bool {
    storage.live[0] <= step && step < storage.live[1]
}

/// The first step at which an arena holds most.
fn fullest(function: &Function, arena: &str) -> u32 {
    let births = inside(function, arena).map(|storage| storage.live[0]);
    let held = |step: u32| -> u128 {
        inside(function, arena).filter(|storage| covers(storage, step)).map(|storage| u128::from(storage.size)).sum()
    };
    births.max_by_key(|step| (held(*step), std::cmp::Reverse(*step))).unwrap_or(0)
}

fn moved(unmet: &Unmet, function: &Function, from: &Arena, storage: &Storage, to: &Arena) -> Option<Help> {
    let left = packed(inside(function, &from.name).filter(|other| other.id != storage.id), from)?;
    let taken = packed(inside(function, &to.name).chain([storage]), to)?;
    let (saves, more) = (from.used.checked_sub(left)?, taken.saturating_sub(to.used));
    if saves == 0 || to.capacity.is_some_and(|capacity| taken > capacity) {
        return None;
    }
    let name = storage.names.first().unwrap_or(&storage.op);
    Some(Help {
        kind: HelpKind::OtherArena,
        what: format!("move {name} ({} B) to @{}", grouped(storage.size.into()), to.name),
        saves,
        needs: left,
        fits: left <= unmet.budget,
        price: Some(more),
        unit: Some(format!("B more in @{}", to.name)),
        estimate: false,
    })
}

/// The height that storages need in an arena.
fn packed<'a>(storages: impl Iterator<Item = &'a Storage>, arena: &Arena) -> Option<u64> {
    let item = |storage: &Storage| {
        let mut item = Item::new(storage.live[0].into(), storage.live[1].into(), storage.size);
        item.align = storage.align.max(1);
        item
    };
    let region = Region { align: arena.align.max(1), ..Region::default() };
    let problem = Problem::new(storages.map(item).collect(), vec![region], Vec::new(), Vec::new()).ok()?;
    let options = Options { node_limit: EFFORT, ..Options::default() };
    neap_pack::solve(&problem, &options, &mut |_| false).height()
}
