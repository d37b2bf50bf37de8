//! Pictures of a plan show the figures of its summary: the page's data, the SVG's rectangles and the trace's events against the JSON.

mod program;

use program::neap;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A branch, a view, something in place, scratch, and a name that would be markup.
const SOURCE: &str = "func.func @main(%x: tensor<64xi8>) -> tensor<128xi8> {
  %a = \"neap.opaque\"(%x) {neap.scratch = 96 : i64, neap.name = \"</script><b>a\"} : (tensor<64xi8>) -> tensor<256xi8>
  %b = \"stablehlo.abs\"(%a) : (tensor<256xi8>) -> tensor<256xi8>
  %c = \"neap.opaque\"(%b) : (tensor<256xi8>) -> tensor<128xi8>
  %p = \"neap.constant\"() : () -> i1
  %d = \"neap.if\"(%p, %c) ({
  ^bb0(%t: tensor<128xi8>):
    %s = \"neap.opaque\"(%t) : (tensor<128xi8>) -> tensor<128xi8>
    \"neap.yield\"(%s) : (tensor<128xi8>) -> ()
  }, {
  ^bb0(%e: tensor<128xi8>):
    \"neap.yield\"(%e) : (tensor<128xi8>) -> ()
  }) : (i1, tensor<128xi8>) -> tensor<128xi8>
  return %d : tensor<128xi8>
}
";

/// The pictures of a plan and its summary.
struct Drawn {
    page: Value,
    svg: String,
    trace: Value,
    summary: Value,
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect("it was written")
}

fn island(html: &str) -> Value {
    let (_, behind) = html.split_once("<script type=\"application/json\" id=\"data\">").expect("the data");
    let (data, _) = behind.split_once("</script>").expect("their end");
    serde_json::from_str(data).expect("JSON")
}

fn drawn(folder: &Path, args: &[&str]) -> Drawn {
    let outputs = ["-o", "o.html", "-o", "o.svg", "-o", "o.trace.json", "-o", "o.json"];
    let (code, _, err) = neap(folder, &[args, &outputs].concat());
    assert_eq!(code, 0, "{err}");
    let json = |name: &str| serde_json::from_str(&read(folder, name)).expect("JSON");
    Drawn {
        page: island(&read(folder, "o.html")),
        svg: read(folder, "o.svg"),
        trace: json("o.trace.json"),
        summary: json("o.json"),
    }
}

/// Every figure of the page and every storage is the summary's.
fn agrees(drawn: &Drawn) {
    let functions = drawn.summary["functions"].as_array().expect("functions");
    let pages = drawn.page["functions"].as_array().expect("functions");
    assert_eq!(functions.len(), pages.len());
    for (function, page) in functions.iter().zip(pages) {
        assert_eq!(page["name"], function["name"]);
        let figures = &page["figures"];
        for key in ["arena", "peak", "lower_bound"] {
            assert_eq!(figures[key], function["plan"][key], "{key}");
        }
        assert_eq!(figures["source_peak"], function["source"]["peak"]);
        assert_eq!(figures["peak_step"], function["peak_step"]["step"]);
        assert_eq!(figures["at_peak"], function["peak_step"]["storages"]);
        for saved in page["saved"].as_array().expect("a ladder") {
            let key = match saved[0].as_str().expect("a name") {
                "fusion" => "fuse".to_owned(),
                name => name.replace(' ', "_"),
            };
            assert_eq!(saved[1], function["saved"][key.as_str()], "{key}");
        }
        storages(function, page);
        let curve = |at: usize| page["curves"][at].as_array().expect("a curve").iter().filter_map(Value::as_u64).max();
        assert_eq!(curve(1), function["plan"]["peak"].as_u64(), "the curve's peak");
        assert_eq!(curve(0), function["source"]["peak"].as_u64(), "the peak of the curve before");
    }
}

fn storages(function: &Value, page: &Value) {
    let (columns, values) = (&page["storages"], &page["values"]);
    let listed = function["storages"].as_array().expect("storages");
    assert_eq!(columns["size"].as_array().map(Vec::len), Some(listed.len()));
    for (at, storage) in listed.iter().enumerate() {
        for (column, expected) in [
            ("size", &storage["size"]),
            ("offset", &storage["offset"]),
            ("align", &storage["align"]),
            ("begin", &storage["live"][0]),
            ("end", &storage["live"][1]),
        ] {
            assert_eq!(&columns[column][at], expected, "{column} of storage {at}");
        }
        let range = |at: usize| columns["values"][at].as_u64().expect("a start") as usize;
        let names = &values["name"].as_array().expect("names")[range(at)..range(at + 1)];
        assert_eq!(names, storage["names"].as_array().expect("names").as_slice(), "storage {at}");
    }
}

#[test]
fn what_is_drawn_is_what_the_summary_says() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), SOURCE).expect("written");
    let planned = drawn(folder.path(), &["plan", "in.mlir", "-o", "o.mlir"]);
    agrees(&planned);
    let storages = planned.summary["functions"][0]["storages"].as_array().expect("storages").len();
    let inside = planned.svg.matches("<rect class=\"s ").count();
    assert_eq!(inside, storages, "a rectangle for each storage");
    assert!(planned.svg.contains("&lt;/script&gt;") && !planned.svg.contains("<b>a"), "a name is text");
    // The same plan read from its file, without the graph before planning.
    let later = drawn(folder.path(), &["report", "o.mlir"]);
    agrees(&later);
    assert_eq!(later.page["functions"][0]["storages"], planned.page["functions"][0]["storages"]);
    assert_eq!(later.page["functions"][0]["ops"], planned.page["functions"][0]["ops"]);
    assert_eq!(later.page["functions"][0]["before"], "in this order, nothing shared");
}

#[test]
fn a_trace_begins_and_ends_every_storage_and_counts_up_to_the_peak() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), SOURCE).expect("written");
    let drawn = drawn(folder.path(), &["plan", "in.mlir"]);
    let events = drawn.trace["traceEvents"].as_array().expect("events");
    let function = &drawn.summary["functions"][0];
    let mut open: BTreeMap<String, [u64; 2]> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "b" || event["ph"] == "e") {
        let at = usize::from(event["ph"] == "e");
        let steps = event["ts"].as_u64().expect("a time") / 1000;
        open.entry(event["id"].as_str().expect("an id").to_owned()).or_insert([u64::MAX; 2])[at] = steps;
    }
    let listed = function["storages"].as_array().expect("storages");
    assert_eq!(open.len(), listed.len());
    for (at, storage) in listed.iter().enumerate() {
        assert_eq!(serde_json::json!(open[&format!("1.{at}")]), storage["live"], "storage {at}");
    }
    let count = |name: &str| {
        let counted = events.iter().filter(|event| event["ph"] == "C" && event["name"] == name);
        counted.filter_map(|event| event["args"]["bytes"].as_u64()).max()
    };
    assert_eq!(count("bytes held"), function["plan"]["peak"].as_u64());
    assert_eq!(count("bytes held before planning"), function["source"]["peak"].as_u64());
    let slices = events.iter().filter(|event| event["ph"] == "X").count();
    assert_eq!(Some(slices as u64), function["ops"].as_u64(), "one slice for each operation");
}

#[test]
fn a_trace_counts_each_of_several_arenas() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), SOURCE).expect("written");
    let drawn = drawn(folder.path(), &["plan", "in.mlir", "--arena", "fast=400", "--arena", "slow=4K"]);
    let events = drawn.trace["traceEvents"].as_array().expect("events");
    let arenas = drawn.summary["functions"][0]["arenas"].as_array().expect("arenas");
    assert!(arenas.len() == 2 && arenas.iter().all(|arena| arena["peak"].as_u64() > Some(0)), "{arenas:?}");
    for arena in arenas {
        let name = format!("bytes held in @{}", arena["name"].as_str().expect("a name"));
        let counted = events.iter().filter(|event| event["ph"] == "C" && event["name"] == name.as_str());
        let bytes: Vec<u64> = counted.filter_map(|event| event["args"]["bytes"].as_u64()).collect();
        assert_eq!((bytes.iter().max().copied(), bytes.last()), (arena["peak"].as_u64(), Some(&0)), "{name}");
    }
}

/// Who makes and who reads: through a view, in place, and out of a branch.
#[test]
fn the_page_knows_who_makes_and_who_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), SOURCE).expect("written");
    let page = drawn(
        folder.path(),
        &["plan", "in.mlir", "--pass-pipeline=canonicalize-views,lock-effects,reorder,assign-offsets"],
    )
    .page;
    let function = &page["functions"][0];
    let list = |side: &str, step: usize| -> Vec<String> {
        let flat = &function["ops"][side];
        let start = |at: usize| flat["starts"][at].as_u64().expect("a start") as usize;
        let items = &flat["items"].as_array().expect("items")[start(step)..start(step + 1)];
        items
            .iter()
            .map(|value| function["values"]["name"][value.as_u64().expect("an index") as usize].to_string())
            .collect()
    };
    let step = |kind: &str, nth: usize| {
        let kinds = function["ops"]["kind"].as_array().expect("kinds");
        let is = |kind_at: &Value| page["strings"][kind_at.as_u64().expect("an index") as usize] == kind;
        kinds.iter().enumerate().filter(|(_, at)| is(at)).nth(nth).expect("an operation").0
    };
    assert_eq!(list("reads", step("neap.opaque", 0)), ["\"%x\""]);
    assert_eq!(list("makes", step("stablehlo.abs", 0)), ["\"%b\""]);
    assert_eq!(list("reads", step("neap.opaque", 1)), ["\"%b\""]);
    let branch = step("neap.if", 0);
    assert_eq!(list("makes", branch), ["\"%d\""]);
    assert!(list("reads", branch).contains(&"\"%s\"".to_owned()), "what a body hands out is read by the branch");
}

#[test]
fn what_is_no_report_is_refused_with_the_verb_that_writes_it() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), SOURCE).expect("written");
    let (code, _, err) = neap(folder.path(), &["report", "in.mlir", "-o", "o.h"]);
    assert!(code == 2 && err.contains("neap emit"), "{err}");
    let (code, _, err) = neap(folder.path(), &["report", "in.mlir", "-o", "o.html"]);
    assert!(code == 1 && err.contains("holds no plan") && err.contains("-o report.html"), "{err}");
    assert!(!folder.path().join("o.html").exists());
}

#[test]
fn ranges_of_sizes_are_drawn_one_by_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "func.func @main(%x: tensor<?xi8> {neap.dims = [\"N\"]}) -> tensor<8xi8> {
  %y = \"neap.opaque\"(%x) : (tensor<?xi8>) -> tensor<8xi8>
  return %y : tensor<8xi8>
}
";
    fs::write(folder.path().join("in.mlir"), text).expect("written");
    let (code, _, err) = neap(folder.path(), &["plan", "in.mlir", "--buckets=N=4,64", "-o", "o.html"]);
    assert_eq!(code, 0, "{err}");
    let page = island(&read(folder.path(), "o.html"));
    let arenas: Vec<&Value> =
        page["functions"].as_array().expect("functions").iter().map(|function| &function["figures"]["arena"]).collect();
    assert_eq!(arenas, [12, 72]);
    assert_eq!(page["functions"][0]["name"], "main[N=1..4]");
    // The same of plans that are there already; what they were made from is not known then.
    let args = ["plan", "in.mlir", "--buckets=N=4,64", "-o", "plan.mlir", "-o", "made.json"];
    assert_eq!(neap(folder.path(), &args).0, 0);
    let (code, _, err) = neap(folder.path(), &["report", "plan.mlir", "-o", "later.html", "-o", "later.json"]);
    assert_eq!(code, 0, "{err}");
    let later = island(&read(folder.path(), "later.html"));
    let figures = |page: &Value| -> Vec<Value> {
        let functions = page["functions"].as_array().expect("functions");
        functions.iter().map(|function| function["figures"]["arena"].clone()).collect()
    };
    assert_eq!(figures(&later), figures(&page));
    let of = |page: &Value| page["functions"][0]["figures"]["source_is_plan"].clone();
    assert_eq!((of(&page), of(&later)), (false.into(), true.into()));
    let of = |name: &str| -> Value {
        let summary: Value = serde_json::from_str(&read(folder.path(), name)).expect("JSON");
        summary["functions"][0]["source"]["of"].clone()
    };
    assert_eq!((of("made.json"), of("later.json")), ("input".into(), "plan".into()));
    assert!(page["functions"][0]["ops"]["kind"].as_array().is_some_and(|kinds| kinds.len() == 1), "{page}");
}

/// Chromium's `Trace Event Format`, as Perfetto reads it: which fields an event of each phase has, and of which type.
#[test]
fn a_trace_has_the_fields_that_its_format_asks_for() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), SOURCE).expect("written");
    let trace = drawn(folder.path(), &["plan", "in.mlir"]).trace;
    assert_eq!(trace["displayTimeUnit"], "ms");
    let events = trace["traceEvents"].as_array().expect("events");
    let mut phases = BTreeSet::new();
    let mut open: BTreeMap<(String, String), u64> = BTreeMap::new();
    for event in events {
        let text = |key: &str| event[key].as_str().unwrap_or_else(|| panic!("{key} is no text: {event}")).to_owned();
        let number = |key: &str| event[key].as_u64().unwrap_or_else(|| panic!("{key} is no number: {event}"));
        let ph = text("ph");
        assert!(!text("name").is_empty() && number("pid") > 0 && number("tid") > 0, "{event}");
        let ts = number("ts");
        let args = event["args"].as_object().unwrap_or_else(|| panic!("no arguments: {event}"));
        match ph.as_str() {
            "M" => assert!(matches!(text("name").as_str(), "process_name" | "thread_name") && args["name"].is_string()),
            "X" => assert!(number("dur") > 0 && !text("cat").is_empty(), "{event}"),
            "C" => assert!(!args.is_empty() && args.values().all(Value::is_u64), "{event}"),
            "b" => assert_eq!(open.insert((text("cat"), text("id")), ts), None, "{event}"),
            "e" => {
                let begin = open.remove(&(text("cat"), text("id")));
                assert!(begin.is_some_and(|begin| begin < ts), "{event}");
            }
            other => panic!("no phase: {other}"),
        }
        phases.insert(ph);
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(phases.into_iter().collect::<Vec<_>>(), ["C", "M", "X", "b", "e"]);
}

/// Charts are as wide as `COLUMNS` says, where it says anything.
#[test]
fn charts_follow_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.mlir"), SOURCE).expect("written");
    let widest = |columns: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_neap"));
        command.args(["plan", "in.mlir", "--summary=full"]).current_dir(folder.path()).env("COLUMNS", columns);
        let output = command.output().expect("the binary runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let drawn = |line: &&str| line.contains('\u{2588}');
        text.lines().filter(drawn).map(|line| line.trim_end().chars().count()).max().expect("charts")
    };
    let (narrow, wide) = (widest("60"), widest("140"));
    assert!(narrow <= 60 && narrow < wide && wide <= 140, "{narrow} {wide}");
    assert_eq!(widest("no number"), widest("100"));
}
