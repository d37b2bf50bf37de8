//! A plan may compute a value again where that is the same value and leaves no trace; anything else that runs twice is refused.

mod common;

use common::{accepted, agrees, differs, refused};
use neap_check::Violation;

/// A function of one argument and one result with this body.
fn body(text: &str) -> String {
    format!(
        "\"neap.var\"() {{sym_name = \"h\", type = tensor<4xi8>}} : () -> ()\nfunc.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {{\n{text}  return %y : tensor<4xi8>\n}}\n"
    )
}

const ONE: &str = "(tensor<4xi8>) -> tensor<4xi8>";
const TWO: &str = "(tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>";

/// `op` once, and read by two.
fn once(op: &str) -> String {
    body(&format!(
        "  %a = {op}(%x) : {ONE}\n  %b = \"neap.opaque\"(%a) {{kind = \"b\"}} : {ONE}\n  %y = \"neap.opaque\"(%a, %b) {{kind = \"y\"}} : {TWO}\n"
    ))
}

/// `op` once for each reader.
fn twice(op: &str) -> String {
    body(&format!(
        "  %a = {op}(%x) : {ONE}\n  %b = \"neap.opaque\"(%a) {{kind = \"b\"}} : {ONE}\n  %c = {op}(%x) {{neap.recomputed = 1 : i64}} : {ONE}\n  \
         %y = \"neap.opaque\"(%c, %b) {{kind = \"y\"}} : {TWO}\n"
    ))
}

#[test]
fn a_pure_operation_may_run_again() {
    for op in ["\"neap.opaque\"", "\"tfl.abs\"", "\"tosa.exp\"", "\"tfl.softmax\""] {
        agrees(&once(op), &twice(op));
    }
}

#[test]
fn what_has_effects_may_not() {
    // In no table; random; on nobody's behalf but the outside world's.
    for op in ["\"my.op\"", "\"tfl.random_uniform\"", "\"tfl.multinomial\"", "\"tfl.custom\""] {
        differs(&once(op), &twice(op));
    }
    // Nor where nobody reads the second one.
    let unread = |op: &str| {
        once(op).replace("  %y =", &format!("  %c = {op}(%x) {{neap.recomputed = 1 : i64}} : {ONE}\n  %y ="))
    };
    differs(&once("\"my.op\""), &unread("\"my.op\""));
    agrees(&once("\"neap.opaque\""), &unread("\"neap.opaque\""));
}

#[test]
fn what_is_computed_again_is_the_same_value() {
    let again = twice("\"neap.opaque\"");
    // Another attribute, another operand: another value.
    differs(&once("\"neap.opaque\""), &again.replace("neap.recomputed = 1 : i64", "kind = \"z\""));
    differs(&once("\"neap.opaque\""), &again.replace("%c = \"neap.opaque\"(%x)", "%c = \"neap.opaque\"(%b)"));
    // A state that was written in between is another state.
    let state = |second: &str| {
        body(&format!(
            "  %s = \"neap.read\"() {{var = @h}} : () -> tensor<4xi8>\n  %a = \"neap.opaque\"(%s) {{kind = \"a\"}} : {ONE}\n  \
             \"neap.write\"(%x) {{var = @h}} : (tensor<4xi8>) -> ()\n{second}  %y = \"neap.opaque\"(%a, %c) {{kind = \"y\"}} : {TWO}\n"
        ))
    };
    let same = state(&format!("  %c = \"neap.opaque\"(%s) {{kind = \"a\"}} : {ONE}\n"));
    let source = same.replace("%c = \"neap.opaque\"(%s) {kind = \"a\"}", "%c = \"neap.opaque\"(%x) {kind = \"b\"}");
    let source = source
        .replace("(%a, %c)", "(%a, %a)")
        .replace(&format!("  %c = \"neap.opaque\"(%x) {{kind = \"b\"}} : {ONE}\n"), "");
    agrees(&source, &same);
    let later = state(&format!(
        "  %t = \"neap.read\"() {{var = @h}} : () -> tensor<4xi8>\n  %c = \"neap.opaque\"(%t) {{kind = \"a\"}} : {ONE}\n"
    ));
    differs(&source, &later);
    // A second write leaves a trace, also of the same bytes.
    let write = "  \"neap.write\"(%x) {var = @h} : (tensor<4xi8>) -> ()\n";
    differs(&source, &source.replace(write, &write.repeat(2)));
}

#[test]
fn bytes_are_judged_as_of_any_other_value() {
    let source = "func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %a = \"neap.opaque\"(%x) {kind = \"a\"} : (tensor<4xi8>) -> tensor<4xi8>
  %b = \"neap.opaque\"(%a) {kind = \"b\"} : (tensor<4xi8>) -> tensor<4xi8>
  %y = \"neap.opaque\"(%a, %b) {kind = \"y\"} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}";
    let planned = |x: u64, c: u64| {
        format!(
            "func.func @main(%x: tensor<4xi8> {{neap.offset = {x} : i64}}) -> tensor<4xi8> attributes {{neap.peak = 12 : i64, neap.arena_bytes = 12 : i64, neap.lower_bound = 0 : i64}} {{
  %a = \"neap.opaque\"(%x) {{kind = \"a\", neap.offsets = array<i64: 0>}} : (tensor<4xi8>) -> tensor<4xi8>
  %b = \"neap.opaque\"(%a) {{kind = \"b\", neap.offsets = array<i64: 8>}} : (tensor<4xi8>) -> tensor<4xi8>
  %c = \"neap.opaque\"(%x) {{kind = \"a\", neap.recomputed = 1 : i64, neap.offsets = array<i64: {c}>}} : (tensor<4xi8>) -> tensor<4xi8>
  %y = \"neap.opaque\"(%c, %b) {{kind = \"y\", neap.offsets = array<i64: 4>}} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}}"
        )
    };
    accepted(source, &planned(4, 0));
    // Over what it starts from, and over a value that is still read.
    refused(source, &planned(0, 4), |violation| !violation.is_figure());
    refused(source, &planned(4, 8), |violation| {
        matches!(violation, Violation::Overwritten { .. } | Violation::Overlap { .. })
    });
}
