//! Which resources an operation touches, by the facts; of a call by symbol, what its callees may touch.

use crate::eval::variable;
use crate::hash::Mix;
use crate::rope::Rope;
use neap_ir::facts::{Access, Facts, OpFacts, Resource, Role, Run};
use neap_ir::{Attr, Module, OpId, RegionId, Type, ValueId};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// A resource at run time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Resolved {
    /// Anything at all.
    All,
    /// A variable, or something of the outside world.
    Named(u128),
    /// The buffer behind a value.
    Buffer(ValueId),
}

/// One effect of one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Touch {
    pub(crate) resource: Resolved,
    pub(crate) access: Access,
}

/// What a buffer holds before anything was written.
pub(crate) fn undefined() -> u128 {
    Mix::new("undefined").done()
}

/// Whether a value is a buffer: its content may change.
pub(crate) fn is_buffer(module: &Module, value: ValueId) -> bool {
    matches!(module.ty(module.value_ty(value)), Type::MemRef { .. })
}

fn fixed(resource: &Resource) -> Option<(u128, &'static str)> {
    let name = match resource {
        Resource::Rng => "the random number generator",
        Resource::Io => "the outside world",
        Resource::Stats => "statistics",
        _ => return None,
    };
    Some((Mix::new(name).done(), name))
}

/// The variable that an attribute names.
fn by_attr(module: &Module, op: OpId, key: &str, names: &mut BTreeMap<u128, String>) -> Resolved {
    let name = module.attr(op, key).and_then(|attr| attr.as_symbol().or_else(|| attr.as_str()));
    let Some(name) = name else { return Resolved::All };
    let resource = variable("", name);
    names.entry(resource).or_insert_with(|| format!("variable `{name}`"));
    Resolved::Named(resource)
}

/// The destinations of a destination-passing operation: the second segment of its operands.
fn outs(module: &Module, op: OpId) -> Option<std::ops::Range<usize>> {
    let segments = module.attr(op, "operandSegmentSizes")?.as_i64s()?;
    let first = usize::try_from(*segments.first()?).ok()?;
    Some(first..first + usize::try_from(*segments.get(1)?).ok()?)
}

/// What an operation touches, in the order of its facts.
pub(crate) fn resolve(
    module: &Module,
    op: OpId,
    row: &OpFacts,
    values: &[ValueId],
    operands: &[Rope],
    names: &mut BTreeMap<u128, String>,
) -> Vec<Touch> {
    let mut out = Vec::new();
    for effect in &row.effects {
        let mut add = |resource| out.push(Touch { resource, access: effect.access });
        match &effect.resource {
            Resource::All => add(Resolved::All),
            Resource::Attr(key) => add(by_attr(module, op, key, names)),
            Resource::Handle(at) => match operands.get(*at).map(|rope| &rope.segs[..]) {
                Some([seg]) => {
                    let name = crate::names::value(module, values[*at]);
                    names.entry(seg.content).or_insert_with(|| format!("the variable behind {name}"));
                    add(Resolved::Named(seg.content));
                }
                _ => add(Resolved::All),
            },
            Resource::Memory(at) => {
                let buffer = values.get(*at).filter(|value| is_buffer(module, **value));
                buffer.into_iter().for_each(|value| add(Resolved::Buffer(*value)));
            }
            Resource::Outs => match outs(module, op) {
                Some(range) => {
                    let list = values.get(range).unwrap_or_default();
                    let buffers = list.iter().filter(|value| is_buffer(module, **value));
                    buffers.for_each(|value| add(Resolved::Buffer(*value)));
                }
                None => add(Resolved::All),
            },
            other => match fixed(other) {
                Some((resource, name)) => {
                    names.entry(resource).or_insert_with(|| name.to_owned());
                    add(Resolved::Named(resource));
                }
                None => add(Resolved::All),
            },
        }
    }
    out
}

/// Functions that an operation names.
pub(crate) fn callees(module: &Module, op: OpId, row: &OpFacts) -> Vec<String> {
    let mut found = Vec::new();
    for key in &row.body.callees {
        let Some(attr) = module.attr(op, key) else { continue };
        let list = if let Attr::Array(list) = attr { &list[..] } else { std::slice::from_ref(attr) };
        found.extend(list.iter().filter_map(|attr| attr.as_symbol().or_else(|| attr.as_str()).map(str::to_owned)));
    }
    found
}

/// What the callees of an operation may touch, each resource once: all, where it cannot be told.
pub(crate) fn of_callees(
    module: &Module,
    op: OpId,
    row: &OpFacts,
    facts: &Facts,
    names: &mut BTreeMap<u128, String>,
) -> Vec<Touch> {
    of_functions(module, callees(module, op, row), facts, names)
}

/// What functions may touch, each resource once: all, where it cannot be told.
pub(crate) fn of_functions(
    module: &Module,
    functions: Vec<String>,
    facts: &Facts,
    names: &mut BTreeMap<u128, String>,
) -> Vec<Touch> {
    let mut touched: BTreeMap<u128, Access> = BTreeMap::new();
    let mut todo = functions;
    let mut all = todo.is_empty();
    let mut seen: FxHashSet<String> = todo.iter().cloned().collect();
    while let Some(name) = todo.pop() {
        let Some(func) = module.symbol(&name).filter(|func| module.entry(*func).is_some()) else {
            all = true;
            continue;
        };
        for inner in module.walk(func) {
            let counts = (module.data_operands(inner).count(), module.data_results(inner).len());
            let row = facts.of(module.op_name(inner), counts.0, counts.1);
            if row.body.run != Run::None && module.op_regions(inner).is_empty() {
                let called = callees(module, inner, row);
                all |= called.is_empty();
                todo.extend(called.into_iter().filter(|name| seen.insert(name.clone())));
            }
            if matches!(module.op_name(inner), "func.return" | "return") {
                continue;
            }
            for (resource, access) in of_body_op(module, inner, row, facts, names) {
                match resource {
                    Some(resource) => {
                        let entry = touched.entry(resource).or_insert(access);
                        *entry = (*entry).max(access);
                    }
                    None => all = true,
                }
            }
        }
    }
    if all {
        return vec![Touch { resource: Resolved::All, access: Access::Write }];
    }
    let touch = |(resource, access)| Touch { resource: Resolved::Named(resource), access };
    touched.into_iter().map(touch).collect()
}

/// Effects of an operation by the text alone: of a handle that no operation of the function makes, and of buffers, anything.
pub(crate) fn of_static(module: &Module, op: OpId, row: &OpFacts, facts: &Facts) -> Vec<(Resolved, Access)> {
    let mut names = BTreeMap::new();
    let by_symbol = row.body.run != Run::None && module.op_regions(op).is_empty();
    let mut found: Vec<(Resolved, Access)> = match by_symbol {
        true => of_callees(module, op, row, facts, &mut names).into_iter().map(|t| (t.resource, t.access)).collect(),
        false => Vec::new(),
    };
    for (resource, access) in of_body_op(module, op, row, facts, &mut names) {
        found.push((resource.map_or(Resolved::All, Resolved::Named), access));
    }
    found
}

/// What the bodies of an operation may write, by the text alone; none stands for anything.
pub(crate) fn written_inside(module: &Module, op: OpId, facts: &Facts) -> Option<BTreeSet<u128>> {
    let all: Option<Vec<_>> = module.op_regions(op).iter().map(|region| written_in(module, *region, facts)).collect();
    Some(all?.into_iter().flatten().collect())
}

/// What one body may write.
pub(crate) fn written_in(module: &Module, region: RegionId, facts: &Facts) -> Option<BTreeSet<u128>> {
    let mut written = BTreeSet::new();
    let roots = module.blocks(region).iter().flat_map(|block| module.block_ops(*block));
    for inner in roots.flat_map(|root| std::iter::once(root).chain(module.walk(root))) {
        let row =
            facts.of(module.op_name(inner), module.data_operands(inner).count(), module.data_results(inner).len());
        for (resource, access) in of_static(module, inner, row, facts) {
            match resource {
                Resolved::Named(resource) if access == Access::Write => drop(written.insert(resource)),
                Resolved::Named(_) => {}
                Resolved::All | Resolved::Buffer(_) => return None,
            }
        }
    }
    Some(written)
}

/// Effects of an operation of a callee; none stands for anything. Buffers that it makes itself are its own affair.
fn of_body_op(
    module: &Module,
    op: OpId,
    row: &OpFacts,
    facts: &Facts,
    names: &mut BTreeMap<u128, String>,
) -> Vec<(Option<u128>, Access)> {
    let mut found = Vec::new();
    for effect in &row.effects {
        let resource = match &effect.resource {
            Resource::Attr(key) => match by_attr(module, op, key, names) {
                Resolved::Named(resource) => Some(resource),
                _ => None,
            },
            Resource::Handle(at) => module.data_operands(op).nth(*at).and_then(|value| {
                let def = module.defining_op(value)?;
                let row = facts.of(module.op_name(def), module.data_operands(def).count(), 1);
                (row.role == Role::Handle).then(|| crate::eval::handle_name(module, def, row))
            }),
            other => fixed(other).map(|(resource, _)| resource),
        };
        found.push((resource, effect.access));
    }
    found
}
