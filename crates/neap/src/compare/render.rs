//! A comparison as text, JSON or CSV: the same rows in each.

use super::{Comparison, Row, What};
use crate::exit::Failure;
use crate::size::grouped;
use crate::summary::shown;
use std::fmt::Write;

/// The longest name of a function or a value in the text, in characters, and the longest reason.
const NAME: usize = 70;
const WHY: usize = 90;

/// The longest list in the text; JSON and CSV have all of it.
const LISTED: usize = 12;

/// As JSON.
pub fn json(comparison: &Comparison) -> String {
    let text = serde_json::to_string_pretty(comparison);
    text.unwrap_or_else(|_| unreachable!("plain data has a JSON form")) + "\n"
}

/// As a table, one line per row.
///
/// # Errors
/// None that is known: the table is written to memory.
pub fn csv(comparison: &Comparison) -> Result<String, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| Failure::usage(format!("cannot write the table: {error}"));
    writer.write_record(["function", "what", "name", "old", "new", "delta", "why"]).map_err(failed)?;
    let number = |bytes: Option<u64>| bytes.map_or(String::new(), |bytes| bytes.to_string());
    for row in &comparison.rows {
        let fields = [
            row.function.clone(),
            word(row.what),
            row.name.clone(),
            number(row.old),
            number(row.new),
            row.delta.to_string(),
            row.why.clone(),
        ];
        writer.write_record(fields).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| Failure::usage(format!("cannot write the table: {error}")))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// As JSON and CSV spell it.
fn word(what: What) -> String {
    let value = serde_json::to_value(what).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// As text for people: the figures of each function, then what they are made of.
pub fn text(comparison: &Comparison) -> String {
    let mut out: String = comparison.notes.iter().map(|note| format!("note: {}\n", shown(note, 160))).collect();
    let mut rest = comparison.rows.as_slice();
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|row| row.function == first.function).count();
        function(comparison, &rest[..count], &mut out);
        rest = &rest[count..];
    }
    if comparison.rows.iter().any(is_cut) {
        out += "names that begin with `..` are cut: --format json and csv have all of them\n";
    }
    let limit = &comparison.max_growth;
    let _ = match comparison.grown.as_slice() {
        [] => writeln!(out, "no arena and no state grew by more than {limit}"),
        [one] => writeln!(out, "an arena or the state of @{} grew by more than {limit}", shown(one, NAME)),
        many => {
            let names: Vec<String> = many.iter().map(|name| shown(name, NAME)).collect();
            writeln!(
                out,
                "arenas or state of {} functions grew by more than {limit}: @{}",
                many.len(),
                names.join(", @")
            )
        }
    };
    out
}

/// Whether the text has a part of a row's names or reason only.
fn is_cut(row: &Row) -> bool {
    let longer = |text: &str, most: usize| text.chars().count() > most;
    longer(&row.function, NAME) || longer(&row.name, NAME) || longer(&row.why, WHY)
}

fn signed(delta: i128) -> String {
    if delta > 0 { format!("+{}", grouped(delta)) } else { grouped(delta) }
}

fn bytes(bytes: Option<u64>) -> String {
    bytes.map_or("-".to_owned(), |bytes| grouped(bytes.into()))
}

fn function(comparison: &Comparison, rows: &[Row], out: &mut String) {
    let name = &rows[0].function;
    let mark = if comparison.grown.contains(name) { "  GREW" } else { "" };
    let why = if rows[0].why.is_empty() { String::new() } else { format!(", {}", rows[0].why) };
    let _ = writeln!(out, "@{}{why}{mark}", shown(name, NAME));
    let figures = [
        (What::Arena, "arena"),
        (What::OneArena, ""),
        (What::Peak, "peak"),
        (What::Lost, "lost"),
        (What::Floor, "floor"),
        (What::State, "state"),
    ];
    for (what, label) in figures {
        for row in rows.iter().filter(|row| row.what == what) {
            let label = if label.is_empty() { format!("in {}", shown(&row.name, 20)) } else { label.to_owned() };
            let share = match row.old {
                Some(old) if old > 0 && row.new.is_some() && row.delta != 0 => {
                    format!("  {:+.2} %", row.delta as f64 / old as f64 * 100.0)
                }
                _ => String::new(),
            };
            let (old, new, delta) = (bytes(row.old), bytes(row.new), signed(row.delta));
            let _ = writeln!(out, "  {label:<8} {old:>14} -> {new:>14} B  {delta:>13}{share}");
        }
    }
    let sections = [
        ("at the peak", &[What::AtPeakNow, What::AtPeakBefore, What::AtPeakResized][..]),
        ("other sizes", &[What::Resized]),
        ("values new, by the bytes of their storages", &[What::ValueNew]),
        ("values gone, by the bytes of their storages", &[What::ValueGone]),
    ];
    for (title, kinds) in sections {
        let list: Vec<&Row> = rows.iter().filter(|row| kinds.contains(&row.what)).collect();
        section(title, &list, out);
    }
    for row in rows.iter().filter(|row| row.what == What::Moved) {
        let _ = writeln!(out, "  order: {} {}", grouped(row.delta), row.why);
    }
}

fn section(title: &str, list: &[&Row], out: &mut String) {
    if list.is_empty() {
        return;
    }
    let total: i128 = list.iter().map(|row| row.delta).sum();
    let _ = writeln!(out, "  {title}: {} ({} B)", list.len(), signed(total));
    for row in list.iter().take(LISTED) {
        let name = shown(&row.name, NAME);
        // Of a value that is new or gone the title says all.
        let why = match row.what {
            What::ValueNew | What::ValueGone => String::new(),
            _ => format!(": {}", shown(&row.why, WHY)),
        };
        let _ = writeln!(out, "    {:>14} B  {name}{why}", signed(row.delta));
    }
    if list.len() > LISTED {
        let rest: i128 = list[LISTED..].iter().map(|row| row.delta).sum();
        let _ = writeln!(
            out,
            "    {:>14} B  in {} others: --format json and csv list all",
            signed(rest),
            list.len() - LISTED
        );
    }
}
