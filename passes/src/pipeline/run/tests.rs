//! The runner: callees first, circles of calls, passes that lie, observers that stop it.

use super::{Observer, Run, run};
use crate::pass::{Context, Options, Pass, PassInfo};
use crate::pipeline::{Pipeline, Step};
use crate::profile::Profile;
use neap_ir::diag::Diagnostic;
use neap_ir::facts::Facts;
use neap_ir::{Module, OpId, parse};

/// Marks a function; says that it did, or lies.
struct Mark {
    honest: bool,
}

impl Pass for Mark {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        let value = module.i64_attr(1);
        module.set_attr(func, "neap.mark", value);
        cx.count("marks", 1);
        Ok(self.honest)
    }
}

static HONEST: PassInfo =
    PassInfo { name: "honest", summary: "", options: &[], build: |_| Ok(Box::new(Mark { honest: true })) };
static LIAR: PassInfo =
    PassInfo { name: "liar", summary: "", options: &[], build: |_| Ok(Box::new(Mark { honest: false })) };

fn pipeline(infos: &[&'static PassInfo]) -> Pipeline {
    Pipeline::of(infos.iter().map(|info| Step::new(info, Options::default()).expect("no options")).collect())
}

/// Notes what it sees, and refuses after the function of a name.
struct Notes {
    seen: Vec<String>,
    refuse: &'static str,
}

impl Observer for Notes {
    fn before(&mut self, module: &Module, step: &Step, func: OpId) {
        self.seen.push(format!("before {step} @{}", module.sym_name(func).unwrap_or_default()));
    }

    fn after(&mut self, module: &Module, step: &Step, func: OpId, changed: bool) -> Result<(), Vec<Diagnostic>> {
        let name = module.sym_name(func).unwrap_or_default();
        self.seen.push(format!("after {step} @{name} {changed}"));
        let broken = Diagnostic::error(module.op(func).span, "it is broken");
        if name == self.refuse { Err(vec![broken]) } else { Ok(()) }
    }
}

fn go(text: &str, infos: &[&'static PassInfo], verify_each: bool, refuse: &'static str) -> (Vec<String>, String) {
    let mut module = parse(text).unwrap_or_else(|errors| panic!("{errors:#?}"));
    let (facts, profile) = (Facts::builtin(), Profile::builtin("none").expect("embedded"));
    let settings = Run { facts: &facts, profile: &profile, stop: &|| false, verify_each };
    let mut notes = Notes { seen: Vec::new(), refuse };
    let end = match run(&mut module, &pipeline(infos), settings, &mut notes) {
        Ok(reports) => reports.iter().map(|report| format!("{}@{} ", report.name, report.function)).collect(),
        Err(error) => error.diagnostic().message,
    };
    (notes.seen, end)
}

const CALLS: &str = r#"
func.func @main() { "neap.call"() {callee = @middle} : () -> () return }
func.func @middle() { "neap.if"(%p) ({ "neap.call"() {callee = @leaf} : () -> () "neap.yield"() : () -> () }) : (tensor<i1>) -> () return }
func.func @leaf() { return }
"#;

#[test]
fn a_function_goes_through_all_passes_before_its_callers() {
    let text = CALLS.replace("@middle() {", "@middle() { %p = \"neap.constant\"() : () -> tensor<i1>");
    let (seen, end) = go(&text, &[&HONEST, &LIAR], true, "");
    assert_eq!(end, "honest@leaf liar@leaf honest@middle liar@middle honest@main liar@main ");
    assert_eq!(seen[..3], ["before honest @leaf", "after honest @leaf true", "before liar @leaf"]);
}

#[test]
fn a_circle_of_calls_is_printed() {
    let text = r#"
func.func @other() { return }
func.func @a() { "neap.call"() {callee = @b} : () -> () return }
func.func @b() { "neap.call"() {callee = @other} : () -> () "neap.call"() {callee = @c} : () -> () return }
func.func @c() { "neap.call"() {callee = @b} : () -> () return }
"#;
    let (seen, end) = go(text, &[&HONEST], true, "");
    assert_eq!(end, "functions call each other in a circle: @b -> @c -> @b");
    assert!(seen.is_empty());
}

#[test]
fn a_change_that_is_not_owned_up_to_is_found() {
    let text = "func.func @main() { return }";
    let (_, end) = go(text, &[&LIAR], true, "");
    assert_eq!(end, "pass `liar` says that it changed nothing in function `@main`, but it did");
    // The same attribute once more is no change; and nobody looks where nobody asks.
    assert_eq!(go(text, &[&HONEST, &LIAR], true, "").1, "honest@main liar@main ");
    assert_eq!(go(text, &[&LIAR], false, "").1, "liar@main ");
}

#[test]
fn an_observer_stops_the_run() {
    let text = "func.func @first() { return }\nfunc.func @second() { return }";
    let (seen, end) = go(text, &[&HONEST], true, "first");
    assert_eq!(end, "function `@first` is broken after pass `honest`");
    assert_eq!(seen.len(), 2);
}
