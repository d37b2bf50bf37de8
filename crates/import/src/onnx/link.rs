//! Who produces and who reads what: names become values, nodes get an order in which every operand is there.
//!
//! A name is looked up in its own graph, then in the graphs around it. What a node's graphs read from outside counts as read by the node. A
//! file whose nodes stand in another order than they can run in is put into order, as runtimes do; a circle has none.

use super::model::{GraphId, Model, short};
use neap_ir::Span;
use neap_ir::diag::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// After so many errors the rest is not looked at.
const MAX_ERRORS: usize = 50;
/// Nodes of a circle that a message shows.
const SHOWN: usize = 12;

/// A value's place in the list of values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct ValueRef(pub(super) usize);

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// An input of its graph, by position in the file.
    Input(usize),
    /// A constant of its graph.
    Initializer(usize),
    /// A result of a node.
    Node(usize, usize),
}

/// A value.
#[derive(Debug)]
pub(super) struct Value<'a> {
    pub(super) name: &'a str,
    pub(super) graph: GraphId,
    pub(super) origin: Origin,
}

/// A graph's names as values.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Inputs that the caller gives: those of the main graph that are no constants, all of another one.
    pub(super) inputs: Vec<ValueRef>,
    pub(super) initializers: Vec<ValueRef>,
    pub(super) outputs: Vec<ValueRef>,
    /// Operands by node; none where one is left out.
    pub(super) operands: Vec<Vec<Option<ValueRef>>>,
    /// Results by node; none where the name is empty.
    pub(super) results: Vec<Vec<Option<ValueRef>>>,
    /// Nodes in an order in which they can run.
    pub(super) order: Vec<usize>,
}

/// All values, and each graph's links.
#[derive(Debug)]
pub(super) struct Linked<'a> {
    pub(super) values: Vec<Value<'a>>,
    pub(super) links: Vec<Links>,
    /// For each node of the main graph, the nodes that it waits for, ascending.
    pub(super) before: Vec<Vec<usize>>,
    /// The first value of each name.
    firsts: FxHashMap<&'a str, ValueRef>,
}

impl Linked<'_> {
    /// Whether no value before this one has its name.
    pub(super) fn is_first(&self, value: ValueRef) -> bool {
        self.firsts.get(self.values[value.0].name) == Some(&value)
    }
}

/// Resolves all names.
///
/// # Errors
/// Values with two producers or none, circles: each with the nodes concerned.
pub(super) fn link<'a>(model: &'a Model<'a>) -> Result<Linked<'a>, Vec<Diagnostic>> {
    let mut linker = Linker { model, values: Vec::new(), scopes: Vec::new(), links: Vec::new(), errors: Vec::new() };
    for index in 0..model.graphs.len() {
        linker.define(GraphId(index));
    }
    // The nodes that each node has to wait for.
    let mut before: Vec<Vec<Vec<usize>>> =
        model.graphs.iter().map(|graph| vec![Vec::new(); graph.nodes.len()]).collect();
    for index in 0..model.graphs.len() {
        linker.resolve(GraphId(index), &mut before);
    }
    for (index, before) in before.iter_mut().enumerate() {
        for list in before.iter_mut() {
            list.sort_unstable();
            list.dedup();
        }
        linker.sort(GraphId(index), before);
    }
    let Linker { values, links, mut errors, .. } = linker;
    errors.truncate(MAX_ERRORS);
    let mut firsts = FxHashMap::default();
    for (index, value) in values.iter().enumerate() {
        firsts.entry(value.name).or_insert(ValueRef(index));
    }
    if errors.is_empty() { Ok(Linked { values, links, before: before.swap_remove(0), firsts }) } else { Err(errors) }
}

struct Linker<'a> {
    model: &'a Model<'a>,
    values: Vec<Value<'a>>,
    /// Values by name, for each graph.
    scopes: Vec<FxHashMap<&'a str, ValueRef>>,
    links: Vec<Links>,
    errors: Vec<Diagnostic>,
}

impl<'a> Linker<'a> {
    fn wrong(&mut self, what: String, help: &str) {
        if self.errors.len() < MAX_ERRORS {
            let diagnostic = Diagnostic::error(Span::default(), what);
            self.errors.push(if help.is_empty() { diagnostic } else { diagnostic.help(help) });
        }
    }

    /// Enters everything that a graph defines.
    fn define(&mut self, id: GraphId) {
        let model = self.model;
        let graph = model.graph(id);
        let mut scope = FxHashMap::default();
        let mut links = Links::default();
        for (position, initializer) in graph.initializers.iter().enumerate() {
            if let Some(value) = self.enter(&mut scope, id, initializer.name, Origin::Initializer(position)) {
                links.initializers.push(value);
            }
        }
        let initializers: FxHashSet<&str> = graph.initializers.iter().map(|tensor| tensor.name).collect();
        for (position, input) in graph.inputs.iter().enumerate() {
            // An initializer of the same name is the input's default: a constant.
            let constant = graph.parent.is_none() && initializers.contains(input.name);
            if !constant && let Some(value) = self.enter(&mut scope, id, input.name, Origin::Input(position)) {
                links.inputs.push(value);
            }
        }
        for (index, node) in graph.nodes.iter().enumerate() {
            let mut results = Vec::new();
            for (position, name) in node.outputs.iter().enumerate() {
                let named = !name.is_empty();
                results.push(named.then(|| self.enter(&mut scope, id, name, Origin::Node(index, position))).flatten());
            }
            links.results.push(results);
        }
        self.scopes.push(scope);
        self.links.push(links);
    }

    /// Enters a value; what has its name already is told.
    fn enter(
        &mut self,
        scope: &mut FxHashMap<&'a str, ValueRef>,
        graph: GraphId,
        name: &'a str,
        origin: Origin,
    ) -> Option<ValueRef> {
        if let Some(first) = scope.get(name) {
            let both = (self.origin(graph, self.values[first.0].origin), self.origin(graph, origin));
            let what = format!(
                "{}value `{}` is produced by {} and by {}",
                self.model.graph_place(graph),
                short(name),
                both.0,
                both.1
            );
            self.wrong(what, "a value has one producer: give each result a name of its own");
            return None;
        }
        let value = ValueRef(self.values.len());
        self.values.push(Value { name, graph, origin });
        scope.insert(name, value);
        Some(value)
    }

    fn origin(&self, graph: GraphId, origin: Origin) -> String {
        match origin {
            Origin::Input(position) => format!("input {position}"),
            Origin::Initializer(position) => format!("initializer {position}"),
            Origin::Node(node, _) => self.model.bare_node(graph, node),
        }
    }

    /// Looks up what a graph's nodes and outputs read.
    fn resolve(&mut self, id: GraphId, before: &mut [Vec<Vec<usize>>]) {
        let model = self.model;
        let graph = model.graph(id);
        let mut operands = Vec::with_capacity(graph.nodes.len());
        for (index, node) in graph.nodes.iter().enumerate() {
            let mut list = Vec::with_capacity(node.inputs.len());
            for (position, name) in node.inputs.iter().enumerate() {
                if name.is_empty() {
                    list.push(None);
                    continue;
                }
                let found = self.find(id, name);
                match found {
                    Some(value) => self.wait(id, index, value, before),
                    None => {
                        let place = model.node_place(id, index);
                        let what = format!("{place}: operand {position} is `{}`, which nothing produces", short(name));
                        self.wrong(what, "");
                    }
                }
                list.push(found);
            }
            operands.push(list);
        }
        self.links[id.0].operands = operands;
        for output in &graph.outputs {
            match self.find(id, output.name) {
                Some(value) => {
                    if let Some((parent, node)) = graph.parent
                        && self.values[value.0].graph != id
                    {
                        self.wait(parent, node, value, before);
                    }
                    self.links[id.0].outputs.push(value);
                }
                None => {
                    let place = model.graph_place(id);
                    self.wrong(format!("{place}output `{}` is produced by nothing", short(output.name)), "");
                }
            }
        }
    }

    fn find(&self, graph: GraphId, name: &str) -> Option<ValueRef> {
        let mut here = Some(graph);
        while let Some(id) = here {
            if let Some(value) = self.scopes[id.0].get(name) {
                return Some(*value);
            }
            here = self.model.graph(id).parent.map(|(parent, _)| parent);
        }
        None
    }

    /// A node reads a value: itself, or the node around it in the value's graph, waits for the producer.
    fn wait(&self, graph: GraphId, node: usize, value: ValueRef, before: &mut [Vec<Vec<usize>>]) {
        let Origin::Node(producer, _) = self.values[value.0].origin else { return };
        let (mut graph, mut node) = (graph, node);
        while graph != self.values[value.0].graph {
            match self.model.graph(graph).parent {
                Some(around) => (graph, node) = around,
                None => return,
            }
        }
        before[graph.0][node].push(producer);
    }

    /// The order of the file where nodes can run in it, else the one closest to it.
    fn sort(&mut self, id: GraphId, before: &[Vec<usize>]) {
        let count = before.len();
        let stands = before.iter().enumerate().all(|(node, list)| list.iter().all(|first| *first < node));
        if stands {
            self.links[id.0].order = (0..count).collect();
            return;
        }
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut missing = vec![0usize; count];
        for (node, list) in before.iter().enumerate() {
            missing[node] = list.len();
            list.iter().for_each(|first| after[*first].push(node));
        }
        let mut ready: BinaryHeap<Reverse<usize>> =
            (0..count).filter(|node| missing[*node] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(count);
        while let Some(Reverse(node)) = ready.pop() {
            order.push(node);
            for next in &after[node] {
                missing[*next] -= 1;
                if missing[*next] == 0 {
                    ready.push(Reverse(*next));
                }
            }
        }
        if order.len() < count {
            self.circle(id, before, &missing);
        }
        self.links[id.0].order = order;
    }

    /// Tells one circle: from a node that never gets ready, backwards over producers that never do.
    fn circle(&mut self, id: GraphId, before: &[Vec<usize>], missing: &[usize]) {
        let stuck = |node: &usize| missing[*node] > 0;
        let Some(mut node) = (0..missing.len()).find(stuck) else { return };
        let mut position = vec![usize::MAX; missing.len()];
        let mut path = Vec::new();
        while position[node] == usize::MAX {
            position[node] = path.len();
            path.push(node);
            match before[node].iter().copied().find(stuck) {
                Some(first) => node = first,
                None => return,
            }
        }
        // Backwards over producers is against the flow of data.
        let mut circle: Vec<usize> = path[position[node]..].to_vec();
        circle.reverse();
        let first = circle.iter().enumerate().min_by_key(|(_, node)| **node).map_or(0, |(at, _)| at);
        circle.rotate_left(first);
        let mut names: Vec<String> = circle.iter().take(SHOWN).map(|node| self.model.bare_node(id, *node)).collect();
        if circle.len() > SHOWN {
            names.push(format!("{} more", circle.len() - SHOWN));
        }
        names.push(self.model.bare_node(id, circle[0]));
        let what = format!("{}nodes wait for each other: {}", self.model.graph_place(id), names.join(" -> "));
        self.wrong(what, "no order of the nodes can run them: a result that flows back needs a Loop or a Scan");
    }
}
