//! Writes a plan into the module's attributes, and touches nothing that says the same already.

use crate::analysis::Flow;
use crate::analysis::attrs::{put, put_arg, remove, remove_arg};
use crate::analysis::pack_problem::{Arena, Packing};
use crate::analysis::timeline::{BodyId, Entry, Kind};
use crate::analysis::values::{Home, Slot};
use neap_ir::{Attr, Module, OpId, ValueId, plan};
use neap_pack::{Place, Solution};
use rustc_hash::FxHashMap;

/// Writes the plan; says whether anything changed.
pub(super) fn plan(
    module: &mut Module,
    flow: &Flow<'_>,
    packing: &Packing,
    arenas: &[Arena],
    solution: &Solution,
    arena_bytes: u64,
) -> bool {
    let writer = Writer { flow, packing, arenas, solution };
    let mut changed = writer.arguments(module) | writer.calls(module);
    let scratch = writer.scratch();
    for (_, entry) in flow.timeline.iter().filter(|(_, entry)| entry.kind == Kind::Step) {
        changed |= writer.results(module, entry);
        changed |= writer.scratch_of(module, entry.op, scratch.get(&entry.op).copied());
        changed |= writer.body_args(module, entry);
    }
    let func = flow.timeline.func;
    for (key, bytes) in [(plan::PEAK, flow.profile.peak), (plan::ARENA_BYTES, arena_bytes)] {
        let bytes = module.i64_attr(bytes as i64);
        changed |= put(module, func, key, bytes);
    }
    changed
}

struct Writer<'a, 'f> {
    flow: &'a Flow<'f>,
    packing: &'a Packing,
    arenas: &'a [Arena],
    solution: &'a Solution,
}

impl Writer<'_, '_> {
    fn declared(&self) -> bool {
        self.arenas.iter().any(|arena| arena.declared.is_some())
    }

    fn symbol(&self, place: Place) -> Attr {
        Attr::symbol(&self.arenas[place.region.index()].name)
    }

    /// Where a value lies. A value without bytes that lives in the arena lies at its start.
    fn place(&self, value: ValueId) -> Option<Place> {
        let slot: Slot = self.flow.values.slot(value)?;
        if self.flow.values.home(slot) != Home::Arena {
            return None;
        }
        let (storage, inside) = self.flow.storages.of[slot.index()]?;
        match self.packing.items[storage.index()] {
            Some(item) => {
                let place = self.solution.places[item.index()];
                Some(Place { region: place.region, offset: place.offset + inside })
            }
            None => Some(Place { region: neap_pack::RegionId(0), offset: 0 }),
        }
    }

    fn arguments(&self, module: &mut Module) -> bool {
        let func = self.flow.timeline.func;
        let mut changed = false;
        for (index, value) in module.func_args(func).to_vec().into_iter().enumerate() {
            let Some(place) = self.place(value) else {
                changed |= remove_arg(module, func, index, plan::OFFSET);
                changed |= remove_arg(module, func, index, plan::ARENA);
                continue;
            };
            let offset = module.i64_attr(place.offset as i64);
            changed |= put_arg(module, func, index, plan::OFFSET, offset);
            changed |= match self.declared() {
                true => put_arg(module, func, index, plan::ARENA, self.symbol(place)),
                false => remove_arg(module, func, index, plan::ARENA),
            };
        }
        changed
    }

    fn results(&self, module: &mut Module, entry: &Entry<'_>) -> bool {
        let results = module.data_results(entry.op).to_vec();
        if results.is_empty() {
            return false;
        }
        let places: Vec<Option<Place>> = results.iter().map(|value| self.place(*value)).collect();
        let offsets = places.iter().map(|place| place.map_or(-1, |place| place.offset as i64)).collect();
        let offsets = module.i64s_attr(offsets);
        let mut changed = put(module, entry.op, plan::OFFSETS, offsets);
        let live = results.iter().filter_map(|value| self.flow.values.slot(*value)).map(|slot| self.flow.live.of(slot));
        let live = live.flat_map(|steps| [i64::from(steps.begin), i64::from(steps.end)]).collect();
        let live = module.i64s_attr(live);
        changed |= put(module, entry.op, plan::LIVE, live);
        let Some(first) = places.iter().flatten().next().copied().filter(|_| self.declared()) else {
            return changed | remove(module, entry.op, plan::ARENA);
        };
        let arena = self.symbols(&places, first);
        changed | put(module, entry.op, plan::ARENA, arena)
    }

    /// By operation: where its scratch lies.
    fn scratch(&self) -> FxHashMap<OpId, Place> {
        let scratch = self.flow.storages.iter().filter_map(|(id, storage)| Some((storage.scratch_of?, id)));
        let placed =
            scratch.filter_map(|(op, id)| Some((op, self.solution.places[self.packing.items[id.index()]?.index()])));
        placed.collect()
    }

    fn scratch_of(&self, module: &mut Module, op: OpId, place: Option<Place>) -> bool {
        let Some(place) = place else {
            return remove(module, op, plan::SCRATCH_OFFSET) | remove(module, op, plan::SCRATCH_ARENA);
        };
        let offset = module.i64_attr(place.offset as i64);
        let changed = put(module, op, plan::SCRATCH_OFFSET, offset);
        changed
            | match self.declared() {
                true => put(module, op, plan::SCRATCH_ARENA, self.symbol(place)),
                false => remove(module, op, plan::SCRATCH_ARENA),
            }
    }

    /// What a call needs: its own scratch and the arena of what it calls.
    fn calls(&self, module: &mut Module) -> bool {
        let mut changed = false;
        for scratch in self.flow.scratch.iter().filter(|scratch| scratch.callee > 0) {
            let (bytes, callee) = (module.i64_attr(scratch.bytes as i64), module.i64_attr(scratch.callee as i64));
            changed |= put(module, scratch.op, plan::SCRATCH, bytes);
            changed |= put(module, scratch.op, plan::CALLEE_BYTES, callee);
            let align = module.i64_attr(scratch.callee_align as i64);
            changed |= match scratch.callee_align > 1 {
                true => put(module, scratch.op, plan::CALLEE_ALIGN, align),
                false => remove(module, scratch.op, plan::CALLEE_ALIGN),
            };
        }
        changed
    }

    /// Where the arguments of an operation's bodies lie that are no views.
    fn body_args(&self, module: &mut Module, entry: &Entry<'_>) -> bool {
        let args = |body: &BodyId| module.block_args(self.flow.timeline.body(*body).block).to_vec();
        let args: Vec<ValueId> = entry.bodies.iter().flat_map(args).collect();
        let own = |value: &ValueId| {
            let slot = self.flow.values.slot(*value)?;
            self.place(*value).filter(|_| self.flow.values.info(slot).base.is_none())
        };
        let places: Vec<Option<Place>> = args.iter().map(own).collect();
        let Some(first) = places.iter().flatten().next().copied() else {
            return remove(module, entry.op, plan::ARG_OFFSETS) | remove(module, entry.op, plan::ARG_ARENAS);
        };
        let offsets = places.iter().map(|place| place.map_or(-1, |place| place.offset as i64)).collect();
        let offsets = module.i64s_attr(offsets);
        let changed = put(module, entry.op, plan::ARG_OFFSETS, offsets);
        if !self.declared() {
            return changed | remove(module, entry.op, plan::ARG_ARENAS);
        }
        let arenas = self.symbols(&places, first);
        changed | put(module, entry.op, plan::ARG_ARENAS, arenas)
    }

    /// One symbol if all lie in one arena, else one each.
    fn symbols(&self, places: &[Option<Place>], first: Place) -> Attr {
        if places.iter().flatten().all(|place| place.region == first.region) {
            return self.symbol(first);
        }
        Attr::Array(places.iter().map(|place| self.symbol(place.unwrap_or(first))).collect())
    }
}
