//! Operations that move elements: transposes, slices, concatenations, splits, pads, broadcasts.
//!
//! Each is a gather: result bits are operand bits at positions given by nested loops. Where parameters are not known, or a move
//! would take too many pieces, the answer is "none" and the operation counts as an unknown function of its operands: equal
//! inputs still give equal results.

use crate::hash::Mix;
use crate::params::Params;
use crate::rope::{Bits, Level, PIECES, Rope, Seg, Wraps, level};
use crate::shape::Shape;
use neap_ir::facts::{Key, Role};
use std::sync::Arc;

/// Longest list of parts before a rope becomes a content of its own.
const PARTS: usize = 1024;

/// The shapes of the data operands and results; none where one is not known.
pub(crate) struct Shaped {
    pub(crate) operands: Vec<Option<Arc<Shape>>>,
    pub(crate) results: Vec<Option<Arc<Shape>>>,
}

impl Shaped {
    fn operand(&self, at: usize) -> Option<&Shape> {
        self.operands.get(at)?.as_deref()
    }

    fn result(&self, at: usize) -> Option<&Shape> {
        self.results.get(at)?.as_deref()
    }
}

/// The results of a moving operation; none if it is none, or not one that can be followed.
pub(crate) fn moved(params: &Params<'_>, shaped: &Shaped, wraps: &mut Wraps) -> Option<Vec<Rope>> {
    if !shaped.results.is_empty()
        && (0..shaped.results.len()).all(|at| shaped.result(at).and_then(Shape::count) == Some(0))
    {
        // Shapes with a zero may have sizes beyond all arithmetic beside it.
        return Some(vec![Rope::default(); shaped.results.len()]);
    }
    if let Some(all) = all_of_it(params, shaped) {
        return Some(vec![all.clone()]);
    }
    let results = match params.row.role {
        Role::Slice | Role::Split if everything(params, shaped) => {
            vec![params.operands.get(params.row.data_operand())?.clone()]
        }
        Role::Reshape | Role::Copy => vec![params.operands.get(params.row.data_operand())?.clone()],
        Role::Transpose => vec![transpose(params, shaped, wraps)?],
        Role::Slice | Role::StridedSlice => vec![slice(params, shaped, wraps)?],
        Role::Concat | Role::Pack => vec![concat(params, shaped, wraps)?],
        Role::Split | Role::Unpack => split(params, shaped, wraps)?,
        Role::Pad => vec![pad(params, shaped)?],
        Role::Broadcast => vec![broadcast(params, shaped, wraps)?],
        _ => return None,
    };
    let fits = |(rope, shape): (&Rope, &Option<Arc<Shape>>)| shape.as_ref().and_then(|s| s.bits()) == Some(rope.len);
    (results.len() == shaped.results.len() && results.iter().zip(&shaped.results).all(fits)).then_some(results)
}

/// The operand that is passed on whole, where nobody knows how large it is.
fn all_of_it<'r>(params: &'r Params<'_>, shaped: &Shaped) -> Option<&'r Rope> {
    let data = params.row.data_operand();
    let unknown = shaped.operands.get(data)?.is_none() && matches!(shaped.results[..], [None]);
    let passes_on = matches!(params.row.role, Role::Reshape | Role::Copy);
    params.operands.get(data).filter(|_| unknown && passes_on)
}

/// Whether the one result has the operand's own shape: without steps it can only be the whole, wherever it is said to start.
fn everything(params: &Params<'_>, shaped: &Shaped) -> bool {
    let (from, to) = (shaped.operand(params.row.data_operand()), shaped.result(0));
    shaped.results.len() == 1 && from.is_some() && from == to && params.row.param(Key::Stride).is_none()
}

/// The addresses of a window of a buffer.
pub(crate) fn window(params: &Params<'_>, shaped: &Shaped, wraps: &mut Wraps) -> Option<Rope> {
    slice(params, shaped, wraps)
}

/// A dimension counted from the end where it is negative.
fn axis(at: i64, rank: usize) -> Option<usize> {
    let at = if at < 0 { at.checked_add(i64::try_from(rank).ok()?)? } else { at };
    usize::try_from(at).ok().filter(|at| *at < rank)
}

fn transpose(params: &Params<'_>, shaped: &Shaped, wraps: &mut Wraps) -> Option<Rope> {
    let data = params.row.data_operand();
    let shape = shaped.operand(data)?;
    let rank = shape.dims.len();
    let perm = match params.list(Key::Perm).ok()? {
        Some(perm) => perm.iter().map(|at| axis(*at, rank)).collect::<Option<Vec<usize>>>()?,
        None => (0..rank).rev().collect(),
    };
    let mut seen = vec![false; rank];
    perm.iter().for_each(|at| seen[*at] = true);
    if perm.len() != rank || seen.contains(&false) {
        return None;
    }
    let strides = shape.strides();
    let loops = perm.iter().map(|at| level(shape.dims[*at], strides[*at])).chain([shape.inner()]);
    Some(params.operands[data].gather(0, loops, wraps))
}

fn slice(params: &Params<'_>, shaped: &Shaped, wraps: &mut Wraps) -> Option<Rope> {
    let data = params.row.data_operand();
    let shape = shaped.operand(data)?;
    let rank = shape.dims.len();
    for key in [Key::EllipsisMask, Key::NewAxisMask, Key::EndIsOffset] {
        if params.one(key).ok()?.unwrap_or(0) != 0 {
            return None;
        }
    }
    let begin = params.list(Key::Start).ok()??;
    let (size, end) = (params.list(Key::Size).ok()?, params.list(Key::End).ok()?);
    let stride = params.list(Key::Stride).ok()?;
    let axes = match params.list(Key::Axes).ok()? {
        Some(axes) => axes.iter().map(|at| axis(*at, rank)).collect::<Option<Vec<usize>>>()?,
        None => (0..begin.len()).collect(),
    };
    let mask = |key| params.one(key).ok().flatten().unwrap_or(0);
    let (begin_mask, end_mask, shrink) = (mask(Key::BeginMask), mask(Key::EndMask), mask(Key::ShrinkAxisMask));
    let mut window: Vec<(Bits, Bits, Bits)> = shape.dims.iter().map(|dim| (0, *dim, 1)).collect();
    if axes.len() != begin.len() || axes.iter().any(|at| *at >= rank) || begin.len() > 62 {
        return None;
    }
    for (entry, at) in axes.into_iter().enumerate() {
        let dim = shape.dims[at];
        let from_end = |value: i64| if value < 0 { Bits::from(value) + dim } else { Bits::from(value) };
        let has = |mask: i64| mask >> entry & 1 == 1;
        let step = stride.as_ref().map_or(Some(1), |list| list.get(entry).copied()).map(Bits::from)?;
        let lo = if has(begin_mask) { 0 } else { from_end(begin[entry]).clamp(0, dim) };
        let hi = if has(shrink) {
            lo + 1
        } else if has(end_mask) {
            dim
        } else if let Some(size) = &size {
            let size = *size.get(entry)?;
            if size < 0 { dim } else { lo + Bits::from(size) * step }
        } else {
            from_end(*end.as_ref()?.get(entry)?)
        };
        if step <= 0 || lo + 1 > dim && has(shrink) {
            return None;
        }
        let count = (hi.clamp(lo, dim) - lo + step - 1) / step;
        window[at] = (lo, count, if count > 1 { step } else { 1 });
    }
    let strides = shape.strides();
    if window.iter().any(|(_, count, _)| *count == 0) {
        return Some(Rope::default());
    }
    let start = window.iter().zip(&strides).map(|((lo, ..), stride)| lo * stride).sum();
    let loops = window.iter().zip(&strides).map(|((_, count, step), stride)| level(*count, step * stride));
    Some(params.operands[data].gather(start, loops.chain([shape.inner()]), wraps))
}

/// Dimensions before an axis as one number, and bits from the axis on.
fn around(shape: &Shape, axis: usize) -> (Bits, Bits) {
    let product = |dims: &[Bits]| dims.iter().fold(1, |product: Bits, dim| product.saturating_mul(*dim));
    (product(&shape.dims[..axis]), product(&shape.dims[axis..]).saturating_mul(shape.elem))
}

fn concat(params: &Params<'_>, shaped: &Shaped, wraps: &mut Wraps) -> Option<Rope> {
    let result = shaped.result(0)?;
    if result.count()? == 0 {
        return Some(Rope::default());
    }
    let at = axis(params.one(Key::Axis).ok()??, result.dims.len())?;
    let (outer, _) = around(result, at);
    let mut parts = Vec::new();
    for (index, rope) in params.operands.iter().enumerate() {
        if params.row.shape_operands.contains(index) {
            continue;
        }
        let bits = shaped.operand(index)?.bits()?;
        if bits != rope.len || bits % outer != 0 {
            return None;
        }
        parts.push((rope, bits / outer));
    }
    if let [(rope, _)] = parts[..] {
        return Some(rope.clone());
    }
    if outer * parts.len() as Bits > PIECES && outer > 1 {
        let mut mix = Mix::new("interleaved");
        mix.int(outer);
        parts.iter().for_each(|(rope, _)| rope.feed(&mut mix));
        return Some(Rope::of(mix.done(), parts.iter().map(|(rope, _)| rope.len).sum()));
    }
    let mut out = Rope::default();
    for round in 0..outer {
        for (rope, step) in &parts {
            if *step > 0 {
                out.append(&rope.slice(round * step, (round + 1) * step));
            }
        }
    }
    Some(if out.segs.len() > PARTS { out.wrap(wraps) } else { out })
}

fn split(params: &Params<'_>, shaped: &Shaped, wraps: &mut Wraps) -> Option<Vec<Rope>> {
    let data = params.row.data_operand();
    let shape = shaped.operand(data)?;
    let at = axis(params.one(Key::Axis).ok()??, shape.dims.len())?;
    let (outer, row) = around(shape, at);
    let (mut from, mut out) = (0, Vec::new());
    for result in &shaped.results {
        let bits = result.as_ref()?.bits()?;
        if bits == 0 {
            out.push(Rope::default());
            continue;
        }
        let step = if outer > 0 { bits / outer } else { 0 };
        if outer == 0 || bits % outer != 0 || from + step > row {
            return None;
        }
        out.push(params.operands[data].gather(from, [level(outer, row), level(step, 1)], wraps));
        from += step;
    }
    (from == row || shape.count() == Some(0)).then_some(out)
}

fn broadcast(params: &Params<'_>, shaped: &Shaped, wraps: &mut Wraps) -> Option<Rope> {
    let data = params.row.data_operand();
    let (from, to) = (shaped.operand(data)?, shaped.result(0)?);
    if from.elem != to.elem {
        return None;
    }
    let dims = match params.list(Key::Dims).ok()? {
        Some(dims) => dims.iter().map(|at| axis(*at, to.dims.len())).collect::<Option<Vec<usize>>>()?,
        None => (to.dims.len().checked_sub(from.dims.len())?..to.dims.len()).collect(),
    };
    Some(params.operands[data].gather(0, stretched(from, &to.dims, &dims)?, wraps))
}

/// Loops over `to` that read an operand whose dimension `i` is dimension `dims[i]` of `to`, or 1.
pub(crate) fn stretched(from: &Shape, to: &[Bits], dims: &[usize]) -> Option<Vec<Level>> {
    let mut loops: Vec<Level> = to.iter().map(|dim| level(*dim, 0)).collect();
    let (strides, mut last) = (from.strides(), None);
    if dims.len() != from.dims.len() {
        return None;
    }
    for (at, dim) in dims.iter().enumerate() {
        if last.is_some_and(|last| last >= *dim) || (from.dims[at] != to[*dim] && from.dims[at] != 1) {
            return None;
        }
        last = Some(*dim);
        if from.dims[at] != 1 {
            loops[*dim].stride = strides[at];
        }
    }
    loops.push(from.inner());
    Some(loops)
}

/// Elements before and after each dimension.
fn margins(params: &Params<'_>, rank: usize) -> Option<Vec<(Bits, Bits)>> {
    let wide = |list: Vec<i64>| list.into_iter().map(Bits::from).collect::<Vec<Bits>>();
    if params.has(Key::PadInterior) && params.list(Key::PadInterior).ok()??.iter().any(|gap| *gap != 0) {
        return None;
    }
    let (low, high): (Vec<Bits>, Vec<Bits>) = if params.has(Key::PadPairs) {
        let list = wide(params.list(Key::PadPairs).ok()??);
        (list.iter().step_by(2).copied().collect(), list.iter().skip(1).step_by(2).copied().collect())
    } else if params.has(Key::PadHalves) {
        let list = wide(params.list(Key::PadHalves).ok()??);
        let (low, high) = list.split_at(list.len() / 2);
        (low.to_vec(), high.to_vec())
    } else {
        (wide(params.list(Key::PadLow).ok()??), wide(params.list(Key::PadHigh).ok()??))
    };
    let whole = low.len() == rank && high.len() == rank && low.iter().chain(&high).all(|margin| *margin >= 0);
    (whole && !params.has(Key::Axes)).then(|| low.into_iter().zip(high).collect())
}

fn pad(params: &Params<'_>, shaped: &Shaped) -> Option<Rope> {
    if let Some(mode) = params.row.param(Key::Mode).and_then(|param| param.attr.as_deref())
        && let Some(mode) = params.module.attr(params.op, mode)
        && mode.as_str() != Some("constant")
    {
        return None;
    }
    let data = params.row.data_operand();
    let (from, to) = (shaped.operand(data)?, shaped.result(0)?);
    let margins = margins(params, from.dims.len())?;
    let grown = from.dims.iter().zip(&margins).map(|(dim, (low, high))| dim + low + high);
    if from.elem != to.elem || !grown.eq(to.dims.iter().copied()) || to.count()? == 0 {
        return None;
    }
    if from.count()? == 0 {
        let (content, start) = filling(params)?;
        let mut out = Rope::default();
        out.push(Seg::new(content, start, [level(to.count()?, 0), to.inner()]));
        return Some(out);
    }
    let Some(last) = margins.iter().rposition(|margin| *margin != (0, 0)) else {
        return Some(params.operands[data].clone());
    };
    let rounds = to.dims[..last].iter().try_fold(1, |product: Bits, dim| product.checked_mul(*dim))?;
    if rounds > PIECES {
        return None;
    }
    let border = Border { fill: filling(params)?, rope: &params.operands[data], margins: &margins, last, from, to };
    let mut out = Rope::default();
    border.dimension(0, 0, &mut out);
    Some(out)
}

/// The content that padding repeats, with its start.
fn filling(params: &Params<'_>) -> Option<(u128, Bits)> {
    let param = params.row.param(Key::Value);
    if let Some(rope) = param.and_then(|param| params.operands.get(param.operand?)).filter(|rope| rope.len > 0) {
        let [seg] = &rope.segs[..] else { return None };
        return Some((seg.content, seg.start));
    }
    let mut mix = Mix::new("padding");
    let attr = param.and_then(|param| params.module.attr(params.op, param.attr.as_deref()?));
    crate::canon::Canon::new(params.module).optional(&mut mix, attr);
    Some((mix.done(), 0))
}

struct Border<'a> {
    fill: (u128, Bits),
    rope: &'a Rope,
    margins: &'a [(Bits, Bits)],
    /// The last dimension with a margin.
    last: usize,
    from: &'a Shape,
    to: &'a Shape,
}

impl Border<'_> {
    /// One dimension from the position `start` of the operand on; the recursion is as deep as the shape.
    fn dimension(&self, at: usize, start: Bits, out: &mut Rope) {
        let (low, high) = self.margins[at];
        let (from, to) = (self.from.strides()[at], self.to.strides()[at]);
        self.fill(low * to, out);
        let dim = self.from.dims[at];
        if at == self.last {
            if dim * from > 0 {
                out.append(&self.rope.slice(start, start + dim * from));
            }
        } else {
            (0..dim).for_each(|round| self.dimension(at + 1, start + round * from, out));
        }
        self.fill(high * to, out);
    }

    fn fill(&self, bits: Bits, out: &mut Rope) {
        let elem = self.to.elem;
        if bits > 0 {
            out.push(Seg::new(self.fill.0, self.fill.1, [level(bits / elem, 0), level(elem, 1)]));
        }
    }
}
