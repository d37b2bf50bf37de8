//! Parameters of an operation's role as numbers: from attributes, or from operands that are known constants.

use crate::rope::Rope;
use neap_ir::facts::{Key, OpFacts};
use neap_ir::{Attr, Module, OpId, Type, types::Dim};
use rustc_hash::FxHashMap;

/// Longest constant that is read as numbers, in characters.
const READ: usize = 4096;

/// Integer constants by content.
pub(crate) type Constants = FxHashMap<u128, Vec<i64>>;

/// Looks up the parameters of one operation.
pub(crate) struct Params<'a> {
    pub(crate) module: &'a Module,
    pub(crate) op: OpId,
    pub(crate) row: &'a OpFacts,
    pub(crate) operands: &'a [Rope],
    pub(crate) constants: &'a Constants,
}

impl Params<'_> {
    /// The numbers behind a key: `Ok(None)` if the operation does not have it, `Err` if it has it and it is not known.
    pub(crate) fn list(&self, key: Key) -> Result<Option<Vec<i64>>, ()> {
        let Some(param) = self.row.param(key) else { return Ok(None) };
        if let Some(rope) = param.operand.and_then(|at| self.operands.get(at))
            && rope.len > 0
        {
            return known(rope, self.constants).cloned().map(Some).ok_or(());
        }
        if let Some(attr) = param.attr.as_deref().and_then(|key| self.module.attr(self.op, key)) {
            return ints(self.module, attr).map(Some).ok_or(());
        }
        Ok(param.default.map(|value| vec![value]))
    }

    /// The single number behind a key.
    pub(crate) fn one(&self, key: Key) -> Result<Option<i64>, ()> {
        match self.list(key)? {
            None => Ok(None),
            Some(list) => list.first().copied().map(Some).ok_or(()),
        }
    }

    /// Whether the operation has the parameter, known or not.
    pub(crate) fn has(&self, key: Key) -> bool {
        !matches!(self.list(key), Ok(None))
    }
}

/// The numbers of a constant's content.
pub(crate) fn known<'a>(rope: &Rope, constants: &'a Constants) -> Option<&'a Vec<i64>> {
    let [seg] = &rope.segs[..] else { return None };
    if *rope != Rope::of(seg.content, rope.len) { None } else { constants.get(&seg.content) }
}

/// The integers of an attribute, of `dense<..>` too; booleans count as 0 and 1.
pub(crate) fn ints(module: &Module, attr: &Attr) -> Option<Vec<i64>> {
    match attr {
        Attr::Int { value, .. } => Some(vec![i64::try_from(*value).ok()?]),
        Attr::Bool(value) => Some(vec![(*value).into()]),
        Attr::DenseBools(values) => Some(values.iter().map(|value| (*value).into()).collect()),
        Attr::Elements { text, ty } if text.len() <= READ => dense(module, text, *ty),
        other => other.as_i64s(),
    }
}

/// `dense<[[1, 2], [3, 4]]>`, `dense<7>` (repeated), `dense<>`; no hexadecimal form.
fn dense(module: &Module, text: &str, ty: neap_ir::Ty) -> Option<Vec<i64>> {
    let body = text.strip_prefix("dense<")?.strip_suffix('>')?;
    let (Type::Tensor { shape: Some(shape), elem, .. } | Type::MemRef { shape: Some(shape), elem, .. }) = module.ty(ty)
    else {
        return None;
    };
    if !matches!(module.ty(*elem), Type::Integer { .. } | Type::Index) || body.contains('"') {
        return None;
    }
    let mut values = Vec::new();
    for word in body.split(|c: char| "[], ".contains(c)).filter(|word| !word.is_empty()) {
        values.push(match word {
            "true" => 1,
            "false" => 0,
            number => number.parse().ok()?,
        });
    }
    let sizes = shape.iter().map(|dim| if let Dim::Known(size) = dim { Some(*size) } else { None });
    let count = sizes.collect::<Option<Vec<u64>>>()?.iter().try_fold(1u64, |a, b| a.checked_mul(*b))?;
    if count as usize == values.len() {
        return Some(values);
    }
    (values.len() == 1 && count <= READ as u64).then(|| vec![values[0]; count as usize])
}
