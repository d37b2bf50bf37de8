//! The rules of the verifier, each with text that obeys it and text that breaks it (`testdata/verify`, one file per rule).

use neap_ir::diag::expected::check_expected;
use neap_ir::diag::render::{Source, render};
use neap_ir::parse::split_input;
use neap_ir::{Module, OpSpec, parse, verify};
use std::path::PathBuf;

fn files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testdata/verify");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

#[test]
fn every_rule_is_kept_and_broken() {
    let mut problems = String::new();
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a text file");
        let (mut kept, mut broken) = (0, 0);
        for chunk in split_input(&text) {
            let errors = match parse(chunk.text) {
                Ok(module) => verify(&module).err().unwrap_or_default(),
                Err(errors) => errors,
            };
            if errors.is_empty() {
                kept += 1
            } else {
                broken += 1
            }
            let wrong = check_expected(chunk.text, &errors);
            let name = file.display().to_string();
            problems += &render(&wrong, &Source { name: &name, text: chunk.text.as_bytes(), line: chunk.line }, false);
        }
        assert!(kept > 0 && broken > 0, "{}: {kept} parts obey the rule, {broken} break it", file.display());
    }
    assert!(problems.is_empty(), "{problems}");
    assert_eq!(files().len(), 15, "one file per rule but the fifth, which no text can break");
}

/// Rule 5: text cannot break it, a detached reader does.
#[test]
fn a_reader_outside_the_module_is_found() {
    let mut module = Module::new();
    let ty = module.int_ty(32);
    let body = module.body();
    let def = module.create(OpSpec { name: "t.def", results: &[ty], ..OpSpec::default() });
    module.append(body, def);
    assert_eq!(verify(&module), Ok(()));
    let value = module.results(def)[0];
    let reader = module.create(OpSpec { name: "t.use", operands: &[value], ..OpSpec::default() });
    let errors = verify(&module).expect_err("a reader that stands nowhere");
    assert!(errors[0].message.contains("the list of uses of `%0`"), "{errors:?}");
    module.append(body, reader);
    assert_eq!(verify(&module), Ok(()));
}

#[test]
fn expectations_are_strict() {
    use neap_ir::diag::Diagnostic;
    use neap_ir::loc::Span;
    let text =
        "one\n// expected-error @above {{wrong}}\n// expected-warning @+1 {{odd}}\ntwo // expected-remark {{fine}}\n";
    let problems = check_expected(text, &[Diagnostic::error(Span { start: 0, end: 3 }, "it is wrong")]);
    let messages: Vec<&str> = problems.iter().map(|problem| &problem.message[..]).collect();
    assert_eq!(messages, ["expected warning \"odd\" was not produced", "expected remark \"fine\" was not produced"]);
    let problems = check_expected("one\n", &[Diagnostic::error(Span { start: 0, end: 3 }, "it is wrong")]);
    assert_eq!(problems[0].message, "unexpected error: it is wrong");
    let problems = check_expected("// expected-eror {{x}}\n", &[]);
    assert_eq!(problems.len(), 1);
}
