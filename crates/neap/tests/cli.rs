//! The program as a user meets it: exit codes, streams, files that are whole or not there, and what it says when something is wrong.

#[path = "program/input.rs"]
mod input;

use input::{GOOD, neap_in, program};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

const NEAP: &str = env!("CARGO_BIN_EXE_neap");

/// A run in an empty folder with `in.mlir` in it, and what it said.
fn neap(args: &[&str], input: &str) -> (i32, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    neap_in(folder.path(), args, input)
}

#[test]
fn opt_prints_the_plan_and_says_the_rest_elsewhere() {
    for file in ["-", "in.mlir"] {
        let (code, out, err) = neap(&["opt", file], GOOD);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("neap.offsets") && out.starts_with("module"), "{out}");
        assert!(err.contains("checked") && !err.contains("neap.offsets"), "{err}");
        assert!(err.lines().count() <= 12, "{err}");
    }
}

#[test]
fn plan_prints_the_summary_and_writes_by_extension() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, out, err) =
        neap_in(folder.path(), &["plan", "in.mlir", "-o", "o.mlir", "-o", "o.json", "-o", "o.csv"], GOOD);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("arena") && out.lines().count() <= 12, "{out}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
    assert!(read("o.mlir").contains("neap.offsets"));
    assert!(read("o.csv").starts_with("id,lower,upper,size,offset,"));
    assert!(serde_json::from_str::<Value>(&read("o.json")).is_ok());
    let (code, _, err) = neap_in(folder.path(), &["plan", "in.mlir", "-o", "o.pdf"], GOOD);
    assert!(code == 2 && err.contains("mlir, json, csv"), "{err}");
    // A name without an extension is text, as on the standard output; what is no file stays what it is.
    let (code, _, err) = neap_in(folder.path(), &["plan", "in.mlir", "-o", "plan", "-o", "/dev/null"], GOOD);
    assert_eq!((code, err.as_str(), read("plan")), (0, "", read("o.mlir")));
    assert!(!std::fs::metadata("/dev/null").expect("it is there").is_file());
}

/// Passes in runs of their own: what one leaves carries the graph that the first one began with, and the plan is one of that.
#[test]
fn passes_one_by_one_make_a_plan_of_the_first_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let passes = ["--fuse", "--canonicalize-views", "--lock-effects", "--reorder", "--assign-offsets"];
    for (at, pass) in passes.into_iter().enumerate() {
        let (from, to) =
            (if at == 0 { "in.mlir".to_owned() } else { format!("{}.mlir", at - 1) }, format!("{at}.mlir"));
        let (code, _, err) = neap_in(folder.path(), &["opt", &from, pass, "-o", &to, "--summary=none"], TWICE);
        assert_eq!(code, 0, "{pass}: {err}");
    }
    let (code, out, err) = neap_in(folder.path(), &["check", "in.mlir", "4.mlir"], TWICE);
    assert!(code == 0 && out.contains("accepted"), "{out}{err}");
    // Offsets are for one order.
    let (code, _, err) = neap_in(folder.path(), &["opt", "4.mlir", "--reorder"], TWICE);
    assert!(code == 2 && err.contains("offsets are for the order") && err.contains("strip-plan"), "{err}");
    let (code, _, err) = neap_in(folder.path(), &["opt", "4.mlir", "--reorder", "--assign-offsets"], TWICE);
    assert_eq!(code, 0, "{err}");
}

/// A reshape twice, which fusion makes one.
const TWICE: &str = r#"func.func @main(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %a = "tosa.tanh"(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %b = "onnx.Identity"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %c = "onnx.Flatten"(%b) {axis = 0 : si64} : (tensor<4x6xf32>) -> tensor<1x24xf32>
  %d = "onnx.Squeeze"(%c) : (tensor<1x24xf32>) -> tensor<24xf32>
  return %d : tensor<24xf32>
}
"#;

#[test]
fn json_is_all_that_its_stream_carries_and_its_parts_add_up() {
    let (code, out, err) = neap(&["opt", "-", "--summary=json", "--mlir-timing", "--mlir-pass-statistics"], GOOD);
    assert_eq!(code, 0);
    assert!(out.contains("neap.offsets"));
    let summary: Value = serde_json::from_str(&err).unwrap_or_else(|error| panic!("{error}\n{err}"));
    assert_eq!((summary["version"].as_u64(), summary["check"].as_str()), (Some(1), Some("passed")));
    let main = &summary["functions"][0];
    let saved: i64 = main["saved"].as_object().expect("parts").values().filter_map(Value::as_i64).sum();
    assert_eq!(saved, main["source"]["peak"].as_i64().unwrap() - main["plan"]["arena"].as_i64().unwrap());
    let id = |value: &Value| value.as_u64().unwrap() as usize;
    let held = main["peak_step"]["storages"].as_array().expect("ids").iter().map(id);
    let bytes: u64 = held.map(|id| main["storages"][id]["size"].as_u64().unwrap()).sum();
    assert_eq!(bytes, main["plan"]["peak"].as_u64().unwrap());
}

#[test]
fn wrong_input_is_1_with_the_place_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = GOOD.replace("%a, %b)", "%a, %nothing)");
    let (code, out, err) = neap_in(folder.path(), &["opt", "in.mlir", "-o", "out.mlir"], &bad);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("in.mlir:4:") && err.contains("nothing"), "{err}");
    assert!(!folder.path().join("out.mlir").exists());
    assert_eq!(neap(&["plan", "missing.mlir"], GOOD).0, 1);
    assert_eq!(neap(&["opt", "-"], "\u{0}\u{1}binary").0, 1);
    assert_eq!(neap(&["opt", "-"], "").0, 0, "an empty module is a module");
}

#[test]
fn usage_is_2_and_suggests() {
    for (args, says) in [
        (&["opt", "-", "--reoder"][..], "--reorder"),
        (&["opt", "-", "--pass-pipeline=reoder"], "did you mean `reorder`?"),
        (&["opt", "-", "--keep=frist"], "did you mean `first`?"),
        (&["opt", "-", "--profile=tflit"], "did you mean `tflite`?"),
        (&["opt", "-", "--arena=s=1KB"], "write `KiB`"),
        (&["opt", "-", "--external=%a"], "neither an argument nor a result"),
        (&["plan"], "FILE"),
        (&[], "Usage"),
    ] {
        let (code, out, err) = neap(args, GOOD);
        assert!(code == 2 && out.is_empty() && err.contains(says), "{args:?}: {code}\n{err}");
    }
    let (code, out, err) = neap(&["--version"], "");
    assert!(code == 0 && out.starts_with("neap ") && err.is_empty());
}

#[test]
fn demands_that_cannot_be_met_are_3() {
    let (code, out, err) = neap(&["plan", "in.mlir", "--budget", "50"], GOOD);
    assert!(code == 3 && out.is_empty() && err.contains("proved infeasible"), "{err}");
    assert_eq!(neap(&["plan", "in.mlir", "--budget", "1KiB"], GOOD).0, 0);
    let (code, out, err) = neap(&["opt", "in.mlir", "--arena", "sram=50"], GOOD);
    assert!(code == 3 && out.is_empty() && err.contains("no plan can fit"), "{code} {err}");
}

/// Of this graph a flow proves 160 bytes, the search 176.
const GAP: &str = "func.func @main(%x: tensor<16xi8>) -> tensor<4xi8> {
  %0 = \"neap.opaque\"(%x) {kind = \"0\"} : (tensor<16xi8>) -> tensor<128xi8>
  %1 = \"neap.opaque\"(%0) {kind = \"1\"} : (tensor<128xi8>) -> tensor<16xi8>
  %2 = \"neap.opaque\"(%x) {kind = \"2\"} : (tensor<16xi8>) -> tensor<48xi8>
  %3 = \"neap.opaque\"(%0) {kind = \"3\"} : (tensor<128xi8>) -> tensor<16xi8>
  %4 = \"neap.opaque\"(%3) {kind = \"4\"} : (tensor<16xi8>) -> tensor<80xi8>
  %5 = \"neap.opaque\"(%1, %2, %4) {kind = \"5\"} : (tensor<16xi8>, tensor<48xi8>, tensor<80xi8>) -> tensor<4xi8>
  return %5 : tensor<4xi8>
}
";

#[test]
fn a_budget_is_kept_or_cannot_be_or_is_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |args: &[&str]| neap_in(folder.path(), args, GAP);
    // Enough: the search ends before it has begun.
    let stats = ["opt", "in.mlir", "--mlir-pass-statistics", "--budget"];
    let nodes = |err: &str| {
        let line = err.lines().find(|line| line.ends_with("  nodes")).expect("counted");
        line.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).expect("a number")
    };
    let (code, _, err) = run(&[&stats[..], &["1K"]].concat());
    let easy = nodes(&err);
    assert_eq!(code, 0);
    let (code, _, err) = run(&[&stats[..], &["176"]].concat());
    assert!(code == 0 && nodes(&err) >= easy, "{err}");
    // Proved by a flow: the op, what coexists there, what is missing; and the proof in a file, for whoever adds it up.
    let (code, out, err) = run(&["plan", "in.mlir", "--budget", "150", "--certificate", "proof.json"]);
    assert!(code == 3 && out.is_empty(), "{err}");
    for says in [
        "floor 160 > 150 bytes available (short by 10)",
        "(certified): in every order",
        "these are held: ",
        "proof.json",
    ] {
        assert!(err.contains(says), "{says}: {err}");
    }
    let pipeline = err.split('\'').nth(1).expect("the pipeline is quoted").to_owned();
    let (code, planned, err) = run(&["opt", "in.mlir", &format!("--pass-pipeline={pipeline}")]);
    std::fs::write(folder.path().join("planned.mlir"), planned).expect("written");
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = run(&["check", "in.mlir", "planned.mlir", "--certificate", "proof.json"]);
    assert!(
        code == 0 && out.contains("the certificate holds: no order of the planned graph needs less than 160 B"),
        "{err}"
    );
    // Proved by search.
    let (code, _, err) = run(&["plan", "in.mlir", "--budget", "175"]);
    assert!(code == 3 && err.contains("floor 176 > 175") && err.contains("proved infeasible (by search)"), "{err}");
    // Neither.
    let passes = ["--fuse", "--canonicalize-views", "--lock-effects", "--reorder=effort=0", "--assign-offsets"];
    let (code, _, err) = run(&[&["opt", "in.mlir", "--budget", "170"], &passes[..]].concat());
    assert!(code == 3 && err.contains("not found: the floor is 160 B, 16 B below this plan"), "{err}");
}

#[test]
fn a_budget_that_a_freer_target_keeps_says_so() {
    let text = "func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %a = \"tfl.exp\"(%x) : (tensor<64xi8>) -> tensor<64xi8>
  %b = \"tfl.reshape\"(%a) : (tensor<64xi8>) -> tensor<64xi8>
  %y = \"tfl.exp\"(%b) : (tensor<64xi8>) -> tensor<64xi8>
  return %y : tensor<64xi8>
}
";
    let run = |more: &[&str]| neap(&[&["plan", "in.mlir", "--budget", "100"][..], more].concat(), text);
    assert_eq!(run(&[]).0, 0);
    let (code, out, err) = run(&["--profile", "ort"]);
    let says = "a target where every kind of sharing is possible, `--profile none`: 64 B less, 64 B then, which fits";
    assert!(code == 3 && out.is_empty() && err.contains(says), "{err}");
    let (code, out, _) = run(&["--profile", "ort", "--summary=json"]);
    assert!(code == 3 && out.contains("\"freer\": 64"), "{out}");
}

#[test]
fn remarks_price_lock_edges_and_kept_values() {
    let text = "\"neap.var\"() {sym_name = \"v\", type = tensor<128xi8>} : () -> ()
func.func @main(%x: tensor<64xi8>) -> tensor<128xi8> {
  %r = \"neap.read\"() {var = @v} : () -> tensor<128xi8>
  %a = \"neap.opaque\"(%x) : (tensor<64xi8>) -> tensor<128xi8>
  \"neap.write\"(%a) {var = @v} : (tensor<128xi8>) -> ()
  return %r : tensor<128xi8>
}
";
    let (code, _, err) = neap(&["plan", "in.mlir", "--remarks"], text);
    assert_eq!(code, 0, "{err}");
    for says in [
        "the peak of 256 bytes is at step 1, `neap.read` (%r#0): %r#0 (128 bytes, kept), %a (128 bytes, needed by `neap.write`)",
        "that %r#0 is kept to the end costs 64 bytes: without it the peak would be 192",
        "that `neap.read` (%r#0) runs before `neap.write` costs 64 bytes: without it the peak would be 192",
    ] {
        assert!(err.contains(says), "{says}: {err}");
    }
    // Without the variable nothing waits, and what is read by the reader is no lock.
    let free = text.replace("{var = @v}", "").replace("neap.read", "t.make").replace("neap.write", "t.take");
    let (_, _, err) = neap(&["plan", "in.mlir", "--remarks", "--assume-pure", "t"], &free);
    assert!(err.contains("the peak of ") && !err.contains("runs before"), "{err}");
}

#[test]
fn cycles_give_a_makespan_and_a_weight_trades_bytes_for_it() {
    let mut text = String::from("func.func @main() -> tensor<4xi8> {\n");
    for at in 0..4 {
        text += &format!(
            "  %l{at} = \"neap.opaque\"() {{kind = \"l{at}\", neap.cycles = 10 : i64, neap.pipe = \"load\"}} : () -> tensor<100xi8>\n"
        );
    }
    for at in 0..4 {
        text += &format!(
            "  %c{at} = \"neap.opaque\"(%l{at}) {{kind = \"c{at}\", neap.cycles = 10 : i64, neap.pipe = \"compute\"}} : (tensor<100xi8>) -> tensor<1xi8>\n"
        );
    }
    let one = "tensor<1xi8>";
    text += &format!(
        "  %y = \"neap.opaque\"(%c0, %c1, %c2, %c3) {{neap.cycles = 0 : i64}} : ({one}, {one}, {one}, {one}) -> tensor<4xi8>\n  return %y : tensor<4xi8>\n}}\n"
    );
    let plan = |weight: &str, text: &str| {
        let pipeline = format!(
            "--pass-pipeline=fuse,canonicalize-views,lock-effects,reorder{{latency-weight={weight}}},assign-offsets"
        );
        let (code, out, err) = neap(&["plan", "in.mlir", "--summary=json", &pipeline], text);
        assert_eq!(code, 0, "{err}");
        let summary: Value = serde_json::from_str(&out).expect("JSON");
        (summary["functions"][0]["plan"]["peak"].as_u64(), summary["functions"][0]["plan"]["makespan"].as_u64())
    };
    assert_eq!(plan("0", &text), (Some(104), Some(80)), "one after the other");
    let (peak, time) = plan("50", &text);
    assert!(time == Some(50) && peak < Some(400), "{peak:?} {time:?}");
    // One operation that does not say its cycles: no figure, and nothing to trade for.
    let unknown = text.replacen("neap.cycles = 10 : i64, ", "", 8);
    assert_eq!(plan("100", &unknown), (Some(104), None));
}

#[test]
fn check_accepts_a_plan_and_refuses_one_that_was_tampered_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, planned, _) = neap_in(folder.path(), &["opt", "in.mlir"], GOOD);
    let write = |text: &str| std::fs::write(folder.path().join("planned.mlir"), text).expect("written");
    write(&planned);
    let check = ["check", "in.mlir", "planned.mlir"];
    let (code, out, err) = neap_in(folder.path(), &check, GOOD);
    assert!(code == 0 && out.contains("accepted"), "{err}");
    let at = planned.find("neap.offsets = array<i64: 96>").or(planned.find("neap.offsets = array<i64: 64>"));
    let at = at.expect("a result above the argument") + "neap.offsets = array<i64: ".len();
    write(&format!("{}00{}", &planned[..at], &planned[at + 2..]));
    let (code, out, err) = neap_in(folder.path(), &check, GOOD);
    assert!(code == 1 && out.is_empty() && err.contains("error"), "{code}\n{err}");
    // A plan that is only passed through is judged as well, and is someone else's.
    let (code, out, _) = neap_in(folder.path(), &["opt", "planned.mlir", "--pass-pipeline=builtin.module()"], GOOD);
    assert_eq!((code, out.as_str()), (1, ""));
}

#[test]
fn the_input_is_never_changed_and_a_failed_run_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, _, err) = neap_in(folder.path(), &["opt", "in.mlir", "-o", "./in.mlir"], GOOD);
    assert!(code == 2 && err.contains("never changed"), "{err}");
    let (code, _, _) = neap_in(folder.path(), &["plan", "in.mlir", "-o", "a.mlir", "-o", "missing/b.mlir"], GOOD);
    assert_eq!(code, 2);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["in.mlir"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("in.mlir")).unwrap(), GOOD);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let many: String = (0..20_000).map(|at| format!("  %v{at} = \"neap.opaque\"() : () -> tensor<1xi8>\n")).collect();
    let text = format!("func.func @main() {{\n{many}  return\n}}\n");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("in.mlir"), text).expect("written");
    let mut child = Command::new(NEAP)
        .args(["opt", "in.mlir", "--pass-pipeline=builtin.module()"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut first = [0; 10];
    child.stdout.as_mut().expect("piped").read_exact(&mut first).expect("something is printed");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the binary ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn pass_flags_run_in_their_order_with_their_options() {
    let (code, _, err) =
        neap(&["opt", "-", "--reorder=effort=1000", "--dce", "--assign-offsets", "--dump-pass-pipeline"], GOOD);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("builtin.module(func.func(reorder{effort=1000},dce,assign-offsets))"), "{err}");
    let (code, out, _) = neap(&["opt", "--list-passes"], "");
    assert!(code == 0 && out.contains("--reorder") && out.contains("effort") && out.contains("--plan"));
    let (_, _, err) = neap(&["opt", "-", "--mlir-print-ir-after=reorder", "--summary=none"], GOOD);
    assert_eq!(err.matches("IR Dump After reorder").count(), 1, "{err}");
    let (_, _, err) = neap(&["opt", "-", "--mlir-print-ir-before-all", "--summary=none"], GOOD);
    assert_eq!(err.matches("IR Dump Before").count(), 5, "{err}");
}

#[test]
fn parts_of_a_file_are_modules_of_their_own() {
    let two = format!("{GOOD}// -----\n{GOOD}");
    let (code, out, err) = neap(&["opt", "-", "--split-input-file", "--summary=none"], &two);
    assert!(code == 0 && out.matches("// -----").count() == 1 && out.matches("@main").count() == 2, "{err}");
    let bad = format!("{GOOD}// -----\n{}", GOOD.replace("return %c", "return %d"));
    let (code, out, err) = neap(&["opt", "in.mlir", "--split-input-file"], &bad);
    assert!(code == 1 && out.is_empty() && err.contains("in.mlir:12:"), "{err}");
    let expected = bad.replace("  return %d", "  // expected-error @below {{%d}}\n  return %d");
    assert_eq!(neap(&["opt", "-", "--split-input-file", "--verify-diagnostics"], &expected).0, 0);
    assert_eq!(neap(&["opt", "-", "--split-input-file", "--verify-diagnostics"], &bad).0, 1);
}

#[test]
fn a_reproducer_holds_module_and_pipeline() {
    let folder = tempfile::tempdir().expect("a folder");
    let blind = GOOD.replace("tensor<32xi8>", "tensor<?xi8>");
    let flags =
        ["opt", "in.mlir", "--assign-offsets=method=first-fit", "--mlir-pass-pipeline-crash-reproducer=repro.mlir"];
    let (code, _, err) = neap_in(folder.path(), &flags, &blind);
    assert!(code == 1 && err.contains("repro.mlir"), "{err}");
    let (code, _, err) =
        neap_in(folder.path(), &["opt", "repro.mlir", "--run-reproducer", "--dump-pass-pipeline"], GOOD);
    assert!(code == 1 && err.contains("assign-offsets{method=first-fit}"), "{err}");
    assert_eq!(neap(&["opt", "-", "--run-reproducer"], GOOD).0, 1);
}

#[test]
fn flags_become_attributes_of_the_module() {
    let flags = ["opt", "-", "--keep=first", "--pin=%b@128", "--external=%x", "--arena=sram=4KiB:64", "--summary=none"];
    let (code, out, err) = neap(&flags, GOOD);
    assert_eq!(code, 0, "{err}");
    for part in [
        "neap.keep",
        "neap.pin = array<i64: 128>",
        "neap.offsets = array<i64: 128>",
        "neap.io = \"external\"",
        "size = 4096 : i64",
        "neap.arena = @sram",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let blind = GOOD.replace("tensor<32xi8>", "tensor<?xi8>");
    let (code, _, err) = neap(&["opt", "-"], &blind);
    assert!(code == 1 && err.contains("bound"), "{err}");
    let (code, out, err) = neap(&["opt", "-", "--dim=first.0=1..32"], &blind);
    assert!(code == 0 && out.contains("neap.bounds = {dim_first_0 = array<i64: 1, 32>}"), "{out}{err}");
    let (code, _, err) = neap(&["opt", "-", "--exclude-dynamic"], &blind);
    assert!(code == 0 && err.contains("left out"), "{err}");
}

#[test]
fn what_was_not_checked_or_not_known_is_said() {
    let (code, _, err) = neap(&["opt", "-", "--no-check"], GOOD);
    assert!(code == 0 && err.contains("NOT CHECKED"), "{err}");
    let odd = GOOD.replace("\"neap.opaque\"(%a, %b)", "\"odd.op\"(%a, %b)");
    let folder = tempfile::tempdir().expect("a folder");
    let (code, _, err) = neap_in(folder.path(), &["opt", "in.mlir", "--dialect-stub", "odd.toml"], &odd);
    assert!(code == 0 && err.contains("1 x odd.op"), "{err}");
    let (code, _, err) = neap_in(folder.path(), &["opt", "in.mlir", "--dialect", "odd.toml"], &odd);
    assert!(code == 0 && !err.contains("odd.op:"), "{err}");
    let (code, _, err) = neap(&["opt", "-", "--assume-pure=odd"], &odd);
    assert!(code == 0 && !err.contains("1 x odd.op"), "{err}");
}

#[test]
fn nothing_is_shared_when_that_is_asked_for() {
    let (code, _, err) = neap(&["opt", "-", "--no-reuse", "--summary=json"], GOOD);
    assert_eq!(code, 0, "{err}");
    let summary: Value = serde_json::from_str(&err).expect("JSON");
    assert_eq!(summary["functions"][0]["plan"]["arena"].as_u64(), Some(64 + 32 + 16 + 16));
}

#[test]
fn neap_opt_is_neap_opt() {
    let folder = tempfile::tempdir().expect("a folder");
    let short = program(env!("CARGO_BIN_EXE_neap-opt"), folder.path(), &["-", "--summary=none"], GOOD);
    let long = program(NEAP, folder.path(), &["opt", "-", "--summary=none"], GOOD);
    assert_eq!((short.status.code(), short.stdout), (Some(0), long.stdout));
}

#[test]
fn pack_reads_and_writes_tables() {
    let table = "id,lower,upper,size\na,0,2,90\nb,1,3,70\nc,2,4,50\n";
    let (code, out, err) = neap(&["pack", "-"], table);
    assert!(code == 0 && out.starts_with("id,lower,upper,size,offset\n") && err.contains("160"), "{out}{err}");
    let (code, out, err) = neap(&["pack", "-", "--capacity=100"], table);
    assert!(code == 3 && out.is_empty() && err.contains("proved infeasible"), "{err}");
    assert_eq!(neap(&["pack", "-"], "id,lower\n").0, 1);
}

/// Lifetimes with the last step inside: only a search finds 110.
const FIVE: &str = "id,lower,upper,size\nA,3,4,20\nB,2,4,40\nC,5,6,60\nD,4,5,50\nE,2,3,50\n";

#[test]
fn pack_takes_the_flags_of_minimalloc() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("in.csv"), FIVE).expect("written");
    let args =
        ["pack", "--capacity=110", "--input=in.csv", "--output=out.csv", "--timeout=60s", "--validate", "--inclusive"];
    let (code, out, err) = neap_in(folder.path(), &args, "");
    assert!(code == 0 && out.is_empty() && err.contains("110 B") && err.contains("all pairs compared"), "{err}");
    let packed = std::fs::read_to_string(folder.path().join("out.csv")).expect("written");
    // What is written is half-open, says so, and is read back with every offset fixed.
    assert!(packed.starts_with("id,lower,upper,size,offset\nA,3,5,20,"), "{packed}");
    let (code, _, err) = neap(&["pack", "-"], &packed);
    assert!(code == 0 && err.contains("5 buffers, half-open, 110 B"), "{err}");
    let (code, _, err) = neap_in(folder.path(), &["pack", "in.csv", "--input=in.csv"], "");
    assert!(code == 2, "{err}");
}

#[test]
fn pack_tells_what_cannot_fit_from_what_a_method_did_not_find() {
    let (code, _, err) = neap(&["pack", "-", "--inclusive", "--capacity=120", "--method=first-fit"], FIVE);
    assert!(
        code == 3 && err.contains("not found: first-fit needs 170 B, 120 B are there, and the floor 110 B would fit"),
        "{err}"
    );
    assert!(err.contains("--method=search") && !err.contains("no plan can fit"), "{err}");
    assert_eq!(neap(&["pack", "-", "--inclusive", "--capacity=120"], FIVE).0, 0);
    let (code, _, err) = neap(&["pack", "-", "--method=worst-fit"], FIVE);
    assert!(code == 2 && err.contains("best-fit"), "{err}");
}

#[test]
fn pack_fills_arenas_in_order_of_preference() {
    let table = "id,lower,upper,size\nx,0,1,200\na,0,2,180\nb,1,3,60\nc,2,4,60\ny,3,4,10\n";
    let (code, out, err) = neap(&["pack", "-", "--arena=FAST=128", "--arena=SLOW=1000"], table);
    assert!(code == 0 && err.contains("FAST 120 of 128 B, SLOW 380 of 1,000 B"), "{err}");
    for row in ["x,0,1,200,SLOW", "a,0,2,180,SLOW", "b,1,3,60,FAST", "c,2,4,60,FAST", "y,3,4,10,FAST"] {
        assert!(out.contains(row), "{out}");
    }
    let (code, _, err) = neap(&["pack", "-", "--arena=FAST=128"], table);
    let wanted = "no plan can fit: floor 380 > 128 (needed 380, available 128, short by 252) at step 0, live there: x 200, a 180";
    assert!(code == 3 && err.contains(wanted), "{err}");
    let (code, _, err) = neap(&["pack", "-", "--arena=FAST=128", "--arena=SLOW=199"], table);
    assert!(code == 3 && err.contains("x needs 200, its largest region has 199"), "{err}");
}

#[test]
fn models_are_read_as_they_are() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tflite/tflm_micro_speech_quantized.tflite");
    let model = model.to_string_lossy();
    let (code, out, err) = neap(&["plan", &model], "");
    assert!(code == 0 && out.contains("profile tflite, checked"), "{out}{err}");
    let (code, out, _) = neap(&["import", &model], "");
    assert!(code == 0 && out.contains("tfl.fully_connected"), "{out}");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("cut.tflite"), &std::fs::read(&*model).unwrap()[..5000]).unwrap();
    let (code, out, err) = neap_in(folder.path(), &["plan", "cut.tflite"], "");
    assert!(code == 1 && out.is_empty() && err.starts_with("error"), "{err}");
    assert_eq!(neap(&["plan", "in.onnx"], "").0, 1);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_partial_file() {
    let many: String = (0..60_000)
        .map(|at| format!("  %v{} = \"neap.opaque\"(%v{at}) : (tensor<8xi8>) -> tensor<8xi8>\n", at + 1))
        .collect();
    let text = format!("func.func @main(%v0: tensor<8xi8>) {{\n{many}  return\n}}\n");
    for (signal, wait) in [("INT", 50), ("INT", 400), ("TERM", 50), ("TERM", 400)] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("in.mlir"), &text).expect("written");
        let run = start(folder.path(), &["plan", "in.mlir", "-o", "out.mlir", "-o", "out.json", "--summary=none"]);
        std::thread::sleep(std::time::Duration::from_millis(wait));
        // Before the handler is set, the signal itself ends the process.
        let code = told(run, signal);
        assert!(matches!(code, Some(130) | None), "{code:?}");
        assert_eq!(names(folder.path()), ["in.mlir"]);
    }
}

/// A pipe that nobody reads holds the run where one file is complete under a name of its own and none has its place yet.
#[cfg(unix)]
#[test]
fn an_interrupt_between_files_leaves_none_of_them() {
    for (signal, verb) in [("INT", "plan"), ("TERM", "plan"), ("HUP", "plan"), ("TERM", "opt")] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("in.mlir"), GOOD).expect("written");
        let made = Command::new("mkfifo").arg(folder.path().join("a.csv")).status().expect("mkfifo");
        assert!(made.success());
        let args: &[&str] = match verb {
            "plan" => &["plan", "in.mlir", "-o", "a.csv", "-o", "b.mlir", "--summary-file=c"],
            _ => &["opt", "in.mlir", "-o", "a.csv", "--certificate=b", "--summary-file=c"],
        };
        let run = start(folder.path(), args);
        let limit = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let staged = || names(folder.path()).iter().filter(|name| name.ends_with(".part")).count();
        while staged() < 2 && std::time::Instant::now() < limit {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(staged(), 2, "the run is not where it can be interrupted");
        assert_eq!(told(run, signal), Some(130), "{signal}");
        assert_eq!(names(folder.path()), ["a.csv", "in.mlir"], "{signal} {verb}");
    }
}

#[cfg(unix)]
fn start(folder: &Path, args: &[&str]) -> std::process::Child {
    let mut command = Command::new(NEAP);
    command.args(args).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary runs")
}

/// Sends a signal; the exit code, if the process ended by itself.
#[cfg(unix)]
fn told(run: std::process::Child, signal: &str) -> Option<i32> {
    let told = Command::new("kill").args([&format!("-{signal}"), &run.id().to_string()]).status().expect("kill");
    assert!(told.success());
    run.wait_with_output().expect("the binary ends").status.code()
}

#[cfg(unix)]
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Every verb's help says how it ends, and no flag that takes a size leaves its unit open.
#[test]
fn help_says_defaults_units_and_exit_codes() {
    for verb in ["opt", "plan", "emit", "report", "check", "compare", "import", "pack"] {
        let (code, out, err) = neap(&[verb, "--help"], "");
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == 0 && err.is_empty() && out.contains("Exit codes: 0 done"), "{verb}: {out}");
        assert!(out.contains("130 interrupted") && !out.contains("(default:"), "{verb}: {out}");
        assert_eq!(out.contains("SIZE"), out.contains("offsets are bytes"), "{verb}: {out}");
    }
    let (_, out, _) = neap(&["opt", "--help"], "");
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "[default: text]",
        "[default: tflite for .tflite, ort for .onnx, else none]",
        "[default: plan]",
        "--reorder[=<OPTION=VALUE ..>]",
        "--strip-plan remove",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let (code, _, err) = neap(&["opt", "-", "--dce=x=1"], GOOD);
    assert!(code == 2 && err.contains("--dce"), "{err}");
}
