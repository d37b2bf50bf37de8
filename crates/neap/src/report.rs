//! Puts what has to be said into words for the error stream, with the place in the input that it is about.

use neap_ir::diag::{Diagnostic, render};

pub use neap_ir::diag::render::Source;

/// Diagnostics as text; nothing for none.
pub fn text(diagnostics: &[Diagnostic], source: Source<'_>, colour: bool) -> String {
    if diagnostics.is_empty() { String::new() } else { render::render(diagnostics, &source, colour) }
}
