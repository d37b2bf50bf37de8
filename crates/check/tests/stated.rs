//! What a plan states has to be so: the steps of each result's own life; and constants that a model calls alike are told apart.

mod common;

use common::{accepted, agrees, differs, refused};
use neap_check::Violation;

/// A chain with a view: `%a` lives until its view has been read.
fn viewed(a: &str, v: &str, plan: bool) -> String {
    let live = |text: &str| if text.is_empty() { String::new() } else { format!(", neap.live = array<i64: {text}>") };
    let on = |text: String| if plan { text } else { String::new() };
    format!(
        r#"func.func @main(%x: tensor<4xi8>{}) -> tensor<8xi8>{} {{
  %a = "neap.opaque"(%x) {{n = 1 : i64{}}} : (tensor<4xi8>) -> tensor<8xi8>
  %v = "tosa.reshape"(%a) {{n = 2 : i64{}}} : (tensor<8xi8>) -> tensor<2x4xi8>
  %b = "neap.opaque"(%x) {{n = 3 : i64{}}} : (tensor<4xi8>) -> tensor<8xi8>
  %r = "neap.opaque"(%v, %b) {{n = 4 : i64{}}} : (tensor<2x4xi8>, tensor<8xi8>) -> tensor<8xi8>
  return %r : tensor<8xi8>
}}"#,
        on(" {neap.offset = 24 : i64}".to_owned()),
        on(" attributes {neap.peak = 24 : i64, neap.arena_bytes = 28 : i64}".to_owned()),
        on(format!(", neap.offsets = array<i64: 0>{}", live(a))),
        on(format!(
            ", neap.view = [{{operand = 0 : i64, result = 0 : i64, byte_offset = 0 : i64}}], neap.offsets = array<i64: 0>{}",
            live(v)
        )),
        on(", neap.offsets = array<i64: 8>, neap.live = array<i64: 2, 4>".to_owned()),
        on(", neap.offsets = array<i64: 16>, neap.live = array<i64: 3, 4>".to_owned()),
    )
}

#[test]
fn the_steps_of_each_life_are_recomputed() {
    let source = viewed("", "", false);
    accepted(&source, &viewed("0, 4", "1, 4", true));
    // A plan by someone who states none.
    accepted(&source, &viewed("", "", true));
    for (a, v, value) in [
        ("0, 3", "1, 4", "%a"),
        ("0, 5", "1, 4", "%a"),
        ("16, 17", "1, 4", "%a"),
        ("0, 9223372036854775807", "1, 4", "%a"),
        ("0, 4", "1, 2", "%v"),
        ("0, 4", "0, 4", "%v"),
        ("0, 4", "1, 5", "%v"),
    ] {
        refused(&source, &viewed(a, v, true), |violation| match violation {
            Violation::Live { value: Some(name), actual: Some(_), .. } => name.contains(value),
            _ => false,
        });
    }
}

/// Results of a branch are there from the end of its last body on; of one with very many, from the end of the first: planner and checker count alike.
#[test]
fn results_of_a_branch_are_born_at_its_end() {
    let text = |live: &str, plan: bool| {
        let on = |text: String| if plan { text } else { String::new() };
        format!(
            r#"func.func @main(%c: tensor<1xi1>{}, %x: tensor<8xi8>{}) -> tensor<8xi8>{} {{
  %r = "neap.if"(%c) ({{
    %a = "neap.opaque"(%x) {{n = 1 : i64{}}} : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"(%a) : (tensor<8xi8>) -> ()
  }}, {{
    %b = "neap.opaque"(%x) {{n = 2 : i64{}}} : (tensor<8xi8>) -> tensor<8xi8>
    "neap.yield"(%b) : (tensor<8xi8>) -> ()
  }}){} : (tensor<1xi1>) -> tensor<8xi8>
  return %r : tensor<8xi8>
}}"#,
            on(" {neap.offset = 24 : i64}".to_owned()),
            on(" {neap.offset = 0 : i64}".to_owned()),
            on(" attributes {neap.peak = 24 : i64, neap.arena_bytes = 25 : i64}".to_owned()),
            on(", neap.offsets = array<i64: 8>, neap.live = array<i64: 1, 2>".to_owned()),
            on(", neap.offsets = array<i64: 8>, neap.live = array<i64: 2, 3>".to_owned()),
            on(format!(" {{neap.offsets = array<i64: 16>, neap.live = array<i64: {live}>}}")),
        )
    };
    accepted(&text("", false), &text("2, 3", true));
    refused(&text("", false), &text("0, 3", true), |v| matches!(v, Violation::Live { actual: Some((2, 3)), .. }));
}

/// Two constants of one type that have the same name in the model may hold different bytes.
#[test]
fn constants_of_one_name_are_told_apart() {
    let text = |first: &str, second: &str, names: [&str; 2]| {
        let constant = |ssa: &str, name: &str| {
            format!("  {ssa} = \"neap.constant\"() {{neap.names = [\"{name}\"]}} : () -> tensor<4xf32>\n")
        };
        format!(
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{}{}  \
             %r = \"neap.opaque\"(%x, {first}, {second}) {{n = 1 : i64}} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n  \
             return %r : tensor<4xf32>\n}}",
            constant("%t1", names[0]),
            constant("%t2", names[1])
        )
    };
    for names in [["", ""], ["w", "w"], ["v", "w"]] {
        let source = text("%t1", "%t2", names);
        agrees(&source, &source);
        differs(&source, &text("%t2", "%t1", names));
        differs(&source, &text("%t1", "%t1", names));
    }
    // The model's own names are enough where they differ, whatever values are called.
    let renamed = text("%t1", "%t2", ["v", "w"]).replace("%t1", "%0").replace("%t2", "%1");
    agrees(&text("%t1", "%t2", ["v", "w"]), &renamed);
    differs(&text("%t1", "%t2", ["v", "w"]), &text("%t1", "%t2", ["v", "u"]));
}

/// Where the hash of a constant's bytes is written, that is what it is.
#[test]
fn constants_with_a_hash_are_their_bytes() {
    let text = |name: &str, hash: &str| {
        format!(
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  \
             %w = \"neap.constant\"() {{neap.names = [\"{name}\"], content_sha256 = \"{hash}\"}} : () -> tensor<4xf32>\n  \
             %r = \"tosa.add\"(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n  \
             return %r : tensor<4xf32>\n}}"
        )
    };
    agrees(&text("w", "ab"), &text("v", "ab"));
    differs(&text("w", "ab"), &text("w", "cd"));
}
