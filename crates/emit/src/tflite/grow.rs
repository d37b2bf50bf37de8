//! One more buffer and the metadata that name it, in a file of which no other byte changes.
//!
//! Pointers of a flatbuffer point forward, so what is new stands in front: a new root, new lists of buffers and metadata, and the new bytes. All that
//! was there follows as it was, further back by a multiple of 64, which keeps every alignment; it only has to be told
//! where things *behind* the flatbuffer are now, since these places are counted from the start of the file.

use super::layout::{Layout, Slot, read};
use crate::error;
use neap_ir::diag::Diagnostic;
use std::collections::BTreeMap;

/// What all that was there moves by is a multiple of this, in bytes; nothing in a model asks for more.
const STRIDE: usize = 64;
/// Where the new root's table may start: behind the pointer to it and the file identifier.
const FRONT: usize = 8;

/// The root's slots for buffers and metadata.
const BUFFERS: usize = 4;
const METADATA: usize = 6;

/// The file with metadata `name` of these bytes, in place of any that it had.
///
/// # Errors
/// The file has tables of a later version that this one cannot carry over, or grows past what its pointers reach.
pub(crate) fn with_metadata(file: &[u8], layout: &Layout, name: &str, data: &[u8]) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let wrong = |what: &str| vec![error(format!("metadata `{name}` cannot be added: {what}"))];
    if layout.has_unknown_slots {
        return Err(wrong("the model has fields that this version does not know"));
    }
    let kept: Vec<usize> = layout.metadata.iter().filter(|entry| entry.name != name).map(|entry| entry.at).collect();
    let mut block = Block { out: vec![0; FRONT], pointers: Vec::new() };
    // Pointers go forward: what points comes first.
    let fields: Vec<Field> = layout.slots.iter().map(|slot| Field::of(*slot)).collect();
    let root = block.table(&with_new_lists(fields));
    let buffers = block.list(layout.buffers.iter().map(|buffer| buffer.at));
    block.point(root.fields[BUFFERS], buffers.at);
    let metadata = block.list(kept.into_iter());
    block.point(root.fields[METADATA], metadata.at);
    let buffer = block.table(&[Field::New]);
    block.point(buffers.last, buffer.at);
    let entry = block.table(&[Field::New, Field::Scalar(layout.buffers.len() as u32)]);
    block.point(metadata.last, entry.at);
    let text = block.bytes(name.as_bytes(), 4);
    block.point(entry.fields[0], text);
    let bytes = block.bytes(data, 16);
    block.point(buffer.fields[0], bytes);
    let shift = (block.out.len() - FRONT).next_multiple_of(STRIDE);
    let mut out = block.finish(root.at, shift).ok_or_else(|| wrong("the file is too large"))?;
    out[4..FRONT].copy_from_slice(&file[4..FRONT]);
    out.extend(&file[FRONT..]);
    for (place, offset) in tails(layout) {
        let moved = offset.checked_add(shift as u64).ok_or_else(|| wrong("an offset is out of range"))?;
        out[place + shift..place + shift + 8].copy_from_slice(&moved.to_le_bytes());
    }
    if is_grown(file, layout, &out, name, data, shift) { Ok(out) } else { Err(wrong("parts of the file overlap")) }
}

/// Fields that hold places behind the flatbuffer, with what they hold.
fn tails(layout: &Layout) -> BTreeMap<usize, u64> {
    let buffers = layout.buffers.iter().filter_map(|buffer| buffer.tail);
    let operators = layout.graphs.iter().flat_map(|graph| &graph.operators).filter_map(|operator| operator.tail);
    // 0 and 1 stand for nothing.
    buffers.chain(operators).filter(|(_, offset)| *offset > 1).collect()
}

fn with_new_lists(mut fields: Vec<Field>) -> Vec<Field> {
    fields[BUFFERS] = Field::New;
    fields[METADATA] = Field::New;
    fields
}

/// Reads back what was written: the model of before, and one more buffer that the metadata name.
fn is_grown(file: &[u8], old: &Layout, out: &[u8], name: &str, data: &[u8], shift: usize) -> bool {
    let Ok(new) = read(out) else { return false };
    let [buffers @ .., added] = new.buffers.as_slice() else { return false };
    let bytes = |file: &[u8], buffer: &super::layout::Buffer| -> Option<Vec<u8>> {
        let (_, at) = buffer.data?;
        file.get(at + 4..at + 4 + buffer.len).map(<[u8]>::to_vec)
    };
    let moved = |offset: u64| if offset > 1 { offset + shift as u64 } else { offset };
    let same_buffer = |(a, b): (&super::layout::Buffer, &super::layout::Buffer)| {
        bytes(file, a) == bytes(out, b) && a.tail.map(|(_, at)| moved(at)) == b.tail.map(|(_, at)| at)
    };
    let entries = |layout: &Layout| -> Vec<(String, usize)> {
        layout.metadata.iter().map(|entry| (entry.name.clone(), entry.buffer)).collect()
    };
    let mut expected: Vec<(String, usize)> = entries(old).into_iter().filter(|(other, _)| other != name).collect();
    expected.push((name.to_owned(), old.buffers.len()));
    let same_graph = |(a, b): (&super::layout::Graph, &super::layout::Graph)| {
        let operators = a.operators.len() == b.operators.len()
            && a.operators.iter().zip(&b.operators).all(|(a, b)| {
                a.at + shift == b.at && (&a.inputs, &a.outputs, &a.calls) == (&b.inputs, &b.outputs, &b.calls)
            });
        operators && (&a.tensors, &a.inputs, &a.outputs) == (&b.tensors, &b.inputs, &b.outputs)
    };
    buffers.len() == old.buffers.len()
        && old.buffers.iter().zip(buffers).all(same_buffer)
        && bytes(out, added).as_deref() == Some(data)
        && entries(&new) == expected
        && old.graphs.len() == new.graphs.len()
        && old.graphs.iter().zip(&new.graphs).all(same_graph)
}

/// A field of four bytes of a new table.
#[derive(Clone, Copy)]
enum Field {
    Absent,
    Scalar(u32),
    /// Points to what was there.
    Old(usize),
    /// Points to something new, which is told later.
    New,
}

impl Field {
    fn of(slot: Slot) -> Field {
        match slot {
            Slot::Absent => Field::Absent,
            Slot::Scalar(value) => Field::Scalar(value),
            Slot::Target(at) => Field::Old(at),
        }
    }
}

enum Target {
    Old(usize),
    New(usize),
}

/// What stands in front.
struct Block {
    out: Vec<u8>,
    /// Where pointers stand, and to what they point.
    pointers: Vec<(usize, Target)>,
}

/// Where a new table stands, and its fields.
struct Table {
    at: usize,
    fields: Vec<usize>,
}

/// Where a new list stands, and its last entry, which is new.
struct List {
    at: usize,
    last: usize,
}

impl Block {
    fn align(&mut self, to: usize) {
        self.out.resize(self.out.len().next_multiple_of(to), 0);
    }

    fn point(&mut self, place: usize, at: usize) {
        self.pointers.push((place, Target::New(at)));
    }

    fn table(&mut self, fields: &[Field]) -> Table {
        self.align(4);
        let list = self.out.len();
        let there = |field: &&Field| !matches!(field, Field::Absent);
        let sizes = [4 + 2 * fields.len(), 4 + 4 * fields.iter().filter(there).count()];
        sizes.iter().for_each(|size| self.out.extend((*size as u16).to_le_bytes()));
        let mut next = 4u16;
        for field in fields {
            let offset = if there(&field) { next } else { 0 };
            self.out.extend(offset.to_le_bytes());
            next += if there(&field) { 4 } else { 0 };
        }
        self.align(4);
        let at = self.out.len();
        self.out.extend(((at - list) as i32).to_le_bytes());
        let mut places = Vec::new();
        for field in fields {
            places.push(self.out.len());
            match field {
                Field::Absent => {}
                Field::Scalar(value) => self.out.extend(value.to_le_bytes()),
                Field::Old(target) => {
                    self.pointers.push((self.out.len(), Target::Old(*target)));
                    self.out.extend([0; 4]);
                }
                Field::New => self.out.extend([0; 4]),
            }
        }
        Table { at, fields: places }
    }

    /// Pointers to what was there, and room for one more.
    fn list(&mut self, old: impl ExactSizeIterator<Item = usize>) -> List {
        self.align(4);
        let at = self.out.len();
        self.out.extend((old.len() as u32 + 1).to_le_bytes());
        for target in old {
            self.pointers.push((self.out.len(), Target::Old(target)));
            self.out.extend([0; 4]);
        }
        let last = self.out.len();
        self.out.extend([0; 4]);
        List { at, last }
    }

    /// A vector of bytes that start at a multiple of `align`, with a zero behind them as strings have it.
    fn bytes(&mut self, bytes: &[u8], align: usize) -> usize {
        let at = (self.out.len() + 4).next_multiple_of(align) - 4;
        self.out.resize(at, 0);
        self.out.extend((bytes.len() as u32).to_le_bytes());
        self.out.extend(bytes);
        self.out.push(0);
        at
    }

    /// The bytes in front, with every pointer set: what was there moves by `shift`.
    fn finish(mut self, root: usize, shift: usize) -> Option<Vec<u8>> {
        self.out.resize(FRONT + shift, 0);
        self.pointers.push((0, Target::New(root)));
        for (place, target) in &self.pointers {
            let at = match target {
                Target::New(at) => *at,
                Target::Old(at) => at.checked_add(shift)?,
            };
            let pointer = u32::try_from(at.checked_sub(*place)?).ok()?;
            self.out[*place..place + 4].copy_from_slice(&pointer.to_le_bytes());
        }
        Some(self.out)
    }
}
