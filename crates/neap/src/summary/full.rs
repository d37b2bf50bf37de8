//! The whole summary as text: the dozen lines, charts, then every function's arenas and storages, then what each pass counted.

use super::chart::charts;
use super::text::{shown, text};
use super::{Function, Look, Storage, Summary};
use crate::size::grouped;
use std::fmt::Write;

/// The summary with all storages.
pub fn full(summary: &Summary, look: Look) -> String {
    let mut out = text(summary, look.colour);
    summary.functions.iter().for_each(|function| out += &charts(function, look));
    for function in &summary.functions {
        let _ = writeln!(out, "\n@{}, fingerprint {}", shown(&function.name, 60), function.fingerprint);
        arenas(function, &mut out);
        storages(function, &mut out);
    }
    if !summary.passes.is_empty() {
        out.push_str("\npasses\n");
    }
    for pass in &summary.passes {
        let stats: Vec<String> = pass.stats.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let changed = if pass.changed { "" } else { " (unchanged)" };
        let _ = writeln!(out, "  {} on @{}{changed}: {}", pass.name, shown(&pass.function, 40), stats.join(", "));
    }
    out
}

fn arenas(function: &Function, out: &mut String) {
    for arena in &function.arenas {
        let capacity = arena.capacity.map_or("no limit".to_owned(), |bytes| format!("of {} B", grouped(bytes.into())));
        let (used, peak) = (grouped(arena.used.into()), grouped(arena.peak.into()));
        let _ = writeln!(out, "  arena @{}: {used} B {capacity}, peak {peak} B, alignment {}", arena.name, arena.align);
    }
    if function.plan.base_align > 1 {
        let _ = writeln!(out, "  an arena needs its base at a multiple of {}", function.plan.base_align);
    }
    let source = &function.source;
    if !source.op.is_empty() {
        let peak = grouped(source.peak.into());
        let _ = writeln!(out, "  as given, the peak is {peak} B at step {}, {}", source.step, shown(&source.op, 80));
    }
    let bytes = &function.bytes;
    let totals = [
        ("constants", bytes.constants),
        ("state", bytes.state),
        ("external", bytes.external),
        ("sum of tensors", bytes.sum_of_tensors),
        ("largest scratch", bytes.scratch_max),
    ];
    let totals: Vec<String> =
        totals.iter().map(|(name, bytes)| format!("{name} {} B", grouped((*bytes).into()))).collect();
    let _ = writeln!(out, "  {}", totals.join(", "));
    for (name, count) in &function.unknown_ops {
        let bytes = function.unknown_bytes.get(name).copied().unwrap_or(0);
        let _ = writeln!(out, "  unknown: {count} x {}, {} B", shown(name, 60), grouped(bytes.into()));
    }
    for name in &function.excluded {
        let _ = writeln!(out, "  left out: {}", shown(name, 60));
    }
}

fn storages(function: &Function, out: &mut String) {
    let _ = writeln!(out, "  {:>5} {:>14} {:>14} {:>11}  {:<9} name", "id", "offset", "size", "live", "kind");
    for storage in &function.storages {
        let offset = storage.offset.map_or("-".to_owned(), |offset| grouped(offset.into()));
        let live = format!("{}..{}", storage.live[0], storage.live[1]);
        let kind = format!("{:?}", storage.kind).to_lowercase();
        let at_peak = function.peak_step.as_ref().is_some_and(|peak| peak.storages.contains(&storage.id));
        let mark = if at_peak { " *" } else { "" };
        let size = grouped(storage.size.into());
        let _ =
            writeln!(out, "  {:>5} {offset:>14} {size:>14} {live:>11}  {kind:<9} {}{mark}", storage.id, name(storage));
    }
    if function.peak_step.is_some() {
        out.push_str("  * held at the peak\n");
    }
}

fn name(storage: &Storage) -> String {
    match storage.names.as_slice() {
        [] => shown(&storage.op, 80),
        names => names.iter().map(|name| shown(name, 60)).collect::<Vec<_>>().join(" = "),
    }
}
