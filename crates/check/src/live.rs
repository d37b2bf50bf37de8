//! Live ranges, storages and the numbers that follow: peak, arena bytes, alignment, classes.
//!
//! Steps are operations in textual order, bodies inside, terminators and constants not counted. A value lives from its first write to one
//! past its last reader; read in a loop (or in bodies that run at the same time) that it was not made in, to the loop's end; returned, kept or held, to the end of the
//! function. A result of an operation with bodies is born at the yield, its last step; one that a loop gathers over its trips, at the loop's first step. A storage is a set of values that share bytes by declaration: views,
//! in-place pairs, parts of a whole; it has its largest extent for its whole life.

mod classes;
mod own;

use crate::asynchronous::{self, Work};
use crate::exec::raw;
use crate::homes::{Home, Homes};
use crate::names;
use crate::overlap;
use crate::violation::Violation;
use crate::{Numbers, Options};
use neap_ir::facts::{Role, Run};
use neap_ir::table::Table;
use neap_ir::{Attr, BlockId, Def, OpId, ValueId, plan};
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps of operations.
pub(crate) struct Steps {
    /// `[begin, end)` by operation; a region operation spans its bodies.
    spans: Table<(u32, u32)>,
    /// One past the last step of a body.
    ends: FxHashMap<BlockId, u32>,
    total: u32,
}

/// A set of values that share bytes.
#[derive(Clone)]
struct Storage {
    arena: usize,
    lo: u64,
    hi: u64,
    begin: u32,
    end: u32,
    value: ValueId,
}

/// The steps of each value's storage.
pub(crate) fn lives(homes: &Homes<'_>) -> Vec<(ValueId, (u32, u32))> {
    let steps = number(homes);
    let ranges = worked_on(homes, &steps, &asynchronous::work(homes, &steps));
    let (storages, of) = storages(homes, &ranges);
    let mut found: Vec<_> = of.into_iter().map(|(value, at)| (value, (storages[at].begin, storages[at].end))).collect();
    found.sort_unstable();
    found
}

/// Live ranges with the work that goes on beside the rest.
fn worked_on(homes: &Homes<'_>, steps: &Steps, work: &[Work]) -> FxHashMap<ValueId, (u32, u32)> {
    let mut ranges = ranges(homes, steps);
    for work in work {
        for value in &work.touched {
            if let Some(range) = ranges.get_mut(&homes.root(*value)) {
                range.1 = range.1.max(work.until);
            }
        }
    }
    ranges
}

pub(crate) fn check(homes: &Homes<'_>, options: &Options, out: &mut Vec<Violation>) -> Numbers {
    let steps = number(homes);
    let work = asynchronous::work(homes, &steps);
    let ranges = worked_on(homes, &steps, &work);
    own::stated(homes, &steps, &ranges, &work, out);
    let (storages, of) = storages(homes, &ranges);
    let m = homes.module;
    let mut numbers = Numbers {
        function: m.sym_name(homes.func).unwrap_or_default().to_owned(),
        align: homes.arenas.iter().map(|arena| arena.align).max().unwrap_or(1),
        ..Numbers::default()
    };
    if !options.callees_have_arenas {
        callee_arenas(homes, out);
    }
    let scratches = scratches(homes, &steps, out);
    numbers.peak = peak(&storages, &scratches, steps.total);
    let mut ends = vec![0; homes.arenas.len()];
    storages.iter().for_each(|storage| ends[storage.arena] = ends[storage.arena].max(storage.hi));
    scratches.iter().for_each(|(home, _)| ends[home.arena] = ends[home.arena].max(home.end()));
    numbers.arena_bytes = ends.iter().fold(0, |sum: u64, end| sum.saturating_add(*end));
    alignment(homes, &storages, &of, &mut numbers, out);
    groups(homes, out);
    classes::check(homes, &ranges, &storages, &of, out);
    if !options.offsets_only {
        stated(homes, &numbers, out);
    }
    numbers
}

/// Whether an operation's bodies have steps of their own.
fn entered(homes: &Homes<'_>, op: OpId) -> bool {
    let inner = homes.row(op).runs() != Run::Kernel;
    inner && !homes.module.op_regions(op).is_empty() && homes.module.op_name(op) != "neap.fused"
}

pub(crate) fn number(homes: &Homes<'_>) -> Steps {
    let mut steps =
        Steps { spans: Table::of_ops(homes.module, homes.func, (0, 0)), ends: FxHashMap::default(), total: 0 };
    if let Some(block) = homes.module.entry(homes.func) {
        number_block(homes, block, &mut steps);
    }
    steps
}

/// The recursion is as deep as bodies nest, which the run has limited before.
fn number_block(homes: &Homes<'_>, block: BlockId, steps: &mut Steps) {
    let m = homes.module;
    for op in m.block_ops(block) {
        let role = homes.row(op).role;
        let begin = steps.total;
        if !ends(homes, op) && role != Role::Constant {
            steps.total += 1;
        }
        if entered(homes, op) {
            for region in m.op_regions(op) {
                for body in m.blocks(*region) {
                    number_block(homes, *body, steps);
                    steps.ends.insert(*body, steps.total);
                }
            }
        }
        steps.spans[op.into_raw().into_u32() as usize] = (begin, steps.total);
    }
    steps.ends.insert(block, steps.total);
}

fn ends(homes: &Homes<'_>, op: OpId) -> bool {
    let last = homes.module.op(op).next().is_none();
    last && (matches!(homes.module.op_name(op), "func.return" | "return") || homes.row(op).role == Role::Yield)
}

impl Steps {
    /// The number of steps.
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// `[begin, end)` of an operation.
    pub(crate) fn of(&self, op: OpId) -> (u32, u32) {
        self.spans[op.into_raw().into_u32() as usize]
    }
}

/// Live ranges by owner, of all values that have readers or definitions in entered bodies.
fn ranges(homes: &Homes<'_>, steps: &Steps) -> FxHashMap<ValueId, (u32, u32)> {
    let m = homes.module;
    let mut ranges: FxHashMap<ValueId, (u32, u32)> = FxHashMap::default();
    let mut todo: Vec<BlockId> = m.entry(homes.func).into_iter().collect();
    while let Some(block) = todo.pop() {
        for arg in m.block_args(block) {
            born(homes, steps, *arg, &mut ranges);
        }
        for op in m.block_ops(block) {
            m.data_results(op).iter().for_each(|value| born(homes, steps, *value, &mut ranges));
            if entered(homes, op) {
                todo.extend(m.op_regions(op).iter().flat_map(|region| m.blocks(*region)).copied());
            }
        }
    }
    ranges
}

/// Extends the range of a value's owner by the value's own life.
fn born(homes: &Homes<'_>, steps: &Steps, value: ValueId, ranges: &mut FxHashMap<ValueId, (u32, u32)>) {
    let owner = homes.root(value);
    let life = own::life(homes, steps, value, owner);
    let end = if life.kept { life.end.max(steps.total) } else { life.end };
    let range = ranges.entry(owner).or_insert((life.begin, end));
    range.1 = range.1.max(end);
    if owner == value {
        range.0 = life.begin;
    }
    if life.held {
        *range = (0, steps.total.max(1));
    }
}

/// The operation in whose step `op` runs: the outermost kernel around it, else itself.
fn runs_in(homes: &Homes<'_>, op: OpId) -> OpId {
    let (mut at, mut found) = (op, op);
    while let Some(around) = homes.module.parent_op(at).filter(|around| *around != homes.func) {
        if !entered(homes, around) {
            found = around;
        }
        at = around;
    }
    found
}

/// The outermost operation around `op` whose bodies run at the same time.
fn parallel_around(homes: &Homes<'_>, op: OpId) -> Option<OpId> {
    let (mut at, mut found) = (op, None);
    while let Some(around) = homes.module.parent_op(at).filter(|around| *around != homes.func) {
        if homes.row(around).runs() == Run::Parallel {
            found = Some(around);
        }
        at = around;
    }
    found
}

/// One past the last step at which a reader may read, and whether it is the end of the function.
fn use_end(homes: &Homes<'_>, steps: &Steps, reader: OpId, owner: ValueId) -> (u32, bool) {
    let m = homes.module;
    let (begin, end) = steps.of(reader);
    let Some(block) = m.parent_block(reader) else { return (end, false) };
    let mut last = if ends(homes, reader) {
        if m.parent_op(reader) == Some(homes.func) {
            return (steps.total, true);
        }
        let around = m.region_op(m.block_region(block));
        // The deciding body hands its values to the results, which are born at the loop's end.
        let forwards = homes.row(around).body.cond_forwards;
        if forwards { steps.of(around).1 } else { steps.ends.get(&block).copied().unwrap_or(end) }
    } else if entered(homes, reader) && !matches!(homes.row(reader).runs(), Run::Loop | Run::Parallel) {
        begin + 1
    } else {
        end
    };
    let home = match m.value(owner).def() {
        Def::Result(op, _) => m.parent_block(op),
        Def::Arg(block, _) => Some(block),
    };
    let mut at = Some(block);
    while at != home {
        let Some(inner) = at else { break };
        let around = m.region_op(m.block_region(inner));
        if around == homes.func {
            break;
        }
        if entered(homes, around) && matches!(homes.row(around).runs(), Run::Loop | Run::Parallel) {
            last = last.max(steps.of(around).1);
        }
        at = m.parent_block(around);
    }
    (last, false)
}

/// Storages, and which one a value's owner belongs to.
fn storages(homes: &Homes<'_>, ranges: &FxHashMap<ValueId, (u32, u32)>) -> (Vec<Storage>, FxHashMap<ValueId, usize>) {
    let m = homes.module;
    let mut parent: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    // What stands inside of a kernel shares nothing that lies outside.
    for op in m.walk(homes.func).into_iter().filter(|op| runs_in(homes, *op) == *op) {
        let operands: Vec<ValueId> = m.data_operands(op).collect();
        let results = m.data_results(op);
        let pairs = m.in_places(op, plan::INPLACE).into_iter().map(|pair| (pair.result, pair.operand));
        let parts = m.places(op, plan::PLACE).into_iter().map(|place| (0, place.operand));
        let pairs = pairs
            .chain(parts)
            .filter_map(|(result, operand)| Some((*results.get(result as usize)?, *operands.get(operand as usize)?)));
        for (result, operand) in pairs.chain(overlap::handed_over(homes, op)) {
            let (a, b) = (root(&mut parent, homes.root(result)), root(&mut parent, homes.root(operand)));
            if a != b {
                parent.insert(a, b);
            }
        }
    }
    let mut owners: Vec<ValueId> =
        ranges.keys().copied().filter(|value| homes.of(*value).is_some_and(|home| home.owner == *value)).collect();
    owners.sort_by_key(|value| raw(*value));
    let (mut list, mut index, mut of): (Vec<Storage>, FxHashMap<ValueId, usize>, FxHashMap<ValueId, usize>) =
        Default::default();
    for value in owners {
        let (home, (begin, end)) = (homes.of(value).expect("owners have homes"), ranges[&value]);
        let top = root(&mut parent, value);
        let at = *index.entry(top).or_insert_with(|| {
            list.push(Storage { arena: home.arena, lo: home.start, hi: home.end(), begin, end, value });
            list.len() - 1
        });
        let storage = &mut list[at];
        (storage.lo, storage.hi) = (storage.lo.min(home.start), storage.hi.max(home.end()));
        (storage.begin, storage.end) = (storage.begin.min(begin), storage.end.max(end));
        of.insert(value, at);
    }
    (list, of)
}

fn root(parent: &mut FxHashMap<ValueId, ValueId>, mut value: ValueId) -> ValueId {
    while let Some(up) = parent.get(&value).copied() {
        if let Some(next) = parent.get(&up).copied() {
            parent.insert(value, next);
        }
        value = up;
    }
    value
}

/// A call's scratch begins with room for the largest arena of its callees, aligned as they ask.
fn callee_arenas(homes: &Homes<'_>, out: &mut Vec<Violation>) {
    let m = homes.module;
    for op in m.walk(homes.func) {
        let row = homes.row(op);
        if row.body.run == Run::None || row.body.callees.is_empty() || !m.op_regions(op).is_empty() {
            continue;
        }
        let (function, span) = (homes.function(), m.op(op).span);
        let room = m.scratch_bytes(op) - crate::demands::own_scratch(m, op);
        for callee in crate::effects::callees(m, op, row) {
            let Some(func) = homes.calls.func(&callee) else { continue };
            let needed = m.attr(func, plan::ARENA_BYTES).and_then(Attr::as_i64).map_or(0, |bytes| bytes.max(0) as u64);
            if needed > room {
                let (function, op) = (function.clone(), names::op(m, op));
                out.push(Violation::CalleeArena { function, op, callee, room, needed, span });
                continue;
            }
            let align = homes.calls.align(func);
            if let Some(range) = overlap::scratch(homes, op).filter(|home| !home.start.is_multiple_of(align)) {
                let (value, asked_by) = (format!("the scratch of {}", names::op(m, op)), format!("@{callee}"));
                let (function, range) = (function.clone(), homes.range(&range));
                out.push(Violation::Alignment { function, value, asked_by, range, align, span });
            }
        }
    }
}

/// Scratch with its steps; reports what is not planned.
fn scratches(homes: &Homes<'_>, steps: &Steps, out: &mut Vec<Violation>) -> Vec<(Home, (u32, u32))> {
    let m = homes.module;
    let mut found = Vec::new();
    for op in m.walk(homes.func) {
        let (function, span, size) = (homes.function(), m.op(op).span, m.scratch_bytes(op));
        // A fused operation asks for the scratch of its body as its own.
        let fused = m.parent_op(op).is_some_and(|parent| m.op_name(parent) == "neap.fused");
        if size == 0 || fused {
            continue;
        }
        match overlap::scratch(homes, op) {
            Some(home) => {
                let capacity = homes.arenas[home.arena].capacity.unwrap_or(i64::MAX as u64);
                if home.end() > capacity {
                    let (value, range) = (format!("the scratch of {}", names::op(m, op)), homes.range(&home));
                    out.push(Violation::Capacity { function, value, range, capacity, span });
                }
                let mut span = steps.of(op);
                if let Some(around) = parallel_around(homes, op) {
                    span = steps.of(around);
                }
                found.push((home, span));
            }
            None => {
                let (value, op) = ("the scratch".to_owned(), Some(names::op(m, op)));
                out.push(Violation::NotPlanned { function, value, op, bytes: size, span });
            }
        }
    }
    found
}

fn peak(storages: &[Storage], scratches: &[(Home, (u32, u32))], total: u32) -> u64 {
    let mut change = vec![0i128; total as usize + 2];
    let whole = storages.iter().map(|storage| ((storage.begin, storage.end), storage.hi - storage.lo));
    for ((begin, end), size) in whole.chain(scratches.iter().map(|(home, span)| (*span, home.size))) {
        change[begin as usize] += i128::from(size);
        change[(end.max(begin) as usize).min(total as usize + 1)] -= i128::from(size);
    }
    let (mut now, mut most) = (0i128, 0i128);
    for step in change {
        now += step;
        most = most.max(now);
    }
    u64::try_from(most).unwrap_or(u64::MAX)
}

fn alignment(
    homes: &Homes<'_>,
    storages: &[Storage],
    of: &FxHashMap<ValueId, usize>,
    numbers: &mut Numbers,
    out: &mut Vec<Violation>,
) {
    let m = homes.module;
    let mut ask = |home: Home, value: String, asked_by: String, align: u64, span| {
        if align > 1 && !home.start.is_multiple_of(align) {
            let (function, range) = (homes.function(), homes.range(&home));
            out.push(Violation::Alignment { function, value, asked_by, range, align, span });
        }
    };
    let base = |storage: &Storage| Home {
        arena: storage.arena,
        start: storage.lo,
        size: storage.hi - storage.lo,
        owner: storage.value,
    };
    for storage in storages {
        let arena = &homes.arenas[storage.arena];
        let by = format!("@{}", arena.name);
        ask(base(storage), names::value(m, storage.value), by, arena.align, m.op(homes.func).span);
    }
    for op in m.walk(homes.func) {
        let align = m.attr(op, plan::ALIGN).and_then(Attr::as_i64).map_or(1, |align| align.max(1) as u64);
        let span = m.op(op).span;
        if let Some(home) = overlap::scratch(homes, op) {
            let needed = align.max(homes.arenas[home.arena].align);
            ask(home, "the scratch".to_owned(), names::op(m, op), needed, span);
        }
        if align == 1 {
            continue;
        }
        numbers.align = numbers.align.max(align);
        for value in m.data_operands(op).chain(m.data_results(op).iter().copied()) {
            let storage = of.get(&homes.root(value)).map(|at| &storages[*at]);
            if let Some(storage) = storage.filter(|_| homes.of(value).is_some()) {
                ask(base(storage), names::value(m, value), names::op(m, op), align, span);
            }
        }
    }
}

/// Operations of a group stand side by side, but for constants.
fn groups(homes: &Homes<'_>, out: &mut Vec<Violation>) {
    let m = homes.module;
    let grouped = |op: &OpId| m.attr(*op, "neap.group").and_then(Attr::as_str);
    let ops = m.walk(homes.func);
    if !ops.iter().any(|op| grouped(op).is_some()) {
        return;
    }
    let blocks: FxHashSet<BlockId> = ops.iter().filter_map(|op| m.parent_block(*op)).collect();
    let mut blocks: Vec<BlockId> = blocks.into_iter().collect();
    blocks.sort_unstable();
    for block in blocks {
        let (mut open, mut closed) = (None, FxHashSet::default());
        for op in m.block_ops(block).filter(|op| homes.row(*op).role != Role::Constant) {
            let group = grouped(&op);
            if group != open {
                closed.extend(open);
                open = group;
            }
            if let Some(name) = group.filter(|name| closed.contains(name)) {
                let (function, group, span) = (homes.function(), name.to_owned(), m.op(op).span);
                out.push(Violation::Group { function, group, op: names::op(m, op), span });
                closed.remove(name);
            }
        }
    }
}

/// The numbers that the plan states.
fn stated(homes: &Homes<'_>, numbers: &Numbers, out: &mut Vec<Violation>) {
    let m = homes.module;
    for (attribute, actual) in [(plan::PEAK, numbers.peak), (plan::ARENA_BYTES, numbers.arena_bytes)] {
        let stated = m.attr(homes.func, attribute).and_then(Attr::as_i64);
        if stated != i64::try_from(actual).ok() {
            let (function, span) = (homes.function(), m.op(homes.func).span);
            out.push(Violation::Number { function, attribute, stated, actual, span });
        }
    }
    if let Some(bound) = m.attr(homes.func, plan::LOWER_BOUND).and_then(Attr::as_i64)
        && (bound < 0 || bound as u64 > numbers.peak)
    {
        let why = format!("it is {bound}, but the plan's peak is {}", numbers.peak);
        out.push(Violation::Bound { function: homes.function(), why, span: m.op(homes.func).span });
    }
}
