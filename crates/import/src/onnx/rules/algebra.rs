//! Elementwise operators, products of matrices, reductions, normalisations, quantization.

use super::super::fact::{Dims, Fact, elem};
use super::super::size::Size;
use super::{INDEX, View, axis, broadcast, named_elem, scalar};

pub(super) fn apply(view: &mut View<'_, '_>) -> Option<Vec<Fact>> {
    let one = |fact: Fact| Some(vec![fact]);
    match view.op() {
        "Abs"
        | "Acos"
        | "Acosh"
        | "Asin"
        | "Asinh"
        | "Atan"
        | "Atanh"
        | "BitwiseNot"
        | "Ceil"
        | "Celu"
        | "Clip"
        | "Cos"
        | "Cosh"
        | "CumSum"
        | "CumProd"
        | "Elu"
        | "Erf"
        | "Exp"
        | "Floor"
        | "Gelu"
        | "HardSigmoid"
        | "HardSwish"
        | "Hardmax"
        | "Identity"
        | "InstanceNormalization"
        | "GroupNormalization"
        | "LRN"
        | "LeakyRelu"
        | "Log"
        | "LogSoftmax"
        | "LpNormalization"
        | "MeanVarianceNormalization"
        | "Mish"
        | "Neg"
        | "Not"
        | "PRelu"
        | "Reciprocal"
        | "Relu"
        | "ReverseSequence"
        | "RotaryEmbedding"
        | "Round"
        | "Scatter"
        | "ScatterElements"
        | "ScatterND"
        | "Selu"
        | "Shrink"
        | "Sigmoid"
        | "Sign"
        | "Sin"
        | "Sinh"
        | "Softmax"
        | "Softplus"
        | "Softsign"
        | "Sqrt"
        | "Swish"
        | "Tan"
        | "Tanh"
        | "TensorScatter"
        | "ThresholdedRelu"
        | "Trilu"
        | "Bernoulli" => {
            if matches!(view.operands.first(), Some(Some(Fact::Sequence(_) | Fact::Optional(_)))) {
                return view.operands[0].clone().map(|fact| vec![fact]);
            }
            let mut fact = view.same(0);
            if let ("Bernoulli", Fact::Tensor(tensor)) = (view.op(), &mut fact) {
                tensor.elem = named_elem(view.node, "dtype", tensor.elem);
            }
            one(fact)
        }
        "IsInf" | "IsNaN" => one(Fact::tensor(elem::BOOL, view.dims(0).cloned())),
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Mod" | "Max" | "Min" | "Mean" | "Sum" | "BitwiseAnd" | "BitwiseOr"
        | "BitwiseXor" | "BitShift" => one(Fact::tensor(view.elem(0), all(view, 0))),
        "And" | "Or" | "Xor" | "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" => {
            one(Fact::tensor(elem::BOOL, all(view, 0)))
        }
        "Where" => one(Fact::tensor(view.elem(1), all(view, 0))),
        "Cast" => one(Fact::tensor(named_elem(view.node, "to", 0), view.dims(0).cloned())),
        "CastLike" => one(Fact::tensor(view.elem(1), view.dims(0).cloned())),
        "MatMul" => one(Fact::tensor(view.elem(0), matmul(view, 0, 1))),
        "MatMulInteger" => one(Fact::tensor(elem::I32, matmul(view, 0, 1))),
        "QLinearMatMul" => one(Fact::tensor(view.elem(7), matmul(view, 0, 3))),
        "Gemm" => one(view.like(0, gemm(view))),
        "Einsum" => {
            let dims = einsum(view);
            one(view.like(0, dims))
        }
        "Det" => one(view.like(0, view.dims(0).map(|dims| dims[..dims.len().saturating_sub(2)].to_vec()))),
        "ReduceL1" | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceMax" | "ReduceMean" | "ReduceMin"
        | "ReduceProd" | "ReduceSum" | "ReduceSumSquare" => one(view.like(0, reduced(view))),
        "ArgMax" | "ArgMin" => {
            let (at, keep) = (view.int("axis", 0), view.int("keepdims", 1) != 0);
            let dims = view.dims(0).and_then(|dims| without(dims, &[axis(at, dims.len())?], keep));
            one(Fact::tensor(INDEX, dims))
        }
        "TopK" => {
            let at = view.int("axis", -1);
            let count = match view.node.int("k") {
                Some(count) => Some(Size::of(count)),
                None => view.content(1).and_then(|list| list.first().cloned().flatten()),
            };
            let dims = view.dims(0).and_then(|dims| replaced(dims, axis(at, dims.len())?, count));
            Some(vec![view.like(0, dims.clone()), Fact::tensor(INDEX, dims)])
        }
        "BatchNormalization" => {
            let stats = |at: usize| view.same(if view.has(at) { at } else { 1 });
            Some(vec![view.same(0), stats(3), stats(4), stats(3), stats(4)])
        }
        "LayerNormalization" | "RMSNormalization" => {
            let at = view.int("axis", -1);
            let stats = view.dims(0).and_then(|dims| {
                let first = axis(at, dims.len())?;
                Some(
                    dims.iter()
                        .enumerate()
                        .map(|(at, dim)| if at < first { dim.clone() } else { Some(Size::of(1)) })
                        .collect(),
                )
            });
            let stats = Fact::tensor(named_elem(view.node, "stash_type", elem::F32), stats);
            Some(vec![view.same(0), stats.clone(), stats])
        }
        "Dropout" => {
            let mask = if view.opset >= 10 { elem::BOOL } else { view.elem(0) };
            Some(vec![view.same(0), Fact::tensor(mask, view.dims(0).cloned())])
        }
        "QuantizeLinear" => {
            let given = named_elem(view.node, "output_dtype", 0);
            let to = match given {
                0 if view.has(2) => view.elem(2),
                0 => elem::U8,
                given => given,
            };
            one(Fact::tensor(to, view.dims(0).cloned()))
        }
        "DequantizeLinear" => {
            let given = named_elem(view.node, "output_dtype", 0);
            one(Fact::tensor(if given == 0 { view.elem(1) } else { given }, view.dims(0).cloned()))
        }
        "DynamicQuantizeLinear" => {
            let whole = Fact::tensor(elem::U8, view.dims(0).cloned());
            Some(vec![whole, scalar(elem::F32), scalar(elem::U8)])
        }
        _ => None,
    }
}

/// All operands broadcast together.
fn all(view: &mut View<'_, '_>, from: usize) -> Option<Dims> {
    let count = view.operands.len();
    let operands: Vec<Dims> = (from..count).map(|at| view.dims(at).cloned()).collect::<Option<_>>()?;
    // Before version 7 the second operand's dimensions are aligned as attributes say: the result is shaped as the first.
    if view.opset < 7 && view.node.int("broadcast").is_some() {
        return operands.into_iter().next();
    }
    let operands: Vec<&Dims> = operands.iter().collect();
    Some(broadcast(view.sizes, &operands))
}

fn matmul(view: &mut View<'_, '_>, left: usize, right: usize) -> Option<Dims> {
    let (mut a, mut b) = (view.dims(left)?.clone(), view.dims(right)?.clone());
    let (row, column) = (a.len() > 1, b.len() > 1);
    let last = if column { b.pop() } else { None };
    b.pop()?;
    a.pop()?;
    let rows = if row { a.pop() } else { None };
    let mut dims = broadcast(view.sizes, &[&a, &b]);
    dims.extend(rows);
    dims.extend(last);
    Some(dims)
}

fn gemm(view: &View<'_, '_>) -> Option<Dims> {
    let side = |at: usize, flag: &str| -> Option<Dims> {
        let mut dims = view.dims(at)?.clone();
        if view.int(flag, 0) != 0 {
            dims.reverse();
        }
        (dims.len() == 2).then_some(dims)
    };
    let (a, b) = (side(0, "transA")?, side(1, "transB")?);
    Some(vec![a[0].clone(), b[1].clone()])
}

/// Dimensions by letter; an ellipsis stands for dimensions that broadcast.
fn einsum(view: &mut View<'_, '_>) -> Option<Dims> {
    let equation: String = view.node.text("equation")?.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (equation.as_str(), None),
    };
    let mut letters: std::collections::BTreeMap<char, (usize, Option<Size>)> = std::collections::BTreeMap::new();
    let mut batches: Vec<Dims> = Vec::new();
    let count = view.operands.len();
    let terms: Vec<&str> = inputs.split(',').collect();
    if terms.len() != count {
        return None;
    }
    for (at, term) in terms.into_iter().enumerate() {
        let dims = view.dims(at)?;
        let (before, after) = term.split_once("...").unwrap_or((term, ""));
        let named = before.chars().count() + after.chars().count();
        let hidden = dims.len().checked_sub(named)?;
        if hidden > 0 && !term.contains("...") {
            return None;
        }
        let start = before.chars().count();
        batches.push(dims[start..start + hidden].to_vec());
        let named = dims[..start].iter().chain(&dims[start + hidden..]);
        for (letter, dim) in before.chars().chain(after.chars()).zip(named) {
            let entry = letters.entry(letter).or_insert((0, dim.clone()));
            entry.0 += 1;
            if entry.1.as_ref().and_then(Size::known) == Some(1) {
                entry.1 = dim.clone();
            }
        }
    }
    let batches: Vec<&Dims> = batches.iter().collect();
    let batch = broadcast(view.sizes, &batches);
    let Some(output) = output else {
        // Letters that occur once, in alphabetical order.
        let once = letters.values().filter(|(count, _)| *count == 1).map(|(_, dim)| dim.clone());
        return Some(batch.into_iter().chain(once).collect());
    };
    let (before, after) = output.split_once("...").unwrap_or((output, ""));
    let find = |letter: char| letters.get(&letter).map(|(_, dim)| dim.clone());
    let mut dims: Dims = before.chars().map(find).collect::<Option<_>>()?;
    if output.contains("...") {
        dims.extend(batch);
    }
    dims.extend(after.chars().map(find).collect::<Option<Dims>>()?);
    Some(dims)
}

fn reduced(view: &View<'_, '_>) -> Option<Dims> {
    let dims = view.dims(0)?;
    let keep = view.int("keepdims", 1) != 0;
    match view.list("axes", 1) {
        Some(list) => {
            let list = list.unwrap_or_default();
            if list.is_empty() {
                if view.int("noop_with_empty_axes", 0) != 0 {
                    return Some(dims.clone());
                }
                return without(dims, &(0..dims.len()).collect::<Vec<_>>(), keep);
            }
            let axes: Vec<usize> = list.iter().map(|at| axis(*at, dims.len())).collect::<Option<_>>()?;
            without(dims, &axes, keep)
        }
        // Which dimensions go is not known; their number is, if it says how many.
        None if keep => Some(vec![None; dims.len()]),
        None => None,
    }
}

/// Dimensions without some, or with 1 in their place.
fn without(dims: &Dims, axes: &[usize], keep: bool) -> Option<Dims> {
    let one = |(at, dim): (usize, &Option<Size>)| match axes.contains(&at) {
        true if keep => Some(Some(Size::of(1))),
        true => None,
        false => Some(dim.clone()),
    };
    Some(dims.iter().enumerate().filter_map(one).collect())
}

/// Dimensions with another size at one place.
pub(super) fn replaced(dims: &Dims, at: usize, size: Option<Size>) -> Option<Dims> {
    let mut dims = dims.clone();
    *dims.get_mut(at)? = size;
    Some(dims)
}
