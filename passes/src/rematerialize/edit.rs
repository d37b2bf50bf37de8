//! Puts copies of operations before late readers, and takes them out again.

use super::candidates::Candidate;
use neap_ir::{Attr, Module, OpId, ValueId, plan};
use rustc_hash::FxHashMap;

/// A copy and what it is a copy of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Twin {
    pub(super) copy: OpId,
    of: OpId,
}

/// Copies the operations of a candidate and gives its late readers what the copies make. Each copy stands before the first of these readers, or
/// right behind its original where that comes later, so that all it reads is there.
pub(super) fn apply(module: &mut Module, candidate: &Candidate) -> Vec<Twin> {
    let block = candidate.ops.first().and_then(|op| module.parent_block(*op));
    let Some(block) = block else { return Vec::new() };
    let place: FxHashMap<OpId, usize> = module.block_ops(block).enumerate().map(|(at, op)| (op, at)).collect();
    let Some(anchor) = candidate.readers.iter().copied().min_by_key(|op| place.get(op)) else { return Vec::new() };
    let mut made: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let mut twins = Vec::new();
    for op in &candidate.ops {
        let copy = module.copy(*op);
        let reads: Vec<ValueId> =
            module.operands(copy).map(|value| made.get(&value).copied().unwrap_or(value)).collect();
        module.set_operands(copy, &reads);
        if place.get(op) < place.get(&anchor) {
            module.insert_before(anchor, copy);
        } else {
            module.insert_after(*op, copy);
        }
        rename(module, *op, copy);
        let pairs: Vec<_> = module.results(*op).iter().copied().zip(module.results(copy).iter().copied()).collect();
        made.extend(pairs);
        twins.push(Twin { copy, of: *op });
    }
    for usage in &candidate.uses {
        let value = module.operand(usage.op, usage.operand as usize);
        if let Some(new) = made.get(&value) {
            module.set_operand(usage.op, usage.operand as usize, *new);
        }
    }
    twins
}

/// Lets the readers of copies read the originals again, and erases the copies. `later` are all other copies: those of what is
/// erased become copies of its original.
pub(super) fn undo<'t>(module: &mut Module, twins: &[Twin], later: impl Iterator<Item = &'t mut Twin>) {
    let mut now: FxHashMap<OpId, OpId> = FxHashMap::default();
    for twin in twins.iter().rev() {
        let pairs: Vec<_> =
            module.results(twin.copy).iter().copied().zip(module.results(twin.of).iter().copied()).collect();
        pairs.into_iter().for_each(|(copy, original)| module.replace_uses(copy, original));
        module.erase(twin.copy);
        now.insert(twin.copy, twin.of);
    }
    for twin in later {
        while let Some(of) = now.get(&twin.of) {
            twin.of = *of;
        }
    }
}

/// A copy says that it is one, in its names and with `neap.recomputed`: the how many-th of its original.
fn rename(module: &mut Module, op: OpId, copy: OpId) {
    let key = key(module, op);
    let block = module.parent_block(op).map_or(Vec::new(), |block| module.block_ops(block).collect());
    let number = |other: &OpId| module.attr(*other, plan::RECOMPUTED).and_then(Attr::as_i64);
    let twins = block.iter().filter(|other| **other != copy && self::key(module, **other) == key);
    let number = twins.filter_map(number).max().unwrap_or(0).saturating_add(1);
    let suffix = |text: &str| {
        let base = base(text, AGAIN);
        if number == 1 { format!("{base}{AGAIN})") } else { format!("{base}{AGAIN} {number})") }
    };
    if let Some(Attr::Array(names)) = module.attr(op, "neap.names") {
        let renamed = names.iter().map(|name| match name.as_str() {
            Some(text) if !text.is_empty() => Attr::str(&suffix(text)),
            _ => name.clone(),
        });
        let names = Attr::Array(renamed.collect());
        module.set_attr(copy, "neap.names", names);
    }
    let name = module.attr(op, "neap.name").and_then(Attr::as_str).map(|name| Attr::str(&suffix(name)));
    // What `neap.opaque` computes is known by its name alone: it keeps it, and its result has another one.
    let opaque = module.op_name(op) == "neap.opaque";
    let unnamed = module.attr(op, "neap.names").is_none() && module.data_results(op).len() == 1;
    match name {
        Some(name) if opaque && unnamed => module.set_attr(copy, "neap.names", Attr::Array(vec![name])),
        Some(name) if !opaque => module.set_attr(copy, "neap.name", name),
        _ => {}
    }
    for value in module.results(copy).to_vec() {
        let name = module.value(value).name.map(|name| base(module.text(name), AGAIN_SSA).to_owned());
        // A number is no name: printing gives the copy one of its own.
        let name = name.filter(|name| !name.starts_with(|first: char| first.is_ascii_digit()));
        let again = if number == 1 { String::new() } else { number.to_string() };
        let name = name.map(|name| module.intern(&format!("{name}{AGAIN_SSA}{again}")));
        module.set_value_name(value, name);
    }
    let number = module.i64_attr(number);
    module.set_attr(copy, plan::RECOMPUTED, number);
}

/// What an operation and its copies have in common: kind and names. Copies of different operations with one key only count on together.
fn key(module: &Module, op: OpId) -> (String, String, String) {
    let text = |name: Option<&Attr>| name.and_then(Attr::as_str).map(|name| base(name, AGAIN).to_owned());
    let first = match module.attr(op, "neap.names") {
        Some(Attr::Array(names)) => text(names.first()),
        _ => text(module.attr(op, "neap.name")),
    };
    let ssa = module.results(op).first().and_then(|value| module.value(*value).name);
    let ssa = ssa.map(|name| base(module.text(name), AGAIN_SSA).to_owned());
    (module.op_name(op).to_owned(), first.unwrap_or_default(), ssa.unwrap_or_default())
}

fn base<'t>(name: &'t str, again: &str) -> &'t str {
    name.split_once(again).map_or(name, |(base, _)| base)
}

const AGAIN: &str = " (again";
const AGAIN_SSA: &str = "_again";
