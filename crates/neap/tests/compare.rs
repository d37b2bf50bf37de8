//! Figures agree wherever they are written: the three forms of a comparison, and of a plan; growth ends with 3.

mod program;

use program::neap;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A chain with a side branch; `wide` is the size of its largest value.
fn source(wide: u32, extra: bool) -> String {
    let tail =
        if extra { "%y = \"neap.opaque\"(%d, %s) : (tensor<32xi8>, tensor<64xi8>) -> tensor<32xi8>" } else { "" };
    let last = if extra { "%y" } else { "%d" };
    format!(
        "func.func @main(%x: tensor<64xi8>) -> tensor<32xi8> {{
  %s = \"neap.opaque\"(%x) : (tensor<64xi8>) -> tensor<64xi8>
  %a = \"neap.opaque\"(%x) {{neap.scratch = 96 : i64}} : (tensor<64xi8>) -> tensor<{wide}xi8>
  %b = \"neap.opaque\"(%a) : (tensor<{wide}xi8>) -> tensor<128xi8>
  %c = \"neap.opaque\"(%b, %s) : (tensor<128xi8>, tensor<64xi8>) -> tensor<32xi8>
  %d = \"neap.opaque\"(%c) : (tensor<32xi8>) -> tensor<32xi8>
  {tail}
  return {last} : tensor<32xi8>
}}
"
    )
}

fn plan(folder: &Path, name: &str, text: &str, flags: &[&str]) -> Value {
    fs::write(folder.join("in.mlir"), text).expect("written");
    let (code, _, err) = neap(folder, &[&["plan", "in.mlir", "-o", name, "-o", "o.csv"][..], flags].concat());
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&fs::read_to_string(folder.join(name)).expect("written")).expect("JSON")
}

fn rows(folder: &Path, args: &[&str]) -> (i32, Vec<Value>) {
    let (code, out, err) = neap(folder, &[&["compare", "old.json", "new.json", "--format=json"][..], args].concat());
    let value: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    (code, value["rows"].as_array().expect("rows").clone())
}

fn of<'a>(rows: &'a [Value], what: &str) -> Vec<&'a Value> {
    rows.iter().filter(|row| row["what"] == what).collect()
}

#[test]
fn growth_is_3_and_what_grew_adds_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = plan(folder.path(), "old.json", &source(256, false), &[]);
    let new = plan(folder.path(), "new.json", &source(300, true), &[]);
    let (code, rows) = rows(folder.path(), &[]);
    assert_eq!(code, 3);
    for (what, key) in [("arena", "arena"), ("peak", "peak"), ("floor", "lower_bound")] {
        let row = of(&rows, what)[0];
        assert_eq!(row["old"], old["functions"][0]["plan"][key], "{what}");
        assert_eq!(row["new"], new["functions"][0]["plan"][key], "{what}");
    }
    let delta = |row: &Value| row["delta"].as_i64().expect("a number");
    let parts: i64 =
        rows.iter().filter(|row| row["what"].as_str().is_some_and(|what| what.starts_with("at-peak"))).map(delta).sum();
    assert_eq!(parts, delta(of(&rows, "peak")[0]), "what is held at the peak adds up");
    assert_eq!(delta(of(&rows, "arena")[0]), delta(of(&rows, "peak")[0]) + delta(of(&rows, "lost")[0]));
    let resized = of(&rows, "resized");
    assert!(
        resized.iter().any(|row| row["name"] == "%a"
            && delta(row) == 44
            && row["why"].as_str().is_some_and(|why| why.contains("tensor<300xi8>"))),
        "{resized:?}"
    );
    assert!(of(&rows, "value-new").iter().any(|row| row["name"] == "%y"));
    // The other way round nothing grows.
    let (code, out, _) = neap(folder.path(), &["compare", "new.json", "old.json"]);
    assert!(
        code == 0 && out.contains("no arena and no state grew by more than 0%") && out.contains("values gone"),
        "{out}"
    );
}

#[test]
fn what_the_plans_do_not_share_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    plan(folder.path(), "old.json", &source(256, false), &[]);
    plan(folder.path(), "new.json", &source(256, false), &[]);
    let compared = || neap(folder.path(), &["compare", "old.json", "new.json", "--format=json"]).1;
    let notes = || serde_json::from_str::<Value>(&compared()).expect("JSON")["notes"].clone();
    assert_eq!(notes(), serde_json::json!([]), "the same graph for the same target");
    plan(folder.path(), "new.json", &source(256, false), &["--profile=tflm"]);
    let profiles = "the plans are for different profiles, none and tflm: what may share bytes differs";
    assert_eq!(notes(), serde_json::json!([profiles]));
    plan(folder.path(), "new.json", &source(300, false), &["--profile=tflm"]);
    let graphs = "the plans are of different graphs: the fingerprints of @main differ";
    assert_eq!(notes(), serde_json::json!([profiles, graphs]));
    let (_, out, _) = neap(folder.path(), &["compare", "old.json", "new.json"]);
    assert!(out.starts_with(&format!("note: {profiles}\nnote: {graphs}\n@main")), "{out}");
}

#[test]
fn what_is_cut_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = format!("%{}", "a_long_name_".repeat(8));
    plan(folder.path(), "old.json", &source(256, true), &[]);
    plan(folder.path(), "new.json", &source(256, true).replace("%y", &long), &[]);
    let run = |old, new| neap(folder.path(), &["compare", old, new, "--max-growth=1K"]);
    let (code, out, _) = run("old.json", "new.json");
    assert!(code == 0 && out.contains("names that begin with `..` are cut") && !out.contains(&long), "{out}");
    assert!(!run("old.json", "old.json").1.contains("are cut"));
    let text = fs::read(folder.path().join("old.json")).expect("written");
    fs::write(folder.path().join("half.json"), &text[..text.len() / 2]).expect("written");
    let (code, _, err) = run("half.json", "new.json");
    assert!(code == 1 && err.contains("it is cut off in the middle"), "{err}");
}

#[test]
fn a_limit_is_met_to_the_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let arena = |value: &Value| value["functions"][0]["plan"]["arena"].as_u64().expect("bytes");
    let old = arena(&plan(folder.path(), "old.json", &source(256, false), &[]));
    let new = arena(&plan(folder.path(), "new.json", &source(300, false), &[]));
    assert_eq!(new, old + 44);
    let code = |limit: &str| neap(folder.path(), &["compare", "old.json", "new.json", "--max-growth", limit]).0;
    assert_eq!([code("44"), code("43"), code("100%"), code("0.01%")], [0, 3, 0, 3]);
    assert_eq!([code("1"), code("x%"), code("-1%")], [3, 2, 2]);
}

#[test]
fn another_order_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |swap: bool| {
        let lines = [
            "%a = \"neap.opaque\"(%x) : (tensor<64xi8>) -> tensor<64xi8>",
            "%b = \"neap.opaque\"(%x) : (tensor<64xi8>) -> tensor<64xi8>",
        ];
        let lines = if swap { [lines[1], lines[0]] } else { lines };
        format!(
            "func.func @main(%x: tensor<64xi8>) -> (tensor<64xi8>, tensor<64xi8>) {{\n{}\n{}\nreturn %a, %b : tensor<64xi8>, tensor<64xi8>\n}}\n",
            lines[0], lines[1]
        )
    };
    let flags = ["--pass-pipeline=assign-offsets"];
    plan(folder.path(), "old.json", &text(false), &flags);
    plan(folder.path(), "new.json", &text(true), &flags);
    let (code, rows) = rows(folder.path(), &[]);
    assert_eq!(code, 0);
    let moved = of(&rows, "moved");
    assert!(
        moved.len() == 1
            && moved[0]["new"] == 1
            && moved[0]["why"].as_str().is_some_and(|why| why.contains("of 2 values")),
        "{moved:?}"
    );
    plan(folder.path(), "new.json", &text(false), &flags);
    assert!(self::rows(folder.path(), &[]).1.iter().all(|row| row["delta"] == 0), "the same plan");
}

/// Every row in CSV and JSON, every figure in the text.
#[test]
fn a_comparison_says_the_same_in_text_json_and_csv() {
    let folder = tempfile::tempdir().expect("a folder");
    plan(folder.path(), "old.json", &source(256, false), &[]);
    plan(folder.path(), "new.json", &source(3000, true), &[]);
    let (_, rows) = rows(folder.path(), &[]);
    let (code, table, _) = neap(folder.path(), &["compare", "old.json", "new.json", "--format=csv"]);
    assert_eq!(code, 3);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let headers: Vec<String> = reader.headers().expect("a header").iter().map(str::to_owned).collect();
    let records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a row")).collect();
    assert_eq!(records.len(), rows.len());
    for (record, row) in records.iter().zip(&rows) {
        for (field, key) in record.iter().zip(&headers) {
            let value = &row[key.as_str()];
            let text = value
                .as_str()
                .map_or_else(|| if value.is_null() { String::new() } else { value.to_string() }, str::to_owned);
            assert_eq!(field, text, "{key} of {row}");
        }
    }
    let (_, text, _) = neap(folder.path(), &["compare", "old.json", "new.json"]);
    let text = text.replace(',', "");
    for row in &rows {
        let delta = row["delta"].to_string();
        assert!(text.contains(&delta), "{row} is not in\n{text}");
    }
    assert!(text.contains("GREW") && text.contains("an arena or the state of @main grew by more than 0%"), "{text}");
}

/// What the peak is made of, in four forms: JSON, CSV, the full text, the page.
#[test]
fn a_plan_says_the_same_in_text_json_and_csv() {
    let folder = tempfile::tempdir().expect("a folder");
    let summary = plan(folder.path(), "o.json", &source(256, false), &["--summary=full", "--summary-file=o.txt"]);
    let function = &summary["functions"][0];
    let storages = function["storages"].as_array().expect("storages");
    let table = fs::read_to_string(folder.path().join("o.csv")).expect("written");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let headers = reader.headers().expect("a header").clone();
    let records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a row")).collect();
    assert_eq!(records.len(), storages.len());
    let text = fs::read_to_string(folder.path().join("o.txt")).expect("written").replace(',', "");
    let mut held = 0;
    for (record, storage) in records.iter().zip(storages) {
        let field = |name: &str| {
            record.get(headers.iter().position(|header| header == name).expect("a column")).unwrap_or_default()
        };
        let number = |value: &Value| value.as_u64().expect("a number");
        let (live, size, offset) = (&storage["live"], number(&storage["size"]), number(&storage["offset"]));
        assert_eq!([field("lower"), field("upper")], [number(&live[0]).to_string(), number(&live[1]).to_string()]);
        assert_eq!([field("size"), field("offset")], [size.to_string(), offset.to_string()]);
        assert_eq!(
            [Some(field("kind")), Some(field("op")), Some(field("arena"))],
            [storage["kind"].as_str(), storage["op"].as_str(), storage["arena"].as_str()]
        );
        let at_peak = function["peak_step"]["storages"].as_array().expect("a list").contains(&storage["id"]);
        held += if at_peak { size } else { 0 };
        let start = [storage["id"].to_string(), offset.to_string(), size.to_string()];
        let line = text.lines().find(|line| line.split_whitespace().take(3).eq(start.iter()));
        let line = line.unwrap_or_else(|| panic!("storage {} is not in\n{text}", storage["id"]));
        assert!(line.contains(&format!("{}..{}", live[0], live[1])) && line.ends_with(" *") == at_peak, "{line}");
    }
    assert_eq!(Some(held), function["plan"]["peak"].as_u64(), "what is held at the peak adds up");
}

#[test]
fn what_is_no_summary_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let summary = plan(folder.path(), "old.json", &source(256, false), &[]);
    let wrong = |name: &str, value: &str| {
        fs::write(folder.path().join(name), value).expect("written");
        let (code, out, err) = neap(folder.path(), &["compare", "old.json", name]);
        assert!(code == 1 && out.is_empty() && err.contains("is no summary of a plan"), "{name}: {code} {err}");
        err
    };
    wrong("no.json", "{}");
    wrong("text.json", "func.func");
    assert!(
        wrong("next.json", &summary.to_string().replacen("\"version\":1", "\"version\":2", 1)).contains("version is 2")
    );
    let held = summary["functions"][0]["peak_step"]["storages"].to_string();
    wrong("peak.json", &summary.to_string().replacen(&format!("\"storages\":{held}"), "\"storages\":[99]", 1));
}

#[test]
fn each_of_several_arenas_may_grow_by_so_much() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = source(256, true);
    plan(folder.path(), "old.json", &text, &["--arena", "FAST=128", "--arena", "SLOW=1000"]);
    plan(folder.path(), "new.json", &text, &["--arena", "FAST=260", "--arena", "SLOW=1000"]);
    let (code, rows) = rows(folder.path(), &["--max-growth=50%"]);
    let arenas = of(&rows, "one-arena");
    let used = |key: &str| arenas.iter().map(|row| row[key].as_u64().expect("a number")).collect::<Vec<_>>();
    assert_eq!(arenas.len(), 2);
    assert!(used("new")[0] > used("old")[0] * 3 / 2, "{rows:?}");
    assert_eq!(code, 3, "the sum of both grew by less");
    let (_, text, _) = neap(folder.path(), &["compare", "old.json", "new.json"]);
    assert!(text.contains("  in FAST ") && text.contains("  in SLOW "), "{text}");
}

#[test]
fn bytes_that_were_shared_are_not_said_to_come_of_another_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %a = \"tosa.exp\"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = \"tosa.tanh\"(%a) : (tensor<64xf32>) -> tensor<64xf32>
  return %b : tensor<64xf32>
}
";
    plan(folder.path(), "old.json", text, &[]);
    plan(folder.path(), "new.json", text, &["--no-reuse"]);
    let (_, rows) = rows(folder.path(), &[]);
    let why: Vec<&str> = of(&rows, "at-peak-now").iter().filter_map(|row| row["why"].as_str()).collect();
    // What was inside of a fused operation is new.
    assert_eq!(why, ["new", "lay in the bytes of %x"]);
}

#[test]
fn what_are_no_two_summaries_alike_is_refused_as_input() {
    let folder = tempfile::tempdir().expect("a folder");
    plan(folder.path(), "old.json", &source(256, true), &[]);
    let shared = ["plan", "in.mlir", "in.mlir", "--share-arena", "-o", "new.json"];
    assert_eq!(neap(folder.path(), &shared).0, 0);
    let (code, _, err) = neap(folder.path(), &["compare", "old.json", "new.json"]);
    assert!(code == 1 && err.contains("several models in one arena"), "{code} {err}");
    let (code, _, err) = neap(folder.path(), &["compare", "old.json", "nowhere.json"]);
    assert!(code == 1 && err.contains("nowhere.json"), "{code} {err}");
}

/// State lies beside the arena, and the device has to hold both.
#[test]
fn state_that_grows_is_growth() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |bytes: u32| {
        let write = format!("  \"neap.write\"(%a) {{var = @h}} : (tensor<{bytes}xi8>) -> ()\n");
        format!(
            "\"neap.var\"() {{sym_name = \"h\", type = tensor<{bytes}xi8>}} : () -> ()\n\
             func.func @main(%x: tensor<512xi8>) -> tensor<512xi8> {{\n  \
             %a = \"neap.opaque\"(%x) : (tensor<512xi8>) -> tensor<{bytes}xi8>\n{}  return %x : tensor<512xi8>\n}}\n",
            if bytes == 1 { "" } else { &write }
        )
    };
    plan(folder.path(), "none.json", &text(1), &[]);
    plan(folder.path(), "old.json", &text(64), &[]);
    plan(folder.path(), "new.json", &text(80), &[]);
    let (code, found) = rows(folder.path(), &["--max-growth=16"]);
    let state = of(&found, "state");
    assert!(code == 0 && state.len() == 1 && state[0]["old"] == 64 && state[0]["delta"] == 16, "{state:?}");
    let compare = |args: &[&str]| neap(folder.path(), &[&["compare"], args].concat());
    let (code, out, _) = compare(&["none.json", "old.json"]);
    assert!(
        code == 3 && out.contains("@main  GREW") && out.contains("  state                 0 ->             64 B"),
        "{out}"
    );
    // The arena alone is as it was within 16 bytes.
    let [old, new] =
        ["old.json", "new.json"].map(|name| fs::read_to_string(folder.path().join(name)).expect("written"));
    let arena = |text: &str| {
        let summary: Value = serde_json::from_str(text).expect("JSON");
        summary["functions"][0]["plan"]["arena"].as_u64().expect("bytes")
    };
    assert!(arena(&new) <= arena(&old) + 16);
    let (code, out, _) = compare(&["new.json", "old.json"]);
    assert!(code == 0 && out.contains("-16"), "{out}");
    assert!(!compare(&["none.json", "none.json"]).1.contains("  state"));
}

#[test]
fn a_dash_is_the_standard_input() {
    let folder = tempfile::tempdir().expect("a folder");
    plan(folder.path(), "old.json", &source(256, false), &[]);
    plan(folder.path(), "new.json", &source(300, false), &[]);
    let through = |args: &[&str], file: &str| {
        let input = fs::File::open(folder.path().join(file)).expect("there");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_neap"));
        let output = command.args(args).current_dir(folder.path()).stdin(input).output().expect("the binary runs");
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("text"),
            String::from_utf8(output.stderr).expect("text"),
        )
    };
    let (_, files, _) = neap(folder.path(), &["compare", "old.json", "new.json"]);
    assert_eq!(through(&["compare", "-", "new.json"], "old.json"), (Some(3), files.clone(), String::new()));
    assert_eq!(through(&["compare", "old.json", "-"], "new.json"), (Some(3), files, String::new()));
    let (code, out, err) = through(&["compare", "-", "-"], "old.json");
    assert!(code == Some(2) && out.is_empty() && err.contains("`-` is given twice"), "{err}");
    let (code, _, err) = through(&["compare", "-", "old.json"], "in.mlir");
    assert!(code == Some(1) && err.contains("`<stdin>` is no summary"), "{err}");
}

/// Arenas apart: what one model does not use of one arena is of no use for another model in another.
#[test]
fn models_that_share_several_arenas_need_the_most_of_each() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |first: u32, second: u32| {
        format!(
            "\"neap.arena\"() {{sym_name = \"fast\", size = 100 : i64}} : () -> ()\n\"neap.arena\"() {{sym_name = \"slow\"}} : () -> ()\n\
             func.func @main(%x: tensor<{first}xi8>) -> tensor<{second}xi8> {{\n  \
             %a = \"neap.opaque\"(%x) : (tensor<{first}xi8>) -> tensor<{second}xi8>\n  return %a : tensor<{second}xi8>\n}}\n"
        )
    };
    // One fills the first arena and is alone there, the other takes more of the second.
    fs::write(folder.path().join("a.mlir"), text(60, 40)).expect("written");
    fs::write(folder.path().join("b.mlir"), text(30, 200)).expect("written");
    let json = |args: &[&str]| -> Value {
        let (code, out, err) = neap(folder.path(), &[&["plan"], args, &["--summary=json"]].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str(&out).expect("JSON")
    };
    let used = |summary: &Value| -> Vec<u64> {
        let arenas = summary["functions"][0]["arenas"].as_array().expect("arenas");
        arenas.iter().map(|arena| arena["used"].as_u64().expect("bytes")).collect()
    };
    let (a, b) = (used(&json(&["a.mlir"])), used(&json(&["b.mlir"])));
    assert_eq!((&a[..], &b[..]), (&[100, 0][..], &[30, 200][..]));
    let both = json(&["a.mlir", "b.mlir", "--share-arena"]);
    let bytes = |all: &Value| -> Vec<u64> {
        let arenas = all["plan"]["arenas"].as_array().expect("arenas");
        arenas.iter().map(|arena| arena["bytes"].as_u64().expect("bytes")).collect()
    };
    assert_eq!((bytes(&both), both["plan"]["arena"].as_u64()), (vec![100, 200], Some(300)));
    assert_eq!(both["plan"]["arenas"][1]["slots"][0]["size"], 200);
    let (_, out, _) = neap(folder.path(), &["plan", "a.mlir", "b.mlir", "--share-arena"]);
    assert!(out.contains("arena     300 B in 2 arenas: @fast 100 B, @slow 200 B"), "{out}");
    // At the same time both are there: that is more than the first arena has.
    let (code, _, err) = neap(folder.path(), &["plan", "a.mlir", "b.mlir", "--share-arena", "--concurrent=2"]);
    assert!(code == 3 && err.contains("need 130 B of @fast together, the arena has 100 B: 30 B too many"), "{err}");
    let budget = |limit: &str| neap(folder.path(), &["plan", "a.mlir", "b.mlir", "--share-arena", "--budget", limit]).0;
    assert_eq!(
        [budget("@slow=200"), budget("@slow=199"), budget("300"), budget("299"), budget("@no=1")],
        [0, 3, 0, 3, 2]
    );
    // The same of one model by itself, and of two summaries of all.
    let (_, out, _) = neap(folder.path(), &["plan", "b.mlir"]);
    assert!(out.contains("arena     230 B in 2 arenas: @fast 30 B of 100, @slow 200 B; as given"), "{out}");
    for (name, other) in [("old.json", "a.mlir"), ("new.json", "b.mlir")] {
        let (code, _, err) = neap(folder.path(), &["plan", "a.mlir", other, "--share-arena", "-o", name]);
        assert_eq!(code, 0, "{err}");
    }
    let (code, found) = rows(folder.path(), &[]);
    let slow = of(&found, "one-arena").into_iter().find(|row| row["function"] == "all models" && row["name"] == "slow");
    assert!(code == 3 && slow.is_some_and(|row| row["delta"] == 200), "{found:#?}");
}

#[test]
fn models_that_share_an_arena_are_compared_together_and_one_by_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let both = |wide: u32, name: &str| {
        fs::write(folder.path().join("a.mlir"), source(256, true)).expect("written");
        fs::write(folder.path().join("b.mlir"), source(wide, false)).expect("written");
        let (code, _, err) = neap(folder.path(), &["plan", "a.mlir", "b.mlir", "--share-arena", "-o", name]);
        assert_eq!(code, 0, "{err}");
    };
    both(96, "old.json");
    both(128, "new.json");
    // The smaller model grew within the larger one's bytes.
    let (code, all) = rows(folder.path(), &[]);
    let arena = |name: &str| -> Value {
        let mut own = all.iter().filter(|row| row["function"] == name && row["what"] == "arena");
        own.next().map(|row| row["delta"].clone()).unwrap_or_else(|| panic!("{name}: {all:#?}"))
    };
    assert_eq!(code, 0);
    assert_eq!((arena("all models"), arena("main of a.mlir")), (0.into(), 0.into()));
    assert!(arena("main of b.mlir").as_i64() > Some(0), "{all:#?}");
    both(1024, "new.json");
    let (code, all) = rows(folder.path(), &["--max-growth", "1%"]);
    let whole: Vec<&Value> = all.iter().filter(|row| row["function"] == "all models").collect();
    assert_eq!(code, 3);
    assert!(
        whole
            .iter()
            .any(|row| row["what"] == "one-arena" && row["name"] == "shared" && row["delta"].as_i64() > Some(0)),
        "{whole:#?}"
    );
    let (_, text, _) = neap(folder.path(), &["compare", "old.json", "new.json"]);
    assert!(text.contains("all models") && text.contains("main of b.mlir"), "{text}");
}
