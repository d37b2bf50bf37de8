//! An ONNX model as plain data that borrows from the file.
//!
//! Graphs stand in one list, the main one first; a graph inside a node is named by its place in the list. Reading needs no recursion,
//! whatever the file nests. Large contents stay where they are: of constants only what shapes may depend on is kept.

mod read;

pub(super) use read::read;

use super::wire::Message;
use std::collections::BTreeMap;

/// The longest constant that is kept, in elements: more than any shape, permutation or list of scales has.
pub(super) const MAX_CONTENT: usize = 64;

/// A graph's place in the list of graphs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct GraphId(pub(super) usize);

/// A model.
#[derive(Debug)]
pub(super) struct Model<'a> {
    /// Versions of operator sets by domain; the standard one is the empty text.
    pub(super) opsets: BTreeMap<&'a str, i64>,
    /// All graphs; a graph stands behind the one that holds its node.
    pub(super) graphs: Vec<Graph<'a>>,
}

/// A graph.
#[derive(Debug, Default)]
pub(super) struct Graph<'a> {
    /// The graph and the node that this one stands in.
    pub(super) parent: Option<(GraphId, usize)>,
    /// How deep it stands; the main graph at 0.
    pub(super) depth: usize,
    pub(super) name: &'a str,
    pub(super) inputs: Vec<Info<'a>>,
    pub(super) outputs: Vec<Info<'a>>,
    /// Types of values in between, where the file says them.
    pub(super) infos: Vec<Info<'a>>,
    pub(super) initializers: Vec<Tensor<'a>>,
    pub(super) nodes: Vec<Node<'a>>,
}

/// A value's name and type.
#[derive(Clone, Debug)]
pub(super) struct Info<'a> {
    pub(super) name: &'a str,
    pub(super) ty: TypeInfo<'a>,
}

/// A type, as far as the file says it.
#[derive(Clone, Debug, Default)]
pub(super) enum TypeInfo<'a> {
    #[default]
    Missing,
    Tensor {
        elem: i64,
        dims: Option<Vec<DimInfo<'a>>>,
    },
    Sequence(Box<TypeInfo<'a>>),
    Optional(Box<TypeInfo<'a>>),
    /// A map, a sparse tensor, an opaque type.
    Other(&'static str),
}

/// A dimension, as far as the file says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DimInfo<'a> {
    Missing,
    Size(u64),
    Name(&'a str),
}

/// A constant tensor.
#[derive(Clone, Debug, Default)]
pub(super) struct Tensor<'a> {
    pub(super) name: &'a str,
    pub(super) elem: i64,
    pub(super) dims: Vec<u64>,
    /// The elements of a small tensor whose bytes are in the file.
    pub(super) content: Option<Content>,
    /// All that the file says of it.
    pub(super) message: Option<Message<'a>>,
    /// Whether that is a sparse tensor's message.
    pub(super) is_sparse: bool,
}

/// Elements of a small constant.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Content {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
}

/// A node.
#[derive(Debug, Default)]
pub(super) struct Node<'a> {
    /// Its bytes in the file, key and length included.
    pub(super) at: std::ops::Range<usize>,
    pub(super) name: &'a str,
    pub(super) op: &'a str,
    pub(super) domain: &'a str,
    pub(super) inputs: Vec<&'a str>,
    pub(super) outputs: Vec<&'a str>,
    pub(super) attributes: Vec<Attribute<'a>>,
}

/// An attribute of a node.
#[derive(Debug)]
pub(super) struct Attribute<'a> {
    pub(super) name: &'a str,
    /// All that the file says of it.
    pub(super) message: Message<'a>,
    pub(super) setting: Setting<'a>,
}

/// What an attribute holds.
#[derive(Debug)]
pub(super) enum Setting<'a> {
    Float(f32),
    Int(i64),
    Text(&'a [u8]),
    Tensor(Tensor<'a>),
    Graph(GraphId),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    Texts(Vec<&'a [u8]>),
    /// Something that is kept in the file alone.
    Other,
}

impl<'a> Node<'a> {
    /// An attribute's setting.
    pub(super) fn setting(&self, name: &str) -> Option<&Setting<'a>> {
        self.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| &attribute.setting)
    }

    /// An integer attribute.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.setting(name) {
            Some(Setting::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// A list of integers.
    pub(super) fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.setting(name) {
            Some(Setting::Ints(values)) => Some(values),
            _ => None,
        }
    }

    /// A list of floats.
    pub(super) fn floats(&self, name: &str) -> Option<&[f32]> {
        match self.setting(name) {
            Some(Setting::Floats(values)) => Some(values),
            _ => None,
        }
    }

    /// A text attribute that is UTF-8.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.setting(name) {
            Some(Setting::Text(bytes)) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The graphs in its attributes, in order, with the attributes' names.
    pub(super) fn graphs(&self) -> impl Iterator<Item = (&'a str, GraphId)> + '_ {
        self.attributes.iter().filter_map(|attribute| match attribute.setting {
            Setting::Graph(graph) => Some((attribute.name, graph)),
            _ => None,
        })
    }

    /// Whether it is one of the standard operators.
    pub(super) fn is_standard(&self) -> bool {
        matches!(self.domain, "" | "ai.onnx")
    }
}

impl Model<'_> {
    /// A graph.
    pub(super) fn graph(&self, graph: GraphId) -> &Graph<'_> {
        &self.graphs[graph.0]
    }

    /// Version of the standard operators.
    pub(super) fn opset(&self) -> i64 {
        self.opsets.get("").copied().unwrap_or(1)
    }

    /// Whether a graph stands in a branch, at any depth.
    pub(super) fn in_branch(&self, graph: GraphId) -> bool {
        let around = |here: &GraphId| self.graph(*here).parent.map(|(parent, _)| parent);
        let mut graphs = std::iter::successors(Some(graph), around);
        graphs.any(|here| {
            self.graph(here).parent.is_some_and(|(parent, node)| {
                let holder = &self.graph(parent).nodes[node];
                holder.is_standard() && holder.op == "If"
            })
        })
    }

    /// Where a graph is, for messages: nothing for the main one, else the nodes around it.
    pub(super) fn graph_place(&self, graph: GraphId) -> String {
        let mut around = Vec::new();
        let mut here = graph;
        while let Some((parent, node)) = self.graph(here).parent {
            around.push(format!("in graph `{}` of {}: ", short(self.graph(here).name), self.bare_node(parent, node)));
            here = parent;
        }
        around.reverse();
        around.concat()
    }

    /// Where a node is, for messages.
    pub(super) fn node_place(&self, graph: GraphId, node: usize) -> String {
        format!("{}{}", self.graph_place(graph), self.bare_node(graph, node))
    }

    /// A node by its number, name and kind.
    pub(super) fn bare_node(&self, graph: GraphId, node: usize) -> String {
        let found = &self.graph(graph).nodes[node];
        match found.name {
            "" => format!("node {node} ({})", short(found.op)),
            name => format!("node {node} `{}` ({})", short(name), short(found.op)),
        }
    }
}

/// A name as messages show it: cut where it is very long.
pub(super) fn short(name: &str) -> String {
    if name.chars().nth(200).is_none() { name.to_owned() } else { name.chars().take(200).chain("..".chars()).collect() }
}
