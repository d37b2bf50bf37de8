//! Makes operations for terms that no operation of the block is: like one that is there, on other operands or with other parameters.

use super::movement::{
    cuts_by_attribute, joins_by_attribute, permutes_by_attribute, reshapes_by_type, spreads_by_attribute,
};
use super::term::{Form, Shape, Tables, Term};
use super::translate::OWN;
use crate::callees::facts_of;
use crate::pass::Context;
use neap_ir::facts::Key;
use neap_ir::{Attr, Module, OpId, OpSpec, Ty, Type, ValueId};

/// What names the operation that another one is made like.
const NAMES: &[&str] = &["neap.name", "neap.names"];

/// The names of a result's dimensions.
const DIMS: &str = "neap.dims";

/// By kind of term: an operation of the block that others can be made like.
#[derive(Clone, Default)]
pub(super) struct Patterns {
    perm: Option<OpId>,
    cut: Option<OpId>,
    spread: Option<OpId>,
    join: Option<OpId>,
    bits: Option<OpId>,
}

impl Patterns {
    pub(super) fn of(module: &Module, cx: &Context<'_>, ops: &[OpId]) -> Patterns {
        let mut found = Patterns::default();
        // What is said of one operation's bytes holds for no other.
        let general = |op: &&OpId| OWN.iter().all(|key| *key == DIMS || module.attr(**op, key).is_none());
        for op in ops.iter().filter(general) {
            let row = facts_of(module, cx.facts, *op);
            let fits = [
                (&mut found.perm, permutes_by_attribute(module, row, *op)),
                (&mut found.cut, cuts_by_attribute(module, row, *op)),
                (&mut found.spread, spreads_by_attribute(module, row, *op)),
                (&mut found.join, joins_by_attribute(module, row, *op)),
                (&mut found.bits, reshapes_by_type(module, row, *op)),
            ];
            for (slot, fits) in fits {
                if fits && slot.is_none() {
                    *slot = Some(*op);
                }
            }
        }
        found
    }

    /// The operation that one for `term` is made like.
    pub(super) fn like(&self, tables: &Tables, ops: &[OpId], term: &Term, form: Form) -> Option<OpId> {
        tables.names(form)?;
        match term {
            Term::Perm(..) => self.perm,
            Term::Cut(..) => self.cut,
            Term::Spread(..) => self.spread,
            Term::Join(..) => self.join,
            Term::Bits(form, _) => self.bits.filter(|_| tables.elem(*form).is_some()),
            Term::Map(function, ..) => {
                let function = &tables.functions[*function as usize];
                function.anywhere.then(|| ops[function.op])
            }
            Term::Leaf(_) | Term::Op(..) | Term::Pad(..) => None,
        }
    }
}

/// The type of a form.
fn ty(module: &mut Module, tables: &Tables, form: Form) -> Ty {
    match tables.shape(form).clone() {
        Shape::Dense { elem, dims, .. } => module.intern_ty(Type::Tensor { shape: Some(dims), elem, encoding: None }),
        Shape::Other(ty) => ty,
    }
}

/// Makes the operation of a term like `like`, right before `before`.
pub(super) fn make(
    module: &mut Module,
    cx: &Context<'_>,
    tables: &Tables,
    (like, term, form): (OpId, &Term, Form),
    operands: &[ValueId],
    before: OpId,
) -> Option<OpId> {
    let row = facts_of(module, cx.facts, like);
    let wide = |list: Vec<u64>| list.into_iter().map(|at| i64::try_from(at).ok()).collect::<Option<Vec<i64>>>();
    let numbers = match term {
        Term::Perm(perm, ..) => {
            vec![(Key::Perm, wide(tables.perms.get(*perm).iter().map(|at| u64::from(*at)).collect())?)]
        }
        Term::Spread(dims, ..) => {
            vec![(Key::Dims, wide(tables.spreads.get(*dims).iter().map(|at| u64::from(*at)).collect())?)]
        }
        Term::Cut(window, ..) => {
            let spans = tables.windows.get(*window);
            let end =
                spans.iter().map(|span| span.start + span.len.saturating_sub(1) * span.step + u64::from(span.len > 0));
            vec![
                (Key::Start, wide(spans.iter().map(|span| span.start).collect())?),
                (Key::End, wide(end.collect())?),
                (Key::Stride, wide(spans.iter().map(|span| span.step).collect())?),
            ]
        }
        Term::Join(axis, ..) => vec![(Key::Axis, vec![i64::from(*axis)])],
        _ => Vec::new(),
    };
    let mut changed: Vec<(String, Attr)> = Vec::new();
    for (key, values) in numbers {
        let name = row.param(key)?.attr.clone()?;
        let attr = numbered(module.attr(like, &name)?, values)?;
        changed.push((name, attr));
    }
    let attrs: Vec<(String, Attr)> = module
        .attrs(like)
        .iter()
        .map(|(key, attr)| (module.text(*key).to_owned(), attr.clone()))
        .filter(|(key, _)| !NAMES.contains(&key.as_str()) && key != DIMS)
        .collect();
    let dims: Vec<Attr> = tables.names(form)?.into_iter().map(Attr::str).collect();
    let props: Vec<(String, Attr)> = module
        .props(like)
        .into_iter()
        .flatten()
        .map(|(key, attr)| (module.text(*key).to_owned(), attr.clone()))
        .collect();
    let (name, loc, span) = (module.op_name(like).to_owned(), module.op(before).loc.clone(), module.op(before).span);
    let result = ty(module, tables, form);
    let named = (!dims.is_empty()).then_some((DIMS, Attr::Array(dims)));
    let attrs = attrs.iter().map(|(key, attr)| (key.as_str(), attr.clone())).chain(named).collect();
    let made = module.create(OpSpec { name: &name, operands, results: &[result], attrs, loc: loc.clone() });
    if module.props(like).is_some() {
        module.ensure_props(made);
    }
    for (key, attr) in &props {
        module.set_prop(made, key, attr.clone());
    }
    // Looks the key up where it is: among the properties or the attributes.
    changed.into_iter().for_each(|(key, attr)| module.set_attr(made, &key, attr));
    module.set_place(made, loc, span);
    module.insert_before(before, made);
    Some(made)
}

/// Other numbers in the form of an attribute.
fn numbered(attr: &Attr, values: Vec<i64>) -> Option<Attr> {
    match attr {
        Attr::DenseInts { elem, .. } => Some(Attr::DenseInts { elem: *elem, values }),
        Attr::Int { ty, .. } => Some(Attr::Int { value: i128::from(*values.first()?), ty: *ty }),
        Attr::Array(items) => {
            let ty = items.iter().find_map(|item| if let Attr::Int { ty, .. } = item { Some(*ty) } else { None })?;
            Some(Attr::Array(values.iter().map(|value| Attr::Int { value: i128::from(*value), ty }).collect()))
        }
        _ => None,
    }
}

/// Gives the value and the names of one operation to another one that takes its place.
pub(super) fn take_over(module: &mut Module, old: OpId, new: OpId) {
    let (from, to) = (module.results(old)[0], module.results(new)[0]);
    let name = module.value(from).name;
    module.set_value_name(from, None);
    module.set_value_name(to, name);
    for key in NAMES {
        if let Some(attr) = module.attr(old, key).cloned() {
            module.set_attr(new, key, attr);
        }
    }
}
