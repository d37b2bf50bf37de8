//! Parameters of an operation's role as numbers: an axis, a permutation, the start of a slice.
//!
//! Facts say where to look: in an operand that a constant defines, else in an attribute, else there is a default. A value that is
//! there but not known at compile time (a computed operand, elided content) is `Err`: nobody may assume a default then.

use neap_ir::facts::{Facts, Key, OpFacts, Role};
use neap_ir::{Attr, Dim, Module, OpId, Ty, Type, ValueId};

use crate::callees::facts_of;

/// Numbers of one constant that are read at most: shapes and permutations are short.
const MOST: u64 = 4096;

/// A parameter is there, but its value is not known at compile time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unknown;

/// The numbers of a parameter; `None` if the operation does not have it.
///
/// # Errors
/// It has it, and its value is not known.
pub fn ints(module: &Module, facts: &Facts, op: OpId, row: &OpFacts, key: Key) -> Result<Option<Vec<i64>>, Unknown> {
    let Some(param) = row.param(key) else { return Ok(None) };
    if let Some(value) = param.operand.and_then(|index| module.data_operand(op, index))
        && !matches!(module.ty(module.value_ty(value)), Type::None)
    {
        return constant(module, facts, value).map(Some).ok_or(Unknown);
    }
    match param.attr.as_deref().and_then(|attr| module.attr(op, attr)) {
        Some(attr) => numbers(module, attr).map(Some).ok_or(Unknown),
        None => Ok(param.default.map(|default| vec![default])),
    }
}

/// The single number of a parameter.
///
/// # Errors
/// It has it, and its value is not known or not a single number.
pub fn int(module: &Module, facts: &Facts, op: OpId, row: &OpFacts, key: Key) -> Result<Option<i64>, Unknown> {
    match ints(module, facts, op, row, key)?.as_deref() {
        None => Ok(None),
        Some([one]) => Ok(Some(*one)),
        Some(_) => Err(Unknown),
    }
}

/// The permutation of a transpose of this rank; reversed dimensions where none is given. `None` if it is not known, or no permutation.
#[must_use]
pub fn permutation(module: &Module, facts: &Facts, op: OpId, row: &OpFacts, rank: usize) -> Option<Vec<usize>> {
    let perm = match ints(module, facts, op, row, Key::Perm).ok()? {
        Some(perm) => perm.into_iter().map(|at| axis(at, rank)).collect::<Option<Vec<usize>>>()?,
        None => (0..rank).rev().collect(),
    };
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    sorted.into_iter().eq(0..rank).then_some(perm)
}

/// An axis that may count from the end, for a tensor of this rank.
#[must_use]
pub fn axis(axis: i64, rank: usize) -> Option<usize> {
    let rank_i64 = i64::try_from(rank).ok()?;
    usize::try_from(if axis < 0 { axis.checked_add(rank_i64)? } else { axis }).ok().filter(|axis| *axis < rank)
}

/// The numbers that a constant holds.
fn constant(module: &Module, facts: &Facts, value: ValueId) -> Option<Vec<i64>> {
    let op = module.defining_op(value)?;
    let row = facts_of(module, facts, op);
    let key = row.param(Key::Value).filter(|_| row.role == Role::Constant)?.attr.as_deref()?;
    let attr = module.attr(op, key)?;
    // Elements of another type than the result's are no constant that anyone can read.
    let own = !matches!(attr, Attr::Elements { ty, .. } if *ty != module.value_ty(value));
    if own { numbers(module, attr) } else { None }
}

/// The integers of an attribute.
fn numbers(module: &Module, attr: &Attr) -> Option<Vec<i64>> {
    match attr {
        Attr::Int { .. } => Some(vec![attr.as_i64()?]),
        Attr::Bool(value) => Some(vec![i64::from(*value)]),
        Attr::Elements { text, ty } => elements(module, text, *ty),
        other => other.as_i64s(),
    }
}

/// `dense<[[1, 2], [3, 4]]>`, `dense<7>` for all elements; no hexadecimal form, which only long lists are printed in.
fn elements(module: &Module, text: &str, ty: Ty) -> Option<Vec<i64>> {
    let Type::Tensor { shape: Some(shape), elem, .. } = module.ty(ty) else { return None };
    let integer = matches!(module.ty(*elem), Type::Integer { .. } | Type::Index);
    let size = |dim: &Dim| if let Dim::Known(size) = dim { Some(*size) } else { None };
    let count =
        shape.iter().try_fold(1u64, |count, dim| count.checked_mul(size(dim)?)).filter(|count| *count <= MOST)?;
    let body = text.strip_prefix("dense<")?.strip_suffix('>').filter(|_| integer)?;
    let words = body.split(['[', ']', ',', ' ']).filter(|word| !word.is_empty());
    let number = |word: &str| match word {
        "true" => Some(1),
        "false" => Some(0),
        word => word.parse().ok(),
    };
    spread(words.map(number).collect::<Option<Vec<i64>>>()?, count)
}

/// One value stands for all.
fn spread(values: Vec<i64>, count: u64) -> Option<Vec<i64>> {
    match values.as_slice() {
        values if values.len() as u64 == count => Some(values.to_vec()),
        [one] => Some(vec![*one; usize::try_from(count).ok()?]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, shape: &[u64], width: u32) -> Option<Vec<i64>> {
        let mut module = Module::new();
        let elem = module.int_ty(width);
        let shape = Some(shape.iter().map(|size| Dim::Known(*size)).collect());
        let ty = module.intern_ty(Type::Tensor { shape, elem, encoding: None });
        elements(&module, text, ty)
    }

    #[test]
    fn all_spellings_of_elements() {
        assert_eq!(read("dense<[[1, -2], [3, 4]]>", &[2, 2], 32), Some(vec![1, -2, 3, 4]));
        assert_eq!(read("dense<7>", &[3], 32), Some(vec![7, 7, 7]));
        assert_eq!(read("dense<5>", &[], 64), Some(vec![5]));
        assert_eq!(read("dense<>", &[0], 64), Some(vec![]));
        assert_eq!(read("dense<\"0x01000000FEFFFFFF\">", &[2], 32), None);
        assert_eq!(read("dense<[1, 2]>", &[3], 32), None);
        assert_eq!(read("dense<1>", &[1 << 40], 32), None);
        assert_eq!(read("dense_resource<x>", &[2], 32), None);
    }
}
