//! What one operation computes, on symbolic contents.
//!
//! Moving operations move bits, elementwise ones apply a named function to contents, any other operation is an unknown function of
//! its attributes, its types and its whole operands (and of the state that it reads). The source and the planned module are
//! evaluated by the same rules, so equal names on both sides mean equal bytes whatever the unknown functions are.

use crate::canon::Canon;
use crate::elementwise::{self, Lane};
use crate::hash::Mix;
use crate::laws;
use crate::moves::{self, Shaped, moved};
use crate::params::{Constants, Params, ints};
use crate::rope::{Bits, Rope, Seg, Wraps, level};
use crate::shape::Shapes;
use crate::shared::{self, Shares};
use crate::sizes::Sizes;
use neap_ir::facts::{Facts, Key, OpFacts, Role};
use neap_ir::{Module, Name, OpId, Type, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// The hash of a constant's bytes, where a reader wrote it.
const HASH: &str = "content_sha256";

/// Evaluates the operations of one module.
pub(crate) struct Eval<'a> {
    pub(crate) module: &'a Module,
    pub(crate) facts: &'a Facts,
    pub(crate) canon: Canon<'a>,
    pub(crate) shapes: Shapes<'a>,
    pub(crate) wraps: Wraps,
    pub(crate) constants: Constants,
    rows: RefCell<FxHashMap<(Name, usize, usize), &'a OpFacts>>,
    /// Real numbers made of quantized ones, by content.
    dequantized: FxHashMap<u128, Quantized>,
    /// Constants that the source calls alike.
    pub(crate) alike: FxHashSet<u128>,
    /// What the source says of its uses; none in the source, where each use says it itself.
    pub(crate) shares: Option<Shares>,
}

/// What real numbers were made of: element `i` of their content is element `i` of another one.
#[derive(Clone, Copy)]
struct Quantized {
    content: u128,
    /// Bits of an element.
    elem: Bits,
    real: Bits,
    ty: u128,
}

impl<'a> Eval<'a> {
    pub(crate) fn new(module: &'a Module, facts: &'a Facts, sizes: &'a Sizes) -> Eval<'a> {
        Eval {
            module,
            facts,
            canon: Canon::new(module),
            shapes: Shapes::new(module, sizes),
            wraps: Wraps::default(),
            constants: Constants::default(),
            rows: RefCell::default(),
            dequantized: FxHashMap::default(),
            alike: FxHashSet::default(),
            shares: None,
        }
    }

    /// The facts of an operation.
    pub(crate) fn row(&self, op: OpId) -> &'a OpFacts {
        let m = self.module;
        let key = (m.op(op).name(), m.data_operand_count(op), m.data_results(op).len());
        self.rows.borrow_mut().entry(key).or_insert_with(|| self.facts.of(m.op_name(op), key.1, key.2))
    }

    /// The name of this use of the operation: equal for equal operations on equal operands in equal states.
    pub(crate) fn key(&self, op: OpId, operands: &[Rope], state: &[u128]) -> u128 {
        let m = self.module;
        let mut mix = Mix::new("op");
        self.canon.op(&mut mix, op);
        for (value, rope) in m.data_operands(op).zip(operands) {
            mix.wide(self.canon.ty(m.value_ty(value)));
            rope.feed(&mut mix);
        }
        for value in m.data_results(op) {
            mix.wide(self.canon.ty(m.value_ty(*value)));
        }
        mix.word(state.len() as u64);
        state.iter().for_each(|version| mix.wide(*version));
        mix.done()
    }

    /// The data results of an operation that is pure, given its operands.
    pub(crate) fn results(&mut self, op: OpId, operands: &[Rope], key: u128) -> Vec<Rope> {
        let m = self.module;
        let row = self.row(op);
        match row.role {
            Role::Constant => return self.constant(op, row),
            Role::Handle => return vec![self.handle(op, row)],
            Role::Elementwise | Role::Quantize | Role::Dequantize if row.is_pure() => {
                if let Some(result) = self.elementwise(op, row, operands) {
                    return vec![result];
                }
            }
            _ if row.is_pure() => {
                let of = |value: ValueId| self.shapes.of(value);
                let shaped = Shaped {
                    operands: m.data_operands(op).map(of).collect(),
                    results: m.data_results(op).iter().map(|value| of(*value)).collect(),
                };
                let params = Params { module: m, op, row, operands, constants: &self.constants };
                if let Some(results) = moved(&params, &shaped, &mut self.wraps)
                    && let Some(results) = self.activated(op, &shaped, results)
                {
                    return results;
                }
            }
            _ => {}
        }
        self.opaque(op, operands, key)
    }

    /// Fresh contents named by the use. Where the source says that a result lies in an operand, or that operands become parts
    /// of the result, that is what the operation means.
    pub(crate) fn opaque(&self, op: OpId, operands: &[Rope], key: u128) -> Vec<Rope> {
        let m = self.module;
        let fresh = |(index, value): (usize, &ValueId)| {
            let mut mix = Mix::new("result");
            mix.wide(key);
            mix.word(index as u64);
            Rope::of(mix.done(), self.shapes.bits(*value))
        };
        let mut results: Vec<Rope> = m.data_results(op).iter().enumerate().map(fresh).collect();
        let said = |name: u128| self.shares.as_ref().is_none_or(|shares| shares.contains(name));
        for view in m.views(op).into_iter().filter(|view| said(shared::view(key, view))) {
            let (from, result) = (Bits::from(view.byte_offset) * 8, results.get_mut(view.result as usize));
            if let (Some(operand), Some(result)) = (operands.get(view.operand as usize), result)
                && from + result.len <= operand.len
                && result.len > 0
            {
                *result = operand.slice(from, from + result.len);
            }
        }
        let places = m.places(op, neap_ir::plan::MAY_PLACE);
        for place in places.into_iter().filter(|place| said(shared::part(key, place))) {
            let from = Bits::from(place.byte_offset) * 8;
            if let (Some(operand), Some(result)) = (operands.get(place.operand as usize), results.first_mut())
                && from + operand.len <= result.len
                && operand.len > 0
            {
                let mut out = if from > 0 { result.slice(0, from) } else { Rope::default() };
                out.append(operand);
                if from + operand.len < result.len {
                    out.append(&result.slice(from + operand.len, result.len));
                }
                *result = out;
            }
        }
        results
    }

    /// A constant is its value where that or its hash is written, else what names it: the model's own name, else the SSA name, which also tells
    /// those apart that the source calls alike.
    fn constant(&mut self, op: OpId, row: &OpFacts) -> Vec<Rope> {
        let m = self.module;
        let (mut key, written) = self.constant_key(op, row);
        let given = [m.attr(op, "neap.name"), m.attr(op, "neap.names")];
        if !written && (given == [None, None] || self.alike.contains(&key)) {
            let mut mix = Mix::new("called");
            mix.wide(key);
            let names = m.results(op).iter().filter_map(|value| m.value(*value).name);
            names.for_each(|name| mix.text(m.text(name)));
            key = mix.done();
        }
        let results = self.opaque(op, &[], key);
        let value = row.param(Key::Value).and_then(|param| m.attr(op, param.attr.as_deref()?));
        if let (Some(rope), Some(value)) = (results.first(), value)
            && let [seg] = &rope.segs[..]
            && !self.constants.contains_key(&seg.content)
            && let Some(list) = ints(m, value)
        {
            self.constants.insert(seg.content, list);
        }
        results
    }

    /// A constant by its attributes, its types and the model's names, and whether its content is written.
    fn constant_key(&self, op: OpId, row: &OpFacts) -> (u128, bool) {
        let m = self.module;
        let mut mix = Mix::new("constant");
        self.canon.op(&mut mix, op);
        let value = row.param(Key::Value).and_then(|param| m.attr(op, param.attr.as_deref()?));
        let written = m.attr(op, HASH).is_some()
            || value.is_some_and(|attr| match attr {
                neap_ir::Attr::Elements { text, .. } => text.starts_with("dense<") && !text.contains("__elided__"),
                neap_ir::Attr::Text(..) => false,
                _ => true,
            });
        if !written {
            let given = [m.attr(op, "neap.name"), m.attr(op, "neap.names")];
            given.iter().for_each(|name| self.canon.optional(&mut mix, *name));
        }
        for value in m.data_results(op) {
            mix.wide(self.canon.ty(m.value_ty(*value)));
        }
        (mix.done(), written)
    }

    /// Constants of a function whose contents are not written and that the model calls alike, though they may differ.
    pub(crate) fn called_alike(&self, func: OpId) -> FxHashSet<u128> {
        let (mut seen, mut twice) = (FxHashSet::default(), FxHashSet::default());
        for op in self.module.walk(func) {
            let row = self.row(op);
            if row.role == Role::Constant
                && let (key, false) = self.constant_key(op, row)
                && !seen.insert(key)
            {
                twice.insert(key);
            }
        }
        twice
    }

    /// A handle is the name of its variable.
    fn handle(&self, op: OpId, row: &OpFacts) -> Rope {
        Rope::of(handle_name(self.module, op, row), 64)
    }

    /// A window of a buffer, as addresses.
    pub(crate) fn subview(&mut self, op: OpId, row: &OpFacts, addresses: &[Rope], key: u128) -> Vec<Rope> {
        let of = |value: ValueId| self.shapes.of(value);
        let m = self.module;
        let shaped = Shaped {
            operands: m.data_operands(op).map(of).collect(),
            results: m.data_results(op).iter().map(|value| of(*value)).collect(),
        };
        let params = Params { module: m, op, row, operands: addresses, constants: &self.constants };
        if let Some(window) = moves::window(&params, &shaped, &mut self.wraps) {
            return vec![window];
        }
        self.opaque(op, &[], key)
    }

    /// What an activation, kept as an attribute, makes of elements that were moved: a function of each of them, and of their type. None
    /// where elements are treated by channel, so that their place matters.
    fn activated(&self, op: OpId, shaped: &Shaped, moved: Vec<Rope>) -> Option<Vec<Rope>> {
        let attr = self.module.attr(op, "fused_activation_function");
        let Some(attr) = attr.filter(|attr| attr.as_str() != Some("NONE")) else { return Some(moved) };
        let apply = |(at, rope): (usize, Rope)| {
            let (value, shape) = (self.module.data_results(op)[at], shaped.results.get(at)?.as_deref()?);
            if self.per_axis(value) || rope.len == 0 {
                return (rope.len == 0).then_some(rope);
            }
            let mut mix = Mix::new("activation");
            self.canon.attr(&mut mix, attr);
            mix.wide(self.elem_ty(value));
            let lane = Lane { rope, elem: shape.elem, single: false };
            elementwise::apply(mix.done(), &[lane], shape.elem, shape.count()?, false)
        };
        moved.into_iter().enumerate().map(apply).collect()
    }

    fn elementwise(&mut self, op: OpId, row: &OpFacts, operands: &[Rope]) -> Option<Rope> {
        let m = self.module;
        let [result] = m.data_results(op) else { return None };
        let to = self.shapes.of(*result)?;
        let count = to.count()?;
        if count == 0 {
            return Some(Rope::default());
        }
        if let Some(at) = laws::identity(m, op, operands, &self.constants)
            && m.value_ty(m.operand(op, at)) == m.value_ty(*result)
        {
            return Some(operands[at].clone());
        }
        if self.by_channel(op) || self.per_axis(*result) {
            return None;
        }
        let mut mix = Mix::new("function");
        self.canon.op(&mut mix, op);
        mix.wide(self.elem_ty(*result));
        let mut lanes = Vec::new();
        for (at, value) in m.data_operands(op).enumerate() {
            let from = self.shapes.of(value)?;
            mix.wide(self.elem_ty(value));
            if self.per_axis(value) || operands[at].len != from.bits()? {
                return None;
            }
            if row.per_element(at) {
                let dims: Vec<usize> = (to.dims.len().checked_sub(from.dims.len())?..to.dims.len()).collect();
                let loops = moves::stretched(&from, &to.dims, &dims)?;
                let single = from.count()? == 1 && count > 1;
                let rope = match from.dims == to.dims {
                    true => operands[at].clone(),
                    false => operands[at].gather(0, loops, &mut self.wraps),
                };
                lanes.push(Lane { rope, elem: from.elem, single });
            } else if from.count()? <= 1 || row.shape_operands.contains(at) {
                operands[at].feed(&mut mix);
            } else {
                return None;
            }
        }
        if lanes.is_empty() {
            return None;
        }
        if let Some(before) = self.quantized_again(op, row, &lanes, to.elem) {
            return Some(before);
        }
        let made = elementwise::apply(mix.done(), &lanes, to.elem, count, laws::commutes(m.op_name(op)))?;
        self.note_dequantized(op, row, &lanes, &made, to.elem);
        Some(made)
    }

    /// What real numbers were before, if the operation quantizes them as they had been quantized.
    fn quantized_again(&self, op: OpId, row: &OpFacts, lanes: &[Lane], elem: Bits) -> Option<Rope> {
        let ([lane], Role::Quantize) = (lanes, row.role) else { return None };
        let (mut out, ty) = (Rope::default(), self.elem_ty(*self.module.data_results(op).first()?));
        for seg in &lane.rope.segs {
            let before = self.dequantized.get(&seg.content).filter(|before| before.ty == ty && before.elem == elem)?;
            let (inner, outer) = seg.levels.split_last()?;
            if before.real != lane.elem
                || inner.stride != 1
                || inner.count % lane.elem != 0
                || seg.start % lane.elem != 0
            {
                return None;
            }
            if outer.iter().any(|level| level.stride % lane.elem != 0) {
                return None;
            }
            let scaled = |bits: Bits| bits / lane.elem * elem;
            let loops = outer.iter().map(|one| level(one.count, scaled(one.stride)));
            out.push(Seg::new(before.content, scaled(seg.start), loops.chain([level(scaled(inner.count), 1)])));
        }
        Some(out)
    }

    /// Remembers what real numbers were made of, where quantizing them again gives that back.
    fn note_dequantized(&mut self, op: OpId, row: &OpFacts, lanes: &[Lane], made: &Rope, real: Bits) {
        let ([lane], Role::Dequantize, [operand]) =
            (lanes, row.role, &self.module.data_operands(op).collect::<Vec<_>>()[..])
        else {
            return;
        };
        let elem_of = |value: ValueId| match self.module.ty(self.module.value_ty(value)) {
            Type::Tensor { elem, .. } => Some(*elem),
            _ => None,
        };
        let real_is_f32 = elem_of(self.module.data_results(op)[0])
            .is_some_and(|elem| matches!(self.module.ty(elem), Type::Float(name) if *name == "f32"));
        let lossless = elem_of(*operand).is_some_and(|elem| laws::comes_back(self.module, elem));
        if !lossless || !real_is_f32 || lane.rope.segs.len() != made.segs.len() {
            return;
        }
        let ty = self.elem_ty(*operand);
        for (from, to) in lane.rope.segs.iter().zip(&made.segs) {
            // Both count elements from the start of their contents.
            if from.start % lane.elem == 0 && from.start / lane.elem == to.start / real {
                let before = Quantized { content: from.content, elem: lane.elem, real, ty };
                self.dequantized.insert(to.content, before);
            }
        }
    }

    /// Whether elements are treated by channel, so that an element's place matters.
    fn by_channel(&self, op: OpId) -> bool {
        let flag = self.module.attr(op, "per_channel");
        flag.is_some_and(|attr| *attr != neap_ir::Attr::Bool(false)) || self.module.attr(op, "axis").is_some()
    }

    /// Whether a value's elements are quantized by channel: `!quant.uniform<i8:f32:1, {..}>`.
    fn per_axis(&self, value: ValueId) -> bool {
        let m = self.module;
        let body = |ty| matches!(m.ty(ty), Type::Dialect(body) if body.contains('{'));
        match m.ty(m.value_ty(value)) {
            Type::Tensor { elem, .. } | Type::MemRef { elem, .. } => body(*elem),
            _ => body(m.value_ty(value)),
        }
    }

    fn elem_ty(&self, value: ValueId) -> u128 {
        let m = self.module;
        match m.ty(m.value_ty(value)) {
            Type::Tensor { elem, .. } | Type::MemRef { elem, .. } => self.canon.ty(*elem),
            _ => self.canon.ty(m.value_ty(value)),
        }
    }
}

/// The name of a variable.
pub(crate) fn variable(container: &str, name: &str) -> u128 {
    let mut mix = Mix::new("variable");
    mix.text(container);
    mix.text(name);
    mix.done()
}

/// The variable that a handle names.
pub(crate) fn handle_name(module: &Module, op: OpId, row: &OpFacts) -> u128 {
    let text = |key| {
        let attr = row.param(key).and_then(|param| module.attr(op, param.attr.as_deref()?));
        attr.and_then(|attr| attr.as_str().or_else(|| attr.as_symbol())).unwrap_or_default()
    };
    variable(text(Key::Container), text(Key::SharedName))
}
