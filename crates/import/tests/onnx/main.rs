//! The ONNX reader: what a file becomes, and what a broken file is told.

mod message;

#[path = "../support/broken.rs"]
mod broken;

use message::{Graph, Message, external, ints, node, sample, value, weights};
use neap_import::{is_onnx, read_onnx};
use neap_ir::print::{PrintOptions, print};
use neap_ir::{Attr, Module, OpId};

fn ops(module: &Module) -> Vec<(&str, OpId)> {
    let main = module.symbol("main").expect("the function");
    module.block_ops(module.entry(main).expect("a body")).map(|op| (module.op_name(op), op)).collect()
}

fn find(module: &Module, name: &str) -> OpId {
    ops(module).into_iter().find(|(other, _)| *other == name).unwrap_or_else(|| panic!("no {name}")).1
}

fn read(graph: &Graph, opset: i64, dims: &[(&str, u64, u64)]) -> Module {
    let dims: Vec<_> = dims.iter().map(|(name, low, high)| ((*name).to_owned(), *low, *high)).collect();
    read_onnx(&graph.file(opset), &dims).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The type of the first result of a graph of one node.
fn result(opset: i64, node: Message, inputs: &[Message], constants: &[Message]) -> String {
    let graph = Graph {
        nodes: vec![node],
        constants: constants.to_vec(),
        inputs: inputs.to_vec(),
        outputs: vec![Message::default().put(1, "out")],
        infos: vec![],
    };
    let text = print(&read(&graph, opset, &[]), &PrintOptions::default());
    let line = text.lines().find(|line| line.contains("return")).expect("a return");
    let ty = line.trim().rsplit_once(" : ").expect("a type").1;
    let dims = text.rsplit_once("neap.dims = ").map_or("", |(_, rest)| rest.split_once(']').expect("a list").0);
    if ty.contains('?') { format!("{ty} {dims}]") } else { ty.to_owned() }
}

#[test]
fn a_sample_of_everything() {
    let bytes = sample();
    assert!(is_onnx(&bytes));
    let module = read_onnx(&bytes, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let names: Vec<&str> = ops(&module).into_iter().map(|(name, _)| name).collect();
    let expected = [
        "onnx.Constant",
        "onnx.Gemm",
        "onnx.Shape",
        "onnx.Constant",
        "onnx.Gather",
        "onnx.Constant",
        "onnx.Concat",
        "onnx.If",
        "onnx.NoValue",
        "onnx.Loop",
        "onnx.Reshape",
        "custom.acme.ops.Mystery",
        "func.return",
    ];
    assert_eq!(names, expected);
    let attr = |op: &str, key: &str| module.attr(find(&module, op), key).cloned();
    assert_eq!(attr("onnx.Gemm", "neap.name"), Some(Attr::str("a")));
    assert_eq!(attr("onnx.Shape", "neap.name"), Some(Attr::str("a_2")), "equal names of nodes are made different");
    // The branch that is taken comes first, whatever the order in the file.
    let then = module.region_blocks(find(&module, "onnx.If"), 0)[0];
    let first = module.block_ops(then).next().expect("an operation");
    assert_eq!(
        (module.op_name(first), module.attr(first, "neap.names")),
        ("onnx.Relu", Some(&Attr::Array(vec![Attr::str("branch_result")])))
    );
    // What is computed from shapes is known: the result keeps the name of its dimension.
    let text = print(&module, &PrintOptions::default());
    let reshape = text.lines().find(|line| line.contains("onnx.Reshape")).expect("a line");
    assert!(reshape.contains("neap.dims = [\"N\"]") && reshape.contains("-> tensor<?x4xf32>"), "{reshape}");
    assert!(neap_ir::parse(&text).is_ok(), "{text}");
}

#[test]
fn sizes_given_to_names_are_used_everywhere() {
    let fixed = read_onnx(&sample(), &[("N".into(), 8, 8), ("T".into(), 2, 2)]).expect("a good file");
    let text = print(&fixed, &PrintOptions::default());
    assert!(
        !text.contains('?') && text.contains("neap.bounds = {N = array<i64: 8, 8>, T = array<i64: 2, 2>}"),
        "{text}"
    );
    let bounded = read_onnx(&sample(), &[("N".into(), 1, 8)]).expect("a good file");
    let text = print(&bounded, &PrintOptions::default());
    assert!(text.contains("tensor<?x4xf32>") && text.contains("neap.bounds = {N = array<i64: 1, 8>}"), "{text}");
}

#[test]
fn formulas_over_names_get_bounds() {
    let conv = node("Conv", &["x", "w"], &["out"]).with_ints("strides", &[2, 2]).with_ints("pads", &[1, 1, 1, 1]);
    let graph = Graph {
        nodes: vec![conv],
        constants: vec![weights("w", &[8, 3, 3, 3])],
        inputs: vec![value("x", 1, &["1", "3", "H", "32"])],
        outputs: vec![value("out", 1, &["1", "8", "out_rows", "16"])],
        infos: vec![],
    };
    let module = read(&graph, 17, &[("H", 8, 64)]);
    let text = print(&module, &PrintOptions::default());
    assert!(text.contains("\"((H - 1) / 2) + 1\" = array<i64: 4, 32>"), "{text}");
    assert!(text.contains("-> tensor<1x8x?x16xf32>"), "{text}");
}

#[test]
fn shapes_of_operators() {
    let image = [value("x", 1, &["2", "8", "15", "15"])];
    let pool =
        |name: &str| node(name, &["x"], &["out"]).with_ints("kernel_shape", &[2, 2]).with_ints("strides", &[2, 2]);
    let cases = [
        (result(17, pool("MaxPool"), &image, &[]), "tensor<2x8x7x7xf32>"),
        (result(17, pool("AveragePool").with_int("ceil_mode", 1), &image, &[]), "tensor<2x8x8x8xf32>"),
        (result(17, node("GlobalMaxPool", &["x"], &["out"]), &image, &[]), "tensor<2x8x1x1xf32>"),
        (
            result(17, node("Reshape", &["x", "s"], &["out"]), &image, &[ints("s", &[3], &[0, -1, 5])]),
            "tensor<2x360x5xf32>",
        ),
        (
            result(
                17,
                node("Slice", &["x", "a", "b", "c"], &["out"]),
                &image,
                &[ints("a", &[1], &[-3]), ints("b", &[1], &[i64::MAX]), ints("c", &[1], &[-1])],
            ),
            "tensor<2x8x15x3xf32>",
        ),
        (
            result(17, node("Pad", &["x", "p"], &["out"]), &image, &[ints("p", &[8], &[0, 0, 1, 2, 0, 0, 3, 4])]),
            "tensor<2x8x19x21xf32>",
        ),
        (
            result(17, node("MatMul", &["x", "y"], &["out"]), &[image[0].clone(), value("y", 1, &["15", "4"])], &[]),
            "tensor<2x8x15x4xf32>",
        ),
        (
            result(
                17,
                node("ReduceMean", &["x"], &["out"]).with_ints("axes", &[2, 3]).with_int("keepdims", 0),
                &image,
                &[],
            ),
            "tensor<2x8xf32>",
        ),
        (
            result(
                13,
                node("Squeeze", &["x", "a"], &["out"]),
                &[value("x", 1, &["1", "3", "1"])],
                &[ints("a", &[1], &[0])],
            ),
            "tensor<3x1xf32>",
        ),
        (result(17, node("Flatten", &["x"], &["out"]).with_int("axis", 2), &image, &[]), "tensor<16x225xf32>"),
        (result(17, node("Cast", &["x"], &["out"]).with_int("to", 7), &image, &[]), "tensor<2x8x15x15xi64>"),
        (result(17, node("Equal", &["x", "x"], &["out"]), &image, &[]), "tensor<2x8x15x15xi1>"),
        (
            result(17, node("Transpose", &["x"], &["out"]).with_ints("perm", &[0, 2, 3, 1]), &image, &[]),
            "tensor<2x15x15x8xf32>",
        ),
        (
            result(17, node("Add", &["x", "y"], &["out"]), &[value("x", 1, &["N", "1"]), value("y", 1, &["4"])], &[]),
            "tensor<?x4xf32> [\"N\"]",
        ),
        (
            result(17, node("Concat", &["x", "x"], &["out"]).with_int("axis", 0), &[value("x", 1, &["N", "4"])], &[]),
            "tensor<?x4xf32> [\"2*N\"]",
        ),
        // Nobody knows how many: the dimension gets a name by which it can be bounded.
        (result(17, node("NonZero", &["x"], &["out"]), &image, &[]), "tensor<4x?xi64> [\"out.1\"]"),
        // A mark is no name: the two are not the same size.
        (
            result(
                17,
                node("MatMul", &["x", "y"], &["out"]),
                &[value("x", 1, &["?", "4"]), value("y", 1, &["4", "?"])],
                &[],
            ),
            "tensor<?x?xf32> [\"x.0\", \"y.1\"]",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found.replace("] [", " ["), expected);
    }
}

#[test]
fn old_meanings_have_names_of_their_own() {
    let softmax = |opset, axis| {
        let nodes = vec![node("Softmax", &["x"], &["out"]).with_int("axis", axis)];
        let (inputs, outputs) = (vec![value("x", 1, &["2", "3", "4"])], vec![value("out", 1, &["2", "3", "4"])]);
        let module = read(&Graph { nodes, inputs, outputs, ..Graph::default() }, opset, &[]);
        ops(&module)[0].0.to_owned()
    };
    assert_eq!([softmax(13, 1), softmax(12, 1), softmax(12, 2)], ["onnx.Softmax", "onnx.SoftmaxV11", "onnx.Softmax"]);
}

#[test]
fn names_of_ours_are_not_taken_from_a_file() {
    for op in ["Yield", "NoValue", "return", "Grumble"] {
        let nodes = vec![node(op, &["x"], &["out"])];
        let (inputs, outputs) = (vec![value("x", 1, &["2"])], vec![value("out", 1, &["2"])]);
        let module = read(&Graph { nodes, inputs, outputs, ..Graph::default() }, 17, &[]);
        assert_eq!(ops(&module)[0].0, format!("custom.onnx.{op}"));
    }
}

fn errors(nodes: Vec<Message>) -> Vec<String> {
    let (inputs, outputs) = (vec![value("x", 1, &["4"])], vec![value("out", 1, &["4"])]);
    let graph = Graph { nodes, inputs, outputs, ..Graph::default() };
    read_onnx(&graph.file(17), &[]).expect_err("a broken file").into_iter().map(|error| error.message).collect()
}

#[test]
fn a_value_has_one_producer() {
    let nodes = vec![
        node("Relu", &["x"], &["24"]).named("one"),
        node("Neg", &["x"], &["24"]),
        node("Add", &["24", "x"], &["out"]),
        node("Abs", &["x"], &["x"]),
    ];
    let expected = [
        "value `24` is produced by node 0 `one` (Relu) and by node 1 (Neg)",
        "value `x` is produced by input 0 and by node 3 (Abs)",
    ];
    assert_eq!(errors(nodes), expected);
}

#[test]
fn missing_producers_are_all_told() {
    let nodes = vec![node("Add", &["x", "nowhere"], &["a"]), node("Add", &["a", "lost"], &["b"])];
    let expected = [
        "node 0 (Add): operand 1 is `nowhere`, which nothing produces",
        "node 1 (Add): operand 1 is `lost`, which nothing produces",
        "output `out` is produced by nothing",
    ];
    assert_eq!(errors(nodes), expected);
}

#[test]
fn a_circle_is_printed() {
    let nodes = vec![
        node("Add", &["x", "c"], &["a"]).named("first"),
        node("Relu", &["a"], &["b"]),
        node("Neg", &["b"], &["c"]),
        node("Abs", &["c"], &["out"]),
    ];
    let expected =
        "nodes wait for each other: node 0 `first` (Add) -> node 1 (Relu) -> node 2 (Neg) -> node 0 `first` (Add)";
    assert_eq!(errors(nodes), [expected]);
}

#[test]
fn nodes_in_another_order_are_put_into_one() {
    let nodes = vec![node("Abs", &["b"], &["out"]), node("Neg", &["a"], &["b"]), node("Relu", &["x"], &["a"])];
    let (inputs, outputs) = (vec![value("x", 1, &["4"])], vec![value("out", 1, &["4"])]);
    let module = read(&Graph { nodes, inputs, outputs, ..Graph::default() }, 17, &[]);
    let names: Vec<&str> = ops(&module).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["onnx.Relu", "onnx.Neg", "onnx.Abs", "func.return"]);
}

#[test]
fn what_the_file_says_must_not_contradict_its_nodes() {
    let nodes = vec![node("Relu", &["x"], &["a"]), node("Neg", &["a"], &["out"])];
    let infos = vec![value("a", 1, &["5"])];
    let (inputs, outputs) = (vec![value("x", 1, &["4"])], vec![value("out", 7, &["4"])]);
    let graph = Graph { nodes, infos, inputs, outputs, ..Graph::default() };
    let errors = read_onnx(&graph.file(17), &[]).expect_err("a broken file");
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    let expected = [
        "value `a`, made by node 0 (Relu): its dimension 0 is 4, and the file says 5",
        "value `out`, made by node 1 (Neg): it has elements of type FLOAT, and the file says INT64",
    ];
    assert_eq!(messages, expected);
}

#[test]
fn graphs_nested_without_end_are_refused() {
    let mut graph = Graph { outputs: vec![value("x", 1, &[])], ..Graph::default() };
    for _ in 0..70 {
        let message = graph.message("deep");
        let holder = node("If", &["c"], &["y"]).with_graph("then_branch", message.clone());
        graph = Graph { nodes: vec![holder], outputs: vec![value("y", 1, &[])], ..Graph::default() };
    }
    let errors = read_onnx(&graph.file(17), &[]).expect_err("too deep");
    assert!(errors[0].message.contains("more than 64 deep"), "{errors:?}");
}

/// Loops in loops whose carried values change shape: looking at each body again and again would take for ever.
#[test]
fn loops_in_loops_end() {
    let mut inner = Graph {
        nodes: vec![node("Concat", &["v", "v"], &["w"]).with_int("axis", 0), node("Identity", &["c"], &["d"])],
        inputs: vec![value("t", 7, &[]), value("c", 9, &[]), Message::default().put(1, "v")],
        outputs: vec![value("d", 9, &[]), Message::default().put(1, "w")],
        ..Graph::default()
    };
    for _ in 0..40 {
        let body = inner.message("body");
        inner.nodes =
            vec![node("Loop", &["", "c", "v"], &["w"]).with_graph("body", body), node("Identity", &["c"], &["d"])];
    }
    let main = Graph {
        nodes: vec![node("Loop", &["", "c", "v"], &["w"]).with_graph("body", inner.message("body"))],
        inputs: vec![value("c", 9, &[]), value("v", 1, &["2"])],
        outputs: vec![Message::default().put(1, "w")],
        ..Graph::default()
    };
    let errors = read_onnx(&main.file(17), &[]).expect_err("too much");
    assert!(errors[0].message.contains("cannot be found"), "{errors:?}");
}

#[test]
fn what_is_no_onnx_file_is_told() {
    for bytes in [&b""[..], b"\x08", b"hello, world", &[0xff; 40], b"\x3a\x05ab"] {
        let errors = read_onnx(bytes, &[]).expect_err("no model");
        assert!(errors.len() == 1 && errors[0].help.is_some(), "{errors:?}");
        assert!(!is_onnx(bytes));
    }
    assert!(!is_onnx(b"module {\n}\n"));
}

#[test]
fn files_with_weights_are_named_wherever_a_tensor_stands() {
    let tensor = |file: &str| external("w", &[1], file);
    let attribute = |field: u64, message: Message| Message::default().put(5, Message::default().put(field, message));
    let inner = Graph { constants: vec![tensor("branch.bin")], ..Graph::default() }.message("g");
    let not_external = tensor("never.bin").int(14, 0);
    let graph = Graph {
        nodes: vec![
            node("If", &["c"], &["r"]).with_graph("then_branch", inner),
            attribute(5, tensor("value.bin")),
            attribute(10, tensor("list.bin")),
            attribute(22, Message::default().put(1, tensor("sparse.bin")).put(2, tensor("places.bin"))),
        ],
        constants: vec![tensor("main.bin"), tensor("main.bin"), weights("unnamed", &[1]), not_external],
        ..Graph::default()
    };
    let function = Message::default().put(7, attribute(5, tensor("function.bin")));
    let training = Message::default().put(1, Message::default().put(5, tensor("training.bin")));
    let file = [graph.file(17), Message::default().put(25, function).put(20, training).0].concat();
    let found: Vec<String> = neap_import::external_files(&file).into_iter().collect();
    let wanted =
        ["branch.bin", "function.bin", "list.bin", "main.bin", "places.bin", "sparse.bin", "training.bin", "value.bin"];
    assert_eq!(found, wanted);
    // What is cut names what can be read, and never more.
    for end in 0..file.len() {
        assert!(neap_import::external_files(&file[..end]).iter().all(|name| wanted.contains(&name.as_str())));
    }
}

/// The seeds of the fuzzer in `testdata` are what the tests here make.
#[test]
fn the_seed_is_the_sample() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/onnx/sample.onnx");
    if std::env::var_os("NEAP_BLESS").is_some() {
        std::fs::write(&path, sample()).expect("the seed can be written");
    }
    let stored = std::fs::read(&path).expect("the seed is there");
    assert!(stored == sample(), "write it anew with NEAP_BLESS=1 cargo test -p neap-import");
}

/// The seeded corpus: none may panic; a file that still reads makes text that reads back.
#[test]
fn broken_files_get_a_diagnostic() {
    let (mut broken, mut total) = (0, 0);
    for bytes in broken::broken(&sample(), 3000) {
        total += 1;
        match read_onnx(&bytes, &[("N".into(), 1, 8)]) {
            Err(errors) => {
                assert!(!errors.is_empty() && errors.iter().all(|error| !error.message.is_empty()));
                broken += 1;
            }
            Ok(module) => {
                let text = print(&module, &PrintOptions::default());
                assert!(neap_ir::parse(&text).is_ok(), "{text}");
            }
        }
    }
    println!("onnx: {broken} of {total} mutated files are broken");
    assert!(broken >= 200, "{broken}");
}
