//! What the packing solver is asked about a function: every storage that takes arena bytes, its live range, size, alignment and fixed
//! offset, and the arenas as regions in order of preference.
//!
//! Parts of a whole are one storage already, so the problem has no distances. Pairs of storages that flat time cannot tell apart (a branch's results and
//! what an earlier body yields) are kept apart by name.

use super::Flow;
use super::names::value_name;
use super::storage::StorageId;
use super::timeline::Kind;
use crate::profile::Profile;
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Module, OpId, Span, plan};
use neap_pack::{Item, ItemId, Problem, Region};

/// A piece of memory that the module declares, or the one that is there without a declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arena {
    /// Its symbol; `arena` where none is declared.
    pub name: String,
    /// The declaration, if there is one.
    pub declared: Option<OpId>,
    /// Bytes available; as many as needed without a number.
    pub capacity: Option<u64>,
    /// Bytes of it that are the caller's: a function's external arguments and results.
    pub external: u64,
    /// All offsets are multiples of this.
    pub align: u64,
}

/// The arenas of a module in order of preference, never empty.
///
/// # Errors
/// A size that is negative or an alignment that is not positive.
pub fn arenas(module: &Module) -> Result<Vec<Arena>, Diagnostic> {
    let mut found = Vec::new();
    for op in module.declared(plan::ARENA).iter().copied() {
        let number =
            |key: &str| module.attr(op, key).map(|attr| attr.as_i64().and_then(|value| u64::try_from(value).ok()));
        let (capacity, align) = match (number("size"), number("align")) {
            (Some(None), _) => return Err(bad(module.op(op).span, "`size` must be at least 0")),
            (_, Some(None | Some(0))) => return Err(bad(module.op(op).span, "`align` must be positive")),
            (size, align) => (size.flatten(), align.flatten().unwrap_or(1)),
        };
        let name = module.sym_name(op).unwrap_or("arena").to_owned();
        found.push(Arena { name, declared: Some(op), capacity, external: 0, align });
    }
    if found.is_empty() {
        found.push(Arena { name: "arena".to_owned(), declared: None, capacity: None, external: 0, align: 1 });
    }
    Ok(found)
}

/// The arenas as far as a function may fill them: what its external arguments and results take of one is not available.
///
/// # Errors
/// What [`arenas`] says, and an arena that the caller's bytes alone do not fit into.
pub fn arenas_of(module: &Module, func: OpId) -> Result<Vec<Arena>, Diagnostic> {
    let mut arenas = arenas(module)?;
    for arena in &mut arenas {
        let inside = external(module, func, &arena.name);
        let bytes = inside.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        let Some(capacity) = arena.capacity else { continue };
        let Some(left) = capacity.checked_sub(bytes) else {
            let list: Vec<String> = inside.iter().map(|(name, bytes)| format!("{name} {bytes}")).collect();
            let message = format!(
                "no plan can fit: the caller's arguments and results need {bytes} bytes of @{}, which has {capacity} (short by {})",
                arena.name,
                bytes - capacity
            );
            let error = Diagnostic::error(module.op(func).span, message);
            return Err(error.note(format!("in @{}: {}", arena.name, list.join(", "))).unmet());
        };
        (arena.capacity, arena.external) = (Some(left), bytes);
    }
    Ok(arenas)
}

/// Names and bytes of a function's external arguments and results that lie in an arena. A value that is both, or a result twice, has bytes in
/// each place.
fn external(module: &Module, func: OpId, arena: &str) -> Vec<(String, u64)> {
    let counts = |io: Option<&Attr>, lies: Option<&Attr>| {
        io.and_then(Attr::as_str) == Some("external") && lies.and_then(Attr::as_symbol) == Some(arena)
    };
    let args = module.func_args(func).iter().copied().enumerate().filter(|(index, _)| {
        counts(module.arg_attr(func, *index, plan::IO), module.arg_attr(func, *index, plan::EXTERNAL_IN))
    });
    let last = module.entry(func).and_then(|block| module.terminator(block));
    let results = last.into_iter().flat_map(|last| module.data_operands(last)).enumerate().filter(|(index, _)| {
        counts(module.result_attr(func, *index, plan::IO), module.result_attr(func, *index, plan::EXTERNAL_IN))
    });
    let sized = |(_, value)| (value_name(module, value), module.value_bytes(value).unwrap_or(0));
    args.chain(results).map(sized).collect()
}

/// Steps of the operations whose results the runtime allocates by itself, ascending: it plans what comes after one of them when that has run.
fn rounds(module: &Module, flow: &Flow<'_>, runtime: &Profile) -> Vec<u32> {
    let steps = flow.timeline.entries.iter().filter(|entry| {
        entry.kind == Kind::Step && runtime.allocates(module, entry.op, entry.facts, |op| is_known(module, flow, op))
    });
    let mut steps: Vec<u32> = steps.map(|entry| entry.steps.begin).collect();
    steps.sort_unstable();
    steps
}

fn is_known(module: &Module, flow: &Flow<'_>, op: OpId) -> bool {
    let constant = flow.timeline.find(op).is_some_and(|id| flow.timeline.entry(id).kind == Kind::Constant);
    constant || module.attr(op, "neap.resident").is_some()
}

fn bad(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(span, format!("`neap.arena` cannot be read: {what}"))
}

/// The problem, and what its items stand for.
#[derive(Clone, Debug)]
pub struct Packing {
    /// The problem.
    pub problem: Problem,
    /// By item: the storage.
    pub storages: Vec<StorageId>,
    /// By storage: the item, if it takes arena bytes.
    pub items: Vec<Option<ItemId>>,
}

impl Packing {
    /// Asks about a function.
    ///
    /// # Errors
    /// Fixed offsets and alignments that contradict each other, sums above 2^63-1.
    pub fn new(module: &Module, flow: &Flow<'_>, arenas: &[Arena], runtime: &Profile) -> Result<Packing, Diagnostic> {
        let rounds = rounds(module, flow, runtime);
        let mut items = Vec::new();
        let mut storages = Vec::new();
        let mut item_of = vec![None; flow.storages.list.len()];
        for (id, storage) in flow.storages.in_arena() {
            let (begin, end) = (storage.live.begin.into(), storage.live.end.into());
            let mut item = Item::new(begin, end, storage.size);
            (item.align, item.fixed, item.held) = (storage.align, storage.pin, storage.held);
            item.round = rounds.partition_point(|step| *step < storage.live.begin) as u32;
            item_of[id.index()] = Some(ItemId(items.len() as u32));
            items.push(item);
            storages.push(id);
        }
        let regions = arenas.iter().map(|arena| Region { capacity: arena.capacity, align: arena.align }).collect();
        let pair = |(a, b): &(StorageId, StorageId)| Some((item_of[a.index()]?, item_of[b.index()]?));
        let apart = flow.storages.apart.iter().filter_map(pair).collect();
        let name =
            |item: ItemId| super::peak::storage_name(module, &flow.values, &flow.storages, storages[item.index()]);
        let problem = Problem::new(items, regions, Vec::new(), apart)
            .map_err(|error| Diagnostic::error(module.op(flow.timeline.func).span, error.message(&name)))?;
        Ok(Packing { problem, storages, items: item_of })
    }
}
