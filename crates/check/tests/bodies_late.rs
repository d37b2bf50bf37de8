//! Bodies, continued: what one body leaves to the next, what is handed out, and what may not leave a loop.

mod common;

use common::{accepted, agrees, differs, refused};
use neap_check::Violation;

const STATE: &str = r#""neap.var"() {sym_name = "h", type = tensor<8xi8>} : () -> ()
"neap.var"() {sym_name = "g", type = tensor<8xi8>} : () -> ()
"#;

/// A body may overwrite what it alone still reads; the other body starts from the bytes before.
#[test]
fn the_other_body_finds_the_bytes_from_before() {
    let text = |plan: bool| {
        let on = |text: &str| if plan { text.to_owned() } else { String::new() };
        let over = on(", neap.inplace = [{operand = 0 : i64, result = 0 : i64}], neap.offsets = array<i64: 0>");
        format!(
            r#"func.func @main(%p: tensor<1xi1> {{neap.io = "external"}}, %x: tensor<8xi8>{}) -> tensor<8xi8>{} {{
  %b = "scf.if"(%p) ({{
    %t = "tosa.abs"(%x) {{n = 1 : i64{over}}} : (tensor<8xi8>) -> tensor<8xi8>
    "scf.yield"(%t) : (tensor<8xi8>) -> ()
  }}, {{
    %u = "tosa.negate"(%x) {{n = 1 : i64{over}}} : (tensor<8xi8>) -> tensor<8xi8>
    "scf.yield"(%u) : (tensor<8xi8>) -> ()
  }}) {{n = 1 : i64{}}} : (tensor<1xi1>) -> tensor<8xi8>
  return %b : tensor<8xi8>
}}"#,
            on(" {neap.offset = 0 : i64}"),
            on(" attributes {neap.peak = 16 : i64, neap.arena_bytes = 16 : i64}"),
            on(", neap.offsets = array<i64: 8>")
        )
    };
    accepted(&text(false), &text(true));
}

/// What a body yields is whole when it yields.
#[test]
fn yielded_values_are_whole() {
    let text = |plan: bool, second: i64| {
        let at = |at: i64| if plan { format!(", neap.offsets = array<i64: {at}>") } else { String::new() };
        let on = |text: &str| if plan { text.to_owned() } else { String::new() };
        let (t, u, b) = (at(0), at(second), if plan { ", neap.offsets = array<i64: 16, 24>" } else { "" });
        format!(
            r#"func.func @main(%x: tensor<8xi8> {{neap.io = "external"}}) -> (tensor<8xi8>, tensor<8xi8>){} {{
  %b:2 = "scf.execute_region"() ({{
    %t = "neap.opaque"(%x) {{kind = "f"{t}}} : (tensor<8xi8>) -> tensor<8xi8>
    %u = "neap.opaque"(%x) {{kind = "g"{u}}} : (tensor<8xi8>) -> tensor<8xi8>
    "scf.yield"(%t, %u) : (tensor<8xi8>, tensor<8xi8>) -> ()
  }}) {{n = 1 : i64{b}}} : () -> (tensor<8xi8>, tensor<8xi8>)
  return %b#0, %b#1 : tensor<8xi8>, tensor<8xi8>
}}"#,
            on(" attributes {neap.peak = 32 : i64, neap.arena_bytes = 32 : i64}")
        )
    };
    accepted(&text(false, 8), &text(true, 8));
    refused(
        &text(false, 4),
        &text(true, 4),
        |v| matches!(v, Violation::Overwritten { value, reader, .. } if value == "`%t`" && reader.contains("yield")),
    );
}

/// A read in a loop that writes the variable later is not the read before the loop.
#[test]
fn reads_do_not_leave_a_loop_that_writes() {
    let text = |inside: bool| {
        let read = "%r = \"neap.read\"() {var = @h} : () -> tensor<8xi8>";
        let (before, within) = if inside { ("", read) } else { (read, "") };
        format!(
            r#"{STATE}func.func @main(%n: index, %x: tensor<8xi8>) -> tensor<8xi8> {{
  {before}
  %l = "neap.for"(%n, %x) ({{
  ^bb0(%i: index, %c: tensor<8xi8>):
    {within}
    "neap.write"(%c) {{var = @h}} : (tensor<8xi8>) -> ()
    "neap.yield"(%r) : (tensor<8xi8>) -> ()
  }}) : (index, tensor<8xi8>) -> tensor<8xi8>
  return %l : tensor<8xi8>
}}"#
        )
    };
    agrees(&text(true), &text(true));
    differs(&text(true), &text(false));
}

/// The condition of a branch that only has effects, and the number of trips of a loop that carries nothing on.
#[test]
fn conditions_without_results() {
    let branch = format!(
        r#"{STATE}func.func @main(%p: tensor<1xi1>, %q: tensor<1xi1>, %x: tensor<8xi8>) -> () {{
  "scf.if"(%p) ({{
    "neap.write"(%x) {{var = @h}} : (tensor<8xi8>) -> ()
    "scf.yield"() : () -> ()
  }}, {{
    "scf.yield"() : () -> ()
  }}) : (tensor<1xi1>) -> ()
  return
}}"#
    );
    agrees(&branch, &branch);
    differs(&branch, &branch.replace("\"scf.if\"(%p)", "\"scf.if\"(%q)"));
    let looped = r#"func.func @main(%n: index, %m: index, %x: tensor<8xi8>, %y: tensor<8xi8>) -> tensor<8xi8> {
  %r = "neap.for"(%n, %x) ({
  ^bb0(%i: index, %c: tensor<8xi8>):
    "neap.yield"(%y) : (tensor<8xi8>) -> ()
  }) : (index, tensor<8xi8>) -> tensor<8xi8>
  return %r : tensor<8xi8>
}"#;
    agrees(looped, looped);
    differs(looped, &looped.replace("(%n, %x)", "(%m, %x)"));
}

/// What an operation draws from a resource depends on what was drawn before.
#[test]
fn draws_in_another_order() {
    let text = |swapped: bool| {
        let draw = |name: &str| format!("  %{name} = \"stablehlo.rng\"(%x) : (tensor<8xi8>) -> tensor<8xi8>\n");
        let body = if swapped { draw("b") + &draw("a") } else { draw("a") + &draw("b") };
        format!(
            "func.func @main(%x: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>) {{\n{body}  return %a, %b : tensor<8xi8>, tensor<8xi8>\n}}"
        )
    };
    agrees(&text(false), &text(false));
    differs(&text(false), &text(true));
}
