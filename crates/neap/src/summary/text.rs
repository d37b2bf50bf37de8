//! The summary that a person reads: a dozen lines at most, the largest function in detail, the others in one line.

use super::needs::listed;
use super::next::next;
use super::{Check, Function, Price, Proof, ProofBy, SearchEnd, Summary};
use crate::size::{grouped, human};
use std::fmt::Write;

/// No summary is longer.
const LINES: usize = 12;

/// The summary as text. `bold` marks what the eye should find first.
pub fn text(summary: &Summary, bold: bool) -> String {
    let Some(function) = summary.functions.iter().rev().max_by_key(|function| function.plan.arena) else {
        return format!("{}: no function with a body\n", summary.input);
    };
    let mut lines = vec![head(summary, function, bold), arena(function, bold), floor(function)];
    lines.push(saved(function));
    let mut tail = vec![besides(summary, function)];
    tail.extend(unknown(function));
    tail.extend(excluded(function));
    tail.extend(recomputed(function));
    tail.extend(prices(function));
    tail.extend(orders(function));
    tail.extend(others(summary, function));
    tail.extend(freer(function));
    tail.push(row("next", &next(function)));
    lines.extend(peak(function, LINES.saturating_sub(lines.len() + tail.len())));
    lines.extend(tail);
    debug_assert!(lines.len() <= LINES);
    lines.join("\n") + "\n"
}

/// A line with its label.
fn row(label: &str, text: &str) -> String {
    format!("  {label:<9} {text}")
}

fn head(summary: &Summary, function: &Function, bold: bool) -> String {
    let checked = match summary.check {
        Check::Passed => "checked",
        Check::Skipped => "NOT CHECKED",
    };
    let name = strong(&shown(&function.name, 40), bold);
    format!("{}: @{name}, {} ops, profile {}, {checked}", summary.input, grouped(function.ops.into()), summary.profile)
}

fn arena(function: &Function, bold: bool) -> String {
    let (now, before) = (function.plan.arena, function.source.peak);
    let size = strong(&format!("{} B", grouped(now.into())), bold);
    let mut text = if now >= 1024 { format!("{size} ({})", human(now)) } else { size };
    if function.arenas.len() > 1 {
        let each = function.arenas.iter().map(|arena| (arena.name.as_str(), arena.used, arena.capacity));
        let _ = write!(text, " in {} arenas: {}", function.arenas.len(), listed(each));
    }
    if !function.excluded.is_empty() {
        // What is left out is left out on both sides: a ratio of the rest says nothing of the model.
        text.push_str(" for what has a known size; the rest is not in any figure here");
    } else if before > 0 {
        let share = (now as f64 - before as f64) / before as f64 * 100.0;
        let change = match now.cmp(&before) {
            std::cmp::Ordering::Less => format!("{:.1} % less", -share),
            std::cmp::Ordering::Equal => "the same".to_owned(),
            std::cmp::Ordering::Greater => format!("{share:.1} % more"),
        };
        let _ = write!(text, "; as given, nothing shared: {} live bytes, now {change}", grouped(before.into()));
    }
    row("arena", &text)
}

/// What the runtime's own order needs, where it has one.
fn orders(function: &Function) -> Option<String> {
    let peaks = function.runtime_order?;
    let own = |bytes: u64| grouped(bytes.into());
    let needs = if peaks.needs_priority { "the plan's needs PRIORITY_BASED" } else { "no option is needed" };
    let text = format!(
        "in the order that the runtime chooses by itself: {} B as given, {} B as written; in the plan's {} B; {needs}",
        own(peaks.as_given),
        own(peaks.as_written),
        own(peaks.plan)
    );
    Some(row("orders", &text))
}

/// Floor, gap, and what the proof is about.
fn floor(function: &Function) -> String {
    let plan = &function.plan;
    let bound = grouped(plan.lower_bound.into());
    let by = match plan.proof_by {
        Some(ProofBy::Flow) => "by a flow",
        Some(ProofBy::Search) => "by search",
        Some(ProofBy::Tree) => "by the tree algorithm",
        None => "by a bound",
    };
    let mut text = match plan.order_proof {
        Proof::Optimal => {
            format!("{bound} B, and the plan's peak is there: proved {by} for the graph after fusion and views")
        }
        Proof::Gap => {
            let above = percent(plan.peak - plan.lower_bound.min(plan.peak), plan.lower_bound);
            format!(
                "{bound} B; the plan's peak is {} B, {above} above, for the graph after fusion and views",
                grouped(plan.peak.into())
            )
        }
        Proof::None => {
            format!("not known: no bound on other orders; this one's peak is {} B", grouped(plan.peak.into()))
        }
    };
    let lost = plan.arena.saturating_sub(plan.peak);
    if lost > 0 {
        let _ = write!(text, "; {} B lost between storages", grouped(lost.into()));
    }
    if plan.time_limit_hit {
        text.push_str("; the time limit was hit");
    }
    row("floor", &text)
}

fn percent(part: u64, of: u64) -> String {
    if of == 0 { "infinitely".to_owned() } else { format!("{:.1} %", part as f64 / of as f64 * 100.0) }
}

fn saved(function: &Function) -> String {
    let parts = function.saved.parts();
    let text: Vec<String> = parts
        .iter()
        .filter(|(_, bytes)| *bytes != 0)
        .map(|(name, bytes)| format!("{name} {}", grouped((*bytes).into())))
        .collect();
    let total: i128 = parts.iter().map(|(_, bytes)| i128::from(*bytes)).sum();
    if text.is_empty() {
        // A budget ends the search at the first order that fits.
        let why = if function.plan.least_peak.is_some() {
            "nothing: the runtime's own packer needs as much for the better orders that were found, and nothing was shared"
        } else if function.plan.search_end == SearchEnd::Budget {
            "nothing: the given order is within the budget, where the search ended, and nothing was shared"
        } else if function.plan.lower_bound < function.plan.peak {
            "nothing: no better order was found than the given one, and nothing was shared"
        } else {
            "nothing: the given order is as good, and nothing could be shared"
        };
        return row("saved", why);
    }
    row("saved", &format!("{} B: {}", grouped(total), text.join(", ")))
}

/// What the peak is made of, in at most `room` lines.
fn peak(function: &Function, room: usize) -> Vec<String> {
    let Some(peak) = &function.peak_step else { return Vec::new() };
    let bytes = grouped(function.plan.peak.into());
    let mut lines =
        vec![row("peak", &format!("{bytes} B at step {} of {}, {}:", peak.step, function.ops, op(&peak.op)))];
    if room < 2 {
        lines.truncate(room);
        return lines;
    }
    let held: Vec<_> = peak.storages.iter().filter_map(|id| function.storages.get(*id as usize)).collect();
    let all = held.len() <= room.saturating_sub(1);
    let listed = if all { held.len() } else { room.saturating_sub(2) };
    for storage in &held[..listed] {
        let name = storage.names.first().or(storage.values.first()).unwrap_or(&storage.op);
        let more = storage.names.len().saturating_sub(1);
        let more = if more == 0 { String::new() } else { format!(" and {more} more in the same bytes") };
        lines.push(row(
            "",
            &format!(
                "{:>14} B {:>4.0} % {}{more}",
                grouped(storage.size.into()),
                share(storage.size, function),
                shown(name, 60)
            ),
        ));
    }
    if !all {
        let rest: u64 = held[listed..].iter().map(|storage| storage.size).sum();
        lines.push(row(
            "",
            &format!(
                "{:>14} B {:>4.0} % in {} others",
                grouped(rest.into()),
                share(rest, function),
                held.len() - listed
            ),
        ));
    }
    lines
}

/// What an operation is, and its name shortened.
fn op(name: &str) -> String {
    match name.split_once(" (") {
        Some((kind, rest)) => format!("{} ({})", shown(kind, 40), shown(rest.trim_end_matches(')'), 50)),
        None => shown(name, 60),
    }
}

fn share(bytes: u64, function: &Function) -> f64 {
    bytes as f64 / function.plan.peak.max(1) as f64 * 100.0
}

fn besides(summary: &Summary, function: &Function) -> String {
    let bytes = &function.bytes;
    let listed = [
        ("constants", bytes.constants),
        ("state", bytes.state),
        ("the caller's arguments and results", bytes.external),
    ];
    let mut parts: Vec<String> = listed
        .iter()
        .filter(|(_, bytes)| *bytes > 0)
        .map(|(name, bytes)| format!("{name} {}", human(*bytes)))
        .collect();
    parts.extend(summary.not_included.iter().map(|what| shown(what, 60)));
    let text =
        if parts.is_empty() { "nothing: all bytes of a run are in the figure".to_owned() } else { parts.join(", ") };
    row("besides", &format!("not included: {text}"))
}

fn unknown(function: &Function) -> Option<String> {
    if function.unknown_ops.is_empty() {
        return None;
    }
    let mut ops: Vec<_> = function.unknown_ops.iter().collect();
    ops.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
    let named: Vec<String> = ops.iter().take(3).map(|(name, count)| format!("{count} x {}", shown(name, 40))).collect();
    let more = if ops.len() > 3 { format!(" and {} more kinds", ops.len() - 3) } else { String::new() };
    let bytes: u64 = function.unknown_bytes.values().sum();
    Some(row(
        "unknown",
        &format!("{}{more}: nothing of their {} B may be shared or moved", named.join(", "), grouped(bytes.into())),
    ))
}

fn excluded(function: &Function) -> Option<String> {
    let (first, rest) = function.excluded.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    Some(row(
        "left out",
        &format!("no known size, no bytes in the plan: {}{more}; all of them: --summary=full", shown(first, 40)),
    ))
}

/// What the values cost that the user wants to read, or wants elsewhere.
fn prices(function: &Function) -> Option<String> {
    let unpriced = match function.unpriced {
        0 => None,
        1 => Some("1 flag of the run is not priced".to_owned()),
        count => Some(format!("{} flags of the run are not priced", grouped(count.into()))),
    };
    let Some((first, rest)) = function.prices.split_first() else {
        return unpriced.map(|unpriced| row("prices", &unpriced));
    };
    let one = |price: &Price| {
        let (name, bytes) = (shown(&price.value, 40), grouped(price.bytes.unsigned_abs().into()));
        let verb = if price.bytes < 0 { "saves" } else { "costs" };
        let least = if price.exact || price.bytes < 0 { "" } else { "at least " };
        format!("--{} {name} {verb} {least}{bytes} B", price.flag)
    };
    let listed: Vec<String> = std::iter::once(first).chain(rest.iter().take(3)).map(one).collect();
    let more = if rest.len() > 3 { format!(" and {} more", rest.len() - 3) } else { String::new() };
    let unpriced = unpriced.map_or_else(String::new, |unpriced| format!("; {unpriced}"));
    Some(row("prices", &format!("{}{more}{unpriced}", listed.join(", "))))
}

/// What is computed again, at what price.
fn recomputed(function: &Function) -> Option<String> {
    let again = function.recomputed.as_ref()?;
    let Some((first, rest)) = again.values.split_first() else {
        return Some(row("again", "nothing is computed again: it is not needed, or does not help"));
    };
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let text = format!(
        "{} ({} B){more} computed again: {} {} more, {}",
        shown(&first.value, 40),
        grouped(first.bytes.into()),
        grouped(again.extra.into()),
        again.unit,
        percent(again.extra, again.work)
    );
    Some(row("again", &text))
}

fn others(summary: &Summary, function: &Function) -> Option<String> {
    let others: Vec<&Function> = summary.functions.iter().filter(|other| !std::ptr::eq(*other, function)).collect();
    if others.is_empty() {
        return None;
    }
    let named: Vec<String> = others
        .iter()
        .take(4)
        .map(|other| format!("@{} {} B", shown(&other.name, 30), grouped(other.plan.arena.into())))
        .collect();
    let more = if others.len() > 4 { format!(" and {} more", others.len() - 4) } else { String::new() };
    Some(row("also", &format!("{}{more}", named.join(", "))))
}

fn freer(function: &Function) -> Option<String> {
    let freer = function.freer.filter(|freer| *freer < function.plan.arena)?;
    let less = percent(function.plan.arena - freer, function.plan.arena);
    let text =
        format!("{} B, {less} less, where every kind of sharing is possible: --profile none", grouped(freer.into()));
    Some(row("freer", &text))
}

/// A name as it may stand in a line of a terminal: no control characters, not longer than `most`.
pub(crate) fn shown(name: &str, most: usize) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    if name.chars().count() <= most {
        return name.chars().map(clean).collect();
    }
    // The end of a model's names says more than the start.
    let skip = name.chars().count() - (most - 2);
    "..".chars().chain(name.chars().skip(skip).map(clean)).collect()
}

fn strong(text: &str, bold: bool) -> String {
    if bold { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}
