//! From a block's operations to terms.

use super::movement::{Movement, movement, part_of};
use super::term::{DimName, Form, Function, Graph, Margins, Shape, Tables, Term};
use crate::callees::facts_of;
use crate::params;
use crate::pass::Context;
use crate::shape::Shaped;
use egg::Id;
use neap_ir::facts::{Key, Role};
use neap_ir::{Attr, Attrs, Dim, Module, Name, OpId, Ty, Type, ValueId};
use rustc_hash::FxHashMap;

/// A block as terms, and what stands behind them.
#[derive(Clone)]
pub(super) struct Terms {
    pub(super) graph: Graph,
    /// By leaf.
    pub(super) leaves: Vec<ValueId>,
    /// By operation: its class, as made.
    pub(super) classes: Vec<Id>,
}

/// Integer operations that a constant operand leaves as they are: the constant, and the operands where it may stand.
const NEUTRAL: &[(&str, i64, &[usize])] = &[
    ("arith.addi", 0, &[0, 1]),
    ("arith.muli", 1, &[0, 1]),
    ("arith.ori", 0, &[0, 1]),
    ("arith.subi", 0, &[1]),
    ("arith.xori", 0, &[0, 1]),
    ("stablehlo.add", 0, &[0, 1]),
    ("stablehlo.multiply", 1, &[0, 1]),
    ("stablehlo.subtract", 0, &[1]),
    ("tosa.add", 0, &[0, 1]),
    ("tosa.sub", 0, &[1]),
];

/// Attributes that tie an operation to its own shape.
pub(super) const OWN: &[&str] = &["neap.bytes", "neap.scratch", "neap.align", "neap.cycles", "neap.pipe", "neap.dims"];

/// What makes two operations one function.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Kind {
    name: Name,
    attrs: Attrs,
    props: Attrs,
    elem: Ty,
    /// Where equal operations stay two.
    apart: Option<usize>,
}

/// The terms of operations of a block; with `equal`, equal operations on equal operands are one value.
pub(super) fn terms(module: &mut Module, cx: &Context<'_>, ops: &[OpId], equal: bool) -> Terms {
    let mut builder = Builder {
        cx,
        graph: Graph::new(Tables { real: Some(module.intern_ty(Type::Float("f32"))), ..Tables::default() }),
        forms: FxHashMap::default(),
        kinds: FxHashMap::default(),
        leaves: Vec::new(),
        class: FxHashMap::default(),
        equal,
    };
    let classes = ops.iter().enumerate().map(|(at, op)| builder.op(module, at, *op)).collect();
    builder.graph.rebuild();
    Terms { graph: builder.graph, leaves: builder.leaves, classes }
}

struct Builder<'a, 'c> {
    cx: &'a Context<'c>,
    graph: Graph,
    forms: FxHashMap<(Ty, Option<u32>), Form>,
    kinds: FxHashMap<Kind, u32>,
    leaves: Vec<ValueId>,
    class: FxHashMap<ValueId, Id>,
    equal: bool,
}

impl Builder<'_, '_> {
    fn form(&mut self, module: &Module, value: ValueId) -> Form {
        let ty = module.value_ty(value);
        let axes = module.dynamic_axes(value);
        let name = |axis: &usize| match module.dim_name(value, *axis) {
            Some(name) => DimName::Given(name.to_owned()),
            None => DimName::Of(value, *axis),
        };
        let names = (!axes.is_empty()).then(|| self.graph.analysis.names.number(axes.iter().map(name).collect()));
        if let Some(form) = self.forms.get(&(ty, names)) {
            return *form;
        }
        let shape = match module.ty(ty) {
            Type::Tensor { shape: Some(dims), elem, encoding: None } => {
                Shape::Dense { elem: *elem, dims: dims.clone(), names }
            }
            _ => Shape::Other(ty),
        };
        if let Shape::Dense { elem, .. } = shape
            && is_lossless(module, elem)
        {
            self.graph.analysis.lossless.insert(elem);
        }
        let form = self.graph.analysis.form(shape);
        self.forms.insert((ty, names), form);
        form
    }

    /// The class of a value; one from outside is a leaf, and a part of a split a window of what is split besides.
    fn read(&mut self, module: &Module, value: ValueId) -> Id {
        if let Some(class) = self.class.get(&value) {
            return *class;
        }
        // Parts of parts of parts: what is split comes before its parts.
        let mut chain = vec![value];
        while let Some(Movement::Cut(whole, _)) = part_of(module, self.cx.facts, chain[chain.len() - 1])
            && !self.class.contains_key(&whole)
        {
            chain.push(whole);
        }
        for value in chain.into_iter().rev() {
            let class = self.leaf(module, value);
            let part = part_of(module, self.cx.facts, value).and_then(|part| self.moved(module, value, part));
            if let Some(part) = part {
                self.graph.union(class, part);
            }
        }
        self.class[&value]
    }

    fn leaf(&mut self, module: &Module, value: ValueId) -> Id {
        let form = self.form(module, value);
        let number = self.leaves.len() as u32;
        self.graph.analysis.leaves.push(form);
        self.leaves.push(value);
        if let Some(splat) = splat(module, self.cx, value) {
            self.graph.analysis.splats.insert(number, splat);
        }
        let class = self.graph.add(Term::Leaf(number));
        self.class.insert(value, class);
        class
    }

    fn op(&mut self, module: &Module, at: usize, op: OpId) -> Id {
        let result = module.results(op)[0];
        let form = self.form(module, result);
        self.graph.analysis.ops.push(form);
        let operands: Vec<ValueId> = module.operands(op).collect();
        let children: Vec<Id> = operands.into_iter().map(|value| self.read(module, value)).collect();
        let mut class = self.graph.add(Term::Op(at as u32, children.clone().into()));
        let moved = movement(module, self.cx.facts, op).and_then(|movement| self.moved(module, result, movement));
        let function = self
            .function(module, at, op, form)
            .map(|function| self.graph.add(Term::Map(function, form, children.into())));
        for also in [moved, function].into_iter().flatten() {
            self.graph.union(class, also);
            class = self.graph.find(class);
        }
        self.class.insert(result, class);
        class
    }

    /// The term of a movement; none where an operand is none that is known yet.
    fn moved(&mut self, module: &Module, result: ValueId, movement: Movement) -> Option<Id> {
        let form = self.form(module, result);
        Some(match movement {
            Movement::Bits(from) => self.graph.add(Term::Bits(form, [*self.class.get(&from)?])),
            Movement::Perm(from, perm) => {
                let number = self.graph.analysis.perms.number(perm);
                self.graph.add(Term::Perm(number, form, [*self.class.get(&from)?]))
            }
            Movement::Cut(from, window) => {
                let (child, whole) = (*self.class.get(&from)?, self.form(module, from));
                let cut = self.graph.analysis.cut(whole, &window)?;
                let number = self.graph.analysis.windows.number(window);
                let part = self.graph.add(Term::Cut(number, cut, [child]));
                if cut == form { part } else { self.graph.add(Term::Bits(form, [part])) }
            }
            Movement::Spread(from, dims) => {
                let number = self.graph.analysis.spreads.number(dims);
                self.graph.add(Term::Spread(number, form, [*self.class.get(&from)?]))
            }
            Movement::Pad(from, low, none) => {
                let op = self.graph.analysis.ops.len() as u32;
                let number = self.graph.analysis.margins.number(Margins { op, low, none });
                self.graph.add(Term::Pad(number, form, [*self.class.get(&from)?]))
            }
            Movement::Join(parts, axis, unit) => {
                let mut children = Vec::new();
                for part in parts {
                    let child = *self.class.get(&part)?;
                    children.push(if unit {
                        let from = self.form(module, part);
                        let mut dims = self.graph.analysis.dims(from)?.to_vec();
                        dims.insert(axis, Dim::Known(1));
                        let thick = self.graph.analysis.reshaped(from, dims)?;
                        self.graph.add(Term::Bits(thick, [child]))
                    } else {
                        child
                    });
                }
                self.graph.add(Term::Join(axis as u32, form, children.into()))
            }
        })
    }

    /// The number of the function that an operation computes; none where no law would use it.
    fn function(&mut self, module: &Module, at: usize, op: OpId, form: Form) -> Option<u32> {
        let row = facts_of(module, self.cx.facts, op);
        let elementwise = matches!(row.role, Role::Elementwise | Role::Quantize | Role::Dequantize);
        let unclear = matches!(row.role, Role::Opaque | Role::Other | Role::Copy | Role::Read);
        if !elementwise && (!self.equal || unclear) {
            return None;
        }
        let named = |attrs: &Attrs| -> Attrs {
            attrs.iter().filter(|(key, _)| !matches!(module.text(*key), "neap.name" | "neap.names")).cloned().collect()
        };
        let elem = self.graph.analysis.elem(form).unwrap_or_else(|| module.value_ty(module.results(op)[0]));
        let kind = Kind {
            name: module.op(op).name(),
            attrs: named(module.attrs(op)),
            props: module.props(op).map(named).unwrap_or_default(),
            elem,
            apart: (!self.equal).then_some(at),
        };
        if let Some(number) = self.kinds.get(&kind) {
            return Some(*number);
        }
        let lanes: Vec<bool> = (0..module.operands(op).len()).map(|at| elementwise && row.per_element(at)).collect();
        let integer = matches!(module.ty(elem), Type::Integer { .. });
        let name = module.op_name(op);
        let neutral = NEUTRAL.iter().find(|(other, ..)| *other == name && integer).map(|(_, value, at)| (*value, *at));
        let whole = module.props(op).into_iter().flatten().chain(module.attrs(op));
        let by_place = whole.clone().any(|(key, attr)| match module.text(*key) {
            "axis" => true,
            "per_channel" => *attr != Attr::Bool(false),
            key => OWN.contains(&key),
        });
        let by_channel = |value: ValueId| {
            let elem = Shaped::of(module, value).map(|shape| shape.elem);
            elem.is_none_or(|elem| matches!(module.ty(elem), Type::Dialect(body) if body.contains('{')))
        };
        let values = || module.operands(op).chain(module.results(op).iter().copied());
        let function = Function {
            op: at,
            anywhere: elementwise && !by_place && !values().any(by_channel),
            one_rank: name.starts_with("tosa.") || name.starts_with("stablehlo."),
            quantizes: row.role == Role::Quantize,
            dequantizes: row.role == Role::Dequantize,
            lanes,
            neutral,
        };
        let number = self.graph.analysis.functions.len() as u32;
        self.graph.analysis.functions.push(function);
        self.kinds.insert(kind, number);
        Some(number)
    }
}

/// Whether an operation is one that a constant operand may leave as it is.
pub(super) fn may_be_neutral(module: &Module, cx: &Context<'_>, op: OpId) -> bool {
    let known = NEUTRAL.iter().any(|(name, ..)| *name == module.op_name(op));
    known && module.operands(op).any(|value| splat(module, cx, value).is_some())
}

/// The number that all elements of a constant are.
fn splat(module: &Module, cx: &Context<'_>, value: ValueId) -> Option<i64> {
    let op = module.defining_op(value)?;
    let row = facts_of(module, cx.facts, op);
    let of_integers =
        Shaped::of(module, value).is_some_and(|shape| matches!(module.ty(shape.elem), Type::Integer { .. }));
    if row.role != Role::Constant || !of_integers {
        return None;
    }
    let list = params::ints(module, cx.facts, op, row, Key::Value).ok()??;
    let first = *list.first()?;
    list.iter().all(|other| *other == first).then_some(first)
}

/// Whether an element type is quantized with one scale, in at most 16 bits, of real numbers of 32 bits, so that dividing the real number
/// by the scale gives the quantized one back: `!quant.uniform<i8:f32, 0.5:3>`.
fn is_lossless(module: &Module, elem: Ty) -> bool {
    let Type::Dialect(body) = module.ty(elem) else { return false };
    let Some(body) = body.strip_prefix("quant.uniform<").and_then(|body| body.strip_suffix('>')) else { return false };
    let Some((storage, scale)) = body.split_once(", ") else { return false };
    let Some((storage, real)) = storage.split_once(':') else { return false };
    // A narrowed range, `i8<-127:127>`, holds the values that the type allows all the same, but kernels clamp to it.
    let width = storage.trim_start_matches(['i', 'u', 's']).parse::<u32>();
    let scale = scale.split(':').next().and_then(|scale| scale.parse::<f64>().ok());
    real == "f32" && width.is_ok_and(|width| width <= 16) && scale.is_some_and(|scale| (1e-30..1e30).contains(&scale))
}
