//! Diagnostics as data: what is wrong, where, and the next thing to try.

pub mod expected;
pub mod render;

use crate::loc::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Explains; changes nothing.
    Remark,
    /// Worth knowing; the plan stands.
    Warning,
    /// The input is refused.
    Error,
}

/// One message with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// One sentence without a final stop, naming the thing.
    pub message: String,
    /// The place in the text that was read; none where the input is no text or the thing was made.
    pub span: Span,
    /// Further places, each with what stands there.
    pub related: Vec<(Span, String)>,
    /// What explains it.
    pub notes: Vec<String>,
    /// The next thing to try.
    pub help: Option<String>,
    /// Whether the input is right and only a demand of the user (a capacity, `neap.reuse = "must"`) cannot be met.
    pub unmet: bool,
}

impl Diagnostic {
    /// A diagnostic of a severity at a place.
    pub fn new(severity: Severity, span: Span, message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        Diagnostic { severity, message, span, related: Vec::new(), notes: Vec::new(), help: None, unmet: false }
    }

    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, span, message)
    }

    /// Adds a further place.
    pub fn related(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.related.push((span, message.into()));
        self
    }

    /// Adds an explanation.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Says what to try next.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Says that the input is right and a demand of the user cannot be met.
    pub fn unmet(mut self) -> Diagnostic {
        self.unmet = true;
        self
    }
}
