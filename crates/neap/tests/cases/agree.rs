//! Whether a summary says the same in all its forms, and whether its parts add up.

use serde_json::Value;
use std::collections::BTreeMap;

/// One storage as each form has it: size, offset, steps, kind.
type Row = (u64, Option<u64>, [u64; 2], String);

/// Compares the JSON summary with the table and the full text, and its peaks with what they are made of.
pub(crate) fn compare(summary: &Value, table: &str, text: &str, wrong: &mut Vec<String>) {
    let functions: Vec<&Value> = summary["functions"].as_array().into_iter().flatten().collect();
    let mut all = Vec::new();
    for function in &functions {
        let name = function["name"].as_str().unwrap_or_default();
        let said: Vec<Row> = function["storages"].as_array().into_iter().flatten().map(row).collect();
        let shown = of_text(text, name);
        if said.is_empty() || said != shown {
            wrong.push(format!("@{name}: the JSON has {said:?}, the text {shown:?}"));
        }
        parts(function, &said, wrong);
        all.extend(said.into_iter().map(|row| (name.to_owned(), row)));
    }
    match of_table(table) {
        Ok(rows) if rows == all => {}
        Ok(rows) => wrong.push(format!("the JSON has {all:?}, the table {rows:?}")),
        Err(why) => wrong.push(why),
    }
}

fn row(storage: &Value) -> Row {
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    let live = [number(&storage["live"][0]), number(&storage["live"][1])];
    let kind = storage["kind"].as_str().unwrap_or_default().to_owned();
    (number(&storage["size"]), storage["offset"].as_u64(), live, kind)
}

/// The lines under `id offset size live kind name` of a function.
fn of_text(text: &str, function: &str) -> Vec<Row> {
    let begin = format!("@{function}, fingerprint ");
    let own = text.lines().skip_while(|line| !line.starts_with(&begin));
    let lines = own.skip_while(|line| !line.trim_start().starts_with("id ")).skip(1);
    let number = |word: &str| word.replace(',', "").parse::<u64>().ok();
    let row = |line: &str| -> Option<Row> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [id, offset, size, live, kind, ..] = words[..] else { return None };
        let (begin, end) = live.split_once("..")?;
        number(id)?;
        Some((number(size)?, number(offset), [number(begin)?, number(end)?], kind.to_owned()))
    };
    lines.map_while(row).collect()
}

fn of_table(table: &str) -> Result<Vec<(String, Row)>, String> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let fields: BTreeMap<&str, &str> = header.iter().zip(record.iter()).collect();
        let number = |key: &str| fields.get(key).and_then(|text| text.parse::<u64>().ok());
        let [size, lower, upper] = ["size", "lower", "upper"].map(|key| number(key).unwrap_or(u64::MAX));
        let text = |key: &str| fields.get(key).copied().unwrap_or_default().to_owned();
        rows.push((text("function"), (size, number("offset"), [lower, upper], text("kind"))));
    }
    Ok(rows)
}

/// What is held at the peak adds up to it, kind by kind, and to no more than each arena's own figure.
fn parts(function: &Value, storages: &[Row], wrong: &mut Vec<String>) {
    let (peak, step) = (&function["plan"]["peak"], function["peak_step"]["step"].as_u64().unwrap_or(u64::MAX));
    let listed: Vec<usize> = function["peak_step"]["storages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|id| usize::try_from(id.as_u64()?).ok())
        .collect();
    let held = |(_, _, live, kind): &Row| (live[0]..live[1]).contains(&step) && kind != "state";
    let live: Vec<usize> = (0..storages.len()).filter(|at| held(&storages[*at])).collect();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    if sorted != live {
        wrong.push(format!("listed at the peak are {sorted:?}, live there {live:?}"));
    }
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for (size, _, _, kind) in listed.iter().filter_map(|at| storages.get(*at)) {
        *kinds.entry(kind).or_default() += size;
    }
    let sum: u64 = kinds.values().sum();
    if peak.as_u64() != Some(sum) {
        wrong.push(format!("the peak is {peak}, its parts are {sum}: {kinds:?}"));
    }
    let saved = function["saved"].as_object().into_iter().flatten().filter_map(|(_, bytes)| bytes.as_i64());
    let whole = function["source"]["peak"].as_i64().zip(function["plan"]["arena"].as_i64());
    let saved: i64 = saved.sum();
    if whole.is_none_or(|(source, plan)| source - plan != saved) {
        wrong.push(format!("what was saved adds up to {saved}, not to the difference of {whole:?}"));
    }
}
