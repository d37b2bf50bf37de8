//! The ONNX writer: nodes change places, nothing else does; and the order in which ONNX Runtime will run them.

#[path = "../../import/tests/onnx/message.rs"]
#[allow(dead_code, reason = "the reader's tests use all of it")]
mod message;

use message::{Graph, node, sample, value};
use neap_emit::onnx::runtime::{candidates, complete, default_order, leading_to, priority_order};
use neap_emit::onnx::{outline, planned_order, reordered};
use neap_import::read_onnx;
use neap_ir::{Module, OpId};

/// Two towers over one input, a constant between them, and a shape that is asked for last.
fn towers() -> Vec<u8> {
    Graph {
        nodes: vec![
            node("Relu", &["x"], &["a1"]),
            node("Constant", &[], &["one"]).with_int("value_int", 1),
            node("Neg", &["x"], &["b1"]),
            node("Abs", &["a1"], &["a2"]),
            node("Abs", &["b1"], &["b2"]),
            node("Add", &["a2", "b2"], &["out"]),
            node("Shape", &["x"], &["shape"]),
            node("Add", &["shape", "one"], &["more"]),
        ],
        inputs: vec![value("x", 1, &["4"])],
        outputs: vec![value("out", 1, &["4"]), value("more", 7, &["1"])],
        ..Graph::default()
    }
    .file(17)
}

#[test]
fn orders_that_the_runtime_chooses() {
    let file = outline(&towers()).expect("a good file");
    let given: Vec<usize> = (0..8).collect();
    // Backwards from the last node that nobody reads; of what a node reads, the last in the file first.
    assert_eq!(default_order(&file, &given), [6, 7, 2, 4, 0, 3, 5]);
    assert_eq!(priority_order(&file, &given), [6, 0, 2, 3, 4, 5, 7]);
    // The towers stand the other way round: so do they run.
    let turned = [2, 4, 0, 3, 5, 1, 6, 7];
    assert_eq!(default_order(&file, &turned), [6, 7, 0, 3, 2, 4, 5]);
    assert_eq!(complete(&file, &[6, 7, 0, 3, 2, 4, 5]), [6, 1, 7, 0, 3, 2, 4, 5]);
}

#[test]
fn candidates_can_run_and_one_gives_the_wanted_order() {
    let bytes = towers();
    let file = outline(&bytes).expect("a good file");
    // What a plan would like: one tower after the other, the first one first.
    let wanted = [6, 1, 7, 0, 3, 2, 4, 5];
    assert_eq!(default_order(&file, &leading_to(&file, &wanted)), [6, 7, 0, 3, 2, 4, 5]);
    let found = candidates(&file, &wanted);
    assert!(found.len() > 1);
    for order in &found {
        reordered(&bytes, order).unwrap_or_else(|errors| panic!("{order:?}: {errors:?}"));
    }
    assert!(found.iter().any(|order| complete(&file, &default_order(&file, order)) == wanted), "{found:?}");
}

fn block_of(module: &Module) -> Vec<OpId> {
    let main = module.symbol("main").expect("the function");
    module.block_ops(module.entry(main).expect("a body")).collect()
}

#[test]
fn nodes_change_places_and_nothing_else() {
    let bytes = towers();
    let mut module = read_onnx(&bytes, &[]).expect("a good file");
    let main = module.symbol("main").expect("the function");
    let block = module.entry(main).expect("a body");
    let old = block_of(&module);
    let order: Vec<OpId> = [2, 4, 0, 3, 6, 1, 5, 7, 8].iter().map(|at| old[*at]).collect();
    module.set_block_order(block, &order);
    let file = outline(&bytes).expect("a good file");
    let order = planned_order(&file, &module).expect("a plan of this file");
    assert_eq!(order, [2, 4, 0, 3, 6, 1, 5, 7]);
    let written = reordered(&bytes, &order).expect("a legal order");
    assert_eq!(written.len(), bytes.len());
    let again = outline(&written).expect("a good file");
    for (new, old) in again.nodes.iter().zip(&order) {
        assert_eq!(written[new.at.clone()], bytes[file.nodes[*old].at.clone()]);
    }
    // Back again, byte for byte.
    let back: Vec<usize> = (0..8).map(|node| order.iter().position(|other| *other == node).expect("there")).collect();
    assert_eq!(reordered(&written, &back).expect("a legal order"), bytes);
}

#[test]
fn graphs_inside_nodes_keep_what_they_read() {
    let bytes = sample();
    let file = outline(&bytes).expect("a good file");
    // The If reads `sum` only inside its branches.
    assert_eq!(file.nodes[4].before, [0]);
    let errors = reordered(&bytes, &[4, 0, 1, 2, 3, 5, 6, 7]).expect_err("the branch would run too early");
    assert!(errors[0].message.contains("node 4 reads what node 0 makes"), "{errors:?}");
}

#[test]
fn what_is_no_order_of_the_file_is_refused() {
    let bytes = towers();
    for order in [&[0, 1, 2][..], &[0, 0, 1, 2, 3, 4, 5, 6], &[3, 0, 1, 2, 4, 5, 6, 7], &[0, 1, 2, 3, 4, 5, 6, 9]] {
        assert!(reordered(&bytes, order).is_err(), "{order:?}");
    }
    let other = Graph {
        nodes: (0..8).map(|at| node("Relu", &["x"], &[&format!("y{at}")])).collect(),
        inputs: vec![value("x", 1, &["4"])],
        outputs: vec![value("y7", 1, &["4"])],
        ..Graph::default()
    };
    let module = read_onnx(&other.file(17), &[]).expect("a good file");
    let errors = planned_order(&outline(&bytes).expect("a good file"), &module).expect_err("another file");
    assert!(errors[0].message.contains("in the plan, and node 0 of the file makes"), "{errors:?}");
}
