//! Orders every graph of a folder and prints what was reached: `cargo run --release -p neap-order --example bench -- FOLDER [NAME..]`.
//!
//! FOLDER holds `NAME.json` graphs (tensors with bytes, nodes with inputs and outputs, in a legal order) and, for comparison, `results.csv` with the
//! columns `name` and `best_known`. The greedy of the literature is the one by net change with keys as they were when an op became ready.

use neap_order::{Class, ClassId, Op, OpId, Options, OrderMode, Problem, Proof, Spec, Storage, solve};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().expect("the folder of graphs");
    let only: Vec<String> = args.collect();
    let known = best_known(Path::new(&folder));
    let mut files: Vec<_> = std::fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "json"));
    files.sort();
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{:28} {:>6} {:>12} {:>12} {:>12} {:>12} {:>7} {:>9}",
        "graph", "ops", "file", "ours", "known", "bound", "proof", "ms"
    )?;
    let (mut reached, mut proved, mut fast, mut all) = (0, 0, 0, 0);
    for path in files {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        let graph: Value = serde_json::from_str(&std::fs::read_to_string(&path)?).expect("a graph");
        let problem = problem(&graph);
        let options = Options { effort: effort(), ..Options::default() };
        let mut times = Vec::new();
        let mut answer = None;
        for _ in 0..3 {
            let start = cpu();
            answer = solve(&problem, &options, &mut |_| ControlFlow::Continue(())).ok();
            times.push((cpu() - start).as_secs_f64() * 1e3);
            if times[0] > 500.0 {
                break;
            }
        }
        times.sort_by(f64::total_cmp);
        let time = times[times.len() / 2];
        let Some(answer) = answer else {
            writeln!(out, "{name:28} {:>6} no order found in {time:.0} ms", problem.ops())?;
            continue;
        };
        let file = Options { order: OrderMode::Input, in_place: false, placement: false, ..Options::default() };
        // The input's order may break a class: then it has no peak.
        let file = solve(&problem, &file, &mut |_| ControlFlow::Continue(())).map_or(0, |file| file.peak);
        let best = known.get(&name).copied().unwrap_or(u64::MAX);
        let is_proved = answer.proof != Proof::None;
        all += 1;
        reached += usize::from(answer.peak <= best);
        proved += usize::from(is_proved);
        fast += usize::from(time < 20.0);
        let mark = if answer.peak > best { " above" } else { "" };
        writeln!(
            out,
            "{name:28} {:6} {:12} {:12} {:12} {:12} {:>7} {time:9.2}{mark}",
            problem.ops(),
            file,
            answer.peak,
            best,
            answer.lower_bound,
            format!("{:?}", answer.proof),
        )?;
    }
    writeln!(out, "{all} graphs: {reached} at the best known or below, {proved} proved, {fast} in under 20 ms")
}

/// Processor time of this thread so far.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0))
}

fn effort() -> u64 {
    std::env::var("EFFORT").ok().and_then(|text| text.parse().ok()).unwrap_or(Options::default().effort)
}

fn best_known(folder: &Path) -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(folder.join("results.csv")).unwrap_or_default();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = header.iter().position(|name| *name == "best_known");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        Some((cells.first()?.to_string(), cells.get(column?)?.parse().ok()?))
    };
    lines.filter_map(row).collect()
}

fn problem(graph: &Value) -> Problem {
    let list = |value: &Value| -> Vec<usize> {
        value
            .as_array()
            .map_or(Vec::new(), |items| items.iter().filter_map(|item| Some(item.as_u64()? as usize)).collect())
    };
    let tensors = graph["tensors"].as_array().expect("tensors");
    let mut spec = Spec::default();
    let place: BTreeMap<usize, usize> =
        tensors.iter().enumerate().map(|(k, tensor)| (tensor["id"].as_u64().unwrap_or(k as u64) as usize, k)).collect();
    // Local buffers of an NPU: one live at a time in each.
    let pools = ["L0A", "L0B", "L0C"];
    let class = |tensor: &Value| pools.iter().position(|pool| tensor["pool"].as_str() == Some(pool));
    let storage = |tensor: &Value| Storage {
        size: tensor["bytes"].as_u64().expect("bytes"),
        class: class(tensor).map(|at| ClassId(at as u32)),
        ..Storage::default()
    };
    spec.storages = tensors.iter().map(storage).collect();
    if spec.storages.iter().any(|storage| storage.class.is_some()) {
        spec.classes = vec![Class { limit: Some(1), capacity: None }; pools.len()];
    }
    let nodes = graph["nodes"].as_array().expect("nodes");
    let index: BTreeMap<usize, u32> = nodes
        .iter()
        .enumerate()
        .map(|(k, node)| (node["id"].as_u64().unwrap_or(k as u64) as usize, k as u32))
        .collect();
    for (k, node) in nodes.iter().enumerate() {
        let op = OpId(k as u32);
        spec.ops.push(Op { scratch: 0, cycles: node["cycles"].as_u64().unwrap_or(0) });
        let mut inputs = list(&node["inputs"]);
        inputs.sort_unstable();
        inputs.dedup();
        inputs.iter().for_each(|t| spec.storages[place[t]].readers.push(op));
        list(&node["outputs"]).iter().for_each(|t| spec.storages[place[t]].writers.push(op));
        spec.deps.extend(list(&node["after"]).iter().map(|first| (OpId(index[first]), op)));
    }
    list(&graph["outputs"]).iter().for_each(|t| spec.storages[place[t]].live_out = true);
    Problem::new(spec).expect("a legal graph")
}
