//! A bounds-checked view of flatbuffer bytes.
//!
//! The access functions of the `flatbuffers` crate are `unsafe`, which this project forbids, so the handful of rules of the format
//! that a reader needs are written out here; the tests build their files with that crate. Every access is checked
//! against the length of the file. A file may let many tables share one vector, so reading can take more time than the file has
//! bytes: a budget on the elements read, linear in the length of the file, bounds it.
//!
//! Source: the flatbuffers internals document (tables, vtables, vectors, strings).

use std::cell::Cell;

/// What is wrong with the bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// Something at this byte points outside of the file.
    OutOfBounds(usize),
    /// The tables share so much that the file stands for far more data than it has bytes.
    Amplified,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Malformed::OutOfBounds(at) => write!(f, "the bytes at {at} point outside of the file"),
            Malformed::Amplified => {
                f.write_str("the file's tables repeat the same data more often than any real model does")
            }
        }
    }
}

type Result<T> = std::result::Result<T, Malformed>;

/// The bytes of a file with the budget for reading them.
#[derive(Debug)]
pub struct Bytes<'a> {
    bytes: &'a [u8],
    budget: Cell<usize>,
}

/// A table: where it starts, and where its field offsets stand.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    bytes: &'a Bytes<'a>,
    at: usize,
    fields: usize,
    field_count: usize,
}

/// A vector: where its first element stands, and how many there are.
#[derive(Clone, Copy, Debug)]
pub struct Vector<'a> {
    bytes: &'a Bytes<'a>,
    at: usize,
    len: usize,
}

impl<'a> Bytes<'a> {
    /// Starts reading a file.
    pub fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes { bytes, budget: Cell::new(bytes.len().saturating_mul(16).saturating_add(4096)) }
    }

    /// The root table.
    ///
    /// # Errors
    /// The file is too short, or the root points outside of it.
    pub fn root(&'a self) -> Result<Table<'a>> {
        let at = self.follow(0)?;
        self.table(at)
    }

    fn get<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        let end = at.checked_add(N).ok_or(Malformed::OutOfBounds(at))?;
        let slice = self.bytes.get(at..end).ok_or(Malformed::OutOfBounds(at))?;
        Ok(slice.try_into().expect("the slice has N bytes"))
    }

    fn u32(&self, at: usize) -> Result<usize> {
        Ok(u32::from_le_bytes(self.get(at)?) as usize)
    }

    /// Where the forward offset at `at` points.
    fn follow(&self, at: usize) -> Result<usize> {
        let target = at.checked_add(self.u32(at)?).ok_or(Malformed::OutOfBounds(at))?;
        if target < self.bytes.len() { Ok(target) } else { Err(Malformed::OutOfBounds(at)) }
    }

    fn table(&'a self, at: usize) -> Result<Table<'a>> {
        self.spend(1)?;
        let back = i64::from(i32::from_le_bytes(self.get(at)?));
        let vtable = usize::try_from(at as i64 - back).map_err(|_| Malformed::OutOfBounds(at))?;
        let size = usize::from(u16::from_le_bytes(self.get(vtable)?));
        self.bytes.get(vtable..vtable + size).ok_or(Malformed::OutOfBounds(vtable))?;
        Ok(Table { bytes: self, at, fields: vtable + 4, field_count: size.saturating_sub(4) / 2 })
    }

    fn spend(&self, cost: usize) -> Result<()> {
        let left = self.budget.get().checked_sub(cost).ok_or(Malformed::Amplified)?;
        self.budget.set(left);
        Ok(())
    }
}

impl<'a> Table<'a> {
    /// Where the table starts.
    pub fn at(&self) -> usize {
        self.at
    }

    /// How many fields the table's list of fields has room for, absent ones included.
    pub fn slots(&self) -> usize {
        self.field_count
    }

    /// Where a field stands, if the table has it.
    ///
    /// # Errors
    /// The table's list of fields lies outside of the file.
    pub fn field(&self, slot: usize) -> Result<Option<usize>> {
        if slot >= self.field_count {
            return Ok(None);
        }
        let offset = usize::from(u16::from_le_bytes(self.bytes.get(self.fields + 2 * slot)?));
        Ok((offset != 0).then_some(self.at + offset))
    }

    /// Bytes of a scalar field, if the table has it.
    ///
    /// # Errors
    /// The field lies outside of the file.
    pub fn scalar<const N: usize>(&self, slot: usize) -> Result<Option<[u8; N]>> {
        self.field(slot)?.map(|at| self.bytes.get(at)).transpose()
    }

    /// A field of 1 byte.
    ///
    /// # Errors
    /// The field lies outside of the file; likewise below.
    pub fn u8(&self, slot: usize, default: u8) -> Result<u8> {
        Ok(self.scalar::<1>(slot)?.map_or(default, |[byte]| byte))
    }

    /// A field of 4 bytes.
    ///
    /// # Errors
    /// See [`Table::u8`].
    pub fn i32(&self, slot: usize, default: i32) -> Result<i32> {
        Ok(self.scalar(slot)?.map_or(default, i32::from_le_bytes))
    }

    /// A field of 8 bytes.
    ///
    /// # Errors
    /// See [`Table::u8`].
    pub fn u64(&self, slot: usize) -> Result<u64> {
        Ok(self.scalar(slot)?.map_or(0, u64::from_le_bytes))
    }

    /// A table that a field points to.
    ///
    /// # Errors
    /// See [`Table::u8`].
    pub fn table(&self, slot: usize) -> Result<Option<Table<'a>>> {
        let Some(at) = self.field(slot)? else { return Ok(None) };
        self.bytes.table(self.bytes.follow(at)?).map(Some)
    }

    /// A vector that a field points to, of elements of `size` bytes; an absent one is empty.
    ///
    /// # Errors
    /// See [`Table::u8`].
    pub fn vector(&self, slot: usize, size: usize) -> Result<Vector<'a>> {
        let Some(at) = self.field(slot)? else { return Ok(Vector { bytes: self.bytes, at: 0, len: 0 }) };
        let at = self.bytes.follow(at)?;
        let len = self.bytes.u32(at)?;
        let end =
            len.checked_mul(size).and_then(|bytes| bytes.checked_add(at + 4)).ok_or(Malformed::OutOfBounds(at))?;
        if end > self.bytes.bytes.len() {
            return Err(Malformed::OutOfBounds(at));
        }
        Ok(Vector { bytes: self.bytes, at: at + 4, len })
    }

    /// A string, its bytes that are no UTF-8 replaced; empty if absent.
    ///
    /// # Errors
    /// See [`Table::u8`].
    pub fn string(&self, slot: usize) -> Result<String> {
        let vector = self.vector(slot, 1)?;
        Ok(String::from_utf8_lossy(vector.raw(1)?).into_owned())
    }
}

impl<'a> Vector<'a> {
    /// Where the first element stands; nothing is there if the vector is empty or absent.
    pub fn at(&self) -> usize {
        self.at
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All bytes of a vector of elements of `size` bytes.
    ///
    /// # Errors
    /// The budget for reading is used up; likewise below.
    pub fn raw(&self, size: usize) -> Result<&'a [u8]> {
        let bytes = self.len * size;
        self.bytes.spend(bytes)?;
        self.bytes.bytes.get(self.at..self.at + bytes).ok_or(Malformed::OutOfBounds(self.at))
    }

    /// The elements of a vector of 4-byte integers.
    ///
    /// # Errors
    /// See [`Vector::raw`].
    pub fn i32s(&self) -> Result<Vec<i32>> {
        let chunk = |bytes: &[u8]| i32::from_le_bytes(bytes.try_into().expect("4 bytes"));
        Ok(self.raw(4)?.chunks_exact(4).map(chunk).collect())
    }

    /// The elements of a vector of 8-byte integers.
    ///
    /// # Errors
    /// See [`Vector::raw`].
    pub fn i64s(&self) -> Result<Vec<i64>> {
        let chunk = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("8 bytes"));
        Ok(self.raw(8)?.chunks_exact(8).map(chunk).collect())
    }

    /// The elements of a vector of floats.
    ///
    /// # Errors
    /// See [`Vector::raw`].
    pub fn f32s(&self) -> Result<Vec<f32>> {
        let chunk = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("4 bytes"));
        Ok(self.raw(4)?.chunks_exact(4).map(chunk).collect())
    }

    /// The tables of a vector of tables.
    ///
    /// # Errors
    /// See [`Vector::raw`]; or one of them lies outside of the file.
    pub fn tables(&self) -> Result<Vec<Table<'a>>> {
        self.bytes.spend(self.len)?;
        (0..self.len).map(|index| self.bytes.table(self.bytes.follow(self.at + 4 * index)?)).collect()
    }
}
