//! The TFLite writer: a new order and not one other byte; plans of other files, and plans with something missing, are refused.

mod offsets;
#[path = "../../../import/tests/support/mod.rs"]
mod support;

use neap_emit::tflite::{Options, write};
use neap_import::read_tflite;
use neap_ir::{Attr, Module, OpId};
use support::{G, O, Opt, T, model, sample, with_control};

/// Four operators of which the middle two may trade places.
fn graph() -> G {
    let tensors = ["in", "left", "right", "out"].map(|name| T(name, vec![4], 0, 0)).to_vec();
    let operators = vec![
        O(59, vec![0], vec![1], Opt::None),
        O(101, vec![0], vec![2], Opt::None),
        O(0, vec![1, 2], vec![3], Opt::Ints(11, vec![])),
    ];
    G { name: "main", tensors, inputs: vec![0], outputs: vec![3], operators, variables: vec![] }
}

fn diamond() -> Vec<u8> {
    model(&[graph()], &[vec![]])
}

fn ops(module: &Module, func: &str) -> Vec<OpId> {
    let func = module.symbol(func).expect("the function");
    module.block_ops(module.entry(func).expect("a body")).collect()
}

/// The module with two operations of `@main` in each other's place.
fn swapped(module: &Module, one: usize, other: usize) -> Module {
    let mut module = module.clone();
    let mut order = ops(&module, "main");
    order.swap(one, other);
    let func = module.symbol("main").expect("the function");
    let block = module.entry(func).expect("a body");
    module.set_block_order(block, &order);
    module
}

fn refused(template: &[u8], source: &Module, planned: &Module) -> String {
    let errors = write(template, source, planned, Options::default()).expect_err("it is refused");
    errors.into_iter().map(|error| error.message).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_same_order_is_the_same_file() {
    for file in [sample(), diamond()] {
        let source = read_tflite(&file).expect("a good file");
        assert_eq!(write(&file, &source, &source, Options::default()), Ok(file));
    }
}

#[test]
fn a_new_order_changes_the_list_of_operators_alone() {
    let file = diamond();
    let source = read_tflite(&file).expect("a good file");
    let out = write(&file, &source, &swapped(&source, 0, 1), Options::default()).expect("a legal order");
    let changed: Vec<usize> = (0..file.len()).filter(|at| out[*at] != file[*at]).collect();
    assert!(out.len() == file.len() && (1..=8).contains(&changed.len()), "{changed:?}");
    assert!(changed[changed.len() - 1] - changed[0] < 8, "two entries next to each other: {changed:?}");
    let again = read_tflite(&out).expect("a good file");
    let names: Vec<&str> = ops(&again, "main").into_iter().map(|op| again.op_name(op)).collect();
    assert_eq!(names, ["tfl.abs", "tfl.neg", "tfl.add", "func.return"]);
    // And back again.
    assert_eq!(write(&out, &again, &swapped(&again, 0, 1), Options::default()), Ok(file));
}

#[test]
fn control_dependencies_get_the_new_numbers() {
    // Version, subgraphs, pairs, then 1 before 2: signed numbers are doubled.
    let file = with_control(&graph(), &[1, 1, 1, 2, 4]);
    let source = read_tflite(&file).expect("a good file");
    let out = write(&file, &source, &swapped(&source, 0, 1), Options::default()).expect("a legal order");
    let list = |file: &[u8], bytes: &[u8]| file.windows(bytes.len()).any(|window| window == bytes);
    // What was the second operator is the first one now.
    assert!(list(&file, &[1, 1, 1, 2, 4]) && list(&out, &[1, 1, 1, 0, 4]));
    let again = read_tflite(&out).expect("a good file");
    let order = ops(&again, "main");
    assert_eq!(again.op_name(order[0]), "tfl.abs");
    assert!(again.operands(order[2]).any(|value| again.is_token(value) && again.defining_op(value) == Some(order[0])));
    // 0 before 1: the other order is no plan of this file.
    let file = with_control(&graph(), &[1, 1, 1, 0, 2]);
    let source = read_tflite(&file).expect("a good file");
    let said = refused(&file, &source, &swapped(&source, 0, 1));
    assert!(said.contains("operator 0 must run before operator 1, and the plan has it the other way"), "{said}");
}

#[test]
fn a_plan_of_another_file_is_refused() {
    let file = diamond();
    let source = read_tflite(&file).expect("a good file");
    // Claims to be operator 1 where operator 0 stands.
    let mut liar = source.clone();
    let order = ops(&liar, "main");
    let (one, other) = (liar.op(order[0]).loc.clone(), liar.op(order[1]).loc.clone());
    let span = liar.op(order[0]).span;
    liar.set_place(order[0], other, span);
    liar.set_place(order[1], one, span);
    assert!(
        refused(&file, &source, &liar).contains("is not wired as operator 2"),
        "{}",
        refused(&file, &source, &liar)
    );
    // Two operations with one place in the file, and so one place without an operation.
    let mut twice = source.clone();
    let loc = twice.op(order[0]).loc.clone();
    twice.set_place(order[1], loc, span);
    let said = refused(&file, &source, &twice);
    assert!(
        said.contains("entry 0 of graph `main` stands twice") && said.contains("entry 1 of graph `main` is missing")
    );
    // No place at all.
    let mut lost = source.clone();
    lost.set_place(order[1], neap_ir::Loc::Unknown, span);
    assert!(refused(&file, &source, &lost).contains("is no entry of graph `main`"));
    // Another model altogether.
    let other = read_tflite(&sample()).expect("a good file");
    assert!(refused(&sample(), &other, &source).contains("no function @"));
}

#[test]
fn constants_are_told_apart_by_their_names() {
    let file = sample();
    let source = read_tflite(&file).expect("a good file");
    let mut module = source.clone();
    let constant = ops(&module, "main").into_iter().find(|op| module.op_name(*op) == "neap.constant").expect("one");
    module.set_attr(constant, "neap.names", Attr::Array(vec![Attr::str("other weights")]));
    assert!(refused(&file, &source, &module).contains("is not wired as operator 0"));
}
