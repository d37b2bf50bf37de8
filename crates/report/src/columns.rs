//! The data of the page: one array per field instead of one object per storage, so that a hundred thousand storages are read at once.
//!
//! Strings that repeat (types, kinds of operations) are stored once and named by index. Lists of lists are flat, with where each begins.

use crate::{Arena, Function, Kind, Picture};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The largest integer that a script's numbers hold exactly, with all below it.
const EXACT: u64 = 1 << 53;

/// A number of bytes: as text where a script could not hold it.
struct Bytes(u64);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 <= EXACT { serializer.serialize_u64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

/// A difference in bytes.
struct Signed(i64);

impl Serialize for Signed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.unsigned_abs() <= EXACT { serializer.serialize_i64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

fn all(list: impl IntoIterator<Item = u64>) -> Vec<Bytes> {
    list.into_iter().map(Bytes).collect()
}

/// Lists one behind the other.
#[derive(Serialize, Default)]
struct Flat {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Flat {
    fn new<'a>(lists: impl Iterator<Item = &'a [u32]>) -> Flat {
        let mut flat = Flat { starts: vec![0], items: Vec::new() };
        for list in lists {
            flat.items.extend_from_slice(list);
            flat.starts.push(flat.items.len());
        }
        flat
    }
}

/// Strings by number, in the order in which they came.
#[derive(Default)]
struct Strings<'a> {
    list: Vec<&'a str>,
    index: BTreeMap<&'a str, usize>,
}

impl<'a> Strings<'a> {
    fn add(&mut self, text: &'a str) -> usize {
        *self.index.entry(text).or_insert_with(|| {
            self.list.push(text);
            self.list.len() - 1
        })
    }
}

#[derive(Serialize)]
struct Page<'a> {
    input: &'a str,
    neap: &'a str,
    profile: &'a str,
    checked: bool,
    not_included: &'a [String],
    kinds: [&'static str; 5],
    functions: Vec<FunctionColumns<'a>>,
    passes: &'a [crate::Pass],
    strings: Vec<&'a str>,
}

#[derive(Serialize)]
struct FunctionColumns<'a> {
    name: &'a str,
    before: &'a str,
    figures: FigureColumns<'a>,
    saved: Vec<(&'static str, Signed)>,
    others: Vec<(&'static str, Bytes)>,
    arenas: Vec<ArenaColumns<'a>>,
    storages: StorageColumns,
    values: ValueColumns<'a>,
    ops: OpColumns<'a>,
    curves: [Vec<Bytes>; 2],
}

#[derive(Serialize)]
struct FigureColumns<'a> {
    arena: Bytes,
    peak: Bytes,
    lower_bound: Option<Bytes>,
    proof: &'a str,
    source_peak: Bytes,
    source_is_plan: bool,
    source_step: u32,
    source_op: &'a str,
    peak_step: Option<u32>,
    peak_op: &'a str,
    at_peak: &'a [u32],
}

#[derive(Serialize)]
struct ArenaColumns<'a> {
    name: &'a str,
    used: Bytes,
    peak: Bytes,
    capacity: Option<Bytes>,
    align: Bytes,
}

#[derive(Serialize)]
struct StorageColumns {
    kind: Vec<u8>,
    arena: Vec<u32>,
    offset: Vec<Option<Bytes>>,
    size: Vec<Bytes>,
    align: Vec<Bytes>,
    begin: Vec<u32>,
    end: Vec<u32>,
    op: Vec<usize>,
    /// Where the values of each storage begin, and one past the last.
    values: Vec<usize>,
}

#[derive(Serialize)]
struct ValueColumns<'a> {
    name: Vec<&'a str>,
    ssa: Vec<&'a str>,
    ty: Vec<usize>,
    at: Vec<Bytes>,
    bytes: Vec<Bytes>,
    begin: Vec<u32>,
    end: Vec<u32>,
}

#[derive(Serialize)]
struct OpColumns<'a> {
    kind: Vec<usize>,
    name: Vec<&'a str>,
    end: Vec<u32>,
    reads: Flat,
    makes: Flat,
}

/// The picture as one line of JSON.
pub(crate) fn json(picture: &Picture) -> String {
    let mut strings = Strings::default();
    let functions = picture.functions.iter().map(|function| columns(function, &mut strings)).collect();
    let page = Page {
        input: &picture.input,
        neap: &picture.neap,
        profile: &picture.profile,
        checked: picture.checked,
        not_included: &picture.not_included,
        kinds: Kind::ALL.map(Kind::name),
        functions,
        passes: &picture.passes,
        strings: strings.list,
    };
    serde_json::to_string(&page).unwrap_or_else(|_| unreachable!("plain data has a JSON form"))
}

fn columns<'a>(function: &'a Function, strings: &mut Strings<'a>) -> FunctionColumns<'a> {
    let (figures, graph) = (&function.figures, &function.graph);
    FunctionColumns {
        name: &function.name,
        before: graph.before_shows,
        figures: FigureColumns {
            arena: Bytes(figures.arena),
            peak: Bytes(figures.peak),
            lower_bound: figures.lower_bound.map(Bytes),
            proof: &figures.proof,
            source_peak: Bytes(figures.source_peak),
            source_is_plan: figures.source_is_plan,
            source_step: figures.source_step,
            source_op: &figures.source_op,
            peak_step: figures.peak_step,
            peak_op: &figures.peak_op,
            at_peak: &figures.at_peak,
        },
        saved: function.saved.iter().map(|(name, bytes)| (*name, Signed(*bytes))).collect(),
        others: function.others.iter().map(|(name, bytes)| (*name, Bytes(*bytes))).collect(),
        arenas: function.arenas.iter().map(arena).collect(),
        storages: storages(function, strings),
        values: ValueColumns {
            name: graph.values.iter().map(|value| value.name.as_str()).collect(),
            ssa: graph.values.iter().map(|value| value.ssa.as_str()).collect(),
            ty: graph.values.iter().map(|value| strings.add(&value.ty)).collect(),
            at: all(graph.values.iter().map(|value| value.at)),
            bytes: all(graph.values.iter().map(|value| value.bytes)),
            begin: graph.values.iter().map(|value| value.live[0]).collect(),
            end: graph.values.iter().map(|value| value.live[1]).collect(),
        },
        ops: OpColumns {
            kind: graph.ops.iter().map(|op| strings.add(&op.kind)).collect(),
            name: graph.ops.iter().map(|op| op.name.as_str()).collect(),
            end: graph.ops.iter().map(|op| op.end).collect(),
            reads: Flat::new(graph.ops.iter().map(|op| op.reads.as_slice())),
            makes: Flat::new(graph.ops.iter().map(|op| op.makes.as_slice())),
        },
        curves: [all(graph.before.iter().copied()), all(graph.after.iter().copied())],
    }
}

fn arena(arena: &Arena) -> ArenaColumns<'_> {
    ArenaColumns {
        name: &arena.name,
        used: Bytes(arena.used),
        peak: Bytes(arena.peak),
        capacity: arena.capacity.map(Bytes),
        align: Bytes(arena.align),
    }
}

fn storages<'a>(function: &'a Function, strings: &mut Strings<'a>) -> StorageColumns {
    let list = &function.storages;
    let mut starts = vec![0];
    let mut next = 0;
    for storage in 0..list.len() {
        let values = function.graph.values[next..].iter();
        next += values.take_while(|value| value.storage as usize == storage).count();
        starts.push(next);
    }
    StorageColumns {
        kind: list.iter().map(|storage| storage.kind as u8).collect(),
        arena: list.iter().map(|storage| storage.arena).collect(),
        offset: list.iter().map(|storage| storage.offset.map(Bytes)).collect(),
        size: all(list.iter().map(|storage| storage.size)),
        align: all(list.iter().map(|storage| storage.align)),
        begin: list.iter().map(|storage| storage.live[0]).collect(),
        end: list.iter().map(|storage| storage.live[1]).collect(),
        op: list.iter().map(|storage| strings.add(&storage.op)).collect(),
        values: starts,
    }
}
