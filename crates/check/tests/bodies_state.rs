//! State that bodies and calls touch: dead reads of a callee, views of variables that are written, what a loop carries.

mod common;

use common::{accepted, agrees, differs, refused};
use neap_check::Violation;

#[test]
fn a_read_that_nobody_needs_may_go_from_a_callee_and_one_that_somebody_needs_may_not() {
    let module = |inside: &str, result: &str| {
        format!(
            r#""neap.var"() {{sym_name = "g", type = tensor<4xf32>}} : () -> ()
func.func @callee(%x: tensor<4xf32>) -> tensor<4xf32> {{
  {inside}
  return {result} : tensor<4xf32>
}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %y = "neap.call"(%x) {{callee = @callee}} : (tensor<4xf32>) -> tensor<4xf32>
  "neap.write"(%x) {{var = @g}} : (tensor<4xf32>) -> ()
  return %y : tensor<4xf32>
}}"#
        )
    };
    let read = r#"%r = "neap.read"() {var = @g} : () -> tensor<4xf32>"#;
    agrees(&module(read, "%x"), &module("", "%x"));
    differs(&module(read, "%r"), &module("", "%x"));
}

/// The condition runs while the loop's values wait in the arguments of the body: its own values lie elsewhere.
#[test]
fn what_a_loop_carries_outlives_its_condition() {
    let source = r#"func.func @main(%x: tensor<8xi8> {neap.io = "external"}) -> (tensor<8xi8> {neap.io = "external"}) {
  %y = "neap.while"(%x) ({
  ^bb0(%a: tensor<8xi8>):
    %t = "neap.opaque"(%a) {kind = "t"} : (tensor<8xi8>) -> tensor<8xi8>
    %c = "neap.opaque"(%t) {kind = "c"} : (tensor<8xi8>) -> i1
    "neap.yield"(%c) : (i1) -> ()
  }, {
  ^bb0(%b: tensor<8xi8>):
    %d = "neap.opaque"(%b) : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"(%d) : (tensor<8xi8>) -> ()
  }) : (tensor<8xi8>) -> tensor<8xi8>
  return %y : tensor<8xi8>
}"#;
    let plan = |body: u32, arena: u32, peak: u32| {
        source
            .replace("{kind = \"t\"}", "{kind = \"t\", neap.offsets = array<i64: 8>}")
            .replace("{kind = \"c\"}", &format!("{{kind = \"c\", neap.offsets = array<i64: {}>}}", arena - 1))
            .replace("%d = \"neap.opaque\"(%b)", "%d = \"neap.opaque\"(%b) {neap.offsets = array<i64: 0>}")
            .replace(
                "  }) : (",
                &format!("  }}) {{neap.arg_offsets = array<i64: 0, {body}>, neap.offsets = array<i64: -1>}} : ("),
            )
            .replace(
                "\"external\"}) {",
                &format!(
                    "\"external\"}}) attributes {{neap.arena_bytes = {arena} : i64, neap.peak = {peak} : i64}} {{"
                ),
            )
    };
    accepted(source, &plan(16, 25, 25));
    refused(source, &plan(8, 17, 17), |violation| matches!(violation, Violation::Overwritten { .. }));
}

/// A view of a variable, a write to the variable, and a reader of the view: in that order, the view holds something else by then.
#[test]
fn a_view_of_a_variable_is_read_before_the_variable_is_written() {
    let text = |plan: bool, late: bool, reader: &str| {
        let on = |text: &str| if plan { text.to_owned() } else { String::new() };
        let write = "  \"neap.write\"(%x) {var = @g} : (tensor<4xi8>) -> ()\n";
        let read = format!(
            "  %r = {reader}(%v) {{n = 1 : i64{}}} : (tensor<4xi8>) -> tensor<4xi8>\n",
            on(", neap.offsets = array<i64: 4>")
        );
        let (one, other) = if late { (write, read.as_str()) } else { (read.as_str(), write) };
        format!(
            "\"neap.var\"() {{sym_name = \"g\", type = tensor<4xi8>}} : () -> ()\n\
             func.func @main(%x: tensor<4xi8>{}) -> tensor<4xi8>{} {{\n  \
             %v = \"neap.read\"() {{alias, var = @g}} : () -> tensor<4xi8>\n{one}{other}  \
             return %r : tensor<4xi8>\n}}",
            on(" {neap.offset = 0 : i64}"),
            on(" attributes {neap.peak = 8 : i64, neap.arena_bytes = 8 : i64}")
        )
    };
    let pure = "\"neap.opaque\"";
    accepted(&text(false, false, pure), &text(true, false, pure));
    refused(
        &text(false, true, pure),
        &text(true, true, pure),
        |v| matches!(v, Violation::StaleView { resource, .. } if resource.contains('g')),
    );
    // A reader of which nothing is known may write the variable before it has read the view.
    let unknown = "\"my.unknown\"";
    refused(
        &text(false, false, unknown),
        &text(true, false, unknown),
        |v| matches!(v, Violation::OwnState { resource, .. } if resource.contains('g')),
    );
}

/// Nobody reads what the loop carries, but how often it runs, and with what, decides what it leaves in the variable.
#[test]
fn a_loop_that_only_has_effects_is_told_by_what_it_carries() {
    let looped = r#""neap.var"() {sym_name = "g", type = tensor<8xi8>} : () -> ()
func.func @main(%x: tensor<8xi8>) {
  %y = "neap.while"(%x) ({
  ^bb0(%a: tensor<8xi8>):
    %c = "neap.opaque"(%a) {kind = "c"} : (tensor<8xi8>) -> i1
    "neap.yield"(%c) : (i1) -> ()
  }, {
  ^bb0(%b: tensor<8xi8>):
    "neap.write"(%x) {var = @g} : (tensor<8xi8>) -> ()
    %d = "neap.opaque"(%b) {kind = "d"} : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"(%d) : (tensor<8xi8>) -> ()
  }) : (tensor<8xi8>) -> tensor<8xi8>
  return
}"#;
    agrees(looped, looped);
    // The condition looks at what the loop began with.
    differs(looped, &looped.replace("\"neap.opaque\"(%a)", "\"neap.opaque\"(%x)"));
    // It decides by something else of what is carried.
    differs(looped, &looped.replace("kind = \"c\"", "kind = \"e\""));
    // What is carried on is something else.
    differs(looped, &looped.replace("kind = \"d\"", "kind = \"e\""));
    let counted = looped
        .replace("\"neap.while\"(%x) ({\n  ^bb0(%a: tensor<8xi8>):\n    %c = \"neap.opaque\"(%a) {kind = \"c\"} : (tensor<8xi8>) -> i1\n    \"neap.yield\"(%c) : (i1) -> ()\n  }, {\n  ^bb0(", "\"neap.for\"(%n, %x) ({\n  ^bb0(%i: index, ")
        .replace("\"neap.write\"(%x)", "\"neap.write\"(%b)")
        .replace("}) : (tensor<8xi8>) -> tensor<8xi8>\n  return", "}) : (index, tensor<8xi8>) -> tensor<8xi8>\n  return")
        .replace("@main(", "@main(%n: index, ");
    agrees(&counted, &counted);
    differs(&counted, &counted.replace("kind = \"d\"", "kind = \"e\""));
}

/// A trip begins with all that the loop carries, also with what no operation of it reads: it becomes a result when the loop ends.
#[test]
fn what_a_loop_carries_lies_apart_though_nobody_reads_it() {
    let source = r#"func.func @main(%n: index {neap.io = "external"}, %x: tensor<8xi8> {neap.io = "external"}, %y: tensor<8xi8> {neap.io = "external"}) -> (tensor<8xi8> {neap.io = "external"}, tensor<8xi8> {neap.io = "external"}) {
  %r:2 = "neap.for"(%n, %x, %y) ({
  ^bb0(%i: index, %a: tensor<8xi8>, %b: tensor<8xi8>):
    %d = "neap.opaque"(%b) : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"(%b, %d) : (tensor<8xi8>, tensor<8xi8>) -> ()
  }) : (index, tensor<8xi8>, tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>)
  return %r#0, %r#1 : tensor<8xi8>, tensor<8xi8>
}"#;
    let plan = |first: u32, arena: u32| {
        source
            .replace("%d = \"neap.opaque\"(%b)", "%d = \"neap.opaque\"(%b) {neap.offsets = array<i64: 16>}")
            .replace(
                "  }) : (",
                &format!(
                    "  }}) {{neap.arg_offsets = array<i64: 24, {first}, 0>, neap.offsets = array<i64: -1, -1>}} : ("
                ),
            )
            .replace(
                "\"external\"}) {",
                &format!(
                    "\"external\"}}) attributes {{neap.arena_bytes = {arena} : i64, neap.peak = {arena} : i64}} {{"
                ),
            )
    };
    accepted(source, &plan(8, 32));
    refused(
        source,
        &plan(0, 32),
        |violation| matches!(violation, Violation::Overlap { why, .. } if why.contains("a trip begins with both")),
    );
}
