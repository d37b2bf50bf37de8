//! `--trace-steps`: what is born, what dies and what lives at each step, and the bytes, as text that a person follows.
//!
//! Half-open steps: what is born at a step is there while its operation runs, and what dies at it is still there, since operands and results of an
//! operation exist at the same time. The bytes of a step are those of all that lives in it.

use crate::size::grouped;
use crate::summary::{Function, Storage, Summary, shown};
use std::fmt::Write;

/// More than this many storages of a step are counted, not named.
const NAMED: usize = 12;

/// The log of all functions.
pub fn text(summary: &Summary) -> String {
    summary.functions.iter().map(function).collect()
}

fn function(function: &Function) -> String {
    let ops = function.graph.as_ref().map(|graph| graph.ops.as_slice()).unwrap_or_default();
    let held = function.graph.as_ref().map(|graph| graph.after.as_slice()).unwrap_or_default();
    let peak = function.peak_step.as_ref().map_or(String::new(), |peak| format!(" at step {}", peak.step));
    let mut out =
        format!("steps of @{}: peak {} B{peak}\n", shown(&function.name, 60), grouped(function.plan.peak.into()));
    let mut events = Events::new(function, ops.len());
    let mut alive: Vec<&Storage> = Vec::new();
    for (step, op) in ops.iter().enumerate() {
        let born = std::mem::take(&mut events.born[step]);
        alive.extend(&born);
        let name = if op.name.is_empty() { op.kind.clone() } else { format!("{} ({})", op.kind, op.name) };
        let bytes = held.get(step).copied().unwrap_or(0);
        let mark =
            if function.peak_step.as_ref().is_some_and(|peak| peak.step as usize == step) { "  <- peak" } else { "" };
        let _ = writeln!(out, "step {step}  {}: {} B{mark}", shown(&name, 80), grouped(bytes.into()));
        let end = step as u32 + 1;
        let (died, lives): (Vec<&Storage>, Vec<&Storage>) = alive.iter().partition(|storage| storage.live[1] == end);
        for (label, list) in [("born", &born), ("lives", &alive), ("died", &died)] {
            let _ = writeln!(out, "  {label:<6} {}", listed(list));
        }
        alive = lives;
    }
    out
}

/// Storages by the step at which they begin.
struct Events<'a> {
    born: Vec<Vec<&'a Storage>>,
}

impl<'a> Events<'a> {
    fn new(function: &'a Function, steps: usize) -> Events<'a> {
        let mut born = vec![Vec::new(); steps];
        // State outlives the run and is in no arena.
        for storage in function.storages.iter().filter(|storage| storage.offset.is_some()) {
            if let Some(list) = born.get_mut(storage.live[0] as usize) {
                list.push(storage);
            }
        }
        Events { born }
    }
}

/// Names with bytes, and what they are together.
fn listed(storages: &[&Storage]) -> String {
    if storages.is_empty() {
        return "-".to_owned();
    }
    let name = |storage: &Storage| match storage.names.as_slice() {
        [] => "scratch".to_owned(),
        names => names.iter().map(|name| shown(name, 40)).collect::<Vec<_>>().join(" = "),
    };
    let bytes = |list: &[&Storage]| grouped(list.iter().map(|storage| i128::from(storage.size)).sum());
    let named =
        storages.iter().take(NAMED).map(|storage| format!("{} {}", name(storage), grouped(storage.size.into())));
    let mut parts: Vec<String> = named.collect();
    if storages.len() > NAMED {
        parts.push(format!("{} others {}", storages.len() - NAMED, bytes(&storages[NAMED..])));
    }
    parts.join(", ")
}
