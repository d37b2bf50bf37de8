//! NPU graphs through the program: schedules that a replay accepts, spills within the capacities, and what goes wrong.

#[path = "../../import/tests/support/npu_cases.rs"]
mod npu_cases;

use neap_import::npu::graph::{self, BufferId};
use neap_import::npu::hazards;
use neap_import::npu::replay::{Outcome, Plan, Rules, replay};
use std::path::Path;
use std::process::Command;

/// What a run said.
struct Said {
    exit: i32,
    out: String,
    err: String,
}

fn neap(folder: &Path, args: &[&str]) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_neap")).args(args).current_dir(folder).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("all output is text");
    Said { exit: output.status.code().expect("no signal"), out: text(&output.stdout), err: text(&output.stderr) }
}

fn written(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// `BufId:Offset` lines.
fn pairs(text: &str) -> Vec<(u32, u64)> {
    text.lines()
        .map(|line| line.split_once(':').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).unwrap())
        .collect()
}

/// Replays what the program wrote, from its files alone.
fn judged(folder: &Path, json: &str, rules: Rules) -> Outcome {
    let graph = graph::read(json.as_bytes()).unwrap();
    let program = hazards::program(&graph).unwrap();
    let schedule = written(folder, "x.schedule").lines().map(|line| line.parse().unwrap()).collect();
    let mut plan = Plan { schedule, ..Plan::default() };
    if rules == Rules::Memory {
        plan.offsets = pairs(&written(folder, "x.memory")).into_iter().map(|(_, offset)| offset).collect();
        let place = |id: u32| graph.buffers.iter().position(|buffer| buffer.id == id).unwrap() as u32;
        plan.spills = pairs(&written(folder, "x.spills")).iter().map(|(id, at)| (BufferId(place(*id)), *at)).collect();
    }
    replay(&graph, &program, &plan, rules).unwrap_or_else(|broken| panic!("{broken:?}"))
}

#[test]
fn an_order_is_written_by_ids() {
    let folder = tempfile::tempdir().unwrap();
    let json = npu_cases::matmul(2, 2, 2, true);
    std::fs::write(folder.path().join("g.json"), &json).unwrap();
    let run = neap(folder.path(), &["plan", "g.json", "-o", "x.schedule", "-o", "x.steps.csv", "--summary=json"]);
    assert_eq!(run.exit, 0, "{}", run.err);
    let outcome = judged(folder.path(), &json, Rules::Order);
    let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(summary["functions"][0]["plan"]["peak"], outcome.peak);
    // A row, a column, and one more of each: no order of the four products needs fewer than four tiles.
    assert_eq!(outcome.peak, 4 * 128);
    let steps = written(folder.path(), "x.steps.csv");
    assert_eq!(steps.lines().next(), Some("step,id,resident,L1,UB,L0A,L0B,L0C"));
    let most = steps.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse::<u64>().unwrap()).max();
    assert_eq!(most, Some(outcome.peak));
    assert!(steps.lines().last().unwrap().ends_with(",0,0,0,0,0,0"), "something is resident at the end");
}

#[test]
fn a_tiled_product_is_proved() {
    // All columns are live when the first row is done, and no second line is done before all of it is there: no minimum cut sees that.
    let folder = tempfile::tempdir().unwrap();
    for (side, peak) in [(8, 9 * 8 * 128), (16, 17 * 16 * 128)] {
        let json = npu_cases::matmul(side, side, side, true);
        std::fs::write(folder.path().join("g.json"), &json).unwrap();
        let run = neap(folder.path(), &["plan", "g.json", "-o", "x.schedule", "--summary=json"]);
        assert_eq!(run.exit, 0, "{}", run.err);
        assert_eq!(judged(folder.path(), &json, Rules::Order).peak, peak);
        let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let plan = &summary["functions"][0]["plan"];
        assert_eq!((plan["lower_bound"].as_u64(), plan["proof_by"].as_str()), (Some(peak), Some("search")));
        let budget = (peak - 1).to_string();
        let run = neap(folder.path(), &["plan", "g.json", "--budget", &budget]);
        assert!(run.exit == 3 && run.err.contains("proved"), "{} {}", run.exit, run.err);
    }
}

#[test]
fn spills_keep_the_capacities() {
    let folder = tempfile::tempdir().unwrap();
    let json = npu_cases::matmul(4, 4, 8, false);
    std::fs::write(folder.path().join("g.json"), &json).unwrap();
    for objective in ["traffic", "makespan"] {
        let outputs = ["-o", "x.schedule", "-o", "x.memory", "-o", "x.spills", "-o", "x.steps.csv"];
        let args = ["plan", "g.json", "--objective", objective, "--summary=json"];
        let run = neap(folder.path(), &[&args[..], &outputs[..]].concat());
        assert_eq!(run.exit, 0, "{}", run.err);
        let outcome = judged(folder.path(), &json, Rules::Memory);
        let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(summary["traffic"], outcome.traffic);
        assert_eq!(summary["makespan"], outcome.makespan);
        // Eight strips of eight tiles, four of which fit: without spills the peak is at least a row and a column more.
        assert!(outcome.traffic > 0 && outcome.peaks[0] <= 4096, "{outcome:?}");
    }
}

#[test]
fn what_cannot_be_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let json = npu_cases::matmul(1, 1, 1, true);
    std::fs::write(folder.path().join("g.json"), json.replace("\"Size\":128", "\"Size\":5000")).unwrap();
    let run = neap(folder.path(), &["plan", "g.json", "--objective", "traffic"]);
    assert_eq!(run.exit, 3);
    assert!(run.err.contains("(COPY_IN) touches 5000 bytes of L1, which holds 4096"), "{}", run.err);
    std::fs::write(folder.path().join("m.mlir"), "module {\n}\n").unwrap();
    let run = neap(folder.path(), &["plan", "m.mlir", "--objective", "traffic"]);
    assert_eq!(run.exit, 2);
    assert!(run.err.contains("`m.mlir` is no NPU graph"), "{}", run.err);
    let run = neap(folder.path(), &["plan", "g.json", "--objective", "traffic", "--budget", "1K"]);
    assert!(run.exit == 2 && run.err.contains("`--budget` has no meaning"), "{}", run.err);
    let run = neap(folder.path(), &["plan", "g.json", "-o", "x.memory"]);
    assert!(run.exit == 2 && run.err.contains("an order alone has no places"), "{}", run.err);
}

#[test]
fn broken_files_are_told_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let good = npu_cases::matmul(1, 1, 1, true);
    let nodes = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    let cycle = nodes("\"Edges\":[", "\"Edges\":[[4,3],[3,4],");
    for (text, parts) in [
        (nodes("\"Id\":3,", ""), &["error: entry 3 of `Nodes` has no `Id`"][..]),
        (nodes("\"Id\":3,", "\"Id\":2,"), &["error: `Id` 2 is given twice", "given first here"]),
        (nodes("\"Size\":128", "\"Size\":-128"), &["`Size` -128 is negative"]),
        (nodes("\"Bufs\":[1]", "\"Bufs\":[77]"), &["touches buffer 77, which has no ALLOC"]),
        (nodes("\"Edges\":[", "\"Edges\":[[0,99],"), &["names node 99, which does not exist"]),
        (cycle, &["the dependencies form a cycle: node 3 (COPY_IN) -> node 4 (COPY_IN) -> node 3 (COPY_IN)"]),
        (nodes("\"Op\":\"FREE\"", "\"Op\":\"FREED\""), &["has no FREE node"]),
        ("[[], []]".to_owned(), &["the file is no JSON object", "help: expected {\"Nodes\""]),
        ("{\"Nodes\":[[1]]}".to_owned(), &["node 0 is not an object", "g.json:1:11"]),
        ("{\"Nodes\":[{\"Id\":1.5}]}".to_owned(), &["node 0: invalid type", "g.json:1:"]),
        (good[..good.len() / 2].to_owned(), &["the file: EOF"]),
        ("{}".to_owned(), &["the file has no `Nodes`"]),
        ("[".repeat(100_000_000), &["the file is no JSON object"]),
        (format!("{{\"Nodes\":{}", "[".repeat(100_000_000)), &["the file: EOF", "g.json:1:"]),
        (format!("{{\"x\":{}", "{\"a\":".repeat(20_000_000)), &["the file: EOF", "g.json:1:"]),
    ] {
        std::fs::write(folder.path().join("g.json"), &text).unwrap();
        let run = neap(folder.path(), &["plan", "g.json", "-o", "x.schedule"]);
        let said = &run.err[..run.err.len().min(3000)];
        assert_eq!((run.exit, run.out.as_str()), (1, ""), "{said}");
        parts.iter().for_each(|part| assert!(said.contains(part), "{part}: {said}"));
        assert!(said.contains("g.json:") && !folder.path().join("x.schedule").exists(), "{said}");
    }
    // One wrong node is one error: what follows from it is not said.
    for (from, to) in [("\"Size\":128", "\"Size\":-1"), ("\"Type\":\"L1\"", "\"Type\":\"L7\"")] {
        std::fs::write(folder.path().join("g.json"), nodes(from, to)).unwrap();
        let run = neap(folder.path(), &["plan", "g.json"]);
        assert_eq!(run.err.matches("error:").count(), 1, "{}", run.err);
    }
}

#[test]
fn remarks_name_the_kinds_of_dependency() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("g.json"), npu_cases::matmul(2, 2, 2, true)).unwrap();
    let run = neap(folder.path(), &["plan", "g.json", "--remarks"]);
    assert_eq!(run.exit, 0, "{}", run.err);
    // Of each of the four products the second multiplication writes the sum again, and 16 moves and 4 results read what was written.
    for part in [
        "of an allocation before use",
        "4 of a write after a write",
        " of a read after a write",
        "0 of a write after a read",
    ] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    assert!(
        run.err.contains("at the peak runs node") && run.err.contains("is allocated before it is used"),
        "{}",
        run.err
    );
    assert!(!neap(folder.path(), &["plan", "g.json"]).err.contains("dependencies"));
}
