//! Branches, loops, calls, state: meanings and bytes.

mod common;

use common::{accepted, agrees, differs, refused};
use neap_check::Violation;

const HEAD: &str = "func.func @main(%p: tensor<1xi1> {neap.io = \"external\"}, %x: tensor<64xi8>";

/// A branch whose bodies capture `%a`; `%a` is read again afterwards.
fn branch(then: &str, plan: [i64; 6], peak: i64, arena: i64) -> String {
    let [x, a, t, v, w, c] = plan;
    let offset = |at: i64| if at < 0 { String::new() } else { format!(", neap.offsets = array<i64: {at}>") };
    let (ta, tt, tv, tw) = (offset(a), offset(t), offset(v), offset(w));
    let tc = offset(c);
    let (arg, func) = match x {
        -1 => (String::new(), String::new()),
        _ => (
            format!(" {{neap.offset = {x} : i64}}"),
            format!(" attributes {{neap.peak = {peak} : i64, neap.arena_bytes = {arena} : i64}}"),
        ),
    };
    let b = if x < 0 { String::new() } else { " {neap.offsets = array<i64: 192>}".to_owned() };
    format!(
        r#"{HEAD}{arg}) -> tensor<64xi8>{func} {{
  %a = "neap.opaque"(%x) {{kind = "relu"{ta}}} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.if"(%p, %a) ({{
  ^bb0(%u: tensor<64xi8>):
    %t = "neap.opaque"(%u) {{kind = "{then}"{tt}}} : (tensor<64xi8>) -> tensor<64xi8>
    %v = "neap.opaque"(%t) {{kind = "exp"{tv}}} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%v) : (tensor<64xi8>) -> ()
  }}, {{
  ^bb0(%u2: tensor<64xi8>):
    %w = "neap.opaque"(%u2) {{kind = "abs"{tw}}} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%w) : (tensor<64xi8>) -> ()
  }}){b} : (tensor<1xi1>, tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%a, %b) {{kind = "add"{tc}}} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %c : tensor<64xi8>
}}"#
    )
}

#[test]
fn a_branch_keeps_what_is_read_after_it() {
    let source = branch("neg", [-1; 6], 0, 0);
    // x 0, a 64; t 0, v 128; w 0; b 192; c 0.
    accepted(&source, &branch("neg", [0, 64, 0, 128, 0, 0], 192, 256));
    // The body's own values over the captured one.
    refused(
        &source,
        &branch("neg", [0, 64, 0, 64, 0, 0], 192, 256),
        |v| matches!(v, Violation::Overwritten { value, by, .. } if value == "`%a`" && by.op.is_some()),
    );
    // Only in the second body.
    refused(&source, &branch("neg", [0, 64, 0, 128, 100, 0], 192, 256), |v| {
        matches!(v, Violation::Overlap { .. } | Violation::Overwritten { .. })
    });
    refused(
        &source,
        &branch("tanh", [0, 64, 0, 128, 0, 0], 192, 256),
        |v| matches!(v, Violation::Result { culprit: Some(op), .. } if op.contains("if")),
    );
}

#[test]
fn both_ways_and_the_condition_count() {
    let source = branch("neg", [-1; 6], 0, 0);
    agrees(&source, &source);
    differs(&source, &source.replace("\"abs\"", "\"sin\""));
    let two = "func.func @main(%p: tensor<1xi1>, %q: tensor<1xi1>, %x: tensor<8xi8>) -> tensor<8xi8> {
  %b = \"scf.if\"(%p) ({
    %t = \"neap.opaque\"(%x) {kind = \"f\"} : (tensor<8xi8>) -> tensor<8xi8>
    \"scf.yield\"(%t) : (tensor<8xi8>) -> ()
  }, {
    \"scf.yield\"(%x) : (tensor<8xi8>) -> ()
  }) : (tensor<1xi1>) -> tensor<8xi8>
  return %b : tensor<8xi8>
}";
    agrees(two, two);
    differs(two, &two.replace("\"scf.if\"(%p)", "\"scf.if\"(%q)"));
}

/// A loop that captures `%k` and carries `%c`; offsets of x, k, carried, t, u, result.
fn looped(plan: Option<[i64; 6]>, in_place: &str) -> String {
    let offset = |at: usize| plan.map_or(String::new(), |plan| format!(", neap.offsets = array<i64: {}>", plan[at]));
    let (arg, func) = match plan {
        None => (String::new(), String::new()),
        Some(plan) => {
            let arena = plan.iter().map(|at| at + 64).max().unwrap_or(0);
            (
                format!(", neap.offset = {} : i64", plan[0]),
                format!(" attributes {{neap.peak = 256 : i64, neap.arena_bytes = {arena} : i64}}"),
            )
        }
    };
    let carried = plan.map_or(String::new(), |plan| format!(", neap.arg_offsets = array<i64: -1, {}>", plan[2]));
    let (k, t, u, r) = (offset(1), offset(3), offset(4), offset(5));
    format!(
        r#"func.func @main(%n: index, %x: tensor<64xi8> {{neap.io = "arena"{arg}}}) -> tensor<64xi8>{func} {{
  %k = "neap.opaque"(%x) {{kind = "iota"{k}}} : (tensor<64xi8>) -> tensor<64xi8>
  %r = "neap.for"(%n, %x) ({{
  ^bb0(%i: index, %c: tensor<64xi8>):
    %t = "neap.opaque"(%c, %k) {{kind = "gather"{t}}} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
    %u = "tosa.abs"(%t) {{note = 1 : i64{u}{in_place}}} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%u) : (tensor<64xi8>) -> ()
  }}) {{note = 1 : i64{r}{carried}}} : (index, tensor<64xi8>) -> tensor<64xi8>
  return %r : tensor<64xi8>
}}"#
    )
}

const OVER_T: &str = ", neap.inplace = [{operand = 0 : i64, result = 0 : i64}]";

#[test]
fn a_loop_keeps_what_every_trip_reads() {
    let source = looped(None, "");
    // x 0, k 64, carried 128, t 192, u over t, result 256: during the body x, k, c, t; at the yield the result too.
    let report = common::judge(&source, &looped(Some([0, 64, 128, 192, 192, 256]), OVER_T));
    let only_peak = matches!(report.violations[..], [Violation::Number { attribute: "neap.peak", actual: 320, .. }]);
    assert!(only_peak, "{:#?}", report.diagnostics());
    // The captured value under a body's value: right on the first trip, wrong from the second.
    refused(
        &source,
        &looped(Some([0, 64, 128, 192, 64, 256]), ""),
        |v| matches!(v, Violation::Overwritten { value, .. } if value == "`%k`"),
    );
    // The carried value overwritten before it is read.
    refused(&source, &looped(Some([0, 64, 128, 128, 192, 256]), ""), |v| matches!(v, Violation::Overlap { .. }));
    // The carried value without bytes of its own.
    let planned =
        looped(Some([0, 64, 128, 192, 192, 256]), OVER_T).replace("array<i64: -1, 128>", "array<i64: -1, -1>");
    refused(&source, &planned, |v| matches!(v, Violation::NotPlanned { value, .. } if value == "`%c`"));
}

/// In place inside of a loop on a value made outside: the next trip reads it again.
/// Operands go to the arguments of the first trip one after the other: none may lie where another one goes.
#[test]
fn what_a_loop_begins_with_reaches_its_arguments() {
    let text = |places: Option<[i64; 3]>| {
        let at = |key: &str, list: &str| places.map_or(String::new(), |_| format!("{key} = array<i64: {list}>"));
        let own = |offset: u64| places.map_or(String::new(), |_| format!(" {{neap.offset = {offset} : i64}}"));
        let args = places.map_or(String::new(), |[i, a, b]| at("neap.arg_offsets", &format!("{i}, {a}, {b}")) + ", ");
        let func = places.map_or("", |_| " attributes {neap.peak = 320 : i64, neap.arena_bytes = 330 : i64}");
        format!(
            r#"func.func @main(%n: i64{}, %x: tensor<100xi8>{}, %y: tensor<100xi8>{}) -> tensor<10xi8>{func} {{
  %r:2 = "neap.for"(%n, %x, %y) ({{
  ^bb0(%i: i64, %a: tensor<100xi8>, %b: tensor<100xi8>):
    %s = "neap.opaque"(%a, %b) {{k = 1 : i64{}{}}} : (tensor<100xi8>, tensor<100xi8>) -> tensor<100xi8>
    "neap.yield"(%s, %b) : (tensor<100xi8>, tensor<100xi8>) -> ()
  }}) {{{args}{}}} : (i64, tensor<100xi8>, tensor<100xi8>) -> (tensor<100xi8>, tensor<100xi8>)
  %z = "neap.opaque"(%r#0, %r#1) {{k = 2 : i64{}{}}} : (tensor<100xi8>, tensor<100xi8>) -> tensor<10xi8>
  return %z : tensor<10xi8>
}}"#,
            own(900),
            own(0),
            own(100),
            if places.is_some() { ", " } else { "" },
            at("neap.offsets", "600"),
            at("neap.offsets", "700, 800"),
            if places.is_some() { ", " } else { "" },
            at("neap.offsets", "920"),
        )
    };
    let lost = |v: &Violation| matches!(v, Violation::Overlap { why, .. } if why == "it is still to be handed out");
    let source = text(None);
    // Each where the other one is, one on a part of its own operand, and the counter of trips on an operand.
    for places in [[940, 100, 0], [940, 50, 300], [20, 300, 400]] {
        refused(&source, &text(Some(places)), lost);
    }
    // Where each lies already, and apart.
    for places in [[940, 0, 100], [940, 300, 400]] {
        let planned = neap_ir::parse(&text(Some(places))).expect("it is well-formed");
        let source = neap_ir::parse(&source).expect("it is well-formed");
        let options = neap_check::Options { ignore_fingerprint: true, ..neap_check::Options::default() };
        let report = neap_check::check(&source, &planned, &neap_ir::facts::Facts::builtin(), &options);
        assert!(!report.violations.iter().any(lost), "{:?}", report.violations);
    }
}

#[test]
fn in_place_on_a_captured_value_in_a_loop() {
    let text = |plan: bool| {
        let at = |offsets: &str| if plan { format!(", neap.offsets = array<i64: {offsets}>") } else { String::new() };
        let over = if plan { OVER_T } else { "" };
        let func = if plan { " attributes {neap.peak = 256 : i64, neap.arena_bytes = 256 : i64}" } else { "" };
        let (arg, carried) =
            if plan { (" {neap.offset = 0 : i64}", ", neap.arg_offsets = array<i64: -1, 128>") } else { ("", "") };
        let (k, u, v, r) = (at("64"), at("64"), at("192"), at("0"));
        format!(
            r#"func.func @main(%n: index, %x: tensor<64xi8>{arg}) -> tensor<64xi8>{func} {{
  %k = "neap.opaque"(%x) {{kind = "fill"{k}}} : (tensor<64xi8>) -> tensor<64xi8>
  %r = "neap.for"(%n, %x) ({{
  ^bb0(%i: index, %c: tensor<64xi8>):
    %u = "tosa.sub"(%k, %c) {{note = 1 : i64{u}{over}}} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
    %v = "neap.opaque"(%u) {{kind = "g"{v}}} : (tensor<64xi8>) -> tensor<64xi8>
    "neap.yield"(%v) : (tensor<64xi8>) -> ()
  }}) {{note = 1 : i64{r}{carried}}} : (index, tensor<64xi8>) -> tensor<64xi8>
  return %r : tensor<64xi8>
}}"#
        )
    };
    agrees(&text(false), &text(false));
    refused(&text(false), &text(true), |v| matches!(v, Violation::Overwritten { value, .. } if value == "`%k`"));
}

#[test]
fn loops_agree_only_with_equal_bodies_and_bounds() {
    let source = looped(None, "");
    differs(&source, &source.replace("\"gather\"", "\"scatter\""));
    differs(&source, &source.replace("\"neap.yield\"(%u)", "\"neap.yield\"(%t)"));
    let text = "func.func @main(%n: index, %m: index, %x: tensor<8xi8>) -> tensor<8xi8> {
  %r = \"neap.for\"(%n, %x) ({
  ^bb0(%i: index, %c: tensor<8xi8>):
    \"neap.yield\"(%c) : (tensor<8xi8>) -> ()
  }) : (index, tensor<8xi8>) -> tensor<8xi8>
  return %r : tensor<8xi8>
}";
    differs(text, &text.replace("(%n, %x)", "(%m, %x)"));
}

#[test]
fn while_loops_and_their_conditions() {
    let text = |condition: &str| {
        format!(
            r#"func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {{
  %r = "neap.while"(%x) ({{
  ^bb0(%a: tensor<8xi8>):
    %p = "neap.opaque"(%a) {{kind = "{condition}"}} : (tensor<8xi8>) -> tensor<1xi1>
    "neap.yield"(%p) : (tensor<1xi1>) -> ()
  }}, {{
  ^bb0(%b: tensor<8xi8>):
    %c = "neap.opaque"(%b) {{kind = "f"}} : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"(%c) : (tensor<8xi8>) -> ()
  }}) : (tensor<8xi8>) -> tensor<8xi8>
  return %r : tensor<8xi8>
}}"#
        )
    };
    agrees(&text("less"), &text("less"));
    differs(&text("less"), &text("more"));
}

const STATE: &str = r#""neap.var"() {sym_name = "h", type = tensor<8xi8>} : () -> ()
"neap.var"() {sym_name = "g", type = tensor<8xi8>} : () -> ()
"#;

fn stateful(lines: &[&str]) -> String {
    let op = |line: &&str| match *line {
        "r" => "  %r = \"neap.read\"() {var = @h} : () -> tensor<8xi8>",
        "q" => "  %q = \"neap.read\"() {var = @h} : () -> tensor<8xi8>",
        "w" => "  \"neap.write\"(%x) {var = @h} : (tensor<8xi8>) -> ()",
        "v" => "  \"neap.write\"(%y) {var = @h} : (tensor<8xi8>) -> ()",
        "g" => "  \"neap.write\"(%y) {var = @g} : (tensor<8xi8>) -> ()",
        "u" => "  \"my.op\"() : () -> ()",
        other => panic!("{other}"),
    };
    let body: Vec<&str> = lines.iter().map(op).collect();
    format!(
        "{STATE}func.func @main(%x: tensor<8xi8>, %y: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>) {{\n{}\n  return %r, %q : tensor<8xi8>, tensor<8xi8>\n}}",
        body.join("\n")
    )
}

#[test]
fn effects_keep_their_order_per_resource() {
    let source = stateful(&["r", "w", "q", "v", "g"]);
    agrees(&source, &stateful(&["g", "r", "w", "q", "v"]));
    let effect = |v: &Violation| matches!(v, Violation::Effects { .. } | Violation::Result { .. });
    for wrong in [
        &["w", "r", "q", "v", "g"][..],
        &["r", "q", "w", "v", "g"],
        &["r", "v", "q", "w", "g"],
        &["r", "w", "q", "v"],
        &["r", "w", "q", "g"],
        &["r", "w", "q", "v", "g", "g"],
    ] {
        let report = differs(&source, &stateful(wrong));
        assert!(report.violations.iter().any(effect), "{wrong:?}");
    }
    agrees(&stateful(&["r", "q"]), &stateful(&["q", "r"]));
}

#[test]
fn an_unknown_operation_touches_everything() {
    let source = stateful(&["r", "u", "q", "g"]);
    agrees(&source, &source);
    for wrong in [&["u", "r", "q", "g"][..], &["r", "q", "u", "g"], &["r", "g", "u", "q"], &["r", "q", "g"]] {
        differs(&source, &stateful(wrong));
    }
}

/// What a branch or a loop writes counts as written under its condition, however often.
#[test]
fn effects_in_bodies() {
    let text = |value: &str, after: &str| {
        format!(
            r#"{STATE}func.func @main(%p: tensor<1xi1>, %x: tensor<8xi8>, %y: tensor<8xi8>) -> tensor<8xi8> {{
  "scf.if"(%p) ({{
    "neap.write"(%{value}) {{var = @h}} : (tensor<8xi8>) -> ()
    "scf.yield"() : () -> ()
  }}, {{
    "scf.yield"() : () -> ()
  }}) : (tensor<1xi1>) -> ()
  {after}
  %r = "neap.read"() {{var = @h}} : () -> tensor<8xi8>
  return %r : tensor<8xi8>
}}"#
        )
    };
    agrees(&text("x", ""), &text("x", ""));
    differs(&text("x", ""), &text("y", ""));
    let write = "\"neap.write\"(%y) {var = @g} : (tensor<8xi8>) -> ()";
    agrees(&text("x", write), &text("x", write));
    differs(&text("x", ""), &text("x", write));
}

#[test]
fn calls_touch_what_their_callees_touch() {
    let text = |before: &str, after: &str| {
        format!(
            r#"{STATE}func.func @inner(%a: tensor<8xi8>) -> tensor<8xi8> {{
  "neap.write"(%a) {{var = @h}} : (tensor<8xi8>) -> ()
  return %a : tensor<8xi8>
}}
func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {{
  {before}
  %c = "func.call"(%x) {{callee = @inner}} : (tensor<8xi8>) -> tensor<8xi8>
  {after}
  return %c : tensor<8xi8>
}}"#
        )
    };
    let (read, other) = (
        "%r = \"neap.read\"() {var = @h} : () -> tensor<8xi8>\n  \"neap.write\"(%r) {var = @g} : (tensor<8xi8>) -> ()",
        "\"neap.write\"(%x) {var = @g} : (tensor<8xi8>) -> ()",
    );
    agrees(&text(other, ""), &text("", other));
    differs(&text(read, ""), &text("", read));
}

/// A view of a variable is read after the variable was written: the source has the old content.
#[test]
fn a_stale_view_of_a_variable() {
    let text = |order: [&str; 3], plan: bool| {
        let at = |at: i64| if plan { format!(", neap.offsets = array<i64: {at}>") } else { String::new() };
        let (arg, func) = if plan {
            (" {neap.offset = 0 : i64}", " attributes {neap.peak = 16 : i64, neap.arena_bytes = 16 : i64}")
        } else {
            ("", "")
        };
        let op = |name: &str| match name {
            "read" => format!("  %r = \"neap.read\"() {{var = @h, alias{}}} : () -> tensor<8xi8>\n", at(-1)),
            "write" => "  \"neap.write\"(%x) {var = @h} : (tensor<8xi8>) -> ()\n".to_owned(),
            _ => format!(
                "  %y = \"neap.opaque\"(%r, %x) {{kind = \"add\"{}}} : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>\n",
                at(8)
            ),
        };
        let body: String = order.iter().map(|name| op(name)).collect();
        format!(
            "{STATE}func.func @main(%x: tensor<8xi8>{arg}) -> tensor<8xi8>{func} {{\n{body}  return %y : tensor<8xi8>\n}}"
        )
    };
    let source = text(["read", "write", "add"], false);
    accepted(&source, &text(["read", "add", "write"], true));
    refused(&source, &text(["read", "write", "add"], true), |v| matches!(v, Violation::StaleView { .. }));
}

#[test]
fn calls_in_a_circle_and_several_blocks() {
    let circle = r#"func.func @a(%x: tensor<8xi8>) -> tensor<8xi8> {
  %c = "func.call"(%x) {callee = @b} : (tensor<8xi8>) -> tensor<8xi8>
  return %c : tensor<8xi8>
}
func.func @b(%x: tensor<8xi8>) -> tensor<8xi8> {
  %c = "func.call"(%x) {callee = @a} : (tensor<8xi8>) -> tensor<8xi8>
  return %c : tensor<8xi8>
}"#;
    let report = differs(circle, circle);
    assert!(
        report.violations.iter().any(|v| matches!(v, Violation::CallCycle { functions, .. } if functions.len() == 3))
    );
    let blocks = "func.func @a(%x: tensor<8xi8>) -> tensor<8xi8> {\n  \"cf.br\"()[^bb1] : () -> ()\n^bb1:\n  return %x : tensor<8xi8>\n}";
    assert!(differs(blocks, blocks).violations.iter().any(|v| matches!(v, Violation::Unstructured { .. })));
}

#[test]
fn the_scratch_of_a_call_holds_the_callee() {
    let text = |plan: bool, scratch: i64| {
        let at = |at: i64| if plan { format!(", neap.offsets = array<i64: {at}>") } else { String::new() };
        let func = |peak: i64, arena: i64| {
            if plan {
                format!(" attributes {{neap.peak = {peak} : i64, neap.arena_bytes = {arena} : i64}}")
            } else {
                String::new()
            }
        };
        let arg = if plan { " {neap.offset = 0 : i64}" } else { "" };
        let own = match plan {
            true => format!(
                ", neap.callee_bytes = {scratch} : i64, neap.scratch = {scratch} : i64, neap.scratch_offset = 16 : i64"
            ),
            false => String::new(),
        };
        format!(
            r#"func.func @inner(%a: tensor<8xi8>{arg}) -> tensor<8xi8>{} {{
  %b = "neap.opaque"(%a) {{kind = "f"{}}} : (tensor<8xi8>) -> tensor<8xi8>
  return %b : tensor<8xi8>
}}
func.func @main(%x: tensor<8xi8>{arg}) -> tensor<8xi8>{} {{
  %c = "func.call"(%x) {{callee = @inner{}{own}}} : (tensor<8xi8>) -> tensor<8xi8>
  return %c : tensor<8xi8>
}}"#,
            func(16, 16),
            at(8),
            func(16 + scratch, 16 + scratch),
            at(8)
        )
    };
    accepted(&text(false, 0), &text(true, 16));
    refused(&text(false, 0), &text(true, 15), |v| matches!(v, Violation::CalleeArena { room: 15, needed: 16, .. }));
    let lost = text(true, 16).replace(", neap.scratch_offset = 16 : i64", "");
    refused(&text(false, 0), &lost, |v| matches!(v, Violation::NotPlanned { bytes: 16, .. }));
}

#[test]
fn bodies_at_the_same_time() {
    let text = |first: i64, second: i64| {
        format!(
            r#"func.func @main(%x: tensor<8xi8> {{neap.io = "external"}}) -> () attributes {{neap.peak = 16 : i64, neap.arena_bytes = {} : i64}} {{
  "neap.parallel"(%x) ({{
  ^bb0(%a: tensor<8xi8>):
    %s = "neap.opaque"(%a) {{kind = "f", neap.offsets = array<i64: {first}>}} : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"() : () -> ()
  }}, {{
  ^bb0(%b: tensor<8xi8>):
    %t = "neap.opaque"(%b) {{kind = "g", neap.offsets = array<i64: {second}>}} : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"() : () -> ()
  }}) : (tensor<8xi8>) -> ()
  return
}}"#,
            first.max(second) + 8
        )
    };
    refused(&text(0, 4), &text(0, 4), |v| matches!(v, Violation::Parallel { .. }));
    // Each is there while any of them runs.
    accepted(&text(0, 8), &text(0, 8));
}

/// Asynchronous work touches its bytes until it is awaited.
#[test]
fn asynchronous_work_keeps_its_bytes() {
    let text = |other: i64, late: bool| {
        let wait = "  \"async.await\"(%t) : (!async.token) -> ()\n";
        let op = format!(
            "  %o = \"neap.opaque\"() {{kind = \"o\", neap.offsets = array<i64: {other}>}} : () -> tensor<8xi8>\n"
        );
        let (first, then) = if late { (op.as_str(), wait) } else { (wait, op.as_str()) };
        format!(
            r#"func.func @main(%x: tensor<8xi8> {{neap.offset = 0 : i64}}) -> tensor<8xi8> attributes {{neap.peak = {} : i64, neap.arena_bytes = {} : i64}} {{
  %t = "async.execute"() ({{
    %s = "neap.opaque"(%x) {{kind = "f", neap.offsets = array<i64: 8>}} : (tensor<8xi8>) -> tensor<8xi8>
    "async.yield"() : () -> ()
  }}) : () -> !async.token
{first}{then}  return %o : tensor<8xi8>
}}"#,
            if late { 24 } else { 16 },
            16.max(other + 8)
        )
    };
    accepted(&text(16, true), &text(16, true));
    accepted(&text(8, false), &text(8, false));
    for busy in [0, 8] {
        refused(
            &text(busy, true),
            &text(busy, true),
            |v| matches!(v, Violation::Busy { started_by, .. } if started_by.contains("async.execute")),
        );
    }
}

#[test]
fn groups_stay_together() {
    let text = |order: [&str; 3]| {
        let op = |name: &&str| {
            let group = if *name == "b" { "" } else { ", neap.group = \"g\"" };
            let at = match *name {
                "a" => 8,
                "b" => 16,
                _ => 24,
            };
            format!(
                "  %{name} = \"neap.opaque\"(%x) {{kind = \"{name}\"{group}, neap.offsets = array<i64: {at}>}} : (tensor<8xi8>) -> tensor<8xi8>\n"
            )
        };
        let body: String = order.iter().map(op).collect();
        format!(
            "func.func @main(%x: tensor<8xi8> {{neap.offset = 0 : i64}}) -> (tensor<8xi8>, tensor<8xi8>, tensor<8xi8>) attributes {{neap.peak = 32 : i64, neap.arena_bytes = 32 : i64}} {{\n{body}  return %a, %b, %c : tensor<8xi8>, tensor<8xi8>, tensor<8xi8>\n}}"
        )
    };
    let source = text(["a", "b", "c"]);
    accepted(&source, &text(["b", "a", "c"]));
    refused(&source, &source, |v| matches!(v, Violation::Group { group, .. } if group == "g"));
    // A plan that forgets the group, or asks for one itself.
    let forgotten = text(["b", "a", "c"]).replacen(", neap.group = \"g\"", "", 1);
    refused(&source, &forgotten, |v| matches!(v, Violation::Demand { attribute: "neap.group", .. }));
}

/// Bodies in bodies: as deep as the checker follows, and deeper.
#[test]
fn deep_bodies() {
    let text = |depth: usize| {
        let open = "\"scf.execute_region\"() ({\n".repeat(depth);
        let close = "\"scf.yield\"() : () -> ()\n}) : () -> ()\n".repeat(depth);
        format!("func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {{\n{open}{close}  return %x : tensor<8xi8>\n}}")
    };
    agrees(&text(190), &text(190));
    let report = differs(&text(210), &text(210));
    assert!(report.violations.iter().any(|v| matches!(v, Violation::TooDeep { limit: 200, .. })));
}

/// Loops in loops cost what they are long, not two to the power of their depth.
#[test]
fn nested_loops_are_linear() {
    let depth = 60;
    let open: String = (0..depth)
        .map(|at| {
            format!(
                "%r{at} = \"neap.for\"(%n, {}) ({{\n^bb0(%i{at}: index, %c{at}: tensor<8xi8>):\n",
                if at == 0 { "%x".to_owned() } else { format!("%c{}", at - 1) }
            )
        })
        .collect();
    let close: String = (0..depth)
        .rev()
        .map(|at| {
            let inner = if at + 1 == depth { format!("%c{at}") } else { format!("%r{}", at + 1) };
            format!("\"neap.yield\"({inner}) : (tensor<8xi8>) -> ()\n}}) : (index, tensor<8xi8>) -> tensor<8xi8>\n")
        })
        .collect();
    let text = format!(
        "func.func @main(%n: index, %x: tensor<8xi8>) -> tensor<8xi8> {{\n{open}{close}return %r0 : tensor<8xi8>\n}}"
    );
    agrees(&text, &text);
}
