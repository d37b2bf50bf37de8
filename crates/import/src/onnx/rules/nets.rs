//! Recurrent networks, sequences, optional values.

use super::super::fact::{Dims, Fact, elem};
use super::super::size::Size;
use super::algebra::replaced;
use super::{INDEX, View, axis, named_elem, scalar};

pub(super) fn apply(view: &mut View<'_, '_>) -> Option<Vec<Fact>> {
    let one = |fact: Fact| Some(vec![fact]);
    match view.op() {
        "LSTM" | "GRU" | "RNN" => recurrent(view),
        "SequenceEmpty" => one(sequence(Fact::tensor(named_elem(view.node, "dtype", elem::F32), None))),
        "SequenceConstruct" => {
            let mut operands = view.operands.iter().flatten();
            let first = operands.next()?.clone().without_content();
            let rest: Vec<Fact> = operands.cloned().collect();
            one(sequence(rest.into_iter().fold(first, |a, b| a.either(b, view.sizes, true))))
        }
        "SequenceInsert" => {
            let (Some(Fact::Sequence(of)), Some(new)) = (view.operands.first()?.clone(), view.operands.get(1)?.clone())
            else {
                return None;
            };
            // What an empty sequence would hold has no dimensions yet.
            let empty = matches!(&*of, Fact::Tensor(tensor) if tensor.dims.is_none());
            one(sequence(if empty { new.without_content() } else { of.either(new, view.sizes, true) }))
        }
        "SequenceErase" => view.operands.first()?.clone().map(|fact| vec![fact]),
        "SequenceAt" => match view.operands.first()? {
            Some(Fact::Sequence(of)) => one((**of).clone()),
            _ => None,
        },
        "SequenceLength" => one(scalar(INDEX)),
        "SplitToSequence" => {
            let at = view.int("axis", 0);
            let keep = view.int("keepdims", 1) != 0;
            let dims = view.dims(0).and_then(|dims| {
                let at = axis(at, dims.len())?;
                if !view.has(1) {
                    let mut dims = dims.clone();
                    dims[at] = Some(Size::of(1));
                    if !keep {
                        dims.remove(at);
                    }
                    return Some(dims);
                }
                let part = match (view.known(1), view.rank(1), &dims[at]) {
                    // One number: equal parts, of which the last may be smaller.
                    (Some(sizes), Some(0), Some(whole)) => {
                        let (size, whole) = (*sizes.first()?, whole.known()?);
                        (whole.checked_rem(size) == Some(0)).then(|| Size::of(size))
                    }
                    (Some(sizes), ..) if sizes.windows(2).all(|pair| pair[0] == pair[1]) => {
                        sizes.first().map(|size| Size::of(*size))
                    }
                    _ => None,
                };
                replaced(dims, at, part)
            });
            one(sequence(view.like(0, dims)))
        }
        "ConcatFromSequence" => {
            let Some(Fact::Sequence(of)) = view.operands.first()? else { return None };
            let Fact::Tensor(of) = &**of else { return None };
            let at = view.node.int("axis")?;
            let dims = of.dims.as_ref().and_then(|dims| {
                if view.int("new_axis", 0) != 0 {
                    let mut dims = dims.clone();
                    dims.insert(axis(at, dims.len() + 1)?, None);
                    return Some(dims);
                }
                replaced(dims, axis(at, dims.len())?, None)
            });
            one(Fact::tensor(of.elem, dims))
        }
        "Optional" => match view.operands.first().cloned().flatten() {
            Some(Fact::Optional(_)) | None => None,
            Some(of) => one(Fact::Optional(Box::new(of.without_content()))),
        },
        "OptionalGetElement" => match view.operands.first()?.clone()? {
            Fact::Optional(of) => one(*of),
            other => one(other),
        },
        "OptionalHasElement" => one(scalar(elem::BOOL)),
        _ => None,
    }
}

/// A sequence; one of sequences is none that ONNX has.
fn sequence(of: Fact) -> Fact {
    match of {
        Fact::Tensor(_) => Fact::Sequence(Box::new(of)),
        _ => Fact::Sequence(Box::default()),
    }
}

/// `Y`, `Y_h` and `Y_c`: one row per step and direction.
fn recurrent(view: &View<'_, '_>) -> Option<Vec<Fact>> {
    let input = view.dims(0)?;
    let [first, second, _] = &input[..] else { return None };
    let recurrence = view.dims(2);
    let hidden = view.node.int("hidden_size").map(Size::of);
    let hidden = hidden.or_else(|| recurrence.and_then(|dims| dims.last().cloned().flatten()));
    let directions = Some(Size::of(if view.node.text("direction") == Some("bidirectional") { 2 } else { 1 }));
    let batch_first = view.int("layout", 0) != 0;
    let (steps, batch) = if batch_first { (second, first) } else { (first, second) };
    let all: Dims = if batch_first {
        vec![batch.clone(), steps.clone(), directions.clone(), hidden.clone()]
    } else {
        vec![steps.clone(), directions.clone(), batch.clone(), hidden.clone()]
    };
    let last: Dims =
        if batch_first { vec![batch.clone(), directions, hidden] } else { vec![directions, batch.clone(), hidden] };
    let last = view.like(0, Some(last));
    Some(vec![view.like(0, Some(all)), last.clone(), last])
}
