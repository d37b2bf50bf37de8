//! NPU graphs: what is wrong with a file is said with its place, and the replay refuses every broken rule.

#[path = "support/npu_cases.rs"]
mod npu_cases;

use neap_import::npu::graph::{self, BufferId, Graph};
use neap_import::npu::hazards::{self, Program, Reason};
use neap_import::npu::replay::{Plan, Rules, Violation, replay};
use neap_ir::diag::Diagnostic;

/// One buffer that is read twice and written twice: 0 ALLOC, 1 COPY_IN, 2 and 3 readers, 4 a second write, 5 a read of that.
const SMALL: &str = r#"{"Nodes":[
{"Id":0,"Op":"ALLOC","BufId":0,"Size":8,"Type":"UB"},
{"Id":1,"Op":"COPY_IN","Pipe":"MTE2","Cycles":10,"Bufs":[0]},
{"Id":2,"Op":"COPY_OUT","Pipe":"MTE3","Cycles":10,"Bufs":[0]},
{"Id":3,"Op":"COPY_OUT","Pipe":"MTE3","Cycles":10,"Bufs":[0]},
{"Id":4,"Op":"ADD","Pipe":"VECTOR","Cycles":10,"Bufs":[0]},
{"Id":5,"Op":"COPY_OUT","Pipe":"MTE3","Cycles":10,"Bufs":[0]},
{"Id":6,"Op":"FREE","BufId":0,"Size":8,"Type":"UB"}]}"#;

fn read(text: &str) -> (Graph, Program) {
    let graph = graph::read(text.as_bytes()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let program = hazards::program(&graph).unwrap_or_else(|errors| panic!("{errors:?}"));
    (graph, program)
}

fn errors(text: &str) -> Vec<Diagnostic> {
    let read = graph::read(text.as_bytes()).and_then(|graph| hazards::program(&graph));
    read.expect_err("this file is wrong")
}

/// The first error's message, and the text it points at.
fn error(text: &str) -> (String, &str) {
    let error = errors(text).swap_remove(0);
    (error.message, &text[error.span.start as usize..error.span.end as usize])
}

#[test]
fn what_is_wrong_is_said_at_its_place() {
    let broken = [
        (SMALL.replace(r#""Id":1,"#, ""), "entry 1 of `Nodes` has no `Id`", "COPY_IN"),
        (SMALL.replace(r#""Id":3,"#, r#""Id":2,"#), "`Id` 2 is given twice", "COPY_OUT"),
        (SMALL.replace(r#""Id":3,"#, r#""Id":-3,"#), "`Id` -3 is not between", "-3"),
        (SMALL.replace(r#""Op":"ADD","#, ""), "node 4 has no `Op`", r#""Id":4"#),
        (
            SMALL.replace(r#"VECTOR","Cycles":10,"Bufs":[0]"#, r#"VECTOR","Cycles":10,"Bufs":[7]"#),
            "node 4 (ADD) touches buffer 7",
            r#""Id":4"#,
        ),
        (SMALL.replacen(r#""Size":8"#, r#""Size":-8"#, 1), "node 0 (ALLOC): `Size` -8 is negative", "-8"),
        (
            SMALL.replacen(r#""Size":8"#, r#""Size":9"#, 1),
            "buffer 0 is allocated with 9 bytes in UB and freed with 8",
            "FREE",
        ),
        (SMALL.replace("UB", "L9"), "node 0 (ALLOC): there is no buffer type `L9`", "L9"),
        (SMALL.replace(r#""Cycles":10"#, r#""Cycles":-1"#), "`Cycles` -1 is negative", "-1"),
        (SMALL.replace(r#""Pipe":"MTE2","#, ""), "node 1 (COPY_IN) has no `Pipe`", "COPY_IN"),
        (
            SMALL.replace(
                r#","Bufs":[0]},
{"Id":5"#,
                r#"},
{"Id":5"#,
            ),
            "node 4 (ADD) has no `Bufs`",
            "ADD",
        ),
        (SMALL.replace(r#""Op":"ALLOC""#, r#""Op":"FREE""#), "buffer 0 has two FREE nodes", "FREE"),
        (
            SMALL.replace(
                r#",
{"Id":6,"Op":"FREE","BufId":0,"Size":8,"Type":"UB"}"#,
                "",
            ),
            "buffer 0 has no FREE node",
            "ALLOC",
        ),
        (SMALL.replace("]}", r#"],"Edges":[[1,99]]}"#), "edge 0 names node 99, which does not exist", "[1,99]"),
        (SMALL.replace(r#""Id":4"#, r#""Id":4.5"#), "node 4: invalid type: floating point", "5"),
        (SMALL.replace(r#""Id":4"#, r#""Id":"4""#), "node 4: invalid type: string", "\""),
        (SMALL.replace(r#""Id":4"#, r#""Id":4,"Id":4"#), "node 4: duplicate field", ""),
        (SMALL[..90].to_owned(), "the file: EOF", ""),
        (r#"{"Edges":[]}"#.to_owned(), "the file has no `Nodes`", ""),
        ("[]".to_owned(), "the file is no JSON object", "["),
        (" x".to_owned(), "the file is no JSON object", "x"),
        (
            SMALL.replacen(r#"{"Id":0,"Op":"ALLOC","BufId":0,"Size":8,"Type":"UB"}"#, "[0]", 1),
            "node 0 is not an object",
            "[",
        ),
        (SMALL.replace("]}", r#"],"Edges":[7]}"#), "edge 0 is not a list", "7"),
    ];
    for (text, message, place) in &broken {
        let (said, at) = error(text);
        assert!(said.contains(message), "{said:?} does not say {message:?}");
        assert!(at.contains(place), "{said:?} points at {at:?}, not at {place:?}");
    }
}

#[test]
fn several_errors_are_told_and_the_rest_counted() {
    let many = SMALL.replace(r#""Cycles":10"#, r#""Cycles":-1"#);
    assert_eq!(errors(&many).len(), 5);
    let edges: Vec<String> = (0..50).map(|at| format!("[0,{}]", 100 + at)).collect();
    let all = errors(&SMALL.replace("]}", &format!("],\"Edges\":[{}]}}", edges.join(","))));
    assert_eq!(all.len(), 20);
    assert_eq!(all[19].notes, ["30 more errors are not shown"]);
}

#[test]
fn a_cycle_is_printed() {
    let text = SMALL.replace("]}", r#"],"Edges":[[3,1],[1,2],[2,3]]}"#);
    let (said, at) = error(&text);
    assert_eq!(
        said,
        "the dependencies form a cycle: node 1 (COPY_IN) -> node 2 (COPY_OUT) -> node 3 (COPY_OUT) -> node 1 (COPY_IN)"
    );
    assert!(at.contains(r#""Id":1,"#));
}

#[test]
fn nesting_of_any_depth_is_an_error_and_no_overflow() {
    let deep = 2_000_000;
    for (head, tail) in [("{\"Nodes\":", ""), ("{\"x\":", ""), ("{\"Nodes\":[", "]}"), ("", "")] {
        let (open, close) = ("[".repeat(deep), "]".repeat(deep));
        errors(&format!("{head}{open}"));
        errors(&format!("{head}{open}{close}{tail}"));
    }
}

#[test]
fn a_write_waits_for_the_reads_of_what_was_there() {
    let (_, program) = read(SMALL);
    let found = |first: u32, then: u32| {
        let pair = |one: &&hazards::Dependency| (one.first.0, one.then.0) == (first, then);
        program.dependencies.iter().find(pair).map(|one| one.reason)
    };
    let buffer = BufferId(0);
    assert_eq!(found(0, 1), Some(Reason::Allocation(buffer)));
    assert_eq!(found(1, 2), Some(Reason::ReadAfterWrite(buffer)));
    assert_eq!(found(1, 4), Some(Reason::WriteAfterWrite(buffer)));
    assert_eq!(found(2, 4), Some(Reason::WriteAfterRead(buffer)));
    assert_eq!(found(4, 5), Some(Reason::ReadAfterWrite(buffer)));
    assert_eq!(found(5, 6), Some(Reason::Release(buffer)));
    assert_eq!(found(2, 3), None, "reads have no order among themselves");
}

#[test]
fn given_edges_win_over_ids() {
    // The reader 5 is put before the second write 4: it reads what 1 brought.
    let (_, program) = read(&SMALL.replace("]}", r#"],"Edges":[[5,4]]}"#));
    let pair =
        program.dependencies.iter().find(|one| (one.first.0, one.then.0) == (5, 4) && one.reason != Reason::Given);
    assert_eq!(pair.map(|one| one.reason), Some(Reason::WriteAfterRead(BufferId(0))));
}

#[test]
fn edges_without_a_buffer_become_tokens() {
    let (_, program) = read(&SMALL.replace("]}", r#"],"Edges":[[3,2],[1,2]]}"#));
    assert_eq!(program.tokens.iter().map(|(a, b)| (a.0, b.0)).collect::<Vec<_>>(), [(3, 2)]);
    let text = SMALL.replace("]}", r#"],"Edges":[[3,2]]}"#);
    let module = neap_import::read_npu(text.as_bytes()).unwrap();
    let printed = neap_ir::print(&module, &neap_ir::PrintOptions::default());
    assert_eq!(printed.matches("!neap.token").count(), 2, "one token given, one taken:\n{printed}");
}

#[test]
fn the_same_graph_without_edges() {
    let (with, without) = (read(&npu_cases::matmul(2, 3, 2, true)), read(&npu_cases::matmul(2, 3, 2, false)));
    assert_eq!(with.1.order, without.1.order);
    assert_eq!(with.1.accesses, without.1.accesses);
}

/// The plan that runs SMALL with one spill between its reads.
fn spilled() -> Plan {
    Plan { schedule: vec![0, 1, 2, 7, 8, 3, 4, 5, 6], offsets: vec![0], spills: vec![(BufferId(0), 1016)] }
}

#[test]
fn a_replay_counts_traffic_and_cycles() {
    let (graph, program) = read(SMALL);
    let outcome = replay(&graph, &program, &spilled(), Rules::Memory).unwrap();
    // The buffer is written again later, so the copy outside does not stand for it: out and in, 2 * 8 + 150 cycles each.
    assert_eq!((outcome.traffic, outcome.makespan), (16, 10 + 10 + 166 + 166 + 10 + 10 + 10));
    assert_eq!(outcome.peak, 8);
    let once = Plan { schedule: vec![0, 1, 2, 3, 4, 5, 6], ..Plan::default() };
    assert_eq!(replay(&graph, &program, &once, Rules::Order).unwrap().peak, 8);
}

#[test]
fn a_replay_refuses_every_broken_rule() {
    let (graph, program) = read(SMALL);
    let change = |edit: fn(&mut Plan)| {
        let mut plan = spilled();
        edit(&mut plan);
        replay(&graph, &program, &plan, Rules::Memory).expect_err("this plan breaks a rule").swap_remove(0)
    };
    assert!(matches!(change(|p| p.schedule.push(99)), Violation::Unknown { id: 99, .. }));
    assert!(matches!(change(|p| p.schedule.push(3)), Violation::Twice { id: 3, .. }));
    assert!(matches!(change(|p| p.schedule.truncate(8)), Violation::Missing { .. }));
    assert!(matches!(change(|p| p.schedule.swap(6, 7)), Violation::Order(one) if one.then.0 == 5));
    assert!(
        matches!(change(|p| p.schedule.swap(5, 6)), Violation::Order(one) if one.reason == Reason::WriteAfterRead(BufferId(0)))
    );
    assert!(matches!(change(|p| p.schedule.swap(4, 5)), Violation::NotResident { .. }));
    assert!(matches!(change(|p| p.schedule.swap(3, 4)), Violation::Spill { .. }));
    assert!(matches!(change(|p| p.schedule.retain(|id| *id != 8)), Violation::Spill { .. }));
    assert!(matches!(change(|p| p.spills[0].1 = 1017), Violation::Capacity { end: 1025, .. }));
    assert!(matches!(change(|p| p.offsets.clear()), Violation::NoOffset { .. }));
}

#[test]
fn a_replay_sees_classes_and_overlaps() {
    let (graph, program) = read(&npu_cases::matmul(1, 2, 1, true));
    let ids: Vec<u32> = program.order.iter().map(|node| graph.nodes[node.index()].id).collect();
    // All FREE nodes at the end: both accumulators are live together.
    let plan = Plan { schedule: ids, ..Plan::default() };
    let broken = replay(&graph, &program, &plan, Rules::Order).expect_err("two buffers in a class of one");
    assert!(matches!(broken[0], Violation::Class { live: 2, .. }), "{broken:?}");
    let plan = Plan { offsets: vec![0; graph.buffers.len()], ..plan };
    let broken = replay(&graph, &program, &plan, Rules::Memory).expect_err("all on the same bytes");
    assert!(matches!(broken[0], Violation::Overlap { .. }), "{broken:?}");
}
