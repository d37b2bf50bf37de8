//! A plan as a table: what another tool wrote, as CSV or JSON.
//!
//! CSV needs a header; columns are found by name, in any order, and others are passed over. JSON is one of: an object from names to offsets, a list
//! of rows, either of them under `offsets`, or the summary that neap writes. Storages with several values give where each lies in them (`at`).

use crate::exit::Failure;
use serde_json::{Map, Value};

/// Where one value lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    /// The function that the value is in; none: found by the name alone.
    pub(crate) function: Option<String>,
    /// What the table calls it.
    pub(crate) name: String,
    /// Bytes from the start of the arena; -1: it has none.
    pub(crate) offset: i64,
    /// How many bytes the table gives it, where it says so.
    pub(crate) size: Option<u64>,
    /// The arena, where it says so.
    pub(crate) arena: Option<String>,
    /// It is the scratch of the operation of this name.
    pub(crate) scratch: bool,
    /// What the model calls it, where the table has both names.
    pub(crate) model_name: Option<String>,
    /// What makes it, as our own tables say.
    pub(crate) made: Made,
    /// The steps of its storage, where our own tables say them.
    pub(crate) live: Option<(u32, u32)>,
    /// For messages: line or index.
    pub(crate) place: String,
}

/// What makes a value: an argument, or the result of an entry of the model file; and the first step of the operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Made {
    pub(crate) argument: Option<usize>,
    pub(crate) result: Option<(usize, usize)>,
    /// An argument of an entry's bodies, by its number over all of them.
    pub(crate) body: Option<(usize, usize)>,
    /// Which of the values of one name it is, in the order of the source.
    pub(crate) twin: Option<usize>,
    pub(crate) step: Option<u32>,
}

impl Made {
    fn read(text: &str) -> Made {
        let (place, step) = text.split_once('@').unwrap_or((text, ""));
        let twin = place.strip_prefix('~').and_then(|number| number.parse().ok());
        let argument = place.strip_prefix("arg").and_then(|index| index.parse().ok());
        let result = place.split_once('.').and_then(|(entry, index)| Some((entry.parse().ok()?, index.parse().ok()?)));
        let inside = place.split_once(".arg");
        let body = inside.and_then(|(entry, index)| Some((entry.parse().ok()?, index.parse().ok()?)));
        Made { argument, result, body, twin, step: step.parse().ok() }
    }
}

/// A plan that another tool made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Table {
    /// In the order of the file.
    pub(crate) rows: Vec<Row>,
    /// By function: the graph that the plan says it was made for. An empty name stands for any function.
    pub(crate) fingerprints: Vec<(String, String)>,
    /// The profile that it says it was made with.
    pub(crate) profile: Option<String>,
    /// It has the form of ours, so that it may place nothing where there is nothing to place.
    of_nothing: bool,
}

/// Whether a file holds a table rather than a module.
pub(crate) fn is_table(name: &str, bytes: &[u8]) -> bool {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let json = matches!(first, Some(b'[')) || (first == Some(&b'{') && !bytes.trim_ascii_start().starts_with(b"{-#"));
    json || name.ends_with(".csv") || name.ends_with(".json") || columns(bytes).is_some()
}

/// The columns of the header that matter, if this is a header.
fn columns(bytes: &[u8]) -> Option<Columns> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line);
    Columns::of(&reader.records().next()?.ok()?)
}

/// Where the columns are.
struct Columns {
    name: usize,
    offset: usize,
    at: [Option<usize>; 10],
}

/// Names of the columns of values, the best first.
const NAMES: [&str; 7] = ["values", "names", "value", "name", "tensor", "buffer", "id"];

impl Columns {
    fn of(header: &csv::StringRecord) -> Option<Columns> {
        let find = |name: &str| header.iter().position(|field| field.trim().eq_ignore_ascii_case(name));
        let name = NAMES.iter().find_map(|name| find(name))?;
        let other = |names: [&str; 2]| names.iter().find_map(|name| find(name));
        let at = [
            other(["size", "bytes"]),
            other(["arena", "region"]),
            other(["function", "subgraph"]),
            other(["kind", "class"]),
            find("at"),
            other(["op", "scratch_of"]),
            find("names"),
            find("made"),
            find("lower"),
            find("upper"),
        ];
        Some(Columns { name, offset: find("offset")?, at })
    }
}

impl Table {
    /// Whether it is one that we wrote: those say at which steps operations run.
    pub(crate) fn is_ours(&self) -> bool {
        self.rows.iter().any(|row| row.made.step.is_some())
    }

    /// Reads a table.
    ///
    /// # Errors
    /// The place in the file that is wrong.
    pub(crate) fn read(name: &str, bytes: &[u8]) -> Result<Table, Failure> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        let object = matches!(first, Some(b'[' | b'{')) || name.ends_with(".json");
        let table = if object { json(name, bytes) } else { csv(name, bytes) }?;
        if table.rows.is_empty() && !table.of_nothing {
            return Err(Failure::input(format!("`{name}` places no value")));
        }
        Ok(table)
    }
}

fn csv(name: &str, bytes: &[u8]) -> Result<Table, Failure> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(bytes);
    let broken = |error: csv::Error| Failure::input(format!("`{name}`: {error}"));
    let Some(columns) = Columns::of(reader.headers().map_err(broken)?) else {
        return Err(Failure::input(format!("`{name}`: the first line names no column of values and `offset`"))
            .help("a header like `value,offset`; also read are `size`, `arena`, `function`, `kind` and `at`"));
    };
    let mut table = Table { of_nothing: columns.at[7].is_some(), ..Table::default() };
    for record in reader.records() {
        let record = record.map_err(broken)?;
        let line = record.position().map_or(0, csv::Position::line);
        let place = format!("{name}:{line}");
        let field = |at: usize| record.get(at).filter(|text| !text.is_empty());
        let [size, arena, function, kind, at, op, model, made, lower, upper] = columns.at.map(|at| at.and_then(field));
        let kind = kind.unwrap_or_default();
        if kind == "state" {
            continue;
        }
        let Some(offset) = field(columns.offset) else { continue };
        let number = |text: &str| number(text).ok_or_else(|| not_a_number(&place, text));
        let base = Row {
            function: function.map(str::to_owned),
            name: String::new(),
            offset: number(offset)?,
            size: size.map(number).transpose()?.and_then(|size| u64::try_from(size).ok()),
            arena: arena.map(str::to_owned),
            scratch: kind == "scratch",
            model_name: None,
            made: Made::default(),
            live: made.and(lower).and_then(|lower| lower.parse().ok()).zip(upper.and_then(|upper| upper.parse().ok())),
            place: place.clone(),
        };
        let list =
            |text: Option<&str>| text.map(|text| text.split(' ').map(str::to_owned).collect()).unwrap_or_default();
        let (made, models): (Vec<String>, Vec<String>) = (list(made), list(model));
        let first = made.first().map(|made| Made::read(made)).unwrap_or_default();
        let names = field(columns.name).unwrap_or_default();
        if base.scratch {
            table.rows.push(Row { name: op.unwrap_or(names).to_owned(), made: first, ..base });
            continue;
        }
        let inside = at.map(|at| at.split(' ').map(number).collect::<Result<Vec<i64>, _>>()).transpose()?;
        // One name may hold spaces.
        let models = if inside.as_ref().is_some_and(|inside| inside.len() == 1) { list_of(model) } else { models };
        table.rows.extend(base.members(list(Some(names)), inside.as_deref(), names, &models, &made));
    }
    Ok(table)
}

fn list_of(text: Option<&str>) -> Vec<String> {
    text.map(str::to_owned).into_iter().collect()
}

impl Row {
    /// The rows of a storage's values. A size is that of the storage, so it says something of a single value alone.
    fn members(
        self,
        names: Vec<String>,
        inside: Option<&[i64]>,
        whole: &str,
        models: &[String],
        made: &[String],
    ) -> Vec<Row> {
        let inside = inside.filter(|inside| inside.len() == names.len());
        let count = inside.map_or(1, <[i64]>::len);
        let of = |index: usize| {
            let made = made.get(index).filter(|_| made.len() == count).map(|made| Made::read(made));
            let model_name = models.get(index).filter(|_| models.len() == count).cloned();
            Row { model_name, made: made.unwrap_or_default(), ..self.clone() }
        };
        match inside {
            Some([_] | []) | None => vec![Row { name: whole.to_owned(), ..of(0) }],
            Some(inside) => names
                .into_iter()
                .zip(inside)
                .enumerate()
                .map(|(index, (name, at))| Row {
                    name,
                    offset: self.offset.saturating_add(*at),
                    size: None,
                    ..of(index)
                })
                .collect(),
        }
    }
}

fn number(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn not_a_number(place: &str, text: &str) -> Failure {
    Failure::input(format!("{place}: `{text}` is no number of bytes up to 2^63-1"))
}

fn json(name: &str, bytes: &[u8]) -> Result<Table, Failure> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| Failure::input(format!("`{name}`: {error}")))?;
    let mut table = Table::default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    table.profile = value["profile"].as_str().map(str::to_owned);
    if !value["buckets"].is_null() || value["models"].is_array() {
        return Err(Failure::input(format!("`{name}` holds several plans, and a table is checked as one"))
            .help("check the `.mlir` that `neap plan` writes for the same plans"));
    }
    if let Some(functions) = value["functions"].as_array() {
        table.of_nothing = true;
        for function in functions {
            let of = text(&function["name"]);
            table.fingerprints.push((of.clone(), text(&function["fingerprint"])));
            for (index, storage) in function["storages"].as_array().into_iter().flatten().enumerate() {
                let place = format!("{name}: storage {index} of @{of}");
                table.rows.extend(row(storage, &place, Some(of.clone()))?);
            }
        }
        return Ok(table);
    }
    if let Some(stamp) = value["fingerprint"].as_str() {
        table.fingerprints.push((String::new(), stamp.to_owned()));
    }
    let list = value.get("offsets").unwrap_or(&value);
    match list {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                table.rows.extend(row(item, &format!("{name}: row {index}"), None)?);
            }
        }
        Value::Object(items) => table.rows = map(name, items)?,
        _ => return Err(Failure::input(format!("`{name}`: neither an object nor a list of offsets"))),
    }
    Ok(table)
}

/// Names with offsets.
fn map(name: &str, items: &Map<String, Value>) -> Result<Vec<Row>, Failure> {
    let rows = items.iter().filter(|(key, _)| *key != "fingerprint").map(|(key, value)| {
        let place = format!("{name}: `{key}`");
        let offset = value.as_i64().ok_or_else(|| not_a_number(&place, &value.to_string()))?;
        let (function, size, arena, model_name, live) = (None, None, None, None, None);
        let (name, made) = (key.clone(), Made::default());
        Ok(Row { function, name, offset, size, arena, scratch: false, model_name, made, live, place })
    });
    rows.collect()
}

/// The values of one object: a row, or a storage with several.
fn row(item: &Value, place: &str, function: Option<String>) -> Result<Vec<Row>, Failure> {
    let kind = item["kind"].as_str().unwrap_or_default();
    if kind == "state" || item["offset"].is_null() {
        return Ok(Vec::new());
    }
    let offset = item["offset"].as_i64().ok_or_else(|| not_a_number(place, &item["offset"].to_string()))?;
    let list = |key: &str| -> Option<Vec<String>> {
        item[key].as_array()?.iter().map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let base = Row {
        function: item["function"].as_str().map(str::to_owned).or(function),
        name: String::new(),
        offset,
        size: item["size"].as_u64(),
        arena: item["arena"].as_str().map(str::to_owned),
        scratch: kind == "scratch",
        model_name: None,
        made: Made::default(),
        live: None,
        place: place.to_owned(),
    };
    let made = list("made").unwrap_or_default();
    let step = |index: usize| item["live"][index].as_u64().and_then(|step| u32::try_from(step).ok());
    let base = Row {
        made: made.first().map(|made| Made::read(made)).unwrap_or_default(),
        live: step(0).zip(step(1)).filter(|_| !made.is_empty()),
        ..base
    };
    if base.scratch {
        let name = item["op"].as_str().or(item["name"].as_str()).unwrap_or_default().to_owned();
        return Ok(vec![Row { name, ..base }]);
    }
    if let Some(name) = NAMES.iter().find_map(|key| item[*key].as_str()) {
        return Ok(vec![Row { name: name.to_owned(), ..base }]);
    }
    let Some(names) = list("values").or_else(|| list("names")).filter(|names| !names.is_empty()) else {
        return Err(Failure::input(format!("{place} names no value")));
    };
    let inside: Option<Vec<i64>> = item["at"].as_array().map(|list| list.iter().filter_map(Value::as_i64).collect());
    let whole = names[0].clone();
    if names.len() > 1 && inside.as_ref().is_none_or(|inside| inside.len() != names.len()) {
        return Err(Failure::input(format!("{place} has {} values and does not say where each lies", names.len()))
            .help("`at` lists bytes from the start of the storage, one per value"));
    }
    let models = list("names").unwrap_or_default();
    Ok(base.members(names, inside.as_deref(), &whole, &models, &made))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(name: &str, text: &str) -> Vec<(String, i64)> {
        let table = Table::read(name, text.as_bytes()).expect("a table");
        table.rows.into_iter().map(|row| (row.name, row.offset)).collect()
    }

    #[test]
    fn all_forms_say_the_same() {
        let want = vec![("a".to_owned(), 0), ("b".to_owned(), 64)];
        for (name, text) in [
            ("t.csv", "value,offset\na,0\nb,64\n"),
            ("t.csv", "offset , id, size\n0,a,64\n64,b,\n"),
            ("t.json", "{\"a\": 0, \"b\": 64}"),
            ("t.json", "{\"offsets\": {\"a\": 0, \"b\": 64}, \"fingerprint\": \"x\"}"),
            ("t.json", "[{\"name\": \"a\", \"offset\": 0}, {\"tensor\": \"b\", \"offset\": 64}]"),
            (
                "t.json",
                "{\"functions\": [{\"name\": \"main\", \"storages\": [{\"values\": [\"a\", \"b\"], \"offset\": 0, \"at\": [0, 64]}]}]}",
            ),
            ("t.csv", "id,lower,upper,size,offset,names,at\n0,0,1,128,0,a b,0 64\n"),
        ] {
            assert!(is_table(name, text.as_bytes()), "{text}");
            assert_eq!(rows(name, text), want, "{text}");
        }
    }

    #[test]
    fn what_is_no_table_is_said_with_its_place() {
        for (name, text, says) in [
            ("t.csv", "value,offset\na,x\n", "t.csv:2: `x` is no number"),
            ("t.csv", "value,offset\na,9223372036854775808\n", "up to 2^63-1"),
            ("t.csv", "value,size\na,1\n", "`offset`"),
            ("t.csv", "value,offset\na,1,2\n", "t.csv"),
            ("t.csv", "value,offset\n", "places no value"),
            ("t.json", "{\"a\": 0.5}", "`0.5` is no number"),
            ("t.json", "{\"a\": ", "EOF"),
            ("t.json", "7", "neither an object nor a list"),
            ("t.json", "[{\"offset\": 1}]", "row 0 names no value"),
            ("t.json", "[{\"values\": [\"a\", \"b\"], \"offset\": 1}]", "where each lies"),
        ] {
            let failure = Table::read(name, text.as_bytes()).expect_err(text);
            assert!(failure.diagnostics[0].message.contains(says), "{text}: {}", failure.diagnostics[0].message);
        }
        assert!(!is_table("plan.mlir", b"module {\n}"));
        assert!(!is_table("-", b"{-# dialect_resources: {} #-}"));
    }
}
