//! From a linked model and its shapes to a module: one function, graphs inside nodes as regions.

use super::fact::{Fact, TensorFact};
use super::infer::Inferred;
use super::link::{Linked, Origin, ValueRef};
use super::model::{GraphId, Model, Node};
use super::names::{self, Names};
use super::size::Bounds;
use super::wire::Malformed;
use super::{attributes, types};
use crate::contents::{CONTENT, Naming};
use neap_ir::origin::origin;
use neap_ir::types::Dim;
use neap_ir::{Attr, BlockId, Loc, Module, OpId, OpSpec, Ty, Type, ValueId};
use std::collections::BTreeMap;

/// Builds the module.
///
/// # Errors
/// Where contents are named: a constant that is malformed.
pub(super) fn module(
    model: &Model<'_>,
    linked: &Linked<'_>,
    inferred: &Inferred,
    naming: Option<&mut dyn Naming>,
) -> Result<Module, Malformed> {
    let mut build = Builder {
        model,
        linked,
        inferred,
        module: Module::new(),
        values: vec![None; linked.values.len()],
        current: vec![None; model.graphs.len()],
        no_value: None,
        names: Names::default(),
        bounds: inferred.sizes.used().collect(),
        naming,
    };
    build.main()?;
    build.bounds();
    Ok(build.module)
}

struct Builder<'a, 'n> {
    model: &'a Model<'a>,
    linked: &'a Linked<'a>,
    inferred: &'a Inferred,
    module: Module,
    values: Vec<Option<ValueId>>,
    /// The operation that each graph is at.
    current: Vec<Option<OpId>>,
    no_value: Option<ValueId>,
    names: Names,
    bounds: BTreeMap<String, Bounds>,
    naming: Option<&'n mut dyn Naming>,
}

impl Builder<'_, '_> {
    fn main(&mut self) -> Result<(), Malformed> {
        let main = GraphId(0);
        let links = &self.linked.links[0];
        let inputs: Vec<Ty> = links.inputs.iter().map(|value| self.ty(*value)).collect();
        let outputs: Vec<Ty> = links.outputs.iter().map(|value| self.ty(*value)).collect();
        let func = self.module.create_func("main", &inputs, &outputs);
        let block = self.module.entry(func).expect("a function has a block");
        for (position, value) in links.inputs.iter().enumerate() {
            let name = Attr::str(self.linked.values[value.0].name);
            self.module.set_arg_attr(func, position, "neap.name", Some(name));
            let dims = self.dims(&[*value]);
            self.module.set_arg_attr(func, position, "neap.dims", dims);
            self.values[value.0] = Some(self.module.block_args(block)[position]);
        }
        self.body(main, block, "func.return")
    }

    /// The nodes of a graph and its terminator; the recursion is as deep as the reader lets graphs nest.
    fn body(&mut self, id: GraphId, block: BlockId, terminator: &str) -> Result<(), Malformed> {
        let links = &self.linked.links[id.0];
        for node in &links.order {
            self.node(id, *node, block)?;
        }
        // What the terminator reads may still be to be made, before it.
        let end = self.module.create(OpSpec { name: terminator, ..OpSpec::default() });
        self.module.append(block, end);
        self.current[id.0] = Some(end);
        for value in &links.outputs {
            let value = self.read(*value)?;
            self.module.push_operand(end, value);
        }
        Ok(())
    }

    fn node(&mut self, id: GraphId, index: usize, block: BlockId) -> Result<(), Malformed> {
        let node = &self.model.graph(id).nodes[index];
        let links = &self.linked.links[id.0];
        let (operands, results) = (trimmed(&links.operands[index]), trimmed(&links.results[index]));
        let none = self.module.intern_ty(Type::None);
        let mut result_tys: Vec<Ty> = results.iter().map(|value| value.map_or(none, |value| self.ty(value))).collect();
        let name = names::operator(node, self.model.opset(), self.rank(operands.first().copied().flatten()));
        if name == "onnx.BatchNormalization" && result_tys.len() == 1 {
            // In training it has further results, which the table tells it by.
            result_tys.resize(3, none);
        }
        let mut attrs = attributes::of(&mut self.module, node, (id.0, index), &mut self.naming)?;
        let mut attrs_of_plan = self.plan_attributes(node, operands, results);
        if self.is_idle(id) {
            attrs_of_plan.extend(self.idle_bytes(results));
        }
        attrs.extend(attrs_of_plan);
        let spec = attrs.iter().map(|(key, attr)| (key.as_str(), attr.clone())).collect();
        let loc = match id {
            // Where writers find it again.
            GraphId(0) => origin("main", index),
            _ => Loc::Unknown,
        };
        let op =
            self.module.create(OpSpec { name: &name, results: &result_tys, attrs: spec, loc, ..OpSpec::default() });
        self.module.append(block, op);
        self.current[id.0] = Some(op);
        for value in operands {
            let value = match value {
                Some(value) => self.read(*value)?,
                None => self.no_value(),
            };
            self.module.push_operand(op, value);
        }
        for (_, body) in names::bodies(node) {
            self.region(op, body)?;
        }
        for (position, value) in results.iter().enumerate() {
            if let Some(value) = value {
                self.values[value.0] = Some(self.module.results(op)[position]);
            }
        }
        Ok(())
    }

    fn region(&mut self, op: OpId, body: GraphId) -> Result<(), Malformed> {
        let links = &self.linked.links[body.0];
        let inputs: Vec<Ty> = links.inputs.iter().map(|value| self.ty(*value)).collect();
        let region = self.module.add_region(op);
        let block = self.module.add_block(region, &inputs);
        for (position, value) in links.inputs.iter().enumerate() {
            self.values[value.0] = Some(self.module.block_args(block)[position]);
        }
        self.body(body, block, "onnx.Yield")
    }

    /// Names of the node and its results, names of dimensions, sizes that types do not tell.
    fn plan_attributes(
        &mut self,
        node: &Node<'_>,
        operands: &[Option<ValueRef>],
        results: &[Option<ValueRef>],
    ) -> Vec<(String, Attr)> {
        let mut attrs = Vec::new();
        if !node.name.is_empty() {
            attrs.push(("neap.name".to_owned(), Attr::str(&self.names.unique(node.name))));
        }
        if !results.is_empty() {
            let name = |value: &Option<ValueRef>| Attr::str(value.map_or("", |value| self.linked.values[value.0].name));
            attrs.push(("neap.names".to_owned(), Attr::Array(results.iter().map(name).collect())));
        }
        let values: Vec<ValueRef> = results.iter().copied().flatten().collect();
        attrs.extend(self.dims(&values).map(|dims| ("neap.dims".to_owned(), dims)));
        if node.is_standard() && node.op == "SplitToSequence" {
            // The parts together have the bytes of the whole.
            let whole = operands.first().copied().flatten().map(|value| self.ty(value));
            let bytes = whole.and_then(|ty| self.module.ty_bytes(ty, &mut |_| None).ok());
            if let Some(bytes) = bytes.and_then(|bytes| i64::try_from(bytes).ok()) {
                attrs.push(("neap.bytes".to_owned(), self.module.i64s_attr(vec![bytes])));
            }
        }
        attrs
    }

    /// Whether a graph stands in a branch that never runs.
    fn is_idle(&self, id: GraphId) -> bool {
        let around = |here: &GraphId| self.model.graph(*here).parent.map(|(parent, _)| parent);
        std::iter::successors(Some(id), around).any(|here| self.inferred.idle[here.0])
    }

    /// What never runs has no bytes where they are not known.
    fn idle_bytes(&mut self, results: &[Option<ValueRef>]) -> Option<(String, Attr)> {
        let mut unknown = false;
        let mut list = Vec::new();
        for value in results {
            let ty = value.map(|value| self.ty(value));
            let bytes = ty.map_or(Some(0), |ty| self.module.ty_bytes(ty, &mut |_| None).ok());
            unknown |= bytes.is_none();
            list.push(bytes.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(0));
        }
        unknown.then(|| ("neap.bytes".to_owned(), self.module.i64s_attr(list)))
    }

    fn rank(&self, value: Option<ValueRef>) -> Option<usize> {
        match &self.inferred.facts[value?.0] {
            Fact::Tensor(tensor) => tensor.rank(),
            _ => None,
        }
    }

    fn ty(&mut self, value: ValueRef) -> Ty {
        types::of(&mut self.module, &self.inferred.facts[value.0])
    }

    /// The names of the dimensions that are no numbers, over all values in order.
    fn dims(&mut self, values: &[ValueRef]) -> Option<Attr> {
        let mut list = Vec::new();
        for value in values {
            let ty = self.ty(*value);
            let Type::Tensor { shape: Some(shape), .. } = self.module.ty(ty) else { continue };
            let Fact::Tensor(TensorFact { dims: Some(dims), .. }) = &self.inferred.facts[value.0] else { continue };
            for (dim, size) in shape.iter().zip(dims) {
                if *dim == Dim::Dynamic {
                    let size = size.clone().unwrap_or_default();
                    let text = self.inferred.sizes.text(&size);
                    if let Some(bounds) = self.inferred.sizes.bounds(&size).filter(|(_, high)| *high >= 0) {
                        self.bounds.insert(text.clone(), (bounds.0.max(0), bounds.1));
                    }
                    list.push(Attr::str(&text));
                }
            }
        }
        (!list.is_empty()).then_some(Attr::Array(list))
    }

    fn bounds(&mut self) {
        if self.bounds.is_empty() {
            return;
        }
        let mut items = Vec::new();
        for (name, (low, high)) in &self.bounds {
            let range = self.module.i64s_attr(vec![*low, *high]);
            items.push((name.as_str(), range));
        }
        let dict = self.module.dict_attr(items);
        let top = self.module.top();
        self.module.set_attr(top, "neap.bounds", dict);
    }

    /// The value that a reader sees; a constant is made in its own graph, before the operation that this one is at.
    fn read(&mut self, value: ValueRef) -> Result<ValueId, Malformed> {
        if let Some(known) = self.values[value.0] {
            return Ok(known);
        }
        let found = &self.linked.values[value.0];
        let Origin::Initializer(at) = found.origin else {
            unreachable!("nodes stand behind what they read");
        };
        let tensor = &self.model.graph(found.graph).initializers[at];
        let ty = self.ty(value);
        let mut attrs = vec![("neap.names", Attr::Array(vec![Attr::str(found.name)]))];
        if let Some(attr) = attributes::small_integers(tensor, ty) {
            attrs.push(("value", attr));
        }
        if let Some(naming) = &mut self.naming {
            attrs.extend(attributes::tensor_name(tensor, *naming)?.map(|name| (CONTENT, Attr::str(&name))));
        }
        let op = self.module.create(OpSpec { name: "onnx.Constant", results: &[ty], attrs, ..OpSpec::default() });
        self.before(found.graph, op);
        let result = self.module.results(op)[0];
        // Its content stays in the file: a name of its own tells it from others, also once it has been printed and read again.
        let name = self.module.intern(&format!("c{}", value.0));
        self.module.set_value_name(result, Some(name));
        Ok(*self.values[value.0].insert(result))
    }

    /// The value that stands for operands that are left out, made once.
    fn no_value(&mut self) -> ValueId {
        if let Some(value) = self.no_value {
            return value;
        }
        let none = self.module.intern_ty(Type::None);
        let attrs = vec![("value", Attr::Unit)];
        let op = self.module.create(OpSpec { name: "onnx.NoValue", results: &[none], attrs, ..OpSpec::default() });
        self.before(GraphId(0), op);
        *self.no_value.insert(self.module.results(op)[0])
    }

    fn before(&mut self, graph: GraphId, op: OpId) {
        let anchor = self.current[graph.0].expect("somebody reads it");
        self.module.insert_before(anchor, op);
    }
}

/// Without what is left out at the end.
fn trimmed(list: &[Option<ValueRef>]) -> &[Option<ValueRef>] {
    &list[..list.iter().rposition(Option::is_some).map_or(0, |last| last + 1)]
}
