//! Operators that move elements, and those that make tensors of given shapes.

use super::super::fact::{Dims, Fact, elem};
use super::super::model::Setting;
use super::super::size::{Size, Sizes};
use super::algebra::replaced;
use super::{INDEX, View, axis, broadcast, fixed, named_elem, scalar};

pub(super) fn apply(view: &mut View<'_, '_>) -> Option<Vec<Fact>> {
    let one = |fact: Fact| Some(vec![fact]);
    match view.op() {
        "Reshape" => {
            let dims = reshaped(view);
            one(view.like(0, dims))
        }
        "Flatten" => {
            let at = view.int("axis", 1);
            let dims = view.dims(0).and_then(|dims| {
                let rank = dims.len();
                let at = if at == rank as i64 { rank } else { axis(at, rank)? };
                Some(vec![product(&dims[..at]), product(&dims[at..])])
            });
            one(view.like(0, dims))
        }
        "Squeeze" => {
            let dims = squeezed(view);
            one(view.like(0, dims))
        }
        "Unsqueeze" => {
            let dims = unsqueezed(view);
            one(view.like(0, dims))
        }
        "Transpose" => {
            let perm = view.node.ints("perm");
            let dims = view.dims(0).and_then(|dims| match perm {
                None => Some(dims.iter().rev().cloned().collect()),
                Some(perm) if perm.len() == dims.len() => {
                    perm.iter().map(|at| Some(dims[axis(*at, dims.len())?].clone())).collect()
                }
                Some(_) => None,
            });
            one(view.like(0, dims))
        }
        "Concat" => {
            let at = view.int("axis", 1);
            let dims = concatenated(view, at);
            one(view.like(0, dims))
        }
        "Slice" => {
            let dims = sliced(view);
            one(view.like(0, dims))
        }
        "Split" => split(view),
        "Expand" => {
            let shape = shape_of(view, 1)?;
            let dims = view.dims(0).cloned().map(|dims| broadcast(view.sizes, &[&dims, &shape]));
            one(view.like(0, dims))
        }
        "Tile" => {
            let repeats = view.content(1).cloned();
            let dims = view.dims(0).map(|dims| match repeats {
                Some(repeats) if repeats.len() == dims.len() => {
                    dims.iter().zip(repeats).map(|(dim, times)| dim.as_ref()?.times(&times?)).collect()
                }
                _ => vec![None; dims.len()],
            });
            one(view.like(0, dims))
        }
        "Gather" => {
            let at = view.int("axis", 0);
            let dims = view.dims(0).zip(view.dims(1)).and_then(|(data, indices)| {
                let at = axis(at, data.len())?;
                Some(data[..at].iter().chain(indices).chain(&data[at + 1..]).cloned().collect())
            });
            one(view.like(0, dims))
        }
        "GatherElements" => one(view.like(0, view.dims(1).cloned())),
        "GatherND" => {
            let batch = view.int("batch_dims", 0);
            let dims = view.dims(0).zip(view.dims(1)).and_then(|(data, indices)| {
                let (width, outer) = indices.split_last()?;
                let width = usize::try_from(width.as_ref()?.known()?).ok()?;
                let from = usize::try_from(batch).ok()?.checked_add(width)?;
                Some(outer.iter().chain(data.get(from..)?).cloned().collect())
            });
            one(view.like(0, dims))
        }
        "Shape" => {
            let count = view.rank(0).map(|rank| Size::of(window(view, rank).1));
            one(Fact::tensor(INDEX, Some(vec![count])))
        }
        "Size" => one(scalar(INDEX)),
        "ConstantOfShape" => {
            let of = match view.node.setting("value") {
                Some(Setting::Tensor(tensor)) => tensor.elem,
                _ => elem::F32,
            };
            one(Fact::tensor(of, shape_of(view, 0)))
        }
        "Constant" => constant(view),
        "Range" => {
            let count = view.content(0).zip(view.content(1)).zip(view.known(2)).and_then(|((start, limit), step)| {
                let (start, limit) = (start.first()?.clone()?, limit.first()?.clone()?);
                match (limit.minus(&start)?, step.first()?) {
                    (room, 1) => Some(room),
                    (room, step) if *step != 0 => {
                        let count = (i128::from(room.known()?) + i128::from(*step) - i128::from(step.signum()))
                            / i128::from(*step);
                        Some(Size::of(i64::try_from(count.max(0)).ok()?))
                    }
                    _ => None,
                }
            });
            one(Fact::tensor(view.elem(0), Some(vec![count.filter(|count| count.known().is_none_or(|n| n >= 0))])))
        }
        "OneHot" => {
            let depth = view.content(1).and_then(|list| list.first().cloned().flatten());
            let at = view.int("axis", -1);
            let dims = view.dims(0).and_then(|dims| {
                let at = axis(at, dims.len() + 1)?;
                let mut dims = dims.clone();
                dims.insert(at, depth);
                Some(dims)
            });
            one(Fact::tensor(view.elem(2), dims))
        }
        "EyeLike" => one(Fact::tensor(named_elem(view.node, "dtype", view.elem(0)), view.dims(0).cloned())),
        "NonZero" => {
            let rank = view.rank(0).map(|rank| Size::of(rank as i64));
            one(Fact::tensor(INDEX, Some(vec![rank, None])))
        }
        "NonMaxSuppression" => one(Fact::tensor(INDEX, Some(vec![None, Some(Size::of(3))]))),
        "Compress" => {
            let at = view.node.int("axis");
            let dims = match at {
                None => Some(vec![None]),
                Some(at) => view.dims(0).and_then(|dims| replaced(dims, axis(at, dims.len())?, None)),
            };
            one(view.like(0, dims))
        }
        "RandomNormal" | "RandomUniform" => {
            one(Fact::tensor(named_elem(view.node, "dtype", elem::F32), view.node.ints("shape").map(fixed)))
        }
        "RandomNormalLike" | "RandomUniformLike" => {
            one(Fact::tensor(named_elem(view.node, "dtype", view.elem(0)), view.dims(0).cloned()))
        }
        "Multinomial" => {
            let batch = view.dims(0).and_then(|dims| dims.first().cloned()).flatten();
            let dims = vec![batch, Some(Size::of(view.int("sample_size", 1)))];
            one(Fact::tensor(named_elem(view.node, "dtype", elem::I32), Some(dims)))
        }
        _ => None,
    }
}

/// The product of dimensions.
fn product(dims: &[Option<Size>]) -> Option<Size> {
    dims.iter().try_fold(Size::of(1), |product, dim| product.times(dim.as_ref()?))
}

/// Dimensions that an operand lists; not known one by one where only their number is.
fn shape_of(view: &View<'_, '_>, at: usize) -> Option<Dims> {
    if let Some(content) = view.content(at) {
        return Some(content.clone());
    }
    let [Some(rank)] = &view.dims(at)?[..] else { return None };
    Some(vec![None; usize::try_from(rank.known()?).ok().filter(|rank| *rank <= 64)?])
}

fn reshaped(view: &mut View<'_, '_>) -> Option<Dims> {
    let mut shape = match view.node.ints("shape") {
        Some(shape) => fixed(shape),
        None => shape_of(view, 1)?,
    };
    let zero_is_copy = view.int("allowzero", 0) == 0;
    let from = view.dims(0).cloned();
    let mut open = None;
    for (at, size) in shape.iter_mut().enumerate() {
        match size.as_ref().and_then(Size::known) {
            Some(0) if zero_is_copy => *size = from.as_ref().and_then(|dims| dims.get(at).cloned().flatten()),
            Some(-1) => open = Some(at),
            Some(size) if size < 0 => return None,
            _ => {}
        }
    }
    if let Some(at) = open {
        let others = [&shape[..at], &shape[at + 1..]].concat();
        let total = from.as_deref().and_then(product);
        shape[at] = total.zip(product(&others)).and_then(|(total, others)| quotient(view.sizes, &total, &others));
    }
    Some(shape)
}

fn quotient(sizes: &mut Sizes, total: &Size, part: &Size) -> Option<Size> {
    if part.known() == Some(0) {
        return None;
    }
    sizes.over(total, part)
}

fn squeezed(view: &View<'_, '_>) -> Option<Dims> {
    let dims = view.dims(0)?;
    match view.list("axes", 1)? {
        Some(list) => {
            let axes: Vec<usize> = list.iter().map(|at| axis(*at, dims.len())).collect::<Option<_>>()?;
            Some(dims.iter().enumerate().filter(|(at, _)| !axes.contains(at)).map(|(_, dim)| dim.clone()).collect())
        }
        None => {
            let known: Vec<i64> = dims.iter().map(|dim| dim.as_ref()?.known()).collect::<Option<_>>()?;
            Some(fixed(&known.into_iter().filter(|size| *size != 1).collect::<Vec<_>>()))
        }
    }
}

fn unsqueezed(view: &View<'_, '_>) -> Option<Dims> {
    let dims = view.dims(0)?;
    let list = view.list("axes", 1)??;
    let rank = dims.len() + list.len();
    let axes: Vec<usize> = list.iter().map(|at| axis(*at, rank)).collect::<Option<_>>()?;
    let mut rest = dims.iter();
    let dim = |at: usize| if axes.contains(&at) { Some(Some(Size::of(1))) } else { rest.next().cloned() };
    (0..rank).map(dim).collect()
}

fn concatenated(view: &View<'_, '_>, at: i64) -> Option<Dims> {
    let mut dims = view.dims(0)?.clone();
    let at = axis(at, dims.len())?;
    for operand in 1..view.operands.len() {
        let other = view.dims(operand)?;
        if other.len() != dims.len() {
            return None;
        }
        for (index, dim) in dims.iter_mut().enumerate() {
            if index == at {
                *dim = dim.as_ref().zip(other[index].as_ref()).and_then(|(a, b)| a.plus(b));
            } else if dim.as_ref().and_then(Size::known).is_none() && other[index].is_some() {
                // All operands agree in the other dimensions: a number says more than a name.
                dim.clone_from(&other[index]);
            }
        }
    }
    Some(dims)
}

fn sliced(view: &mut View<'_, '_>) -> Option<Dims> {
    let dims = view.dims(0)?.clone();
    let rank = dims.len();
    let list = |attribute: &str, operand: usize| match view.node.ints(attribute) {
        Some(list) => Some(Some(fixed(list))),
        None if view.has(operand) => view.content(operand).cloned().map(Some),
        None => Some(None),
    };
    let axes = match view.list("axes", 3) {
        Some(Some(axes)) => Some(axes),
        Some(None) => {
            let count =
                list("starts", 1).flatten().map(|list| list.len()).or_else(|| shape_of(view, 1).map(|list| list.len()));
            count.map(|count| (0..count as i64).collect())
        }
        None => None,
    };
    let Some(axes) = axes else { return Some(vec![None; rank]) };
    let axes: Vec<usize> = axes.iter().map(|at| axis(*at, rank)).collect::<Option<_>>()?;
    let (starts, ends, steps) = (list("starts", 1).flatten(), list("ends", 2).flatten(), list("steps", 4));
    let mut out = dims.clone();
    for (index, at) in axes.iter().enumerate() {
        let entry = |list: &Option<Dims>| list.as_ref().and_then(|list| list.get(index).cloned().flatten());
        let step = match &steps {
            Some(None) => Some(1),
            Some(list) => entry(list).and_then(|step| step.known()),
            None => None,
        };
        out[*at] = match (dims[*at].as_ref(), entry(&starts), entry(&ends), step) {
            (Some(dim), Some(start), Some(end), Some(step)) => part(view.sizes, dim, &start, &end, step),
            _ => None,
        };
    }
    Some(out)
}

/// The number of elements from `start` to `end`, both counted from the end where they are negative, cut to the dimension.
pub(super) fn part(sizes: &mut Sizes, dim: &Size, start: &Size, end: &Size, step: i64) -> Option<Size> {
    if let (Some(dim), Some(start), Some(end)) = (dim.known(), start.known(), end.known()) {
        return range(dim, start, end, step).map(|(_, count)| Size::of(count));
    }
    let (start_known, end_known) = (start.known(), end.known());
    // From the start to the end, or without some at either side: exact where the dimension is at least that large.
    let low = match start_known {
        Some(start) if start < 0 => dim.plus(&Size::of(start))?,
        Some(_) => start.clone(),
        // A number that may be negative may count from the end.
        None => start.is_product().then(|| start.clone())?,
    };
    let high = match end_known {
        Some(end) if end < 0 => dim.plus(&Size::of(end))?,
        Some(end) if end >= i64::from(i32::MAX) => dim.clone(),
        Some(_) => sizes.smaller(dim, end)?,
        None => end.is_product().then(|| sizes.smaller(dim, end))??,
    };
    match step {
        1 => {
            let room = high.minus(&low)?;
            match room.known() {
                Some(known) if known < 0 => None,
                Some(_) => Some(room),
                None if low.known() == Some(0) => Some(room),
                None => sizes.larger(&room, &Size::of(0)),
            }
        }
        step if step > 1 => sizes.over(&high.minus(&low)?.plus(&Size::of(step - 1))?, &Size::of(step)),
        // Backwards over everything.
        -1 if start_known == Some(-1) && end_known.is_some_and(|end| end < i64::from(i32::MIN)) => Some(dim.clone()),
        _ => None,
    }
}

/// The first element and the number of elements of a window over a known dimension.
pub(super) fn range(dim: i64, start: i64, end: i64, step: i64) -> Option<(i64, i64)> {
    let (dim, step) = (i128::from(dim), i128::from(step));
    let from_end = |value: i64| if value < 0 { i128::from(value) + dim } else { i128::from(value) };
    let (start, end) = (from_end(start), from_end(end));
    let (start, end) = match step {
        1.. => (start.clamp(0, dim), end.clamp(0, dim)),
        ..0 => (start.clamp(0, (dim - 1).max(0)), end.clamp(-1, dim - 1)),
        0 => return None,
    };
    let count = if step > 0 { (end - start + step - 1) / step } else { (start - end - step - 1) / -step };
    Some((i64::try_from(start).ok()?, i64::try_from(count.max(0)).ok()?))
}

fn split(view: &mut View<'_, '_>) -> Option<Vec<Fact>> {
    let count = view.node.outputs.len();
    let at = view.int("axis", 0);
    let parts: Option<Dims> = match view.node.ints("split") {
        Some(list) => Some(fixed(list)),
        None if view.has(1) => view.content(1).cloned(),
        None => None,
    };
    let given = view.node.ints("split").is_some() || view.has(1);
    let dims = view.dims(0).cloned();
    let whole = dims.as_ref().and_then(|dims| dims.get(axis(at, dims.len())?).cloned().flatten());
    let mut results = Vec::new();
    for index in 0..count {
        let part = match (&parts, &whole) {
            (Some(parts), _) => parts.get(index).cloned().flatten(),
            (None, Some(whole)) if !given => equal_part(whole, count, index),
            _ => None,
        };
        let dims = dims.as_ref().and_then(|dims| replaced(dims, axis(at, dims.len())?, part));
        results.push(view.like(0, dims));
    }
    Some(results)
}

/// A part of a split into equal ones, of which the last may be smaller.
fn equal_part(whole: &Size, count: usize, index: usize) -> Option<Size> {
    let parts = i64::try_from(count).ok()?;
    let Some(known) = whole.known() else {
        return whole.exactly_over(&Size::of(parts));
    };
    let part = known.checked_add(parts - 1)?.checked_div(parts)?;
    let left = known.checked_sub(part.checked_mul(index as i64)?)?;
    Some(Size::of(part.min(left).max(0)))
}

fn constant(view: &View<'_, '_>) -> Option<Vec<Fact>> {
    use super::super::fact::TensorFact;
    let ints = |list: &[i64], dims: Dims| {
        let content = Some(list.iter().map(|value| Some(Size::of(*value))).collect());
        Fact::Tensor(TensorFact { content, ..TensorFact::new(INDEX, Some(dims)) })
    };
    let floats = |list: &[f32], dims: Dims| {
        let floats = Some(list.iter().map(|value| f64::from(*value)).collect());
        Fact::Tensor(TensorFact { floats, ..TensorFact::new(elem::F32, Some(dims)) })
    };
    view.node.attributes.iter().find_map(|attribute| {
        let fact = match (attribute.name, &attribute.setting) {
            ("value" | "sparse_value", Setting::Tensor(tensor)) => Fact::Tensor(TensorFact::constant(tensor)),
            ("value_int", Setting::Int(value)) => ints(&[*value], Vec::new()),
            ("value_ints", Setting::Ints(list)) => ints(list, fixed(&[list.len() as i64])),
            ("value_float", Setting::Float(value)) => floats(&[*value], Vec::new()),
            ("value_floats", Setting::Floats(list)) => floats(list, fixed(&[list.len() as i64])),
            ("value_string", _) => Fact::tensor(8, Some(Vec::new())),
            ("value_strings", Setting::Texts(list)) => Fact::tensor(8, Some(fixed(&[list.len() as i64]))),
            _ => return None,
        };
        Some(vec![fact])
    })
}

/// Start and length of the window of dimensions that `Shape` gives.
pub(super) fn window(view: &View<'_, '_>, rank: usize) -> (i64, i64) {
    let rank = rank as i64;
    let place = |at: i64| if at < 0 { at.saturating_add(rank) } else { at }.clamp(0, rank);
    let (start, end) = (place(view.int("start", 0)), place(view.int("end", rank)));
    (start, (end - start).max(0))
}
