//! Graphs in files: networks as tensors and nodes, NPU graphs as nodes that allocate, work and free.

use neap_order::{Class, ClassId, Op, OpId, Problem, Spec, Storage};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

/// A graph with what others reached on it.
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) problem: Problem,
    /// The least peak known.
    pub(crate) best: Option<u64>,
    /// What tract-core 0.23.9 was seen to need.
    pub(crate) tract: Option<u64>,
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files: Vec<_> = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "json"));
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<Value> {
    serde_json::from_str(&std::fs::read_to_string(path)?).map_err(Error::other)
}

fn name(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

fn numbers(value: &Value) -> Vec<usize> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| Some(item.as_u64()? as usize)).collect()
}

/// Networks, smallest first, with the columns of `results.csv`.
pub(crate) fn networks(folder: &Path) -> Result<Vec<Named>> {
    let (best, tract) = (column(folder, "best_known")?, column(folder, "tract_opt_ram")?);
    let mut found = Vec::new();
    for path in files(folder)? {
        let name = name(&path);
        let problem = network(&read(&path)?).map_err(Error::other)?;
        found.push(Named { best: best.get(&name).copied(), tract: tract.get(&name).copied(), name, problem });
    }
    found.sort_by_key(|named| named.problem.ops());
    Ok(found)
}

fn column(folder: &Path, which: &str) -> Result<BTreeMap<String, u64>> {
    let text = std::fs::read_to_string(folder.join("results.csv"))?;
    let mut lines = text.lines();
    let column = lines.next().unwrap_or_default().split(',').position(|name| name == which);
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        Some((cells.first()?.to_string(), cells.get(column?)?.parse().ok()?))
    };
    Ok(lines.filter_map(row).collect())
}

fn network(graph: &Value) -> std::result::Result<Problem, String> {
    let list = |key: &str| graph[key].as_array().ok_or(format!("`{key}` is a list"));
    let mut spec = Spec::default();
    let mut place = BTreeMap::new();
    for tensor in list("tensors")? {
        place.insert(tensor["id"].as_u64().ok_or("a tensor has an id")? as usize, spec.storages.len());
        let size = tensor["bytes"].as_u64().ok_or("a tensor has bytes")?;
        spec.storages.push(Storage { size, ..Storage::default() });
    }
    let place = |id: usize| place.get(&id).copied().ok_or(format!("there is no tensor {id}"));
    for (at, node) in list("nodes")?.iter().enumerate() {
        let op = OpId(at as u32);
        spec.ops.push(Op::default());
        for id in numbers(&node["inputs"]) {
            spec.storages[place(id)?].readers.push(op);
        }
        for id in numbers(&node["outputs"]) {
            spec.storages[place(id)?].writers.push(op);
        }
    }
    for id in numbers(&graph["outputs"]) {
        spec.storages[place(id)?].live_out = true;
    }
    Problem::new(spec).map_err(|error| error.to_string())
}

/// NPU graphs: a buffer is allocated by the op that first writes it and freed after its last user; only L1 and UB count as bytes.
pub(crate) fn npu(folder: &Path) -> Result<Vec<Named>> {
    let mut found = Vec::new();
    for path in files(folder)? {
        let problem = npu_graph(&read(&path)?).map_err(Error::other)?;
        let name = name(&path);
        // The least peaks that were aimed at, from the folder's own table and what it cites.
        let best = match name.as_str() {
            "Matmul_Case0" => Some(9_216),
            "Matmul_Case1" => Some(34_816),
            "FlashAttention_Case0" => Some(4_248),
            "FlashAttention_Case1" => Some(7_586),
            "Conv_Case0" => Some(6_912),
            _ => None,
        };
        found.push(Named { name, problem, best, tract: None });
    }
    Ok(found)
}

fn npu_graph(graph: &Value) -> std::result::Result<Problem, String> {
    const SLOTS: [&str; 3] = ["L0A", "L0B", "L0C"];
    let nodes = graph["Nodes"].as_array().ok_or("`Nodes` is a list")?;
    let edges: Vec<(usize, usize)> = graph["Edges"]
        .as_array()
        .ok_or("`Edges` is a list")?
        .iter()
        .filter_map(|edge| {
            let ends = numbers(edge);
            Some((*ends.first()?, *ends.get(1)?))
        })
        .collect();
    let text = |node: &Value, key: &str| node[key].as_str().unwrap_or_default().to_owned();
    let number = |node: &Value, key: &str| node[key].as_u64().unwrap_or(0);
    let mut spec = Spec { classes: vec![Class { limit: Some(1), capacity: None }; SLOTS.len()], ..Spec::default() };
    let (mut op, mut allocates, mut frees) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut buffers = BTreeMap::new();
    for node in nodes {
        let (id, buffer) = (number(node, "Id") as usize, number(node, "BufId"));
        match text(node, "Op").as_str() {
            "ALLOC" => {
                let kind = text(node, "Type");
                let class = SLOTS.iter().position(|slot| *slot == kind);
                let size = if class.is_none() { number(node, "Size") } else { 0 };
                buffers.insert(buffer, spec.storages.len());
                allocates.insert(id, buffer);
                spec.storages.push(Storage { size, class: class.map(|at| ClassId(at as u32)), ..Storage::default() });
            }
            "FREE" => drop(frees.insert(id, buffer)),
            _ => {
                op.insert(id, OpId(spec.ops.len() as u32));
                spec.ops.push(Op { cycles: number(node, "Cycles"), ..Op::default() });
            }
        }
    }
    for (from, to) in edges {
        match (op.get(&from), op.get(&to)) {
            (Some(from), Some(to)) => spec.deps.push((*from, *to)),
            (None, Some(to)) => {
                if let Some(at) = allocates.get(&from).and_then(|buffer| buffers.get(buffer)) {
                    spec.storages[*at].writers.push(*to);
                }
            }
            (Some(from), None) => {
                if let Some(at) = frees.get(&to).and_then(|buffer| buffers.get(buffer)) {
                    spec.storages[*at].readers.push(*from);
                }
            }
            (None, None) => {}
        }
    }
    Problem::new(spec).map_err(|error| error.to_string())
}
