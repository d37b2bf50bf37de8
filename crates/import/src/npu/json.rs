//! The JSON as records with their places, nothing interpreted.
//!
//! Each node and each edge is first cut out as raw text, so that an error has its place in the file. What is not known is skipped without
//! recursion: nesting of any depth costs neither stack nor more memory than the text itself.

use neap_ir::Span;
use neap_ir::diag::Diagnostic;
use serde::Deserialize;
use serde_json::value::RawValue;

/// More errors than this are counted, not shown.
pub(super) const MOST_ERRORS: usize = 20;

/// What a file looks like.
const FORM: &str = "expected {\"Nodes\": [..], \"Edges\": [..]}";

/// A node as the file has it.
#[derive(Deserialize)]
pub(super) struct Node {
    #[serde(rename = "Id")]
    pub(super) id: Option<i64>,
    #[serde(rename = "Op")]
    pub(super) op: Option<String>,
    #[serde(rename = "BufId")]
    pub(super) buf: Option<i64>,
    #[serde(rename = "Size")]
    pub(super) size: Option<i64>,
    #[serde(rename = "Type")]
    pub(super) pool: Option<String>,
    #[serde(rename = "Pipe")]
    pub(super) pipe: Option<String>,
    #[serde(rename = "Cycles")]
    pub(super) cycles: Option<i64>,
    #[serde(rename = "Bufs")]
    pub(super) bufs: Option<Vec<i64>>,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, rename = "Nodes")]
    nodes: Option<Vec<&'a RawValue>>,
    #[serde(borrow, rename = "Edges")]
    edges: Option<Vec<&'a RawValue>>,
}

/// A record and where it stands.
pub(super) struct Placed<T> {
    pub(super) record: T,
    pub(super) span: Span,
}

/// What a file holds.
pub(super) struct Records {
    pub(super) nodes: Vec<Placed<Node>>,
    pub(super) edges: Vec<Placed<[i64; 2]>>,
}

/// Reads the records.
///
/// # Errors
/// The text is no JSON, or a node or an edge is not of the right form.
pub(super) fn read(bytes: &[u8]) -> Result<Records, Vec<Diagnostic>> {
    if bytes.len() > u32::MAX as usize {
        return Err(vec![Diagnostic::error(Span::default(), "the file has 4 GiB or more")]);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to() as u32;
            return Err(vec![Diagnostic::error(Span { start: at, end: at + 1 }, "this is no UTF-8")]);
        }
    };
    let at = (text.len() - text.trim_start().len()) as u32;
    let begin = Span { start: at, end: at + 1 };
    if !matches!(text.trim_start().chars().next(), None | Some('{')) {
        let what = "the file is no JSON object, and an NPU graph is one";
        return Err(vec![Diagnostic::error(begin, what).help(FORM)]);
    }
    let file: File<'_> = serde_json::from_str(text).map_err(|error| vec![wrong(text, 0, "the file", &error)])?;
    let Some(nodes) = file.nodes else {
        let what = "the file has no `Nodes`: it is no NPU graph";
        return Err(vec![Diagnostic::error(begin, what).help(FORM)]);
    };
    let mut errors = Errors::default();
    let nodes = records(text, &nodes, ("node", '{', "an object"), &mut errors);
    let edges = file.edges.as_deref().unwrap_or_default();
    let edges = records(text, edges, ("edge", '[', "a list of two ids"), &mut errors);
    errors.done()?;
    Ok(Records { nodes, edges })
}

fn records<'a, T: Deserialize<'a>>(
    text: &str,
    raw: &[&'a RawValue],
    (what, opens, form): (&str, char, &str),
    errors: &mut Errors,
) -> Vec<Placed<T>> {
    let mut found = Vec::with_capacity(raw.len());
    for (number, raw) in raw.iter().enumerate() {
        let raw = raw.get();
        // The record is borrowed from the text.
        let start = raw.as_ptr().addr() - text.as_ptr().addr();
        if !raw.starts_with(opens) {
            let span = Span { start: start as u32, end: start as u32 + 1 };
            errors.push(|| Diagnostic::error(span, format!("{what} {number} is not {form}")));
            continue;
        }
        match serde_json::from_str(raw) {
            Ok(record) => {
                let span = Span { start: start as u32, end: (start + raw.len()) as u32 };
                found.push(Placed { record, span });
            }
            Err(error) => {
                errors.push(|| wrong(&text[start..start + raw.len()], start, &format!("{what} {number}"), &error))
            }
        }
    }
    found
}

/// An error of the reader as a diagnostic at its place; `text` starts at byte `start` of the file.
fn wrong(text: &str, start: usize, what: &str, error: &serde_json::Error) -> Diagnostic {
    let line_start = match error.line() {
        0 | 1 => 0,
        line => text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').nth(line - 2).map_or(0, |(at, _)| at + 1),
    };
    let at = (start + (line_start + error.column().saturating_sub(1)).min(text.len().saturating_sub(1))) as u32;
    let message = error.to_string();
    let message = message.rfind(" at line ").map_or(message.as_str(), |end| &message[..end]);
    Diagnostic::error(Span { start: at, end: at + 1 }, format!("{what}: {message}"))
}

/// Collects errors, and counts those beyond [`MOST_ERRORS`].
#[derive(Default)]
pub(super) struct Errors {
    list: Vec<Diagnostic>,
    more: usize,
}

impl Errors {
    pub(super) fn push(&mut self, error: impl FnOnce() -> Diagnostic) {
        if self.list.len() < MOST_ERRORS {
            self.list.push(error());
        } else {
            self.more += 1;
        }
    }

    pub(super) fn done(mut self) -> Result<(), Vec<Diagnostic>> {
        if self.more > 0 {
            let last = self.list.pop().map(|last| last.note(format!("{} more errors are not shown", self.more)));
            self.list.extend(last);
        }
        if self.list.is_empty() { Ok(()) } else { Err(self.list) }
    }
}
