//! At which sizes of dynamic dimensions a plan is run.
//!
//! A plan is made at the upper bounds and has to hold at every size below them. What it fixes in bytes (offsets, where a view or a part
//! starts) must not depend on a size: where it does, it is wrong as soon as that size is another one. So it is run at the upper bounds, at
//! the lower ones, half way, and with each of the first few dimensions alone at its lower bound and alone at its upper one, which tells two dimensions
//! apart that have the same bounds. Sizes at which the source itself makes no sense (a reshape that gains elements) cannot occur and are left out:
//! two names may be bound to each other by the graph.

use crate::shape::{Shape, Shapes};
use neap_ir::facts::{Facts, Key, OpFacts, Role};
use neap_ir::{Attr, Module, OpId};
use std::collections::BTreeMap;

/// Dimensions that are varied alone.
const ALONE: usize = 4;

/// Sizes of named dimensions; those that are not in it have their upper bounds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sizes(BTreeMap<String, u64>);

/// All dimensions at their upper bounds.
pub(crate) static UPPER: Sizes = Sizes(BTreeMap::new());

impl Sizes {
    /// Whether all dimensions have their upper bounds.
    pub(crate) fn upper(&self) -> bool {
        self.0.is_empty()
    }

    /// The size of a dimension, where it is not the upper bound.
    pub(crate) fn of(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}

/// A named dimension with its bounds.
struct Range {
    name: String,
    low: u64,
    high: u64,
}

/// The sizes to run a function at; the upper bounds first.
pub(crate) fn of(source: &Module, func: OpId, facts: &Facts) -> Vec<Sizes> {
    let ranges = ranges(source);
    let with = |size: &dyn Fn(usize, &Range) -> u64| {
        let sizes = ranges.iter().enumerate().map(|(at, range)| (range.name.clone(), size(at, range)));
        Sizes(sizes.collect())
    };
    let mut all = vec![with(&|_, range| range.low), with(&|_, range| range.low + (range.high - range.low) / 2)];
    if ranges.len() > 1 {
        for alone in 0..ranges.len().min(ALONE) {
            all.push(with(&|at, range| if at == alone { range.low } else { range.high }));
            all.push(with(&|at, range| if at == alone { range.high } else { range.low }));
        }
    }
    let mut chosen = vec![UPPER.clone()];
    for sizes in all {
        if !sizes.upper() && !chosen.contains(&sizes) && consistent(source, func, facts, &sizes) {
            chosen.push(sizes);
        }
    }
    chosen
}

fn ranges(module: &Module) -> Vec<Range> {
    let Some(Attr::Dict(bounds)) = module.attr(module.top(), "neap.bounds") else { return Vec::new() };
    let range = |(name, bound): &(neap_ir::Name, Attr)| {
        let pair = bound.as_i64s()?;
        let (low, high) = (u64::try_from(*pair.first()?).ok()?, u64::try_from(*pair.get(1)?).ok()?);
        (low < high).then(|| Range { name: module.text(*name).to_owned(), low, high })
    };
    bounds.iter().filter_map(range).collect()
}

/// Whether the operations whose shapes depend on each other in a known way have shapes that agree.
fn consistent(module: &Module, func: OpId, facts: &Facts, sizes: &Sizes) -> bool {
    let (here, upper) = (Shapes::new(module, sizes), Shapes::new(module, &UPPER));
    module.walk(func).into_iter().all(|op| {
        let row = facts.of(module.op_name(op), module.data_operand_count(op), module.data_results(op).len());
        // What disagrees at the upper bounds too was not understood.
        agrees(module, op, row, &here) || !agrees(module, op, row, &upper)
    })
}

fn agrees(module: &Module, op: OpId, row: &OpFacts, shapes: &Shapes<'_>) -> bool {
    let data = |at: usize| module.data_operand(op, at).and_then(|value| shapes.of(value));
    let Some(to) = module.data_results(op).first().and_then(|value| shapes.of(*value)) else { return true };
    match row.role {
        Role::Reshape | Role::Transpose | Role::Softmax | Role::Copy => {
            data(row.data_operand()).is_none_or(|from| from.bits() == to.bits())
        }
        Role::Elementwise | Role::Quantize | Role::Dequantize => {
            let lanes = (0..module.data_operand_count(op)).filter(|at| row.per_element(*at));
            lanes.filter_map(data).all(|from| stretches(&from, &to))
        }
        Role::Concat => {
            let axis = row.param(Key::Axis).and_then(|param| module.attr(op, param.attr.as_deref()?)?.as_i64());
            let rank = to.dims.len();
            let Some(axis) = axis.map(|axis| if axis < 0 { axis + rank as i64 } else { axis } as usize) else {
                return true;
            };
            let parts: Vec<_> = (0..module.data_operand_count(op)).filter_map(data).collect();
            let along = parts.iter().filter_map(|part| part.dims.get(axis)).sum();
            to.dims.get(axis).is_none_or(|whole| *whole == along)
        }
        _ => true,
    }
}

/// Whether a shape broadcasts to another one, aligned at the end.
fn stretches(from: &Shape, to: &Shape) -> bool {
    from.dims.len() <= to.dims.len()
        && from.dims.iter().rev().zip(to.dims.iter().rev()).all(|(one, whole)| *one == 1 || one == whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Vec<Sizes> {
        let module = neap_ir::parse(text).unwrap();
        of(&module, module.functions()[0], &Facts::builtin())
    }

    #[test]
    fn every_dimension_is_varied_alone() {
        let found = sizes(
            "module attributes {neap.bounds = {K = 3 : i64, M = [1, 9], N = [2, 9]}} { func.func @f() { return } }",
        );
        let pairs: Vec<(Option<u64>, Option<u64>)> = found.iter().map(|one| (one.of("M"), one.of("N"))).collect();
        let some = |m, n| (Some(m), Some(n));
        assert_eq!(pairs, [(None, None), some(1, 2), some(5, 5), some(1, 9), some(9, 2)]);
        assert!(found.iter().all(|one| one.of("K").is_none()));
    }

    #[test]
    fn sizes_that_cannot_occur_are_left_out() {
        // M is 4 N: half way, 2 and 8 agree by chance.
        let found = sizes(
            r#"module attributes {neap.bounds = {M = [1, 16], N = [1, 4]}} {
  func.func @f(%x: tensor<?x4xf32> {neap.dims = ["N"]}) {
    %y = "stablehlo.reshape"(%x) {neap.dims = ["M"]} : (tensor<?x4xf32>) -> tensor<?xf32>
    return
  }
}"#,
        );
        let pairs: Vec<(Option<u64>, Option<u64>)> = found.iter().map(|one| (one.of("M"), one.of("N"))).collect();
        assert_eq!(pairs, [(None, None), (Some(8), Some(2))]);
    }
}
