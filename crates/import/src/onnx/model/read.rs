//! From protobuf messages to the model. Source of the field numbers: onnx.proto, IR version 13.

use super::{Attribute, Content, DimInfo, Graph, GraphId, Info, MAX_CONTENT, Model, Node, Setting, Tensor, TypeInfo};
use crate::onnx::wire::{Field, Malformed, Message, Value};
use neap_ir::Span;
use neap_ir::diag::Diagnostic;
use std::collections::{BTreeMap, VecDeque};

/// Graphs deeper than this are refused; real models have at most ten.
const MAX_DEPTH: usize = 64;
/// The most dimensions that a tensor may have; real ones have at most 8.
const MAX_RANK: usize = 64;
/// The longest name; real ones are below 1,000 bytes.
const MAX_NAME: usize = 16 << 10;
/// After so many errors the rest of the file is not looked at.
const MAX_ERRORS: usize = 50;
/// Types inside types, for sequences of sequences.
const MAX_NESTED_TYPES: usize = 8;

type Read<T> = Result<T, Malformed>;

/// Reads a file.
///
/// # Errors
/// What is no ONNX model, each with the byte of the file and what stands around it.
pub(crate) fn read(file: &[u8]) -> Result<Model<'_>, Vec<Diagnostic>> {
    let mut reader = Reader { graphs: Vec::new(), waiting: VecDeque::new(), errors: Vec::new() };
    let mut opsets = BTreeMap::new();
    if let Err(error) = reader.model(Message::file(file), &mut opsets) {
        reader.wrong("the model", &error);
    }
    while let Some((id, message)) = reader.waiting.pop_front() {
        if reader.errors.len() >= MAX_ERRORS {
            break;
        }
        if let Err(error) = reader.graph(id, message) {
            let place = reader.place(id);
            reader.wrong(&place, &error);
        }
    }
    if reader.graphs.is_empty() && reader.errors.is_empty() {
        reader.errors.push(
            Diagnostic::error(Span::default(), "the file has no graph")
                .help("an ONNX model is a protobuf message of the type ModelProto; is the file complete?"),
        );
    }
    if reader.errors.is_empty() { Ok(Model { opsets, graphs: reader.graphs }) } else { Err(reader.errors) }
}

struct Reader<'a> {
    graphs: Vec<Graph<'a>>,
    /// Graphs that were found and are still to be read.
    waiting: VecDeque<(GraphId, Message<'a>)>,
    errors: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn wrong(&mut self, place: &str, error: &Malformed) {
        let message = format!("{place}, byte {}: {}", error.at, error.what);
        let mut diagnostic = Diagnostic::error(Span::default(), message);
        if self.errors.is_empty() {
            diagnostic = diagnostic.help("the file is damaged or was written by a tool with a fault: get it again");
        }
        self.errors.push(diagnostic);
    }

    fn place(&self, id: GraphId) -> String {
        match self.graphs[id.0].parent {
            None => "the main graph".to_owned(),
            Some((parent, node)) => {
                let holder = &self.graphs[parent.0].nodes.get(node);
                let holder = holder.map_or("", |node| if node.name.is_empty() { node.op } else { node.name });
                format!("a graph of node {node} `{}`", super::short(holder))
            }
        }
    }

    fn model(&mut self, message: Message<'a>, opsets: &mut BTreeMap<&'a str, i64>) -> Read<()> {
        for field in message.fields() {
            let field = field?;
            match field.number {
                7 if self.graphs.is_empty() => {
                    self.graphs.push(Graph::default());
                    self.waiting.push_back((GraphId(0), field.message()?));
                }
                7 => return Err(Malformed { at: field.at, what: "a second main graph".to_owned() }),
                8 => {
                    let (mut domain, mut version) = ("", 0);
                    for field in field.message()?.fields() {
                        let field = field?;
                        match field.number {
                            1 => domain = field.text()?,
                            2 => version = field.int()?,
                            _ => {}
                        }
                    }
                    opsets.insert(if domain == "ai.onnx" { "" } else { domain }, version);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn graph(&mut self, id: GraphId, message: Message<'a>) -> Read<()> {
        // Nodes first come into a list of their own: graphs inside them are added behind.
        let depth = self.graphs[id.0].depth;
        for field in message.fields() {
            let field = field?;
            let number = field.number;
            match number {
                1 => {
                    let node = self.graphs[id.0].nodes.len();
                    let read = field.message().and_then(|message| self.node(message, (id, node), depth));
                    let mut read = read.unwrap_or_else(|error| {
                        let place = format!("{}, node {node}", self.place(id));
                        self.wrong(&place, &error);
                        Node::default()
                    });
                    read.at = field.at..field.end;
                    self.graphs[id.0].nodes.push(read);
                    if self.errors.len() >= MAX_ERRORS {
                        return Ok(());
                    }
                }
                2 => self.graphs[id.0].name = name(field)?,
                5 => {
                    let read = tensor(field.message()?)?;
                    self.graphs[id.0].initializers.push(read);
                }
                15 => {
                    let read = sparse(field.message()?)?;
                    self.graphs[id.0].initializers.push(read);
                }
                11..=13 => {
                    let read = info(field.message()?)?;
                    let graph = &mut self.graphs[id.0];
                    match number {
                        11 => graph.inputs.push(read),
                        12 => graph.outputs.push(read),
                        _ => graph.infos.push(read),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn node(&mut self, message: Message<'a>, holder: (GraphId, usize), depth: usize) -> Read<Node<'a>> {
        let mut node = Node::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => node.inputs.push(name(field)?),
                2 => node.outputs.push(name(field)?),
                3 => node.name = name(field)?,
                4 => node.op = name(field)?,
                5 => {
                    let read = self.attribute(field.message()?, holder, depth)?;
                    if node.setting(read.name).is_some() {
                        let what = format!("attribute `{}` is given twice", super::short(read.name));
                        return Err(Malformed { at: field.at, what });
                    }
                    node.attributes.push(read);
                }
                7 => node.domain = name(field)?,
                _ => {}
            }
        }
        if node.op.is_empty() {
            return Err(Malformed { at: message.at, what: "the node has no operator".to_owned() });
        }
        Ok(node)
    }

    fn attribute(&mut self, message: Message<'a>, holder: (GraphId, usize), depth: usize) -> Read<Attribute<'a>> {
        let mut found = Found::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => found.name = name(field)?,
                2 => found.float = Some(field.float()?),
                3 => found.int = Some(field.int()?),
                4 => found.text = Some(field.message()?.bytes),
                5 => found.tensor = Some(tensor(field.message()?)?),
                6 => found.graph = Some(field),
                7 => field.floats(&mut found.floats)?,
                8 => field.ints(&mut found.ints)?,
                9 => found.texts.push(field.message()?.bytes),
                20 => found.kind = field.int()?,
                22 => found.tensor = Some(sparse(field.message()?)?),
                _ => {}
            }
        }
        let setting = match found.graph {
            Some(field) if matches!(found.kind, 0 | 5) => self.subgraph(field, holder, depth)?,
            _ => found.setting(message)?,
        };
        Ok(Attribute { name: found.name, message, setting })
    }

    fn subgraph(&mut self, field: Field<'a>, holder: (GraphId, usize), depth: usize) -> Read<Setting<'a>> {
        if depth + 1 > MAX_DEPTH {
            let what = format!("graphs stand in each other more than {MAX_DEPTH} deep");
            return Err(Malformed { at: field.at, what });
        }
        let id = GraphId(self.graphs.len());
        self.graphs.push(Graph { parent: Some(holder), depth: depth + 1, ..Graph::default() });
        self.waiting.push_back((id, field.message()?));
        Ok(Setting::Graph(id))
    }
}

/// The fields of an attribute before it is known which of them counts.
#[derive(Default)]
struct Found<'a> {
    name: &'a str,
    kind: i64,
    float: Option<f32>,
    int: Option<i64>,
    text: Option<&'a [u8]>,
    tensor: Option<Tensor<'a>>,
    graph: Option<Field<'a>>,
    floats: Vec<f32>,
    ints: Vec<i64>,
    texts: Vec<&'a [u8]>,
}

impl<'a> Found<'a> {
    /// By the attribute's type; files of the first versions have none, then by the field that is there.
    fn setting(&mut self, message: Message<'a>) -> Read<Setting<'a>> {
        let name = self.name;
        let missing = || {
            let what = format!("attribute `{}` does not hold what its type says", super::short(name));
            Malformed { at: message.at, what }
        };
        Ok(match self.kind {
            // A number or a text at its default may be left out.
            1 => Setting::Float(self.float.unwrap_or(0.0)),
            2 => Setting::Int(self.int.unwrap_or(0)),
            3 => Setting::Text(self.text.unwrap_or_default()),
            4 | 11 => Setting::Tensor(self.tensor.take().ok_or_else(missing)?),
            5 => return Err(missing()),
            6 => Setting::Floats(std::mem::take(&mut self.floats)),
            7 => Setting::Ints(std::mem::take(&mut self.ints)),
            8 => Setting::Texts(std::mem::take(&mut self.texts)),
            9 | 10 | 12..=14 => Setting::Other,
            0 => self.guessed(),
            kind => {
                let what = format!("attribute `{}` has type {kind}, which ONNX does not have", super::short(self.name));
                return Err(Malformed { at: message.at, what });
            }
        })
    }

    fn guessed(&mut self) -> Setting<'a> {
        if let Some(value) = self.float {
            Setting::Float(value)
        } else if let Some(value) = self.int {
            Setting::Int(value)
        } else if let Some(text) = self.text {
            Setting::Text(text)
        } else if let Some(tensor) = self.tensor.take() {
            Setting::Tensor(tensor)
        } else if !self.floats.is_empty() {
            Setting::Floats(std::mem::take(&mut self.floats))
        } else if !self.ints.is_empty() {
            Setting::Ints(std::mem::take(&mut self.ints))
        } else if !self.texts.is_empty() {
            Setting::Texts(std::mem::take(&mut self.texts))
        } else {
            Setting::Other
        }
    }
}

/// A name of bearable length.
fn name(field: Field<'_>) -> Read<&str> {
    let text = field.text()?;
    if text.len() > MAX_NAME {
        return Err(Malformed { at: field.at, what: format!("a name of {} bytes", text.len()) });
    }
    Ok(text)
}

fn info(message: Message<'_>) -> Read<Info<'_>> {
    let mut info = Info { name: "", ty: TypeInfo::Missing };
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => info.name = name(field)?,
            2 => info.ty = type_info(field.message()?, 0)?,
            _ => {}
        }
    }
    if info.name.is_empty() {
        return Err(Malformed { at: message.at, what: "a value without a name".to_owned() });
    }
    Ok(info)
}

/// A type; the recursion is as deep as types may nest.
fn type_info(message: Message<'_>, depth: usize) -> Read<TypeInfo<'_>> {
    if depth > MAX_NESTED_TYPES {
        let what = format!("types stand in each other more than {MAX_NESTED_TYPES} deep");
        return Err(Malformed { at: message.at, what });
    }
    let inner = |field: Field<'_>| -> Read<()> { field.message().map(drop) };
    let mut ty = TypeInfo::Missing;
    for field in message.fields() {
        let field = field?;
        ty = match field.number {
            1 => tensor_type(field.message()?)?,
            4 | 9 => {
                let mut of = TypeInfo::Missing;
                for inside in field.message()?.fields() {
                    let inside = inside?;
                    if inside.number == 1 {
                        of = type_info(inside.message()?, depth + 1)?;
                    }
                }
                if field.number == 4 { TypeInfo::Sequence(Box::new(of)) } else { TypeInfo::Optional(Box::new(of)) }
            }
            5 => inner(field).map(|()| TypeInfo::Other("Map"))?,
            7 => inner(field).map(|()| TypeInfo::Other("Opaque"))?,
            8 => inner(field).map(|()| TypeInfo::Other("SparseTensor"))?,
            _ => ty,
        };
    }
    Ok(ty)
}

fn tensor_type(message: Message<'_>) -> Read<TypeInfo<'_>> {
    let (mut elem, mut dims) = (0, None);
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => elem = field.int()?,
            2 => {
                let mut list = Vec::new();
                for field in field.message()?.fields() {
                    let field = field?;
                    if field.number == 1 {
                        list.push(dim(field.message()?)?);
                    }
                }
                rank(list.len(), field.at)?;
                dims = Some(list);
            }
            _ => {}
        }
    }
    Ok(TypeInfo::Tensor { elem, dims })
}

/// A dimension: a size, a name, or neither; a negative size is how some tools write an unknown one.
fn dim(message: Message<'_>) -> Read<DimInfo<'_>> {
    let mut dim = DimInfo::Missing;
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => dim = u64::try_from(field.int()?).map_or(DimInfo::Missing, DimInfo::Size),
            2 => {
                let text = name(field)?;
                // Some tools write a mark where a name belongs: two of them are not the same size.
                dim = if matches!(text, "" | "?" | "-1") { DimInfo::Missing } else { DimInfo::Name(text) };
            }
            _ => {}
        }
    }
    Ok(dim)
}

fn rank(rank: usize, at: usize) -> Read<()> {
    if rank <= MAX_RANK {
        return Ok(());
    }
    Err(Malformed { at, what: format!("{rank} dimensions are more than {MAX_RANK}") })
}

fn tensor(message: Message<'_>) -> Read<Tensor<'_>> {
    let mut read = Tensor { message: Some(message), ..Tensor::default() };
    let mut dims = Vec::new();
    let mut raw: Option<&[u8]> = None;
    let mut numbers: Vec<Field<'_>> = Vec::new();
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => field.ints(&mut dims)?,
            2 => read.elem = field.int()?,
            8 => read.name = name(field)?,
            9 => raw = Some(field.message()?.bytes),
            // A list that is not packed has a field for each number: a long one is no small content.
            4 | 5 | 7 | 10 | 11 if numbers.len() <= MAX_CONTENT => numbers.push(field),
            _ => {}
        }
    }
    rank(dims.len(), message.at)?;
    let negative = |size: i64| Malformed {
        at: message.at,
        what: format!("tensor `{}`: a dimension of {size}", super::short(read.name)),
    };
    read.dims = dims.into_iter().map(|size| u64::try_from(size).map_err(|_| negative(size))).collect::<Read<_>>()?;
    let count = read.dims.iter().try_fold(1u64, |product, dim| product.checked_mul(*dim));
    if count.is_some_and(|count| count <= MAX_CONTENT as u64) {
        let content = match raw {
            Some(raw) => raw_content(read.elem, raw),
            None => listed(read.elem, &numbers)?,
        };
        let len = |content: &Content| match content {
            Content::Ints(list) => list.len(),
            Content::Floats(list) => list.len(),
        };
        read.content = content.filter(|content| Some(len(content) as u64) == count);
    }
    Ok(read)
}

/// Little-endian bytes as numbers.
fn raw_content(elem: i64, raw: &[u8]) -> Option<Content> {
    let ints = |list: Vec<i64>| Some(Content::Ints(list));
    match elem {
        1 => Some(Content::Floats(raw.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes).into()).collect())),
        11 => Some(Content::Floats(raw.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())),
        2 | 9 => ints(raw.iter().map(|byte| i64::from(*byte)).collect()),
        3 => ints(raw.iter().map(|byte| i64::from(byte.cast_signed())).collect()),
        6 => ints(raw.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect()),
        7 => ints(raw.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()),
        12 => ints(raw.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes).into()).collect()),
        _ => None,
    }
}

/// Numbers in typed fields: floats in 4, small integers in 5, long ones in 7, doubles in 10.
fn listed(elem: i64, fields: &[Field<'_>]) -> Read<Option<Content>> {
    let (mut ints, mut floats, mut doubles) = (Vec::new(), Vec::new(), Vec::new());
    for field in fields {
        let long = matches!(field.value, Value::Bytes(message) if message.bytes.len() > 10 * MAX_CONTENT);
        match (field.number, elem) {
            _ if long => {}
            (4, 1) => field.floats(&mut floats)?,
            (5, 2 | 3 | 6 | 9) | (7, 7) | (11, 12) => field.ints(&mut ints)?,
            (10, 11) => match field.value {
                Value::Fixed64(bits) => doubles.push(f64::from_bits(bits)),
                Value::Bytes(list) => {
                    doubles.extend(list.bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)));
                }
                _ => {}
            },
            _ => {}
        }
    }
    Ok(match elem {
        1 => Some(Content::Floats(floats.into_iter().map(f64::from).collect())),
        11 => Some(Content::Floats(doubles)),
        2 | 3 | 6 | 7 | 9 | 12 => Some(Content::Ints(ints)),
        _ => None,
    })
}

/// A sparse tensor as the dense one that it stands for; its elements are not looked at.
fn sparse(message: Message<'_>) -> Read<Tensor<'_>> {
    let mut read = Tensor { message: Some(message), is_sparse: true, ..Tensor::default() };
    let mut dims = Vec::new();
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => {
                let values = tensor(field.message()?)?;
                (read.name, read.elem) = (values.name, values.elem);
            }
            3 => field.ints(&mut dims)?,
            _ => {}
        }
    }
    rank(dims.len(), message.at)?;
    let negative =
        |size: i64| Malformed { at: message.at, what: format!("a sparse tensor with a dimension of {size}") };
    read.dims = dims.into_iter().map(|size| u64::try_from(size).map_err(|_| negative(size))).collect::<Read<_>>()?;
    Ok(read)
}
