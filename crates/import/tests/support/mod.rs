//! Builds TFLite files for tests from plain descriptions, with the `flatbuffers` crate.

use flatbuffers::{FlatBufferBuilder, TableFinishedWIPOffset, VOffsetT, WIPOffset};

/// From this number on, a tensor's buffer is one in a file beside the model.
pub(crate) const EXTERNAL: u32 = 1 << 16;

/// A tensor: name, shape, element type by number, buffer.
#[derive(Clone)]
pub(crate) struct T(pub &'static str, pub Vec<i32>, pub u8, pub u32);

/// An operator: builtin code, operands, results, options.
#[derive(Clone)]
pub(crate) struct O(pub i32, pub Vec<i32>, pub Vec<i32>, pub Opt);

/// Options of an operator.
#[derive(Clone)]
pub(crate) enum Opt {
    /// None.
    None,
    /// The union's number and its fields of four bytes, by slot.
    Ints(u8, Vec<(u16, i32)>),
    /// A custom operator of this name.
    Custom(&'static str),
    /// `VarHandleOptions` with a shared name.
    Shared(&'static str),
}

/// A subgraph.
#[derive(Clone)]
pub(crate) struct G {
    pub name: &'static str,
    pub tensors: Vec<T>,
    pub inputs: Vec<i32>,
    pub outputs: Vec<i32>,
    pub operators: Vec<O>,
    /// Tensors that are variables.
    pub variables: Vec<usize>,
}

/// A whole file; `buffers[0]` is the empty one.
pub(crate) fn model(graphs: &[G], buffers: &[Vec<u8>]) -> Vec<u8> {
    model_with(graphs, buffers, |_| None)
}

/// A list of tables.
pub(crate) type List<'f> = WIPOffset<flatbuffers::Vector<'f, flatbuffers::ForwardsUOffset<TableFinishedWIPOffset>>>;

/// A whole file with metadata.
pub(crate) fn model_with<'f>(
    graphs: &[G],
    buffers: &[Vec<u8>],
    metadata: impl FnOnce(&mut FlatBufferBuilder<'f>) -> Option<List<'f>>,
) -> Vec<u8> {
    let mut fbb = FlatBufferBuilder::new();
    let mut codes: Vec<(i32, &str)> = Vec::new();
    for operator in graphs.iter().flat_map(|graph| &graph.operators) {
        let code = code(operator);
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    let subgraphs: Vec<_> = graphs.iter().map(|graph| subgraph(&mut fbb, graph, &codes)).collect();
    let subgraphs = fbb.create_vector(&subgraphs);
    let codes: Vec<_> = codes.iter().map(|(builtin, custom)| operator_code(&mut fbb, *builtin, custom)).collect();
    let codes = fbb.create_vector(&codes);
    let buffers: Vec<_> = buffers.iter().map(|bytes| buffer(&mut fbb, bytes)).collect();
    let buffers = fbb.create_vector(&buffers);
    let metadata = metadata(&mut fbb);
    let start = fbb.start_table();
    fbb.push_slot::<u32>(at(0), 3, 0);
    fbb.push_slot_always(at(1), codes);
    fbb.push_slot_always(at(2), subgraphs);
    fbb.push_slot_always(at(4), buffers);
    if let Some(metadata) = metadata {
        fbb.push_slot_always(at(6), metadata);
    }
    let root = fbb.end_table(start);
    fbb.finish(root, Some("TFL3"));
    fbb.finished_data().to_vec()
}

/// A file of one subgraph with the metadata `model_control_dependencies`, whose bytes are these.
pub(crate) fn with_control(graph: &G, bytes: &[u8]) -> Vec<u8> {
    model_with(std::slice::from_ref(graph), &[vec![], bytes.to_vec()], |fbb| {
        let name = fbb.create_string("model_control_dependencies");
        let start = fbb.start_table();
        fbb.push_slot_always(at(0), name);
        fbb.push_slot::<u32>(at(1), 1, 0);
        let entry = fbb.end_table(start);
        Some(fbb.create_vector(&[entry]))
    })
}

/// The byte offset of a slot in a vtable.
fn at(slot: u16) -> VOffsetT {
    4 + 2 * slot
}

fn code(operator: &O) -> (i32, &'static str) {
    match operator.3 {
        Opt::Custom(name) => (32, name),
        _ => (operator.0, ""),
    }
}

type Table = WIPOffset<TableFinishedWIPOffset>;

fn operator_code(fbb: &mut FlatBufferBuilder<'_>, builtin: i32, custom: &str) -> Table {
    let custom = fbb.create_string(custom);
    let start = fbb.start_table();
    fbb.push_slot::<i8>(at(0), builtin.min(127) as i8, 0);
    fbb.push_slot_always(at(1), custom);
    fbb.push_slot::<i32>(at(3), builtin, 0);
    fbb.end_table(start)
}

fn buffer(fbb: &mut FlatBufferBuilder<'_>, bytes: &[u8]) -> Table {
    let data = fbb.create_vector(bytes);
    let start = fbb.start_table();
    if !bytes.is_empty() {
        fbb.push_slot_always(at(0), data);
    }
    fbb.end_table(start)
}

fn subgraph(fbb: &mut FlatBufferBuilder<'_>, graph: &G, codes: &[(i32, &str)]) -> Table {
    let numbered = graph.tensors.iter().enumerate();
    let tensors: Vec<_> = numbered.map(|(index, t)| tensor(fbb, t, graph.variables.contains(&index))).collect();
    let tensors = fbb.create_vector(&tensors);
    let operators: Vec<_> = graph.operators.iter().map(|o| operator(fbb, o, codes)).collect();
    let operators = fbb.create_vector(&operators);
    let inputs = fbb.create_vector(&graph.inputs);
    let outputs = fbb.create_vector(&graph.outputs);
    let name = fbb.create_string(graph.name);
    let start = fbb.start_table();
    fbb.push_slot_always(at(0), tensors);
    fbb.push_slot_always(at(1), inputs);
    fbb.push_slot_always(at(2), outputs);
    fbb.push_slot_always(at(3), operators);
    fbb.push_slot_always(at(4), name);
    fbb.end_table(start)
}

fn tensor(fbb: &mut FlatBufferBuilder<'_>, T(name, shape, ty, buffer): &T, is_variable: bool) -> Table {
    let name = fbb.create_string(name);
    let shape = fbb.create_vector(shape);
    let start = fbb.start_table();
    fbb.push_slot_always(at(0), shape);
    fbb.push_slot::<u8>(at(1), *ty, 0);
    let (inside, outside) = if *buffer < EXTERNAL { (*buffer, 0) } else { (0, *buffer - EXTERNAL) };
    fbb.push_slot::<u32>(at(2), inside, 0);
    fbb.push_slot_always(at(3), name);
    fbb.push_slot::<bool>(at(5), is_variable, false);
    fbb.push_slot::<u32>(at(10), outside, 0);
    fbb.end_table(start)
}

fn operator(fbb: &mut FlatBufferBuilder<'_>, o: &O, codes: &[(i32, &str)]) -> Table {
    let (inputs, outputs) = (fbb.create_vector(&o.1), fbb.create_vector(&o.2));
    let options = match &o.3 {
        Opt::Ints(number, fields) => {
            let start = fbb.start_table();
            for (slot, value) in fields {
                fbb.push_slot_always::<i32>(at(*slot), *value);
            }
            Some((*number, fbb.end_table(start)))
        }
        Opt::Shared(name) => {
            let name = fbb.create_string(name);
            let start = fbb.start_table();
            fbb.push_slot_always(at(1), name);
            Some((111, fbb.end_table(start)))
        }
        Opt::None | Opt::Custom(_) => None,
    };
    let index = codes.iter().position(|other| *other == code(o)).expect("collected before");
    let start = fbb.start_table();
    fbb.push_slot::<u32>(at(0), index as u32, 0);
    fbb.push_slot_always(at(1), inputs);
    fbb.push_slot_always(at(2), outputs);
    if let Some((number, options)) = options {
        fbb.push_slot::<u8>(at(3), number, 0);
        fbb.push_slot_always(at(4), options);
    }
    fbb.end_table(start)
}

/// A file with a bit of everything: constants, an operand that is not given, state of both kinds, a loop, a custom operator.
pub(crate) fn sample() -> Vec<u8> {
    let f32s = |name, n| T(name, vec![1, n], 0, 0);
    let main = G {
        name: "main",
        tensors: vec![
            f32s("input", 8),
            T("weights", vec![8, 8], 0, 1),
            f32s("dense", 8),
            T("shape", vec![2], 2, 2),
            T("reshaped", vec![2, 4], 0, 0),
            T("handle", vec![], 13, 0),
            T("state", vec![2, 4], 0, 0),
            T("sum", vec![2, 4], 0, 0),
            T("looped", vec![2, 4], 0, 0),
            T("custom", vec![2, 4], 0, 0),
        ],
        inputs: vec![0],
        outputs: vec![9, 4],
        operators: vec![
            O(9, vec![0, 1, -1], vec![2], Opt::Ints(8, vec![])),
            O(22, vec![2, 3], vec![4], Opt::None),
            O(142, vec![], vec![5], Opt::Shared("memory")),
            O(143, vec![5], vec![6], Opt::None),
            O(0, vec![4, 6], vec![7], Opt::Ints(11, vec![])),
            O(144, vec![5, 7], vec![], Opt::None),
            O(119, vec![7], vec![8], Opt::Ints(93, vec![(0, 1), (1, 2)])),
            O(32, vec![8], vec![9], Opt::Custom("Mystery")),
        ],
        variables: vec![],
    };
    let cond = G {
        name: "cond",
        tensors: vec![T("x", vec![2, 4], 0, 0), T("go", vec![], 6, 0)],
        inputs: vec![0],
        outputs: vec![1],
        operators: vec![O(32, vec![0], vec![1], Opt::Custom("Go"))],
        variables: vec![],
    };
    let body = G {
        name: "body",
        tensors: vec![T("x", vec![2, 4], 0, 0), T("y", vec![2, 4], 0, 0)],
        inputs: vec![0],
        outputs: vec![1],
        operators: vec![O(59, vec![0], vec![1], Opt::None)],
        variables: vec![],
    };
    let shape: Vec<u8> = [2i32, 4].iter().flat_map(|value| value.to_le_bytes()).collect();
    model(&[main, cond, body], &[vec![], vec![1; 256], shape])
}
