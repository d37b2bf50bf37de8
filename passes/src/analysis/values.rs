//! The values of a function: how many bytes each has, where its bytes live, and whose bytes they are.
//!
//! A view has no bytes of its own: it lies in its *owner*, the first value of the chain of views that is no view, some bytes from
//! the owner's start. Chains of any length cost one step per link. Arguments of a body that runs at most once per run of its operation are views of the
//! operands that they are bound to; arguments of a loop are values of their own.
//!
//! Sound because a value of unknown size is an error (all such values in one) and never a value without bytes.

use super::names::value_name;
use super::timeline::{BodyId, EntryId, Kind, Timeline};
use neap_ir::diag::Diagnostic;
use neap_ir::facts::{Key, OpFacts, Role, Run, ViewOf};
use neap_ir::plan::View;
use neap_ir::print::ty_text;
use neap_ir::size::SizeError;
use neap_ir::{Attr, Def, Module, Span, Type, ValueId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A value of the function, numbered in the order of definition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

impl Slot {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a value's bytes live.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Home {
    /// In the arena.
    Arena,
    /// With the caller.
    External,
    /// Resident: constants, and results that the runtime keeps.
    Constant,
    /// In a variable's section.
    State,
    /// It has no bytes: a token, a handle, a shape.
    Nothing,
}

/// Where a value is defined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Site {
    /// An argument of the function, by index.
    Argument(u32),
    /// An argument of a nested body, by index.
    BodyArg(u32),
    /// A data or token result of an operation, by index.
    Result(EntryId, u32),
}

/// What is known of one value.
#[derive(Clone, Debug)]
pub struct Info {
    /// The value.
    pub value: ValueId,
    /// Where it is defined.
    pub site: Site,
    /// The body in which it is defined.
    pub body: BodyId,
    /// Its own bytes.
    pub bytes: u64,
    /// The value that it is a view of, directly.
    pub base: Option<Slot>,
    /// The value whose bytes it lies in; itself where it is no view.
    pub owner: Slot,
    /// Bytes from the owner's start.
    pub offset: u64,
    home: Home,
}

/// Which kinds of sharing are taken into account.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sharing {
    /// `neap.view`: results that lie in an operand.
    pub views: bool,
    /// `neap.inplace`: results over an operand.
    pub in_place: bool,
    /// `neap.place`: operands that lie in the result.
    pub placement: bool,
}

impl Sharing {
    /// As the attributes of the module say.
    pub const PLANNED: Sharing = Sharing { views: true, in_place: true, placement: true };
    /// Every value has bytes of its own, except where sharing is an operation's meaning.
    pub const NONE: Sharing = Sharing { views: false, in_place: false, placement: false };
}

/// The values of a function.
#[derive(Clone, Debug)]
pub struct Values {
    list: Vec<Info>,
    index: FxHashMap<ValueId, Slot>,
}

impl Values {
    /// Finds the values of a function.
    ///
    /// # Errors
    /// All values whose size is not known, in one diagnostic.
    pub fn new(module: &Module, timeline: &Timeline<'_>, views: bool) -> Result<Values, Diagnostic> {
        let values = Values { list: Vec::new(), index: FxHashMap::default() };
        let mut build = Build { module, timeline, views, values, unknown: Vec::new() };
        build.arguments();
        for (id, entry) in timeline.iter() {
            build.results(id)?;
            if !entry.bodies.is_empty() {
                build.body_args(id);
            }
        }
        build.external_results();
        match build.unknown.is_empty() {
            true => Ok(build.values),
            false => Err(unknown_sizes(module, timeline, &build.unknown)),
        }
    }

    /// What is known of a value.
    pub fn info(&self, slot: Slot) -> &Info {
        neap_ir::work::count(1);
        &self.list[slot.index()]
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All values in the order of definition.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Slot, &Info)> {
        self.list.iter().enumerate().map(|(at, info)| (Slot(at as u32), info))
    }

    /// The number of a value; none for one outside the function or inside a kernel.
    pub fn slot(&self, value: ValueId) -> Option<Slot> {
        self.index.get(&value).copied()
    }

    /// The value whose bytes a value lies in.
    pub fn owner(&self, slot: Slot) -> Slot {
        self.info(slot).owner
    }

    /// Where a value's bytes live.
    pub fn home(&self, slot: Slot) -> Home {
        self.info(self.owner(slot)).home
    }
}

struct Build<'a, 'f> {
    module: &'a Module,
    timeline: &'a Timeline<'f>,
    views: bool,
    values: Values,
    unknown: Vec<(ValueId, SizeError)>,
}

impl Build<'_, '_> {
    fn add(
        &mut self,
        value: ValueId,
        site: Site,
        body: BodyId,
        home: Home,
        view: Option<(Slot, u64)>,
    ) -> Result<(), Diagnostic> {
        let slot = Slot(self.values.list.len() as u32);
        let (mut owner, mut offset) = (slot, 0);
        if let Some((base, bytes)) = view {
            owner = self.values.owner(base);
            let sum = self.values.info(base).offset.checked_add(bytes).filter(|sum| *sum <= i64::MAX as u64);
            offset = sum.ok_or_else(|| self.too_far(value))?;
        }
        let mut info = Info { value, site, body, bytes: 0, base: view.map(|(base, _)| base), owner, offset, home };
        if home != Home::Nothing && (owner == slot || self.values.info(owner).home != Home::Nothing) {
            match self.module.value_bytes(value) {
                Ok(bytes) if offset.checked_add(bytes).is_some_and(|end| end <= i64::MAX as u64) => info.bytes = bytes,
                Ok(_) => return Err(self.too_far(value)),
                Err(SizeError::Opaque) if self.without_bytes(value) => info.home = Home::Nothing,
                Err(error) => self.unknown.push((value, error)),
            }
        }
        self.values.list.push(info);
        self.values.index.insert(value, slot);
        Ok(())
    }

    fn too_far(&self, value: ValueId) -> Diagnostic {
        let message = format!(
            "{} ends above 2^63-1 bytes from the start of what it is a view of",
            value_name(self.module, value)
        );
        Diagnostic::error(span(self.module, self.timeline, value), message)
    }

    fn arguments(&mut self) {
        let func = self.timeline.func;
        for (index, value) in self.module.func_args(func).iter().enumerate() {
            let home = match self.module.arg_attr(func, index, neap_ir::plan::IO).and_then(Attr::as_str) {
                Some("external") => Home::External,
                _ => typed_home(self.module, *value),
            };
            // A value that is no view cannot end too far.
            let _ = self.add(*value, Site::Argument(index as u32), BodyId(0), home, None);
        }
    }

    fn results(&mut self, id: EntryId) -> Result<(), Diagnostic> {
        let entry = self.timeline.entry(id);
        let module = self.module;
        let data = module.data_results(entry.op).len();
        if data == 0 && module.results(entry.op).is_empty() {
            return Ok(());
        }
        let views = if self.views { module.views(entry.op) } else { Vec::new() };
        for (index, value) in module.results(entry.op).iter().enumerate() {
            let home = self.result_home(id, *value);
            let view = if index < data { self.view_of(id, index, &views) } else { None };
            self.add(*value, Site::Result(id, index as u32), entry.body, home, view)?;
        }
        Ok(())
    }

    /// The operand that a result lies in, and how far from its start.
    fn view_of(&self, id: EntryId, index: usize, views: &[View]) -> Option<(Slot, u64)> {
        let entry = self.timeline.entry(id);
        let given = views.iter().find(|view| view.result as usize == index);
        let (operand, bytes) = match given {
            Some(view) => (view.operand as usize, view.byte_offset),
            None => (must_view(entry.facts, index)?, 0),
        };
        let operand = self.module.data_operand(entry.op, operand)?;
        Some((self.values.slot(operand)?, bytes))
    }

    fn result_home(&self, id: EntryId, value: ValueId) -> Home {
        let (module, entry) = (self.module, self.timeline.entry(id));
        let alias = || entry.facts.param(Key::Alias).and_then(|param| param.attr.as_deref());
        match entry.facts.role {
            _ if typed_home(module, value) == Home::Nothing => Home::Nothing,
            Role::Handle | Role::Token => Home::Nothing,
            _ if entry.kind == Kind::Constant || module.attr(entry.op, "neap.resident").is_some() => Home::Constant,
            Role::Read if alias().is_some_and(|key| module.attr(entry.op, key).is_some()) => Home::State,
            _ => Home::Arena,
        }
    }

    fn body_args(&mut self, id: EntryId) {
        let entry = self.timeline.entry(id);
        let facts = &entry.facts.body;
        let operands: Vec<ValueId> = self.module.data_operands(entry.op).collect();
        let bound: Vec<usize> = facts.args.below(operands.len()).collect();
        let shares = matches!(entry.run, Run::Once | Run::Branch);
        for body in entry.bodies.clone() {
            for (index, value) in self.module.block_args(self.timeline.body(body).block).iter().enumerate() {
                let operand = index.checked_sub(facts.lead).and_then(|k| bound.get(k)).map(|at| operands[*at]);
                let base = operand.filter(|_| shares).and_then(|operand| self.values.slot(operand));
                let home = typed_home(self.module, *value);
                let site = Site::BodyArg(index as u32);
                // At distance 0 the argument ends where its operand does.
                let _ = self.add(*value, site, body, home, base.map(|base| (base, 0)));
            }
        }
    }

    /// Results that the caller gives bytes for.
    fn external_results(&mut self) {
        let Some(last) = self.timeline.bodies.first().and_then(|body| body.entries.last()) else { return };
        let terminator = self.timeline.entry(*last);
        if terminator.kind != Kind::Terminator {
            return;
        }
        for (index, value) in self.module.data_operands(terminator.op).enumerate() {
            let io = self.module.result_attr(self.timeline.func, index, neap_ir::plan::IO);
            let Some(slot) = self.values.slot(value).filter(|_| io.and_then(Attr::as_str) == Some("external")) else {
                continue;
            };
            let owner = self.values.owner(slot);
            let whole = self.values.info(owner).bytes == self.values.info(slot).bytes;
            let info = &mut self.values.list[owner.index()];
            if whole && info.home == Home::Arena && matches!(info.site, Site::Result(..)) {
                info.home = Home::External;
            }
        }
    }

    /// Whether a value of opaque type is one of those that take no arena bytes: a handle, or used as a shape alone.
    fn without_bytes(&self, value: ValueId) -> bool {
        let role = match self.module.value(value).def() {
            Def::Result(op, _) => self.timeline.find(op).map(|id| self.timeline.entry(id).facts.role),
            Def::Arg(..) => None,
        };
        let handle = matches!(role, Some(Role::AsyncStart | Role::AsyncAwait));
        handle || is_handle(self.module, value) || self.only_a_shape(value)
    }

    fn only_a_shape(&self, value: ValueId) -> bool {
        let uses = self.module.value(value).uses();
        let shape = |usage: &neap_ir::Use| {
            let entry = self.timeline.find(usage.op).map(|id| self.timeline.entry(id));
            entry.is_some_and(|entry| entry.facts.shape_operands.contains(usage.operand as usize))
        };
        !uses.is_empty() && uses.iter().all(shape)
    }
}

/// The operand that a result shares bytes with by the operation's meaning.
fn must_view(facts: &OpFacts, result: usize) -> Option<usize> {
    let view = facts.views.iter().find(|view| view.must && view.results.contains(result))?;
    Some(match view.operand {
        ViewOf::At(operand) => operand,
        ViewOf::Same => result,
    })
}

fn typed_home(module: &Module, value: ValueId) -> Home {
    match module.ty(module.value_ty(value)) {
        Type::Index | Type::None | Type::Function { .. } => Home::Nothing,
        _ if module.is_token(value) => Home::Nothing,
        _ => Home::Arena,
    }
}

/// Types of other dialects that stand for no bytes: tokens, and resources by handle.
fn is_handle(module: &Module, value: ValueId) -> bool {
    let body = match module.ty(module.value_ty(value)) {
        Type::Dialect(body) => body,
        Type::Tensor { elem, .. } => match module.ty(*elem) {
            Type::Dialect(body) => body,
            _ => return false,
        },
        _ => return false,
    };
    body.ends_with(".token") || body.ends_with(".resource") || body.contains(".resource<") || body.starts_with("async.")
}

fn span(module: &Module, timeline: &Timeline<'_>, value: ValueId) -> Span {
    match module.value(value).def() {
        Def::Result(op, _) => module.op(op).span,
        Def::Arg(block, _) => {
            let op = module.region_op(module.block_region(block));
            module.op(if module.op(op).span.is_none() { timeline.func } else { op }).span
        }
    }
}

fn unknown_sizes(module: &Module, timeline: &Timeline<'_>, unknown: &[(ValueId, SizeError)]) -> Diagnostic {
    let line = |(value, error): &(ValueId, SizeError)| match error {
        SizeError::Dynamic(_) => {
            let axes = unbounded(module, *value);
            format!("{}: no upper bound of {}", value_name(module, *value), axes.join(", "))
        }
        large if large.is_too_large() => {
            format!("{}: {large} in {}", value_name(module, *value), ty_text(module, module.value_ty(*value)))
        }
        other => format!("{}: {other}", value_name(module, *value)),
    };
    let large: Vec<&(ValueId, SizeError)> = unknown.iter().filter(|(_, error)| error.is_too_large()).collect();
    if let [first, others @ ..] = &large[..] {
        // What is known to be too large is no matter of bounds.
        let mut error = Diagnostic::error(
            span(module, timeline, first.0),
            format!("a value is too large: {}; sizes are at most 2^63-1 bytes", line(first)),
        );
        for item in others {
            error = error.related(span(module, timeline, item.0), line(item));
        }
        return error;
    }
    let place = span(module, timeline, unknown[0].0);
    if let [one] = unknown {
        return Diagnostic::error(place, format!("the size of a value is not known: {}", line(one))).help(HELP);
    }
    let mut error = Diagnostic::error(place, format!("the sizes of {} values are not known", unknown.len()));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut alike = 0;
    for item in unknown {
        // What lacks nothing but bounds that others lack as well is counted: a model's values have few dimensions.
        let (names, more) = open_dimensions(module, item);
        let is_new = more || names.iter().any(|name| !counts.contains_key(name));
        names.into_iter().for_each(|name| *counts.entry(name).or_default() += 1);
        if is_new {
            error = error.related(span(module, timeline, item.0), line(item));
        } else {
            alike += 1;
        }
    }
    if alike > 0 {
        error = error.note(format!("{alike} more values lack a bound of these dimensions and nothing else"));
    }
    let Some(first) = counts.keys().next() else { return error.help(HELP) };
    let listed: Vec<String> = counts.iter().map(|(name, count)| format!("`{name}` ({count})")).collect();
    let note = format!("dimensions without a bound, and how many values have each: {}", listed.join(", "));
    error.note(note).help(HELP.replacen("NAME", first, 1))
}

/// The named dimensions of a value that have no upper bound, and whether it lacks something else for its size.
fn open_dimensions(module: &Module, (value, error): &(ValueId, SizeError)) -> (BTreeSet<String>, bool) {
    let mut more = !matches!(error, SizeError::Dynamic(_));
    let mut names = BTreeSet::new();
    for dims in module.dim_names(*value) {
        more |= dims.is_empty();
        names.extend(dims.into_iter().filter(|name| module.dim_bound(name).is_none()).map(str::to_owned));
    }
    (names, more)
}

/// The dimensions of a value that have no upper bound, as `--dim` takes them, with their names where they have some.
fn unbounded(module: &Module, value: ValueId) -> Vec<String> {
    let called = value_name(module, value);
    let axes = module.dynamic_axes(value).into_iter().zip(module.dim_names(value));
    let open = axes.filter_map(|(axis, names)| {
        let without: Vec<&str> = names.iter().copied().filter(|name| module.dim_bound(name).is_none()).collect();
        match (&names[..], &without[..]) {
            ([], _) => Some(format!("{called}.{axis}")),
            (_, []) => None,
            _ => Some(format!("{called}.{axis} (`{}`)", without.join("`, `"))),
        }
    });
    open.collect()
}

const HELP: &str = "bound a dimension with `--dim NAME=1..MAX` or `--dim VALUE.AXIS=1..MAX`, give a size with `neap.bytes`, or leave such values out with `--exclude-dynamic`";
