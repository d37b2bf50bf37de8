//! How a run ends: an exit code, and what is said about it.
//!
//! The codes are a contract with scripts: 0 done and checked, 1 the input (or a plan that someone else made) is wrong, 2 usage,
//! 3 a demand cannot be met, 4 our own bug.

use crate::summary::Summary;
use neap_ir::Span;
use neap_ir::diag::Diagnostic;
use neap_passes::pipeline::PipelineError;

/// The exit code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Exit {
    /// Done, and checked unless the user asked for no check. Warnings are allowed.
    #[default]
    Done = 0,
    /// The input is wrong, or a plan that someone else made is refused.
    Input = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A demand (a budget, a `must`) cannot be met.
    Demand = 3,
    /// The checker refuses neap's own plan, or neap broke down.
    Bug = 4,
}

/// Why a run stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What is said, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// The summary of the plan that does not meet the demands, where there is one.
    pub missed: Option<Box<Summary>>,
}

impl Failure {
    /// A failure with diagnostics.
    pub fn new(exit: Exit, diagnostics: Vec<Diagnostic>) -> Failure {
        Failure { exit, diagnostics, missed: None }
    }

    /// The command line is wrong.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, vec![Diagnostic::error(Span::default(), message)])
    }

    /// The input is wrong, at no place in particular.
    pub fn input(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Input, vec![Diagnostic::error(Span::default(), message)])
    }

    /// The passes that are asked for are none, or their options.
    pub fn pipeline(error: &PipelineError) -> Failure {
        if let PipelineError::Syntax { at, text, .. } = error
            && let Some((before, _)) = text.split_at_checked(*at)
            && let Some(named) = before.strip_suffix('=')
        {
            let option =
                named.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').next().unwrap_or(named);
            return Failure::usage(format!("option `{option}` has no value in `{text}`")).help(format!(
                "write `{option}=VALUE`, or leave it out; `neap opt --list-passes` has what is taken then"
            ));
        }
        Failure::new(Exit::Usage, vec![error.diagnostic()])
    }

    /// Says what to try next, on the last diagnostic.
    pub fn help(mut self, help: impl Into<String>) -> Failure {
        if let Some(last) = self.diagnostics.last_mut() {
            last.help = Some(help.into());
        }
        self
    }

    /// Explains the last diagnostic.
    pub fn note(mut self, note: impl Into<String>) -> Failure {
        if let Some(last) = self.diagnostics.last_mut() {
            last.notes.push(note.into());
        }
        self
    }
}

impl From<Diagnostic> for Failure {
    /// What is wrong with the input.
    fn from(diagnostic: Diagnostic) -> Failure {
        Failure::new(Exit::Input, vec![diagnostic])
    }
}
