//! What a run said, and whether its summary is as expected.

use crate::case::Run;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Output;

/// What a run said.
#[derive(PartialEq)]
pub(crate) struct Said {
    pub(crate) exit: i32,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) summary: Option<Value>,
}

impl Said {
    /// Reads what came out; the summary, where one was written.
    pub(crate) fn new(output: &Output, summary: Option<&PathBuf>) -> Result<Said, String> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string());
        let read = |path: &PathBuf| std::fs::read_to_string(path).ok();
        let parsed = summary.and_then(read).map(|text| serde_json::from_str(&text)).transpose();
        Ok(Said {
            exit: output.status.code().ok_or("it was killed")?,
            out: text(&output.stdout)?,
            err: text(&output.stderr)?,
            summary: parsed.map_err(|error| error.to_string())?,
        })
    }
}

/// A value's bytes.
struct Place<'a> {
    storage: usize,
    arena: &'a str,
    /// Of the value; none for state.
    offset: Option<u64>,
    /// Of its storage.
    bytes: (u64, u64),
    live: [u64; 2],
}

/// Where the value, or the scratch of the operation, of this name lies.
fn find<'a>(summary: &'a Value, name: &str) -> Result<Place<'a>, String> {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let functions = summary["functions"].as_array().into_iter().flatten();
    let storages = functions.flat_map(|function| function["storages"].as_array().into_iter().flatten());
    for (at, storage) in storages.enumerate() {
        let listed = |key: &str| {
            storage[key].as_array()?.iter().position(|value| value.as_str().is_some_and(|text| text == name))
        };
        let scratch = storage["kind"] == "scratch" && storage["op"].as_str().is_some_and(|op| op.contains(name));
        let Some(index) = listed("names").or_else(|| listed("values")).or(scratch.then_some(0)) else { continue };
        let (start, size) = (storage["offset"].as_u64(), number(&storage["size"]));
        let inside = storage["at"].get(index).map_or(0, number);
        return Ok(Place {
            storage: at,
            arena: storage["arena"].as_str().unwrap_or_default(),
            offset: start.map(|start| start + inside),
            bytes: (start.unwrap_or_default(), start.unwrap_or_default() + size),
            live: [number(&storage["live"][0]), number(&storage["live"][1])],
        });
    }
    Err(format!("nothing of the plan is called {name}"))
}

/// Place and time of every name, and the figures of each function.
pub(crate) fn places(summary: &Value) -> Value {
    let mut found = serde_json::Map::new();
    for function in summary["functions"].as_array().into_iter().flatten() {
        for storage in function["storages"].as_array().into_iter().flatten() {
            let at = serde_json::json!([storage["offset"], storage["size"], storage["live"], storage["arena"]]);
            for name in storage["names"].as_array().into_iter().flatten() {
                found.insert(format!("{}/{name}", function["name"]), at.clone());
            }
        }
        found.insert(function["name"].to_string(), function["plan"].clone());
    }
    Value::Object(found.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect())
}

/// Compares all that a run expects of the summary.
pub(crate) fn summary(run: &Run, summary: &Value, wrong: &mut Vec<String>) {
    for (pointer, want) in &run.json {
        match summary.pointer(pointer) {
            Some(found) if found == want => {}
            found => wrong.push(format!("{pointer} is {found:?}, not {want}")),
        }
    }
    let mut check = |name: &str, wanted: &dyn Fn(&Place<'_>) -> Option<String>| match find(summary, name) {
        Ok(place) => wrong.extend(wanted(&place).map(|found| format!("{name}: {found}"))),
        Err(why) => wrong.push(why),
    };
    for (name, want) in &run.live {
        check(name, &|place| (place.live != *want).then(|| format!("live in {:?}, not {want:?}", place.live)));
    }
    for (name, want) in &run.offset {
        check(name, &|place| (place.offset != Some(*want)).then(|| format!("at {:?}, not {want}", place.offset)));
    }
    for (name, want) in &run.size {
        let size = |place: &Place<'_>| place.bytes.1 - place.bytes.0;
        check(name, &|place| (size(place) != *want).then(|| format!("{} bytes, not {want}", size(place))));
    }
    for (name, want) in &run.arena {
        check(name, &|place| (place.arena != want).then(|| format!("in {}, not {want}", place.arena)));
    }
    for names in &run.apart {
        pairs(summary, names, wrong, |one, two| {
            let meet = one.arena == two.arena && one.bytes.0.max(two.bytes.0) < one.bytes.1.min(two.bytes.1);
            meet.then(|| format!("share bytes: {:?} and {:?}", one.bytes, two.bytes))
        });
    }
    for names in &run.together {
        pairs(summary, names, wrong, |one, two| {
            (one.storage != two.storage).then(|| format!("are apart: {:?} and {:?}", one.bytes, two.bytes))
        });
    }
}

fn pairs(
    summary: &Value,
    names: &[String],
    wrong: &mut Vec<String>,
    rule: impl Fn(&Place<'_>, &Place<'_>) -> Option<String>,
) {
    let places: Vec<_> = names.iter().map(|name| (name, find(summary, name))).collect();
    for (at, (name, place)) in places.iter().enumerate() {
        let Ok(place) = place else {
            wrong.push(format!("nothing of the plan is called {name}"));
            continue;
        };
        for (other, second) in &places[..at] {
            if let Ok(second) = second {
                wrong.extend(rule(second, place).map(|found| format!("{other} and {name} {found}")));
            }
        }
    }
}
