//! Where things stand in a TFLite file: what a writer changes, and what it needs to know of the rest.
//!
//! Source: the TFLite schema (`schema.fbs`); fields are named by their slots there.

use neap_import::tflite::flatbuffer::{Bytes, Malformed, Table};

/// A file.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Subgraphs, the main one first.
    pub(crate) graphs: Vec<Graph>,
    /// Buffers.
    pub(crate) buffers: Vec<Buffer>,
    /// Metadata entries.
    pub(crate) metadata: Vec<Entry>,
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
}

/// A tensor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) buffer: usize,
    pub(crate) is_variable: bool,
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
    let graphs = root.vector(2, 4)?.tables()?.into_iter().map(graph).collect::<Result<_, _>>()?;
    let buffers = root.vector(4, 4)?.tables()?.into_iter().map(buffer).collect::<Result<_, _>>()?;
    let entry = |table: Table<'_>| {
        Ok(Entry { at: table.at(), name: table.string(0)?, buffer: table.i32(1, 0)? as u32 as usize })
    };
    let metadata = root.vector(6, 4)?.tables()?.into_iter().map(entry).collect::<Result<_, _>>()?;
    Ok(Layout { graphs, buffers, metadata })
}

fn graph(table: Table<'_>) -> Result<Graph, Malformed> {
    let list = table.vector(3, 4)?;
    let operator = |table: Table<'_>| {
        let list = |slot| table.vector(slot, 4)?.i32s();
        Ok(Operator { at: table.at(), inputs: list(1)?, outputs: list(2)? })
    };
    let tensor = |table: Table<'_>| {
        let (name, buffer) = (table.string(3)?, table.i32(2, 0)? as u32 as usize);
        Ok(Tensor { name, buffer, is_variable: table.u8(5, 0)? != 0 })
    };
    Ok(Graph {
        list: list.at(),
        operators: list.tables()?.into_iter().map(operator).collect::<Result<_, _>>()?,
        tensors: table.vector(0, 4)?.tables()?.into_iter().map(tensor).collect::<Result<_, _>>()?,
        inputs: table.vector(1, 4)?.i32s()?,
        outputs: table.vector(2, 4)?.i32s()?,
    })
}

fn buffer(table: Table<'_>) -> Result<Buffer, Malformed> {
    let data = table.vector(0, 1)?;
    let tail = match table.field(1)? {
        Some(at) => Some((at, table.u64(1)?)),
        None => None,
    };
    let data_at = table.field(0)?.map(|at| (at, data.at() - 4));
    Ok(Buffer { at: table.at(), data: data_at, len: data.len(), tail })
}
