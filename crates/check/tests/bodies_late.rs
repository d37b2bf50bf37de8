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

/// A result may lie where the body's value lies; two results may not change places, since one of them would be overwritten on its way.
#[test]
fn what_a_branch_hands_out_reaches_its_place() {
    let text = |plan: bool, results: [i64; 2], handed: &str| {
        let on = |text: String| if plan { text } else { String::new() };
        let at = |at: i64| on(format!(", neap.offsets = array<i64: {at}>"));
        let end = 8 + results[0].max(results[1]).max(8);
        let handed = on(format!(" {{n = 1 : i64{handed}}}"));
        format!(
            r#"func.func @main(%p: tensor<1xi1> {{neap.io = "external"}}, %x: tensor<8xi8> {{neap.io = "external"}}) -> (tensor<8xi8>, tensor<8xi8>){} {{
  %b:2 = "scf.if"(%p) ({{
    %t = "neap.opaque"(%x) {{kind = "f"{}}} : (tensor<8xi8>) -> tensor<8xi8>
    %u = "neap.opaque"(%x) {{kind = "g"{}}} : (tensor<8xi8>) -> tensor<8xi8>
    "scf.yield"(%t, %u){handed} : (tensor<8xi8>, tensor<8xi8>) -> ()
  }}, {{
    %v = "neap.opaque"(%x) {{kind = "h"{}}} : (tensor<8xi8>) -> tensor<8xi8>
    %w = "neap.opaque"(%x) {{kind = "i"{}}} : (tensor<8xi8>) -> tensor<8xi8>
    "scf.yield"(%v, %w){handed} : (tensor<8xi8>, tensor<8xi8>) -> ()
  }}) {{n = 1 : i64{}}} : (tensor<1xi1>) -> (tensor<8xi8>, tensor<8xi8>)
  return %b#0, %b#1 : tensor<8xi8>, tensor<8xi8>
}}"#,
            on(format!(" attributes {{neap.peak = {end} : i64, neap.arena_bytes = {end} : i64}}")),
            at(0),
            at(8),
            at(0),
            at(8),
            on(format!(", neap.offsets = array<i64: {}, {}>", results[0], results[1]))
        )
    };
    let source = text(false, [0, 0], "");
    let plain = |text: String| {
        text.replace(" {n = 1 : i64} : (tensor<8xi8>, tensor<8xi8>) -> ()", " : (tensor<8xi8>, tensor<8xi8>) -> ()")
    };
    accepted(&source, &plain(text(true, [0, 8], ", neap.handed = array<i64: 0, 1>")));
    let on_the_way = |v: &Violation| matches!(v, Violation::Overlap { why, .. } if why.contains("handed out"));
    refused(&source, &plain(text(true, [8, 0], "")), on_the_way);
    refused(&source, &plain(text(true, [4, 16], "")), on_the_way);
    refused(&source, &plain(text(true, [16, 8], ", neap.handed = array<i64: 0>")), |v| {
        matches!(v, Violation::Elsewhere { attribute: "neap.handed", .. })
    });
}

/// What a loop gathers over its trips is there while later trips run.
#[test]
fn gathered_results_keep_the_trips_before() {
    let text = |plan: bool, gathered: i64| {
        let on = |text: String| if plan { text } else { String::new() };
        format!(
            r#"func.func @main(%n: index, %x: tensor<8xi8> {{neap.io = "external"}}) -> tensor<8xi8>{} {{
  %r = "neap.for"(%n) ({{
  ^bb0(%i: index):
    %t = "neap.opaque"(%x, %i) {{kind = "f"{}}} : (tensor<8xi8>, index) -> tensor<8xi8>
    %u = "neap.opaque"(%t) {{kind = "g"{}}} : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"(%u) : (tensor<8xi8>) -> ()
  }}) {{n = 1 : i64{}}} : (index) -> tensor<8xi8>
  return %r : tensor<8xi8>
}}"#,
            on(" attributes {neap.peak = 24 : i64, neap.arena_bytes = 24 : i64}".to_owned()),
            on(", neap.offsets = array<i64: 0>".to_owned()),
            on(", neap.offsets = array<i64: 8>".to_owned()),
            on(format!(", neap.offsets = array<i64: {gathered}>"))
        )
    };
    accepted(&text(false, 16), &text(true, 16));
    refused(
        &text(false, 0),
        &text(true, 0),
        |v| matches!(v, Violation::Overwritten { value, reader, .. } if value == "`%r`" && reader.contains("next trip")),
    );
}

/// What a branch keeps is there after the run, if the branch ran: nothing may be written over it later.
#[test]
fn what_a_branch_keeps_stays_to_the_end() {
    let text = |plan: bool, last: i64| {
        let at = |at: i64| if plan { format!(", neap.offsets = array<i64: {at}>") } else { String::new() };
        let (a, t, u, b, z) = (at(0), at(8), at(8), at(16), at(last));
        let on = |text: &str| if plan { text.to_owned() } else { String::new() };
        format!(
            r#"func.func @main(%p: tensor<1xi1> {{neap.io = "external"}}, %x: tensor<8xi8> {{neap.io = "external"}}) -> tensor<8xi8>{} {{
  %b = "scf.if"(%p) ({{
    %a = "neap.opaque"(%x) {{kind = "f", neap.keep{a}}} : (tensor<8xi8>) -> tensor<8xi8>
    %t = "neap.opaque"(%a) {{kind = "g"{t}}} : (tensor<8xi8>) -> tensor<8xi8>
    "scf.yield"(%t) : (tensor<8xi8>) -> ()
  }}, {{
    %u = "neap.opaque"(%x) {{kind = "h"{u}}} : (tensor<8xi8>) -> tensor<8xi8>
    "scf.yield"(%u) : (tensor<8xi8>) -> ()
  }}) {{n = 1 : i64{b}}} : (tensor<1xi1>) -> tensor<8xi8>
  %z = "neap.opaque"(%b) {{kind = "i"{z}}} : (tensor<8xi8>) -> tensor<8xi8>
  return %z : tensor<8xi8>
}}"#,
            on(" attributes {neap.peak = 24 : i64, neap.arena_bytes = 32 : i64}"),
        )
    };
    accepted(&text(false, 24), &text(true, 24));
    refused(&text(false, 0), &text(true, 0), |v| matches!(v, Violation::Overwritten { value, .. } if value == "`%a`"));
}
