//! A TFLite model as plain data, read from the flatbuffer and checked.
//!
//! After [`read`] every index is in range: tensors of operators, inputs and outputs, buffers of tensors, codes of operators.
//! What a subgraph computes is checked when it is built.

use super::control;
use super::flatbuffer::{Bytes, Malformed, Table};
use super::schema::{self, Field, Kind};
use neap_ir::Span;
use neap_ir::diag::Diagnostic;
use std::collections::BTreeSet;

/// The most dimensions that a tensor may have; real ones have at most 8.
const MAX_RANK: usize = 64;
/// The longest name; real ones are below 300 bytes.
const MAX_NAME: usize = 16 << 10;

/// The most bytes of a constant that are kept: 64 integers of 8 bytes, more than any shape or permutation has.
const MAX_VALUE: usize = 512;

/// A model.
#[derive(Debug)]
pub struct Model {
    /// Operator kinds.
    pub(crate) codes: Vec<Code>,
    /// Subgraphs, the main one first.
    pub(crate) graphs: Vec<Graph>,
    /// Bytes of constants, by the tensors' buffer index.
    pub(crate) buffers: Vec<Buffer>,
}

/// An operator kind.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) builtin: i32,
    pub(crate) custom: String,
}

/// A buffer.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// Whether there are bytes, in the flatbuffer or behind it: then its tensors are constants.
    pub(crate) is_filled: bool,
    /// The bytes, if they are in the flatbuffer and few.
    pub(crate) value: Option<Vec<u8>>,
}

/// A subgraph.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) name: String,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) inputs: Vec<usize>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) operators: Vec<Operator>,
    /// Pairs of operators, sorted: the first, which the file lists first, must run before the second.
    pub(crate) control: Vec<(usize, usize)>,
}

impl Model {
    /// Whether the bytes of a tensor are there before the model runs: in the file, or in one beside it.
    pub(crate) fn is_constant(&self, tensor: &Tensor) -> bool {
        tensor.is_external || self.buffers[tensor.buffer].is_filled
    }
}

/// A tensor.
#[derive(Debug)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) shape: Vec<i32>,
    pub(crate) ty: u8,
    pub(crate) buffer: usize,
    pub(crate) is_variable: bool,
    /// Whether the bytes are in a file beside the model.
    pub(crate) is_external: bool,
    pub(crate) quant: Option<Quant>,
}

/// Affine quantization: one scale, or one per index of a dimension.
#[derive(Debug)]
pub(crate) struct Quant {
    pub(crate) scales: Vec<f32>,
    pub(crate) zero_points: Vec<i64>,
    pub(crate) axis: i32,
}

/// An operator; an operand that is not given is `None`.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(crate) code: usize,
    pub(crate) inputs: Vec<Option<usize>>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) options: Vec<(&'static str, Setting)>,
}

/// The value of an option.
#[derive(Debug)]
pub(crate) enum Setting {
    Int { value: i64, width: u32 },
    Float(f32),
    Bool(bool),
    Text(String),
    Type(u8),
    Graph(usize),
    Ints(Vec<i64>),
    Floats(Vec<f32>),
}

/// Reads a file.
///
/// # Errors
/// The bytes are no flatbuffer, or what they say is wrong; several errors are told at once.
pub fn read(bytes: &[u8]) -> Result<Model, Vec<Diagnostic>> {
    if !crate::is_tflite(bytes) {
        let what = error("not a TFLite file: the identifier `TFL3` at byte 4 is missing".to_owned());
        return Err(vec![what.help("give the `.tflite` file itself, not an archive of it or a pointer to it")]);
    }
    let mut errors = Vec::new();
    let bytes = Bytes::new(bytes);
    match read_model(&bytes, &mut errors) {
        Ok(model) if errors.is_empty() => Ok(model),
        Ok(_) => Err(errors),
        Err(broken) => {
            let what = error(format!("malformed TFLite file: {broken}"));
            errors.push(what.help("the file may be cut short: compare its size with the original's"));
            Err(errors)
        }
    }
}

/// The names of the model's `external_buffer_groups`: files beside it with bytes of constants. What cannot be read names nothing.
pub fn external_files(bytes: &[u8]) -> BTreeSet<String> {
    let bytes = Bytes::new(bytes);
    let groups = bytes.root().and_then(|root| root.vector(8, 4)?.tables());
    let names = groups.into_iter().flatten().filter_map(|group| group.string(0).ok());
    names.filter(|name| !name.is_empty()).collect()
}

fn read_model(bytes: &Bytes<'_>, errors: &mut Vec<Diagnostic>) -> Result<Model, Malformed> {
    let root = bytes.root()?;
    let mut codes = Vec::new();
    for code in root.vector(1, 4)?.tables()? {
        // The first field is the old, one-byte code; the last one holds codes of 127 and above.
        let builtin = i32::from(code.u8(0, 0)? as i8).max(code.i32(3, 0)?);
        codes.push(Code { builtin, custom: code.string(1)? });
    }
    let mut buffers = Vec::new();
    for buffer in root.vector(4, 4)?.tables()? {
        let data = buffer.vector(0, 1)?;
        let is_filled = !data.is_empty() || buffer.u64(1)? > 1;
        let value = if !data.is_empty() && data.len() <= MAX_VALUE { Some(data.raw(1)?.to_vec()) } else { None };
        buffers.push(Buffer { is_filled, value });
    }
    let mut model = Model { codes, graphs: Vec::new(), buffers };
    let tables = root.vector(2, 4)?.tables()?;
    if tables.is_empty() {
        errors.push(error("the model has no subgraph".to_owned()));
    }
    for (index, table) in tables.iter().enumerate() {
        let graph = read_graph(&model, index, tables.len(), *table, errors)?;
        model.graphs.push(graph);
    }
    // Numbers of operators mean something only where all of them were read.
    if errors.is_empty() {
        read_control(root, &mut model, errors)?;
    }
    Ok(model)
}

/// Which operators must run before which, beyond what their tensors say.
fn read_control(root: Table<'_>, model: &mut Model, errors: &mut Vec<Diagnostic>) -> Result<(), Malformed> {
    let buffers = root.vector(4, 4)?.tables()?;
    for entry in root.vector(6, 4)?.tables()? {
        if entry.string(0)? != control::NAME {
            continue;
        }
        let mut wrong = |what: String| errors.push(error(format!("metadata `{}`: {what}", control::NAME)));
        let number = entry.i32(1, 0)? as u32 as usize;
        let Some(buffer) = buffers.get(number) else {
            wrong(format!("buffer {number} is none of the model's {}", buffers.len()));
            continue;
        };
        let Some(pairs) = control::parse(buffer.vector(0, 1)?.raw(1)?) else {
            wrong(format!("buffer {number} holds no list of pairs of operators"));
            continue;
        };
        if pairs.len() > model.graphs.len() {
            wrong(format!("it speaks of {} subgraphs, the model has {}", pairs.len(), model.graphs.len()));
            continue;
        }
        for (index, (graph, pairs)) in model.graphs.iter_mut().zip(&pairs).enumerate() {
            match control::resolve(pairs, graph.operators.len()) {
                Ok(pairs) => graph.control.extend(pairs),
                Err(why) => wrong(format!("subgraph {index}: {why}")),
            }
        }
    }
    for graph in &mut model.graphs {
        graph.control.sort_unstable();
        graph.control.dedup();
    }
    Ok(())
}

fn read_graph(
    model: &Model,
    index: usize,
    graphs: usize,
    table: Table<'_>,
    errors: &mut Vec<Diagnostic>,
) -> Result<Graph, Malformed> {
    let mut tensors = Vec::new();
    for tensor in table.vector(0, 4)?.tables()? {
        let tensor = read_tensor(tensor)?;
        check_tensor(model, index, tensors.len(), &tensor, errors);
        tensors.push(tensor);
    }
    let mut list = |slot: usize, what: &str| -> Result<Vec<usize>, Malformed> {
        let mut found = Vec::new();
        for value in table.vector(slot, 4)?.i32s()? {
            match in_range(value, tensors.len()) {
                Some(value) => found.push(value),
                None => errors
                    .push(error(format!("subgraph {index}: {what} {value} is no tensor of its {}", tensors.len()))),
            }
        }
        Ok(found)
    };
    let inputs = list(1, "input")?;
    let outputs = list(2, "output")?;
    let mut graph =
        Graph { name: table.string(4)?, tensors, inputs, outputs, operators: Vec::new(), control: Vec::new() };
    for (number, operator) in table.vector(3, 4)?.tables()?.into_iter().enumerate() {
        let place = format!("subgraph {index}, operator {number}");
        let reader = OperatorReader { model, place, tensors: graph.tensors.len(), graphs };
        if let Some(operator) = reader.read(operator, errors)? {
            graph.operators.push(operator);
        }
    }
    Ok(graph)
}

fn read_tensor(table: Table<'_>) -> Result<Tensor, Malformed> {
    let quant = match table.table(4)? {
        Some(quant) => {
            let (scales, zero_points) = (quant.vector(2, 4)?.f32s()?, quant.vector(3, 8)?.i64s()?);
            Some(Quant { scales, zero_points, axis: quant.i32(6, 0)? })
        }
        None => None,
    };
    Ok(Tensor {
        shape: table.vector(0, 4)?.i32s()?,
        ty: table.u8(1, 0)?,
        buffer: table.i32(2, 0)? as u32 as usize,
        name: table.string(3)?,
        is_variable: table.u8(5, 0)? != 0,
        is_external: table.i32(10, 0)? != 0,
        quant: quant.filter(|quant| !quant.scales.is_empty()),
    })
}

fn check_tensor(model: &Model, graph: usize, index: usize, tensor: &Tensor, errors: &mut Vec<Diagnostic>) {
    let mut wrong = |what: String| errors.push(error(format!("{}: {what}", tensor_place(graph, index, tensor))));
    if tensor.buffer >= model.buffers.len() {
        wrong(format!("buffer {} is none of the model's {}", tensor.buffer, model.buffers.len()));
    }
    if tensor.shape.len() > MAX_RANK {
        wrong(format!("{} dimensions are more than {MAX_RANK}", tensor.shape.len()));
    }
    if tensor.name.len() > MAX_NAME {
        errors.push(error(format!("subgraph {graph}, tensor {index}: its name has {} bytes", tensor.name.len())));
    }
}

/// Reads one operator against what it refers to.
struct OperatorReader<'a> {
    model: &'a Model,
    place: String,
    tensors: usize,
    graphs: usize,
}

impl OperatorReader<'_> {
    fn read(&self, table: Table<'_>, errors: &mut Vec<Diagnostic>) -> Result<Option<Operator>, Malformed> {
        let before = errors.len();
        let code = table.i32(0, 0)? as u32 as usize;
        let mut wrong = |what: String| errors.push(error(format!("{}: {what}", self.place)));
        match self.model.codes.get(code) {
            None => wrong(format!("operator code {code} is none of the model's {}", self.model.codes.len())),
            Some(code) if code.builtin != schema::CUSTOM && schema::operator(code.builtin).is_none() => {
                wrong(format!("builtin operator {} is not known to this version", code.builtin));
            }
            Some(_) => {}
        }
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for value in table.vector(1, 4)?.i32s()? {
            match in_range(value, self.tensors) {
                Some(value) => inputs.push(Some(value)),
                None if value == -1 => inputs.push(None),
                None => wrong(format!("operand {value} is no tensor of the subgraph's {}", self.tensors)),
            }
        }
        for value in table.vector(2, 4)?.i32s()? {
            match in_range(value, self.tensors) {
                Some(value) => outputs.push(value),
                None => wrong(format!("result {value} is no tensor of the subgraph's {}", self.tensors)),
            }
        }
        let mut options = Vec::new();
        for (union, slot) in [(1, 3), (2, 11)] {
            let number = table.u8(slot, 0)?;
            let Some(fields) = schema::options(union, number) else { continue };
            let Some(table) = table.table(slot + 1)? else { continue };
            for field in fields {
                if let Some(setting) = self.setting(table, field, &mut wrong)? {
                    options.push((field.name, setting));
                }
            }
        }
        Ok((errors.len() == before).then_some(Operator { code, inputs, outputs, options }))
    }

    fn setting(
        &self,
        table: Table<'_>,
        field: &Field,
        wrong: &mut impl FnMut(String),
    ) -> Result<Option<Setting>, Malformed> {
        let slot = field.slot;
        if field.list {
            return Ok(match field.kind {
                Kind::I64 => Some(Setting::Ints(table.vector(slot, 8)?.i64s()?)),
                Kind::I32 | Kind::U32 => {
                    Some(Setting::Ints(table.vector(slot, 4)?.i32s()?.into_iter().map(i64::from).collect()))
                }
                Kind::Bool => {
                    Some(Setting::Ints(table.vector(slot, 1)?.raw(1)?.iter().map(|byte| (*byte).into()).collect()))
                }
                Kind::F32 => Some(Setting::Floats(table.vector(slot, 4)?.f32s()?)),
                _ => None,
            });
        }
        let byte = |default: i32| table.u8(slot, default as u8);
        Ok(Some(match field.kind {
            Kind::I8 => Setting::Int { value: (byte(field.default)? as i8).into(), width: 8 },
            Kind::I32 | Kind::U32 => Setting::Int { value: table.i32(slot, field.default)?.into(), width: 32 },
            Kind::I64 => Setting::Int { value: table.u64(slot)? as i64, width: 64 },
            Kind::F32 => Setting::Float(table.scalar(slot)?.map_or(0.0, f32::from_le_bytes)),
            Kind::Bool => Setting::Bool(byte(field.default)? != 0),
            Kind::Type => Setting::Type(byte(field.default)?),
            Kind::Str => Setting::Text(table.string(slot)?),
            Kind::Word(words) => match words.get(usize::from(byte(field.default)?)) {
                Some(word) => Setting::Text((*word).to_owned()),
                None => {
                    wrong(format!("option `{}` cannot be {}", field.name, byte(0)?));
                    return Ok(None);
                }
            },
            Kind::Graph => {
                let value = table.i32(slot, 0)?;
                match in_range(value, self.graphs) {
                    Some(value) => Setting::Graph(value),
                    None => {
                        wrong(format!(
                            "option `{}`: {value} is none of the model's {} subgraphs",
                            field.name, self.graphs
                        ));
                        return Ok(None);
                    }
                }
            }
        }))
    }
}

/// Where a tensor is, for messages.
pub(crate) fn tensor_place(graph: usize, index: usize, tensor: &Tensor) -> String {
    let name: String = tensor.name.chars().take(200).collect();
    format!("subgraph {graph}, tensor {index} `{name}`")
}

fn in_range(value: i32, count: usize) -> Option<usize> {
    usize::try_from(value).ok().filter(|value| *value < count)
}

fn error(message: String) -> Diagnostic {
    Diagnostic::error(Span::default(), message)
}
