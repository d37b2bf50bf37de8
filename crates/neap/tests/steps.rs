//! The log of steps, line by line, on a tree of three levels; and the charts of the full summary.

mod program;

use program::neap;
use std::fs;

/// Four leaves of 50, two nodes of 80, a root of 100, written level by level.
///
/// Level by level with nothing freed before the end this takes 460 bytes, all values together. An account that frees operands before the result is
/// written finds 180 for depth first: 80 + 50 + 50, and 80 + 80 for the second node. Operands and results of an operation exist at the same
/// time, though: while the second node is written, the first node, two leaves and the second node are there, 260 bytes.
const TREE: &str = "func.func @main() -> tensor<100xi8> {
  %l0 = \"neap.opaque\"() : () -> tensor<50xi8>
  %l1 = \"neap.opaque\"() : () -> tensor<50xi8>
  %l2 = \"neap.opaque\"() : () -> tensor<50xi8>
  %l3 = \"neap.opaque\"() : () -> tensor<50xi8>
  %m0 = \"neap.opaque\"(%l0, %l1) : (tensor<50xi8>, tensor<50xi8>) -> tensor<80xi8>
  %m1 = \"neap.opaque\"(%l2, %l3) : (tensor<50xi8>, tensor<50xi8>) -> tensor<80xi8>
  %r = \"neap.opaque\"(%m0, %m1) : (tensor<80xi8>, tensor<80xi8>) -> tensor<100xi8>
  return %r : tensor<100xi8>
}
";

const LAYERS: &str = "steps of @main: peak 280 B at step 4
step 0  neap.opaque (%l0): 50 B
  born   %l0 50
  lives  %l0 50
  died   -
step 1  neap.opaque (%l1): 100 B
  born   %l1 50
  lives  %l0 50, %l1 50
  died   -
step 2  neap.opaque (%l2): 150 B
  born   %l2 50
  lives  %l0 50, %l1 50, %l2 50
  died   -
step 3  neap.opaque (%l3): 200 B
  born   %l3 50
  lives  %l0 50, %l1 50, %l2 50, %l3 50
  died   -
step 4  neap.opaque (%m0): 280 B  <- peak
  born   %m0 80
  lives  %l0 50, %l1 50, %l2 50, %l3 50, %m0 80
  died   %l0 50, %l1 50
step 5  neap.opaque (%m1): 260 B
  born   %m1 80
  lives  %l2 50, %l3 50, %m0 80, %m1 80
  died   %l2 50, %l3 50
step 6  neap.opaque (%r): 260 B
  born   %r 100
  lives  %m0 80, %m1 80, %r 100
  died   %m0 80, %m1 80, %r 100
";

const PLANNED: &str = "steps of @main: peak 260 B at step 5
step 0  neap.opaque (%l0): 50 B
  born   %l0 50
  lives  %l0 50
  died   -
step 1  neap.opaque (%l1): 100 B
  born   %l1 50
  lives  %l0 50, %l1 50
  died   -
step 2  neap.opaque (%m0): 180 B
  born   %m0 80
  lives  %l0 50, %l1 50, %m0 80
  died   %l0 50, %l1 50
step 3  neap.opaque (%l2): 130 B
  born   %l2 50
  lives  %m0 80, %l2 50
  died   -
step 4  neap.opaque (%l3): 180 B
  born   %l3 50
  lives  %m0 80, %l2 50, %l3 50
  died   -
step 5  neap.opaque (%m1): 260 B  <- peak
  born   %m1 80
  lives  %m0 80, %l2 50, %l3 50, %m1 80
  died   %l2 50, %l3 50
step 6  neap.opaque (%r): 260 B
  born   %r 100
  lives  %m0 80, %m1 80, %r 100
  died   %m0 80, %m1 80, %r 100
";

#[test]
fn a_tree_of_three_levels_step_by_step() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), TREE).expect("written");
    let log = |flags: &[&str]| {
        let (code, out, err) =
            neap(folder.path(), &[&["plan", "in.mlir", "--trace-steps", "--summary=json"][..], flags].concat());
        assert_eq!(code, 0, "{err}");
        (serde_json::from_str::<serde_json::Value>(&out).expect("JSON alone"), err)
    };
    let (layers, err) = log(&["--pass-pipeline=assign-offsets"]);
    assert_eq!(err, LAYERS);
    let (planned, err) = log(&[]);
    assert_eq!(err, PLANNED);
    let figure = |summary: &serde_json::Value, key: &str| summary["functions"][0][key].clone();
    assert_eq!(figure(&layers, "bytes")["sum_of_tensors"], 460, "nothing freed before the end");
    assert_eq!(figure(&layers, "plan")["peak"], 280);
    assert_eq!(figure(&planned, "plan")["peak"], 260);
    assert_eq!(figure(&planned, "plan")["lower_bound"], 260, "no order needs less");
}

#[test]
fn the_full_summary_begins_with_charts_and_keeps_to_the_width() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), TREE).expect("written");
    let (code, out, err) = neap(folder.path(), &["plan", "in.mlir", "--summary=full"]);
    assert_eq!(code, 0, "{err}");
    let charts: Vec<&str> =
        out.lines().skip_while(|line| *line != "@main").take_while(|line| !line.contains("fingerprint")).collect();
    let line = |start: &str| {
        *charts.iter().find(|line| line.trim_start().starts_with(start)).unwrap_or_else(|| panic!("{start}: {out}"))
    };
    assert!(line("80 B  31 %").contains("tensor<80xi8>") && line("80 B  31 %").contains("neap.opaque"), "{out}");
    // Bars are 14 characters for 260 bytes, so that 80 bytes are 4 and a part; the curves have a character for each step.
    assert_eq!(line("80 B  31 %").matches('\u{2588}').count(), 4, "{out}");
    assert_eq!(line("before").split_whitespace().nth(1), Some("▂▃▄▆█▇▇"), "{out}");
    assert_eq!(line("planned").split_whitespace().nth(1), Some("▂▃▅▄▅▇▇"), "{out}");
    assert!(line("order").contains("-20") && line("arena").contains("260"), "{out}");
    assert!(charts.iter().all(|line| line.chars().count() <= 100), "{out}");
    assert!(!out.contains('\x1b'), "no colour where nobody watches");
}
