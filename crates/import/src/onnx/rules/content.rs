//! The elements of small integer tensors: shapes, indices and what is computed from them.

use super::super::fact::{Dims, TensorFact, elem};
use super::super::model::{Content, MAX_CONTENT, Setting};
use super::super::size::{Size, Sizes};
use super::View;
use super::movement::{range, window};

/// Fills in the elements of a node's first result, where they follow from those of its operands.
pub(super) fn compute(view: &mut View<'_, '_>, result: &mut TensorFact) {
    if result.content.is_some() || result.floats.is_some() {
        return;
    }
    let count = result.count().and_then(|count| count.known()).filter(|count| (0..=MAX_CONTENT as i64).contains(count));
    if !matches!(result.elem, 2 | 3 | 4 | 5 | elem::I32 | elem::I64 | elem::BOOL | 12 | 13) {
        if elem::is_float(result.elem) {
            result.floats = floats(view, result).filter(|list| count == Some(list.len() as i64));
        }
        return;
    }
    // A shape of which only the number of dimensions is known still has entries.
    if let Some(content) = ints(view, result)
        && count == Some(content.len() as i64)
    {
        result.content = Some(content);
    }
}

fn ints(view: &mut View<'_, '_>, result: &TensorFact) -> Option<Dims> {
    match view.op() {
        "Shape" => {
            let dims = view.dims(0)?;
            let (start, count) = window(view, dims.len());
            Some(dims.iter().skip(usize::try_from(start).ok()?).take(usize::try_from(count).ok()?).cloned().collect())
        }
        "Size" => Some(vec![view.tensor(0)?.count()]),
        "Identity" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => view.content(0).cloned(),
        "Cast" | "CastLike" => match (&view.tensor(0)?.content, &view.tensor(0)?.floats) {
            (Some(content), _) if result.elem == elem::BOOL => {
                let is_true = |value: &Option<Size>| Some(Size::of((value.as_ref()?.known()? != 0).into()));
                Some(content.iter().map(is_true).collect())
            }
            (Some(content), _) => Some(content.clone()),
            (None, Some(floats)) => {
                let whole = |value: &f64| (value.abs() < 1e15).then(|| Size::of(value.trunc() as i64));
                Some(floats.iter().map(whole).collect())
            }
            _ => None,
        },
        "Concat" if view.rank(0) == Some(1) => {
            let parts: Vec<&Dims> = (0..view.operands.len()).map(|at| view.content(at)).collect::<Option<_>>()?;
            Some(parts.into_iter().flatten().cloned().collect())
        }
        "Gather" if view.rank(0) == Some(1) => {
            let (data, indices) = (view.content(0)?, view.known(1)?);
            let pick = |at: &i64| data.get(super::axis(*at, data.len())?).cloned();
            indices.iter().map(pick).collect()
        }
        "Slice" => sliced(view),
        "Transpose" => transposed(view),
        "ConstantOfShape" => {
            let count = usize::try_from(result.count()?.known()?).ok().filter(|count| *count <= MAX_CONTENT)?;
            let value = match view.node.setting("value") {
                Some(Setting::Tensor(tensor)) => match &tensor.content {
                    Some(Content::Ints(list)) => *list.first()?,
                    _ => return None,
                },
                _ => 0,
            };
            Some(vec![Some(Size::of(value)); count])
        }
        "Expand" => match &view.content(0)?[..] {
            [one] => {
                let count = usize::try_from(result.count()?.known()?).ok().filter(|count| *count <= MAX_CONTENT)?;
                Some(vec![one.clone(); count])
            }
            _ => None,
        },
        "Range" => {
            let (start, step) = (*view.known(0)?.first()?, *view.known(2)?.first()?);
            let count = result.count()?.known().filter(|count| *count <= MAX_CONTENT as i64)?;
            (0..count).map(|round| Some(Some(Size::of(start.checked_add(step.checked_mul(round)?)?)))).collect()
        }
        "ReduceProd" if view.rank(0) == Some(1) => {
            let product = view.content(0)?.iter().try_fold(Size::of(1), |product, dim| product.times(dim.as_ref()?));
            Some(vec![product])
        }
        "Neg" => map(view, |value| Size::of(0).minus(&value)),
        "Abs" => map(view, |value| value.known().map(|value| Size::of(value.saturating_abs()))),
        "Not" => map(view, |value| value.known().map(|value| Size::of((value == 0).into()))),
        "Add" => pairs(view, |_, a, b| a.plus(&b)),
        "Sub" => pairs(view, |_, a, b| a.minus(&b)),
        "Mul" => pairs(view, |_, a, b| a.times(&b)),
        "Div" => pairs(view, |sizes, a, b| match (a.known(), b.known()) {
            // Towards zero, as integers divide.
            (Some(a), Some(b)) => a.checked_div(b).map(Size::of),
            (None, Some(b)) if b <= 0 => None,
            _ => sizes.over(&a, &b),
        }),
        "Mod" => pairs(view, |_, a, b| Some(Size::of(a.known()?.checked_rem_euclid(b.known().filter(|b| *b > 0)?)?))),
        "Max" if view.operands.len() == 2 => pairs(view, |sizes, a, b| sizes.larger(&a, &b)),
        "Min" if view.operands.len() == 2 => pairs(view, |sizes, a, b| sizes.smaller(&a, &b)),
        "Equal" => pairs(view, |_, a, b| match (a.known(), b.known()) {
            (Some(a), Some(b)) => Some(Size::of((a == b).into())),
            // A dimension is never negative: the mark for "the rest" is none.
            (None, Some(b)) if b < 0 && is_dimension(&a) => Some(Size::of(0)),
            _ => (a == b).then(|| Size::of(1)),
        }),
        "Greater" => pairs(view, |_, a, b| Some(Size::of((a.known()? > b.known()?).into()))),
        "Less" => pairs(view, |_, a, b| Some(Size::of((a.known()? < b.known()?).into()))),
        "GreaterOrEqual" => pairs(view, |_, a, b| Some(Size::of((a.known()? >= b.known()?).into()))),
        "LessOrEqual" => pairs(view, |_, a, b| Some(Size::of((a.known()? <= b.known()?).into()))),
        "And" => pairs(view, |_, a, b| Some(Size::of((a.known()? != 0 && b.known()? != 0).into()))),
        "Or" => pairs(view, |_, a, b| Some(Size::of((a.known()? != 0 || b.known()? != 0).into()))),
        "Where" => {
            let (condition, yes, no) = (view.known(0)?, view.content(1)?, view.content(2)?);
            let len = condition.len().max(yes.len()).max(no.len());
            let pick =
                |list: &Dims, at: usize| if list.len() == 1 { list.first().cloned() } else { list.get(at).cloned() };
            let one = |at: usize| {
                let condition = if condition.len() == 1 { condition.first() } else { condition.get(at) };
                if *condition? != 0 { pick(yes, at) } else { pick(no, at) }
            };
            (0..len).map(one).collect()
        }
        _ => None,
    }
}

/// Known sizes of the dimensions of the first operand.
fn shape(view: &View<'_, '_>) -> Option<Vec<usize>> {
    view.dims(0)?.iter().map(|dim| usize::try_from(dim.as_ref()?.known()?).ok()).collect()
}

/// The elements at places in row-major order, which `place` finds from positions in the result.
fn picked(data: &Dims, dims: &[usize], place: impl Fn(&[usize]) -> Option<usize>) -> Option<Dims> {
    let count = dims.iter().try_fold(1usize, |product, dim| product.checked_mul(*dim))?;
    if count > MAX_CONTENT {
        return None;
    }
    let mut at = vec![0; dims.len()];
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        out.push(data.get(place(&at)?)?.clone());
        for axis in (0..dims.len()).rev() {
            at[axis] += 1;
            if at[axis] < dims[axis] {
                break;
            }
            at[axis] = 0;
        }
    }
    Some(out)
}

fn sliced(view: &View<'_, '_>) -> Option<Dims> {
    let (data, shape) = (view.content(0)?, shape(view)?);
    let (starts, ends) = (view.list("starts", 1)??, view.list("ends", 2)??);
    let axes = view.list("axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = view.list("steps", 4)?.unwrap_or_else(|| vec![1; starts.len()]);
    let mut windows: Vec<(i64, i64)> = shape.iter().map(|_| (0, 1)).collect();
    let mut dims = shape.clone();
    for (index, at) in axes.iter().enumerate() {
        let at = super::axis(*at, shape.len())?;
        let step = *steps.get(index)?;
        let (start, count) = range(shape[at] as i64, *starts.get(index)?, *ends.get(index)?, step)?;
        windows[at] = (start, step);
        dims[at] = usize::try_from(count).ok()?;
    }
    picked(data, &dims, |at| {
        let mut place = 0i64;
        for ((at, (start, step)), size) in at.iter().zip(&windows).zip(&shape) {
            place = place.checked_mul(*size as i64)?.checked_add(start + *at as i64 * step)?;
        }
        usize::try_from(place).ok()
    })
}

fn transposed(view: &View<'_, '_>) -> Option<Dims> {
    let (data, shape) = (view.content(0)?, shape(view)?);
    let perm: Vec<usize> = match view.node.ints("perm") {
        Some(perm) => perm.iter().map(|at| super::axis(*at, shape.len())).collect::<Option<_>>()?,
        None => (0..shape.len()).rev().collect(),
    };
    if perm.len() != shape.len() {
        return None;
    }
    let dims: Vec<usize> = perm.iter().map(|at| shape[*at]).collect();
    picked(data, &dims, |at| {
        let mut place = 0;
        for (axis, size) in shape.iter().enumerate() {
            let index = perm.iter().position(|from| *from == axis)?;
            place = place * size + at[index];
        }
        Some(place)
    })
}

/// Whether a size that is not known is a plain product of names: dimensions, which are never negative.
fn is_dimension(size: &Size) -> bool {
    size.is_product()
}

fn map(view: &View<'_, '_>, of: impl Fn(Size) -> Option<Size>) -> Option<Dims> {
    Some(view.content(0)?.iter().map(|value| of(value.clone()?)).collect())
}

/// Element by element; a single one stands for all.
fn pairs(view: &mut View<'_, '_>, of: impl Fn(&mut Sizes, Size, Size) -> Option<Size>) -> Option<Dims> {
    let (a, b) = (view.content(0)?.clone(), view.content(1)?.clone());
    let len = if a.len() == 1 { b.len() } else { a.len() };
    if a.len() != len && a.len() != 1 || b.len() != len && b.len() != 1 {
        return None;
    }
    let pick = |list: &Dims, at: usize| list[if list.len() == 1 { 0 } else { at }].clone();
    let sizes = &mut *view.sizes;
    Some((0..len).map(|at| of(sizes, pick(&a, at)?, pick(&b, at)?)).collect())
}

/// Floats, as scales are computed from shapes.
fn floats(view: &View<'_, '_>, result: &TensorFact) -> Option<Vec<f64>> {
    let list = |at: usize| view.tensor(at)?.floats.as_ref();
    let both = |of: fn(f64, f64) -> f64| {
        let (a, b) = (list(0)?, list(1)?);
        let len = if a.len() == 1 { b.len() } else { a.len() };
        let pick = |list: &Vec<f64>, at: usize| list.get(if list.len() == 1 { 0 } else { at }).copied();
        (0..len).map(|at| Some(of(pick(a, at)?, pick(b, at)?))).collect()
    };
    match view.op() {
        "Identity" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => list(0).cloned(),
        "Cast" if view.content(0).is_some() => Some(view.known(0)?.into_iter().map(|value| value as f64).collect()),
        "Cast" if result.elem != elem::F16 => list(0).cloned(),
        "Floor" => Some(list(0)?.iter().map(|value| value.floor()).collect()),
        "Ceil" => Some(list(0)?.iter().map(|value| value.ceil()).collect()),
        "Mul" => both(|a, b| a * b),
        "Div" => both(|a, b| a / b),
        "Add" => both(|a, b| a + b),
        "Sub" => both(|a, b| a - b),
        "Concat" if view.rank(0) == Some(1) => {
            let parts: Vec<&Vec<f64>> = (0..view.operands.len()).map(list).collect::<Option<_>>()?;
            Some(parts.into_iter().flatten().copied().collect())
        }
        _ => None,
    }
}
