//! Broken text: every input gets a diagnostic, nothing panics, nothing overflows. The corpus is made from valid text by seeded mutations, so that
//! it is the same everywhere.

use neap_ir::diag::Severity;
use neap_ir::parse::{MAX_DEPTH, MAX_ERRORS, fuzz_parse, parse_bytes};
use std::collections::BTreeMap;

const BASE: &str = include_str!("base.mlir");

/// A generator of numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Tokens of the text outside comments: strings, words and numbers, marks.
fn tokens(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let from = at;
        let word = |byte: u8| byte.is_ascii_alphanumeric() || b"%@#!^_.$".contains(&byte);
        match bytes[at] {
            byte if byte.is_ascii_whitespace() => at += 1,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b'"' => {
                at += 1;
                while bytes[at] != b'"' {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
                at += 1;
            }
            byte if word(byte) => {
                while at < bytes.len() && word(bytes[at]) {
                    at += 1;
                }
            }
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 2,
            _ => at += 1,
        }
        if !bytes[from].is_ascii_whitespace() && !text[from..at].starts_with("//") {
            found.push(from..at);
        }
    }
    found
}

/// Marks whose loss, doubling or exchange no text survives.
fn is_mark(token: &str) -> bool {
    matches!(token, "(" | ")" | "{" | "}" | "[" | "]" | "<" | ">" | "," | ":" | "=" | "->")
}

fn must_fail(kind: &'static str, text: &[u8], counts: &mut BTreeMap<&'static str, usize>) {
    match parse_bytes(text) {
        Ok(_) => panic!("{kind}: accepted\n{}", String::from_utf8_lossy(text)),
        Err(errors) => {
            assert!(!errors.is_empty(), "{kind}: refused without a reason\n{}", String::from_utf8_lossy(text));
            assert!(errors.len() <= MAX_ERRORS, "{kind}");
            for error in &errors {
                assert_eq!(error.severity, Severity::Error);
                assert!(!error.message.is_empty());
                assert!(
                    error.span.end as usize <= text.len() + 1 && error.span.start <= error.span.end,
                    "{kind}: {error:?}"
                );
            }
        }
    }
    *counts.entry(kind).or_default() += 1;
}

#[test]
fn mutations_of_valid_text_are_refused() {
    parse_bytes(BASE.as_bytes()).unwrap_or_else(|errors| panic!("the text to start from is valid: {errors:#?}"));
    let mut random = Random(7);
    let mut counts = BTreeMap::new();
    let all = tokens(BASE);
    let marks: Vec<_> = all.iter().filter(|token| is_mark(&BASE[(*token).clone()])).cloned().collect();
    for _ in 0..60 {
        let mark = marks[random.below(marks.len())].clone();
        let deleted = format!("{}{}", &BASE[..mark.start], &BASE[mark.end..]);
        must_fail("a mark is missing", deleted.as_bytes(), &mut counts);
        let mark = marks[random.below(marks.len())].clone();
        let doubled = format!("{}{} {}", &BASE[..mark.end], &BASE[mark.clone()], &BASE[mark.end..]);
        must_fail("a mark stands twice", doubled.as_bytes(), &mut counts);
        let at = random.below(all.len() - 1);
        let (first, second) = (all[at].clone(), all[at + 1].clone());
        if is_mark(&BASE[first.clone()]) != is_mark(&BASE[second.clone()]) {
            let swapped = [
                &BASE[..first.start],
                &BASE[second.clone()],
                &BASE[first.end..second.start],
                &BASE[first],
                &BASE[second.end..],
            ];
            must_fail("neighbours are exchanged", swapped.concat().as_bytes(), &mut counts);
        }
        let mark = marks[random.below(marks.len())].clone();
        let mut flipped = BASE.as_bytes().to_vec();
        flipped[mark.start] ^= 0x80 >> random.below(2);
        must_fail("a bit is flipped", &flipped, &mut counts);
    }
    // Up to its last closing bracket the text is not whole.
    let end = BASE.rfind('}').expect("the text ends in a bracket");
    let start = BASE.find("module").expect("the text has a module") + "module".len();
    for _ in 0..40 {
        let cut = start + random.below(end - start);
        must_fail("the end is missing", &BASE.as_bytes()[..cut], &mut counts);
    }
    let total: usize = counts.values().sum();
    assert!(total >= 200 && counts.len() == 5, "{counts:?}");
}

fn op(attr: &str) -> String {
    format!("\"t.op\"() {{a = {attr}}} : () -> ()\n")
}

/// `open` and `close` around `inner`, far deeper than any stack would bear.
fn nested(open: &str, inner: &str, close: &str) -> String {
    let levels = 100_000;
    format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn nesting_is_limited() {
    let mut counts = BTreeMap::new();
    let inputs = [
        nested("\"t.op\"() ({\n", "", "}) : () -> ()\n"),
        nested("module {\n", "", "}\n"),
        op(&nested("[", "1", "]")),
        op(&nested("{a = ", "1", "}")),
        op(&nested("tuple<", "i32", ">")),
        op(&nested("tensor<4x", "i32", ">")),
        op(&nested("(", "i32", ") -> i32")),
        op(&nested("() -> (", "i32", ")")),
        op(&nested("complex<", "f32", ">")),
        op(&nested("vector<4x", "f32", ">")),
        op(&format!("dense<{}> : tensor<4xi32>", nested("[", "1", "]"))),
        op(&format!("affine_map<(d0) -> ({})>", nested("(", "d0", ")"))),
        op(&format!("affine_map<(d0) -> ({})>", nested("-", "d0", ""))),
        op(&format!("affine_map<(d0, d1) -> ({})>", nested("d0 mod 7 + d1 floordiv 5 + ", "d0", ""))),
        op(&nested("distinct[0]<", "1", ">")),
        op(&format!("loc({})", nested("\"a\"(", "unknown", ")"))),
        op(&format!("loc({})", nested("callsite(", "unknown", " at unknown)"))),
        op(&format!("loc({})", nested("fused<1>[", "unknown", "]"))),
        op(&nested("tensor<4xi8, [", "1", "]>")),
        op(&format!("tensor<{}i8>", "1x".repeat(100_000))),
    ];
    for input in &inputs {
        must_fail("nested", input.as_bytes(), &mut counts);
        // Cut in the middle, where everything is open.
        must_fail("nested and cut", &input.as_bytes()[..input.len() / 2], &mut counts);
    }
    // Just within the limit, and printed text is within it as well.
    let levels = MAX_DEPTH as usize - 3;
    fuzz_parse(op(&format!("{}1{}", "[".repeat(levels), "]".repeat(levels))).as_bytes());
    assert!(parse_bytes(op(&format!("{}1{}", "[".repeat(levels), "]".repeat(levels))).as_bytes()).is_ok());
}

#[test]
fn aliases_cannot_blow_up() {
    let mut counts = BTreeMap::new();
    let doubling: String = (1..64).map(|at| format!("#a{at} = [#a{0}, #a{0}]\n", at - 1)).collect();
    must_fail("doubling", format!("#a0 = 1\n{doubling}{}", op("#a63")).as_bytes(), &mut counts);
    let deep: String = (1..1000).map(|at| format!("!t{at} = tuple<!t{}>\n", at - 1)).collect();
    must_fail("deep", format!("!t0 = i32\n{deep}{}", op("!t999")).as_bytes(), &mut counts);
    let body: String = (1..64).map(|at| format!("#a{at} = #d.x<#a{0}, #a{0}>\n", at - 1)).collect();
    must_fail("in bodies", format!("#a0 = 1\n{body}{}", op("#a63")).as_bytes(), &mut counts);
    let types: String = (1..64).map(|at| format!("!t{at} = !d.x<!t{0}, !t{0}>\n", at - 1)).collect();
    must_fail("types in bodies", format!("!t0 = i32\n{types}{}", op("!t63")).as_bytes(), &mut counts);
    must_fail("itself", format!("#a = [#a]\n{}", op("#a")).as_bytes(), &mut counts);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let mut counts = BTreeMap::new();
    let huge = "9".repeat(10_000);
    let inputs = [
        op(&huge),
        op(&format!("-{huge} : i32")),
        op(&format!("{huge} : i128")),
        op("256 : i8"),
        op("-129 : i8"),
        op("-1 : ui8"),
        op("1 : i129"),
        op("1 : i99999999999"),
        op("1 : f32"),
        op("0x1FFFFFFFF : f32"),
        op("1.0 : i32"),
        op("!d.x-"),
        op("1.0 : tensor<4xf32>"),
        op(&format!("tensor<{huge}xi8>")),
        op("tensor<9223372036854775808xi8>"),
        op("dense<1> : tensor<9223372036854775807x9223372036854775807xi8>"),
        op("dense<[1, 2]> : tensor<3xi8>"),
        op("dense<[1, 300]> : tensor<2xi8>"),
        op("dense<[[1], [2, 3]]> : tensor<2x1xi8>"),
        op("dense<\"0x010\"> : tensor<4xi8>"),
        op("dense<\"0x01\"> : tensor<4xi16>"),
        op("dense<> : tensor<4xi8>"),
        op("dense<1> : tensor<?xi8>"),
        op("array<i8: 256>"),
        op("array<i4: 1>"),
        op(&format!("array<i64: {huge}>")),
        op(&format!("strided<[{huge}]>")),
        op(&format!("affine_map<(d0) -> (d0 + {huge})>")),
        op(&format!("loc(\"f\":{huge}:1)")),
        format!("%x:{huge} = \"t.op\"() : () -> ()"),
        format!("\"t.op\"(%x#{huge}) : (i32) -> ()"),
        "%x:0 = \"t.op\"() : () -> ()".to_owned(),
        "%x = \"t.op\"() : () -> ()".to_owned(),
        "%x:4000000000 = \"t.op\"() : () -> i32".to_owned(),
    ];
    for input in &inputs {
        must_fail("out of range", input.as_bytes(), &mut counts);
    }
}

/// Whatever comes: no panic, and what is accepted prints to a fixed point.
#[test]
fn random_bytes_do_no_harm() {
    let mut random = Random(11);
    for round in 0..3000 {
        let mut text = BASE.as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len());
            match random.below(4) {
                0 => text[at] = random.below(256) as u8,
                1 => drop(text.drain(at..(at + random.below(20)).min(text.len()))),
                2 => {
                    let piece = text[at..(at + random.below(30)).min(text.len())].to_vec();
                    let to = random.below(text.len());
                    text.splice(to..to, piece);
                }
                _ => text[at] ^= 1 << random.below(8),
            }
            if text.is_empty() {
                break;
            }
        }
        if round % 10 == 0 {
            text.truncate(random.below(text.len() + 1));
        }
        fuzz_parse(&text);
    }
}
