//! The model file that a plan is written into: the input of the run, or the one that `--template` names.

use crate::apply;
use crate::cli::SourceFlags;
use crate::drive::Setup;
use crate::exit::{Exit, Failure};
use crate::input::{Input, Kind};
use crate::writers;
use neap_ir::diag::Diagnostic;
use neap_ir::{Attr, Module, Span, plan};

/// A model file, and the module that it is.
pub struct Template {
    /// The file.
    pub input: Input,
    source: Option<Module>,
}

impl Template {
    /// Reads the module of a model file.
    ///
    /// # Errors
    /// The file is wrong, or a flag is.
    pub fn new(input: Input, flags: &SourceFlags, setup: &Setup) -> Result<Template, Failure> {
        let module = input.module(&flags.dims)?;
        Template::of(input, module, flags, setup)
    }

    /// A model file with its module, read already.
    ///
    /// # Errors
    /// A flag is wrong.
    pub fn of(input: Input, module: Module, flags: &SourceFlags, setup: &Setup) -> Result<Template, Failure> {
        let mut source = module;
        apply::apply(&mut source, flags, &setup.profile, &setup.facts)?;
        Ok(Template { input, source: Some(source) })
    }

    /// An NPU graph alone: what is written into it is judged on the graph itself.
    pub fn graph(input: Input) -> Template {
        Template { input, source: None }
    }

    /// Its module, with flags and profile.
    pub fn source(&self) -> &Module {
        self.source.as_ref().unwrap_or_else(|| unreachable!("only NPU graphs go without"))
    }

    /// The template, if there is one of a kind.
    ///
    /// # Errors
    /// There is none.
    pub fn wanted(template: Option<&Template>, kind: Kind) -> Result<&Template, Failure> {
        writers::fits(template.map(|template| &template.input), kind)?;
        Ok(template.unwrap_or_else(|| unreachable!("what fits is there")))
    }

    /// Refuses a plan that was made from another graph.
    ///
    /// # Errors
    /// The function whose fingerprint is another one.
    pub fn is_of(&self, planned: &Module) -> Result<(), Failure> {
        let mut wrong = Vec::new();
        let source = self.source();
        for func in source.functions() {
            let name = source.sym_name(func).unwrap_or_default();
            let here = neap_ir::fingerprint(source, func);
            let there =
                planned.symbol(name).and_then(|func| planned.attr(func, plan::FINGERPRINT)).and_then(Attr::as_str);
            if there != Some(&here) {
                let there = there.unwrap_or("none");
                let what = format!(
                    "the plan is not one of `{}`: @{name} has the fingerprint {here} there, {there} in the plan",
                    self.input.name
                );
                wrong.push(
                    Diagnostic::error(Span::default(), what)
                        .help("plan the model again, and give the flags that it was planned with"),
                );
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(Failure::new(Exit::Input, wrong)) }
    }
}
