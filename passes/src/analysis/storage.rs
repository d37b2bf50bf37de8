//! Storages: sets of values that share bytes, with size, alignment and live range.
//!
//! Values come together through views, through results written over an operand (`neap.inplace`), through results of a branch that lie where its
//! bodies' values lie (`neap.handed`) and through operands written straight into a result (`neap.place`); chains of any length cost one step per link. A storage has the largest extent of its members for its whole life.
//! Scratch is a storage of its own.
//!
//! Sound because every relation is taken at its word only where both sides live in the arena; anything else is an error that names the
//! operation.

use super::live::{self, Live};
use super::names::{op_name, value_name};
use super::timeline::{Kind, Steps, Timeline};
use super::values::{Home, Sharing, Site, Slot, Values};
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, OpId, ValueId};

/// A storage of the function, numbered by first member; scratch comes last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StorageId(pub u32);

impl StorageId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a storage is to the function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// Holds an argument.
    Argument,
    /// Holds a result of the function and no argument.
    Result,
    /// Lives and dies inside.
    Temporary,
    /// One operation's own.
    Scratch,
    /// A variable's bytes.
    State,
    /// Resident.
    Constant,
    /// The caller's bytes.
    External,
}

impl Class {
    /// As summaries spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::Argument => "argument",
            Class::Result => "result",
            Class::Temporary => "temporary",
            Class::Scratch => "scratch",
            Class::State => "state",
            Class::Constant => "constant",
            Class::External => "external",
        }
    }

    /// Whether such storages take arena bytes.
    pub fn in_arena(self) -> bool {
        !matches!(self, Class::State | Class::Constant | Class::External)
    }
}

/// A value in a storage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member {
    /// The value.
    pub slot: Slot,
    /// Bytes from the storage's start.
    pub offset: u64,
}

/// A set of values that share bytes.
#[derive(Clone, Debug)]
pub struct Storage {
    /// What it is.
    pub class: Class,
    /// Bytes.
    pub size: u64,
    /// Its start is a multiple of this.
    pub align: u64,
    /// When it holds bytes.
    pub live: Steps,
    /// Its values, in the order of definition; none for scratch.
    pub members: Vec<Member>,
    /// Whose scratch it is.
    pub scratch_of: Option<OpId>,
    /// Where it must lie.
    pub pin: Option<u64>,
    /// Has its bytes for the whole run by rule.
    pub held: bool,
}

/// The storages of a function.
#[derive(Clone, Debug, Default)]
pub struct Storages {
    /// All of them.
    pub list: Vec<Storage>,
    /// By value: its storage and where it lies in it; none for values without bytes.
    pub of: Vec<Option<(StorageId, u64)>>,
    /// Pairs that must not overlap though their steps do not meet.
    pub apart: Vec<(StorageId, StorageId)>,
}

/// What one operation needs besides its operands and results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scratch {
    /// The operation.
    pub op: OpId,
    /// Bytes, more than 0.
    pub bytes: u64,
    /// How many of them, the first ones, are the arena of what it calls.
    pub callee: u64,
    /// What that arena must start at a multiple of.
    pub callee_align: u64,
    /// Its start is a multiple of this.
    pub align: u64,
}

impl Storages {
    /// Brings values together.
    ///
    /// # Errors
    /// A relation, an alignment or a fixed offset that cannot be.
    pub fn new(
        module: &Module,
        timeline: &Timeline<'_>,
        values: &Values,
        live: &Live,
        sharing: Sharing,
        scratch: &[Scratch],
    ) -> Result<Storages, Diagnostic> {
        let mut roots = Roots::new(values);
        if sharing.in_place {
            roots.in_place(module, timeline, values)?;
            roots.handed(module, timeline, values)?;
        }
        if sharing.placement {
            roots.placement(module, timeline, values)?;
        }
        let mut storages = collect(values, live, &roots);
        storages.alignments(module, timeline, values)?;
        storages.pins(module, timeline, values)?;
        storages.add_scratch(module, timeline, scratch);
        Ok(storages)
    }

    /// A storage.
    pub fn get(&self, storage: StorageId) -> &Storage {
        &self.list[storage.index()]
    }

    /// All storages with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (StorageId, &Storage)> {
        self.list.iter().enumerate().map(|(at, storage)| (StorageId(at as u32), storage))
    }

    /// Storages that take arena bytes.
    pub fn in_arena(&self) -> impl Iterator<Item = (StorageId, &Storage)> {
        self.iter().filter(|(_, storage)| storage.class.in_arena() && storage.size > 0)
    }

    /// Bytes of all storages of a class together; saturating.
    pub fn sum(&self, class: Class) -> u64 {
        let sizes = self.list.iter().filter(|storage| storage.class == class).map(|storage| storage.size);
        sizes.fold(0, u64::saturating_add)
    }

    fn alignments(&mut self, module: &Module, timeline: &Timeline<'_>, values: &Values) -> Result<(), Diagnostic> {
        for (_, entry) in timeline.iter() {
            let Some(align) = op_align(module, entry.op)? else { continue };
            let touched = module.operands(entry.op).chain(module.results(entry.op).iter().copied());
            for (value, slot) in touched.filter_map(|value| Some((value, values.slot(value)?))) {
                let Some((id, offset)) = self.of[slot.index()] else { continue };
                let storage = &mut self.list[id.index()];
                if !storage.class.in_arena() {
                    continue;
                }
                let name = || format!("{} of {}", value_name(module, value), op_name(module, entry.op));
                if !offset.is_multiple_of(align) {
                    let message = format!(
                        "{} lies {offset} bytes inside what it shares, which `neap.align` {align} forbids",
                        name()
                    );
                    return Err(Diagnostic::error(module.op(entry.op).span, message));
                }
                storage.align = lcm(storage.align, align).ok_or_else(|| {
                    let message = format!("the alignments asked of {} have no common multiple up to 2^63-1", name());
                    Diagnostic::error(module.op(entry.op).span, message)
                })?;
            }
        }
        Ok(())
    }

    fn pins(&mut self, module: &Module, timeline: &Timeline<'_>, values: &Values) -> Result<(), Diagnostic> {
        for (slot, info) in values.iter() {
            let (pins, at, op) = match info.site {
                Site::Argument(index) => (module.arg_attr(timeline.func, index as usize, "neap.pin"), 0, timeline.func),
                Site::Result(id, index) => {
                    let op = timeline.entry(id).op;
                    (module.attr(op, "neap.pin"), index as usize, op)
                }
                Site::BodyArg(_) => continue,
            };
            let Some(pins) = pins else { continue };
            let list = pins.as_i64().map(|one| vec![one]).or_else(|| pins.as_i64s()).unwrap_or_default();
            let Some(pin) = list.get(at).and_then(|pin| u64::try_from(*pin).ok()) else { continue };
            let Some((id, offset)) = self.of[slot.index()] else { continue };
            let storage = &mut self.list[id.index()];
            let start = pin.checked_sub(offset);
            if start.is_none() || storage.pin.is_some_and(|other| Some(other) != start) {
                let name = value_name(module, info.value);
                let message = format!("{name} cannot lie at {pin}: it shares bytes with a value that lies elsewhere");
                return Err(Diagnostic::error(module.op(op).span, message)
                    .help("drop one of the fixed offsets, or `neap.reuse = \"never\"`"));
            }
            storage.pin = start;
        }
        Ok(())
    }

    fn add_scratch(&mut self, module: &Module, timeline: &Timeline<'_>, scratch: &[Scratch]) {
        if scratch.is_empty() {
            return;
        }
        let steps = live::scratch_steps(module, timeline);
        for item in scratch {
            let Some(id) = timeline.find(item.op) else { continue };
            self.list.push(Storage {
                class: Class::Scratch,
                size: item.bytes,
                align: item.align,
                live: steps[id.index()],
                members: Vec::new(),
                scratch_of: Some(item.op),
                pin: None,
                held: false,
            });
        }
    }
}

/// The alignment that an operation asks, if it does.
///
/// # Errors
/// It is not a positive number.
pub fn op_align(module: &Module, op: OpId) -> Result<Option<u64>, Diagnostic> {
    let Some(attr) = module.attr(op, neap_ir::plan::ALIGN) else { return Ok(None) };
    match attr.as_i64().and_then(|align| u64::try_from(align).ok()).filter(|align| *align > 0) {
        Some(align) => Ok(Some(align)),
        None => Err(Diagnostic::error(module.op(op).span, "`neap.align` needs a positive integer")),
    }
}

/// The least common multiple, if it is at most 2^63-1.
pub fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).checked_mul(b).filter(|multiple| *multiple <= i64::MAX as u64)
}

/// For each owner, the value at whose storage it lies and how far from its start.
struct Roots {
    root: Vec<(Slot, u64)>,
    /// The root that a root lies at, handed out of a body.
    joined: Vec<Option<Slot>>,
    /// Where a root lies in another one by placement.
    placed: Vec<Option<(Slot, u64)>>,
    /// Roots that another one lies in: they must not move any more.
    whole: Vec<bool>,
}

impl Roots {
    fn new(values: &Values) -> Roots {
        let root = values.iter().map(|(slot, _)| (slot, 0)).collect();
        let (joined, placed, whole) = (vec![None; values.len()], vec![None; values.len()], vec![false; values.len()]);
        Roots { root, joined, placed, whole }
    }

    /// The root of a value before placement, and the distance.
    fn near(&self, values: &Values, slot: Slot) -> (Slot, u64) {
        let info = values.info(slot);
        let (mut root, bytes) = self.root[info.owner.index()];
        while let Some(next) = self.joined[root.index()] {
            root = next;
        }
        (root, bytes.saturating_add(info.offset))
    }

    fn far(&self, values: &Values, slot: Slot) -> (Slot, u64) {
        let (root, bytes) = self.near(values, slot);
        self.placed[root.index()].map_or((root, bytes), |(whole, more)| (whole, bytes.saturating_add(more)))
    }

    fn in_place(&mut self, module: &Module, timeline: &Timeline<'_>, values: &Values) -> Result<(), Diagnostic> {
        for (_, entry) in timeline.iter() {
            for pair in module.in_places(entry.op, neap_ir::plan::INPLACE) {
                let result = module.data_results(entry.op).get(pair.result as usize).copied();
                let operand = module.data_operand(entry.op, pair.operand as usize);
                let (result, operand) = both(module, values, entry.op, result, operand, neap_ir::plan::INPLACE)?;
                let (root, bytes) = self.near(values, operand);
                let end = bytes.checked_add(values.info(result).bytes).filter(|end| *end <= i64::MAX as u64);
                if values.owner(result) != result || self.root[result.index()].0 != result || end.is_none() {
                    return Err(refused(module, entry.op, neap_ir::plan::INPLACE, "the result lies elsewhere already"));
                }
                self.root[result.index()] = (root, bytes);
            }
        }
        Ok(())
    }

    /// Results of branches that start where a body's value starts: the two are one, under the value that comes first.
    fn handed(&mut self, module: &Module, timeline: &Timeline<'_>, values: &Values) -> Result<(), Diagnostic> {
        let key = neap_ir::plan::HANDED;
        for (_, entry) in timeline.iter().filter(|(_, entry)| entry.kind == Kind::Terminator) {
            let list = module.handed(entry.op);
            let Some(owner) = timeline.body(entry.body).owner.filter(|_| !list.is_empty()) else { continue };
            let owner = timeline.entry(owner);
            for index in list {
                let result = module.data_results(owner.op).get(index as usize).copied();
                let operand = module.data_operand(entry.op, owner.facts.body.yield_lead + index as usize);
                let (result, operand) = both(module, values, entry.op, result, operand, key)?;
                let (a, b) = (self.near(values, result), self.near(values, operand));
                if (a.1, b.1) != (0, 0) {
                    return Err(refused(
                        module,
                        entry.op,
                        key,
                        "the value is only a piece of what it shares bytes with",
                    ));
                }
                if a.0 != b.0 {
                    self.joined[a.0.max(b.0).index()] = Some(a.0.min(b.0));
                }
            }
        }
        Ok(())
    }

    /// Latest operation first: a whole that is itself a part is at its place when its own parts are.
    fn placement(&mut self, module: &Module, timeline: &Timeline<'_>, values: &Values) -> Result<(), Diagnostic> {
        for entry in timeline.entries.iter().rev() {
            for place in module.places(entry.op, neap_ir::plan::PLACE) {
                let whole = module.data_results(entry.op).first().copied();
                let part = module.data_operand(entry.op, place.operand as usize);
                let (whole, part) = both(module, values, entry.op, whole, part, neap_ir::plan::PLACE)?;
                let (part_root, inside) = self.near(values, part);
                let (root, bytes) = self.far(values, whole);
                let start = bytes.checked_add(place.byte_offset).and_then(|bytes| bytes.checked_sub(inside));
                let Some(start) = start.filter(|start| *start <= i64::MAX as u64) else {
                    return Err(refused(
                        module,
                        entry.op,
                        neap_ir::plan::PLACE,
                        "the part would start before the whole",
                    ));
                };
                let fixed = self.placed[part_root.index()].is_some() || self.whole[part_root.index()];
                if part_root == root || fixed {
                    return Err(refused(module, entry.op, neap_ir::plan::PLACE, "the part lies elsewhere already"));
                }
                self.placed[part_root.index()] = Some((root, start));
                self.whole[root.index()] = true;
            }
        }
        Ok(())
    }
}

/// Both sides of a relation, when both live in the arena.
fn both(
    module: &Module,
    values: &Values,
    op: OpId,
    result: Option<ValueId>,
    operand: Option<ValueId>,
    key: &str,
) -> Result<(Slot, Slot), Diagnostic> {
    let slot = |value: Option<ValueId>| value.and_then(|value| values.slot(value));
    let (Some(result), Some(operand)) = (slot(result), slot(operand)) else {
        return Err(refused(module, op, key, "there is no such operand or result"));
    };
    for slot in [result, operand] {
        if values.home(slot) != Home::Arena {
            let name = value_name(module, values.info(slot).value);
            return Err(refused(module, op, key, &format!("{name} does not live in the arena")));
        }
    }
    Ok((result, operand))
}

fn refused(module: &Module, op: OpId, key: &str, why: &str) -> Diagnostic {
    Diagnostic::error(module.op(op).span, format!("`{key}` of {} cannot be: {why}", op_name(module, op)))
}

fn collect(values: &Values, live: &Live, roots: &Roots) -> Storages {
    let mut storages = Storages { list: Vec::new(), of: vec![None; values.len()], apart: Vec::new() };
    let mut by_root: Vec<Option<StorageId>> = vec![None; values.len()];
    for (slot, info) in values.iter().filter(|(slot, _)| values.home(*slot) != Home::Nothing) {
        let (root, offset) = roots.far(values, slot);
        let id = *by_root[root.index()].get_or_insert_with(|| {
            storages.list.push(Storage::new(live.of(slot)));
            StorageId(storages.list.len() as u32 - 1)
        });
        storages.of[slot.index()] = Some((id, offset));
        let storage = &mut storages.list[id.index()];
        storage.members.push(Member { slot, offset });
        storage.size = storage.size.max(offset.saturating_add(info.bytes));
        storage.live = storage.live.hull(live.of(slot));
        storage.held |= live.held[info.owner.index()];
        storage.class = class(values, live, slot, storage.class);
    }
    let pair = |(a, b): &(Slot, Slot)| Some((storages.of[a.index()]?.0, storages.of[b.index()]?.0));
    let mut apart: Vec<_> = live.apart.iter().filter_map(pair).filter(|(a, b)| a != b).collect();
    apart.sort_unstable();
    apart.dedup();
    storages.apart = apart;
    storages
}

impl Storage {
    fn new(live: Steps) -> Storage {
        let members = Vec::new();
        Storage { class: Class::Temporary, size: 0, align: 1, live, members, scratch_of: None, pin: None, held: false }
    }
}

/// The class of a storage after one more member.
fn class(values: &Values, live: &Live, slot: Slot, before: Class) -> Class {
    let info = values.info(slot);
    match (values.home(slot), before) {
        (Home::External, _) => Class::External,
        (Home::Constant, _) => Class::Constant,
        (Home::State, _) => Class::State,
        (_, Class::Argument) => Class::Argument,
        _ if matches!(info.site, Site::Argument(_)) => Class::Argument,
        (_, before) => {
            if is_result(live, info.owner) {
                Class::Result
            } else {
                before
            }
        }
    }
}

fn is_result(live: &Live, owner: Slot) -> bool {
    live.kept[owner.index()]
}
