//! Boxes inside a tensor: which elements a slice or a part of a split takes, and whether they are consecutive.

use super::Refusal;
use crate::params::{self, Unknown};
use crate::shape::Shaped;
use neap_ir::facts::{Facts, Key, OpFacts, Role};
use neap_ir::{Module, OpId};

/// Elements `first, first + step, ..`, `len` of them, per dimension of the operand.
pub(crate) struct Window {
    axes: Vec<Span>,
}

#[derive(Clone, Copy)]
struct Span {
    first: u64,
    len: u64,
    step: u64,
}

impl Span {
    fn all(size: u64) -> Span {
        Span { first: 0, len: size, step: 1 }
    }
}

impl Window {
    /// The row-major index of the first element, if all elements follow each other: one dimension is cut, those before it are taken
    /// at one index, those after it in full.
    pub(super) fn consecutive(&self, from: &Shaped<'_>) -> Result<u64, Refusal> {
        let sizes = from.sizes().ok_or("the operand's shape is not constant")?;
        let inside = |(span, size): (&Span, &u64)| span.first.checked_add(span.len).is_some_and(|end| end <= *size);
        if self.axes.iter().any(|span| span.step != 1) {
            return Err("it takes every n-th element".to_owned());
        }
        if sizes.len() != self.axes.len() || !self.axes.iter().zip(&sizes).all(inside) {
            return Err("it does not lie inside the operand".to_owned());
        }
        if let Some(cut) = self.axes.iter().position(|span| span.len != 1)
            && let Some(axis) = (cut + 1..sizes.len()).find(|axis| self.axes[*axis].len != sizes[*axis])
        {
            return Err(format!(
                "it takes {} of {} along dimension {axis}, which is not the outermost",
                self.axes[axis].len, sizes[axis]
            ));
        }
        let mut stride = 1u64;
        let mut first = 0u64;
        for (span, size) in self.axes.iter().zip(&sizes).rev() {
            first =
                span.first.checked_mul(stride).and_then(|step| first.checked_add(step)).ok_or("its start overflows")?;
            stride = stride.checked_mul(*size).ok_or("its size overflows")?;
        }
        Ok(first)
    }

    /// Start, length and step per dimension.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.axes.iter().map(|span| (span.first, span.len, span.step))
    }

    /// Number of elements.
    pub(super) fn count(&self) -> Result<u64, Refusal> {
        let count = self.axes.iter().try_fold(1u64, |count, span| count.checked_mul(span.len));
        count.ok_or("its size overflows".to_owned())
    }
}

/// What a slice takes.
pub(crate) fn sliced(
    module: &Module,
    facts: &Facts,
    op: OpId,
    row: &OpFacts,
    from: &Shaped<'_>,
) -> Result<Window, Refusal> {
    let read =
        |key| params::ints(module, facts, op, row, key).map_err(|Unknown| format!("its `{key}` is not constant"));
    let mask = |key| Ok::<i64, Refusal>(read(key)?.and_then(|list| list.first().copied()).unwrap_or(0));
    if mask(Key::EllipsisMask)? != 0 || mask(Key::NewAxisMask)? != 0 {
        return Err("its masks insert dimensions".to_owned());
    }
    let steps = read(Key::Stride)?;
    if steps.as_ref().is_some_and(|steps| steps.iter().any(|step| *step < 1)) {
        return Err("it takes elements backwards".to_owned());
    }
    let sizes = from.sizes().ok_or("the operand's shape is not constant")?;
    let starts = read(Key::Start)?.ok_or("it has no start")?;
    let (ends, lens) = (read(Key::End)?, read(Key::Size)?);
    let axes = match read(Key::Axes)? {
        Some(axes) => axes.into_iter().map(|axis| params::axis(axis, sizes.len())).collect(),
        None => Some((0..starts.len()).collect::<Vec<usize>>()),
    };
    let axes =
        axes.filter(|axes| axes.len() == starts.len() && starts.len() <= sizes.len()).ok_or("its axes do not fit")?;
    let masks = [mask(Key::BeginMask)?, mask(Key::EndMask)?, mask(Key::ShrinkAxisMask)?, mask(Key::EndIsOffset)?];
    let mut window: Vec<Span> = sizes.iter().map(|size| Span::all(*size)).collect();
    for (entry, axis) in axes.into_iter().enumerate() {
        let bit = |mask: i64| entry < 63 && mask >> entry & 1 == 1;
        let size = i64::try_from(sizes[axis]).map_err(|_| "its size overflows")?;
        let wrap = |at: i64| if at < 0 { at.saturating_add(size) } else { at }.clamp(0, size);
        let start = if bit(masks[0]) { 0 } else { wrap(starts[entry]) };
        let end = match (&lens, &ends) {
            _ if bit(masks[2]) => start + 1,
            (Some(lens), _) => match lens.get(entry) {
                Some(-1) => size,
                Some(len) => start.saturating_add(*len),
                None => return Err("its sizes do not fit".to_owned()),
            },
            (None, Some(_)) if bit(masks[1]) => size,
            (None, Some(ends)) => match ends.get(entry) {
                Some(end) if masks[3] != 0 => start.saturating_add(*end).clamp(0, size),
                Some(end) => wrap(*end),
                None => return Err("its ends do not fit".to_owned()),
            },
            (None, None) => return Err("it has no end".to_owned()),
        };
        let len = end.checked_sub(start).and_then(|len| u64::try_from(len).ok()).ok_or("it is empty or outside")?;
        let step = match &steps {
            Some(steps) => steps.get(entry).copied().ok_or("its steps do not fit")?.unsigned_abs(),
            None => 1,
        };
        let len = len.div_ceil(step);
        window[axis] = Span { first: start as u64, len, step: if len > 1 { step } else { 1 } };
    }
    Ok(Window { axes: window })
}

/// What result `index` of a split takes: the extents of the results before it add up to its start.
pub(crate) fn part(
    module: &Module,
    op: OpId,
    row: &OpFacts,
    from: &Shaped<'_>,
    axis: Option<i64>,
    index: usize,
) -> Result<Window, Refusal> {
    let sizes = from.sizes().ok_or("the operand's shape is not constant")?;
    let axis = axis.and_then(|axis| params::axis(axis, sizes.len())).ok_or("its axis is not known")?;
    let extent = |result| match row.role {
        Role::Unpack => Some(1),
        _ => Shaped::of(module, result)?.sizes()?.get(axis).copied(),
    };
    let mut first = 0u64;
    let mut window: Vec<Span> = sizes.iter().map(|size| Span::all(*size)).collect();
    for (at, result) in module.data_results(op).iter().enumerate().take(index + 1) {
        let len = extent(*result).ok_or("the shape of a result is not constant")?;
        window[axis] = Span { first, len, step: 1 };
        if at < index {
            first = first.checked_add(len).ok_or("its size overflows")?;
        }
    }
    Ok(Window { axes: window })
}
