//! Meanings: what is equal whatever the unknown functions are, and what is not; at any size.

mod common;

use common::{accepted, agrees, differs, judge, refused};
use neap_check::Violation;

/// A function of one argument `%x` of a type, its body, and the type of what it returns as `%r`.
fn unary(from: &str, body: &str, to: &str) -> String {
    format!("func.func @main(%x: {from}) -> {to} {{\n{body}\n  return %r : {to}\n}}")
}

#[test]
fn transposes_that_cancel() {
    for (a, b) in [(4, 6), (65536, 32768)] {
        let (from, to) = (format!("tensor<{a}x{b}xf32>"), format!("tensor<{b}x{a}xf32>"));
        let turn = |name: &str, of: &str, from: &str, to: &str| {
            format!("  {name} = \"tosa.transpose\"({of}) {{perms = array<i32: 1, 0>}} : ({from}) -> {to}\n")
        };
        let f = |name: &str, of: &str, ty: &str| {
            format!("  {name} = \"tosa.matmul_free\"({of}) {{n = 1 : i64}} : ({ty}) -> {ty}\n")
                .replace("tosa.matmul_free", "neap.opaque")
        };
        let twice = unary(
            &from,
            &(turn("%t", "%x", &from, &to) + &turn("%u", "%t", &to, &from) + &f("%r", "%u", &from)),
            &from,
        );
        agrees(&twice, &unary(&from, &f("%r", "%x", &from), &from));
        let once = unary(&from, &(turn("%t", "%x", &from, &to) + &f("%r", "%t", &to)), &to);
        let not = unary(
            &from,
            &format!(
                "  %t = \"tosa.reshape\"(%x) {{new_shape = array<i64>}} : ({from}) -> {to}\n{}",
                f("%r", "%t", &to)
            ),
            &to,
        );
        differs(&once, &not);
    }
}

#[test]
fn elementwise_commutes_with_moves() {
    let (big, part) = ("tensor<1024x1048576xi32>", "tensor<512x1048576xi32>");
    let slice = |name: &str, of: &str, from: u32| {
        format!(
            "  {name} = \"stablehlo.slice\"({of}) {{start_indices = array<i64: {from}, 0>, limit_indices = array<i64: {}, 1048576>, strides = array<i64: 1, 1>}} : ({big}) -> {part}\n",
            from + 512
        )
    };
    let abs = |name: &str, of: &str, ty: &str| format!("  {name} = \"stablehlo.abs\"({of}) : ({ty}) -> {ty}\n");
    let outside = unary(big, &(slice("%t", "%x", 7) + &abs("%r", "%t", part)), part);
    let inside = unary(big, &(abs("%t", "%x", big) + &slice("%r", "%t", 7)), part);
    agrees(&outside, &inside);
    differs(&outside, &unary(big, &(abs("%t", "%x", big) + &slice("%r", "%t", 8)), part));
}

#[test]
fn splits_joined_again() {
    for (axis, half) in [(0, "tensor<2x6xi8>"), (1, "tensor<4x3xi8>")] {
        let whole = "tensor<4x6xi8>";
        let slice = |name: &str, from: [u32; 2], size: &str| {
            let [a, b] = from;
            format!(
                "  {name} = \"stablehlo.slice\"(%x) {{start_indices = array<i64: {a}, {b}>, limit_indices = array<i64: {}>, strides = array<i64: 1, 1>}} : ({whole}) -> {half}\n",
                size
            )
        };
        let (first, second) = match axis {
            0 => (slice("%a", [0, 0], "2, 6"), slice("%b", [2, 0], "4, 6")),
            _ => (slice("%a", [0, 0], "4, 3"), slice("%b", [0, 3], "4, 6")),
        };
        let join = |a: &str, b: &str| {
            format!("  %c = \"tosa.concat\"({a}, {b}) {{axis = {axis} : i32}} : ({half}, {half}) -> {whole}\n")
        };
        let f = |of: &str| format!("  %r = \"neap.opaque\"({of}) {{kind = \"f\"}} : ({whole}) -> {whole}\n");
        let plain = unary(whole, &f("%x"), whole);
        agrees(&plain, &unary(whole, &format!("{first}{second}{}{}", join("%a", "%b"), f("%c")), whole));
        differs(&plain, &unary(whole, &format!("{first}{second}{}{}", join("%b", "%a"), f("%c")), whole));
    }
}

#[test]
fn dead_operations_may_go_and_order_is_free() {
    let ty = "tensor<8xi8>";
    let op = |name: &str, of: &str, kind: &str| {
        format!("  {name} = \"neap.opaque\"({of}) {{kind = \"{kind}\"}} : ({ty}) -> {ty}\n")
    };
    let source = unary(ty, &(op("%a", "%x", "f") + &op("%dead", "%x", "g") + &op("%r", "%a", "h")), ty);
    agrees(&source, &unary(ty, &(op("%a", "%x", "f") + &op("%r", "%a", "h")), ty));
    differs(&source, &unary(ty, &(op("%a", "%x", "h") + &op("%r", "%a", "f")), ty));
}

/// Nothing is known of an opaque operation, not even that another one of another name computes the same.
#[test]
fn opaque_operations_of_different_names() {
    let ty = "tensor<8xi8>";
    let op = |name: &str| format!("  %r = \"neap.opaque\"(%x) {{neap.name = \"{name}\"}} : ({ty}) -> {ty}\n");
    agrees(&unary(ty, &op("f"), ty), &unary(ty, &op("f"), ty));
    differs(&unary(ty, &op("f"), ty), &unary(ty, &op("g"), ty));
}

#[test]
fn fused_bodies_mean_their_operations() {
    let ty = "tensor<8x4xf32>";
    let plain = r#"  %a = "neap.opaque"(%x) {kind = "conv"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = "tosa.clamp"(%a) {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<8x4xf32>) -> tensor<8x4xf32>"#;
    let fused = |max: &str| {
        format!(
            r#"  %r = "neap.fused"(%x) ({{
  ^bb0(%v: tensor<8x4xf32>):
    %a = "neap.opaque"(%v) {{kind = "conv"}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %b = "tosa.clamp"(%a) {{min_val = 0.0 : f32, max_val = {max} : f32}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    "neap.yield"(%b) : (tensor<8x4xf32>) -> ()
  }}) : (tensor<8x4xf32>) -> tensor<8x4xf32>"#
        )
    };
    agrees(&unary(ty, plain, ty), &unary(ty, &fused("6.0"), ty));
    differs(&unary(ty, plain, ty), &unary(ty, &fused("5.0"), ty));
}

/// A fused operation may overwrite an operand that its body reads in lock step, and no other.
#[test]
fn fused_in_place() {
    let text = |plan: bool, operand: u32| {
        let result = if operand == 0 { 0 } else { 128 };
        let extra = if plan {
            format!(
                " {{neap.inplace = [{{operand = {operand} : i64, result = 0 : i64}}], neap.offsets = array<i64: {result}>}}"
            )
        } else {
            String::new()
        };
        let (x, y, func) = match plan {
            true => (
                " {neap.offset = 0 : i64}",
                " {neap.offset = 128 : i64}",
                " attributes {neap.peak = 256 : i64, neap.arena_bytes = 256 : i64}",
            ),
            false => ("", "", ""),
        };
        format!(
            r#"func.func @main(%x: tensor<32xf32>{x}, %y: tensor<32xf32>{y}) -> tensor<32xf32>{func} {{
  %r = "neap.fused"(%x, %y) ({{
  ^bb0(%v: tensor<32xf32>, %w: tensor<32xf32>):
    %a = "neap.opaque"(%v) {{kind = "conv"}} : (tensor<32xf32>) -> tensor<32xf32>
    %b = "tosa.add"(%a, %w) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    "neap.yield"(%b) : (tensor<32xf32>) -> ()
  }}){extra} : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %r : tensor<32xf32>
}}"#
        )
    };
    accepted(&text(false, 0), &text(true, 1));
    refused(&text(false, 0), &text(true, 0), |v| matches!(v, Violation::InPlace { .. }));
}

#[test]
fn gigabytes_cost_nothing() {
    let ty = "tensor<65536x65536xi8>";
    let text = |plan: bool| {
        let at = |at: i64| if plan { format!(", neap.offsets = array<i64: {at}>") } else { String::new() };
        let (arg, func) = match plan {
            true => (
                " {neap.offset = 0 : i64}",
                " attributes {neap.peak = 12884901888 : i64, neap.arena_bytes = 12884901888 : i64}",
            ),
            false => ("", ""),
        };
        format!(
            r#"func.func @main(%x: {ty}{arg}) -> {ty}{func} {{
  %a = "tosa.transpose"(%x) {{perms = array<i32: 1, 0>{}}} : ({ty}) -> {ty}
  %b = "tosa.add"(%a, %x) {{note = 1 : i64{}}} : ({ty}, {ty}) -> {ty}
  return %b : {ty}
}}"#,
            at(4_294_967_296),
            at(8_589_934_592)
        )
    };
    accepted(&text(false), &text(true));
    let ty = "tensor<4611686018427387904xi8>";
    let one = format!(
        "func.func @main(%x: {ty}) -> {ty} {{\n  %r = \"neap.opaque\"(%x) {{k = 1 : i64}} : ({ty}) -> {ty}\n  return %r : {ty}\n}}"
    );
    agrees(&one, &one);
    let planned = one
        .replace("%x: tensor<4611686018427387904xi8>)", "%x: tensor<4611686018427387904xi8> {neap.offset = 0 : i64})")
        .replace("{\n", "attributes {neap.peak = 1 : i64, neap.arena_bytes = 1 : i64} {\n")
        .replace("k = 1 : i64", "k = 1 : i64, neap.offsets = array<i64: 4611686018427387904>");
    refused(&one, &planned, |v| matches!(v, Violation::Capacity { .. }));
}

#[test]
fn sub_byte_elements_are_packed() {
    let text = |plan: bool, q: i64| {
        let at = |at: i64| if plan { format!(", neap.offsets = array<i64: {at}>") } else { String::new() };
        let (arg, func) = match plan {
            true => (" {neap.offset = 0 : i64}", " attributes {neap.peak = 32 : i64, neap.arena_bytes = 32 : i64}"),
            false => ("", ""),
        };
        format!(
            r#"func.func @main(%x: tensor<7xf32>{arg}) -> tensor<7xf32>{func} {{
  %q = "neap.opaque"(%x) {{kind = "quant"{}}} : (tensor<7xf32>) -> tensor<7xi4>
  %y = "neap.opaque"(%q) {{kind = "dequant"{}}} : (tensor<7xi4>) -> tensor<7xf32>
  return %y : tensor<7xf32>
}}"#,
            at(q),
            at(0)
        )
    };
    accepted(&text(false, 0), &text(true, 28));
    refused(&text(false, 0), &text(true, 25), |v| matches!(v, Violation::Overlap { .. }));
}

#[test]
fn zero_sizes_and_strange_results() {
    let source = r#"func.func @main(%x: tensor<0xi8>, %c: tensor<16xi8>) -> (tensor<16xi8>, tensor<16xi8>, tensor<16xi8>) {
  %a = "neap.opaque"(%x) {kind = "relu"} : (tensor<0xi8>) -> tensor<0xi8>
  %b = "tosa.concat"(%a, %c) {axis = 0 : i32} : (tensor<0xi8>, tensor<16xi8>) -> tensor<16xi8>
  return %b, %b, %c : tensor<16xi8>, tensor<16xi8>, tensor<16xi8>
}"#;
    let planned = |b: i64| {
        format!(
            r#"func.func @main(%x: tensor<0xi8> {{neap.offset = 0 : i64}}, %c: tensor<16xi8> {{neap.offset = 0 : i64}}) -> (tensor<16xi8>, tensor<16xi8>, tensor<16xi8>) attributes {{neap.peak = 32 : i64, neap.arena_bytes = 32 : i64}} {{
  %a = "neap.opaque"(%x) {{kind = "relu", neap.offsets = array<i64: 3>}} : (tensor<0xi8>) -> tensor<0xi8>
  %b = "tosa.concat"(%a, %c) {{axis = 0 : i32, neap.offsets = array<i64: {b}>}} : (tensor<0xi8>, tensor<16xi8>) -> tensor<16xi8>
  return %b, %b, %c : tensor<16xi8>, tensor<16xi8>, tensor<16xi8>
}}"#
        )
    };
    accepted(source, &planned(16));
    refused(source, &planned(0), |v| matches!(v, Violation::Overlap { .. }));
}

/// A result that needs more bytes than its elements have: all of them are protected.
#[test]
fn padded_bytes_are_protected() {
    let text = |plan: bool, k: i64, c: i64| {
        let at = |at: i64| if plan { format!(", neap.offsets = array<i64: {at}>") } else { String::new() };
        let over = if plan { ", neap.inplace = [{operand = 0 : i64, result = 0 : i64}]" } else { "" };
        let (arg, func) = match plan {
            true => (
                format!(" {{neap.offset = {k} : i64}}"),
                " attributes {neap.peak = 176 : i64, neap.arena_bytes = 176 : i64}",
            ),
            false => (String::new(), ""),
        };
        format!(
            r#"func.func @main(%k: tensor<64xi8>{arg}) -> tensor<16xi8>{func} {{
  %a = "neap.opaque"(%k) {{kind = "f"{}}} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {{kind = "scale", neap.bytes = array<i64: 96>, neap.may_inplace = [{{operand = 0 : i64, result = 0 : i64}}]{over}{}}} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%b, %k) {{kind = "add"{}}} : (tensor<64xi8>, tensor<64xi8>) -> tensor<16xi8>
  return %c : tensor<16xi8>
}}"#,
            at(0),
            at(0),
            at(c)
        )
    };
    accepted(&text(false, 0, 0), &text(true, 96, 160));
    refused(&text(false, 0, 0), &text(true, 64, 160), |v| {
        matches!(v, Violation::Overwritten { .. } | Violation::Overlap { .. })
    });
}

/// Only the source's own word permits what no table does.
#[test]
fn a_plan_cannot_permit_itself() {
    let text = |source: bool| {
        let may = ", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]";
        let plan = if source {
            ""
        } else {
            ", neap.inplace = [{operand = 0 : i64, result = 0 : i64}], neap.offsets = array<i64: 0>"
        };
        let (arg, func) = match source {
            false => (" {neap.offset = 0 : i64}", " attributes {neap.peak = 64 : i64, neap.arena_bytes = 64 : i64}"),
            true => ("", ""),
        };
        let op = |may: &str| {
            format!(
                "func.func @main(%k: tensor<64xi8>{arg}) -> tensor<64xi8>{func} {{\n  %a = \"neap.opaque\"(%k) {{kind = \"f\"{may}{plan}}} : (tensor<64xi8>) -> tensor<64xi8>\n  return %a : tensor<64xi8>\n}}"
            )
        };
        (op(""), op(may))
    };
    let ((plain, may), (planned, planned_may)) = (text(true), text(false));
    accepted(&may, &planned_may);
    accepted(&may, &planned);
    refused(&plain, &planned_may, |v| matches!(v, Violation::InPlace { .. }));
}

#[test]
fn external_and_held_bytes() {
    let text = |plan: bool, io: &str, a: i64, over: bool| {
        let over = if over { ", neap.inplace = [{operand = 0 : i64, result = 0 : i64}]" } else { "" };
        let at = if plan { format!(", neap.offsets = array<i64: {a}>{over}") } else { String::new() };
        let (offset, func) = match (plan, io) {
            (true, "external") => ("", " attributes {neap.peak = 64 : i64, neap.arena_bytes = 64 : i64}"),
            (true, _) => (", neap.offset = 0 : i64", " attributes {neap.peak = 64 : i64, neap.arena_bytes = 64 : i64}"),
            _ => ("", ""),
        };
        format!(
            "func.func @main(%x: tensor<64xi8> {{neap.io = \"{io}\"{offset}}}) -> tensor<64xi8>{func} {{\n  %a = \"tosa.abs\"(%x) {{n = 1 : i64{at}}} : (tensor<64xi8>) -> tensor<64xi8>\n  return %a : tensor<64xi8>\n}}"
        )
    };
    accepted(&text(false, "arena", 0, false), &text(true, "arena", 0, true));
    refused(
        &text(false, "held", 0, false),
        &text(true, "held", 0, true),
        |v| matches!(v, Violation::Overwritten { reader, .. } if reader.contains("after the run")),
    );
    accepted(&text(false, "external", 0, false), &text(true, "external", 0, false));
    refused(&text(false, "external", 0, false), &text(true, "external", 0, true), |v| {
        matches!(v, Violation::Elsewhere { .. })
    });
}

/// A view that starts at a different byte when a named dimension is smaller.
#[test]
fn named_dimensions_at_both_ends() {
    let text = |low: u32, plan: bool| {
        let (a, b, c) = match plan {
            true => (
                ", neap.offsets = array<i64: 100>",
                ", neap.offsets = array<i64: -1, -1>, neap.view = [{operand = 1 : i64, result = 0 : i64, byte_offset = 0 : i64}, {operand = 1 : i64, result = 1 : i64, byte_offset = 50 : i64}]",
                ", neap.offsets = array<i64: 0>",
            ),
            false => ("", "", ""),
        };
        let (arg, func) = match plan {
            true => (", neap.offset = 0 : i64", " attributes {neap.peak = 200 : i64, neap.arena_bytes = 200 : i64}"),
            false => ("", ""),
        };
        format!(
            r#"module attributes {{neap.bounds = {{N = [{low}, 50]}}}} {{
func.func @main(%x: tensor<2x?xi8> {{neap.dims = ["N"]{arg}}}) -> tensor<1x?xi8>{func} {{
  %a = "neap.opaque"(%x) {{neap.dims = ["N"]{a}}} : (tensor<2x?xi8>) -> tensor<2x?xi8>
  %b:2 = "tfl.split"(%axis, %a) {{num_splits = 2 : i32, neap.dims = ["N", "N"]{b}}} : (tensor<i32>, tensor<2x?xi8>) -> (tensor<1x?xi8>, tensor<1x?xi8>)
  %c = "neap.opaque"(%b#0, %b#1) {{neap.dims = ["N"]{c}}} : (tensor<1x?xi8>, tensor<1x?xi8>) -> tensor<1x?xi8>
  return %c : tensor<1x?xi8>
}}
}}"#
        )
        .replace("  %a =", "  %axis = \"tfl.pseudo_const\"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>\n  %a =")
    };
    accepted(&text(50, false), &text(50, true));
    refused(&text(1, false), &text(1, true), |v| matches!(v, Violation::View { .. }));
}

/// Buffers: who writes where, through windows and copies.
#[test]
fn buffers_and_their_windows() {
    let text = |order: [&str; 3]| {
        let op = |name: &str| match name {
            "copy" => "  \"memref.copy\"(%x, %m) : (memref<8xi8>, memref<8xi8>) -> ()\n",
            "mul" => "  \"memref.copy\"(%m, %y) : (memref<8xi8>, memref<8xi8>) -> ()\n",
            _ => "  \"memref.copy\"(%y, %m) : (memref<8xi8>, memref<8xi8>) -> ()\n",
        };
        let body: String = order.iter().map(|name| op(name)).collect();
        format!(
            "func.func @main(%x: memref<8xi8>, %y: memref<8xi8>) -> () {{\n  %m = \"memref.alloc\"() : () -> memref<8xi8>\n{body}  return\n}}"
        )
    };
    let source = text(["copy", "mul", "back"]);
    agrees(&source, &source);
    let report = differs(&source, &text(["mul", "copy", "back"]));
    assert!(report.violations.iter().any(|v| matches!(v, Violation::Buffer { value, .. } if value == "`%y`")));
}

#[test]
fn tokens_order_what_has_no_effects() {
    let text = |first: bool| {
        let (a, b) = (
            "  %a, %k = \"neap.opaque\"(%x) {kind = \"f\"} : (tensor<8xi8>) -> (tensor<8xi8>, !neap.token)\n",
            "  %b = \"neap.opaque\"(%x, %k) {kind = \"g\"} : (tensor<8xi8>, !neap.token) -> tensor<8xi8>\n",
        );
        let c = "  %b = \"neap.opaque\"(%x) {kind = \"g\"} : (tensor<8xi8>) -> tensor<8xi8>\n";
        let d = "  %a = \"neap.opaque\"(%x) {kind = \"f\"} : (tensor<8xi8>) -> tensor<8xi8>\n";
        let body = if first { format!("{a}{b}") } else { format!("{c}{d}") };
        format!(
            "func.func @main(%x: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>) {{\n{body}  return %a, %b : tensor<8xi8>, tensor<8xi8>\n}}"
        )
    };
    agrees(&text(true), &text(true));
    let report = differs(&text(true), &text(false));
    assert!(report.violations.iter().any(|v| matches!(v, Violation::Order { .. })));
    // Without the token, either order is right.
    agrees(&text(false), &text(false).replace("%k", "%z"));
}

#[test]
fn every_message_names_the_function() {
    let source = "func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {\n  return %x : tensor<8xi8>\n}";
    let other = source.replace("@main", "@other");
    let report = judge(source, &other);
    assert_eq!(report.violations.len(), 2);
    assert!(report.diagnostics().iter().all(|d| d.message.contains('@')));
}

/// The shape of an operand matters to an operation of which nothing is known.
#[test]
fn a_reshape_before_an_opaque_operation() {
    let text = |reshaped: bool| {
        let (body, of, ty) = match reshaped {
            true => (
                "  %t = \"tosa.reshape\"(%x) {n = 1 : i64} : (tensor<4x6xi8>) -> tensor<6x4xi8>\n",
                "%t",
                "tensor<6x4xi8>",
            ),
            false => ("", "%x", "tensor<4x6xi8>"),
        };
        unary(
            "tensor<4x6xi8>",
            &format!("{body}  %r = \"neap.opaque\"({of}) {{kind = \"f\"}} : ({ty}) -> tensor<2xi8>"),
            "tensor<2xi8>",
        )
    };
    differs(&text(true), &text(false));
}

const TABLE: &str = r#"
[[op]]
name = "t.scale"
role = "elementwise"
effects = "none"
inplace = [{result = 0, operands = "0..", rule = "lockstep"}]

[[op]]
name = "t.lookup"
role = "elementwise"
effects = "none"
inplace = [{result = 0, operands = 0, rule = "lockstep"}]
"#;

fn same(source: &str, other: &str) -> bool {
    let mut facts = neap_ir::facts::Facts::builtin();
    facts.add_table(TABLE, "table of the test").expect("the table is right");
    neap_check::check_semantics(&common::module(source), &common::module(other), &facts).accepted()
}

/// An operation that treats elements by channel does not commute with a slice.
#[test]
fn by_channel() {
    let slice = |name: &str, of: &str| {
        format!(
            "  {name} = \"stablehlo.slice\"({of}) {{start_indices = array<i64: 1>, limit_indices = array<i64: 3>, strides = array<i64: 1>}} : (tensor<4xi8>) -> tensor<2xi8>\n"
        )
    };
    let scale = |name: &str, of: &str, ty: &str, attrs: &str| {
        format!("  {name} = \"t.scale\"({of}) {{{attrs}}} : ({ty}) -> {ty}\n")
    };
    for (attrs, commutes) in
        [("n = 1 : i64", true), ("axis = 0 : i64", false), ("per_channel = true", false), ("per_channel = false", true)]
    {
        let outside =
            unary("tensor<4xi8>", &(slice("%t", "%x") + &scale("%r", "%t", "tensor<2xi8>", attrs)), "tensor<2xi8>");
        let inside =
            unary("tensor<4xi8>", &(scale("%t", "%x", "tensor<4xi8>", attrs) + &slice("%r", "%t")), "tensor<2xi8>");
        assert_eq!(same(&outside, &inside), commutes, "{attrs}");
        assert!(same(&outside, &outside));
    }
}

/// Which scalar is added, and which table is looked up, is part of the function.
#[test]
fn scalars_and_tables() {
    let text = |op: &str, pick: usize| {
        let part = |at: usize| {
            format!(
                "  %s{at} = \"stablehlo.slice\"(%y) {{start_indices = array<i64: {at}>, limit_indices = array<i64: {}>, strides = array<i64: 1>}} : (tensor<4xi8>) -> tensor<1xi8>\n",
                at + 1
            )
        };
        format!(
            "func.func @main(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {{\n{}{}  %r = \"{op}\"(%x, %s{pick}) : (tensor<4xi8>, tensor<1xi8>) -> tensor<4xi8>\n  return %r : tensor<4xi8>\n}}",
            part(0),
            part(1)
        )
    };
    for op in ["tosa.sub", "t.lookup"] {
        assert!(same(&text(op, 0), &text(op, 0)));
        assert!(!same(&text(op, 0), &text(op, 1)), "{op}");
    }
}

/// A write into a buffer that the function did not make is not lost.
#[test]
fn buffers_buffer_from_elsewhere() {
    let text = |copied: bool| {
        let copy = if copied { "  \"memref.copy\"(%x, %g) : (memref<8xi8>, memref<8xi8>) -> ()\n" } else { "" };
        format!(
            "func.func @main(%x: memref<8xi8>) -> () {{\n  %g = \"memref.get_global\"() {{name = @g}} : () -> memref<8xi8>\n{copy}  return\n}}"
        )
    };
    agrees(&text(true), &text(true));
    differs(&text(true), &text(false));
}

#[test]
fn an_activation_of_a_concatenation_is_applied() {
    let (part, whole) = ("tensor<2x3xf32>", "tensor<4x3xf32>");
    let joined = |activation: &str| {
        let join = format!(
            "  %r = \"tfl.concatenation\"(%x, %x) {{axis = 0 : i32, fused_activation_function = \"{activation}\"}} : ({part}, {part}) -> {whole}\n"
        );
        unary(part, &join, whole)
    };
    agrees(&joined("RELU"), &joined("RELU"));
    differs(&joined("RELU"), &joined("NONE"));
    differs(&joined("RELU"), &joined("TANH"));
    // Cut out again, it is the activation of the part, not the part.
    let first = |activation: &str| {
        let from = joined(activation).replace("%r =", "%j =");
        let from =
            from.split("  return").next().expect("a body").replace(&format!("-> {whole} {{"), &format!("-> {part} {{"));
        format!(
            "{from}  %zero = \"tfl.pseudo_const\"() {{value = dense<0> : tensor<2xi32>}} : () -> tensor<2xi32>\n  %size = \"tfl.pseudo_const\"() {{value = dense<[2, 3]> : tensor<2xi32>}} : () -> tensor<2xi32>\n  %r = \"tfl.slice\"(%j, %zero, %size) : ({whole}, tensor<2xi32>, tensor<2xi32>) -> {part}\n  return %r : {part}\n}}"
        )
    };
    let through = format!("func.func @main(%x: {part}) -> {part} {{\n  return %x : {part}\n}}");
    agrees(&first("NONE"), &through);
    differs(&first("RELU"), &through);
}

#[test]
fn a_part_is_not_written_straight_into_a_whole_with_an_activation() {
    let module = |activation: &str, place: &str| {
        format!(
            "func.func @main(%x: tensor<4xi8>) -> tensor<8xi8> {{\n  %a = \"tfl.neg\"(%x) : (tensor<4xi8>) -> tensor<4xi8>\n  %r = \"tfl.concatenation\"(%a, %x) {{axis = 0 : i32, fused_activation_function = \"{activation}\"{place}}} : (tensor<4xi8>, tensor<4xi8>) -> tensor<8xi8>\n  return %r : tensor<8xi8>\n}}"
        )
    };
    let plan = |activation: &str| {
        module(activation, ", neap.offsets = array<i64: 0>, neap.place = [{operand = 0, byte_offset = 0}]")
            .replace("\"tfl.neg\"(%x) :", "\"tfl.neg\"(%x) {neap.offsets = array<i64: 0>} :")
            .replace("%x: tensor<4xi8>", "%x: tensor<4xi8> {neap.offset = 8 : i64}")
            .replace(
                "-> tensor<8xi8> {",
                "-> tensor<8xi8> attributes {neap.arena_bytes = 12 : i64, neap.peak = 12 : i64} {",
            )
    };
    accepted(&module("NONE", ""), &plan("NONE"));
    refused(&module("RELU", ""), &plan("RELU"), |_| true);
}

#[test]
fn transposes_compose_to_any_other() {
    // 5x8x9: the second transpose runs over two dimensions of the first one's result as if they were one.
    for (a, b, c) in [(5, 8, 9), (50_000, 800, 9)] {
        let ty = |dims: [u64; 3]| format!("tensor<{}x{}x{}xi32>", dims[0], dims[1], dims[2]);
        let (x, once, twice) = (ty([a, b, c]), ty([c, a, b]), ty([b, c, a]));
        let turn = |name: &str, of: &str, perm: &str, from: &str, to: &str| {
            format!(
                "  {name} = \"stablehlo.transpose\"({of}) {{permutation = array<i64: {perm}>}} : ({from}) -> {to}\n"
            )
        };
        let both =
            unary(&x, &(turn("%t", "%x", "2, 0, 1", &x, &once) + &turn("%r", "%t", "2, 0, 1", &once, &twice)), &twice);
        agrees(&both, &unary(&x, &turn("%r", "%x", "1, 2, 0", &x, &twice), &twice));
    }
    let cube = "tensor<5x5x5xi32>";
    let turn = |name: &str, of: &str, perm: &str| {
        format!("  {name} = \"stablehlo.transpose\"({of}) {{permutation = array<i64: {perm}>}} : ({cube}) -> {cube}\n")
    };
    let both = unary(cube, &(turn("%t", "%x", "2, 0, 1") + &turn("%r", "%t", "2, 0, 1")), cube);
    agrees(&both, &unary(cube, &turn("%r", "%x", "1, 2, 0"), cube));
    differs(&both, &unary(cube, &turn("%r", "%x", "2, 0, 1"), cube));
}

/// What a kernel's body names from around it must be there when the kernel runs.
#[test]
fn a_kernel_reads_what_its_body_names() {
    let text = |plan: bool, second: u64| {
        let at = |offset: u64| if plan { format!(", neap.offsets = array<i64: {offset}>") } else { String::new() };
        let (arg, func) = match plan {
            true => (" {neap.offset = 0 : i64}", " attributes {neap.peak = 192 : i64, neap.arena_bytes = 192 : i64}"),
            false => ("", ""),
        };
        format!(
            r#"func.func @main(%x: tensor<16xf32>{arg}) -> tensor<16xf32>{func} {{
  %t = "neap.opaque"(%x) {{kind = "t"{}}} : (tensor<16xf32>) -> tensor<16xf32>
  %o = "neap.opaque"(%x) {{kind = "o"{}}} : (tensor<16xf32>) -> tensor<16xf32>
  %y = "linalg.generic"(%o, %o) <{{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}}> ({{
  ^bb0(%a: f32, %b: f32):
    %i = "linalg.index"() <{{dim = 0 : i64}}> : () -> index
    %v = "tensor.extract"(%t, %i) : (tensor<16xf32>, index) -> f32
    "linalg.yield"(%v) : (f32) -> ()
  }}) {{kind = "y"{}}} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}}"#,
            at(64),
            at(second),
            at(0)
        )
    };
    accepted(&text(false, 0), &text(true, 128));
    refused(&text(false, 0), &text(true, 64), |v| matches!(v, Violation::Overwritten { .. }));
}
