//! Short forms for tests on text.
#![allow(dead_code, reason = "each test file uses some of them")]

use neap_check::{Options, Report, Violation, check, check_semantics};
use neap_ir::Module;
use neap_ir::facts::Facts;

pub(crate) fn module(text: &str) -> Module {
    neap_ir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

pub(crate) fn judge(source: &str, planned: &str) -> Report {
    check(&module(source), &module(planned), &Facts::builtin(), &Options::default())
}

#[track_caller]
pub(crate) fn accepted(source: &str, planned: &str) {
    let report = judge(source, planned);
    assert!(report.accepted(), "{:#?}", report.diagnostics());
}

#[track_caller]
pub(crate) fn refused(source: &str, planned: &str, is: impl Fn(&Violation) -> bool) {
    let report = judge(source, planned);
    assert!(report.violations.iter().any(is), "{:#?}", report.diagnostics());
}

#[track_caller]
pub(crate) fn agrees(source: &str, other: &str) {
    let report = check_semantics(&module(source), &module(other), &Facts::builtin());
    assert!(report.accepted(), "{:#?}", report.diagnostics());
}

#[track_caller]
pub(crate) fn differs(source: &str, other: &str) -> Report {
    let report = check_semantics(&module(source), &module(other), &Facts::builtin());
    assert!(!report.accepted(), "taken for equal:\n{source}\n{other}");
    report
}
