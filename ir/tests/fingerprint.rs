//! What counts for the fingerprint of a function, and what does not.

use neap_ir::{fingerprint, parse};

fn of(text: &str) -> String {
    let module = parse(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let main = module.symbol("main").expect("a function @main");
    fingerprint(&module, main)
}

const BASE: &str = r#"
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "t.relu"(%x) {k = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "neap.call"(%a) {callee = @g} : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "t.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
"#;

#[test]
fn it_is_stable() {
    assert_eq!(of(BASE), "c41b8039fad0ed05c868f4e11e0c5bb7");
}

#[test]
fn names_places_plans_and_order_of_declarations_do_not_count() {
    let same = r#"
module @other {
  func.func @renamed(%in: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "t.neg"(%in) : (tensor<4xf32>) -> tensor<4xf32> loc("here")
    return %0 : tensor<4xf32>
  }
  func.func @main(%arg: tensor<4xf32> {neap.io = "held", neap.offset = 0 : i64}) -> (tensor<4xf32> {neap.io = "external"}) attributes {neap.peak = 32 : i64} {
    %0 = "t.relu"(%arg) <{k = 1 : i64}> {neap.name = "relu", neap.offsets = array<i64: 16>, neap.live = array<i64: 0, 2>} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "neap.call"(%0) {callee = @renamed} : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
"#;
    assert_eq!(of(BASE), of(same));
}

#[test]
fn everything_else_counts() {
    let changes = [
        ("k = 1 : i64", "k = 2 : i64"),
        ("t.relu", "t.relu6"),
        ("t.neg", "t.abs"),
        ("\"t.relu\"(%x)", "\"t.relu\"(%x, %x)"),
        ("return %b", "return %a"),
        ("callee = @g}", "callee = @g, neap.view = [{operand = 0 : i64, result = 0 : i64}]}"),
    ];
    let mut seen = vec![of(BASE)];
    for (from, to) in changes {
        assert!(BASE.contains(from), "{from}");
        let mut text = BASE.replace(from, to);
        if to.contains("%x, %x") {
            text = text.replacen(
                "(tensor<4xf32>) -> tensor<4xf32>\n  %b",
                "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n  %b",
                1,
            );
        }
        let changed = of(&text);
        assert!(!seen.contains(&changed), "{to}");
        seen.push(changed);
    }
    let wider = of(&BASE.replace("tensor<4xf32>", "tensor<5xf32>"));
    assert!(!seen.contains(&wider));
}
