//! Types and shapes of all values: from the file, from the rules of the operators, and from what the user says of named dimensions.
//!
//! What follows from the operators is believed before what the file says of values in between, since the first is what a runtime will
//! compute; where both name a number and the numbers differ, the file is wrong and that is told. A dimension that nobody knows
//! gets a name, `VALUE.AXIS`, by which it can be bounded.
//!
//! Bodies of loops are looked at until what they carry keeps its shape from trip to trip, at most three times; how often in total is limited by
//! a budget, since loops nest.

use super::fact::{Dims, Fact, TensorFact, elem};
use super::link::{Linked, Origin, ValueRef};
use super::model::{DimInfo, GraphId, Info, Model, TypeInfo, short};
use super::rules::{self, View};
use super::size::{Bounds, Size, Sizes};
use super::types;
use neap_ir::Span;
use neap_ir::diag::Diagnostic;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// How often a node may be looked at on average, bodies of loops included.
const ROUNDS: usize = 16;
/// Looks at bodies of one loop.
const TRIPS: usize = 3;
/// After so many errors the rest is not looked at.
const MAX_ERRORS: usize = 50;

/// What is known of every value, and the named dimensions.
pub(super) struct Inferred {
    pub(super) facts: Vec<Fact>,
    pub(super) sizes: Sizes,
    /// Graphs that never run, by what is known of the conditions of branches; what stands in them does not either.
    pub(super) idle: Vec<bool>,
}

/// Infers types and shapes; `given` are sizes that the user gives to named dimensions.
///
/// # Errors
/// The file contradicts itself, or nests loops so that their shapes cannot be found in bearable time.
pub(super) fn infer(
    model: &Model<'_>,
    linked: &Linked<'_>,
    given: BTreeMap<String, Bounds>,
) -> Result<Inferred, Vec<Diagnostic>> {
    let nodes: usize = model.graphs.iter().map(|graph| graph.nodes.len()).sum();
    let declared = model
        .graphs
        .iter()
        .map(|graph| graph.infos.iter().chain(&graph.outputs).map(|info| (info.name, info)).collect())
        .collect();
    let mut infer = Infer {
        model,
        linked,
        declared,
        facts: vec![Fact::Unknown; linked.values.len()],
        idle: vec![false; model.graphs.len()],
        sizes: Sizes::new(given),
        budget: nodes.saturating_mul(ROUNDS) + 1000,
        errors: BTreeMap::new(),
    };
    let main = GraphId(0);
    for value in &linked.links[0].inputs {
        infer.declared_input(main, *value);
    }
    infer.graph(main);
    let Infer { facts, sizes, errors, budget, idle, .. } = infer;
    if budget == 0 {
        let what = "loops stand in each other so often that their shapes cannot be found";
        return Err(vec![Diagnostic::error(Span::default(), what)]);
    }
    if errors.is_empty() { Ok(Inferred { facts, sizes, idle }) } else { Err(errors.into_values().collect()) }
}

struct Infer<'a> {
    model: &'a Model<'a>,
    linked: &'a Linked<'a>,
    /// What the file says of values that nodes produce, by graph.
    declared: Vec<FxHashMap<&'a str, &'a Info<'a>>>,
    facts: Vec<Fact>,
    idle: Vec<bool>,
    sizes: Sizes,
    budget: usize,
    /// By value: a body that is looked at twice is told once.
    errors: BTreeMap<ValueRef, Diagnostic>,
}

impl<'a> Infer<'a> {
    /// Everything in a graph whose inputs are known.
    fn graph(&mut self, id: GraphId) {
        let (model, linked) = (self.model, self.linked);
        let graph = model.graph(id);
        for value in &linked.links[id.0].initializers {
            if let Origin::Initializer(at) = linked.values[value.0].origin {
                self.facts[value.0] = Fact::Tensor(TensorFact::constant(&graph.initializers[at]));
            }
        }
        for node in &linked.links[id.0].order {
            self.budget = self.budget.saturating_sub(1);
            if self.budget == 0 {
                return;
            }
            self.node(id, *node);
        }
    }

    fn node(&mut self, id: GraphId, index: usize) {
        let (model, linked) = (self.model, self.linked);
        let node = &model.graph(id).nodes[index];
        let links = &linked.links[id.0];
        let fact = |value: &Option<ValueRef>| {
            value.map(|value| self.facts[value.0].clone()).filter(|fact| *fact != Fact::Unknown)
        };
        let operands: Vec<Option<Fact>> = links.operands[index].iter().map(fact).collect();
        let results = if !node.is_standard() {
            self.bodies_alone(id, index);
            None
        } else {
            match node.op {
                "If" => self.branch(id, index, &operands),
                "Loop" => self.looped(id, index, &operands),
                "Scan" => self.scan(id, index, &operands),
                _ => {
                    self.bodies_alone(id, index);
                    let opset = model.opset();
                    rules::apply(&mut View { node, operands, opset, sizes: &mut self.sizes })
                }
            }
        };
        let mut results = results.unwrap_or_default().into_iter();
        for value in &links.results[index] {
            let fact = results.next().unwrap_or_default();
            if let Some(value) = value {
                self.settle(id, *value, fact);
            }
        }
    }

    // ---- values -------------------------------------------------------------------------------------

    /// An input of a graph, by what the file says.
    fn declared_input(&mut self, id: GraphId, value: ValueRef) {
        if let Origin::Input(at) = self.linked.values[value.0].origin {
            let mut fact = declared(&self.model.graph(id).inputs[at].ty, &mut self.sizes);
            if let Fact::Tensor(tensor) = &mut fact
                && matches!(tensor.elem, elem::I32 | elem::I64)
                && tensor.count().and_then(|count| count.known()) == Some(1)
                && id == GraphId(0)
            {
                // A number that is handed in may decide on shapes: the user can say what it is.
                tensor.content = self.sizes.fixed(self.linked.values[value.0].name).map(|size| vec![Some(size)]);
            }
            self.facts[value.0] = self.named(value, fact);
        }
    }

    /// A result: what follows from its node, completed by what the file says.
    fn settle(&mut self, id: GraphId, value: ValueRef, fact: Fact) {
        let name = self.linked.values[value.0].name;
        let fact = match self.declared[id.0].get(name) {
            None => fact,
            Some(info) => match merged(fact, &info.ty, &mut self.sizes) {
                Ok(fact) => {
                    // An earlier look at a loop's body knew less.
                    self.errors.remove(&value);
                    fact
                }
                Err((fact, what)) => {
                    self.contradiction(id, value, &what);
                    fact
                }
            },
        };
        self.facts[value.0] = self.named(value, fact);
    }

    fn contradiction(&mut self, id: GraphId, value: ValueRef, what: &str) {
        // A branch that does not run for these sizes may make no sense at them.
        if self.errors.len() >= MAX_ERRORS || self.model.in_branch(id) {
            return;
        }
        let found = &self.linked.values[value.0];
        let by = match found.origin {
            Origin::Node(node, _) => self.model.bare_node(id, node),
            _ => "the file".to_owned(),
        };
        let what = format!("{}value `{}`, made by {by}: {what}", self.model.graph_place(id), short(found.name));
        let help = "the types that the file states for values in between may be stale: take them out (`value_info`)";
        self.errors.insert(value, Diagnostic::error(Span::default(), what).help(help));
    }

    /// Dimensions that nobody knows get names.
    fn named(&mut self, value: ValueRef, fact: Fact) -> Fact {
        let Fact::Tensor(tensor) = fact else { return fact };
        let found = &self.linked.values[value.0];
        // Values of different bodies may have the same name; the first one has it alone.
        let name = match self.linked.is_first(value) {
            true => found.name.to_owned(),
            false => format!("{}@{}", found.name, found.graph.0),
        };
        let complete = |(at, dim): (usize, Option<Size>)| {
            let known = dim.filter(|dim| dim.known().is_none_or(|size| size >= 0));
            let dim = known.unwrap_or_else(|| self.sizes.name(&format!("{name}.{at}")));
            Some(self.sizes.bearable(dim))
        };
        let dims = tensor.dims.map(|dims| dims.into_iter().enumerate().map(complete).collect());
        Fact::Tensor(TensorFact { dims, ..tensor })
    }

    // ---- bodies -------------------------------------------------------------------------------------

    /// Graphs of a node of which nobody knows how they run: by what the file says of their inputs.
    fn bodies_alone(&mut self, id: GraphId, index: usize) {
        let bodies: Vec<GraphId> = self.model.graph(id).nodes[index].graphs().map(|(_, body)| body).collect();
        for body in bodies {
            for value in &self.linked.links[body.0].inputs {
                self.declared_input(body, *value);
            }
            self.graph(body);
        }
    }

    fn outputs(&self, body: GraphId) -> Vec<Fact> {
        self.linked.links[body.0].outputs.iter().map(|value| self.facts[value.0].clone()).collect()
    }

    fn branch(&mut self, id: GraphId, index: usize, operands: &[Option<Fact>]) -> Option<Vec<Fact>> {
        self.bodies_alone(id, index);
        let node = &self.model.graph(id).nodes[index];
        let find = |name: &str| node.graphs().find(|(other, _)| *other == name).map(|(_, body)| body);
        let (yes, no) = (self.outputs(find("then_branch")?), self.outputs(find("else_branch")?));
        let condition = match operands.first()?.as_ref() {
            Some(Fact::Tensor(tensor)) => tensor.content.as_ref().and_then(|list| list.first()?.as_ref()?.known()),
            _ => None,
        };
        for (name, body) in node.graphs() {
            self.idle[body.0] = condition.is_some_and(|condition| (condition != 0) != (name == "then_branch"));
        }
        match condition {
            Some(0) => Some(no),
            Some(_) => Some(yes),
            None => Some(yes.into_iter().zip(no).map(|(a, b)| a.either(b, &mut self.sizes, true)).collect()),
        }
    }

    /// Trip number, condition and carried values go in; condition, carried values and gathered ones come out.
    fn looped(&mut self, id: GraphId, index: usize, operands: &[Option<Fact>]) -> Option<Vec<Fact>> {
        let node = &self.model.graph(id).nodes[index];
        let Some(body) = node.graphs().find(|(name, _)| *name == "body").map(|(_, body)| body) else {
            self.bodies_alone(id, index);
            return None;
        };
        let carried: Vec<Fact> =
            operands.iter().skip(2).map(|fact| fact.clone().unwrap_or_default().without_content()).collect();
        let lead = [rules::scalar(elem::I64), rules::scalar(elem::BOOL)];
        let (carried, gathered) = self.trips(body, &lead, carried, &[], 1);
        Some(carried.into_iter().chain(gathered.into_iter().map(|fact| stacked(fact, 0, None))).collect())
    }

    /// States and slices of operands go in; states and slices of results come out.
    fn scan(&mut self, id: GraphId, index: usize, operands: &[Option<Fact>]) -> Option<Vec<Fact>> {
        let node = &self.model.graph(id).nodes[index];
        let body = node.graphs().find(|(name, _)| *name == "body").map(|(_, body)| body);
        let inputs = node.int("num_scan_inputs").and_then(|count| usize::try_from(count).ok());
        let (Some(body), Some(inputs), 9..) = (body, inputs, self.model.opset()) else {
            self.bodies_alone(id, index);
            return None;
        };
        let states = operands.len().checked_sub(inputs)?;
        let place = |list: &str, at: usize| node.ints(list).and_then(|axes| axes.get(at).copied()).unwrap_or(0);
        let mut length = None;
        let mut slices = Vec::new();
        for (at, operand) in operands[states..].iter().enumerate() {
            let mut fact = operand.clone().unwrap_or_default().without_content();
            if let Fact::Tensor(TensorFact { dims: Some(dims), .. }) = &mut fact {
                match rules::axis(place("scan_input_axes", at), dims.len()) {
                    Some(axis) => length = dims.remove(axis).or(length),
                    None => fact = Fact::Unknown,
                }
            }
            slices.push(fact);
        }
        let carried =
            operands[..states].iter().map(|fact| fact.clone().unwrap_or_default().without_content()).collect();
        let (carried, gathered) = self.trips(body, &[], carried, &slices, 0);
        let gathered = gathered
            .into_iter()
            .enumerate()
            .map(|(at, fact)| stacked(fact, place("scan_output_axes", at), length.clone()));
        Some(carried.into_iter().chain(gathered).collect())
    }

    /// Looks at a body until what it carries keeps its shape; returns what is carried and what is gathered.
    fn trips(
        &mut self,
        body: GraphId,
        lead: &[Fact],
        first: Vec<Fact>,
        slices: &[Fact],
        yield_lead: usize,
    ) -> (Vec<Fact>, Vec<Fact>) {
        let inputs = &self.linked.links[body.0].inputs;
        let states = inputs.iter().skip(lead.len()).take(first.len());
        let mut carried = first;
        for trip in 1..=TRIPS {
            if trip == TRIPS {
                // What changed twice may change again: only the number of dimensions is kept.
                carried = carried.into_iter().map(open).collect();
            }
            for (value, fact) in inputs.iter().zip(lead.iter().chain(&carried).chain(slices)) {
                match fact {
                    Fact::Unknown => self.declared_input(body, *value),
                    fact => self.facts[value.0] = self.named(*value, fact.clone()),
                }
            }
            self.graph(body);
            let yielded: Vec<Fact> = self.outputs(body).into_iter().skip(yield_lead).collect();
            let (mut stands, mut joined) = (true, Vec::new());
            for (value, fact) in states.clone().zip(yielded.iter().cloned()) {
                let seen = self.facts[value.0].clone();
                let fact = seen.clone().either(fact.without_content(), &mut self.sizes, false);
                stands &= self.named(*value, fact.clone()) == seen;
                joined.push(fact);
            }
            carried = joined;
            if stands || self.budget == 0 {
                return (carried, yielded.into_iter().skip(states.len()).map(Fact::without_content).collect());
            }
        }
        if let Some(value) = states.clone().next() {
            self.contradiction(
                body,
                *value,
                "what the loop carries changes its number of dimensions from trip to trip",
            );
        }
        (Vec::new(), Vec::new())
    }
}

/// A value of which only the element type and the number of dimensions are known.
fn open(fact: Fact) -> Fact {
    match fact {
        Fact::Tensor(TensorFact { elem, dims, .. }) => Fact::tensor(elem, dims.map(|dims| vec![None; dims.len()])),
        other => other,
    }
}

/// A value with one more dimension.
fn stacked(fact: Fact, at: i64, length: Option<Size>) -> Fact {
    match fact {
        Fact::Tensor(TensorFact { elem, dims: Some(mut dims), .. }) => {
            let Some(axis) = rules::axis(at, dims.len() + 1) else { return Fact::tensor(elem, None) };
            dims.insert(axis, length);
            Fact::tensor(elem, Some(dims))
        }
        other => other,
    }
}

/// What the file says of a value.
fn declared(ty: &TypeInfo<'_>, sizes: &mut Sizes) -> Fact {
    match ty {
        TypeInfo::Missing => Fact::Unknown,
        TypeInfo::Tensor { elem, dims } => {
            let mut dim = |dim: &DimInfo<'_>| match dim {
                DimInfo::Missing => None,
                DimInfo::Size(size) => i64::try_from(*size).ok().map(Size::of),
                DimInfo::Name(name) => Some(sizes.name(name)),
            };
            Fact::tensor(*elem, dims.as_ref().map(|dims| dims.iter().map(&mut dim).collect()))
        }
        // Types nest as deep as the reader allows.
        TypeInfo::Sequence(of) => Fact::Sequence(Box::new(declared(of, sizes))),
        TypeInfo::Optional(of) => Fact::Optional(Box::new(declared(of, sizes))),
        TypeInfo::Other(name) => Fact::Other(name),
    }
}

/// What follows from the node, completed by what the file says; the error has what to go on with.
fn merged(fact: Fact, ty: &TypeInfo<'_>, sizes: &mut Sizes) -> Result<Fact, (Fact, String)> {
    let said = declared(ty, sizes);
    match (fact, said) {
        (Fact::Unknown, said) => Ok(said),
        (fact, Fact::Unknown) => Ok(fact),
        (Fact::Tensor(mut found), Fact::Tensor(said)) => {
            if found.elem == 0 {
                found.elem = said.elem;
            } else if said.elem != 0 && said.elem != found.elem {
                let what = format!(
                    "it has elements of type {}, and the file says {}",
                    types::elem_name(found.elem),
                    types::elem_name(said.elem)
                );
                return Err((Fact::Tensor(found), what));
            }
            match (&mut found.dims, said.dims) {
                (dims @ None, said) => *dims = said,
                (Some(_), None) => {}
                (Some(dims), Some(said)) => {
                    if let Some(what) = completed(dims, said, ty) {
                        return Err((Fact::Tensor(found), what));
                    }
                }
            }
            Ok(Fact::Tensor(found))
        }
        (Fact::Sequence(found), Fact::Sequence(said)) if *found == Fact::Unknown => Ok(Fact::Sequence(said)),
        (fact, _) => Ok(fact),
    }
}

/// Fills in unknown dimensions; returns what contradicts. Only numbers do: names in a file may be any tool's guess.
fn completed(dims: &mut Dims, said: Dims, ty: &TypeInfo<'_>) -> Option<String> {
    if dims.len() != said.len() {
        return Some(format!("it has {} dimensions, and the file says {}", dims.len(), said.len()));
    }
    let TypeInfo::Tensor { dims: Some(spelled), .. } = ty else { return None };
    for (at, ((dim, said), spelled)) in dims.iter_mut().zip(said).zip(spelled).enumerate() {
        match (dim.as_ref().map(Size::known), spelled) {
            (None, _) => *dim = said,
            (Some(Some(found)), DimInfo::Size(size)) if u64::try_from(found) != Ok(*size) => {
                return Some(format!("its dimension {at} is {found}, and the file says {size}"));
            }
            _ => {}
        }
    }
    None
}
