//! The plan as a trace that Perfetto and `chrome://tracing` open: the `Trace Event Format` of Chromium, as JSON.
//!
//! A step is a millisecond, since a plan knows no time. Each function is a process with the operations as slices of one thread, the bytes held
//! as counters (of several arenas each its own besides), and each storage as a slice of its own from its first step to its last (asynchronous events, which viewers stack).

use crate::{Function, Picture};
use serde_json::{Value, json};

/// Microseconds of a step.
const STEP: u64 = 1000;

/// The trace as text, one event per line.
pub fn trace(picture: &Picture) -> String {
    let mut events = Vec::new();
    for (at, function) in picture.functions.iter().enumerate() {
        one(function, at + 1, &mut events);
    }
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    let about =
        json!({"neap": picture.neap, "input": picture.input, "profile": picture.profile, "unit": "1 ms = 1 step"});
    format!("{{\"displayTimeUnit\":\"ms\",\"otherData\":{about},\"traceEvents\":[\n{}\n]}}\n", lines.join(",\n"))
}

fn one(function: &Function, pid: usize, events: &mut Vec<Value>) {
    let time = |step: u32| u64::from(step) * STEP;
    let named = |what: &str, name: String| json!({"ph": "M", "name": what, "pid": pid, "tid": 1, "ts": 0, "args": {"name": name}});
    events.push(named("process_name", format!("@{}", function.name)));
    events.push(named("thread_name", "operations".to_owned()));
    for (step, op) in function.graph.ops.iter().enumerate() {
        let steps = op.end.saturating_sub(step as u32).max(1);
        events.push(json!({
            "ph": "X", "name": op.kind, "cat": "op", "pid": pid, "tid": 1, "ts": time(step as u32), "dur": time(steps),
            "args": {"name": op.name, "step": step},
        }));
    }
    let mut curves = vec![
        ("bytes held".to_owned(), function.graph.after.clone()),
        ("bytes held before planning".to_owned(), function.graph.before.clone()),
    ];
    if function.arenas.len() > 1 {
        let each = function.arenas.iter().enumerate();
        curves.extend(each.map(|(at, arena)| (format!("bytes held in @{}", arena.name), held(function, at))));
    }
    for (name, curve) in curves {
        let mut last = None;
        for (step, bytes) in curve.iter().chain([&0]).enumerate() {
            if last != Some(*bytes) {
                events.push(
                    json!({"ph": "C", "name": name, "pid": pid, "tid": 1, "ts": time(step as u32), "args": {"bytes": bytes}}),
                );
            }
            last = Some(*bytes);
        }
    }
    let values = function.values_of();
    for (id, storage) in function.storages.iter().enumerate() {
        let name = function.storage_name(id, &values[id]);
        let names: Vec<&str> =
            function.graph.values[values[id].clone()].iter().map(|value| value.name.as_str()).collect();
        let arena = function.arenas.get(storage.arena as usize).map_or("", |arena| arena.name.as_str());
        let event = |ph: &str, step: u32, args: Value| {
            json!({
                "ph": ph, "name": name, "cat": storage.kind.name(), "id": format!("{pid}.{id}"), "pid": pid, "tid": 1,
                "ts": time(step), "args": args,
            })
        };
        let args = json!({
            "storage": id, "values": names, "made by": storage.op, "arena": arena, "offset": storage.offset, "bytes": storage.size,
            "align": storage.align,
        });
        events.push(event("b", storage.live[0], args));
        events.push(event("e", storage.live[1], json!({})));
    }
}

/// Bytes of storages in an arena during each step.
fn held(function: &Function, arena: usize) -> Vec<u64> {
    let steps = function.graph.after.len();
    let mut change = vec![0i128; steps + 1];
    let inside = function.storages.iter().filter(|storage| storage.arena as usize == arena && storage.offset.is_some());
    for storage in inside {
        let [begin, end] = storage.live.map(|step| (step as usize).min(steps));
        change[begin] += i128::from(storage.size);
        change[end] -= i128::from(storage.size);
    }
    let mut now = 0;
    let sum = |change: &i128| {
        now += change;
        u64::try_from(now).unwrap_or(0)
    };
    change[..steps].iter().map(sum).collect()
}
