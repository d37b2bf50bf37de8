//! Where each value of a planned function lies, as its attributes say, with views resolved to the bytes they lie in.

use crate::calls::Calls;
use crate::effects::is_buffer;
use crate::exec::raw;
use crate::names;
use crate::sizes::Sizes;
use crate::violation::{Range, Violation};
use neap_ir::facts::{Facts, OpFacts, Role, Run};
use neap_ir::size::SizeError;
use neap_ir::table::{Table, number};
use neap_ir::{Attr, Def, Module, OpId, Span, Type, ValueId, plan};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::OnceLock;

/// A memory region.
#[derive(Clone, Debug)]
pub(crate) struct Arena {
    pub(crate) name: String,
    pub(crate) align: u64,
    pub(crate) capacity: Option<u64>,
}

/// Bytes of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Home {
    pub(crate) arena: usize,
    pub(crate) start: u64,
    pub(crate) size: u64,
    /// The value whose bytes they are; another one for views.
    pub(crate) owner: ValueId,
}

impl Home {
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.size)
    }

    pub(crate) fn meets(&self, other: &Home) -> bool {
        self.arena == other.arena && self.start < other.end() && other.start < self.end()
    }
}

/// Homes of a function.
pub(crate) struct Homes<'a> {
    pub(crate) module: &'a Module,
    pub(crate) facts: &'a Facts,
    pub(crate) func: OpId,
    pub(crate) arenas: Vec<Arena>,
    pub(crate) table: Table<Option<Home>>,
    /// The value at the end of each chain of views.
    roots: FxHashMap<ValueId, ValueId>,
    /// Values that are views, with the data operand they lie in.
    pub(crate) views: FxHashMap<ValueId, (ValueId, u64)>,
    pub(crate) violations: Vec<Violation>,
    /// Whether anything is planned at all.
    pub(crate) planned: bool,
    /// What has no offset lies somewhere, apart from all else: only sizes are asked for.
    sized: bool,
    pub(crate) sizes: &'a Sizes,
    rows: Table<OnceLock<&'a OpFacts>>,
    pub(crate) calls: &'a Calls<'a>,
    external: FxHashSet<ValueId>,
}

/// The arenas that a module declares, or the one that it has without.
fn arenas(module: &Module) -> Vec<Arena> {
    let number = |op, key| module.attr(op, key).and_then(Attr::as_i64).and_then(|value| u64::try_from(value).ok());
    let mut found: Vec<Arena> = module
        .declared(plan::ARENA)
        .iter()
        .copied()
        .map(|op| Arena {
            name: module.sym_name(op).unwrap_or("?").to_owned(),
            align: number(op, "align").unwrap_or(1).max(1),
            capacity: number(op, "size"),
        })
        .collect();
    if found.is_empty() {
        found.push(Arena { name: "arena".to_owned(), align: 1, capacity: None });
    }
    found
}

impl<'a> Homes<'a> {
    pub(crate) fn new(calls: &'a Calls<'a>, func: OpId, sizes: &'a Sizes) -> Homes<'a> {
        Homes::build(calls, func, sizes, false)
    }

    /// What takes how many bytes, wherever it lies: also of a function that has an order and no offsets.
    pub(crate) fn sized(calls: &'a Calls<'a>, func: OpId, sizes: &'a Sizes) -> Homes<'a> {
        Homes::build(calls, func, sizes, true)
    }

    fn build(calls: &'a Calls<'a>, func: OpId, sizes: &'a Sizes, sized: bool) -> Homes<'a> {
        let (module, facts) = (calls.module, calls.facts);
        let (mut arenas, mut violations) = (arenas(module), Vec::new());
        callers(module, func, &mut arenas, &mut violations);
        let table = Table::of_values(module, func, None);
        let planned = module.attr(func, plan::ARENA_BYTES).is_some();
        let (views, external) = (FxHashMap::default(), external(module, func));
        let rows = Table::of_ops(module, func, OnceLock::new());
        let mut homes = Homes {
            module,
            facts,
            func,
            arenas,
            table,
            views,
            violations,
            planned,
            sized,
            sizes,
            rows,
            calls,
            external,
            roots: FxHashMap::default(),
        };
        homes.arguments();
        homes.operations();
        homes
    }

    pub(crate) fn of(&self, value: ValueId) -> Option<&Home> {
        self.table[raw(value)].as_ref()
    }

    /// The value whose bytes a value's are: itself, unless it is a view.
    pub(crate) fn root(&self, value: ValueId) -> ValueId {
        self.roots.get(&value).copied().unwrap_or(value)
    }

    /// The facts of an operation.
    pub(crate) fn row(&self, op: OpId) -> &'a OpFacts {
        let row = || crate::effects::row(self.module, op, self.facts);
        self.rows.get(number(op)).map_or_else(row, |slot| slot.get_or_init(row))
    }

    /// Whether the function hands a value out in the caller's memory.
    pub(crate) fn is_external(&self, value: ValueId) -> bool {
        self.external.contains(&value)
    }

    pub(crate) fn range(&self, home: &Home) -> Range {
        let arena = match self.arenas.len() {
            1 => "the arena".to_owned(),
            _ => format!("@{}", self.arenas[home.arena].name),
        };
        Range { arena, start: home.start, end: home.end() }
    }

    pub(crate) fn function(&self) -> String {
        names::func(self.module, self.func)
    }

    fn arguments(&mut self) {
        let m = self.module;
        for (index, arg) in m.func_args(self.func).to_vec().into_iter().enumerate() {
            let offset = m.arg_attr(self.func, index, plan::OFFSET).and_then(Attr::as_i64);
            self.planned |= offset.is_some();
            let io = m.arg_attr(self.func, index, plan::IO).and_then(Attr::as_str);
            let span = m.op(self.func).span;
            if io == Some("external") {
                self.none(arg, offset, "it is the caller's", span);
                continue;
            }
            let arena = m.arg_attr(self.func, index, plan::ARENA).cloned();
            let pin = m.arg_attr(self.func, index, "neap.pin").and_then(first_number);
            self.place(arg, offset, arena.as_ref(), 0, pin, span);
        }
    }

    /// A value that takes no arena bytes must have no offset.
    fn none(&mut self, value: ValueId, offset: Option<i64>, why: &'static str, span: Span) {
        if let Some(offset) = offset.filter(|offset| *offset >= 0) {
            let value = names::value(self.module, value);
            self.violations.push(Violation::NeedsNone { function: self.function(), value, why, offset, span });
        }
    }

    fn operations(&mut self) {
        let m = self.module;
        let mut inside = FxHashSet::default();
        for op in m.walk(self.func) {
            let row = self.row(op);
            let hidden = m.parent_op(op).is_some_and(|parent| inside.contains(&parent));
            let kernel = row.runs() == Run::Kernel && !m.op_regions(op).is_empty();
            if hidden || kernel || m.op_name(op) == "neap.fused" {
                inside.insert(op);
            }
            if !hidden {
                self.results(op, row);
                self.block_arguments(op, row);
            }
        }
    }

    fn results(&mut self, op: OpId, row: &OpFacts) {
        let m = self.module;
        let results = m.data_results(op);
        let offsets = m.attr(op, plan::OFFSETS);
        self.planned |= offsets.is_some();
        let list = offsets.and_then(Attr::as_i64s);
        if offsets.is_some() && list.as_ref().is_none_or(|list| list.len() != results.len()) {
            let why = format!("one number per data result is needed, that is {}", results.len());
            self.malformed(op, plan::OFFSETS, why);
            return;
        }
        let views: FxHashMap<usize, plan::View> =
            m.views(op).into_iter().map(|view| (view.result as usize, view)).collect();
        let (arena, span) = (m.attr(op, plan::ARENA).cloned(), m.op(op).span);
        let pins = m.attr(op, "neap.pin").and_then(Attr::as_i64s);
        let resident = m.attr(op, "neap.resident").is_some();
        for (index, value) in results.iter().copied().enumerate() {
            let offset = list.as_ref().map(|list| list[index]);
            if let Some(view) = views.get(&index) {
                self.declared_view(op, value, view.operand as usize, view.byte_offset, offset);
            } else if row.role == Role::Subview && is_buffer(m, value) {
                self.declared_view(op, value, row.data_operand(), 0, None);
            } else if row.role == Role::Constant || resident {
                self.none(value, offset, "constants are resident", span);
            } else if row.role == Role::Handle {
                self.none(value, offset, "it names a variable", span);
            } else if self.aliases(op, row) {
                self.none(value, offset, "it is a view of a variable", span);
            } else if self.external.contains(&value) {
                self.none(value, offset, "it is the caller's", span);
            } else {
                let pin = pins.as_ref().and_then(|pins| pins.get(index)).and_then(|pin| u64::try_from(*pin).ok());
                self.place(value, offset, arena.as_ref(), index, pin, span);
            }
        }
    }

    /// Whether the result of a read is the variable's own bytes.
    pub(crate) fn aliases(&self, op: OpId, row: &OpFacts) -> bool {
        let key = row.param(neap_ir::facts::Key::Alias).and_then(|param| param.attr.as_deref());
        row.role == Role::Read && key.is_some_and(|key| self.module.attr(op, key).is_some())
    }

    fn declared_view(&mut self, op: OpId, value: ValueId, operand: usize, byte_offset: u64, offset: Option<i64>) {
        match self.module.data_operand(op, operand) {
            Some(from) => self.view(op, plan::VIEW, value, from, byte_offset, offset),
            None => self.malformed(op, plan::VIEW, format!("there is no data operand {operand}")),
        }
    }

    fn view(
        &mut self,
        op: OpId,
        attribute: &'static str,
        value: ValueId,
        from: ValueId,
        byte_offset: u64,
        offset: Option<i64>,
    ) {
        let m = self.module;
        self.views.insert(value, (from, byte_offset));
        self.roots.insert(value, self.root(from));
        let size = self.size(value).unwrap_or(0);
        let home = self.of(from).copied().filter(|_| size > 0);
        let home = home.and_then(|home| {
            let start = home.start.checked_add(byte_offset)?;
            Some(Home { start, size: if is_buffer(m, value) { home.size } else { size }, ..home })
        });
        self.table[raw(value)] = home;
        let expected = home.map(|home| home.start);
        if let Some(given) = offset.and_then(|offset| u64::try_from(offset).ok())
            && Some(given) != expected
            && size > 0
        {
            let range = Range { arena: "the arena".to_owned(), start: given, end: given.saturating_add(size) };
            let (op_name, value) = (names::op(m, op), names::value(m, value));
            let (function, span) = (self.function(), m.op(op).span);
            self.violations.push(Violation::Elsewhere {
                function,
                op: op_name,
                attribute,
                value,
                range,
                expected,
                span,
            });
        }
    }

    /// Arguments of bodies: views of operands where the body runs at most once, storages of their own in a loop.
    fn block_arguments(&mut self, op: OpId, row: &OpFacts) {
        let m = self.module;
        if m.op_regions(op).is_empty() || row.runs() == Run::Kernel {
            return;
        }
        let operands: Vec<ValueId> = m.data_operands(op).collect();
        let positions: Vec<usize> = row.body.args.below(operands.len()).collect();
        let offsets = m.attr(op, plan::ARG_OFFSETS).and_then(Attr::as_i64s).unwrap_or_default();
        let looped = row.body.run == Run::Loop;
        let mut at = 0;
        for block in m.op_regions(op).iter().flat_map(|region| m.blocks(*region)) {
            for (index, arg) in m.block_args(*block).iter().copied().enumerate() {
                let offset = offsets.get(at).copied();
                let bound = index.checked_sub(row.body.lead).and_then(|index| positions.get(index));
                match bound {
                    Some(bound) if !looped || is_buffer(m, arg) => {
                        self.view(op, plan::ARG_OFFSETS, arg, operands[*bound], 0, offset);
                    }
                    _ => {
                        let arena = m.attr(op, plan::ARG_ARENAS).cloned();
                        self.place(arg, offset, arena.as_ref(), at, None, m.op(op).span);
                    }
                }
                at += 1;
            }
        }
    }

    fn malformed(&mut self, op: OpId, attribute: &'static str, why: String) {
        let (function, span) = (self.function(), self.module.op(op).span);
        let op = names::op(self.module, op);
        self.violations.push(Violation::Malformed { function, op, attribute, why, span });
    }

    /// Bytes of a value; none, and a violation, if they are not known and it must have some.
    fn size(&mut self, value: ValueId) -> Option<u64> {
        let m = self.module;
        if !self.sizes.upper()
            && !m.dynamic_axes(value).is_empty()
            && let Some(bits) = crate::shape::Shapes::new(m, self.sizes).of(value).and_then(|shape| shape.bits())
        {
            return u64::try_from((bits + 7) / 8).ok();
        }
        match m.value_bytes(value) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                let uses = m.value(value).uses();
                let shape = |usage: &neap_ir::Use| {
                    let row = self.row(usage.op);
                    row.shape_operands.contains(usage.operand as usize) || row.role == Role::Handle
                };
                let runs = |op: OpId| matches!(self.row(op).role, Role::AsyncStart | Role::Token);
                let token = m.defining_op(value).is_some_and(runs);
                let tensor = matches!(m.ty(m.value_ty(value)), Type::Tensor { .. });
                // A handle stands for state or for work under way, whoever makes it.
                let handle = match m.ty(m.value_ty(value)) {
                    Type::Dialect(body) => {
                        body.ends_with(".resource") || body.contains(".resource<") || body.starts_with("async.")
                    }
                    _ => false,
                };
                let opaque = error == SizeError::Opaque && (token || tensor || handle || uses.iter().all(shape));
                if !opaque {
                    let (function, span) = (self.function(), self.span(value));
                    let value = names::value(m, value);
                    let why = error.to_string();
                    self.violations.push(match error.is_too_large() {
                        true => Violation::TooLarge { function, value, why, span },
                        false => Violation::Unsized { function, value, why, span },
                    });
                }
                None
            }
        }
    }

    fn span(&self, value: ValueId) -> Span {
        match self.module.value(value).def() {
            Def::Result(op, _) => self.module.op(op).span,
            Def::Arg(block, _) => self.module.op(self.module.region_op(self.module.block_region(block))).span,
        }
    }

    fn place(
        &mut self,
        value: ValueId,
        offset: Option<i64>,
        arena: Option<&Attr>,
        index: usize,
        pin: Option<u64>,
        span: Span,
    ) {
        let m = self.module;
        if m.is_token(value) {
            return;
        }
        let Some(size) = self.size(value).filter(|size| *size > 0) else { return };
        let function = self.function();
        let Some(start) = offset.and_then(|offset| u64::try_from(offset).ok()) else {
            // A scalar outside of tensors and buffers may stay in a register.
            if matches!(m.ty(m.value_ty(value)), Type::Tensor { .. } | Type::MemRef { .. } | Type::Dialect(_)) {
                if self.sized {
                    self.table[raw(value)] = Some(Home { arena: 0, start: 0, size, owner: value });
                    return;
                }
                let op = m.defining_op(value).map(|op| names::op(m, op));
                let value = names::value(m, value);
                self.violations.push(Violation::NotPlanned { function, value, op, bytes: size, span });
            }
            return;
        };
        let Some(arena) = self.arena(value, arena, index, span) else { return };
        let home = Home { arena, start, size, owner: value };
        let range = self.range_or_end(&home);
        let name = names::value(m, value);
        if start.checked_add(size).is_none_or(|end| end > i64::MAX as u64) {
            let capacity = i64::MAX as u64;
            return self.violations.push(Violation::Capacity { function, value: name, range, capacity, span });
        }
        if let Some(capacity) = self.arenas[arena].capacity.filter(|capacity| home.end() > *capacity) {
            let (function, value, range) = (function.clone(), name.clone(), range.clone());
            self.violations.push(Violation::Capacity { function, value, range, capacity, span });
        }
        if let Some(pin) = pin.filter(|pin| *pin != start) {
            self.violations.push(Violation::Pin { function, value: name, range, pin, span });
        }
        self.table[raw(value)] = Some(home);
    }

    fn range_or_end(&self, home: &Home) -> Range {
        let arena = self.arenas[home.arena].name.clone();
        Range { arena, start: home.start, end: home.start.saturating_add(home.size) }
    }

    fn arena(&mut self, value: ValueId, arena: Option<&Attr>, index: usize, span: Span) -> Option<usize> {
        let name = match arena {
            None => return Some(0),
            Some(Attr::Array(list)) => list.get(index).and_then(Attr::as_symbol),
            Some(attr) => attr.as_symbol(),
        };
        let found = name.and_then(|name| self.arenas.iter().position(|arena| arena.name == name));
        if found.is_none() {
            let (function, value) = (self.function(), names::value(self.module, value));
            let arena = name.unwrap_or("?").to_owned();
            self.violations.push(Violation::UnknownArena { function, value, arena, span });
        }
        found
    }
}

fn first_number(attr: &Attr) -> Option<u64> {
    let number = attr.as_i64().or_else(|| attr.as_i64s()?.first().copied())?;
    u64::try_from(number).ok()
}

/// Takes off what the caller's arguments and results need of arenas that they are said to lie in.
fn callers(module: &Module, func: OpId, arenas: &mut [Arena], out: &mut Vec<Violation>) {
    let last = module.entry(func).and_then(|block| module.terminator(block));
    let results: Vec<ValueId> = last.into_iter().flat_map(|last| module.data_operands(last)).collect();
    let args = module.func_args(func).iter().enumerate();
    let said =
        args.map(|(at, value)| (*value, [plan::IO, plan::EXTERNAL_IN].map(|key| module.arg_attr(func, at, key))));
    let handed = results.iter().enumerate();
    let handed =
        handed.map(|(at, value)| (*value, [plan::IO, plan::EXTERNAL_IN].map(|key| module.result_attr(func, at, key))));
    for (value, [io, lies]) in said.chain(handed) {
        let symbol = lies.and_then(Attr::as_symbol).filter(|_| io.and_then(Attr::as_str) == Some("external"));
        let Some(arena) = symbol.and_then(|name| arenas.iter_mut().find(|arena| arena.name == name)) else { continue };
        let (Some(capacity), Ok(bytes)) = (arena.capacity, module.value_bytes(value)) else { continue };
        arena.capacity = Some(capacity.saturating_sub(bytes));
        if bytes > capacity {
            let range = Range { arena: arena.name.clone(), start: 0, end: bytes };
            let (function, span) = (names::func(module, func), module.op(func).span);
            out.push(Violation::Capacity { function, value: names::value(module, value), range, capacity, span });
        }
    }
}

/// Results that the function returns in the caller's own bytes, unless they are its arguments.
fn external(module: &Module, func: OpId) -> FxHashSet<ValueId> {
    let Some(last) = module.entry(func).and_then(|block| module.terminator(block)) else { return FxHashSet::default() };
    let is = |index: usize| module.result_attr(func, index, plan::IO).and_then(Attr::as_str) == Some("external");
    module.data_operands(last).enumerate().filter(|(index, _)| is(*index)).map(|(_, value)| value).collect()
}
