//! A plan that another tool made, as a planned module: the source with the offsets of a table.
//!
//! The table says where values lie and no more, so what shares bytes is read off: a result that starts where an operand starts, and may overwrite it, does
//! so; a part that lies where the whole would have it is written there; what may be a view is one where its offset says
//! so, or where it has none. A table of our own may be about the graph after fusion. The checker judges the outcome like any plan. The order is the source's, but for tables that say at which step an
//! operation starts, as our own do ([`order`]).

mod offline;
mod order;
mod table;

pub(crate) use offline::judged;
pub(crate) use table::{Table, is_table};

use crate::apply::names::Names;
use crate::exit::Failure;
use neap_ir::facts::Facts;
use neap_ir::plan::{self, View};
use neap_ir::{Attr, Def, Module, OpId, ValueId};
use neap_passes::analysis::names::op_name;
use neap_passes::analysis::scratch::own_bytes;
use neap_passes::callees::{called_by, facts_of};
use neap_passes::pipeline::{self, Pipeline, Quiet, Run};
use order::Times;
use rustc_hash::FxHashMap;
use table::Row;

/// The arena that has no declaration.
const ONLY: &str = "arena";

/// The source with the table's plan.
///
/// # Errors
/// A row that names nothing, or something of another size, or an arena that is not declared.
pub(crate) fn planned(
    source: &Module,
    table: &Table,
    run: Run<'_>,
    graph: Graph,
) -> Result<(Module, Vec<Stated>), Failure> {
    let mut module = with_candidates(source, run, graph)?;
    let mut places = Places::default();
    places.read(&module, run.facts, table)?;
    order::set(&mut module, run.facts, &places.times)?;
    places.write(source, &mut module);
    for func in module.functions() {
        let name = module.sym_name(func).unwrap_or_default().to_owned();
        let stamp = table.fingerprints.iter().find(|(of, _)| *of == name || of.is_empty());
        if let Some((_, stamp)) = stamp.filter(|(_, stamp)| !stamp.is_empty()) {
            module.set_attr(func, plan::FINGERPRINT, Attr::str(stamp));
        }
    }
    Ok((module, places.stated))
}

/// Refuses a table of functions that the source does not have.
///
/// # Errors
/// The first row of one.
pub(crate) fn functions_there(source: &Module, table: &Table) -> Result<(), Failure> {
    let unknown = |name: &str| source.symbol(name.trim_start_matches('@')).is_none();
    let named = table.rows.iter().filter_map(|row| Some((row, row.function.as_deref()?)));
    let Some((row, name)) = named.into_iter().find(|(_, name)| unknown(name)) else { return Ok(()) };
    let base =
        name.split_once('[').filter(|(base, range)| !unknown(base) && range.contains('=') && range.ends_with(']'));
    Err(match base {
        // As `neap plan --buckets` writes them.
        Some(_) => Failure::input(format!(
            "{}: `{name}` is one of several plans, for a range of sizes each",
            row.place
        ))
        .help("a table is checked as one plan: check the `.mlir` that `neap plan --buckets` writes for the same plans"),
        None => Failure::input(format!("{}: there is no function `{name}` in the source", row.place)),
    })
}

/// The graph that a table is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Graph {
    /// The source's.
    Given,
    /// What fusion makes of it: values within a fused operation are not made, and have no row.
    Fused,
}

/// The steps that a table states for the storage of a value.
pub(crate) struct Stated {
    /// A value of it.
    pub(crate) value: ValueId,
    /// Half-open.
    pub(crate) live: (u32, u32),
    /// Where the table says so.
    pub(crate) place: String,
}

/// The source, or what becomes of it, with what its runtime may share.
fn with_candidates(source: &Module, run: Run<'_>, graph: Graph) -> Result<Module, Failure> {
    let mut module = source.clone();
    let passes = match graph {
        Graph::Given => "canonicalize-views",
        Graph::Fused => "fuse,canonicalize-views",
    };
    let candidates = Pipeline::parse(passes).map_err(|error| Failure::from(error.diagnostic()))?;
    pipeline::run(&mut module, &candidates, run, &mut Quiet).map_err(|error| Failure::from(error.diagnostic()))?;
    Ok(module)
}

/// An offset in an arena.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Place {
    offset: i64,
    arena: Option<String>,
}

/// What a table says, by value and by operation.
#[derive(Default)]
struct Places {
    values: FxHashMap<ValueId, Place>,
    scratch: FxHashMap<OpId, Place>,
    /// Of operations that call functions: the bytes for their own scratch and the arena of what they call.
    rooms: FxHashMap<OpId, u64>,
    times: Times,
    stated: Vec<Stated>,
}

impl Places {
    fn read(&mut self, module: &Module, facts: &Facts, table: &Table) -> Result<(), Failure> {
        let (names, entries) = (Names::of_placed(module, facts), entries(module));
        for row in &table.rows {
            let arena = arena(module, row)?;
            let place = Place { offset: row.offset, arena };
            let twice = if row.scratch {
                let op = operation(module, facts, &entries, row)?;
                self.times.steps.extend(row.made.step.map(|step| (op, step)));
                self.rooms.extend(row.size.filter(|_| is_call(module, facts, op)).map(|size| (op, size)));
                self.scratch.insert(op, place)
            } else {
                let value = value(module, &names, &entries, row)?;
                enough(module, value, row)?;
                let maker = module.defining_op(value);
                self.times.steps.extend(maker.zip(row.made.step));
                let stated = row.live.map(|live| Stated { value, live, place: row.place.clone() });
                self.times.ends.extend(row.live.map(|(_, end)| (value, end)));
                self.stated.extend(stated);
                self.values.insert(value, place)
            };
            if twice.is_some() {
                return Err(Failure::input(format!("{}: `{}` is placed twice", row.place, row.name)));
            }
        }
        Ok(())
    }

    /// Writes the plan into a module that has the source's candidates.
    fn write(&mut self, source: &Module, module: &mut Module) {
        for func in module.functions() {
            self.views(module, source, func);
            self.arguments(module, func);
            for op in module.walk(func) {
                self.results(module, op);
                self.body_args(module, op);
                self.scratch(module, op);
            }
            // Once all offsets are there.
            for op in module.walk(func) {
                self.shared(module, op);
            }
            let end = module.i64_attr(self.end(module, func));
            module.set_attr(func, plan::ARENA_BYTES, end);
        }
    }

    fn of(&self, value: ValueId) -> Option<&Place> {
        self.values.get(&value).filter(|place| place.offset >= 0)
    }

    /// Views that a pass found stay where the table agrees; it may have copied instead.
    fn views(&mut self, module: &mut Module, source: &Module, func: OpId) {
        for op in module.walk(func) {
            let views = module.views(op);
            let given = source.views(op);
            let kept: Vec<View> = views
                .iter()
                .copied()
                .filter(|view| {
                    let (result, operand) = sides(module, op, view.result, view.operand);
                    let stays = given.contains(view);
                    let (Some(result), Some(operand)) = (result, operand) else { return stays };
                    let start = self.of(operand).and_then(|place| place.offset.checked_add_unsigned(view.byte_offset));
                    let arena = self.of(operand).and_then(|place| place.arena.clone());
                    // Our own tables list every view that is one, but for those of what lies outside of the arena, as constants do.
                    let absent = self.times.steps.is_empty() || self.of(operand).is_none();
                    let agrees = self.values.get(&result).map_or(absent, |place| Some(place.offset) == start);
                    if (stays || agrees)
                        && let (Some(offset), None) = (start, self.of(result))
                    {
                        self.values.insert(result, Place { offset, arena });
                    }
                    stays || agrees
                })
                .collect();
            if kept.len() != views.len() {
                module.set_views(op, &kept);
            }
        }
    }

    fn arguments(&self, module: &mut Module, func: OpId) {
        for (index, arg) in module.func_args(func).to_vec().into_iter().enumerate() {
            if let Some(place) = self.values.get(&arg) {
                let offset = module.i64_attr(place.offset);
                module.set_arg_attr(func, index, plan::OFFSET, Some(offset));
                if let Some(arena) = &place.arena {
                    module.set_arg_attr(func, index, plan::ARENA, Some(Attr::symbol(arena)));
                }
            }
        }
    }

    fn results(&self, module: &mut Module, op: OpId) {
        let results = module.data_results(op).to_vec();
        self.list(module, op, &results, plan::OFFSETS, plan::ARENA);
    }

    fn body_args(&self, module: &mut Module, op: OpId) {
        let regions = module.op_regions(op).to_vec();
        let blocks = regions.iter().flat_map(|region| module.blocks(*region).to_vec());
        let args: Vec<ValueId> = blocks.flat_map(|block| module.block_args(block).to_vec()).collect();
        self.list(module, op, &args, plan::ARG_OFFSETS, plan::ARG_ARENAS);
    }

    /// Offsets of several values, and their arenas where these are declared.
    fn list(&self, module: &mut Module, op: OpId, values: &[ValueId], offsets: &str, arenas: &str) {
        let places: Vec<Option<&Place>> = values.iter().map(|value| self.values.get(value)).collect();
        let Some(first) = places.iter().flatten().next() else { return };
        let list = module.i64s_attr(places.iter().map(|place| place.map_or(-1, |place| place.offset)).collect());
        module.set_attr(op, offsets, list);
        if places.iter().flatten().any(|place| place.arena.is_some()) {
            let name = |place: &Option<&Place>| place.unwrap_or(first).arena.as_deref().unwrap_or(ONLY).to_owned();
            let symbols = places.iter().map(|place| Attr::symbol(&name(place))).collect();
            module.set_attr(op, arenas, Attr::Array(symbols));
        }
    }

    fn scratch(&self, module: &mut Module, op: OpId) {
        let Some(place) = self.scratch.get(&op) else { return };
        let offset = module.i64_attr(place.offset);
        module.set_attr(op, plan::SCRATCH_OFFSET, offset);
        let own = own_bytes(module, op);
        if let Some(room) = self.rooms.get(&op).filter(|room| **room > own) {
            for (key, bytes) in [(plan::SCRATCH, *room), (plan::CALLEE_BYTES, room - own)] {
                let bytes = module.i64_attr(i64::try_from(bytes).unwrap_or(i64::MAX));
                module.set_attr(op, key, bytes);
            }
        }
        if let Some(arena) = &place.arena {
            module.set_attr(op, plan::SCRATCH_ARENA, Attr::symbol(arena));
        }
    }

    /// What is overwritten and what is written in parts, read off the offsets.
    fn shared(&self, module: &mut Module, op: OpId) {
        let over = |pair: &plan::InPlace| {
            let (result, operand) = sides(module, op, pair.result, pair.operand);
            let (to, from) = (result.and_then(|value| self.of(value)), operand.and_then(|value| self.of(value)));
            to.is_some() && to == from
        };
        let pairs: Vec<plan::InPlace> = module.in_places(op, plan::MAY_INPLACE).into_iter().filter(over).collect();
        let inside = |place: &plan::Place| {
            let (whole, part) = sides(module, op, 0, place.operand);
            let (whole, part) = (whole.and_then(|value| self.of(value)), part.and_then(|value| self.of(value)));
            let start = whole.and_then(|whole| whole.offset.checked_add_unsigned(place.byte_offset));
            part.is_some_and(|part| Some(part.offset) == start && Some(&part.arena) == whole.map(|whole| &whole.arena))
        };
        let parts: Vec<plan::Place> = module.places(op, plan::MAY_PLACE).into_iter().filter(inside).collect();
        module.set_in_places(op, plan::INPLACE, &pairs);
        module.set_places(op, plan::PLACE, &parts);
    }

    /// Where the last value of a function ends; saturating, since the checker refuses what lies too far.
    fn end(&self, module: &Module, func: OpId) -> i64 {
        let ends =
            self.values.iter().filter(|(value, _)| function(module, **value) == Some(func)).map(|(value, place)| {
                let bytes = module.value_bytes(*value).unwrap_or(0);
                place.offset.saturating_add(i64::try_from(bytes).unwrap_or(i64::MAX))
            });
        ends.max().unwrap_or(0).max(0)
    }
}

/// The data result and the data operand of an operation.
fn sides(module: &Module, op: OpId, result: u32, operand: u32) -> (Option<ValueId>, Option<ValueId>) {
    let result = module.data_results(op).get(result as usize).copied();
    (result, module.data_operand(op, operand as usize))
}

/// The function that a value is in.
fn function(module: &Module, value: ValueId) -> Option<OpId> {
    let mut op = match module.value(value).def() {
        Def::Result(op, _) => op,
        Def::Arg(block, _) => module.region_op(module.block_region(block)),
    };
    while module.op_name(op) != "func.func" {
        op = module.parent_op(op)?;
    }
    Some(op)
}

/// Operations that are entries of a model file, by function and number.
type Entries = FxHashMap<(String, usize), OpId>;

fn entries(module: &Module) -> Entries {
    let mut found = Entries::default();
    for func in module.functions() {
        let name = module.sym_name(func).unwrap_or_default();
        for op in module.walk(func) {
            if let Some(number) = module.origin(op, name) {
                // Of a fused operation and the first of its own, the outer one makes values that lie somewhere.
                found.entry((name.to_owned(), number)).or_insert(op);
            }
        }
    }
    found
}

/// The value that a row names: by what makes it, where the file is a model; else by its name, or by the model's.
fn value(module: &Module, names: &Names, entries: &Entries, row: &Row) -> Result<ValueId, Failure> {
    let function = row.function.as_deref().unwrap_or("main").trim_start_matches('@');
    let bodies = |op: OpId| -> Vec<ValueId> {
        let blocks = module.op_regions(op).iter().flat_map(|region| module.blocks(*region));
        blocks.flat_map(|block| module.block_args(*block)).copied().collect()
    };
    let made = match (row.made.argument, row.made.result) {
        (None, None) if row.made.body.is_some() => row
            .made
            .body
            .and_then(|(entry, index)| bodies(*entries.get(&(function.to_owned(), entry))?).get(index).copied()),
        (Some(index), _) => module.symbol(function).and_then(|func| module.func_args(func).get(index).copied()),
        (_, Some((entry, index))) => {
            let op = entries.get(&(function.to_owned(), entry));
            op.and_then(|op| module.data_results(*op).get(index).copied())
        }
        _ => None,
    };
    if let Some(value) = made {
        return Ok(value);
    }
    let within = |name: &str| row.function.as_ref().map_or(name.to_owned(), |_| format!("@{function}/{name}"));
    let model = row.model_name.as_deref().and_then(|name| names.named(module, &within(name)).ok());
    if let Some(value) = model.filter(|_| !entries.is_empty()) {
        return Ok(value);
    }
    if let Some(number) = row.made.twin {
        // Our own names of the model end in a number from the second on.
        let modelled = row.model_name.as_deref().filter(|_| !entries.is_empty());
        let plain = modelled.map(|name| name.rsplit_once('#').map_or(name, |(name, _)| name));
        let spelled = modelled.into_iter().chain(plain).chain([row.name.as_str()]);
        let twins = spelled.filter_map(|name| names.twin(module, &within(name), number));
        if let Some(value) = twins.into_iter().next() {
            return Ok(value);
        }
    }
    names.named(module, &within(&row.name)).map_err(|(message, help)| {
        let failure = Failure::input(format!("{}: `{}`: {message}", row.place, row.name));
        match help {
            Some(help) => failure.help(help),
            None => failure,
        }
    })
}

/// Whether an operation runs functions by their names.
fn is_call(module: &Module, facts: &Facts, op: OpId) -> bool {
    !called_by(module, op, facts_of(module, facts, op)).is_empty()
}

/// The operation whose scratch a row is about.
fn operation(module: &Module, facts: &Facts, entries: &Entries, row: &Row) -> Result<OpId, Failure> {
    let function = row.function.as_deref().unwrap_or("main").trim_start_matches('@').to_owned();
    if let Some(op) = row.made.result.and_then(|(entry, _)| entries.get(&(function, entry))) {
        return Ok(*op);
    }
    let of = |func: &OpId| row.function.as_deref().is_none_or(|name| module.sym_name(*func) == Some(name));
    let ops = module.functions().into_iter().filter(of).flat_map(|func| module.walk(func));
    let named = |op: &OpId| {
        let own = module.attr(*op, "neap.name").and_then(Attr::as_str);
        own == Some(&row.name) || op_name(module, *op).replace('`', "") == row.name
    };
    let needs = |op: &OpId| module.scratch_bytes(*op) > 0 || is_call(module, facts, *op);
    let found: Vec<OpId> = ops.filter(needs).filter(named).collect();
    match found[..] {
        [op] => Ok(op),
        [] => Err(Failure::input(format!("{}: no operation `{}` needs scratch", row.place, row.name))),
        _ => Err(Failure::input(format!("{}: {} operations are called `{}`", row.place, found.len(), row.name))),
    }
}

/// A table that gives a value fewer bytes than it has was made for another graph.
fn enough(module: &Module, value: ValueId, row: &Row) -> Result<(), Failure> {
    let (Some(given), Ok(needed)) = (row.size, module.value_bytes(value)) else { return Ok(()) };
    if given >= needed {
        return Ok(());
    }
    let message = format!("{}: `{}` gets {given} bytes and has {needed}", row.place, row.name);
    Err(Failure::input(message).help("was this plan made for another graph?"))
}

/// The arena of a row, if arenas are declared.
fn arena(module: &Module, row: &Row) -> Result<Option<String>, Failure> {
    let Some(name) = &row.arena else { return Ok(None) };
    let declared = |op: &OpId| module.op_name(*op) == "neap.arena";
    if module.symbol(name).is_some_and(|op| declared(&op)) {
        return Ok(Some(name.clone()));
    }
    if name == ONLY && !module.block_ops(module.body()).any(|op| declared(&op)) {
        return Ok(None);
    }
    let message = format!("{}: `{}` lies in `{name}`, which is not declared", row.place, row.name);
    Err(Failure::input(message).help(format!("declare it: `--arena {name}=SIZE`")))
}
