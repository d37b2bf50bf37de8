//! Computing values again, as a user asks for it: the budget is met at the price that was told, or it is said why not.

mod program;

use program::neap;
use serde_json::Value;
use std::path::Path;

/// `up` is large and cheap, and waits while `c` needs two more of its size.
const SKIP: &str = "func.func @main(%x: tensor<100xi8>) -> tensor<1000xi8> {
  %up = \"neap.opaque\"(%x) {kind = \"up\"} : (tensor<100xi8>) -> tensor<1000xi8>
  %b = \"neap.opaque\"(%up) {kind = \"b\"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %c = \"neap.opaque\"(%b) {kind = \"c\"} : (tensor<1000xi8>) -> tensor<1000xi8>
  %d = \"neap.opaque\"(%c) {kind = \"d\"} : (tensor<1000xi8>) -> tensor<10xi8>
  %y = \"neap.opaque\"(%up, %d) {kind = \"y\"} : (tensor<1000xi8>, tensor<10xi8>) -> tensor<1000xi8>
  return %y : tensor<1000xi8>
}
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("skip.mlir"), SKIP).expect("it can be written");
    folder
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let (code, out, err) = neap(folder, args);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).expect("JSON")
}

#[test]
fn a_budget_is_met_at_a_price() {
    let folder = folder();
    let asked = ["plan", "skip.mlir", "--budget", "2100", "--rematerialize"];
    assert_eq!(neap(folder.path(), &asked[..4]).0, 3);
    let summary = json(folder.path(), &[&asked[..], &["--summary=json", "-o", "plan.mlir"]].concat());
    let function = &summary["functions"][0];
    assert_eq!((&summary["check"], &function["plan"]["arena"]), (&Value::from("passed"), &Value::from(2100)));
    let again = &function["recomputed"];
    assert_eq!(again["unit"], "arithmetic operations");
    assert_eq!((again["work"].as_u64(), again["extra"].as_u64()), (Some(5000), Some(1000)));
    let value = &again["values"][0];
    assert_eq!((&value["value"], &value["bytes"], &value["ops"]), (&"%up".into(), &1000.into(), &1.into()));
    assert_eq!((&value["before"], &value["after"]), (&3000.into(), &2100.into()));
    let saved: i64 = function["saved"].as_object().expect("parts").values().filter_map(Value::as_i64).sum();
    assert_eq!(saved, function["source"]["peak"].as_i64().expect("a peak") - 2100);
    assert_eq!(function["saved"]["recompute"], 900);
    let (code, out, err) = neap(folder.path(), &asked);
    assert!(code == 0 && out.lines().count() <= 12, "{err}");
    assert!(out.contains("again     %up (1,000 B) computed again: 1,000 arithmetic operations more, 20.0 %"), "{out}");
    // The plan is judged from its text like any other, and what runs again says so.
    let (code, _, err) = neap(folder.path(), &["check", "skip.mlir", "plan.mlir"]);
    assert_eq!(code, 0, "{err}");
    let plan = std::fs::read_to_string(folder.path().join("plan.mlir")).expect("it was written");
    assert!(plan.contains("%up_again = ") && plan.contains("neap.recomputed = 1"), "{plan}");
    // A plan of a plan: the copies are operations of the graph now.
    assert_eq!(json(folder.path(), &["plan", "plan.mlir", "--summary=json"])["functions"][0]["plan"]["arena"], 2100);
}

#[test]
fn every_writer_of_plans_has_the_operations_that_run_again() {
    let folder = folder();
    let asked = ["plan", "skip.mlir", "--budget", "2100", "--rematerialize"];
    let outputs = ["-o", "p.csv", "-o", "p.json", "-o", "p.h", "-o", "p.html", "-o", "p.svg", "-o", "p.trace.json"];
    let (code, _, err) = neap(folder.path(), &[&asked[..], &outputs[..]].concat());
    assert_eq!(code, 0, "{err}");
    for file in outputs.iter().filter(|file| file.starts_with('p')) {
        let text = std::fs::read_to_string(folder.path().join(file)).expect("it was written");
        assert!(text.to_lowercase().contains("up_again"), "{file}");
    }
}

#[test]
fn what_need_not_be_is_not_computed_again() {
    let folder = folder();
    let summary = json(folder.path(), &["plan", "skip.mlir", "--budget", "3000", "--rematerialize", "--summary=json"]);
    assert_eq!(summary["functions"][0]["recomputed"]["values"], Value::Array(Vec::new()));
    assert_eq!(summary["functions"][0]["plan"]["arena"], 3000);
    // A runtime that makes equal operations one has nothing from it.
    let (code, _, _) =
        neap(folder.path(), &["plan", "skip.mlir", "--budget", "1500", "--rematerialize", "--profile", "ort"]);
    assert_eq!(code, 3);
    // Not without a budget, not for one arena of several, and not beside passes of one's own.
    for args in [
        &["plan", "skip.mlir", "--rematerialize"][..],
        &["plan", "skip.mlir", "--rematerialize", "--budget", "@arena=2100"],
        &["plan", "skip.mlir", "--rematerialize", "--budget", "2100", "--pass-pipeline", "reorder,assign-offsets"],
        &["plan", "skip.mlir", "skip.mlir", "--share-arena", "--rematerialize", "--budget", "2100"],
    ] {
        let (code, out, err) = neap(folder.path(), args);
        assert!(code == 2 && out.is_empty() && err.contains("rematerialize"), "{args:?}: {err}");
    }
}

#[test]
fn each_gain_is_that_of_what_brought_it() {
    // Three wide values first, which the given order holds at once: it hides what stands behind, and another order alone is worth much.
    let wide = |at: usize| {
        format!("  %w{at} = \"neap.opaque\"(%x) {{kind = \"w{at}\"}} : (tensor<100xi8>) -> tensor<1500xi8>\n")
    };
    let narrow = |at: usize| {
        format!("  %n{at} = \"neap.opaque\"(%w{at}) {{kind = \"n{at}\"}} : (tensor<1500xi8>) -> tensor<1xi8>\n")
    };
    let first: String = (0..3).map(wide).chain((0..3).map(narrow)).collect();
    let text =
        SKIP.replace("  %up =", &format!("{first}  %up =")).replace("(%up, %d)", "(%up, %d, %n0, %n1, %n2)").replace(
            "tensor<10xi8>) -> tensor<1000xi8>",
            "tensor<10xi8>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1000xi8>",
        );
    let folder = folder();
    std::fs::write(folder.path().join("wide.mlir"), text).expect("it can be written");
    let saved = |args: &[&str]| {
        let function = json(folder.path(), &[args, &["--summary=json"]].concat())["functions"][0].clone();
        let parts = function["saved"].as_object().expect("parts").clone();
        let sum: i64 = parts.values().filter_map(Value::as_i64).sum();
        let bytes = |value: &Value| value.as_i64().expect("bytes");
        assert_eq!(sum, bytes(&function["source"]["peak"]) - bytes(&function["plan"]["arena"]), "{args:?}");
        [&parts["order"], &parts["recompute"]].map(bytes)
    };
    let [alone, none] = saved(&["plan", "wide.mlir"]);
    assert!(alone > 1000 && none == 0, "{alone} {none}");
    let [order, again] = saved(&["plan", "wide.mlir", "--budget", "2200", "--rematerialize"]);
    assert!(order == alone && again > 800, "{order} of {alone}, {again}");
    // Where no order is chosen behind it, an order brings nothing.
    let passes = "--pass-pipeline=rematerialize{budget=2100},assign-offsets";
    assert_eq!(saved(&["plan", "skip.mlir", passes]), [0, 900]);
}

#[test]
fn the_pass_says_its_budget_itself() {
    let folder = folder();
    let run = |remat: &str, more: &[&str]| {
        let args = ["opt", "skip.mlir", remat, "--lock-effects", "--reorder", "--assign-offsets", "--summary=json"];
        neap(folder.path(), &[&args[..], more].concat())
    };
    // Its own budget, none at all, and one of the flag all make it compute again.
    for (remat, more) in
        [("--rematerialize=budget=2100", &[][..]), ("--rematerialize", &[]), ("--rematerialize", &["--budget", "2100"])]
    {
        let (code, out, err) = run(remat, more);
        assert!(code == 0 && out.contains("neap.recomputed"), "{remat} {more:?}: {code} {err}");
    }
    for (remat, more, said) in [
        ("--rematerialize=budget=", &[][..], "option `budget` has no value in `budget=`"),
        ("--rematerialize=budget=x", &[], "option `budget` of pass `rematerialize` cannot be `x`"),
        ("--rematerialize", &["--budget", "@arena=2100"], "needs a `--budget SIZE` of the whole"),
    ] {
        let (code, out, err) = run(remat, more);
        assert!(code == 2 && out.is_empty() && err.contains(said), "{remat} {more:?}: {code} {err}");
    }
}

#[test]
fn a_model_file_has_each_operator_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tflite/tflm_keyword_scrambled_8bit.tflite");
    let model = shared.to_str().expect("text");
    let (code, _, err) = neap(folder.path(), &["plan", model, "-o", "plan.mlir"]);
    assert_eq!(code, 0, "{err}");
    // As if the first operator ran twice.
    let path = folder.path().join("plan.mlir");
    let text = std::fs::read_to_string(&path).expect("it was written");
    let at = text.find("neap.names = [").expect("operators have names");
    std::fs::write(&path, format!("{}neap.recomputed = 1 : i64, {}", &text[..at], &text[at..]))
        .expect("it can be written");
    let (code, _, err) = neap(folder.path(), &["emit", "plan.mlir", "--template", model, "-o", "out.tflite"]);
    assert!(
        code == 1 && err.contains("runs once more in the plan") && err.contains("without `rematerialize`"),
        "{code} {err}"
    );
    assert!(!folder.path().join("out.tflite").exists());
}

/// What a run that misses its budget says would help, as JSON.
fn missed(folder: &Path, args: &[&str]) -> Value {
    let (code, out, err) = neap(folder, args);
    assert_eq!(code, 3, "{err}");
    serde_json::from_str(&out).expect("JSON")
}

fn helps<'v>(summary: &'v Value, kind: &str) -> Vec<&'v Value> {
    let helps = summary["missed"][0]["helps"].as_array().expect("a list");
    helps.iter().filter(|help| help["kind"] == kind).collect()
}

#[test]
fn what_is_foretold_is_what_comes() {
    let folder = folder();
    let summary = missed(folder.path(), &["plan", "skip.mlir", "--budget", "2100", "--summary=json"]);
    let found = &summary["missed"][0];
    assert_eq!((&found["answer"], &found["needed"], &found["missing"]), (&"cannot".into(), &3000.into(), &900.into()));
    let [all] = helps(&summary, "recompute")[..] else { panic!("{found}") };
    assert_eq!((&all["saves"], &all["needs"], &all["fits"]), (&900.into(), &2100.into(), &true.into()));
    assert_eq!((&all["price"], &all["unit"]), (&1000.into(), &"arithmetic operations".into()));
    let real = json(folder.path(), &["plan", "skip.mlir", "--budget", "2100", "--rematerialize", "--summary=json"]);
    assert_eq!(real["functions"][0]["plan"]["arena"], all["needs"]);
    assert_eq!(real["functions"][0]["recomputed"]["extra"], all["price"]);
    // The same in words, behind the proof.
    let (_, out, err) = neap(folder.path(), &["plan", "skip.mlir", "--budget", "2100"]);
    assert!(
        out.is_empty() && err.contains("no plan can fit: floor 3000 > 2100 bytes available (short by 900)"),
        "{err}"
    );
    let told =
        "computing values again fits: 2,100 B with `--rematerialize`, for 1,000 arithmetic operations more (20.0 %)";
    let one = "would help: %up (1,000 B) again before neap.opaque (%y): 900 B less for 1,000 arithmetic operations, 2,100 B then, which fits";
    let places: Vec<Option<usize>> = ["proved infeasible", told, one].iter().map(|part| err.find(part)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{err}");
    // In a file as well, also with `opt`, whose error stream people read.
    for verb in ["plan", "opt"] {
        let args = [verb, "skip.mlir", "--budget", "2100", "--summary=json", "--summary-file", "s.json"];
        assert_eq!(neap(folder.path(), &args).0, 3);
        let text = std::fs::read_to_string(folder.path().join("s.json")).expect("it was written");
        let file: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(file["missed"], summary["missed"], "{verb}");
        std::fs::remove_file(folder.path().join("s.json")).expect("it is there");
    }
}

#[test]
fn what_cannot_be_reached_is_said_with_the_operation_that_forbids_it() {
    let folder = folder();
    let args = ["plan", "skip.mlir", "--budget", "1999"];
    let (code, _, err) = neap(folder.path(), &args);
    let least = "computing values again does not reach it: the least found is 2,100 B, for 1,000 arithmetic operations more (20.0 %); \
                 neap.opaque (%y) holds 2,010 B by itself, whatever is computed again";
    assert!(code == 3 && err.contains(least), "{err}");
    let (_, _, err) = neap(folder.path(), &[&args[..], &["--rematerialize"]].concat());
    assert!(err.contains(least) && err.contains("no plan can fit: floor 2100 > 1999"), "{err}");
    // A runtime under which it would be to no purpose.
    let (_, _, err) = neap(folder.path(), &[&args[..], &["--profile", "ort"]].concat());
    assert!(!err.contains("computing values again"), "{err}");
}

/// Beside a join, a part that lies in it takes no bytes of its own.
#[test]
fn a_part_beside_its_join_is_not_counted_twice() {
    let folder = folder();
    let graph = r#"func.func @main(%x: tensor<100xi8>) -> tensor<256xi8> {
  %a = "neap.opaque"(%x) {kind = "a"} : (tensor<100xi8>) -> tensor<1000xi8>
  %b = "neap.opaque"(%x) {kind = "b"} : (tensor<100xi8>) -> tensor<1000xi8>
  %j = "tosa.concat"(%a, %b) <{axis = 0 : i32}> : (tensor<1000xi8>, tensor<1000xi8>) -> tensor<2000xi8>
  %y = "neap.opaque"(%a, %j) {kind = "y"} : (tensor<1000xi8>, tensor<2000xi8>) -> tensor<256xi8>
  return %y : tensor<256xi8>
}
"#;
    std::fs::write(folder.path().join("join.mlir"), graph).expect("it can be written");
    let (code, _, err) = neap(folder.path(), &["plan", "join.mlir", "--budget", "2100"]);
    let own = "neap.opaque (%y) holds 2,256 B by itself, whatever is computed again";
    assert!(code == 3 && err.contains("floor 2256 > 2100") && err.contains(own), "{err}");
}

#[test]
fn other_things_that_help_have_their_price() {
    let folder = folder();
    // A kept value and a lock edge in the graph, a flag.
    let kept = SKIP.replace("{kind = \"b\"}", "{kind = \"b\", neap.keep}");
    std::fs::write(folder.path().join("kept.mlir"), kept).expect("it can be written");
    let summary = missed(folder.path(), &["plan", "kept.mlir", "--budget", "2500", "--summary=json"]);
    let found = helps(&summary, "kept");
    assert!(found.iter().any(|help| help["what"] == "give up that %b is kept to the end"), "{summary}");
    let (_, _, err) = neap(folder.path(), &["plan", "kept.mlir", "--budget", "2500"]);
    assert!(err.contains("would help: give up that %b is kept to the end: at least "), "{err}");
    let flag = missed(folder.path(), &["plan", "skip.mlir", "--keep", "%b", "--budget", "2500", "--summary=json"]);
    let [one] = helps(&flag, "flag")[..] else { panic!("{}", flag["missed"]) };
    let without = json(folder.path(), &["plan", "skip.mlir", "--summary=json"]);
    let less = |summary: &Value| summary["functions"][0]["plan"]["arena"].as_u64().expect("bytes");
    assert_eq!(one["what"], "give up --keep %b");
    assert_eq!(one["saves"].as_u64(), Some(less(&flag) - less(&without)));
    // Where nothing shares bytes, each value is kept by that flag alone; and a result is the caller's, whom nobody can ask to give it up.
    let own = missed(folder.path(), &["plan", "skip.mlir", "--no-reuse", "--budget", "2500", "--summary=json"]);
    let [one] = helps(&own, "flag")[..] else { panic!("{}", own["missed"]) };
    assert_eq!((&one["what"], one["needs"].as_u64()), (&"give up --no-reuse".into(), Some(less(&without))));
    assert!(helps(&own, "kept").is_empty(), "{}", own["missed"]);
    let results = SKIP.replace("return %y : tensor<1000xi8>", "return %y, %b : tensor<1000xi8>, tensor<1000xi8>");
    let results = results.replace("-> tensor<1000xi8> {", "-> (tensor<1000xi8>, tensor<1000xi8>) {");
    std::fs::write(folder.path().join("results.mlir"), results).expect("it can be written");
    let summary = missed(folder.path(), &["plan", "results.mlir", "--budget", "2500", "--summary=json"]);
    assert!(helps(&summary, "kept").is_empty(), "{summary}");
    // An argument that waits for its last reader could lie in the caller's memory.
    let waits = SKIP
        .replace("(%up, %d)", "(%up, %x, %d)")
        .replace("(tensor<1000xi8>, tensor<10xi8>)", "(tensor<1000xi8>, tensor<100xi8>, tensor<10xi8>)");
    std::fs::write(folder.path().join("waits.mlir"), waits).expect("it can be written");
    let summary = missed(folder.path(), &["plan", "waits.mlir", "--budget", "2500", "--summary=json"]);
    let outside = helps(&summary, "external");
    let other = json(folder.path(), &["plan", "waits.mlir", "--external", "%x", "--summary=json"]);
    assert!(
        outside.iter().any(|help| help["what"] == "leave %x to the caller with `--external %x`"
            && help["needs"].as_u64() == Some(less(&other))
            && help["saves"] == 100),
        "{summary}"
    );
    // Two arenas: what is moved makes room in one, and takes it in the other.
    let arenas = ["--arena", "fast=4KiB", "--arena", "slow=8KiB"];
    let two = [&["plan", "skip.mlir"][..], &arenas, &["--budget", "@fast=2500", "--summary=json"]].concat();
    let summary = missed(folder.path(), &two);
    let moved = helps(&summary, "other-arena");
    let first = moved.first().expect("something can be moved");
    assert_eq!(
        (&first["needs"], &first["fits"], &first["unit"]),
        (&2000.into(), &true.into(), &"B more in @slow".into())
    );
    assert_eq!(first["price"], 1000);
    // Smaller elements are another model: an estimate, and said to be one.
    std::fs::write(folder.path().join("float.mlir"), SKIP.replace("xi8>", "xf32>")).expect("it can be written");
    let summary = missed(folder.path(), &["plan", "float.mlir", "--budget", "7000", "--summary=json"]);
    let estimates = helps(&summary, "element-type");
    assert!(estimates.len() == 2 && estimates.iter().all(|help| help["estimate"] == true), "{summary}");
    assert_eq!(estimates[0]["saves"], 6000);
}
