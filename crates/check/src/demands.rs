//! What the source asks of a plan beyond meaning: scratch, alignment, classes, pinned offsets, sizes, whose memory it is.
//!
//! A plan that lost such an attribute would pass every other rule, so they are compared: of operations by the name of their use, of
//! arguments and results by position, of declared arenas, classes and variables by symbol. Scratch that a plan adds for a callee's arena
//! (`neap.callee_bytes`) is taken off first. A fused operation answers for its members.

use crate::canon::Canon;
use crate::exec::Outcome;
use crate::hash::Mix;
use crate::names;
use crate::violation::Violation;
use neap_ir::{Attr, Module, Name, OpId, plan};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Attributes of operations that a plan must keep.
const OF_OPS: &[&str] =
    &["neap.align", "neap.bytes", "neap.class", "neap.dims", "neap.group", "neap.pin", "neap.resident", "neap.scratch"];
/// Attributes of arguments and results that a plan writes.
const OF_PLAN: &[&str] = &[plan::OFFSET, plan::ARENA];

/// The demands of one operation: attribute and the hash of its value, sorted by attribute.
pub(crate) type Demands = Vec<(&'static str, u128)>;

/// Demands by the name of a use; equal uses may ask differently, and each may be answered.
pub(crate) type ByUse = FxHashMap<u128, Vec<Demands>>;

/// What an operation asks.
pub(crate) fn of(module: &Module, canon: &Canon<'_>, op: OpId) -> Demands {
    let props = module.props(op).map_or(&[][..], Vec::as_slice);
    let mut found = Demands::new();
    for (key, value) in module.attrs(op).iter().chain(props) {
        let key = module.text(*key);
        if !key.starts_with("neap.") {
            continue;
        }
        let Some(key) = OF_OPS.iter().find(|known| **known == key) else { continue };
        let mut mix = Mix::new("demand");
        if *key == plan::SCRATCH {
            let own = own_scratch(module, op);
            if own == 0 {
                continue;
            }
            mix.word(own);
        } else {
            canon.attr(&mut mix, value);
        }
        found.push((key, mix.done()));
    }
    found.sort_unstable();
    found
}

/// Scratch without what a plan added for callees.
pub(crate) fn own_scratch(module: &Module, op: OpId) -> u64 {
    let callee = module.attr(op, plan::CALLEE_BYTES).and_then(Attr::as_i64).unwrap_or(0);
    module.scratch_bytes(op).saturating_sub(callee.max(0) as u64)
}

/// Compares the demands of operations that both sides have, and those of fused operations with their members'.
pub(crate) fn compare(source: &Outcome, planned: &Outcome, module: &Module, func: OpId, out: &mut Vec<Violation>) {
    let mut changed = |op: OpId, attribute: &'static str| {
        let function = names::func(module, func);
        out.push(Violation::Demand { function, what: names::op(module, op), attribute, span: module.op(op).span });
    };
    for (op, key, demands) in &planned.asked {
        match source.demands.get(key) {
            Some(list) if list.contains(demands) => {}
            Some(list) => changed(*op, difference(&list[0], demands)),
            None if demands.iter().any(|(key, _)| *key == "neap.resident") => changed(*op, "neap.resident"),
            None => {}
        }
    }
    let fused = planned.trace.iter().map(|(op, _)| *op).filter(|op| module.op_name(*op) == "neap.fused");
    for op in fused {
        if let Some(attribute) = members(module, op) {
            changed(op, attribute);
        }
    }
}

fn difference(want: &Demands, found: &Demands) -> &'static str {
    let missing = want.iter().find(|one| !found.contains(one));
    missing.or_else(|| found.iter().find(|one| !want.contains(one))).map_or("neap.bytes", |(key, _)| key)
}

/// The first demand of a member that its fused operation does not meet.
fn members(module: &Module, op: OpId) -> Option<&'static str> {
    let number = |op: OpId, key: &str| module.attr(op, key).and_then(Attr::as_i64).unwrap_or(0);
    let body = module.entry(op)?;
    for member in module.block_ops(body) {
        if module.scratch_bytes(member) > module.scratch_bytes(op) {
            return Some(plan::SCRATCH);
        }
        let (inner, outer) = (number(member, plan::ALIGN).max(1), number(op, plan::ALIGN).max(1));
        if outer % inner != 0 {
            return Some(plan::ALIGN);
        }
    }
    let last = module.terminator(body)?;
    for (value, result) in module.data_operands(last).zip(module.data_results(op)) {
        if module.value_bytes(value) != module.value_bytes(*result) {
            return Some("neap.bytes");
        }
    }
    None
}

/// Compares what both modules declare, and what their functions say of arguments and results.
pub(crate) fn declared(source: &Module, planned: &Module, pairs: &[(OpId, OpId)], out: &mut Vec<Violation>) {
    let (want, found) = (symbols(source), symbols(planned));
    for (name, (hash, op)) in &want {
        if found.get(name).map(|(hash, _)| hash) != Some(hash) {
            let (function, what) = ("the module".to_owned(), format!("@{name}"));
            out.push(Violation::Demand { function, what, attribute: "sym_name", span: source.op(*op).span });
        }
    }
    for (name, (_, op)) in found.iter().filter(|(name, _)| !want.contains_key(*name)) {
        let (function, what) = ("the module".to_owned(), format!("@{name}"));
        out.push(Violation::Demand { function, what, attribute: "sym_name", span: planned.op(*op).span });
    }
    let bounds = |module: &Module| {
        let mut mix = Mix::new("bounds");
        Canon::new(module).optional(&mut mix, module.attr(module.top(), "neap.bounds"));
        mix.done()
    };
    if bounds(source) != bounds(planned) {
        let (function, what, span) = ("the module".to_owned(), "a bound".to_owned(), planned.op(planned.top()).span);
        out.push(Violation::Demand { function, what, attribute: "neap.bounds", span });
    }
    for (from, to) in pairs {
        for (list, what) in [("arg_attrs", "argument"), ("res_attrs", "result")] {
            if let Some(index) = differing(source, *from, planned, *to, list) {
                let (function, span) = (names::func(planned, *to), planned.op(*to).span);
                out.push(Violation::Demand { function, what: format!("{what} {index}"), attribute: list, span });
            }
        }
    }
}

/// Declarations of arenas, classes and variables, by symbol.
fn symbols(module: &Module) -> BTreeMap<String, (u128, OpId)> {
    let mut found = BTreeMap::new();
    let canon = Canon::new(module);
    for op in module.block_ops(module.body()) {
        if !matches!(module.op_name(op), "neap.arena" | "neap.class" | "neap.var") {
            continue;
        }
        let mut mix = Mix::new("declaration");
        canon.op(&mut mix, op);
        found.insert(module.sym_name(op).unwrap_or_default().to_owned(), (mix.done(), op));
    }
    found
}

/// The first argument or result of which the two functions say something different.
fn differing(source: &Module, from: OpId, planned: &Module, to: OpId, list: &str) -> Option<usize> {
    let hashes = |module: &Module, func: OpId| -> Vec<u128> {
        let Some(Attr::Array(dicts)) = module.attr(func, list) else { return Vec::new() };
        let canon = Canon::new(module);
        let hash = |dict: &Attr| {
            let mut mix = Mix::new("argument");
            let Attr::Dict(items) = dict else { return mix.done() };
            let said = |(key, _): &&(Name, Attr)| {
                let key = module.text(*key);
                key.starts_with("neap.") && !OF_PLAN.contains(&key) && key != "neap.name"
            };
            for (key, value) in items.iter().filter(said) {
                mix.text(module.text(*key));
                canon.attr(&mut mix, value);
            }
            mix.done()
        };
        dicts.iter().map(hash).collect()
    };
    let (want, found) = (hashes(source, from), hashes(planned, to));
    let nothing = Mix::new("argument").done();
    let at = |list: &[u128], index: usize| list.get(index).copied().unwrap_or(nothing);
    (0..want.len().max(found.len())).find(|index| at(&want, *index) != at(&found, *index))
}
