//! Storages and arenas of a planned function, with the offsets that the plan's attributes say.

use super::{Arena, Kind, Storage};
use crate::apply::names::Names;
use neap_ir::diag::Diagnostic;
use neap_ir::facts::Facts;
use neap_ir::print::{ty_text, value_names};
use neap_ir::{Attr, BlockId, Def, Module, OpId, ValueId, plan};
use neap_passes::analysis::Flow;
use neap_passes::analysis::names::{op_name, value_name};
use neap_passes::analysis::pack_problem::arenas;
use neap_passes::analysis::storage::{self, Class, lcm};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Storages with places.
pub(super) struct Placed {
    /// In the order of the analysis.
    pub(super) storages: Vec<Storage>,
    /// By the analysis' own number: the id in the summary.
    pub(super) ids: Vec<Option<u32>>,
    /// In order of preference.
    pub(super) arenas: Vec<Arena>,
    /// What the arenas' bases have to be multiples of.
    pub(super) base_align: u64,
}

/// How values are called in the printed module.
pub(super) struct Spelled {
    /// By number.
    pub(super) printed: Vec<String>,
    /// Which one a value is, of several of one name.
    twins: FxHashMap<ValueId, usize>,
}

impl Spelled {
    pub(super) fn of(module: &Module, facts: &Facts) -> Spelled {
        let functions = module.functions();
        // Only bodies may take names again.
        let nested = |func: &OpId| module.walk(*func).iter().any(|op| !module.op_regions(*op).is_empty());
        let name = |func: &OpId| module.sym_name(*func).unwrap_or_default().to_owned();
        let read_from_file =
            |func: &OpId| module.walk(*func).iter().any(|op| module.origin(*op, &name(func)).is_some());
        let twins = match functions.iter().any(nested) {
            true => Names::of_placed(module, facts).twins(module, functions.iter().any(read_from_file)),
            false => FxHashMap::default(),
        };
        Spelled { printed: value_names(module), twins }
    }
}

/// Finds where everything lies.
pub(super) fn placed(module: &Module, flow: &Flow<'_>, names: &Spelled) -> Result<Placed, Diagnostic> {
    let declared = arenas(module)?;
    let only = declared.first().map_or("arena", |arena| arena.name.as_str());
    let (mut list, mut ids) = (Vec::new(), vec![None; flow.storages.list.len()]);
    for (id, storage) in flow.storages.iter() {
        let Some(kind) = kind(storage.class).filter(|_| storage.size > 0) else { continue };
        ids[id.index()] = Some(list.len() as u32);
        list.push(one(module, flow, storage, kind, list.len() as u32, names, only));
    }
    unique(&mut list);
    let mut arenas: Vec<Arena> = Vec::new();
    for arena in &declared {
        let inside: Vec<&Storage> =
            list.iter().filter(|storage| storage.arena == arena.name && storage.kind != Kind::State).collect();
        let ends = inside.iter().filter_map(|storage| storage.offset?.checked_add(storage.size));
        let (used, peak) = (ends.max().unwrap_or(0), most(&inside));
        arenas.push(Arena { name: arena.name.clone(), used, peak, capacity: arena.capacity, align: arena.align });
    }
    let aligns = list.iter().map(|storage| storage.align).chain(declared.iter().map(|arena| arena.align));
    let base_align = aligns.fold(1, |all, align| lcm(all, align).unwrap_or(all));
    Ok(Placed { storages: list, ids, arenas, base_align })
}

/// A model may call several values the same: from the second on, a number tells them apart.
fn unique(storages: &mut [Storage]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for name in storages.iter_mut().flat_map(|storage| storage.names.iter_mut()) {
        let count = seen.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            *name = format!("{name}#{count}");
        }
    }
}

fn kind(class: Class) -> Option<Kind> {
    Some(match class {
        Class::Argument => Kind::Argument,
        Class::Result => Kind::Result,
        Class::Temporary => Kind::Temporary,
        Class::Scratch => Kind::Scratch,
        Class::State => Kind::State,
        Class::Constant | Class::External => return None,
    })
}

fn one(
    module: &Module,
    flow: &Flow<'_>,
    storage: &storage::Storage,
    kind: Kind,
    id: u32,
    names: &Spelled,
    only: &str,
) -> Storage {
    let values: Vec<ValueId> = storage.members.iter().map(|member| flow.values.info(member.slot).value).collect();
    let place = match storage.scratch_of {
        Some(op) => scratch_place(module, op),
        None => storage.members.iter().find_map(|member| {
            let (offset, arena) = value_place(module, flow.values.info(member.slot).value)?;
            Some((offset.checked_sub(member.offset)?, arena))
        }),
    };
    let (offset, arena) = place.map_or((None, None), |(offset, arena)| (Some(offset), arena));
    let writer = storage.scratch_of.or_else(|| values.iter().find_map(|value| module.defining_op(*value)));
    let by_argument = values.first().is_some_and(|value| module.defining_op(*value).is_none());
    Storage {
        id,
        values: values.iter().map(|value| names.printed[value.into_raw().into_u32() as usize].clone()).collect(),
        names: values.iter().map(|value| value_name(module, *value)).collect(),
        at: storage.members.iter().map(|member| member.offset).collect(),
        made: match storage.scratch_of {
            Some(op) => vec![made(module, flow, op, 0)],
            None => values.iter().map(|value| made_by(module, flow, *value, &names.twins)).collect(),
        },
        op: writer.filter(|_| !by_argument).map(|op| op_name(module, op).replace('`', "")).unwrap_or_default(),
        ty: values.first().map(|value| ty_text(module, module.value_ty(*value))).unwrap_or_default(),
        arena: arena.unwrap_or_else(|| only.to_owned()),
        offset: offset.filter(|_| kind != Kind::State),
        size: storage.size,
        align: storage.align,
        live: [storage.live.begin, storage.live.end],
        kind,
    }
}

/// What makes a value.
fn made_by(module: &Module, flow: &Flow<'_>, value: ValueId, twins: &FxHashMap<ValueId, usize>) -> String {
    let place = place_of(module, flow, value);
    match (place.strip_prefix('-'), twins.get(&value)) {
        (Some(step), Some(number)) => format!("~{number}{step}"),
        _ => place,
    }
}

fn place_of(module: &Module, flow: &Flow<'_>, value: ValueId) -> String {
    match module.value(value).def() {
        Def::Result(op, index) => made(module, flow, op, index),
        Def::Arg(block, index) if module.entry(flow.timeline.func) == Some(block) => format!("arg{index}"),
        Def::Arg(block, index) => {
            let (op, at) = body_argument(module, block, index);
            let name = module.sym_name(flow.timeline.func).unwrap_or_default();
            module.origin(op, name).map_or("-".to_owned(), |entry| format!("{entry}.arg{at}"))
        }
    }
}

/// The operation whose body an argument is of, and its number over all bodies in order.
fn body_argument(module: &Module, block: BlockId, index: u32) -> (OpId, usize) {
    let op = module.region_op(module.block_region(block));
    let blocks = module.op_regions(op).iter().flat_map(|region| module.blocks(*region));
    let before: usize = blocks.take_while(|other| **other != block).map(|other| module.block_args(*other).len()).sum();
    (op, before + index as usize)
}

/// The result of an operation, by its place in the file and its first step.
fn made(module: &Module, flow: &Flow<'_>, op: OpId, index: u32) -> String {
    let name = module.sym_name(flow.timeline.func).unwrap_or_default();
    // A copy stands in no file.
    let origin = module.origin(op, name).filter(|_| module.attr(op, plan::RECOMPUTED).is_none());
    let place = origin.map_or("-".to_owned(), |entry| format!("{entry}.{index}"));
    match flow.timeline.find(op) {
        Some(entry) => format!("{place}@{}", flow.timeline.entry(entry).steps.begin),
        None => place,
    }
}

/// Offset and arena of a value, as the plan's attributes say.
fn value_place(module: &Module, value: ValueId) -> Option<(u64, Option<String>)> {
    let (offset, arena) = match module.value(value).def() {
        Def::Result(op, index) => {
            let offset = *module.attr(op, plan::OFFSETS)?.as_i64s()?.get(index as usize)?;
            (offset, symbol(module.attr(op, plan::ARENA), index as usize))
        }
        Def::Arg(block, index) => {
            let region = module.block_region(block);
            let op = module.region_op(region);
            if module.op_name(op) == "func.func" {
                let arg = |key| module.arg_attr(op, index as usize, key);
                (arg(plan::OFFSET)?.as_i64()?, symbol(arg(plan::ARENA), 0))
            } else {
                let (_, at) = body_argument(module, block, index);
                let offset = *module.attr(op, plan::ARG_OFFSETS)?.as_i64s()?.get(at)?;
                (offset, symbol(module.attr(op, plan::ARG_ARENAS), at))
            }
        }
    };
    Some((u64::try_from(offset).ok()?, arena))
}

fn scratch_place(module: &Module, op: OpId) -> Option<(u64, Option<String>)> {
    let offset = module.attr(op, plan::SCRATCH_OFFSET)?.as_i64()?;
    Some((u64::try_from(offset).ok()?, symbol(module.attr(op, plan::SCRATCH_ARENA), 0)))
}

fn symbol(attr: Option<&Attr>, index: usize) -> Option<String> {
    match attr? {
        Attr::Array(list) => list.get(index)?.as_symbol().map(str::to_owned),
        one => one.as_symbol().map(str::to_owned),
    }
}

/// Most bytes held at one step.
fn most(storages: &[&Storage]) -> u64 {
    let mut changes: BTreeMap<u32, i128> = BTreeMap::new();
    for storage in storages {
        *changes.entry(storage.live[0]).or_default() += i128::from(storage.size);
        *changes.entry(storage.live[1]).or_default() -= i128::from(storage.size);
    }
    let mut held = 0;
    let peaks = changes.values().map(|change| {
        held += change;
        held
    });
    peaks.max().and_then(|peak| u64::try_from(peak).ok()).unwrap_or(0)
}

/// Bytes of the variables that a function's operations name.
pub(super) fn variables(module: &Module, flow: &Flow<'_>) -> u64 {
    let mut named: Vec<&str> = Vec::new();
    for entry in &flow.timeline.entries {
        let attrs = module.attrs(entry.op).iter().chain(module.props(entry.op).into_iter().flatten());
        named.extend(attrs.filter_map(|(_, attr)| attr.as_symbol()));
    }
    named.sort_unstable();
    named.dedup();
    let variable = |name: &&str| module.symbol(name).filter(|op| module.op_name(*op) == "neap.var");
    let bytes = |op: OpId| match module.attr(op, "type") {
        Some(Attr::Type(ty)) => module.ty_bytes(*ty, &mut |_| None).unwrap_or(0),
        _ => 0,
    };
    named.iter().filter_map(variable).map(bytes).fold(0, u64::saturating_add)
}
