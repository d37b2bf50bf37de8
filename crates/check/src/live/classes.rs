//! Exclusive classes: at most so many live storages of each.

use super::Storage;
use crate::exec::raw;
use crate::homes::Homes;
use crate::names;
use crate::violation::Violation;
use neap_ir::{Attr, ValueId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Storages (or values without one) of each class, with their ranges and a value to name.
type Members<'m> = BTreeMap<(&'m str, Result<usize, usize>), ((u32, u32), ValueId)>;

/// At most so many live storages of a class. Values without bytes count too.
pub(super) fn check(
    homes: &Homes<'_>,
    ranges: &FxHashMap<ValueId, (u32, u32)>,
    storages: &[Storage],
    of: &FxHashMap<ValueId, usize>,
    out: &mut Vec<Violation>,
) {
    let m = homes.module;
    let declared = m.declared("neap.class").iter().copied();
    let limits: BTreeMap<&str, u64> = declared
        .filter_map(|op| Some((m.sym_name(op)?, u64::try_from(m.attr(op, "limit")?.as_i64()?).ok()?)))
        .collect();
    if limits.is_empty() {
        return;
    }
    // Per class and storage (or value without one): the union of its members' ranges.
    let mut members = Members::new();
    let joined = joined(homes, ranges, of);
    for op in m.walk(homes.func) {
        let Some(Attr::Array(list)) = m.attr(op, "neap.class") else { continue };
        for (value, class) in m.data_results(op).iter().zip(list) {
            let Some((class, _)) = class.as_str().and_then(|class| limits.get_key_value(class)) else { continue };
            let root = homes.root(*value);
            let Some(own) = ranges.get(&root) else { continue };
            let owner = joined.get(&root).copied().unwrap_or(root);
            // A storage is of the class of each of its values, for its whole life.
            let storage = of.get(&owner).copied();
            let range = storage.map_or(*own, |at| (storages[at].begin, storages[at].end));
            let (known, _) = members.entry((class, storage.ok_or(raw(owner)))).or_insert((range, *value));
            *known = (known.0.min(range.0), known.1.max(range.1));
        }
    }
    for (class, limit) in limits {
        let of_class: Vec<_> =
            members.iter().filter(|((name, _), _)| *name == class).map(|(_, member)| member).collect();
        let mut events: Vec<(u32, i64)> = Vec::new();
        for ((begin, end), _) in &of_class {
            events.extend([(*begin, 1), (*end.max(&(begin + 1)), -1)]);
        }
        events.sort_unstable();
        let mut live = 0i64;
        for (step, change) in events {
            live += change;
            if live > limit as i64 {
                let at = |((begin, end), _): &&&((u32, u32), ValueId)| *begin <= step && step < *end.max(&(begin + 1));
                let values = of_class.iter().filter(at).map(|(_, value)| names::value(m, *value)).collect();
                let (function, span) = (homes.function(), m.op(homes.func).span);
                out.push(Violation::Class { function, class: class.to_owned(), limit, step, values, span });
                break;
            }
        }
    }
}

/// Values without bytes that take the place of one that nothing reads any more, by the first in the row: no byte tells them apart, so that the operand ends
/// at the operation is looked up here.
fn joined(
    homes: &Homes<'_>,
    ranges: &FxHashMap<ValueId, (u32, u32)>,
    of: &FxHashMap<ValueId, usize>,
) -> FxHashMap<ValueId, ValueId> {
    let m = homes.module;
    let mut joined: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for op in m.walk(homes.func) {
        for pair in m.in_places(op, neap_ir::plan::INPLACE) {
            let result = m.data_results(op).get(pair.result as usize).map(|value| homes.root(*value));
            let operand = m.data_operand(op, pair.operand as usize).map(|value| homes.root(value));
            let (Some(result), Some(operand)) = (result, operand) else { continue };
            let (Some(new), Some(old)) = (ranges.get(&result), ranges.get(&operand)) else { continue };
            if old.1 <= new.0 + 1 && !of.contains_key(&result) && !of.contains_key(&operand) {
                let first = joined.get(&operand).copied().unwrap_or(operand);
                joined.insert(result, first);
            }
        }
    }
    joined
}
