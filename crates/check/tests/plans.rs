//! Hand-written plans: each good one is accepted, each near miss is refused for the right reason.

mod common;

use common::{accepted, judge, module, refused};
use neap_check::{Options, Violation, check, check_semantics};
use neap_ir::facts::Facts;

const CHAIN: &str = r#"
func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {kind = "f"} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {kind = "g"} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%b) {kind = "h"} : (tensor<64xi8>) -> tensor<64xi8>
  return %c : tensor<64xi8>
}"#;

/// The chain with offsets of x, a, b, c and the numbers of the function.
fn chain(offsets: [i64; 4], peak: i64, arena: i64) -> String {
    let [x, a, b, c] = offsets;
    format!(
        r#"
func.func @main(%x: tensor<64xi8> {{neap.offset = {x} : i64}}) -> tensor<64xi8> attributes {{neap.peak = {peak} : i64, neap.arena_bytes = {arena} : i64}} {{
  %a = "neap.opaque"(%x) {{kind = "f", neap.offsets = array<i64: {a}>}} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {{kind = "g", neap.offsets = array<i64: {b}>}} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%b) {{kind = "h", neap.offsets = array<i64: {c}>}} : (tensor<64xi8>) -> tensor<64xi8>
  return %c : tensor<64xi8>
}}"#
    )
}

#[test]
fn a_chain_in_two_slots() {
    accepted(CHAIN, &chain([0, 64, 0, 64], 128, 128));
    accepted(CHAIN, &chain([0, 64, 128, 192], 128, 256));
}

#[test]
fn a_result_over_its_operand() {
    refused(CHAIN, &chain([0, 64, 64, 0], 128, 128), |v| matches!(v, Violation::Overlap { .. }));
    refused(CHAIN, &chain([0, 63, 128, 0], 128, 192), |v| matches!(v, Violation::Overlap { .. }));
}

#[test]
fn wrong_numbers() {
    refused(CHAIN, &chain([0, 64, 0, 64], 127, 128), |v| matches!(v, Violation::Number { attribute: "neap.peak", .. }));
    refused(CHAIN, &chain([0, 64, 0, 64], 128, 64), |v| {
        matches!(v, Violation::Number { attribute: "neap.arena_bytes", .. })
    });
}

#[test]
fn nothing_planned_is_no_plan() {
    refused(CHAIN, CHAIN, |v| matches!(v, Violation::NoPlan { .. }));
    assert!(check_semantics(&module(CHAIN), &module(CHAIN), &Facts::builtin()).accepted());
    refused(CHAIN, &chain([0, -1, 0, 64], 128, 128), |v| matches!(v, Violation::NotPlanned { .. }));
}

#[test]
fn another_function_computed() {
    let planned = chain([0, 64, 0, 64], 128, 128);
    refused(
        CHAIN,
        &planned.replace("\"g\"", "\"k\""),
        |v| matches!(v, Violation::Result { culprit: Some(op), .. } if op.contains("%b")),
    );
}

/// The plan of a chain applied to a diamond of the same sizes: two overlaps.
#[test]
fn a_plan_for_another_graph() {
    let diamond = r#"
func.func @main(%x: tensor<64xi8> {neap.offset = 0 : i64}) -> tensor<64xi8> attributes {neap.peak = 192 : i64, neap.arena_bytes = 128 : i64} {
  %a = "neap.opaque"(%x) {kind = "f", neap.offsets = array<i64: 64>} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%x) {kind = "g", neap.offsets = array<i64: 0>} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%a, %b) {kind = "h", neap.offsets = array<i64: 64>} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %c : tensor<64xi8>
}"#;
    let stamped = |print: &str| diamond.replace("{neap.peak", &format!("{{neap.fingerprint = \"{print}\", neap.peak"));
    let report = judge(diamond, &stamped("00000000000000000000000000000000"));
    assert!(matches!(report.violations[..], [Violation::Fingerprint { .. }]), "{:#?}", report.diagnostics());
    let source = module(diamond);
    let own = neap_ir::fingerprint(&source, source.functions()[0]);
    assert!(judge(diamond, &stamped(&own)).violations.iter().all(|v| !matches!(v, Violation::Fingerprint { .. })));
    let options = Options { ignore_fingerprint: true, ..Options::default() };
    let report = check(&source, &module(&stamped("0")), &Facts::builtin(), &options);
    let overlaps = report.violations.iter().filter(|v| matches!(v, Violation::Overlap { .. })).count();
    assert_eq!((overlaps, report.violations.len()), (2, 2), "{:#?}", report.diagnostics());
}

#[test]
fn a_value_overwritten_while_it_lives() {
    let source = r#"
func.func @main(%x: tensor<64xi8>) -> tensor<64xi8> {
  %a = "neap.opaque"(%x) {kind = "f"} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {kind = "g"} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%x, %b) {kind = "h"} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %c : tensor<64xi8>
}"#;
    let planned = |b: i64| {
        format!(
            r#"
func.func @main(%x: tensor<64xi8> {{neap.offset = 0 : i64}}) -> tensor<64xi8> attributes {{neap.peak = 192 : i64, neap.arena_bytes = 192 : i64}} {{
  %a = "neap.opaque"(%x) {{kind = "f", neap.offsets = array<i64: 64>}} : (tensor<64xi8>) -> tensor<64xi8>
  %b = "neap.opaque"(%a) {{kind = "g", neap.offsets = array<i64: {b}>}} : (tensor<64xi8>) -> tensor<64xi8>
  %c = "neap.opaque"(%x, %b) {{kind = "h", neap.offsets = array<i64: 64>}} : (tensor<64xi8>, tensor<64xi8>) -> tensor<64xi8>
  return %c : tensor<64xi8>
}}"#
        )
    };
    accepted(source, &planned(128));
    refused(
        source,
        &planned(0),
        |v| matches!(v, Violation::Overwritten { value, by, step: 2, .. } if value == "`%x`" && by.value.as_deref() == Some("`%b`")),
    );
}

const ELEMENTWISE: &str = r#"
func.func @main(%x: tensor<64xi8>, %y: tensor<1xi8>) -> tensor<64xi8> {
  %a = "tosa.add"(%x, %y) : (tensor<64xi8>, tensor<1xi8>) -> tensor<64xi8>
  %b = "tosa.clamp"(%a) {min_val = 0 : i8, max_val = 6 : i8} : (tensor<64xi8>) -> tensor<64xi8>
  return %b : tensor<64xi8>
}"#;

fn elementwise(operand: u32, y: i64, extra: &str) -> String {
    format!(
        r#"
func.func @main(%x: tensor<64xi8> {{neap.offset = 0 : i64}}, %y: tensor<1xi8> {{neap.offset = {y} : i64}}) -> tensor<64xi8> attributes {{neap.peak = 65 : i64, neap.arena_bytes = 65 : i64}} {{
  %a = "tosa.add"(%x, %y) {{neap.inplace = [{{operand = {operand} : i64, result = 0 : i64}}], neap.offsets = array<i64: 0>}} : (tensor<64xi8>, tensor<1xi8>) -> tensor<64xi8>
  %b = "tosa.clamp"(%a) {{min_val = 0 : i8, max_val = 6 : i8{extra}, neap.offsets = array<i64: 0>}} : (tensor<64xi8>) -> tensor<64xi8>
  return %b : tensor<64xi8>
}}"#
    )
}

const TAKEN: &str = ", neap.inplace = [{operand = 0 : i64, result = 0 : i64}]";

#[test]
fn elementwise_in_place() {
    accepted(ELEMENTWISE, &elementwise(0, 64, TAKEN));
}

/// The near misses of in-place: not declared; over a broadcast operand; the broadcast operand inside of what is overwritten.
#[test]
fn in_place_near_misses() {
    refused(ELEMENTWISE, &elementwise(0, 64, ""), |v| matches!(v, Violation::Overlap { .. }));
    refused(
        ELEMENTWISE,
        &elementwise(0, 5, TAKEN),
        |v| matches!(v, Violation::Overlap { other, .. } if other == "`%y`"),
    );
    refused(ELEMENTWISE, &elementwise(1, 0, TAKEN), |v| matches!(v, Violation::InPlace { .. }));
    refused(ELEMENTWISE, &elementwise(1, 64, TAKEN), |v| matches!(v, Violation::Elsewhere { .. }));
}
