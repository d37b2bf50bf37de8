//! Reads a table of op facts.
//!
//! A table is a list of `[[op]]` rows; `ir/facts/README.md` describes the keys. Every key and value
//! is checked: a misspelt key must not silently turn into "nothing said", and a role without the
//! parameters that it needs must not reach a pass. Errors carry the line of the offending value.

mod values;

use rustc_hash::FxHashMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Body, Entry, FactsError, Key, OpFacts, Param, Role, Rule, Run, When};
use values::{Failure, body, count, effects, fail, indices, inplace, one_of, param, string, unknown_key, views};

/// The entries of the table `text`, by op name.
///
/// # Errors
/// The first thing that is wrong, with its line in `file`.
pub(super) fn parse(text: &str, file: &str) -> Result<FxHashMap<String, Entry>, FactsError> {
    let located = |span: std::ops::Range<usize>, message: String| FactsError {
        file: file.to_owned(),
        line: 1 + text.bytes().take(span.start).filter(|&byte| byte == b'\n').count(),
        message,
    };
    let root = DeTable::parse(text).map_err(|error| {
        let end = text.len()..text.len();
        located(error.span().unwrap_or(end), error.message().to_owned())
    })?;
    rows(root.get_ref()).map_err(|failure| located(failure.span, failure.message))
}

fn rows(root: &DeTable<'_>) -> Result<FxHashMap<String, Entry>, Failure> {
    let mut entries = FxHashMap::default();
    for (key, value) in root {
        if key.get_ref() != "op" {
            return unknown_key(key, &["op"]);
        }
        let Some(list) = value.get_ref().as_array() else {
            return fail(value, "rows are written as `[[op]]`");
        };
        for row in list.iter() {
            add_row(&mut entries, row)?;
        }
    }
    Ok(entries)
}

fn add_row(entries: &mut FxHashMap<String, Entry>, value: &Spanned<DeValue<'_>>) -> Result<(), Failure> {
    let Some(table) = value.get_ref().as_table() else {
        return fail(value, "rows are written as `[[op]]`");
    };
    let row = read_row(value, table)?;
    for (at, name) in row.names {
        let entry: &mut Entry = entries.entry(name.clone()).or_default();
        let taken = match row.when {
            None => entry.general.replace(row.facts.clone()).is_some(),
            Some(when) => {
                let taken = entry.narrow.iter().any(|(other, _)| *other == when);
                entry.narrow.push((when, row.facts.clone()));
                taken
            }
        };
        if taken {
            let span = at;
            return Err(Failure { span, message: format!("a second row for `{name}`") });
        }
    }
    Ok(())
}

struct Row {
    names: Vec<(std::ops::Range<usize>, String)>,
    when: Option<When>,
    facts: OpFacts,
}

/// The keys of a row besides the parameters of [`Key`].
const ROW_KEYS: &[&str] = &["name", "role", "effects", "inplace", "views", "shape_operands", "body", "when"];

fn read_row(at: &Spanned<DeValue<'_>>, table: &DeTable<'_>) -> Result<Row, Failure> {
    let mut row = Row { names: Vec::new(), when: None, facts: OpFacts::unknown() };
    let mut role = None;
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "name" => row.names = names(value)?,
            "role" => role = Some(one_of(value, Role::ALL, Role::as_str)?),
            "effects" => row.facts.effects = effects(value)?,
            "inplace" => row.facts.inplace = inplace(value)?,
            "views" => row.facts.views = views(value)?,
            "shape_operands" => row.facts.shape_operands = indices(value)?,
            "body" => row.facts.body = body(value)?,
            "when" => row.when = Some(when(value)?),
            other => match Key::from_name(other) {
                Some(known) => {
                    row.facts.params.insert(known, param(value)?);
                }
                None => {
                    let params = Key::ALL.iter().map(|key| key.as_str());
                    let all: Vec<&str> = ROW_KEYS.iter().copied().chain(params).collect();
                    return unknown_key(key, &all);
                }
            },
        }
    }
    if row.names.is_empty() {
        return fail(at, "a row needs `name`: the op's name, or a list of names");
    }
    let Some(role) = role else {
        return fail(at, "a row needs `role`; `other` fits every op");
    };
    row.facts.role = role;
    consistent(&row.facts).map_err(|message| Failure { span: at.span(), message })?;
    Ok(row)
}

fn names(value: &Spanned<DeValue<'_>>) -> Result<Vec<(std::ops::Range<usize>, String)>, Failure> {
    let list: Vec<&Spanned<DeValue<'_>>> = match value.get_ref().as_array() {
        Some(list) => list.iter().collect(),
        None => vec![value],
    };
    let mut names = Vec::with_capacity(list.len());
    for item in list {
        let name = string(item)?;
        match name.split_once('.') {
            Some((dialect, op)) if !dialect.is_empty() && !op.is_empty() => {
                names.push((item.span(), name.to_owned()));
            }
            _ => return fail(item, format!("`{name}` lacks its dialect: write `dialect.op`")),
        }
    }
    Ok(names)
}

fn when(value: &Spanned<DeValue<'_>>) -> Result<When, Failure> {
    let Some(table) = value.get_ref().as_table() else {
        return fail(value, "expected `{max_operands = N}` or `{max_results = N}`");
    };
    let mut when = When { max_operands: usize::MAX, max_results: usize::MAX };
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "max_operands" => when.max_operands = count(value)?,
            "max_results" => when.max_results = count(value)?,
            _ => return unknown_key(key, &["max_operands", "max_results"]),
        }
    }
    Ok(when)
}

/// What a role needs for its row to have a meaning; the message says what is missing.
fn consistent(facts: &OpFacts) -> Result<(), String> {
    let has = |keys: &[Key]| keys.iter().any(|key| facts.params.contains_key(key));
    let need = |keys: &[Key]| {
        let list: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
        let message = format!("role `{}` needs {}", facts.role, list.join(" or "));
        if has(keys) { Ok(()) } else { Err(message) }
    };
    match facts.role {
        Role::Concat | Role::Pack | Role::Split | Role::Unpack | Role::Gather => {
            need(&[Key::Axis])?;
        }
        Role::Transpose => need(&[Key::Perm])?,
        Role::Slice => {
            need(&[Key::Start])?;
            need(&[Key::Size, Key::End])?;
        }
        Role::StridedSlice => {
            need(&[Key::Start])?;
            need(&[Key::End, Key::Size])?;
        }
        Role::Pad => need(&[Key::PadPairs, Key::PadHalves, Key::PadLow])?,
        Role::Handle => need(&[Key::SharedName])?,
        Role::Read | Role::Write | Role::Random if facts.is_pure() => {
            return Err(format!("role `{}` needs an effect", facts.role));
        }
        Role::Call | Role::If | Role::While | Role::For if facts.body == Body::NONE => {
            return Err(format!("role `{}` needs `body`", facts.role));
        }
        _ => {}
    }
    let elementwise = matches!(facts.role, Role::Elementwise | Role::Quantize | Role::Dequantize);
    let rows = |p: &super::InPlace| p.rule == Rule::Rows;
    if elementwise && facts.inplace.iter().any(rows) {
        return Err(format!("rule `rows` does not fit role `{}`", facts.role));
    }
    let takes_data = |operand: &Param| operand.operand == Some(facts.data_operand());
    let bad = facts.params.iter().find(|(key, p)| **key != Key::Data && takes_data(p));
    if let (Some((key, _)), false) = (bad, matches!(facts.role, Role::Constant)) {
        return Err(format!("`{key}` is said to be the operand that holds the data"));
    }
    if facts.body.run == Run::None && facts.body != Body::NONE {
        return Err("a body that does not run has no other keys".to_owned());
    }
    Ok(())
}
