//! The metadata `OfflineMemoryAllocation`: where TFLite Micro puts each tensor, which it believes without a check. So it is checked here.
//!
//! Format: 32-bit little-endian integers: a version and the number of subgraphs, which the runtime ignores, the number of tensors of *all* subgraphs, then
//! for each its offset in bytes from the start of the head, -1 where the runtime is to find a place itself. Source:
//! `tensorflow/lite/micro/docs/memory_management.md`; lives are counted as in `micro_allocation_info.cc`. Of several lists the runtime follows the last.

use super::layout::{Graph, Layout, Operator};
use crate::error;
use neap_ir::diag::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the metadata.
pub(crate) const NAME: &str = "OfflineMemoryAllocation";
/// What the runtime aligns tensors to, in bytes.
pub(crate) const ALIGN: i64 = 16;
/// Integers before the offsets.
const HEADER: usize = 3;
/// The version that is written; no runtime looks at it.
const VERSION: i32 = 1;
/// Versions of this layout that tools write.
const VERSIONS: [i32; 2] = [0, VERSION];

/// A tensor: its subgraph, its number in it.
pub(crate) type Place = (usize, usize);

/// What a plan says of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// Bytes from the start of the head.
    pub(crate) offset: i64,
    /// Bytes.
    pub(crate) bytes: u64,
}

/// The list of integers for a plan.
///
/// # Errors
/// An offset that the field cannot hold, by its tensor.
pub(crate) fn words(layout: &Layout, placed: &BTreeMap<Place, Placed>) -> Result<Vec<i32>, Vec<Diagnostic>> {
    let count: usize = layout.graphs.iter().map(|graph| graph.tensors.len()).sum();
    let mut words = vec![VERSION, layout.graphs.len() as i32, count as i32];
    let mut errors = Vec::new();
    for (index, graph) in layout.graphs.iter().enumerate() {
        for (number, tensor) in graph.tensors.iter().enumerate() {
            // A tensor without bytes has no place that could be wrong; the runtime gives it one.
            let offset =
                placed.get(&(index, number)).filter(|placed| placed.bytes > 0).map_or(-1, |placed| placed.offset);
            words.push(i32::try_from(offset).unwrap_or_else(|_| {
                let place = tensor_place(index, number, &tensor.name);
                errors.push(error(format!(
                    "{place}: offset {offset} does not fit into the 32 bits that `{NAME}` has for it"
                )));
                -1
            }));
        }
    }
    if errors.is_empty() { Ok(words) } else { Err(errors) }
}

/// The integers as bytes.
pub(crate) fn bytes(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The offsets that a file holds, by subgraph and tensor; none without the metadata. An entry without a name is none of them.
///
/// # Errors
/// The list is cut short, speaks of another number of tensors, or holds an offset that is negative or not aligned.
pub(crate) fn read(layout: &Layout, file: &[u8]) -> Result<Option<BTreeMap<Place, i64>>, Vec<Diagnostic>> {
    let mut entries = layout.metadata.iter().filter(|entry| entry.name == NAME);
    let Some(entry) = entries.next() else { return Ok(None) };
    let wrong = |what: String| vec![error(format!("metadata `{NAME}`: {what}"))];
    if entries.next().is_some() {
        return Err(wrong("it is there more than once, and runtimes differ in which one they follow".to_owned()));
    }
    let buffer = layout.buffers.get(entry.buffer);
    let Some(buffer) = buffer else {
        return Err(wrong(format!("buffer {} is none of the model's {}", entry.buffer, layout.buffers.len())));
    };
    let data = buffer.data.and_then(|(_, at)| file.get(at + 4..at + 4 + buffer.len)).unwrap_or_default();
    if data.len() % 4 != 0 || data.len() < 4 * HEADER {
        return Err(wrong(format!("{} bytes are no list of {HEADER} or more integers", data.len())));
    }
    let word = |bytes: &[u8]| i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let words: Vec<i32> = data.chunks_exact(4).map(word).collect();
    let (version, graphs, said, there) = (words[0], words[1], words[HEADER - 1], words.len() - HEADER);
    if !VERSIONS.contains(&version) {
        return Err(wrong(format!("version {version} is not known, {} and {} are", VERSIONS[0], VERSIONS[1])));
    }
    // Some tools write the number of the one subgraph that they speak of.
    if graphs != 0 && usize::try_from(graphs) != Ok(layout.graphs.len()) {
        return Err(wrong(format!("it says {graphs} subgraphs, and the model has {}", layout.graphs.len())));
    }
    let tensors: usize = layout.graphs.iter().map(|graph| graph.tensors.len()).sum();
    if usize::try_from(said) != Ok(there) {
        return Err(wrong(format!("it says {said} offsets and holds {there}")));
    }
    if there != tensors {
        return Err(wrong(format!("it has {there} offsets, the model's subgraphs have {tensors} tensors")));
    }
    let mut offsets = words[HEADER..].iter();
    let (mut found, mut errors) = (BTreeMap::new(), Vec::new());
    for (index, graph) in layout.graphs.iter().enumerate() {
        for (number, (tensor, offset)) in graph.tensors.iter().zip(&mut offsets).enumerate() {
            let offset = i64::from(*offset);
            let place = || tensor_place(index, number, &tensor.name);
            match offset {
                -1 => {}
                ..0 => errors.push(error(format!("{}: offset {offset} is negative", place()))),
                _ if offset % ALIGN != 0 => {
                    errors.push(error(format!("{}: offset {offset} is no multiple of {ALIGN}", place())));
                }
                _ => {
                    found.insert((index, number), offset);
                }
            }
        }
    }
    if errors.is_empty() { Ok(Some(found)) } else { Err(errors) }
}

/// When a tensor's bytes are needed: steps, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Life {
    first: u32,
    last: u32,
}

/// Refuses offsets that give two tensors one byte while both are needed, unless `together` says that they share their bytes.
///
/// # Errors
/// Each such pair.
pub(crate) fn check(
    layout: &Layout,
    placed: &BTreeMap<Place, Placed>,
    together: &dyn Fn(Place, Place) -> bool,
) -> Result<(), Vec<Diagnostic>> {
    let lives = lives(layout)?;
    let mut errors = Vec::new();
    let mut sorted: Vec<(Life, Place, Placed)> = Vec::new();
    for (place, at) in placed.iter().filter(|(_, at)| at.bytes > 0) {
        if let Some(life) = lives.get(place) {
            sorted.push((*life, *place, *at));
        }
    }
    sorted.sort_by_key(|(life, place, _)| (life.first, *place));
    let mut alive: Vec<(Life, Place, Placed)> = Vec::new();
    for (life, place, at) in sorted {
        alive.retain(|(other, ..)| other.last >= life.first);
        for (_, other, there) in &alive {
            let end = |placed: &Placed| i128::from(placed.offset) + i128::from(placed.bytes);
            let meets = i128::from(at.offset) < end(there) && i128::from(there.offset) < end(&at);
            if meets && !together(place, *other) && errors.len() < 20 {
                let name =
                    |(graph, tensor): Place| tensor_place(graph, tensor, &layout.graphs[graph].tensors[tensor].name);
                let what = format!(
                    "{} at {} and {} at {} overlap while both are needed",
                    name(*other),
                    there.offset,
                    name(place),
                    at.offset
                );
                errors.push(error(what));
            }
        }
        alive.push((life, place, at));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// When the tensors of all subgraphs that the main one runs are needed. What a control flow operator runs lies between its operands and its
/// results in time; all of these are needed meanwhile.
fn lives(layout: &Layout) -> Result<BTreeMap<Place, Life>, Vec<Diagnostic>> {
    let mut walk = Walk { layout, lives: BTreeMap::new(), step: 0, seen: BTreeSet::new() };
    if !layout.graphs.is_empty() {
        walk.graph(0, 0)?;
    }
    Ok(walk.lives)
}

/// The deepest nesting of subgraphs; real models have three.
const DEEPEST: usize = 100;

struct Walk<'a> {
    layout: &'a Layout,
    lives: BTreeMap<Place, Life>,
    step: u32,
    seen: BTreeSet<usize>,
}

impl Walk<'_> {
    fn graph(&mut self, index: usize, depth: usize) -> Result<(), Vec<Diagnostic>> {
        let Some(graph) = self.layout.graphs.get(index).filter(|_| depth < DEEPEST) else {
            return Err(vec![error(format!("subgraph {index} is none of the model's, or runs itself"))]);
        };
        // One that runs more than once needs its tensors from the first time to the last.
        let again = !self.seen.insert(index);
        let begin = self.step;
        self.touch(index, &graph.inputs, begin);
        if again {
            self.step += 1;
            for operator in &graph.operators {
                self.touch(index, &operator.inputs, self.step);
                self.touch(index, &operator.outputs, self.step);
                for callee in
                    operator.calls.iter().filter(|callee| !self.seen.contains(callee)).copied().collect::<Vec<_>>()
                {
                    self.graph(callee, depth + 1)?;
                }
            }
        } else {
            for operator in &graph.operators {
                self.operator(index, operator, depth)?;
            }
        }
        self.touch(index, &graph.outputs, self.step);
        Ok(())
    }

    fn operator(&mut self, graph: usize, operator: &Operator, depth: usize) -> Result<(), Vec<Diagnostic>> {
        self.step += 1;
        let begin = self.step;
        for callee in &operator.calls {
            self.step += 1;
            self.graph(*callee, depth + 1)?;
        }
        for step in [begin, self.step] {
            self.touch(graph, &operator.inputs, step);
            self.touch(graph, &operator.outputs, step);
        }
        Ok(())
    }

    fn touch(&mut self, graph: usize, tensors: &[i32], step: u32) {
        for tensor in tensors.iter().filter_map(|tensor| usize::try_from(*tensor).ok()) {
            let life = self.lives.entry((graph, tensor)).or_insert(Life { first: step, last: step });
            life.first = life.first.min(step);
            life.last = life.last.max(step);
        }
    }
}

/// How often each subgraph is run from different places, the main one once more.
pub(crate) fn callers(graphs: &[Graph]) -> Vec<Vec<(usize, usize)>> {
    let mut callers = vec![Vec::new(); graphs.len()];
    for (index, graph) in graphs.iter().enumerate() {
        for (number, operator) in graph.operators.iter().enumerate() {
            for callee in operator.calls.iter().filter(|callee| **callee < graphs.len()) {
                callers[*callee].push((index, number));
            }
        }
    }
    callers
}

/// Where a tensor is, for messages.
pub(crate) fn tensor_place(graph: usize, tensor: usize, name: &str) -> String {
    let name: String = name.chars().take(200).collect();
    format!("subgraph {graph}, tensor {tensor} `{name}`")
}
