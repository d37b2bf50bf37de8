//! What operations compute, on elements. Movements move, sums add in the ring of the element's bits, all else is a hash.
//!
//! Written from the tables of facts and the dialects' documents; nothing of the passes or of the checker is used.

use crate::tensor::{Tensor, count, index, mix, mix_text, position};
use neap_ir::facts::{Facts, Key, OpFacts, Role};
use neap_ir::types::Dim;
use neap_ir::{Attr, Def, Module, OpId, Type, ValueId};
use std::collections::BTreeMap;

/// Sizes of named dimensions.
pub(crate) type Dims = BTreeMap<String, usize>;

/// Evaluates operations of one module at given sizes.
#[derive(Clone, Copy)]
pub(crate) struct Kernels<'a> {
    pub(crate) module: &'a Module,
    pub(crate) facts: &'a Facts,
    pub(crate) dims: &'a Dims,
}

impl<'a> Kernels<'a> {
    pub(crate) fn row(&self, op: OpId) -> &'a OpFacts {
        let m = self.module;
        self.facts.of(m.op_name(op), m.data_operand_count(op), m.data_results(op).len())
    }

    /// Dimensions and bits of a value.
    pub(crate) fn shape(&self, value: ValueId) -> (Vec<usize>, usize) {
        let m = self.module;
        if matches!(m.ty(m.value_ty(value)), Type::Dialect(body) if body.ends_with(".token")) {
            return (vec![0], 8);
        }
        let mut named = self.names(value).into_iter();
        let (shape, elem) = match m.ty(m.value_ty(value)) {
            Type::Tensor { shape: Some(shape), elem, .. } => (shape.clone(), *elem),
            _ => (Vec::new(), m.value_ty(value)),
        };
        let size = |dim: &Dim| match dim {
            Dim::Known(size) => *size as usize,
            Dim::Dynamic => {
                let name = named.next().unwrap_or_else(|| panic!("a dynamic dimension without a name"));
                *self.dims.get(&name).unwrap_or_else(|| panic!("no size for dimension {name}"))
            }
        };
        let dims = shape.iter().map(size).collect();
        // A handle has nothing to look at.
        m.elem_bits(elem).map_or((vec![0], 8), |bits| (dims, bits as usize))
    }

    fn names(&self, value: ValueId) -> Vec<String> {
        let m = self.module;
        if m.dynamic_axes(value).is_empty() {
            return Vec::new();
        }
        let (list, skip) = match m.value(value).def() {
            Def::Result(op, at) => {
                let before = m.results(op)[..at as usize].iter().map(|value| m.dynamic_axes(*value).len()).sum();
                (m.attr(op, "neap.dims"), before)
            }
            Def::Arg(block, at) => {
                let func = m.region_op(m.block_region(block));
                (m.arg_attr(func, at as usize, "neap.dims"), 0)
            }
        };
        let Some(Attr::Array(list)) = list else { return Vec::new() };
        list.iter().skip(skip).filter_map(Attr::as_str).map(str::to_owned).collect()
    }

    /// Bytes of a value.
    pub(crate) fn size(&self, value: ValueId) -> usize {
        if self.module.is_token(value) {
            return 0;
        }
        let (dims, bits) = self.shape(value);
        (count(&dims) * bits).div_ceil(8)
    }

    /// The results of an operation without bodies that run. `salt` stands for what it finds in the world.
    pub(crate) fn eval(&self, op: OpId, operands: &[Tensor], salt: u64) -> Vec<Tensor> {
        let m = self.module;
        let row = self.row(op);
        if m.op_name(op) == "neap.fused" {
            return self.fused(op, operands, salt);
        }
        let results = m.data_results(op);
        let shapes: Vec<(Vec<usize>, usize)> = results.iter().map(|value| self.shape(*value)).collect();
        let call = Call { kernels: self, op, row, operands, shapes: &shapes };
        if row.role == Role::Constant {
            return vec![call.constant()];
        }
        let out = match row.role {
            Role::Elementwise | Role::Quantize | Role::Dequantize => Some(vec![call.elementwise()]),
            Role::Softmax => Some(vec![call.lines()]),
            Role::UpdateSlice => call.update().map(|one| vec![one]),
            _ => call.moved(),
        };
        let out = out.unwrap_or_else(|| call.unknown(salt));
        if row.role == Role::Concat { out.into_iter().map(|one| call.activated(one)).collect() } else { out }
    }

    fn fused(&self, op: OpId, operands: &[Tensor], salt: u64) -> Vec<Tensor> {
        let m = self.module;
        let [body] = m.region_blocks(op, 0) else { return Vec::new() };
        let mut env: BTreeMap<u32, Tensor> = BTreeMap::new();
        let raw = |value: ValueId| value.into_raw().into_u32();
        m.block_args(*body).iter().zip(operands).for_each(|(arg, one)| drop(env.insert(raw(*arg), one.clone())));
        let last = m.terminator(*body).expect("a body ends");
        for inner in m.block_ops(*body).filter(|inner| *inner != last) {
            let read: Vec<Tensor> = m.data_operands(inner).map(|value| env[&raw(value)].clone()).collect();
            let made = self.eval(inner, &read, salt);
            m.data_results(inner).iter().zip(made).for_each(|(value, one)| drop(env.insert(raw(*value), one)));
        }
        m.data_operands(last).map(|value| env[&raw(value)].clone()).collect()
    }
}

/// One use of an operation.
struct Call<'a, 'b> {
    kernels: &'b Kernels<'a>,
    op: OpId,
    row: &'a OpFacts,
    operands: &'b [Tensor],
    shapes: &'b [(Vec<usize>, usize)],
}

impl Call<'_, '_> {
    fn attr(&self, key: &str) -> Option<&Attr> {
        self.kernels.module.attr(self.op, key)
    }

    /// What makes this operation another function than others: its name, and attributes that are not about plans.
    fn function(&self) -> u64 {
        let m = self.kernels.module;
        let mut words = vec![mix_text(m.op_name(self.op))];
        for (key, attr) in m.attrs(self.op).iter().chain(m.props(self.op).into_iter().flatten()) {
            if !m.text(*key).starts_with("neap.") {
                words.extend([mix_text(m.text(*key)), mix_text(&format!("{attr:?}"))]);
            }
        }
        mix(words)
    }

    fn numbers(&self, key: Key) -> Option<Vec<i64>> {
        let param = self.row.param(key)?;
        if let Some(operand) = param.operand.and_then(|at| self.operands.get(at)) {
            return Some(operand.numbers());
        }
        let attr = param.attr.as_deref().and_then(|key| self.attr(key));
        match attr {
            Some(attr) => Some(attr.as_i64s().or_else(|| Some(vec![attr.as_i64()?])).expect("a parameter is numbers")),
            None => param.default.map(|value| vec![value]),
        }
    }

    /// The axis, if there is such a one: a mutant reads it from memory that another value may have overwritten.
    fn axis(&self, rank: usize) -> Option<usize> {
        let axis = *self.numbers(Key::Axis)?.first()?;
        usize::try_from(if axis < 0 { axis.checked_add(rank as i64)? } else { axis }).ok().filter(|axis| *axis < rank)
    }

    fn data(&self) -> &Tensor {
        &self.operands[self.row.data_operand()]
    }

    /// The first result by a function of positions, if that has an answer for each of them.
    fn result(&self, element: impl Fn(&[usize]) -> Option<u64>) -> Option<Tensor> {
        let (dims, bits) = &self.shapes[0];
        let data: Option<Vec<u64>> = (0..count(dims)).map(|at| element(&position(dims, at))).collect();
        data.map(|data| Tensor::by(dims, *bits, |at| data[at]))
    }

    fn constant(&self) -> Tensor {
        let (dims, bits) = &self.shapes[0];
        let text = match self.attr("value") {
            Some(Attr::Elements { text, .. }) => text.to_string(),
            // Its content is in the model's file: told apart by name.
            None => format!("{:?}", self.attr("neap.names")),
            other => format!("{other:?}"),
        };
        let body = text.trim_start_matches("dense<").trim_end_matches('>');
        let words = body.split(|c: char| "[], ".contains(c)).filter(|word| !word.is_empty());
        let numbers: Option<Vec<i64>> = words.map(|word| word.parse().ok()).collect();
        match numbers {
            Some(list) if list.len() == count(dims) => Tensor::by(dims, *bits, |at| list[at] as u64),
            Some(list) if list.len() == 1 => Tensor::by(dims, *bits, |_| list[0] as u64),
            _ => Tensor::by(dims, *bits, |at| mix([mix_text(&text), at as u64])),
        }
    }

    fn activated(&self, one: Tensor) -> Tensor {
        match self.attr("fused_activation_function").and_then(Attr::as_str) {
            None | Some("NONE") => one,
            Some(name) => Tensor::by(&one.dims, one.bits, |at| mix([mix_text(name), one.data[at]])),
        }
    }

    fn elementwise(&self) -> Tensor {
        let m = self.kernels.module;
        let name = m.op_name(self.op);
        let (dims, bits) = &self.shapes[0];
        let lane = |at: usize, of: usize| self.operands[of].broadcast(dims, at);
        let per_element = |of: usize| self.row.per_element(of);
        let same_type = || {
            let elem = |value: ValueId| match m.ty(m.value_ty(value)) {
                Type::Tensor { elem, .. } => *elem,
                _ => m.value_ty(value),
            };
            m.data_operands(self.op).next().map(elem) == m.data_results(self.op).first().map(|value| elem(*value))
        };
        let verb = name.split_once('.').map_or(name, |(_, verb)| verb);
        let made = match verb {
            "add" => Tensor::by(dims, *bits, |at| lane(at, 0).wrapping_add(lane(at, 1))),
            "sub" | "subtract" => Tensor::by(dims, *bits, |at| lane(at, 0).wrapping_sub(lane(at, 1))),
            "mul" | "multiply" => Tensor::by(dims, *bits, |at| lane(at, 0).wrapping_mul(lane(at, 1))),
            "neg" | "negate" => Tensor::by(dims, *bits, |at| lane(at, 0).wrapping_neg()),
            "cast" | "convert" if same_type() => Tensor::by(dims, *bits, |at| lane(at, 0)),
            // `quantize(dequantize(q))` is `q`, whatever the other order loses.
            "quantize" | "dequantize" => Tensor::by(dims, *bits, |at| lane(at, 0)),
            _ => {
                let function = self.function();
                Tensor::by(dims, *bits, |at| {
                    let word = |(of, one): (usize, &Tensor)| if per_element(of) { lane(at, of) } else { one.hash() };
                    mix(std::iter::once(function).chain(self.operands.iter().enumerate().map(word)))
                })
            }
        };
        self.activated(made)
    }

    /// Every line along the last dimension is a function of the operand's line.
    fn lines(&self) -> Tensor {
        let x = &self.operands[0];
        let (width, function) = (x.dims.last().copied().unwrap_or(1).max(1), self.function());
        let (dims, bits) = &self.shapes[0];
        Tensor::by(dims, *bits, |at| {
            let line = at / width * width;
            mix([function, (at - line) as u64].into_iter().chain(x.data[line..line + width].iter().copied()))
        })
    }

    fn update(&self) -> Option<Tensor> {
        let (whole, part) = (&self.operands[0], &self.operands[1]);
        let mut out = whole.clone();
        let start = self.operands.get(2)?.numbers();
        let fits = |axis: usize| whole.dims[axis] >= part.dims[axis];
        if whole.dims.len() != part.dims.len() || start.len() != part.dims.len() || !(0..start.len()).all(fits) {
            return None;
        }
        for (at, element) in part.data.iter().enumerate() {
            let place = position(&part.dims, at);
            let clamp = |axis: usize| start[axis].clamp(0, (whole.dims[axis] - part.dims[axis]) as i64) as usize;
            let place: Vec<usize> = place.iter().enumerate().map(|(axis, here)| here + clamp(axis)).collect();
            out.data[index(&whole.dims, &place)] = *element;
        }
        Some(out)
    }

    fn moved(&self) -> Option<Vec<Tensor>> {
        Some(match self.row.role {
            Role::Reshape | Role::Copy => {
                let all = self.shapes.iter().enumerate().map(|(at, (dims, bits))| {
                    let from = &self.operands[self.row.view_operand(at).unwrap_or(0)];
                    Tensor::of(dims, *bits, &from.bytes())
                });
                all.collect()
            }
            Role::Transpose => vec![self.transpose()?],
            Role::Slice | Role::StridedSlice => vec![self.slice()?],
            Role::Concat => vec![self.concat()?],
            Role::Pack => vec![self.pack()?],
            Role::Split | Role::Unpack => self.split()?,
            Role::Pad => vec![self.pad()?],
            _ => return None,
        })
    }

    fn transpose(&self) -> Option<Tensor> {
        let x = self.data();
        let perm = self.numbers(Key::Perm).unwrap_or_else(|| (0..x.dims.len() as i64).rev().collect());
        self.result(|place| {
            let mut from = vec![0; place.len()];
            for (axis, here) in perm.iter().zip(place) {
                *usize::try_from(*axis).ok().and_then(|axis| from.get_mut(axis))? = *here;
            }
            x.at(&from)
        })
    }

    fn slice(&self) -> Option<Tensor> {
        let x = self.data();
        let start = self.numbers(Key::Start)?;
        let step = self.numbers(Key::Stride).unwrap_or_else(|| vec![1; start.len()]);
        let from = |axis: usize, here: usize| {
            let (start, step) = (*start.get(axis)?, *step.get(axis)?);
            let begin = if start < 0 { start.checked_add(*x.dims.get(axis)? as i64)? } else { start };
            usize::try_from(begin.checked_add(step.checked_mul(here as i64)?)?).ok()
        };
        self.result(|place| {
            let from: Option<Vec<usize>> = place.iter().enumerate().map(|(axis, here)| from(axis, *here)).collect();
            x.at(&from?)
        })
    }

    fn concat(&self) -> Option<Tensor> {
        let axis = self.axis(self.shapes[0].0.len())?;
        self.result(|place| {
            let mut place = place.to_vec();
            for part in self.operands {
                let size = *part.dims.get(axis)?;
                if place[axis] < size {
                    return part.at(&place);
                }
                place[axis] -= size;
            }
            None
        })
    }

    fn pack(&self) -> Option<Tensor> {
        let axis = self.axis(self.shapes[0].0.len())?;
        self.result(|place| {
            let mut place = place.to_vec();
            self.operands.get(place.remove(axis))?.at(&place)
        })
    }

    fn split(&self) -> Option<Vec<Tensor>> {
        let x = self.data();
        let axis = self.axis(x.dims.len())?;
        let mut before = 0;
        let part = |(dims, bits): &(Vec<usize>, usize)| {
            let cut = self.row.role == Role::Split;
            let element = |at: usize| {
                let mut place = position(dims, at);
                if cut {
                    *place.get_mut(axis)? += before;
                } else {
                    place.insert(axis, before);
                }
                x.at(&place)
            };
            let data: Vec<u64> = (0..count(dims)).map(element).collect::<Option<_>>()?;
            before += if cut { *dims.get(axis)? } else { 1 };
            Some(Tensor::by(dims, *bits, |at| data[at]))
        };
        self.shapes.iter().map(part).collect()
    }

    fn pad(&self) -> Option<Tensor> {
        let x = self.data();
        let pairs = self.numbers(Key::PadPairs)?;
        self.result(|place| {
            let before = |(axis, here): (usize, &usize)| Some(*here as i64 - pairs.get(2 * axis)?);
            let from: Vec<i64> = place.iter().enumerate().map(before).collect::<Option<_>>()?;
            let inside: Option<Vec<usize>> = from.iter().map(|here| usize::try_from(*here).ok()).collect();
            Some(inside.and_then(|from| x.at(&from)).unwrap_or(0))
        })
    }

    fn unknown(&self, salt: u64) -> Vec<Tensor> {
        let words = [self.function(), salt].into_iter().chain(self.operands.iter().map(Tensor::hash));
        let key = mix(words.collect::<Vec<u64>>());
        let one = |(at, (dims, bits)): (usize, &(Vec<usize>, usize))| {
            Tensor::by(dims, *bits, |element| mix([key, at as u64, element as u64]))
        };
        self.shapes.iter().enumerate().map(one).collect()
    }
}
