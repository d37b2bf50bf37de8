//! The program as a user meets it: exit codes, streams, files that are whole or not there, and what it says when something is wrong.

use serde_json::Value;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const GOOD: &str = "func.func @main(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = \"neap.opaque\"(%x) {neap.name = \"first\"} : (tensor<64xi8>) -> tensor<32xi8>
  %b = \"neap.opaque\"(%x) : (tensor<64xi8>) -> tensor<16xi8>
  %c = \"neap.opaque\"(%a, %b) : (tensor<32xi8>, tensor<16xi8>) -> tensor<16xi8>
  return %c : tensor<16xi8>
}
";

const NEAP: &str = env!("CARGO_BIN_EXE_neap");

fn program(program: &str, folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("piped");
    // A run that fails early does not read its input.
    drop(stdin.write_all(input.as_bytes()));
    drop(stdin);
    child.wait_with_output().expect("the binary ends")
}

/// A run in an empty folder with `in.mlir` in it, and what it said.
fn neap(args: &[&str], input: &str) -> (i32, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    neap_in(folder.path(), args, input)
}

fn neap_in(folder: &Path, args: &[&str], input: &str) -> (i32, String, String) {
    std::fs::write(folder.join("in.mlir"), input).expect("the input is written");
    let output = program(NEAP, folder, args, input);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("all output is text");
    (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
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
    let (code, _, err) = neap_in(folder.path(), &["plan", "in.mlir", "-o", "o.html"], GOOD);
    assert!(code == 2 && err.contains("mlir, json, csv"), "{err}");
}

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

/// A function whose least peak, 180 bytes, a flow proves.
fn certified(name: &str, kind: &str) -> String {
    format!(
        "func.func {name}(%x: tensor<80xi8>) -> tensor<80xi8> {{\n  \
         %a = \"neap.opaque\"(%x) {{kind = \"{kind}\"}} : (tensor<80xi8>) -> tensor<80xi8>\n  \
         %b = \"neap.opaque\"(%a) : (tensor<80xi8>) -> tensor<20xi8>\n  \
         %c = \"neap.opaque\"(%x) : (tensor<80xi8>) -> tensor<80xi8>\n  \
         %y = \"neap.opaque\"(%b, %c) : (tensor<20xi8>, tensor<80xi8>) -> tensor<80xi8>\n  \
         return %y : tensor<80xi8>\n}}\n"
    )
}

/// Proofs are written one per line, hold for their plan, and hold for nothing else.
#[test]
fn certificates() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let text = |kind: &str| certified("@main", kind);
    std::fs::write(path("a.mlir"), text("f")).expect("a file");
    std::fs::write(path("b.mlir"), text("g")).expect("a file");
    for name in ["a", "b"] {
        let (source, plan, proof) = (path(&format!("{name}.mlir")), path(&format!("{name}.out.mlir")), path(name));
        let (code, out, err) = neap_in(folder.path(), &["plan", &source, "-o", &plan, "--certificate", &proof], "");
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
    }
    let check = |proof: &str| {
        neap_in(folder.path(), &["check", &path("a.mlir"), &path("a.out.mlir"), "--certificate", proof], "")
    };
    let (code, out, err) = check(&path("a"));
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("the certificate holds: no order of the planned graph needs less than 180 B"), "{out}");
    let (code, _, err) = check(&path("b"));
    assert!(code == 1 && err.contains("made for another graph"), "{err}");
    let right = std::fs::read_to_string(path("a")).expect("a certificate");
    let wrong = right.replace("\"lower_bound\":180", "\"lower_bound\":181");
    assert_ne!(right, wrong);
    std::fs::write(path("c"), wrong).expect("a file");
    let (code, _, err) = check(&path("c"));
    assert!(code == 1 && err.contains("181"), "{err}");
    std::fs::write(path("d"), "{}").expect("a file");
    let (code, _, err) = check(&path("d"));
    assert!(code == 1 && err.contains("d:1"), "{err}");
    // Nothing proves nothing.
    std::fs::write(path("e"), " \n\n").expect("a file");
    let (code, out, err) = check(&path("e"));
    assert!(code == 1 && out.is_empty() && err.contains("e` holds no certificate"), "{out}{err}");
}

/// What a plan claims for each function has to be proved for each.
#[test]
fn certificates_of_some_functions_are_not_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = certified("@one", "f") + &certified("@two", "g");
    let args = ["plan", "in.mlir", "-o", "plan.mlir", "--certificate", "both"];
    assert_eq!(neap_in(folder.path(), &args, &source).0, 0);
    let check =
        |proof: &str| neap_in(folder.path(), &["check", "in.mlir", "plan.mlir", "--certificate", proof], &source);
    let (code, out, err) = check("both");
    assert!(code == 0 && out.matches("the certificate holds").count() == 2, "{out}{err}");
    let both = std::fs::read_to_string(folder.path().join("both")).expect("two certificates");
    let line = |at: usize| both.lines().nth(at).expect("a certificate").to_owned();
    std::fs::write(folder.path().join("some"), line(1)).expect("a file");
    let (code, out, err) = check("some");
    assert!(code == 1 && out.is_empty() && err.contains("claims a certified bound"), "{out}{err}");
    // One that claims less than the plan does.
    let mut less: Value = serde_json::from_str(&line(0)).expect("JSON");
    less["claims"]["lower_bound"] = Value::from(0);
    less["flows"][0]["edges"] = Value::Array(Vec::new());
    std::fs::write(folder.path().join("less"), format!("{less}\n{}", line(1))).expect("a file");
    let (code, _, err) = check("less");
    assert!(code == 1 && err.contains("prove"), "{err}");
}

#[test]
fn a_plan_of_a_model_is_judged_from_its_file() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tflite");
    let folder = tempfile::tempdir().expect("a folder");
    let mut seen = 0;
    for model in std::fs::read_dir(models).expect("the models").filter_map(|entry| Some(entry.ok()?.path())) {
        if model.extension().is_none_or(|extension| extension != "tflite") {
            continue;
        }
        let model = model.to_string_lossy();
        let (code, _, err) = neap_in(folder.path(), &["plan", &model, "-o", "plan.mlir"], "");
        assert_eq!(code, 0, "{model}: {err}");
        let (code, out, err) = neap_in(folder.path(), &["check", &model, "plan.mlir"], "");
        assert!(code == 0 && out.contains("accepted"), "{model}: {err}");
        let tables = ["plan", &model, "-o", "plan.csv", "-o", "plan.json"];
        assert_eq!(neap_in(folder.path(), &tables, "").0, 0, "{model}");
        for table in ["plan.csv", "plan.json"] {
            let (code, out, err) = neap_in(folder.path(), &["check", &model, table], "");
            assert!(code == 0 && out.contains("accepted"), "{model} {table}: {err}");
        }
        seen += 1;
    }
    assert!(seen >= 4, "{seen} models found");
}

/// A table of ours says in which order its plan runs: it is judged in that one, and each of its figures counts.
#[test]
fn our_own_tables_are_judged_in_the_order_of_their_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tflite/tflm_keyword_scrambled_8bit.tflite");
    let model = model.to_string_lossy();
    assert_eq!(neap_in(folder.path(), &["plan", &model, "-o", "plan.csv"], "").0, 0);
    let csv = std::fs::read_to_string(folder.path().join("plan.csv")).expect("written");
    let check = |text: String| {
        std::fs::write(folder.path().join("bad.csv"), text).expect("written");
        neap_in(folder.path(), &["check", &model, "bad.csv"], "")
    };
    assert_eq!(check(csv.clone()).0, 0);
    let lines: Vec<&str> = csv.lines().collect();
    let changed = |at: usize, column: usize, value: &str| {
        let mut fields: Vec<&str> = lines[at].split(',').collect();
        fields[column] = value;
        let line = fields.join(",");
        let all = lines.iter().enumerate().map(|(index, text)| if index == at { line.as_str() } else { *text });
        all.map(|line| format!("{line}\n")).collect::<String>()
    };
    let (code, _, err) = check(changed(3, 2, "9000"));
    assert!(code == 1 && err.contains("is said to live"), "{err}");
    let (code, _, err) = check(changed(3, 4, lines[2].split(',').nth(4).expect("an offset")));
    assert!(code == 1 && err.contains("over"), "{err}");
}

/// What a plan was made with stands in it: no flag has to be repeated, and one that says something else is told.
#[test]
fn a_plan_knows_its_profile() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/tflite/tflm_keyword_scrambled_8bit.tflite");
    let model = model.to_string_lossy();
    for (profile, file) in [("tflm", "plan.mlir"), ("none", "plan.mlir"), ("tflm", "plan.json")] {
        assert_eq!(neap_in(folder.path(), &["plan", &model, "--profile", profile, "-o", file], "").0, 0);
        let (code, out, err) = neap_in(folder.path(), &["check", &model, file], "");
        assert!(code == 0 && out.contains("accepted") && !out.contains("note"), "{profile} {file}: {out}{err}");
    }
    assert_eq!(neap_in(folder.path(), &["plan", &model, "--profile=tflm", "-o", "plan.mlir"], "").0, 0);
    let (code, _, err) = neap_in(folder.path(), &["check", &model, "plan.mlir", "--profile=tflite"], "");
    assert!(code == 1 && err.contains("made with `--profile tflm`, and is checked with `--profile tflite`"), "{err}");
}

/// An order alone has a bound too, and its certificate holds.
#[test]
fn an_order_without_offsets_has_its_certificate() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["opt", "in.mlir", "--pass-pipeline=reorder", "-o", "out.mlir", "--certificate", "proof"];
    let (code, _, err) = neap_in(folder.path(), &args, &certified("@main", "f"));
    assert!(code == 0 && !err.contains("certificate"), "{err}");
    let proof = std::fs::read_to_string(folder.path().join("proof")).expect("a certificate");
    assert!(proof.contains("\"lower_bound\":180"), "{proof}");
}

/// A file with a plan for each range of sizes, or for each of several models, is checked plan by plan; what writes one plan says so.
#[test]
fn files_of_several_plans() {
    let source = "func.func @main(%x: tensor<?x4xi8> {neap.dims = [\"N\"]}) -> tensor<?x4xi8> {\n  \
                  %a = \"neap.opaque\"(%x) {neap.dims = [\"N\"]} : (tensor<?x4xi8>) -> tensor<?x4xi8>\n  \
                  %b = \"neap.opaque\"(%a) {neap.dims = [\"N\"]} : (tensor<?x4xi8>) -> tensor<?x4xi8>\n  \
                  return %b : tensor<?x4xi8>\n}\n";
    let folder = tempfile::tempdir().expect("a folder");
    let args = ["plan", "in.mlir", "--buckets=N=4,8,16", "-o", "buckets.mlir"];
    assert_eq!(neap_in(folder.path(), &args, source).0, 0);
    let check = |file: &str| neap_in(folder.path(), &["check", "in.mlir", file], source);
    let (code, out, err) = check("buckets.mlir");
    assert!(code == 0 && out.matches("accepted").count() == 3 && out.contains("N from 5 to 8"), "{out}{err}");
    let text = std::fs::read_to_string(folder.path().join("buckets.mlir")).expect("written");
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).expect("written");
    let parts: Vec<&str> = text.split("// -----\n").collect();
    write("gap.mlir", [parts[0], parts[2]].join("// -----\n"));
    let (code, _, err) = check("gap.mlir");
    assert!(code == 1 && err.contains("does not follow the one from 1 to 4"), "{err}");
    let last = parts[2].replace("neap.arena_bytes = ", "neap.arena_bytes = 1");
    write("bad.mlir", [parts[0], parts[1], &last].join("// -----\n"));
    let (code, _, err) = check("bad.mlir");
    assert!(code == 1 && err.contains("neap.arena_bytes"), "{err}");
    let (code, _, err) = neap_in(folder.path(), &["emit", "buckets.mlir", "-o", "out.csv"], source);
    assert!(code == 1 && err.contains("holds 3 plans"), "{err}");
    // Two models in one arena: each has its plan there.
    std::fs::write(folder.path().join("other.mlir"), certified("@main", "f")).expect("written");
    std::fs::write(folder.path().join("good.mlir"), GOOD).expect("written");
    let args = ["plan", "other.mlir", "good.mlir", "--share-arena", "-o", "both.mlir"];
    assert_eq!(neap_in(folder.path(), &args, source).0, 0);
    for model in ["other.mlir", "good.mlir"] {
        let (code, out, err) = neap_in(folder.path(), &["check", model, "both.mlir"], source);
        assert!(code == 0 && out.contains("1 of 2 plans are for other graphs"), "{out}{err}");
    }
    let (code, _, err) = check("both.mlir");
    assert!(code == 1 && err.contains("none of the 2 plans"), "{err}");
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
    for verb in ["opt", "plan", "emit", "check", "import", "pack"] {
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
