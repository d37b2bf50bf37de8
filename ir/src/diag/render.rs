//! Diagnostics for people: an excerpt of the source with file name, line and column, notes and help, laid out as rustc does.
//!
//! The source may be anything: bytes that are no UTF-8 show as `?`, control characters in messages as escapes, lines longer than
//! [`MAX_LINE`] only by their place. Only the lines around a place are looked at, so that an error in a large file is cheap.

use crate::diag::{Diagnostic, Severity};
use crate::loc::Span;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use std::ops::Range;

/// Bytes of a line above which no excerpt is shown.
const MAX_LINE: usize = 1 << 12;
/// Lines between two places that are still shown in one excerpt.
const NEAR: usize = 30;

/// The text that diagnostics speak about.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// What to call it: a path, `<stdin>`; nothing for what is about no file.
    pub name: &'a str,
    /// The bytes that were read: spans count from their start.
    pub text: &'a [u8],
    /// Lines of the file before the text, where it is a part of one.
    pub line: usize,
}

/// Renders diagnostics, one after the other, each ending with a line break and separated by empty lines.
pub fn render(diagnostics: &[Diagnostic], source: &Source<'_>, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let lines = Lines::of(source.text);
    let mut out = String::new();
    for (at, diagnostic) in diagnostics.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        out.push_str(&renderer.render(&[group(diagnostic, source, &lines)]));
        out.push('\n');
    }
    out
}

/// Where the lines of a text start: many diagnostics are placed in it.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &[u8]) -> Lines {
        let starts = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        Lines(std::iter::once(0).chain(starts).collect())
    }

    /// The line of a byte, from 0.
    fn line(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte) - 1
    }

    /// The bytes of a line without its end.
    fn range(&self, line: usize, text: &[u8]) -> Range<usize> {
        let end = self.0.get(line + 1).map_or(text.len(), |next| next - 1);
        self.0[line]..end
    }
}

/// Line and column of a byte, both from 1; the column counts characters.
pub fn line_column(source: &Source<'_>, byte: u32) -> (usize, usize) {
    let before = &source.text[..source.text.len().min(byte as usize)];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1 + source.line;
    (line, readable(&before[line_start..]).chars().count() + 1)
}

fn group<'a>(diagnostic: &Diagnostic, source: &Source<'a>, lines: &Lines) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Remark => Level::INFO.with_name("remark"),
    };
    let mut group = level.primary_title(clean(&diagnostic.message)).elements(excerpts(diagnostic, source, lines));
    // What is about no place of the text, as in a model file, is said all the same.
    let elsewhere = diagnostic.related.iter().filter(|(span, _)| span.is_none()).map(|(_, label)| label);
    for note in elsewhere.chain(&diagnostic.notes) {
        group = group.element(Level::NOTE.message(clean(note)));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(clean(help)));
    }
    group
}

/// A place to show: its bytes, its line from 0, and what to say about it.
struct Place<'d> {
    span: Range<usize>,
    line: usize,
    label: Option<&'d str>,
}

fn excerpts<'a>(diagnostic: &Diagnostic, source: &Source<'a>, lines: &Lines) -> Vec<Element<'a>> {
    let mut places: Vec<Place<'_>> = Vec::new();
    if !diagnostic.span.is_none() {
        places.push(Place::new(diagnostic.span, None, source, lines));
    }
    let related = diagnostic.related.iter().filter(|(span, _)| !span.is_none());
    places.extend(related.map(|(span, label)| Place::new(*span, Some(label), source, lines)));
    let Some(main) = places.first().map(|first| first.line) else {
        // What is about no file, such as the command line, has no place at all.
        let origin = (!source.name.is_empty()).then(|| Origin::path(source.name.to_owned()).into());
        return origin.into_iter().collect();
    };
    let (near, far): (Vec<_>, Vec<_>) = places.into_iter().partition(|place| place.line.abs_diff(main) <= NEAR);
    let mut elements = vec![excerpt(&near, source, lines)];
    elements.extend(far.into_iter().map(|place| excerpt(&[place], source, lines)));
    elements
}

impl<'d> Place<'d> {
    fn new(span: Span, label: Option<&'d str>, source: &Source<'_>, lines: &Lines) -> Place<'d> {
        let start = source.text.len().min(span.start as usize);
        let line = lines.line(start);
        // Of a place with several lines the first is shown.
        let end = (span.end as usize).clamp(start, lines.range(line, source.text).end.max(start));
        Place { span: start..end, line, label }
    }
}

fn excerpt<'a>(places: &[Place<'_>], source: &Source<'a>, lines: &Lines) -> Element<'a> {
    let first = places.iter().map(|place| place.line).min().unwrap_or(0);
    let last = places.iter().map(|place| place.line).max().unwrap_or(0);
    let from = lines.0[first];
    let shown = &source.text[from..lines.range(last, source.text).end];
    if (first..=last).any(|line| lines.range(line, source.text).len() > MAX_LINE) {
        let column = places[0].span.start - lines.0[places[0].line] + 1;
        let line = places[0].line + 1 + source.line;
        return Origin::path(source.name.to_owned()).line(line).char_column(column).into();
    }
    let text = readable(shown);
    let mut snippet = Snippet::source(text.clone()).line_start(first + 1 + source.line).path(source.name.to_owned());
    for (at, place) in places.iter().enumerate() {
        let kind = if at == 0 && place.label.is_none() { AnnotationKind::Primary } else { AnnotationKind::Context };
        let span = text.floor_char_boundary(place.span.start - from)..text.ceil_char_boundary(place.span.end - from);
        snippet = snippet.annotation(kind.span(span).label(place.label.map(clean)));
    }
    snippet.into()
}

/// Bytes as text of the same length: what is no UTF-8 is `?`.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

/// A message without control characters.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() && letter != '\n' { out.extend(letter.escape_default()) } else { out.push(letter) }
    }
    out
}
