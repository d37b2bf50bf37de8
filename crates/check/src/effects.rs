//! Which resources an operation touches, by the facts; of a call by symbol, what its callees may touch.

use crate::calls::Calls;
use crate::eval::variable;
use crate::hash::Mix;
use crate::rope::Rope;
use neap_ir::facts::{Access, Facts, OpFacts, Resource, Role, Run};
use neap_ir::{Attr, Module, OpId, RegionId, Type, ValueId};
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
            Resource::Outs => {
                // Without segments any operand may be one.
                let list = outs(module, op).map_or(values, |range| values.get(range).unwrap_or_default());
                let buffers = list.iter().filter(|value| is_buffer(module, **value));
                buffers.for_each(|value| add(Resolved::Buffer(*value)));
            }
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

/// The facts of an operation.
pub(crate) fn row<'f>(module: &Module, op: OpId, facts: &'f Facts) -> &'f OpFacts {
    facts.of(module.op_name(op), module.data_operand_count(op), module.data_results(op).len())
}

/// Effects of an operation by the text alone: of a handle that no operation of the function makes, and of buffers, anything.
pub(crate) fn of_static(calls: &Calls<'_>, op: OpId, row: &OpFacts) -> Vec<(Resolved, Access)> {
    let (module, facts) = (calls.module, calls.facts);
    let mut names = BTreeMap::new();
    let by_symbol = row.body.run != Run::None && module.op_regions(op).is_empty();
    let mut found: Vec<(Resolved, Access)> = match by_symbol {
        true => calls.touched_by(op, &mut names).into_iter().map(|t| (t.resource, t.access)).collect(),
        false => Vec::new(),
    };
    for (resource, access) in of_body_op(module, op, row, facts, &mut names) {
        found.push((resource.map_or(Resolved::All, Resolved::Named), access));
    }
    found
}

/// What the bodies of an operation may write, by the text alone; none stands for anything.
pub(crate) fn written_inside(calls: &Calls<'_>, op: OpId) -> Option<BTreeSet<u128>> {
    let regions = calls.module.op_regions(op).iter();
    let all: Option<Vec<_>> = regions.map(|region| written_in(calls, *region)).collect();
    Some(all?.into_iter().flatten().collect())
}

/// What one body may write.
pub(crate) fn written_in(calls: &Calls<'_>, region: RegionId) -> Option<BTreeSet<u128>> {
    let module = calls.module;
    let mut written = BTreeSet::new();
    let roots = module.blocks(region).iter().flat_map(|block| module.block_ops(*block));
    for inner in roots.flat_map(|root| std::iter::once(root).chain(module.walk(root))) {
        for (resource, access) in of_static(calls, inner, row(module, inner, calls.facts)) {
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
pub(crate) fn of_body_op(
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
            Resource::Handle(at) => module.data_operand(op, *at).and_then(|value| {
                let def = module.defining_op(value)?;
                let row = facts.of(module.op_name(def), module.data_operand_count(def), 1);
                (row.role == Role::Handle).then(|| crate::eval::handle_name(module, def, row))
            }),
            other => fixed(other).map(|(resource, _)| resource),
        };
        found.push((resource, effect.access));
    }
    found
}
