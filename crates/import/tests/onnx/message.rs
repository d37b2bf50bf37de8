//! Makes ONNX files for tests: messages of few fields, written by hand.

/// A protobuf message that grows.
#[derive(Clone, Default)]
pub(crate) struct Message(pub(crate) Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// An integer.
    pub(crate) fn int(mut self, field: u64, value: i64) -> Message {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    /// Text, bytes or a message.
    pub(crate) fn put(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.as_ref().len() as u64);
        self.0.extend_from_slice(bytes.as_ref());
        self
    }
}

impl AsRef<[u8]> for Message {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A tensor's name, element type and dimensions; a dimension is a number or a name.
pub(crate) fn value(name: &str, elem: i64, dims: &[&str]) -> Message {
    let mut shape = Message::default();
    for dim in dims {
        let one = match dim.parse() {
            Ok(size) => Message::default().int(1, size),
            Err(_) => Message::default().put(2, dim),
        };
        shape = shape.put(1, one);
    }
    let tensor = Message::default().int(1, elem).put(2, shape);
    Message::default().put(1, name).put(2, Message::default().put(1, tensor))
}

/// A constant of 64-bit integers.
pub(crate) fn ints(name: &str, dims: &[i64], values: &[i64]) -> Message {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let tensor = dims.iter().fold(Message::default(), |tensor, dim| tensor.int(1, *dim));
    tensor.int(2, 7).put(8, name).put(9, raw)
}

/// A constant of floats.
#[allow(dead_code, reason = "not all tests that share this file use it")]
pub(crate) fn floats(name: &str, dims: &[i64], values: &[f32]) -> Message {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let tensor = dims.iter().fold(Message::default(), |tensor, dim| tensor.int(1, *dim));
    tensor.int(2, 1).put(8, name).put(9, raw)
}

/// A constant of floats without its bytes, as with external data.
pub(crate) fn weights(name: &str, dims: &[i64]) -> Message {
    let tensor = dims.iter().fold(Message::default(), |tensor, dim| tensor.int(1, *dim));
    tensor.int(2, 1).put(8, name).int(14, 1)
}

/// A constant of floats whose bytes are in another file.
pub(crate) fn external(name: &str, dims: &[i64], file: &str) -> Message {
    let entry = |key: &str, value: &str| Message::default().put(1, key).put(2, value);
    weights(name, dims).put(13, entry("offset", "0")).put(13, entry("location", file)).put(13, entry("length", "4"))
}

/// A node.
pub(crate) fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> Message {
    let node = inputs.iter().fold(Message::default(), |node, name| node.put(1, name));
    outputs.iter().fold(node, |node, name| node.put(2, name)).put(4, op)
}

impl Message {
    /// The node's name.
    pub(crate) fn named(self, name: &str) -> Message {
        self.put(3, name)
    }

    /// A tensor attribute of the node.
    #[allow(dead_code, reason = "not all tests that share this file use it")]
    pub(crate) fn with_tensor(self, name: &str, tensor: Message) -> Message {
        self.put(5, Message::default().put(1, name).put(5, tensor).int(20, 4))
    }

    /// An integer attribute of the node.
    pub(crate) fn with_int(self, name: &str, value: i64) -> Message {
        self.put(5, Message::default().put(1, name).int(3, value).int(20, 2))
    }

    /// A list of integers as an attribute of the node.
    pub(crate) fn with_ints(self, name: &str, values: &[i64]) -> Message {
        let list = values.iter().fold(Message::default().put(1, name), |list, value| list.int(8, *value));
        self.put(5, list.int(20, 7))
    }

    /// A graph as an attribute of the node.
    pub(crate) fn with_graph(self, name: &str, graph: Message) -> Message {
        self.put(5, Message::default().put(1, name).put(6, graph).int(20, 5))
    }
}

/// A graph.
#[derive(Clone, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Message>,
    pub(crate) constants: Vec<Message>,
    pub(crate) inputs: Vec<Message>,
    pub(crate) outputs: Vec<Message>,
    pub(crate) infos: Vec<Message>,
}

impl Graph {
    /// The graph as a message.
    pub(crate) fn message(&self, name: &str) -> Message {
        let mut graph = self.nodes.iter().fold(Message::default(), |graph, node| graph.put(1, node)).put(2, name);
        for (field, list) in [(5, &self.constants), (11, &self.inputs), (12, &self.outputs), (13, &self.infos)] {
            graph = list.iter().fold(graph, |graph, item| graph.put(field, item));
        }
        graph
    }

    /// A file with this as its main graph.
    pub(crate) fn file(&self, opset: i64) -> Vec<u8> {
        let set = Message::default().put(1, "").int(2, opset);
        Message::default().int(1, 8).put(7, self.message("main")).put(8, set).0
    }
}

/// A file with a little of everything: constants, arithmetic on shapes, a branch, a loop, a node of another domain.
pub(crate) fn sample() -> Vec<u8> {
    let branch = |op: &str, result: &str| {
        let nodes = vec![node(op, &["sum"], &[result])];
        Graph { nodes, outputs: vec![value(result, 1, &["N", "4"])], ..Graph::default() }.message(op)
    };
    let body = Graph {
        nodes: vec![node("Add", &["carried", "chosen"], &["next"]), node("Identity", &["go"], &["on"])],
        inputs: vec![value("trip", 7, &[]), value("go", 9, &[]), value("carried", 1, &["N", "4"])],
        outputs: vec![value("on", 9, &[]), value("next", 1, &["N", "4"]), value("next", 1, &["N", "4"])],
        ..Graph::default()
    };
    Graph {
        nodes: vec![
            node("Gemm", &["x", "w"], &["sum"]).named("a"),
            node("Shape", &["x"], &["shape"]).named("a"),
            node("Gather", &["shape", "first"], &["batch"]),
            node("Concat", &["batch", "four"], &["both"]).with_int("axis", 0),
            node("If", &["flag"], &["chosen"])
                .with_graph("else_branch", branch("Neg", "branch_result"))
                .with_graph("then_branch", branch("Relu", "branch_result")),
            node("Loop", &["count", "", "sum"], &["last", "all"]).with_graph("body", body.message("body")),
            node("Reshape", &["last", "both"], &["flat"]),
            node("Mystery", &["flat"], &["out"]).put(7, "acme.ops"),
        ],
        constants: vec![weights("w", &[3, 4]), ints("first", &[1], &[0]), ints("four", &[1], &[4])],
        inputs: vec![value("x", 1, &["N", "3"]), value("flag", 9, &[]), value("count", 7, &[])],
        outputs: vec![value("out", 1, &["N", "4"]), value("all", 1, &["T", "N", "4"])],
        infos: vec![],
    }
    .file(17)
}
