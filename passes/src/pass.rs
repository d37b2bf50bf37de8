//! What a pass is, and what it may see.
//!
//! A pass changes one function and says whether it did. It reads facts and the profile, counts statistics, and explains itself in
//! remarks. It knows no files, no clock and no terminal: time comes in as [`Context::stop`], which is never true unless the user
//! asked for a time limit.

use crate::certificate::Certificate;
use crate::effects::{FuncEffects, Summaries};
use crate::priced::Priced;
use crate::profile::Profile;
use crate::recomputed::Recomputing;
use neap_ir::diag::{Diagnostic, Severity};
use neap_ir::facts::Facts;
use neap_ir::{Module, OpId};
use std::collections::BTreeMap;

/// A step of the pipeline on one function.
pub trait Pass {
    /// Changes `func`; returns whether anything changed. An error means that the input is wrong, not that nothing could be
    /// gained: it stops the pipeline and nothing is printed.
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic>;
}

/// What a pass may see and say.
pub struct Context<'a> {
    /// What operations mean.
    pub facts: &'a Facts,
    /// What the runtime can realise.
    pub profile: &'a Profile,
    /// What calls do.
    pub summaries: &'a Summaries,
    /// Asked between units of work; true means: finish with the best found so far.
    pub stop: &'a dyn Fn() -> bool,
    /// Counters of the pass that runs, kebab-case.
    pub stats: BTreeMap<&'static str, u64>,
    /// Explanations: what was refused and why, what was warned about.
    pub remarks: Vec<Diagnostic>,
    /// Proofs that the pass has found.
    pub certificates: Vec<Certificate>,
    /// What is computed again, and what that costs.
    pub recomputed: Vec<Recomputing>,
    /// What demands cost, where that was asked.
    pub prices: Vec<Priced>,
}

impl<'a> Context<'a> {
    /// A context in which nothing was said yet.
    #[must_use]
    pub fn new(
        facts: &'a Facts,
        profile: &'a Profile,
        summaries: &'a Summaries,
        stop: &'a dyn Fn() -> bool,
    ) -> Context<'a> {
        let (stats, remarks, certificates) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (recomputed, prices) = (Vec::new(), Vec::new());
        Context { facts, profile, summaries, stop, stats, remarks, certificates, recomputed, prices }
    }

    /// The effects of a function and all it runs.
    #[must_use]
    pub fn effects(&self, module: &Module, func: OpId) -> FuncEffects {
        self.summaries.effects(module, self.facts, func, true)
    }

    /// The same, but reading an alias of a variable's state is no read of the variable.
    #[must_use]
    pub fn effects_without_aliases(&self, module: &Module, func: OpId) -> FuncEffects {
        self.summaries.effects(module, self.facts, func, false)
    }

    /// Adds to a counter. Counters that stay at 0 are not listed.
    pub fn count(&mut self, key: &'static str, by: u64) {
        if by > 0 {
            *self.stats.entry(key).or_default() += by;
        }
    }

    /// Explains something about an operation.
    pub fn remark(&mut self, module: &Module, op: OpId, message: impl Into<String>) {
        self.remarks.push(Diagnostic::new(Severity::Remark, module.op(op).span, message));
    }
}

/// One option of a pass: its name, what it does, and its default as text.
#[derive(Debug)]
pub struct OptionSpec {
    /// Kebab-case.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What holds when it is not given.
    pub default: &'static str,
}

/// One line of the registry.
#[derive(Debug)]
pub struct PassInfo {
    /// Kebab-case; the flag `--name`, the name in pipelines, the file in `passes/src`, the folder in `testdata`.
    pub name: &'static str,
    /// One line for `--list-passes`.
    pub summary: &'static str,
    /// Options in the order in which they are listed.
    pub options: &'static [OptionSpec],
    /// Makes the pass; an error says which option is wrong.
    pub build: fn(&Options) -> Result<Box<dyn Pass>, String>,
}

/// Options as given in a pipeline, `{name=value other=value}`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options(pub BTreeMap<String, String>);

impl Options {
    /// The value of an option, or its default, read as `T`.
    pub fn get<T: std::str::FromStr>(&self, info: &PassInfo, name: &str) -> Result<T, String> {
        let default = info.options.iter().find(|option| option.name == name).map_or("", |option| option.default);
        let text = self.0.get(name).map_or(default, String::as_str);
        text.parse().map_err(|_| format!("option `{name}` of pass `{}` cannot be `{text}`", info.name))
    }
}
