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
