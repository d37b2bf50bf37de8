//! What a module needs of each arena, where it has several: they are memories apart, and what one does not use is of no use to another.

use super::{Function, Summary};
use crate::size::grouped;
use serde::Serialize;

/// Bytes of one of several arenas.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Need {
    /// The arena, without `@`.
    pub name: String,
    /// Bytes of it.
    pub bytes: u64,
}

/// Bytes of the arena that a module needs, of several all together: its functions run one at a time, so the largest counts, unless each has an
/// arena of its own.
pub fn arena(summary: &Summary, own_arenas: bool) -> u64 {
    let needs = needs(&summary.functions, own_arenas);
    let all = summary.functions.iter().map(|function| function.plan.arena);
    match needs.is_empty() {
        true if own_arenas => all.fold(0, u64::saturating_add),
        true => all.max().unwrap_or(0),
        false => total(&needs),
    }
}

/// What functions need of each of several arenas; nothing where there is one alone.
pub fn needs(functions: &[Function], own_arenas: bool) -> Vec<Need> {
    let used = |function: &Function| -> Vec<Need> {
        function.arenas.iter().map(|arena| Need { name: arena.name.clone(), bytes: arena.used }).collect()
    };
    let join = if own_arenas { u64::saturating_add } else { u64::max };
    let needs = joined(functions.iter().map(used), join);
    if needs.len() > 1 { needs } else { Vec::new() }
}

/// Arena by arena, in the order in which they are first named.
pub fn joined(all: impl Iterator<Item = Vec<Need>>, join: impl Fn(u64, u64) -> u64) -> Vec<Need> {
    let mut found: Vec<Need> = Vec::new();
    for need in all.flatten() {
        match found.iter_mut().find(|other| other.name == need.name) {
            Some(other) => other.bytes = join(other.bytes, need.bytes),
            None => found.push(need),
        }
    }
    found
}

/// All arenas together.
pub fn total(needs: &[Need]) -> u64 {
    needs.iter().map(|need| need.bytes).fold(0, u64::saturating_add)
}

/// The arenas as a person reads them, each with the limit that it has.
pub(crate) fn listed<'a>(needs: impl ExactSizeIterator<Item = (&'a str, u64, Option<u64>)>) -> String {
    const MOST: usize = 4;
    let rest = needs.len().saturating_sub(MOST);
    let one = |(name, used, limit): (&str, u64, Option<u64>)| {
        let of = limit.map_or_else(String::new, |limit| format!(" of {}", grouped(limit.into())));
        format!("@{} {} B{of}", super::shown(name, 20), grouped(used.into()))
    };
    let named: Vec<String> = needs.take(MOST).map(one).collect();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    named.join(", ") + &more
}
