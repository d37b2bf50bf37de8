//! State that bodies and calls touch: dead reads of a callee, views of variables in loops and at the same time, what a loop carries.

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

/// Which of two bodies comes first is nobody's to say: a view of what the other writes is none.
/// It may write first.
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
