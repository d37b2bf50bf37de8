//! Pipelines: which passes run, in which order, with which options; spelled as in MLIR.
//!
//! `builtin.module(func.func(fuse,reorder{effort=1000000}))` runs `fuse`, then `reorder`, on each function; a bare
//! `fuse,reorder{effort=1000000}` is sugar for it. Several `func.func(..)` run one after the other, each over all functions.
//! A named pipeline stands for its passes. What [`Pipeline`] prints is what it parses, with the options that were given.
//!
//! Names and option values are checked when a pipeline is made, so that a pipeline that exists can run.

mod parse;
mod run;

use crate::pass::{Options, PassInfo};
use crate::registry;
use neap_ir::Span;
use neap_ir::diag::Diagnostic;
use std::fmt;

pub use run::{Observer, PassReport, Quiet, Run, run};

/// Passes with their options, grouped as `func.func(..)` groups them.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// Each group runs over all functions before the next one starts; within a group a function goes through all passes before
    /// the next function starts.
    pub groups: Vec<Vec<Step>>,
}

/// One pass of a pipeline.
#[derive(Clone, Debug)]
pub struct Step {
    info: &'static PassInfo,
    options: Options,
}

/// A named pipeline.
#[derive(Debug)]
pub struct NamedPipeline {
    /// Kebab-case; stands for its passes wherever a pass may stand.
    pub name: &'static str,
    /// One line for `--list-passes`.
    pub summary: &'static str,
    /// Its passes, as a pipeline without groups.
    pub passes: &'static str,
}

/// What is wrong with the text of a pipeline, or went wrong while it ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PipelineError {
    /// The text is no pipeline.
    Syntax {
        /// Byte position in the text.
        at: usize,
        /// What would be right there.
        expected: String,
        /// The text.
        text: String,
    },
    /// No pass and no pipeline has this name.
    UnknownPass {
        /// The name.
        name: String,
        /// A name that is close.
        close: Option<&'static str>,
    },
    /// The pass has no such option.
    UnknownOption {
        /// The pass.
        pass: &'static str,
        /// The option's name.
        option: String,
        /// An option that is close.
        close: Option<&'static str>,
        /// All options of the pass.
        known: Vec<&'static str>,
    },
    /// An option's value is wrong.
    BadOption {
        /// The pass.
        pass: &'static str,
        /// What is wrong, naming the option.
        message: String,
    },
    /// Functions call each other in a circle: they cannot be planned callees first.
    CallCycle(Box<Diagnostic>),
    /// A pass found that the input is wrong.
    Refused {
        /// The pass.
        pass: &'static str,
        /// The function, without `@`.
        function: String,
        /// What is wrong.
        diagnostic: Box<Diagnostic>,
    },
    /// An observer found the module broken after a pass: the pass is wrong, not the input.
    Broken {
        /// The pass.
        pass: &'static str,
        /// The function, without `@`.
        function: String,
        /// What is broken.
        diagnostics: Vec<Diagnostic>,
    },
    /// A pass said that it changed nothing, but did: the pass is wrong, not the input.
    SilentChange {
        /// The pass.
        pass: &'static str,
        /// The function, without `@`.
        function: String,
    },
}

impl Pipeline {
    /// Reads a pipeline.
    ///
    /// # Errors
    /// Wrong syntax, unknown names, wrong option values.
    pub fn parse(text: &str) -> Result<Pipeline, PipelineError> {
        parse::pipeline(text, &parse::Known { passes: registry::PASSES, pipelines: registry::PIPELINES })
    }

    /// The passes in the order in which they were given, as one group.
    #[must_use]
    pub fn of(steps: Vec<Step>) -> Pipeline {
        Pipeline { groups: if steps.is_empty() { Vec::new() } else { vec![steps] } }
    }

    /// All passes in order.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.groups.iter().flatten()
    }
}

impl Step {
    /// Reads what a flag `--name=options` says: a pass or a named pipeline, and options as between the braces of a pipeline.
    ///
    /// # Errors
    /// Unknown names, wrong option values, options on a named pipeline.
    pub fn parse(name: &str, options: &str) -> Result<Vec<Step>, PipelineError> {
        let known = parse::Known { passes: registry::PASSES, pipelines: registry::PIPELINES };
        parse::flag(name, options, &known)
    }

    /// A pass with options.
    ///
    /// # Errors
    /// An option that the pass does not have or whose value is wrong.
    pub fn new(info: &'static PassInfo, options: Options) -> Result<Step, PipelineError> {
        let names = || info.options.iter().map(|option| option.name);
        if let Some(option) = options.0.keys().find(|given| !names().any(|name| name == *given)) {
            let (close, known) = (crate::suggest::closest(option, names()), names().collect());
            return Err(PipelineError::UnknownOption { pass: info.name, option: option.clone(), close, known });
        }
        match (info.build)(&options) {
            Ok(_) => Ok(Step { info, options }),
            Err(message) => Err(PipelineError::BadOption { pass: info.name, message }),
        }
    }

    /// The pass.
    #[must_use]
    pub fn info(&self) -> &'static PassInfo {
        self.info
    }

    /// Its options, as given.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("builtin.module(")?;
        for (at, group) in self.groups.iter().enumerate() {
            f.write_str(if at == 0 { "func.func(" } else { ",func.func(" })?;
            for (at, step) in group.iter().enumerate() {
                write!(f, "{}{step}", if at == 0 { "" } else { "," })?;
            }
            f.write_str(")")?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info.name)?;
        for (at, (name, value)) in self.options.0.iter().enumerate() {
            let quote = if parse::is_plain(value) { "" } else { "\"" };
            write!(f, "{}{name}={quote}{value}{quote}", if at == 0 { "{" } else { " " })?;
        }
        f.write_str(if self.options.0.is_empty() { "" } else { "}" })
    }
}

impl PipelineError {
    /// As a diagnostic. Pipelines are no part of the text that was read, so most errors have no place in it.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            PipelineError::CallCycle(diagnostic) => (**diagnostic).clone(),
            PipelineError::Refused { pass, function, diagnostic } => {
                (**diagnostic).clone().note(format!("found by pass `{pass}` in function `@{function}`"))
            }
            PipelineError::Broken { diagnostics, .. } => {
                let span = diagnostics.first().map_or(Span::default(), |first| first.span);
                let found = Diagnostic::error(span, self.to_string());
                diagnostics.iter().fold(found, |found, broken| found.note(broken.message.clone()))
            }
            PipelineError::UnknownPass { .. } => Diagnostic::error(Span::default(), self.to_string())
                .help("`neap opt --list-passes` lists all passes and pipelines"),
            _ => Diagnostic::error(Span::default(), self.to_string()),
        }
    }
}

impl fmt::Display for PipelineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PipelineError::Syntax { at, expected, text } => {
                write!(f, "pipeline `{text}`: expected {expected} at byte {at}")
            }
            PipelineError::UnknownPass { name, close } => {
                write!(f, "there is no pass or pipeline `{name}`")?;
                did_you_mean(f, *close)
            }
            PipelineError::UnknownOption { pass, option, close, known } => {
                write!(f, "pass `{pass}` has no option `{option}`")?;
                match known.as_slice() {
                    [] => f.write_str("; it has none"),
                    known if close.is_none() => write!(f, "; it has `{}`", known.join("`, `")),
                    _ => did_you_mean(f, *close),
                }
            }
            PipelineError::BadOption { message, .. } => f.write_str(message),
            PipelineError::CallCycle(diagnostic) => f.write_str(&diagnostic.message),
            PipelineError::Refused { diagnostic, .. } => f.write_str(&diagnostic.message),
            PipelineError::Broken { pass, function, .. } => {
                write!(f, "function `@{function}` is broken after pass `{pass}`")
            }
            PipelineError::SilentChange { pass, function } => {
                write!(f, "pass `{pass}` says that it changed nothing in function `@{function}`, but it did")
            }
        }
    }
}

impl std::error::Error for PipelineError {}

fn did_you_mean(f: &mut fmt::Formatter<'_>, close: Option<&str>) -> fmt::Result {
    match close {
        Some(close) => write!(f, "; did you mean `{close}`?"),
        None => Ok(()),
    }
}
