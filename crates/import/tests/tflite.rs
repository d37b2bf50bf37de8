//! The TFLite reader: what a file becomes, and what a broken file is told.

mod support;

#[path = "support/broken.rs"]
mod broken;

use neap_import::read_tflite;
use neap_ir::{Attr, Module, OpId};
use support::{EXTERNAL, G, O, Opt, T, model, sample, with_control};

fn ops<'a>(module: &'a Module, func: &str) -> Vec<(&'a str, OpId)> {
    let func = module.symbol(func).expect("the function");
    module.block_ops(module.entry(func).expect("a body")).map(|op| (module.op_name(op), op)).collect()
}

#[test]
fn a_sample_of_everything() {
    let module = read_tflite(&sample()).expect("a good file");
    let main = ops(&module, "main");
    let names: Vec<&str> = main.iter().map(|(name, _)| *name).collect();
    let expected = [
        "neap.constant",
        "tfl.no_value",
        "tfl.fully_connected",
        "neap.constant",
        "tfl.reshape",
        "tfl.var_handle",
        "tfl.read_variable",
        "tfl.add",
        "tfl.assign_variable",
        "tfl.while",
        "custom.Mystery",
        "func.return",
    ];
    assert_eq!(names, expected);
    let find = |name: &str| main.iter().find(|(other, _)| *other == name).expect("the op").1;
    assert_eq!(module.attr(find("tfl.while"), "cond"), Some(&Attr::symbol("cond")));
    assert_eq!(module.attr(find("tfl.while"), "body"), Some(&Attr::symbol("body")));
    assert_eq!(module.attr(find("tfl.add"), "fused_activation_function"), Some(&Attr::str("NONE")));
    assert_eq!(module.attr(find("tfl.add"), "neap.names"), Some(&Attr::Array(vec![Attr::str("sum")])));
    let shape = module.operand(find("tfl.reshape"), 1);
    let shape = module.defining_op(shape).expect("a constant");
    assert!(matches!(module.attr(shape, "value"), Some(Attr::Elements { text, .. }) if &**text == "dense<[2, 4]>"));
    let weights = module.defining_op(module.operand(find("tfl.fully_connected"), 1)).expect("a constant");
    assert_eq!(module.attr(weights, "value"), None, "weights stay in the file");
    let memory = module.symbol("memory").expect("the state is declared");
    assert_eq!(module.op_name(memory), "neap.var");
    assert_eq!(module.functions().len(), 3);
}

fn chain(operators: Vec<O>, tensors: usize) -> G {
    let names = ["a", "b", "c", "d"];
    let tensors = (0..tensors).map(|index| T(names[index], vec![4], 0, 0)).collect();
    G { name: "main", tensors, inputs: vec![0], outputs: vec![1], operators, variables: vec![] }
}

fn errors(graph: G) -> Vec<String> {
    let file = model(&[graph], &[vec![]]);
    read_tflite(&file).expect_err("a broken file").into_iter().map(|error| error.message).collect()
}

/// Three operators that read one value.
fn three() -> G {
    let operators = (1..4).map(|to| O(59, vec![0], vec![to], Opt::None)).collect();
    let mut graph = chain(operators, 4);
    graph.outputs = vec![1, 2, 3];
    graph
}

#[test]
fn control_dependencies_are_tokens() {
    // 0 before 1 and 2, twice; 1 before 2. Signed numbers are doubled.
    let file = with_control(&three(), &[1, 1, 4, 0, 4, 0, 2, 2, 4, 0, 4]);
    let module = read_tflite(&file).expect("a good file");
    let ops: Vec<OpId> = ops(&module, "main").into_iter().map(|(_, op)| op).collect();
    let waits = |op: OpId| -> Vec<Option<OpId>> {
        let tokens = module.operands(op).filter(|value| module.is_token(*value));
        tokens.map(|token| module.defining_op(token)).collect()
    };
    assert_eq!(waits(ops[0]), []);
    assert_eq!(waits(ops[1]), [Some(ops[0])]);
    assert_eq!(waits(ops[2]), [Some(ops[0]), Some(ops[1])]);
    // One token for all that wait for it, behind the data.
    assert_eq!(module.results(ops[0]).len(), 2);
    assert!(module.is_token(module.results(ops[0])[1]) && !module.is_token(module.operand(ops[2], 0)));
    assert_eq!(module.results(ops[2]).len(), 1);
}

#[test]
fn control_dependencies_that_are_wrong_are_told() {
    let said = |bytes: &[u8]| {
        let errors = read_tflite(&with_control(&three(), bytes)).expect_err("a broken list");
        errors.into_iter().map(|error| error.message).collect::<Vec<_>>().join("\n")
    };
    let place = "metadata `model_control_dependencies`: ";
    let malformed = format!("{place}buffer 1 holds no list of pairs of operators");
    // Cut short, too long, another version, nothing at all, a number of subgraphs without an end.
    for bytes in [&[1, 1, 1, 0][..], &[1, 1, 0, 0], &[2, 0], &[], &[1, 0xff, 0xff, 0xff, 0xff, 0x0f], &[1; 6]] {
        assert_eq!(said(bytes), malformed, "{bytes:?}");
    }
    assert_eq!(said(&[1, 2, 0, 0]), format!("{place}it speaks of 2 subgraphs, the model has 1"));
    assert_eq!(said(&[1, 1, 1, 0, 6]), format!("{place}subgraph 0: of operators 0 and 3 one is none of its 3"));
    assert_eq!(said(&[1, 1, 1, 1, 2]), format!("{place}subgraph 0: of operators -1 and 1 one is none of its 3"));
    let backwards = "subgraph 0: operator 2 must run before operator 1, but does not come before it";
    assert_eq!(said(&[1, 1, 1, 4, 2]), format!("{place}{backwards}"));
}

#[test]
fn a_value_has_one_producer() {
    let operators = vec![O(59, vec![0], vec![1], Opt::None), O(101, vec![0], vec![1], Opt::None)];
    let expected = "subgraph 0, tensor 1 `b`: produced by operator 0 and by operator 1";
    assert_eq!(errors(chain(operators, 2)), [expected]);
}

#[test]
fn a_cycle_and_a_missing_producer_are_named() {
    let operators = vec![O(0, vec![0, 2], vec![1], Opt::None), O(0, vec![1, 3], vec![2], Opt::None)];
    let expected = [
        "subgraph 0, tensor 2 `c`: operator 0 reads it before operator 1 produces it",
        "subgraph 0, tensor 3 `d`: operator 1 reads it, but nothing produces it",
    ];
    assert_eq!(errors(chain(operators, 4)), expected);
}

#[test]
fn indices_out_of_range_are_all_told() {
    let mut graph = chain(vec![O(59, vec![7], vec![9], Opt::None), O(59, vec![-2], vec![1], Opt::None)], 2);
    graph.tensors[0].3 = 44;
    graph.inputs = vec![0, 5];
    let expected = [
        "subgraph 0, tensor 0 `a`: buffer 44 is none of the model's 1",
        "subgraph 0: input 5 is no tensor of its 2",
        "subgraph 0, operator 0: operand 7 is no tensor of the subgraph's 2",
        "subgraph 0, operator 0: result 9 is no tensor of the subgraph's 2",
        "subgraph 0, operator 1: operand -2 is no tensor of the subgraph's 2",
    ];
    assert_eq!(errors(graph), expected);
}

#[test]
fn what_is_no_tflite_file_is_told() {
    for bytes in [&b""[..], b"TFL3", b"\x08\x00\x00\x00ONNX....", b"\xff\xff\xff\xffTFL3"] {
        let errors = read_tflite(bytes).expect_err("no model");
        assert_eq!(errors.len(), 1);
        assert!(errors[0].help.is_some());
    }
}

#[test]
fn files_with_weights_are_named() {
    let mut file = flatbuffers::FlatBufferBuilder::new();
    let name = file.create_string("weights.bin");
    let table = file.start_table();
    file.push_slot_always(4, name);
    let group = file.end_table(table);
    let groups = file.create_vector(&[group]);
    let table = file.start_table();
    // The model's field 8, `external_buffer_groups`.
    file.push_slot_always(4 + 2 * 8, groups);
    let model = file.end_table(table);
    file.finish(model, Some("TFL3"));
    let bytes = file.finished_data();
    assert_eq!(neap_import::external_files(bytes).into_iter().collect::<Vec<_>>(), ["weights.bin"]);
    assert!(neap_import::external_files(&sample()).is_empty());
    for end in 8..bytes.len() {
        assert!(neap_import::external_files(&bytes[..end]).iter().all(|name| name == "weights.bin"));
    }
}

/// Weights in a file beside the model are constants: they take no bytes of the arena, and nothing may produce them.
#[test]
fn weights_beside_the_model_are_constants() {
    let graph = |outputs: Vec<i32>| G {
        name: "main",
        tensors: vec![T("a", vec![4], 0, 0), T("b", vec![4], 0, 0), T("w", vec![4], 0, EXTERNAL + 3)],
        inputs: vec![0],
        outputs: vec![1],
        operators: vec![O(0, vec![0, 2], outputs, Opt::None)],
        variables: vec![],
    };
    let module = read_tflite(&model(&[graph(vec![1])], &[vec![]])).expect("a good file");
    let names: Vec<&str> = ops(&module, "main").iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["neap.constant", "tfl.add", "func.return"]);
    let mut errors = errors(graph(vec![2]));
    errors.retain(|error| error.contains("a constant, but also produced by operator 0"));
    assert_eq!(errors.len(), 1);
}

/// The seeded corpus: none may panic; a file that still reads is not broken.
#[test]
fn broken_files_get_a_diagnostic() {
    let (mut broken, mut total) = (0, 0);
    for bytes in broken::broken(&sample(), 3000) {
        total += 1;
        if let Err(errors) = read_tflite(&bytes) {
            assert!(!errors.is_empty() && errors.iter().all(|error| !error.message.is_empty()));
            broken += 1;
        }
    }
    println!("tflite: {broken} of {total} mutated files are broken");
    assert!(broken >= 200, "{broken}");
}
