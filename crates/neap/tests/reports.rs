//! What a summary says beside the plan: what flags cost, and what is in no figure.

mod program;

use program::neap;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A graph of 17 operations whose packing with fixed offsets is hard enough to take a search.
fn hard() -> String {
    let mut seed = 47u64;
    let mut below = |end: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % end
    };
    let mut sizes = vec![64u64];
    let mut body = String::new();
    for at in 0..17usize {
        let near = sizes.len().min(6) as u64;
        let mut reads: Vec<usize> = (0..1 + below(2)).map(|_| sizes.len() - 1 - below(near) as usize).collect();
        reads.dedup();
        let names: Vec<String> = reads.iter().map(|read| format!("%v{read}")).collect();
        let types: Vec<String> = reads.iter().map(|read| format!("tensor<{}xi8>", sizes[*read])).collect();
        let size = 16 * (1 + below(400));
        let (names, types) = (names.join(", "), types.join(", "));
        let _ = writeln!(body, "  %v{} = \"neap.opaque\"({names}) : ({types}) -> tensor<{size}xi8>", at + 1);
        sizes.push(size);
    }
    let last = format!("tensor<{}xi8>", sizes[17]);
    format!("func.func @main(%v0: tensor<64xi8>) -> {last} {{\n{body}  return %v17 : {last}\n}}\n")
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let (code, out, err) = neap(folder, &[args, &["--summary=json"]].concat());
    assert_eq!(code, 0, "{args:?}: {err}");
    serde_json::from_str(&out).expect("JSON")
}

#[test]
fn prices_are_what_the_plan_without_the_flag_saves() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), hard()).expect("written");
    let flags = ["--keep=%v3", "--keep=%v8", "--pin=%v5@65536", "--external=%v17"];
    let with = json(folder.path(), &[&["plan", "in.mlir"][..], &flags].concat());
    let arena = |summary: &Value| summary["functions"][0]["plan"]["arena"].as_i64().expect("bytes");
    let prices = with["functions"][0]["prices"].as_array().expect("a list");
    assert_eq!(prices.len(), flags.len());
    for (at, price) in prices.iter().enumerate() {
        let mut rest = flags.to_vec();
        let left_out = rest.remove(at);
        let without = json(folder.path(), &[&["plan", "in.mlir"][..], &rest].concat());
        let (found, real) = (price["bytes"].as_i64().expect("bytes"), arena(&with) - arena(&without));
        match price["exact"].as_bool() {
            Some(true) => assert_eq!(found, real, "{left_out}"),
            Some(false) => assert!(found <= real.max(0), "{left_out}: {found} > {real}"),
            None => panic!("{price}"),
        }
    }
}

/// All runs for prices together get a part of the effort that one plan has: counted, not timed.
#[test]
fn pricing_is_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), hard()).expect("written");
    let mut args: Vec<String> = ["plan", "in.mlir", "--summary=json"].map(str::to_owned).into();
    args.extend((0..18).step_by(2).map(|at| format!("--keep=%v{at}")));
    args.extend((1..18).step_by(2).map(|at| format!("--pin=%v{at}@{}", 8192 * at)));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (code, out, err) = neap(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
    let summary: Value = serde_json::from_str(&out).expect("JSON");
    let prices = summary["functions"][0]["prices"].as_array().expect("a list");
    assert_eq!(prices.len(), 16, "of 18 flags the first 16 are priced");
    assert_eq!(summary["functions"][0]["unpriced"], 2, "and the others are counted");
    assert!(prices.iter().all(|price| price["bytes"].as_i64() >= Some(0)), "{prices:?}");
}

/// Without the flag there is no plan that fits, so that there is no price: that is no failure of the run.
#[test]
fn what_fits_only_with_the_flag_has_no_price() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "func.func @main(%x: tensor<1000xi8>) -> tensor<8xi8> {
  %y = \"neap.opaque\"(%x) : (tensor<1000xi8>) -> tensor<8xi8>
  return %y : tensor<8xi8>
}
";
    fs::write(folder.path().join("in.mlir"), text).expect("written");
    let summary = json(folder.path(), &["plan", "in.mlir", "--arena=sram=100", "--external=%x"]);
    assert_eq!(summary["functions"][0]["plan"]["arena"], 8);
    assert_eq!(summary["functions"][0]["prices"], Value::Array(Vec::new()));
    assert_eq!(summary["functions"][0]["unpriced"], 1);
}

#[test]
fn what_buckets_hold_has_a_price() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "func.func @main(%x: tensor<?xi8> {neap.dims = [\"N\"]}) -> tensor<8xi8> {
  %y = \"neap.opaque\"(%x) : (tensor<?xi8>) -> tensor<8xi8>
  %z = \"neap.opaque\"(%y) : (tensor<8xi8>) -> tensor<8xi8>
  return %z : tensor<8xi8>
}
";
    fs::write(folder.path().join("in.mlir"), text).expect("written");
    let summary = json(folder.path(), &["plan", "in.mlir", "--buckets=N=4,64", "--keep=%y"]);
    assert_eq!(summary["functions"][0]["prices"][0]["bytes"], 0);
}

#[test]
fn what_is_left_out_is_said_everywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "func.func @main(%x: tensor<?xi8>) -> tensor<8xi8> {
  %y = \"neap.opaque\"(%x) : (tensor<?xi8>) -> tensor<?xi8>
  %z = \"neap.opaque\"(%y) : (tensor<?xi8>) -> tensor<8xi8>
  return %z : tensor<8xi8>
}
";
    fs::write(folder.path().join("in.mlir"), text).expect("written");
    let args = ["plan", "in.mlir", "--exclude-dynamic"];
    let summary = json(folder.path(), &args);
    assert_eq!(summary["not_included"][0], "2 values of no known size");
    assert_eq!(summary["functions"][0]["excluded"], serde_json::json!(["%x", "%y"]));
    let (code, out, err) = neap(folder.path(), &args);
    assert_eq!(code, 0, "{err}");
    let besides = out.lines().find(|line| line.contains("besides")).expect("a line");
    assert!(besides.contains("not included: 2 values of no known size") && !besides.contains("nothing"), "{out}");
    let arena = out.lines().find(|line| line.contains("arena")).expect("a line");
    assert!(arena.contains("8 B for what has a known size") && !arena.contains('%'), "{out}");
    assert!(out.contains("left out") && out.contains("and 1 more"), "{out}");
    // With sizes for all there is nothing to say.
    let (_, out, _) = neap(folder.path(), &["plan", "in.mlir", "--exclude-dynamic", "--dim=x.0=8", "--dim=y.0=8"]);
    assert!(out.contains("nothing: all bytes of a run") && !out.contains("left out"), "{out}");
}

/// An order of which the runtime's own packer makes more: no search finds a better one.
#[test]
fn a_longer_search_is_advised_where_it_may_help() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "func.func @main(%x: tensor<320xi8>) -> tensor<64xi8> {
  %v0 = \"neap.opaque\"(%x) : (tensor<320xi8>) -> tensor<512xi8>
  %v1 = \"neap.opaque\"(%v0) : (tensor<512xi8>) -> tensor<64xi8>
  %v2 = \"neap.opaque\"(%x, %v0) : (tensor<320xi8>, tensor<512xi8>) -> tensor<576xi8>
  %v3 = \"neap.opaque\"(%v0, %x) : (tensor<512xi8>, tensor<320xi8>) -> tensor<512xi8>
  %v4 = \"neap.opaque\"(%v3) : (tensor<512xi8>) -> tensor<320xi8>
  %v5 = \"neap.opaque\"(%v4) : (tensor<320xi8>) -> tensor<320xi8>
  %z = \"neap.opaque\"(%v1, %v2, %v5) : (tensor<64xi8>, tensor<576xi8>, tensor<320xi8>) -> tensor<64xi8>
  return %z : tensor<64xi8>
}
";
    fs::write(folder.path().join("in.mlir"), text).expect("written");
    let plan = &json(folder.path(), &["plan", "in.mlir", "--profile=tflite"])["functions"][0]["plan"];
    assert_eq!((&plan["order_proof"], &plan["search_end"]), (&"gap".into(), &"done".into()));
    assert!(plan["least_peak"].as_u64() < plan["peak"].as_u64(), "{plan}");
    let said = |args: &[&str]| neap(folder.path(), &[&["plan", "in.mlir"], args].concat()).1;
    let out = said(&["--profile=tflite"]);
    assert!(out.contains("a longer search does not help") && out.contains("peak is 1,792 B"), "{out}");
    // That order is there for a runtime that takes offsets.
    let own = &json(folder.path(), &["plan", "in.mlir"])["functions"][0]["plan"];
    assert!(own["least_peak"].is_null() && own["order_proof"] == "optimal", "{own}");
    // A search that is cut short says so, one that is over does not.
    let with = |options: &str| {
        let pipeline = format!("--pass-pipeline=lock-effects,reorder{{{options}}},assign-offsets");
        said(&["--profile=none", &pipeline])
    };
    fs::write(folder.path().join("in.mlir"), hard()).expect("written");
    let out = with("order=input");
    assert!(out.contains("a longer one finds the same"), "{out}");
    let summary = json(folder.path(), &["plan", "in.mlir", "--budget=1M"]);
    assert_eq!(summary["functions"][0]["plan"]["search_end"], "budget");
    assert!(said(&["--budget=1M"]).contains("without --budget it goes on"));
}
