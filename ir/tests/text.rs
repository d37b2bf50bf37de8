//! Parser and printer: what is read is printed in MLIR's normal form, and print(parse(x)) is a fixed point.

use neap_ir::{PrintOptions, parse, print};

fn round(text: &str) -> String {
    let module = parse(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let printed = print(&module, &PrintOptions::default());
    let again = parse(&printed).unwrap_or_else(|errors| panic!("{errors:#?}\n{printed}"));
    assert_eq!(printed, print(&again, &PrintOptions::default()));
    printed
}

#[test]
fn names_and_packs_are_kept() {
    let text = r#"module @m {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a, %b:2 = "t.op"(%x) : (tensor<4xf32>) -> (i32, i32, tensor<4xf32>)
    return %b#1 : tensor<4xf32>
  }
}
"#;
    assert_eq!(round(text), text);
}

#[test]
fn values_may_be_used_before_their_definition() {
    let text = "module {\n  \"t.use\"(%q#1, %y) : (i32, i8) -> ()\n  %y = \"t.def\"() : () -> i8\n  %q:3 = \"t.def\"() : () -> (i8, i32, i8)\n}\n";
    assert_eq!(round(text), text);
}

#[test]
fn custom_assembly_gets_one_diagnostic_with_the_command() {
    let errors =
        parse("func.func @f() {\n  %c = arith.constant 1 : i32\n  scf.yield\n}\n").expect_err("custom assembly");
    assert_eq!(errors.len(), 1);
    assert!(errors[0].help.as_deref().is_some_and(|help| help.contains("mlir-opt --mlir-print-op-generic")));
}
