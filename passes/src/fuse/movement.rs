//! What an operation does, if it only moves elements.

use super::term::Span;
use crate::callees::facts_of;
use crate::canonicalize_views::window;
use crate::params;
use crate::shape::{Shaped, only_moves, whole_bytes};
use neap_ir::facts::{Facts, Key, OpFacts, Role};
use neap_ir::{Attr, Dim, Module, OpId, ValueId};

/// What an operation does to the elements of its operands.
pub(super) enum Movement {
    /// The same bits.
    Bits(ValueId),
    /// Dimension `i` of the result is dimension `perm[i]` of the operand.
    Perm(ValueId, Vec<u32>),
    /// A box, whose dimensions of size 1 may be gone.
    Cut(ValueId, Vec<Span>),
    /// Repeated along dimensions: those that the operand's become.
    Spread(ValueId, Vec<u32>),
    /// Inside of margins: those before the elements, and whether there are none at all.
    Pad(ValueId, Vec<u64>, bool),
    /// Joined along a dimension, which is a new one if the flag says so.
    Join(Vec<ValueId>, usize, bool),
}

/// What an operation of one result does.
pub(super) fn movement(module: &Module, facts: &Facts, op: OpId) -> Option<Movement> {
    let row = facts_of(module, facts, op);
    let result = *module.results(op).first()?;
    let to = Shaped::of(module, result).filter(|to| to.dense)?;
    if !only_moves(module, op) || !plain(module, result, &to) {
        return None;
    }
    if matches!(row.role, Role::Concat | Role::Pack) {
        return joined(module, facts, op, row, &to);
    }
    let data = match row.role {
        Role::Reshape => row.view_operand(0).unwrap_or(0),
        _ => row.data_operand(),
    };
    let operand = module.data_operand(op, data)?;
    let from = Shaped::of(module, operand).filter(|from| from.dense)?;
    let whole = module.value_bytes(result).is_ok_and(|bytes| module.value_bytes(operand) == Ok(bytes));
    let like = from.elem == to.elem && plain(module, operand, &from);
    Some(match row.role {
        Role::Reshape if whole => Movement::Bits(operand),
        Role::Transpose if whole => {
            let perm = params::permutation(module, facts, op, row, from.dims.len())?;
            let turned = perm.iter().map(|axis| from.dims[*axis]).eq(to.dims.iter().copied());
            turned.then(|| Movement::Perm(operand, perm.into_iter().map(|axis| axis as u32).collect()))?
        }
        // As large as what it is taken from: everything, whatever its parameters say.
        Role::Slice if like && from.same_sizes(&to) && row.param(Key::Stride).is_none() => Movement::Bits(operand),
        Role::Slice | Role::StridedSlice if like => {
            let window = window::sliced(module, facts, op, row, &from).ok()?;
            Movement::Cut(operand, spans(&window, &from, &to)?)
        }
        // A split into one part.
        Role::Split if like && from.same_sizes(&to) => Movement::Bits(operand),
        Role::Broadcast if like => Movement::Spread(operand, repeated(module, facts, op, row, &from, &to)?),
        Role::Pad if like => margins(module, facts, op, row, operand, &from, &to)?,
        _ => return None,
    })
}

/// What a result of an operation that cuts its operand into several is of it.
pub(super) fn part_of(module: &Module, facts: &Facts, value: ValueId) -> Option<Movement> {
    let op = module.defining_op(value)?;
    let row = facts_of(module, facts, op);
    if !matches!(row.role, Role::Split | Role::Unpack) || !row.is_pure() || !only_moves(module, op) {
        return None;
    }
    let index = module.data_results(op).iter().position(|result| *result == value)?;
    let operand = module.data_operand(op, row.data_operand())?;
    let (from, to) = (Shaped::of(module, operand)?, Shaped::of(module, value)?);
    if !from.dense || !to.dense || from.elem != to.elem || !plain(module, operand, &from) || !plain(module, value, &to)
    {
        return None;
    }
    let axis = params::int(module, facts, op, row, Key::Axis).ok()?;
    let window = window::part(module, op, row, &from, axis, index).ok()?;
    Some(Movement::Cut(operand, spans(&window, &from, &to)?))
}

/// Whether a value's bytes are its elements one after the other.
fn plain(module: &Module, value: ValueId, shape: &Shaped<'_>) -> bool {
    let Some(sizes) = shape.sizes() else { return true };
    let count = sizes.iter().try_fold(1u64, |count, size| count.checked_mul(*size));
    let bytes = count.and_then(|count| whole_bytes(module, shape.elem, count));
    bytes.is_none_or(|bytes| module.value_bytes(value) == Ok(bytes))
}

/// A window inside of the operand whose elements are those of the result.
fn spans(window: &window::Window, from: &Shaped<'_>, to: &Shaped<'_>) -> Option<Vec<Span>> {
    let (sizes, made) = (from.sizes()?, to.sizes()?);
    let spans: Vec<Span> = window.spans().map(|(start, len, step)| Span { start, len, step }).collect();
    let inside = |(span, size): (&Span, &u64)| {
        let last = span.len.checked_sub(1).and_then(|steps| steps.checked_mul(span.step)?.checked_add(span.start));
        last.is_some_and(|last| last < *size)
    };
    let long = |list: &mut dyn Iterator<Item = u64>| list.filter(|size| *size != 1).collect::<Vec<u64>>();
    let same = long(&mut spans.iter().map(|span| span.len)) == long(&mut made.into_iter());
    (spans.len() == sizes.len() && spans.iter().zip(&sizes).all(inside) && same).then_some(spans)
}

/// The result's dimensions that the operand's become.
fn repeated(
    module: &Module,
    facts: &Facts,
    op: OpId,
    row: &OpFacts,
    from: &Shaped<'_>,
    to: &Shaped<'_>,
) -> Option<Vec<u32>> {
    let rank = to.dims.len();
    let dims: Vec<usize> = match params::ints(module, facts, op, row, Key::Dims).ok()? {
        Some(dims) => dims.into_iter().map(|dim| params::axis(dim, rank)).collect::<Option<_>>()?,
        None => (rank.checked_sub(from.dims.len())?..rank).collect(),
    };
    let fits = |(size, dim): (&Dim, &usize)| *size == Dim::Known(1) || *size == to.dims[*dim];
    let known = from.sizes().is_some() && to.sizes().is_some();
    let ascending = dims.windows(2).all(|pair| pair[0] < pair[1]);
    (known && ascending && dims.len() == from.dims.len() && from.dims.iter().zip(&dims).all(fits))
        .then(|| dims.into_iter().map(|dim| dim as u32).collect())
}

fn margins(
    module: &Module,
    facts: &Facts,
    op: OpId,
    row: &OpFacts,
    operand: ValueId,
    from: &Shaped<'_>,
    to: &Shaped<'_>,
) -> Option<Movement> {
    let read = |key| params::ints(module, facts, op, row, key).ok();
    if read(Key::PadInterior)?.is_some_and(|gaps| gaps.iter().any(|gap| *gap != 0)) || read(Key::Axes)?.is_some() {
        return None;
    }
    let halves = |list: Vec<i64>| (list[..list.len() / 2].to_vec(), list[list.len() / 2..].to_vec());
    let pairs =
        |list: Vec<i64>| (list.iter().step_by(2).copied().collect(), list.iter().skip(1).step_by(2).copied().collect());
    let (low, high): (Vec<i64>, Vec<i64>) = match (read(Key::PadPairs)?, read(Key::PadHalves)?) {
        (Some(list), _) => pairs(list),
        (None, Some(list)) => halves(list),
        (None, None) => (read(Key::PadLow)??, read(Key::PadHigh)??),
    };
    let (sizes, made) = (from.sizes()?, to.sizes()?);
    let rank = sizes.len();
    if low.len() != rank || high.len() != rank || made.len() != rank {
        return None;
    }
    let mut before = Vec::new();
    for at in 0..rank {
        let (low, high) = (u64::try_from(low[at]).ok()?, u64::try_from(high[at]).ok()?);
        if sizes[at].checked_add(low)?.checked_add(high)? != made[at] {
            return None;
        }
        before.push(low);
    }
    Some(Movement::Pad(operand, before, sizes == made))
}

fn joined(module: &Module, facts: &Facts, op: OpId, row: &OpFacts, to: &Shaped<'_>) -> Option<Movement> {
    let axis = params::int(module, facts, op, row, Key::Axis).ok()??;
    let axis = params::axis(axis, to.dims.len())?;
    let unit = row.role == Role::Pack;
    let parts: Vec<ValueId> = module.data_operands(op).collect();
    let mut sum = 0u64;
    for part in &parts {
        let from = Shaped::of(module, *part).filter(|from| from.dense && from.elem == to.elem)?;
        if !plain(module, *part, &from) {
            return None;
        }
        let mut dims = from.dims.to_vec();
        if unit {
            dims.insert(axis.min(dims.len()), Dim::Known(1));
        }
        let others = |dims: &[Dim]| {
            dims.iter().enumerate().filter(|(at, _)| *at != axis).map(|(_, dim)| *dim).collect::<Vec<_>>()
        };
        let Dim::Known(size) = dims.get(axis)? else { return None };
        sum = sum.checked_add(*size)?;
        if dims.len() != to.dims.len() || others(&dims) != others(to.dims) || others(&dims).contains(&Dim::Dynamic) {
            return None;
        }
    }
    (!parts.is_empty() && to.dims[axis] == Dim::Known(sum)).then_some(Movement::Join(parts, axis, unit))
}

/// Whether a transpose has its permutation as an attribute, so that another one can be made like it.
pub(super) fn permutes_by_attribute(module: &Module, row: &OpFacts, op: OpId) -> bool {
    row.role == Role::Transpose && numbers(module, row, op, Key::Perm)
}

/// Whether a slice has all it needs as attributes: start, end, step.
pub(super) fn cuts_by_attribute(module: &Module, row: &OpFacts, op: OpId) -> bool {
    let keys = [Key::Start, Key::End, Key::Stride];
    row.role == Role::StridedSlice
        && keys.into_iter().all(|key| numbers(module, row, op, key))
        && row.params.len() == keys.len()
}

/// Whether a broadcast says by an attribute which dimensions it does not repeat.
pub(super) fn spreads_by_attribute(module: &Module, row: &OpFacts, op: OpId) -> bool {
    row.role == Role::Broadcast && numbers(module, row, op, Key::Dims)
}

/// Whether a reshape is known by the types of its operand and its result alone.
pub(super) fn reshapes_by_type(module: &Module, row: &OpFacts, op: OpId) -> bool {
    if row.role != Role::Reshape || module.operands(op).len() != 1 || module.results(op).len() != 1 {
        return false;
    }
    let alone = module.props(op).is_none_or(Vec::is_empty);
    let bare = module.attrs(op).iter().all(|(key, _)| module.text(*key).starts_with("neap."));
    let shapes = Shaped::of(module, module.operand(op, 0)).zip(Shaped::of(module, module.results(op)[0]));
    // An identity has neither attributes nor another shape.
    alone && bare && shapes.is_some_and(|(from, to)| from.elem == to.elem && from.dims != to.dims)
}

/// Whether a concatenation has its axis as an attribute.
pub(super) fn joins_by_attribute(module: &Module, row: &OpFacts, op: OpId) -> bool {
    let axis = row.param(Key::Axis).filter(|param| param.operand.is_none()).and_then(|param| param.attr.as_deref());
    row.role == Role::Concat && axis.is_some_and(|key| module.attr(op, key).and_then(Attr::as_i64).is_some())
}

fn numbers(module: &Module, row: &OpFacts, op: OpId, key: Key) -> bool {
    let by = row.param(key).filter(|param| param.operand.is_none()).and_then(|param| param.attr.as_deref());
    by.is_some_and(|key| module.attr(op, key).is_some_and(|attr| attr.as_i64s().is_some()))
}
