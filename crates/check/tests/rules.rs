//! One plan that is right, and for each rule the smallest change that breaks it.

mod common;

use common::{accepted, differs, judge, module, refused};
use neap_check::{Options, Violation, check};
use neap_ir::facts::Facts;

const DECLARED: &str = r#""neap.arena"() {sym_name = "fast", align = 8 : i64, size = 64 : i64} : () -> ()
"neap.arena"() {sym_name = "slow", align = 16 : i64} : () -> ()
"#;

/// Two arenas, a scratch, an alignment, a pin, a constant.
const SOURCE: &str = r#"
func.func @main(%x: tensor<16xi8> {neap.pin = array<i64: 16>}) -> tensor<16xi8> {
  %k = "neap.constant"() {value = dense<1> : tensor<16xi8>} : () -> tensor<16xi8>
  %a = "neap.opaque"(%x, %k) {kind = "f", neap.scratch = 8 : i64} : (tensor<16xi8>, tensor<16xi8>) -> tensor<16xi8>
  %b = "neap.opaque"(%a) {kind = "g", neap.align = 32 : i64, neap.pin = array<i64: 32>} : (tensor<16xi8>) -> tensor<16xi8>
  return %b : tensor<16xi8>
}"#;

const PLAN: &str = r#"
func.func @main(%x: tensor<16xi8> {neap.pin = array<i64: 16>, neap.offset = 16 : i64, neap.arena = @fast}) -> tensor<16xi8> attributes {neap.peak = 40 : i64, neap.arena_bytes = 112 : i64, neap.lower_bound = 40 : i64} {
  %k = "neap.constant"() {value = dense<1> : tensor<16xi8>} : () -> tensor<16xi8>
  %a = "neap.opaque"(%x, %k) {kind = "f", neap.scratch = 8 : i64, neap.scratch_offset = 40 : i64, neap.scratch_arena = @fast, neap.offsets = array<i64: 0>, neap.arena = @slow} : (tensor<16xi8>, tensor<16xi8>) -> tensor<16xi8>
  %b = "neap.opaque"(%a) {kind = "g", neap.align = 32 : i64, neap.pin = array<i64: 32>, neap.offsets = array<i64: 32>, neap.arena = [@slow]} : (tensor<16xi8>) -> tensor<16xi8>
  return %b : tensor<16xi8>
}"#;

fn source() -> String {
    format!("{DECLARED}{SOURCE}")
}

/// The plan with one text replaced, which must be there.
fn plan(from: &str, to: &str) -> String {
    assert!(from.is_empty() || PLAN.contains(from), "{from}");
    format!("{DECLARED}{}", PLAN.replacen(from, to, usize::from(!from.is_empty())))
}

#[track_caller]
fn broken(from: &str, to: &str, is: impl Fn(&Violation) -> bool) {
    refused(&source(), &plan(from, to), is);
}

#[test]
fn the_plan_is_right() {
    // x at 16 and the scratch at 40 in fast, 48 bytes; a at 0 and b at 32 in slow, 48 bytes.
    let report = judge(&source(), &plan("arena_bytes = 112", "arena_bytes = 96"));
    assert!(report.accepted(), "{:#?}", report.diagnostics());
    let numbers = &report.functions[0];
    assert_eq!((numbers.peak, numbers.arena_bytes, numbers.align), (40, 96, 32));
    broken("", "", |v| {
        matches!(v, Violation::Number { attribute: "neap.arena_bytes", stated: Some(112), actual: 96, .. })
    });
}

#[test]
fn offsets() {
    broken("neap.offsets = array<i64: 0>", "neap.offsets = array<i64: 0, 0>", |v| {
        matches!(v, Violation::Malformed { .. })
    });
    broken("neap.offsets = array<i64: 0>", "neap.offsets = array<i64: -1>", |v| {
        matches!(v, Violation::NotPlanned { bytes: 16, .. })
    });
    broken(
        "{value = dense<1> : tensor<16xi8>}",
        "{value = dense<1> : tensor<16xi8>, neap.offsets = array<i64: 8>}",
        |v| matches!(v, Violation::NeedsNone { offset: 8, .. }),
    );
    broken(
        "neap.arena = [@slow]",
        "neap.arena = [@none]",
        |v| matches!(v, Violation::UnknownArena { arena, .. } if arena == "none"),
    );
    broken("neap.offset = 16", "neap.offset = 24", |v| matches!(v, Violation::Pin { pin: 16, .. }));
    broken("neap.offsets = array<i64: 32>", "neap.offsets = array<i64: 64>", |v| {
        matches!(v, Violation::Pin { pin: 32, .. })
    });
}

#[test]
fn alignment_and_capacity() {
    broken(
        "neap.offsets = array<i64: 0>",
        "neap.offsets = array<i64: 16>",
        |v| matches!(v, Violation::Alignment { align: 32, asked_by, .. } if asked_by.contains("%b")),
    );
    broken(
        "neap.offsets = array<i64: 0>",
        "neap.offsets = array<i64: 8>",
        |v| matches!(v, Violation::Alignment { align: 16, asked_by, .. } if asked_by == "@slow"),
    );
    broken("scratch_offset = 40", "scratch_offset = 44", |v| matches!(v, Violation::Alignment { align: 8, .. }));
    broken("scratch_offset = 40", "scratch_offset = 64", |v| matches!(v, Violation::Capacity { capacity: 64, .. }));
    broken("neap.offset = 16", "neap.offset = 56", |v| matches!(v, Violation::Capacity { capacity: 64, .. }));
}

#[test]
fn scratch() {
    broken(
        "scratch_offset = 40",
        "scratch_offset = 24",
        |v| matches!(v, Violation::Overlap { written, other, .. } if written == "its scratch" && other == "`%x`"),
    );
    broken(", neap.scratch_offset = 40 : i64", "", |v| matches!(v, Violation::NotPlanned { bytes: 8, .. }));
    // The other arena has room at the same offset.
    let moved = plan("scratch_arena = @fast", "scratch_arena = @slow").replace("arena_bytes = 112", "arena_bytes = 80");
    let moved = moved.replace("scratch_offset = 40", "scratch_offset = 16");
    accepted(&source(), &moved);
}

#[test]
fn what_the_source_asks_stays() {
    for (from, attribute) in [
        ("neap.scratch = 8 : i64, ", "neap.scratch"),
        ("neap.align = 32 : i64, ", "neap.align"),
        (", neap.pin = array<i64: 32>", "neap.pin"),
    ] {
        broken(from, "", |v| matches!(v, Violation::Demand { attribute: found, .. } if *found == attribute));
    }
    broken("neap.pin = array<i64: 16>, ", "", |v| matches!(v, Violation::Demand { attribute: "arg_attrs", .. }));
    broken("kind = \"f\"", "neap.resident, kind = \"f\"", |v| {
        matches!(v, Violation::Demand { attribute: "neap.resident", .. })
    });
    let planned = plan("", "").replace("size = 64", "size = 640");
    refused(&source(), &planned, |v| matches!(v, Violation::Demand { what, .. } if what == "@fast"));
    let bounded = |high: u32| format!("module attributes {{neap.bounds = {{N = [1, {high}]}}}} {{{}}}", source());
    assert!(
        differs(&bounded(3), &bounded(4))
            .violations
            .iter()
            .any(|v| { matches!(v, Violation::Demand { attribute: "neap.bounds", .. }) })
    );
}

#[test]
fn bounds_above_the_peak() {
    broken("neap.lower_bound = 40", "neap.lower_bound = 41", |v| matches!(v, Violation::Bound { .. }));
}

#[test]
fn sizes_that_are_not_known() {
    let text = "func.func @main(%x: tensor<?x4xi8> {neap.offset = 0 : i64}) -> tensor<?x4xi8> attributes {neap.arena_bytes = 0 : i64} {\n  return %x : tensor<?x4xi8>\n}";
    refused(text, text, |v| matches!(v, Violation::Unsized { value, .. } if value == "`%x`"));
    let huge = text.replace("?x4xi8", "4294967296x4294967296xi8");
    refused(&huge, &huge, |v| matches!(v, Violation::TooLarge { why, .. } if why.contains("overflows")));
}

#[test]
fn functions_that_do_not_match() {
    let one = "func.func @a(%x: tensor<8xi8>) -> tensor<8xi8> {\n  return %x : tensor<8xi8>\n}";
    let two = "func.func @a(%x: tensor<8xi8>, %y: tensor<8xi8>) -> tensor<8xi8> {\n  return %x : tensor<8xi8>\n}";
    let other = "func.func @a(%x: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>) {\n  return %x, %x : tensor<8xi8>, tensor<8xi8>\n}";
    for planned in [two, other, &one.replace("@a", "@b")] {
        assert!(differs(one, planned).violations.iter().any(|v| matches!(v, Violation::Functions { .. })));
    }
}

#[test]
fn a_value_read_before_it_is_there() {
    let text = |first: bool| {
        let (a, b) = (
            "  %a = \"neap.opaque\"(%x) {kind = \"f\"} : (tensor<8xi8>) -> tensor<8xi8>\n",
            "  %b = \"neap.opaque\"(%a) {kind = \"g\"} : (tensor<8xi8>) -> tensor<8xi8>\n",
        );
        let body = if first { format!("{a}{b}") } else { format!("{b}{a}") };
        format!("func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {{\n{body}  return %b : tensor<8xi8>\n}}")
    };
    let report = differs(&text(true), &text(false));
    assert!(report.violations.iter().any(|v| matches!(v, Violation::Undefined { value, .. } if value == "`%a`")));
}

/// A scratch that a call keeps for its callee is aligned as the callee's operations ask.
#[test]
fn a_callee_asks_for_alignment() {
    let text = |plan: bool, at: i64| {
        let on = |text: &str| if plan { text.to_owned() } else { String::new() };
        let func = |bytes: i64| on(&format!(" attributes {{neap.peak = 48 : i64, neap.arena_bytes = {bytes} : i64}}"));
        format!(
            r#"func.func @inner(%a: tensor<16xi8>{}) -> tensor<16xi8>{} {{
  %b = "neap.opaque"(%a) {{kind = "f", neap.align = 16 : i64{}}} : (tensor<16xi8>) -> tensor<16xi8>
  return %b : tensor<16xi8>
}}
func.func @main(%x: tensor<8xi8>{}, %y: tensor<16xi8> {{neap.io = "external"}}) -> tensor<8xi8>{} {{
  %c = "func.call"(%y) {{callee = @inner{}}} : (tensor<16xi8>) -> tensor<16xi8>
  return %x : tensor<8xi8>
}}"#,
            on(" {neap.offset = 0 : i64}"),
            func(32).replace("peak = 48", "peak = 32"),
            on(", neap.offsets = array<i64: 16>"),
            on(" {neap.offset = 0 : i64}"),
            func(at + 32).replace("peak = 48", "peak = 56"),
            on(&format!(
                ", neap.callee_bytes = 32 : i64, neap.scratch = 32 : i64, neap.scratch_offset = {at} : i64, neap.offsets = array<i64: {}>",
                if at == 32 { 16 } else { 40 }
            ))
        )
    };
    accepted(&text(false, 0), &text(true, 32));
    refused(
        &text(false, 0),
        &text(true, 8),
        |v| matches!(v, Violation::Alignment { align: 16, asked_by, .. } if asked_by == "@inner"),
    );
    // Where callees have arenas of their own, the call needs no room.
    let own = text(true, 32)
        .replace("neap.callee_bytes = 32 : i64, neap.scratch = 32 : i64, neap.scratch_offset = 32 : i64, ", "");
    let own = own.replace("peak = 56 : i64, neap.arena_bytes = 64", "peak = 24 : i64, neap.arena_bytes = 32");
    let options = Options { callees_have_arenas: true, ..Options::default() };
    let report = check(&module(&text(false, 0)), &module(&own), &Facts::builtin(), &options);
    assert!(report.accepted(), "{:#?}", report.diagnostics());
}

/// Two results of one operation, a view and a result, and a view that states another place than it has.
#[test]
fn results_of_one_operation() {
    let text = |plan: bool, second: i64| {
        let on = |text: String| if plan { text } else { String::new() };
        format!(
            r#"func.func @main(%x: tensor<8xi8> {{neap.io = "external"}}) -> tensor<8xi8>{} {{
  %a, %b = "neap.opaque"(%x) {{kind = "f"{}}} : (tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>)
  return %b : tensor<8xi8>
}}"#,
            on(format!(" attributes {{neap.peak = 16 : i64, neap.arena_bytes = {} : i64}}", second + 8)),
            on(format!(", neap.offsets = array<i64: 0, {second}>"))
        )
    };
    accepted(&text(false, 8), &text(true, 8));
    refused(
        &text(false, 4),
        &text(true, 4),
        |v| matches!(v, Violation::Overlap { why, .. } if why == "both are written"),
    );
}

#[test]
fn a_view_beside_a_result_in_place() {
    let text = |plan: bool| {
        let on = |text: &str| if plan { text.to_owned() } else { String::new() };
        format!(
            r#"func.func @main(%x: tensor<8xi8>{}) -> tensor<8xi8>{} {{
  %v, %b = "neap.opaque"(%x) {{kind = "f", neap.view = [{{operand = 0 : i64, result = 0 : i64, byte_offset = 0 : i64}}], neap.may_inplace = [{{operand = 0 : i64, result = 1 : i64}}]{}}} : (tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>)
  return %b : tensor<8xi8>
}}"#,
            on(" {neap.offset = 0 : i64}"),
            on(" attributes {neap.peak = 8 : i64, neap.arena_bytes = 8 : i64}"),
            on(", neap.inplace = [{operand = 0 : i64, result = 1 : i64}], neap.offsets = array<i64: -1, 0>")
        )
    };
    refused(&text(false), &text(true), |v| matches!(v, Violation::Overlap { why, .. } if why.contains("view")));
}

#[test]
fn a_view_with_an_offset_of_its_own() {
    let text = |plan: bool, at: i64| {
        let on = |text: String| if plan { text } else { String::new() };
        format!(
            r#"func.func @main(%x: tensor<2x4xi8>{}) -> tensor<8xi8>{} {{
  %v = "tosa.reshape"(%x) {{n = 1 : i64{}}} : (tensor<2x4xi8>) -> tensor<8xi8>
  return %v : tensor<8xi8>
}}"#,
            on(" {neap.offset = 8 : i64}".to_owned()),
            on(" attributes {neap.peak = 8 : i64, neap.arena_bytes = 16 : i64}".to_owned()),
            on(format!(
                ", neap.view = [{{operand = 0 : i64, result = 0 : i64, byte_offset = 0 : i64}}], neap.offsets = array<i64: {at}>"
            ))
        )
    };
    accepted(&text(false, 0), &text(true, -1));
    accepted(&text(false, 0), &text(true, 8));
    refused(&text(false, 0), &text(true, 0), |v| matches!(v, Violation::Elsewhere { expected: Some(8), .. }));
}

/// A fused operation answers for the scratch of its members.
#[test]
fn fused_operations_keep_what_members_ask() {
    let source = r#"func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {
  %a = "neap.opaque"(%x) {kind = "f", neap.scratch = 16 : i64, neap.align = 4 : i64} : (tensor<8xi8>) -> tensor<8xi8>
  %b = "tosa.abs"(%a) : (tensor<8xi8>) -> tensor<8xi8>
  return %b : tensor<8xi8>
}"#;
    let fused = |attrs: &str| {
        format!(
            r#"func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {{
  %b = "neap.fused"(%x) ({{
  ^bb0(%v: tensor<8xi8>):
    %a = "neap.opaque"(%v) {{kind = "f", neap.scratch = 16 : i64, neap.align = 4 : i64}} : (tensor<8xi8>) -> tensor<8xi8>
    %c = "tosa.abs"(%a) : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"(%c) : (tensor<8xi8>) -> ()
  }}) {{{attrs}}} : (tensor<8xi8>) -> tensor<8xi8>
  return %b : tensor<8xi8>
}}"#
        )
    };
    common::agrees(source, &fused("neap.scratch = 16 : i64, neap.align = 8 : i64"));
    for (attrs, lost) in [("neap.align = 4 : i64", "neap.scratch"), ("neap.scratch = 16 : i64", "neap.align")] {
        let report = differs(source, &fused(attrs));
        assert!(
            report.violations.iter().any(|v| matches!(v, Violation::Demand { attribute, .. } if *attribute == lost))
        );
    }
}

#[test]
fn a_false_figure_hides_nothing_at_another_size() {
    // At the bound, the second part lies behind the first; at a smaller size it does not.
    let source = r#"module attributes {neap.bounds = {N = [1, 4]}} {
  func.func @main(%x: tensor<1x?xi8> {neap.dims = ["N"]}) -> tensor<2x?xi8> {
    %a = "neap.opaque"(%x) {neap.dims = ["N"]} : (tensor<1x?xi8>) -> tensor<1x?xi8>
    %b = "tfl.concatenation"(%x, %a) {axis = 0 : i32, fused_activation_function = "NONE", neap.dims = ["N"]} : (tensor<1x?xi8>, tensor<1x?xi8>) -> tensor<2x?xi8>
    return %b : tensor<2x?xi8>
  }
}"#;
    let plan = |peak: u64| {
        let argument = source.replace("neap.dims = [\"N\"]})", "neap.dims = [\"N\"], neap.offset = 8 : i64})");
        let attributes = format!("attributes {{neap.arena_bytes = 12 : i64, neap.peak = {peak} : i64}}");
        let function = argument.replace("-> tensor<2x?xi8> {\n", &format!("-> tensor<2x?xi8> {attributes} {{\n"));
        let part = function.replace(
            "{neap.dims = [\"N\"]} : (tensor<1x?xi8>) ->",
            "{neap.dims = [\"N\"], neap.offsets = array<i64: 4>} : (tensor<1x?xi8>) ->",
        );
        let placed = "neap.dims = [\"N\"], neap.offsets = array<i64: 0>, neap.place = [{operand = 1 : i64, byte_offset = 4 : i64}]} : (tensor<1x?xi8>, tensor";
        part.replace("neap.dims = [\"N\"]} : (tensor<1x?xi8>, tensor", placed)
    };
    for peak in [12, 13] {
        refused(source, &plan(peak), |v| matches!(v, Violation::Part { byte_offset: 4, .. }));
    }
    refused(source, &plan(13), Violation::is_figure);
}

/// A size beyond 2^63-1 is known, and no bound makes it smaller.
#[test]
fn a_value_that_is_too_large_is_called_that() {
    let text = |plan: &str, size: &str| {
        format!(
            r#"func.func @main(%x: tensor<4xi8>) -> tensor<4xi8>{plan} {{
  %a = "neap.opaque"(%x) {{neap.offsets = array<i64: 8>}} : (tensor<4xi8>) -> tensor<{size}>
  %b = "neap.opaque"(%a) {{neap.offsets = array<i64: 4>}} : (tensor<{size}>) -> tensor<4xi8>
  return %b : tensor<4xi8>
}}"#
        )
    };
    let plan = " attributes {neap.peak = 8 : i64, neap.arena_bytes = 8 : i64}";
    for size in ["1152921504606846976xf64", "4294967296x4294967296xi8"] {
        refused(&text("", size), &text(plan, size), |v| matches!(v, Violation::TooLarge { .. }));
    }
    refused(&text("", "?xi8"), &text(plan, "?xi8"), |v| matches!(v, Violation::Unsized { .. }));
}

/// What passes a value on whole passes on all of it, however large it may be.
#[test]
fn a_copy_of_unknown_size_is_the_value() {
    let text = |copy: &str, result: &str| {
        format!(
            r#"
func.func @main(%x: tensor<4xi8>) -> tensor<?x1xi8> {{
  %a = "neap.opaque"(%x) {{kind = "f"}} : (tensor<4xi8>) -> tensor<?x1xi8>
{copy}  return {result} : tensor<?x1xi8>
}}"#
        )
    };
    let by = |name: &str| text(&format!("  %b = \"{name}\"(%a) : (tensor<?x1xi8>) -> tensor<?x1xi8>\n"), "%b");
    common::agrees(&by("onnx.Identity"), &text("", "%a"));
    common::differs(&by("onnx.Abs"), &text("", "%a"));
}
