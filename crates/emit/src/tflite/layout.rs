//! Where things stand in a TFLite file: what a writer changes, and what it needs to know of the rest.
//!
//! Source: the TFLite schema (`schema.fbs`); fields are named by their slots there.

use neap_import::tflite::flatbuffer::{Bytes, Malformed, Table};

/// What a model's root table has: version, operator codes, subgraphs, description, buffers, metadata buffer, metadata, signatures.
pub(crate) const ROOT_SLOTS: usize = 8;

// Numbers of options in the union of an operator.
const CALL: u8 = 16;
const IF: u8 = 92;
const WHILE: u8 = 93;
const CALL_ONCE: u8 = 103;

/// A file.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The value of each slot of the root.
    pub(crate) slots: Vec<Slot>,
    /// Whether the root has fields that this version does not know.
    pub(crate) has_unknown_slots: bool,
    /// Subgraphs, the main one first.
    pub(crate) graphs: Vec<Graph>,
    /// Buffers.
    pub(crate) buffers: Vec<Buffer>,
    /// Metadata entries.
    pub(crate) metadata: Vec<Entry>,
}

/// A field of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// It is not there.
    Absent,
    /// Four bytes.
    Scalar(u32),
    /// What it points to stands here.
    Target(usize),
}

/// A subgraph.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    /// Where the first entry of the list of operators stands.
    pub(crate) list: usize,
    pub(crate) operators: Vec<Operator>,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) inputs: Vec<i32>,
    pub(crate) outputs: Vec<i32>,
}

/// An operator.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Operator {
    /// Where its table stands.
    pub(crate) at: usize,
    pub(crate) inputs: Vec<i32>,
    pub(crate) outputs: Vec<i32>,
    /// Where the field stands that gives the absolute place of options behind the flatbuffer.
    pub(crate) tail: Option<(usize, u64)>,
    /// Subgraphs that it runs.
    pub(crate) calls: Vec<usize>,
}

/// A tensor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) buffer: usize,
    pub(crate) is_variable: bool,
    /// Whether its bytes are in a file beside the model.
    pub(crate) is_external: bool,
}

/// A buffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// Where its table stands.
    pub(crate) at: usize,
    /// Where its field `data` stands, and what that points to: length, then bytes.
    pub(crate) data: Option<(usize, usize)>,
    /// Bytes in the flatbuffer.
    pub(crate) len: usize,
    /// Where its field `offset` stands, and the absolute place behind the flatbuffer that it gives.
    pub(crate) tail: Option<(usize, u64)>,
}

impl Buffer {
    /// Whether there are bytes: then its tensors are constants.
    pub(crate) fn is_filled(&self) -> bool {
        self.len > 0 || self.tail.is_some_and(|(_, offset)| offset > 1)
    }
}

/// An entry of the metadata.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Where its table stands.
    pub(crate) at: usize,
    pub(crate) name: String,
    pub(crate) buffer: usize,
}

/// Reads a file.
///
/// # Errors
/// Something points outside of it.
pub(crate) fn read(bytes: &[u8]) -> Result<Layout, Malformed> {
    let bytes = Bytes::new(bytes);
    let root = bytes.root()?;
    let mut slots = Vec::new();
    for slot in 0..ROOT_SLOTS {
        slots.push(match (slot, root.field(slot)?) {
            (_, None) => Slot::Absent,
            (0, Some(_)) => Slot::Scalar(root.i32(0, 0)? as u32),
            (_, Some(at)) => Slot::Target(at + root.i32(slot, 0)? as u32 as usize),
        });
    }
    let mut unknown = false;
    for slot in ROOT_SLOTS..root.slots() {
        unknown |= root.field(slot)?.is_some();
    }
    let graphs = root.vector(2, 4)?.tables()?.into_iter().map(graph).collect::<Result<_, _>>()?;
    let buffers = root.vector(4, 4)?.tables()?.into_iter().map(buffer).collect::<Result<_, _>>()?;
    let entry = |table: Table<'_>| {
        Ok(Entry { at: table.at(), name: table.string(0)?, buffer: table.i32(1, 0)? as u32 as usize })
    };
    let metadata = root.vector(6, 4)?.tables()?.into_iter().map(entry).collect::<Result<_, _>>()?;
    Ok(Layout { slots, has_unknown_slots: unknown, graphs, buffers, metadata })
}

fn graph(table: Table<'_>) -> Result<Graph, Malformed> {
    let list = table.vector(3, 4)?;
    let operator = |table: Table<'_>| {
        let list = |slot| table.vector(slot, 4)?.i32s();
        let tail = table.field(9)?.map(|at| Ok((at, table.u64(9)?))).transpose()?;
        Ok(Operator { at: table.at(), inputs: list(1)?, outputs: list(2)?, tail, calls: calls(table)? })
    };
    let tensor = |table: Table<'_>| {
        let (name, buffer) = (table.string(3)?, table.i32(2, 0)? as u32 as usize);
        Ok(Tensor { name, buffer, is_variable: table.u8(5, 0)? != 0, is_external: table.i32(10, 0)? != 0 })
    };
    Ok(Graph {
        list: list.at(),
        operators: list.tables()?.into_iter().map(operator).collect::<Result<_, _>>()?,
        tensors: table.vector(0, 4)?.tables()?.into_iter().map(tensor).collect::<Result<_, _>>()?,
        inputs: table.vector(1, 4)?.i32s()?,
        outputs: table.vector(2, 4)?.i32s()?,
    })
}

/// The subgraphs that IF, CALL, WHILE and CALL_ONCE run, by the numbers of their options in the union.
fn calls(table: Table<'_>) -> Result<Vec<usize>, Malformed> {
    let (Some(options), slots) = (
        table.table(4)?,
        match table.u8(3, 0)? {
            CALL | CALL_ONCE => &[0][..],
            IF | WHILE => &[0, 1],
            _ => &[],
        },
    ) else {
        return Ok(Vec::new());
    };
    slots.iter().map(|slot| Ok(options.i32(*slot, 0)? as u32 as usize)).collect()
}

fn buffer(table: Table<'_>) -> Result<Buffer, Malformed> {
    let data = table.vector(0, 1)?;
    let tail = table.field(1)?.map(|at| Ok((at, table.u64(1)?))).transpose()?;
    let data_at = table.field(0)?.map(|at| (at, data.at() - 4));
    Ok(Buffer { at: table.at(), data: data_at, len: data.len(), tail })
}
