//! Certificates as their readers see them: JSON in, a number or a reason out.

mod common;

use common::module;
use neap_check::{Certificate, verify};
use neap_ir::facts::Facts;

/// Two producers of one reader: while the second runs, the first one's result or the argument is there.
const PLAN: &str = r#"
func.func @main(%x: tensor<8xi8> {neap.offset = 0 : i64}) -> tensor<4xi8> attributes {neap.fingerprint = "abc"} {
  %a = "neap.opaque"(%x) {kind = "f", neap.offsets = array<i64: 8>} : (tensor<8xi8>) -> tensor<16xi8>
  %b = "neap.opaque"(%x) {kind = "g", neap.offsets = array<i64: 24>} : (tensor<8xi8>) -> tensor<16xi8>
  %c = "neap.opaque"(%a, %b) {kind = "h", neap.offsets = array<i64: 0>} : (tensor<16xi8>, tensor<16xi8>) -> tensor<4xi8>
  return %c : tensor<4xi8>
}"#;

/// During `%c`: both operands, 32 bytes, and its own 4.
const PROOF: &str = r#"{"version": 1, "fingerprint": "abc", "function": "main", "op": 2, "claims": {"lower_bound": 36},
  "flows": [{"taken": [], "edges": [
    ["source", "in:0.0", null, 16], ["in:0.0", "out:0.0", 16, 16], ["out:0.0", "sink", null, 16],
    ["source", "in:1.0", null, 16], ["in:1.0", "out:1.0", 16, 16], ["out:1.0", "sink", null, 16]]}]}"#;

fn proved(plan: &str, proof: &str) -> Result<u64, String> {
    let certificate = Certificate::from_json(proof)?;
    verify(&module(plan), &Facts::builtin(), &certificate).map_err(|violation| violation.diagnostic().message)
}

#[test]
fn a_proof_holds() {
    assert_eq!(proved(PLAN, PROOF), Ok(36));
    let read = Certificate::from_json(PROOF).expect("the proof can be read");
    assert_eq!(Certificate::from_json(&read.to_json().to_string()), Ok(read));
}

#[test]
fn near_misses() {
    for (from, to, why) in [
        ("\"lower_bound\": 36", "\"lower_bound\": 37", "claims 37 bytes and proves 36"),
        ("16, 16]", "16, 15]", "enter in:0.0"),
        ("16, 16]", "17, 16]", "another capacity"),
        ("[\"in:0.0\", \"out:0.0\", 16, 16]", "[\"in:0.0\", \"out:1.0\", 16, 16]", "no edge"),
        ("\"op\": 2", "\"op\": 1", "no edge"),
        ("\"op\": 2", "\"op\": 3", "no step 3"),
        ("abc", "abd", "another graph"),
        ("\"main\"", "\"other\"", "no such function"),
        ("[{\"taken\": [], \"edges\": [", "[], \"more\": [{\"taken\": [], \"edges\": [", "no flow"),
    ] {
        assert!(PROOF.contains(from), "{from}");
        let found = proved(PLAN, &PROOF.replacen(from, to, 1)).expect_err(to);
        assert!(found.contains(why), "{to}: {found}");
    }
    let carries_more = PROOF.replace("16]", "17]");
    assert!(proved(PLAN, &carries_more).expect_err("more than the bytes").contains("its capacity is 16"));
}

/// The same proof on another graph: a candidate that the proof does not consider, a body, an operand less.
#[test]
fn another_graph() {
    let over = PLAN.replace("kind = \"h\"", "kind = \"h\", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]");
    assert!(proved(&over, PROOF).expect_err("in place is possible").contains("no flow covers"));
    // With a flow for the set, which loses the edge of the operand that is overwritten.
    let with = PROOF.replace("\"taken\": []", "\"taken\": [{\"result\": 0, \"operand\": 0}]");
    assert!(proved(&over, &with).expect_err("the operand dies").contains("no edge from out:0.0 to sink"));
    let less = PLAN.replace("(%a, %b)", "(%b, %b)");
    assert!(proved(&less, PROOF).expect_err("nobody reads it").contains("no edge"));
    let smaller = PLAN.replace("tensor<16xi8>", "tensor<15xi8>");
    assert!(proved(&smaller, PROOF).is_err());
}

#[test]
fn what_cannot_be_read() {
    for text in ["", "[]", "{}", "{\"version\": 2}", "nonsense", "{\"version\": 1, \"op\": -1}"] {
        assert!(Certificate::from_json(text).is_err(), "{text}");
    }
    for (from, to) in
        [("\"source\"", "\"sauce\""), ("in:0.0", "in:0"), ("\"op\": 2", "\"op\": 5000000000"), ("16, 16]", "16]")]
    {
        assert!(Certificate::from_json(&PROOF.replacen(from, to, 1)).is_err(), "{to}");
    }
}
