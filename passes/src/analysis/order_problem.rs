//! What the ordering solver is asked about each body of a function.
//!
//! A body's operations of one step each are the solver's ops. Its storages are the owners that the body defines, views merged into them,
//! with everything that reads any alias as a reader; an operation with bodies is one op that also reads what its bodies read. Values from around the body
//! take part only where the body alone decides when they die; else they are held whatever the order, and left out. Dependencies
//! are all uses of SSA values, tokens included, and the order that effects demand.
//!
//! Sound because every read that the live ranges count appears here as a reader or as `live_out`.

use super::live::Live;
use super::timeline::{BodyId, EntryId, Kind, Timeline};
use super::uses;
use super::values::{Home, Site, Slot, Values};
use neap_ir::facts::Run;
use neap_ir::{Attr, Module};
use neap_order::{Class, ClassId, Op, OpId, Spec, Storage, StorageId};
use rustc_hash::FxHashMap;

/// The problem of one body, and what its ids stand for.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The body.
    pub body: BodyId,
    /// The problem, without candidates.
    pub spec: Spec,
    /// By op: the entry.
    pub ops: Vec<EntryId>,
    /// By storage: the owner.
    pub owners: Vec<Slot>,
    /// Storages from here on are values from around the body.
    pub outside: usize,
}

/// Whose reads decide what, for the whole function.
#[derive(Clone, Debug)]
pub struct Readers {
    /// By value, for owners: who reads any alias, in the body that defines it; sorted, each once.
    pub of: Vec<Vec<EntryId>>,
    /// By value, for owners: handed out by its body.
    pub yielded: Vec<bool>,
    /// By value, for owners: the largest end of an alias, in bytes from the owner's start.
    pub extent: Vec<u64>,
    /// By body: owners from around it that no other body inside reads, with the readers there.
    inside: Vec<Vec<(Slot, Inside)>>,
    /// By body: `(first, then)` among its entries.
    deps: Vec<Vec<(EntryId, EntryId)>>,
}

#[derive(Clone, Debug)]
struct Inside {
    body: BodyId,
    readers: Vec<EntryId>,
    sole: bool,
}

impl Readers {
    /// Looks at every read once.
    pub fn new(module: &Module, timeline: &Timeline<'_>, values: &Values) -> Readers {
        let count = values.len();
        let mut readers = Readers {
            of: vec![Vec::new(); count],
            yielded: vec![false; count],
            extent: vec![0; count],
            inside: vec![Vec::new(); timeline.bodies.len()],
            deps: vec![Vec::new(); timeline.bodies.len()],
        };
        for (_, info) in values.iter() {
            let extent = &mut readers.extent[info.owner.index()];
            *extent = (*extent).max(info.offset.saturating_add(info.bytes));
        }
        let mut inside: FxHashMap<Slot, Inside> = FxHashMap::default();
        uses::for_each_read(module, timeline, values, |read| readers.add(timeline, values, read, &mut inside));
        let mut sole: Vec<(Slot, Inside)> = inside.into_iter().filter(|(_, inside)| inside.sole).collect();
        sole.sort_unstable_by_key(|(slot, _)| *slot);
        for (slot, inside) in sole {
            readers.inside[inside.body.index()].push((slot, inside));
        }
        for list in &mut readers.of {
            list.sort_unstable();
            list.dedup();
        }
        readers
    }

    fn add(
        &mut self,
        timeline: &Timeline<'_>,
        values: &Values,
        read: uses::Read,
        inside: &mut FxHashMap<Slot, Inside>,
    ) {
        let owner = values.owner(read.slot);
        let info = values.info(read.slot);
        if let Site::Result(def, _) = info.site
            && timeline.entry(def).kind == Kind::Step
            && timeline.entry(read.outer).kind == Kind::Step
            && def < read.outer
        {
            self.deps[info.body.index()].push((def, read.outer));
        }
        if timeline.entry(read.at_owner).kind == Kind::Terminator {
            self.yielded[owner.index()] = true;
        } else {
            let list = &mut self.of[owner.index()];
            if list.last() != Some(&read.at_owner) {
                list.push(read.at_owner);
            }
        }
        if let Some((body, reader)) = read.inside {
            let first = Inside { body, readers: Vec::new(), sole: true };
            let inside = inside.entry(owner).or_insert(first);
            inside.sole &= inside.body == body;
            if inside.sole {
                inside.readers.push(reader);
            }
        }
    }

    /// The values from around `body` whose death its order decides: read by it alone, and by an operation that runs it once.
    fn decided_by(
        &self,
        timeline: &Timeline<'_>,
        values: &Values,
        live: &Live,
        body: BodyId,
    ) -> Vec<(Slot, Vec<EntryId>)> {
        let Some(around) = timeline.body(body).owner else { return Vec::new() };
        if !matches!(timeline.entry(around).run, Run::Once | Run::Branch) {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (slot, inside) in &self.inside[body.index()] {
            let alone = self.of[slot.index()] == [around];
            let free = !live.kept[slot.index()] && !live.held[slot.index()] && !self.yielded[slot.index()];
            if alone && free && values.home(*slot) == Home::Arena && self.extent[slot.index()] > 0 {
                found.push((*slot, inside.readers.clone()));
            }
        }
        found
    }
}

/// What the drafts of a function share.
pub struct Drafts<'a, 'f> {
    /// The module.
    pub module: &'a Module,
    /// When each operation runs.
    pub timeline: &'a Timeline<'f>,
    /// Whose bytes each value's are.
    pub values: &'a Values,
    /// When each value is needed.
    pub live: &'a Live,
    /// Who reads what.
    pub readers: &'a Readers,
    /// By entry: bytes of scratch, bodies' own bytes included.
    pub scratch: &'a [u64],
    /// By body: further `(first, then)` among its entries.
    pub locks: &'a [Vec<(EntryId, EntryId)>],
}

impl Drafts<'_, '_> {
    /// The problem of a body.
    pub fn draft(&self, body: BodyId) -> Draft {
        let (module, timeline) = (self.module, self.timeline);
        let steps = timeline.body(body).entries.iter().filter(|id| timeline.entry(**id).kind == Kind::Step);
        let ops: Vec<EntryId> = steps.copied().collect();
        let place: FxHashMap<EntryId, OpId> = ops.iter().enumerate().map(|(at, id)| (*id, OpId(at as u32))).collect();
        let cycles =
            |id: EntryId| module.attr(timeline.entry(id).op, "neap.cycles").and_then(Attr::as_i64).unwrap_or(0);
        let mut units: FxHashMap<&str, u32> = FxHashMap::default();
        let mut unit = |id: EntryId| {
            let pipe = module.attr(timeline.entry(id).op, "neap.pipe").and_then(Attr::as_str).unwrap_or_default();
            let next = units.len() as u32;
            *units.entry(pipe).or_insert(next)
        };
        let mut op =
            |id: &EntryId| Op { scratch: self.scratch[id.index()], cycles: cycles(*id).max(0) as u64, unit: unit(*id) };
        let edges = self.readers.deps[body.index()].iter().chain(&self.locks[body.index()]);
        let deps = edges.filter_map(|(first, then)| Some((*place.get(first)?, *place.get(then)?))).collect();
        let spec = Spec { ops: ops.iter().map(&mut op).collect(), deps, ..Spec::default() };
        let mut draft = Draft { body, spec, ops, owners: Vec::new(), outside: 0 };
        self.groups(&mut draft);
        let mut classes = Classes::of(module);
        self.own(&mut draft, &place, &mut classes);
        draft.outside = draft.owners.len();
        for (slot, readers) in self.readers.decided_by(timeline, self.values, self.live, body) {
            let readers = readers.iter().filter_map(|id| place.get(id).copied()).collect();
            let size = self.readers.extent[slot.index()];
            draft.spec.storages.push(Storage { size, readers, ..Storage::default() });
            draft.owners.push(slot);
        }
        draft.spec.classes = classes.list;
        draft
    }

    /// Storages of the values that the body defines.
    fn own(&self, draft: &mut Draft, place: &FxHashMap<EntryId, OpId>, classes: &mut Classes) {
        for slot in self.defined(draft) {
            let info = self.values.info(slot);
            let class = self.class_name(slot).map(|name| classes.id(name));
            let size = self.readers.extent[slot.index()];
            if self.values.home(slot) != Home::Arena
                || self.values.owner(slot) != slot
                || (size == 0 && class.is_none())
            {
                continue;
            }
            let writers = match info.site {
                Site::Result(id, _) => place.get(&id).copied().into_iter().collect(),
                _ => Vec::new(),
            };
            let readers = self.readers.of[slot.index()].iter().filter_map(|id| place.get(id).copied()).collect();
            let live_out = self.live.kept[slot.index()] || self.readers.yielded[slot.index()];
            let whole_run = self.live.held[slot.index()] || matches!(info.site, Site::BodyArg(_));
            draft.spec.storages.push(Storage { size, writers, readers, live_out, whole_run, class });
            draft.owners.push(slot);
        }
    }

    /// The values that the body defines, in order: its arguments, then results.
    fn defined(&self, draft: &Draft) -> Vec<Slot> {
        let block = self.timeline.body(draft.body).block;
        let args = self.module.block_args(block).iter().copied();
        let results = draft.ops.iter().flat_map(|id| self.module.results(self.timeline.entry(*id).op).iter().copied());
        args.chain(results).filter_map(|value| self.values.slot(value)).collect()
    }

    fn class_name(&self, slot: Slot) -> Option<&str> {
        let Site::Result(id, index) = self.values.info(slot).site else { return None };
        match self.module.attr(self.timeline.entry(id).op, "neap.class")? {
            Attr::Array(names) => names.get(index as usize)?.as_str().filter(|name| !name.is_empty()),
            one => one.as_str().filter(|name| !name.is_empty() && index == 0),
        }
    }

    fn groups(&self, draft: &mut Draft) {
        let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
        for (at, id) in draft.ops.iter().enumerate() {
            let name = self.module.attr(self.timeline.entry(*id).op, "neap.group").and_then(Attr::as_str);
            let Some(name) = name else { continue };
            let group = *by_name.entry(name).or_insert(draft.spec.groups.len());
            if group == draft.spec.groups.len() {
                draft.spec.groups.push(Vec::new());
            }
            draft.spec.groups[group].push(OpId(at as u32));
        }
    }
}

impl Draft {
    /// The solver's id of an owner, if it takes part; found by bisection, since owners are listed in order.
    pub fn storage(&self, owner: Slot) -> Option<StorageId> {
        let (own, outside) = self.owners.split_at(self.outside);
        let found = own.binary_search(&owner).or_else(|_| outside.binary_search(&owner).map(|at| at + self.outside));
        found.ok().map(|at| StorageId(at as u32))
    }
}

/// Classes by name: the declared ones first.
struct Classes {
    list: Vec<Class>,
    by_name: FxHashMap<String, ClassId>,
}

impl Classes {
    fn of(module: &Module) -> Classes {
        let mut classes = Classes { list: Vec::new(), by_name: FxHashMap::default() };
        for op in module.declared("neap.class").iter().copied() {
            let Some(name) = module.sym_name(op) else { continue };
            let number =
                |key: &str| module.attr(op, key).and_then(Attr::as_i64).and_then(|value| u64::try_from(value).ok());
            let limit = number("limit").and_then(|limit| u32::try_from(limit).ok());
            let id = classes.id(name);
            classes.list[id.index()] = Class { limit, capacity: number("capacity") };
        }
        classes
    }

    fn id(&mut self, name: &str) -> ClassId {
        let next = ClassId(self.list.len() as u32);
        let id = *self.by_name.entry(name.to_owned()).or_insert(next);
        if id == next {
            self.list.push(Class::default());
        }
        id
    }
}
