//! Names of contents of a TFLite file, written into the module that was read from it: bytes of constants, and of operators what the module does not carry.
//!
//! Of an operator that is its version, the bytes of custom options, and how the tensors that it touches are quantized and stored. Source: the TFLite schema
//! (`schema.fbs`); fields are named by their slots there.

use super::flatbuffer::{Bytes, Malformed, Table};
use crate::contents::{CONTENT, Naming};
use neap_ir::{Attr, Module, OpId};

/// Writes the names.
///
/// # Errors
/// Something points outside of the file.
pub fn name(bytes: &[u8], module: &mut Module, naming: &mut dyn Naming) -> Result<(), Malformed> {
    let whole = bytes;
    let bytes = Bytes::new(bytes);
    let root = bytes.root()?;
    let (codes, buffers) = (root.vector(1, 4)?.tables()?, root.vector(4, 4)?.tables()?);
    let file = File { whole, codes, buffers };
    for (func, graph) in module.functions().into_iter().zip(root.vector(2, 4)?.tables()?) {
        let (tensors, operators) = (graph.vector(0, 4)?.tables()?, graph.vector(3, 4)?.tables()?);
        let name = module.sym_name(func).unwrap_or_default().to_owned();
        for op in module.walk(func) {
            let found = match module.origin(op, &name).and_then(|number| operators.get(number)) {
                Some(operator) => file.operator(*operator, &tensors)?,
                None => match constant(module, op).and_then(|number| tensors.get(number)) {
                    Some(tensor) => file.constant(*tensor)?,
                    None => continue,
                },
            };
            let found = naming.bytes(&found);
            module.set_attr(op, CONTENT, Attr::str(&found));
        }
    }
    Ok(())
}

/// The tensor that a constant is: its value is called after it.
fn constant(module: &Module, op: OpId) -> Option<usize> {
    let value = module.results(op).first().filter(|_| module.op_name(op) == "neap.constant")?;
    module.text(module.value(*value).name?).strip_prefix('t')?.parse().ok()
}

struct File<'a> {
    whole: &'a [u8],
    codes: Vec<Table<'a>>,
    buffers: Vec<Table<'a>>,
}

impl File<'_> {
    fn constant(&self, tensor: Table<'_>) -> Result<Vec<u8>, Malformed> {
        let mut out = stored(tensor)?;
        if let Some(buffer) = self.buffers.get(tensor.i32(2, 0)? as u32 as usize) {
            let (data, offset, size) = (buffer.vector(0, 1)?, buffer.u64(1)?, buffer.u64(2)?);
            out.extend_from_slice(if data.is_empty() && offset > 1 { self.tail(offset, size) } else { data.raw(1)? });
        }
        // Bytes in a file beside the model go by the number that both have.
        out.extend(tensor.i32(10, 0)?.to_le_bytes());
        Ok(out)
    }

    /// Bytes behind the flatbuffer.
    fn tail(&self, offset: u64, size: u64) -> &[u8] {
        let range =
            usize::try_from(offset).ok().zip(offset.checked_add(size).and_then(|end| usize::try_from(end).ok()));
        range.and_then(|(start, end)| self.whole.get(start..end)).unwrap_or_default()
    }

    fn operator(&self, operator: Table<'_>, tensors: &[Table<'_>]) -> Result<Vec<u8>, Malformed> {
        let mut out = Vec::new();
        if let Some(code) = self.codes.get(operator.i32(0, 0)? as u32 as usize) {
            out.extend(code.i32(2, 1)?.to_le_bytes());
        }
        list(&mut out, operator.vector(5, 1)?.raw(1)?);
        list(&mut out, self.tail(operator.u64(9)?, operator.u64(10)?));
        // Operands, results, and what is in between.
        for slot in [1, 2, 8] {
            for tensor in operator.vector(slot, 4)?.i32s()? {
                let tensor = usize::try_from(tensor).ok().and_then(|tensor| tensors.get(tensor));
                list(&mut out, &tensor.map_or(Ok(Vec::new()), |tensor| stored(*tensor))?);
            }
        }
        Ok(out)
    }
}

/// How a tensor's numbers are meant: quantization and sparsity.
fn stored(tensor: Table<'_>) -> Result<Vec<u8>, Malformed> {
    let mut out = Vec::new();
    if let Some(quant) = tensor.table(4)? {
        list(&mut out, quant.vector(2, 4)?.raw(4)?);
        list(&mut out, quant.vector(3, 8)?.raw(8)?);
        out.extend(quant.i32(6, 0)?.to_le_bytes());
    }
    if let Some(sparsity) = tensor.table(6)? {
        list(&mut out, sparsity.vector(0, 4)?.raw(4)?);
        list(&mut out, sparsity.vector(1, 4)?.raw(4)?);
        for dimension in sparsity.vector(2, 4)?.tables()? {
            out.push(dimension.u8(0, 0)?);
            out.extend(dimension.i32(1, 0)?.to_le_bytes());
            for slot in [2, 4] {
                let width = match dimension.u8(slot, 0)? {
                    2 => 2,
                    3 => 1,
                    _ => 4,
                };
                if let Some(vector) = dimension.table(slot + 1)? {
                    list(&mut out, vector.vector(0, width)?.raw(width)?);
                }
            }
        }
    }
    Ok(out)
}

/// Bytes with their number, so that lists in a row stay apart.
fn list(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}
