//! Names of operations that do not depend on the module they stand in: hashes of types, attributes and bodies.
//!
//! Attributes with the prefix `neap.` say where and how, not what, and are left out. The exception is the name of a `neap.opaque`:
//! nothing is known of such an operation, not even that two of the same name compute the same.

use crate::hash::Mix;
use neap_ir::types::{Dim, Sign};
use neap_ir::{Attr, Module, Name, OpId, Ty, Type, ValueId};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Hashes within one module; types are hashed once.
pub(crate) struct Canon<'a> {
    module: &'a Module,
    types: RefCell<FxHashMap<Ty, u128>>,
}

impl<'a> Canon<'a> {
    pub(crate) fn new(module: &'a Module) -> Canon<'a> {
        Canon { module, types: RefCell::default() }
    }

    /// The hash of a type. Types nest as deep as the parser allows.
    pub(crate) fn ty(&self, ty: Ty) -> u128 {
        if let Some(hash) = self.types.borrow().get(&ty) {
            return *hash;
        }
        let hash = self.hash_ty(ty);
        self.types.borrow_mut().insert(ty, hash);
        hash
    }

    fn hash_ty(&self, ty: Ty) -> u128 {
        let mut mix = Mix::new("type");
        let list = |mix: &mut Mix, list: &[Ty]| {
            mix.word(list.len() as u64);
            list.iter().for_each(|ty| mix.wide(self.ty(*ty)));
        };
        match self.module.ty(ty) {
            Type::Integer { width, sign } => {
                mix.word(1);
                mix.word((*width).into());
                mix.word(match sign {
                    Sign::None => 0,
                    Sign::Signed => 1,
                    Sign::Unsigned => 2,
                });
            }
            Type::Index => mix.word(2),
            Type::Float(name) => mix.text(name),
            Type::Complex(elem) => {
                mix.word(3);
                mix.wide(self.ty(*elem));
            }
            Type::Tuple(items) => {
                mix.word(4);
                list(&mut mix, items);
            }
            Type::None => mix.word(5),
            Type::Vector { shape, elem } => {
                mix.word(6);
                for (size, scalable) in shape {
                    mix.word(*size);
                    mix.word(u64::from(*scalable));
                }
                mix.wide(self.ty(*elem));
            }
            Type::Tensor { shape, elem, encoding } => {
                mix.word(7);
                self.shape(&mut mix, shape.as_deref());
                mix.wide(self.ty(*elem));
                self.optional(&mut mix, encoding.as_deref());
            }
            Type::MemRef { shape, elem, layout, space } => {
                mix.word(8);
                self.shape(&mut mix, shape.as_deref());
                mix.wide(self.ty(*elem));
                self.optional(&mut mix, layout.as_deref());
                self.optional(&mut mix, space.as_deref());
            }
            Type::Function { inputs, results } => {
                mix.word(9);
                list(&mut mix, inputs);
                list(&mut mix, results);
            }
            Type::Dialect(body) => {
                mix.word(10);
                mix.text(body);
            }
        }
        mix.done()
    }

    fn shape(&self, mix: &mut Mix, shape: Option<&[Dim]>) {
        let Some(shape) = shape else { return mix.text("*") };
        mix.word(shape.len() as u64);
        for dim in shape {
            match dim {
                Dim::Known(size) => mix.word(*size),
                Dim::Dynamic => mix.text("?"),
            }
        }
    }

    pub(crate) fn optional(&self, mix: &mut Mix, attr: Option<&Attr>) {
        mix.word(attr.is_some().into());
        if let Some(attr) = attr {
            self.attr(mix, attr);
        }
    }

    /// Feeds an attribute.
    pub(crate) fn attr(&self, mix: &mut Mix, attr: &Attr) {
        match attr {
            Attr::Unit => mix.word(1),
            Attr::Bool(value) => mix.word(2 + u64::from(*value)),
            Attr::Int { value, ty } => {
                mix.word(4);
                mix.int(*value);
                mix.wide(self.ty(*ty));
            }
            Attr::Float { text, ty } | Attr::Elements { text, ty } => {
                mix.word(5);
                mix.text(text);
                mix.wide(self.ty(*ty));
            }
            Attr::Str(bytes) => {
                mix.word(6);
                mix.bytes(bytes);
            }
            Attr::TypedStr(bytes, ty) => {
                mix.word(7);
                mix.bytes(bytes);
                mix.wide(self.ty(*ty));
            }
            Attr::Array(items) => {
                mix.word(8);
                mix.word(items.len() as u64);
                items.iter().for_each(|item| self.attr(mix, item));
            }
            Attr::Dict(items) => {
                mix.word(9);
                mix.word(items.len() as u64);
                items.iter().for_each(|(key, value)| self.named(mix, *key, value));
            }
            Attr::Type(ty) => mix.wide(self.ty(*ty)),
            Attr::Symbol { root, nested } => {
                mix.word(10);
                mix.text(root);
                mix.word(nested.len() as u64);
                nested.iter().for_each(|name| mix.text(name));
            }
            Attr::DenseInts { elem, values } => {
                mix.word(11);
                mix.wide(self.ty(*elem));
                mix.word(values.len() as u64);
                values.iter().for_each(|value| mix.word(*value as u64));
            }
            Attr::DenseBools(values) => {
                mix.word(12);
                mix.word(values.len() as u64);
                values.iter().for_each(|value| mix.word((*value).into()));
            }
            Attr::DenseFloats { elem, values } => {
                mix.word(13);
                mix.wide(self.ty(*elem));
                mix.word(values.len() as u64);
                values.iter().for_each(|value| mix.text(value));
            }
            Attr::Loc(_) => mix.word(14),
            Attr::Text(text, ty) => {
                mix.word(15);
                mix.text(text);
                ty.iter().for_each(|ty| mix.wide(self.ty(*ty)));
            }
        }
    }

    fn named(&self, mix: &mut Mix, key: Name, value: &Attr) {
        mix.text(self.module.text(key));
        self.attr(mix, value);
    }

    /// Feeds what an operation is: its name and the attributes that mean something.
    pub(crate) fn op(&self, mix: &mut Mix, op: OpId) {
        let m = self.module;
        mix.text(m.op_name(op));
        let props = m.props(op).map_or(&[][..], Vec::as_slice);
        let mut attrs: Vec<&(Name, Attr)> = props.iter().chain(m.attrs(op)).collect();
        attrs.retain(|(key, _)| !m.text(*key).starts_with("neap."));
        if !props.is_empty() {
            attrs.sort_by(|(a, _), (b, _)| m.text(*a).cmp(m.text(*b)));
        }
        mix.word(attrs.len() as u64);
        attrs.iter().for_each(|(key, value)| self.named(mix, *key, value));
        if m.op_name(op) == "neap.opaque" {
            self.optional(mix, m.attr(op, "neap.name"));
        }
    }

    /// Feeds the regions of an operation as they are written; `captured` names values from outside.
    pub(crate) fn bodies(&self, mix: &mut Mix, root: OpId, captured: &mut dyn FnMut(ValueId) -> u128) {
        let m = self.module;
        let mut local: FxHashMap<ValueId, u64> = FxHashMap::default();
        let mut ops = vec![root];
        ops.extend(m.walk(root));
        for op in ops {
            if op != root {
                self.op(mix, op);
                for operand in m.operands(op) {
                    match local.get(&operand) {
                        Some(index) => mix.word(*index),
                        None => mix.wide(captured(operand)),
                    }
                }
                for result in m.results(op) {
                    local.insert(*result, local.len() as u64);
                    mix.wide(self.ty(m.value_ty(*result)));
                }
            }
            for region in m.op_regions(op) {
                mix.word(m.blocks(*region).len() as u64);
                for block in m.blocks(*region) {
                    mix.word(m.block_ops(*block).count() as u64);
                    for arg in m.block_args(*block) {
                        local.insert(*arg, local.len() as u64);
                        mix.wide(self.ty(m.value_ty(*arg)));
                    }
                }
            }
        }
    }
}
