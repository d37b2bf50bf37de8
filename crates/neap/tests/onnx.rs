//! ONNX files as a user meets them: planned, written back, refused.

#[path = "../../import/tests/onnx/message.rs"]
#[allow(dead_code, reason = "the reader's tests use all of it")]
mod message;

use message::{Graph, Message, floats, ints, node, sample, value, weights};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Two towers, each wide below and narrow above, whose sum has a name; both wide parts run first.
fn two_towers(sum: &str) -> Vec<Message> {
    vec![
        node("Expand", &["x", "wide"], &["wide1"]),
        node("Expand", &["y", "wide"], &["wide2"]),
        node("ReduceSum", &["wide1"], &["narrow1"]),
        node("ReduceSum", &["wide2"], &["narrow2"]),
        node("Add", &["narrow1", "narrow2"], &[sum]),
    ]
}

/// A file with nothing else.
fn towers() -> Vec<u8> {
    Graph {
        nodes: two_towers("out"),
        constants: vec![ints("wide", &[2], &[64, 64])],
        inputs: vec![value("x", 1, &["1", "1"]), value("y", 1, &["1", "1"])],
        outputs: vec![value("out", 1, &["1", "1"])],
        ..Graph::default()
    }
    .file(17)
}

fn neap(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_neap")).args(args).current_dir(folder).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("all output is text");
    (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
}

fn folder(bytes: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("in.onnx"), bytes).expect("the model is written");
    folder
}

#[test]
fn a_file_is_written_in_an_order_that_needs_less() {
    let folder = folder(&towers());
    let args = ["plan", "in.onnx", "-o", "out.onnx", "-o", "plan.mlir", "--summary=json"];
    let (code, out, err) = neap(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
    let summary: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&summary["profile"], &summary["check"]), (&Value::from("ort"), &Value::from("passed")));
    let function = &summary["functions"][0];
    let order = &function["runtime_order"];
    assert_eq!(order["plan"], function["plan"]["peak"]);
    assert_eq!(order["needs_priority"], Value::from(false), "{order}");
    assert!(function["source"]["peak"].as_u64() >= function["plan"]["peak"].as_u64().map(|peak| peak + 16_000));
    // The file as it is written needs no more in its own order than the plan does.
    let (code, out, err) = neap(folder.path(), &["plan", "out.onnx", "--summary=json"]);
    assert_eq!(code, 0, "{err}");
    let again: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(again["functions"][0]["source"]["peak"], function["plan"]["peak"]);
    // The same from the plan, with the file as the template; the text says what the runtime makes of it.
    let (code, _, err) = neap(folder.path(), &["emit", "plan.mlir", "--template", "in.onnx", "-o", "again.onnx"]);
    assert_eq!(code, 0, "{err}");
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
    assert!(read("again.onnx") == read("out.onnx") && read("out.onnx") != read("in.onnx"));
    let (_, out, _) = neap(folder.path(), &["plan", "in.onnx"]);
    assert!(out.contains("no option is needed") && out.lines().count() <= 12, "{out}");
}

#[test]
fn a_plan_of_another_model_is_refused() {
    let folder = folder(&towers());
    assert_eq!(neap(folder.path(), &["plan", "in.onnx", "-o", "plan.mlir"]).0, 0);
    std::fs::write(folder.path().join("other.onnx"), sample()).expect("the model is written");
    let args = ["emit", "plan.mlir", "--template", "other.onnx", "-o", "out.onnx"];
    let (code, _, err) = neap(folder.path(), &args);
    assert!(code == 1 && err.contains("fingerprint"), "{err}");
    assert!(!folder.path().join("out.onnx").exists());
    let (code, _, err) = neap(folder.path(), &["plan", "in.onnx", "-o", "out.tflite"]);
    assert!(code == 2 && err.contains("no TFLite model"), "{err}");
}

#[test]
fn named_dimensions_are_bounded_or_told() {
    let folder = folder(&sample());
    let (code, out, err) = neap(folder.path(), &["plan", "in.onnx"]);
    assert!(code == 1 && out.is_empty() && err.contains("--dim"), "{err}");
    // The file is no text to point at, and still every value is named, and what to bound.
    assert!(
        err.contains("no upper bound of") && err.contains("dimensions without a bound") && err.contains("`N` ("),
        "{err}"
    );
    let (code, out, err) = neap(folder.path(), &["plan", "in.onnx", "--dim", "N=8", "--dim", "T=4"]);
    assert!(code == 0 && out.contains("checked") && out.contains("custom.acme.ops.Mystery"), "{out}{err}");
    let (code, _, err) = neap(folder.path(), &["plan", "in.onnx", "--dim", "M=8"]);
    assert!(code == 2 && err.contains("there is no dimension of this name"), "{err}");
    let (code, out, err) = neap(folder.path(), &["import", "in.onnx", "--dim", "N=8", "--dim", "T=4"]);
    assert!(code == 0 && out.contains("tensor<4x8x4xf32>"), "{out}{err}");
}

/// What is computed from a dimension has the bounds of each range, and a range of one size is that size.
#[test]
fn ranges_of_a_dimension_reach_what_is_computed_from_it() {
    let graph = Graph {
        nodes: vec![
            node("Concat", &["x", "x"], &["two"]).with_int("axis", 0),
            node("Relu", &["two"], &["y"]),
            node("Neg", &["y"], &["out"]),
        ],
        inputs: vec![value("x", 1, &["N", "4"])],
        outputs: vec![value("out", 1, &["2*N", "4"])],
        ..Graph::default()
    };
    let folder = folder(&graph.file(17));
    let plan = ["plan", "in.onnx", "--buckets", "N=1,4,16", "-o", "plan.mlir", "--summary=json"];
    let (code, out, err) = neap(folder.path(), &plan);
    assert_eq!(code, 0, "{err}");
    let summary: Value = serde_json::from_str(&out).expect("JSON");
    for (at, bound) in ["N=1", "N=2..4", "N=5..16"].into_iter().enumerate() {
        let (_, out, err) = neap(folder.path(), &["plan", "in.onnx", "--dim", bound, "--summary=json"]);
        let alone: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
        let range = &summary["buckets"]["table"][at];
        assert_eq!(range["arena"], alone["functions"][0]["plan"]["arena"], "{bound}");
    }
    let (code, out, err) = neap(folder.path(), &["check", "in.onnx", "plan.mlir"]);
    assert!(code == 0 && out.matches("accepted").count() == 3, "{out}{err}");
    // A plan within bounds is one for these, and says so.
    let (code, _, err) = neap(folder.path(), &["plan", "in.onnx", "--dim", "N=2..4", "-o", "few.mlir"]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = neap(folder.path(), &["check", "in.onnx", "few.mlir"]);
    assert!(code == 0 && out.starts_with("N from 2 to 4:\n@main: accepted"), "{out}{err}");
}

#[test]
fn broken_files_are_refused_with_their_place() {
    let mut bytes = towers();
    bytes.truncate(bytes.len() - 20);
    let folder = folder(&bytes);
    let (code, out, err) = neap(folder.path(), &["plan", "in.onnx", "-o", "out.onnx"]);
    assert!(code == 1 && out.is_empty() && err.contains("byte"), "{err}");
    assert!(!folder.path().join("out.onnx").exists());
}

/// Our own file in another order computes the same, contents that only the file holds included; other contents are no plan of it.
#[test]
fn a_file_in_another_order_is_checked_by_what_it_holds() {
    let wide = |first: f32| {
        let mut nodes = two_towers("sum");
        nodes.extend([
            node("ConstantOfShape", &["one"], &["half"]).with_tensor("value", floats("", &[1], &[0.5])),
            node("ConstantOfShape", &["one"], &["more"]).with_tensor("value", floats("", &[1], &[2.5])),
            node("Mul", &["sum", "half"], &["less"]),
            node("Sub", &["less", "more"], &["both"]),
            node("Add", &["both", "w"], &["out"]),
        ]);
        Graph {
            nodes,
            constants: vec![ints("wide", &[2], &[64, 64]), ints("one", &[2], &[1, 1]), floats("w", &[1, 1], &[first])],
            inputs: vec![value("x", 1, &["1", "1"]), value("y", 1, &["1", "1"])],
            outputs: vec![value("out", 1, &["1", "1"])],
            ..Graph::default()
        }
        .file(17)
    };
    let folder = folder(&wide(1.0));
    assert_eq!(neap(folder.path(), &["plan", "in.onnx", "-o", "out.onnx"]).0, 0);
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect("a file");
    assert!(read("in.onnx") != read("out.onnx"), "the order is another one");
    let (code, out, err) = neap(folder.path(), &["check", "in.onnx", "out.onnx"]);
    assert!(code == 0 && out == "accepted: both compute the same\n", "{out}{err}");
    std::fs::write(folder.path().join("other.onnx"), wide(2.0)).expect("written");
    let (code, out, err) = neap(folder.path(), &["check", "in.onnx", "other.onnx"]);
    assert!(code == 1 && out.is_empty() && err.contains("not what the source computes"), "{out}{err}");
    // The number that a node fills its result with is in the file alone.
    let swapped: Vec<u8> = swap(&read("out.onnx"), &0.5f32.to_le_bytes(), &2.5f32.to_le_bytes());
    std::fs::write(folder.path().join("swapped.onnx"), swapped).expect("written");
    assert_eq!(neap(folder.path(), &["check", "in.onnx", "swapped.onnx"]).0, 1);
    // Another version of the operators.
    let mut later = read("out.onnx");
    let version = later.iter().rposition(|byte| *byte == 17).expect("the version");
    later[version] = 18;
    std::fs::write(folder.path().join("later.onnx"), later).expect("written");
    let (code, _, err) = neap(folder.path(), &["check", "in.onnx", "later.onnx"]);
    assert!(code == 1 && err.contains("versions of operator sets"), "{err}");
}

/// Bytes with two pieces in each other's place.
fn swap(bytes: &[u8], one: &[u8], other: &[u8]) -> Vec<u8> {
    let find = |piece: &[u8]| bytes.windows(piece.len()).position(|window| window == piece).expect("it is there");
    let (at, there) = (find(one), find(other));
    let mut bytes = bytes.to_vec();
    bytes[at..at + one.len()].copy_from_slice(other);
    bytes[there..there + other.len()].copy_from_slice(one);
    bytes
}

/// Data beside a model are compared too; where they are not there, that is said.
#[test]
fn external_data_are_compared() {
    let entry = |key: &str, value: &str| Message::default().put(1, key).put(2, value);
    let weights = weights("w", &[1, 4]).put(13, entry("location", "w.bin")).put(13, entry("length", "16"));
    let file = Graph {
        nodes: vec![node("Add", &["x", "w"], &["out"])],
        constants: vec![weights],
        inputs: vec![value("x", 1, &["1", "4"])],
        outputs: vec![value("out", 1, &["1", "4"])],
        ..Graph::default()
    }
    .file(17);
    let folder = folder(&file);
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect("written");
    };
    write("there/in.onnx", &file);
    let check = || neap(folder.path(), &["check", "in.onnx", "there/in.onnx"]);
    let (code, out, _) = check();
    assert!(code == 0 && out.contains("if both find the same in `w.bin`"), "{out}");
    write("w.bin", &[7; 16]);
    let (code, out, _) = check();
    assert!(code == 0 && out.contains("`w.bin` were read beside the source"), "{out}");
    write("there/w.bin", &[7; 16]);
    assert_eq!(check().1, "accepted: both compute the same\n");
    write("there/w.bin", &[8; 16]);
    let (code, out, err) = check();
    assert!(code == 1 && out.is_empty() && err.contains("not what the source computes"), "{err}");
}
