//! `--verify-diagnostics`: a test says in comments what is to be reported, as in MLIR.
//!
//! `// expected-error {{text}}` stands on the line of the diagnostic, whose message contains the text; `expected-warning`, `expected-remark` and
//! `expected-note` likewise. A place may follow: `@+1`, `@-2` (lines), `@above`, `@below` (the next line in that direction without such a
//! comment), `@unknown` (a diagnostic without a place). Every error, warning and remark must be expected; notes may be.

use super::render::{Source, line_column};
use crate::diag::{Diagnostic, Severity};
use crate::loc::Span;

/// What a comment expects.
#[derive(Debug)]
struct Expected<'a> {
    /// `error`, `warning`, `remark`, `note`.
    kind: &'a str,
    /// From 1; none for `@unknown`.
    line: Option<usize>,
    text: &'a str,
    /// Where the comment stands.
    span: Span,
    seen: bool,
}

/// Something that was reported.
struct Reported {
    kind: &'static str,
    line: Option<usize>,
    message: String,
    span: Span,
    may_be_unexpected: bool,
}

/// Compares diagnostics with the comments of the text they speak about: nothing if they agree, else what was not expected and what was not reported.
pub fn check_expected(text: &str, diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut expected = expectations(text, &mut problems);
    for reported in diagnostics.iter().flat_map(|diagnostic| reported(text, diagnostic)) {
        let fits = |wanted: &&mut Expected<'_>| {
            wanted.kind == reported.kind && wanted.line == reported.line && reported.message.contains(wanted.text)
        };
        // One comment serves for repetitions of the same message, as in MLIR.
        match expected.iter_mut().find(fits) {
            Some(wanted) => wanted.seen = true,
            None if reported.may_be_unexpected => {}
            None => {
                let message = format!("unexpected {}: {}", reported.kind, reported.message);
                problems.push(Diagnostic::error(reported.span, message));
            }
        }
    }
    for wanted in expected.iter().filter(|wanted| !wanted.seen) {
        let message = format!("expected {} \"{}\" was not produced", wanted.kind, wanted.text);
        problems.push(Diagnostic::error(wanted.span, message));
    }
    problems.sort_by_key(|problem| problem.span.start);
    problems
}

fn reported(text: &str, diagnostic: &Diagnostic) -> Vec<Reported> {
    let source = Source { name: "", text: text.as_bytes(), line: 0 };
    let line = |span: Span| (!span.is_none()).then(|| line_column(&source, span.start).0);
    let kind = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Remark => "remark",
    };
    let span = diagnostic.span;
    let mut all =
        vec![Reported { kind, line: line(span), message: diagnostic.message.clone(), span, may_be_unexpected: false }];
    let notes = diagnostic.notes.iter().map(|note| (span, note));
    let notes = notes.chain(diagnostic.help.iter().map(|help| (span, help)));
    for (span, note) in notes.chain(diagnostic.related.iter().map(|(span, note)| (*span, note))) {
        all.push(Reported { kind: "note", line: line(span), message: note.clone(), span, may_be_unexpected: true });
    }
    all
}

fn expectations<'a>(text: &'a str, problems: &mut Vec<Diagnostic>) -> Vec<Expected<'a>> {
    let mut found: Vec<Expected<'a>> = Vec::new();
    // Those that wait for the next line without a comment of this kind.
    let mut below: Vec<usize> = Vec::new();
    let mut last_plain = None;
    let mut at = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        let start = at + line.len() - line.trim_start().len();
        let span = Span { start: start as u32, end: (at + line.trim_end().len()).max(start) as u32 };
        at += line.len();
        match expectation(line) {
            None => {
                if line.contains("// expected-") {
                    problems.push(Diagnostic::error(span, "the comment is no `expected-KIND[@PLACE] {{text}}`"));
                }
                for waiting in below.drain(..) {
                    found[waiting].line = Some(number);
                }
                last_plain = Some(number);
            }
            Some((kind, place, text)) => {
                let line = match place {
                    Place::Here => Some(number),
                    Place::Lines(by) => number.checked_add_signed(by),
                    Place::Above => last_plain,
                    Place::Below => {
                        below.push(found.len());
                        None
                    }
                    Place::Unknown => None,
                };
                found.push(Expected { kind, line, text, span, seen: false });
            }
        }
    }
    found
}

enum Place {
    Here,
    Lines(isize),
    Above,
    Below,
    Unknown,
}

/// Kind, place and text of a line's comment.
fn expectation(line: &str) -> Option<(&str, Place, &str)> {
    let rest = &line[line.find("// expected-")? + "// expected-".len()..];
    let kind = ["error", "warning", "remark", "note"].into_iter().find(|kind| rest.starts_with(kind))?;
    let rest = rest[kind.len()..].trim_start();
    let (place, text) = rest.split_once("{{")?;
    let text = &text[..text.rfind("}}")?];
    let place = match place.trim() {
        "" => Place::Here,
        "@above" => Place::Above,
        "@below" => Place::Below,
        "@unknown" => Place::Unknown,
        lines => Place::Lines(lines.strip_prefix('@')?.parse().ok()?),
    };
    Some((kind, place, text))
}
