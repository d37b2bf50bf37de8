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
