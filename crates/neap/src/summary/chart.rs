//! What the eye takes in of a plan: bars of what the peak holds, the bytes held over the steps before and after, and the ladder of savings.
//!
//! As wide as the terminal, coloured where that is asked for; every bar stands beside its number.

use super::text::shown;
use super::{Function, Kind, Look};
use crate::size::{grouped, human};
use std::fmt::Write;

/// Bars for at most so many storages.
const BARS: usize = 16;
/// Parts of a character.
const EIGHTHS: [char; 8] = [' ', '\u{258f}', '\u{258e}', '\u{258d}', '\u{258c}', '\u{258b}', '\u{258a}', '\u{2589}'];
const FULL: char = '\u{2588}';
const LEVELS: [char; 8] =
    ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];

/// The charts of a function; nothing where nothing was kept for them.
pub(super) fn charts(function: &Function, look: Look) -> String {
    let Some(graph) = &function.graph else { return String::new() };
    let mut out = format!("\n@{}\n", shown(&function.name, 60));
    held(function, look, &mut out);
    let most = graph.before.iter().chain(&graph.after).copied().max().unwrap_or(0);
    let width = look.width.saturating_sub(34).clamp(16, 160);
    let (source, plan) = (&function.source, &function.plan);
    out.push_str("  bytes held over the steps\n");
    for (label, curve, peak, colour) in
        [("before", &graph.before, source.peak, "90"), ("planned", &graph.after, plan.peak, "34")]
    {
        let line = look.paint(colour, &sparkline(curve, most, width));
        let _ = writeln!(out, "    {label:<8} {line} {}", human(peak));
    }
    ladder(function, look, &mut out);
    out
}

fn held(function: &Function, look: Look, out: &mut String) {
    let Some(peak) = &function.peak_step else { return };
    let total = function.plan.peak;
    let _ = writeln!(out, "  the peak holds {} B at step {}", grouped(total.into()), peak.step);
    let bar = (look.width / 7).clamp(8, 32);
    // What is left of the line behind bytes, share and bar goes to operation, shape and value.
    let rest = look.width.saturating_sub(4 + 15 + 6 + bar + 2).max(16);
    let (op, shape) = match rest {
        72.. => (20, 26),
        46.. => (14, 18),
        _ => (0, 0),
    };
    let value = rest.saturating_sub(if op > 0 { op + shape + 4 } else { 0 });
    for id in peak.storages.iter().take(BARS) {
        let Some(storage) = function.storages.get(*id as usize) else { continue };
        let colour = match storage.kind {
            Kind::Argument => "35",
            Kind::Result => "32",
            Kind::Temporary => "34",
            Kind::Scratch => "33",
            Kind::State => "90",
        };
        let drawn = look.paint(colour, &bar_of(storage.size, total, bar));
        let share = storage.size as f64 / total.max(1) as f64 * 100.0;
        let name = storage.names.first().cloned().unwrap_or_else(|| format!("scratch of {}", storage.op));
        let mut line = format!("    {:>13} B {share:>3.0} % {drawn} ", grouped(storage.size.into()));
        if op > 0 {
            let kind = storage.op.split(" (").next().filter(|kind| !kind.is_empty()).unwrap_or("argument");
            let _ = write!(line, "{:<op$}  {:<shape$}  ", shown(kind, op), shown(&storage.ty, shape));
        }
        let _ = writeln!(out, "{line}{}", shown(&name, value.max(8)));
    }
    if let Some(rest) = peak.storages.get(BARS..).filter(|rest| !rest.is_empty()) {
        let sizes = rest.iter().filter_map(|id| function.storages.get(*id as usize)).map(|storage| storage.size);
        let bytes: i128 = sizes.map(i128::from).sum();
        let _ = writeln!(out, "    {:>13} B in {} others", grouped(bytes), rest.len());
    }
}

/// A bar of `width` characters, padded.
fn bar_of(part: u64, whole: u64, width: usize) -> String {
    let eighths = (u128::from(part.min(whole)) * width as u128 * 8).div_ceil(u128::from(whole.max(1))) as usize;
    let mut bar: String = std::iter::repeat_n(FULL, eighths / 8).collect();
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    let drawn = bar.chars().count();
    bar + &" ".repeat(width.saturating_sub(drawn))
}

/// A curve in `width` characters at most: of several steps in one, the most.
fn sparkline(curve: &[u64], most: u64, width: usize) -> String {
    let columns = width.min(curve.len());
    let column = |at: usize| {
        let (from, to) = (at * curve.len() / columns, ((at + 1) * curve.len()).div_ceil(columns));
        let bytes = curve[from..to].iter().copied().max().unwrap_or(0);
        LEVELS[(u128::from(bytes) * 7 / u128::from(most.max(1))) as usize]
    };
    (0..columns).map(column).collect()
}

/// From what was given down to the arena, each saving where it falls.
fn ladder(function: &Function, look: Look, out: &mut String) {
    let (steps, width) = (function.saved.parts(), look.width.saturating_sub(36).clamp(12, 64));
    let mut at = i128::from(function.source.peak);
    let mut top = at.max(function.plan.arena.into());
    for (_, bytes) in steps {
        at -= i128::from(bytes);
        top = top.max(at);
    }
    let place = |bytes: i128| (bytes.max(0) * width as i128 / top.max(1)) as usize;
    let mut row = |label: &str, bytes: String, from: i128, to: i128, colour: &str| {
        let (low, high) = (place(from.min(to)), place(from.max(to)));
        let drawn: String = std::iter::repeat_n(FULL, (high - low).max(1)).collect();
        let _ = writeln!(out, "    {label:<10} {bytes:>15}  {}{}", " ".repeat(low), look.paint(colour, &drawn));
    };
    let own = |bytes: u64| grouped(bytes.into());
    row("as given", own(function.source.peak), 0, function.source.peak.into(), "90");
    at = function.source.peak.into();
    for (label, bytes) in steps.into_iter().filter(|(_, bytes)| *bytes != 0) {
        let next = at - i128::from(bytes);
        let text =
            if bytes > 0 { format!("-{}", grouped(bytes.into())) } else { format!("+{}", grouped(-i128::from(bytes))) };
        row(label, text, next, at, if bytes > 0 { "32" } else { "31" });
        at = next;
    }
    row("arena", own(function.plan.arena), 0, function.plan.arena.into(), "34");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        let drawn = |part: u64| bar_of(part, 800, 10).trim_end().to_owned();
        assert_eq!(drawn(800), "\u{2588}".repeat(10));
        assert_eq!(drawn(400), "\u{2588}".repeat(5));
        assert_eq!(drawn(10), "\u{258f}");
        assert_eq!(drawn(0), "");
        assert_eq!(bar_of(1, 0, 4).chars().count(), 4);
        assert_eq!(bar_of(u64::MAX, u64::MAX, 8), "\u{2588}".repeat(8));
    }

    #[test]
    fn no_peak_is_lost_in_a_sparkline() {
        let mut curve = vec![0u64; 1000];
        curve[777] = 9;
        let line = sparkline(&curve, 9, 40);
        assert_eq!(line.chars().count(), 40);
        assert_eq!(line.chars().position(|level| level == '\u{2588}'), Some(31));
        assert_eq!(sparkline(&[1, 2], 2, 40), "\u{2584}\u{2588}");
        assert_eq!(sparkline(&[], 0, 40), "");
        assert_eq!(sparkline(&[u64::MAX], u64::MAX, 4), "\u{2588}");
    }
}
