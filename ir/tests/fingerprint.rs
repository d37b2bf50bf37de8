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
    assert_eq!(of(BASE), "da8eeed04e8ee622febf1e8bb2c81e5c");
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

#[test]
fn chains_and_circles_of_calls_count_with_all_they_reach() {
    let chain = |last: &str| {
        let link = |at: usize| {
            format!(
                "func.func @f{at}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %a = \"neap.call\"(%x) {{callee = @f{}}} : (tensor<4xf32>) -> tensor<4xf32>\n  return %a : tensor<4xf32>\n}}\n",
                at + 1
            )
        };
        let links: String = (0..2000).map(link).collect();
        format!(
            "{links}func.func @f2000(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %a = \"{last}\"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %a : tensor<4xf32>\n}}\n"
        )
    };
    let ends = |text: &str, name: &str| {
        let module = parse(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut all = neap_ir::Fingerprints::new(&module);
        // Whichever is asked for first, and alone.
        let first = all.of(module.symbol("f1500").expect("a link"));
        assert_eq!(first, fingerprint(&module, module.symbol("f1500").expect("a link")));
        all.of(module.symbol(name).expect("a link"))
    };
    assert_eq!(ends(&chain("t.neg"), "f0"), ends(&chain("t.neg"), "f0"));
    assert_ne!(ends(&chain("t.neg"), "f0"), ends(&chain("t.abs"), "f0"));
    assert_ne!(ends(&chain("t.neg"), "f0"), ends(&chain("t.neg"), "f1"));
    // Not a program, and yet each has a fingerprint that depends on neither names nor order.
    let circle = |a: &str, b: &str, swap: bool| {
        let func = |name: &str, kind: &str, callee: &str| {
            format!(
                "func.func @{name}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %a = \"{kind}\"(%x) {{callee = @{callee}}} : (tensor<4xf32>) -> tensor<4xf32>\n  return %a : tensor<4xf32>\n}}\n"
            )
        };
        let (one, two) = (func(a, "neap.call", b), func(b, "t.call", a));
        let module = parse(&if swap { two + &one } else { one + &two }).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut all = neap_ir::Fingerprints::new(&module);
        let of_b = all.of(module.symbol(b).expect("there"));
        (all.of(module.symbol(a).expect("there")), of_b)
    };
    let (one, two) = circle("a", "b", false);
    assert_eq!((one.clone(), two.clone()), circle("p", "q", true));
    assert_ne!(one, two);
}
