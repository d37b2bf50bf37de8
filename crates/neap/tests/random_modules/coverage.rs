//! What the modules have and what the full pipeline did with them.

use crate::campaign::Case;
use neap_ir::{Module, OpId, Type, plan};
use std::collections::BTreeMap;

/// Shares of modules that have to be met, in percent.
const REQUIRED: [(&str, usize); 9] = [
    ("in-place taken", 30),
    ("view chain of two or more", 30),
    ("placed concat", 20),
    ("fused chain", 20),
    ("nested control flow", 20),
    ("state", 20),
    ("aliases", 20),
    ("tokens", 20),
    ("dynamic dims", 20),
];

/// Modules by what they have.
#[derive(Default)]
pub(crate) struct Coverage {
    modules: usize,
    counts: BTreeMap<&'static str, usize>,
}

impl Coverage {
    /// Counts one module by its source and its plan.
    pub(crate) fn count(&mut self, case: &Case, planned: &Module) {
        self.modules += 1;
        let source = &case.module;
        let ops = |module: &Module| module.walk(module.top());
        let any = |module: &Module, test: &dyn Fn(OpId) -> bool| ops(module).into_iter().any(test);
        let named = |module: &Module, name: &str| any(module, &|op| module.op_name(op) == name);
        let chained = |op: OpId| {
            planned.views(op).iter().any(|view| {
                let from = planned.data_operand(op, view.operand as usize);
                let made = from.and_then(|value| planned.defining_op(value));
                made.is_some_and(|made| !planned.views(made).is_empty())
            })
        };
        let fused = |op: OpId| {
            planned.op_name(op) == "neap.fused"
                && planned.region_blocks(op, 0).iter().any(|block| planned.block_ops(*block).count() > 2)
        };
        let aliased = |op: OpId| {
            // An owner that is read again after a view of it was made.
            !planned.views(op).is_empty()
                && planned.data_operands(op).next().is_some_and(|value| planned.value(value).uses().len() > 1)
        };
        let runs = |op: OpId| !source.op_regions(op).is_empty() && source.op_name(op).starts_with("neap.");
        let nested = |op: OpId| runs(op) && source.parent_op(op).is_some_and(runs);
        let is_token = |value: &neap_ir::ValueId| matches!(source.ty(source.value_ty(*value)), Type::Dialect(body) if body.ends_with(".token"));
        let token = |op: OpId| source.results(op).iter().any(is_token);
        let found = [
            ("in-place taken", any(planned, &|op| !planned.in_places(op, plan::INPLACE).is_empty())),
            ("view chain of two or more", any(planned, &chained)),
            ("placed concat", any(planned, &|op| !planned.places(op, plan::PLACE).is_empty())),
            ("fused chain", any(planned, &fused)),
            ("control flow", any(source, &runs)),
            ("nested control flow", any(source, &nested)),
            ("state", named(source, "neap.read") || named(source, "neap.write")),
            ("aliases", any(planned, &aliased) || any(source, &|op| source.attr(op, "alias").is_some())),
            ("tokens", any(source, &token)),
            ("dynamic dims", any(source, &|op| source.attr(op, "neap.dims").is_some())),
            ("values computed again", any(planned, &|op| planned.attr(op, plan::RECOMPUTED).is_some())),
            ("calls", named(source, "neap.call")),
            ("several arenas", named(source, "neap.arena")),
            ("scratch", any(planned, &|op| planned.attr(op, plan::SCRATCH_OFFSET).is_some())),
            ("bodies at the same time", named(source, "neap.parallel")),
            ("unknown operations", named(source, "odd.op")),
            ("kept values", any(source, &|op| source.attr(op, "neap.keep").is_some())),
        ];
        for (name, has) in found {
            *self.counts.entry(name).or_default() += usize::from(has);
        }
    }

    /// Adds what another thread counted.
    pub(crate) fn add(&mut self, other: &Coverage) {
        self.modules += other.modules;
        for (name, count) in &other.counts {
            *self.counts.entry(name).or_default() += count;
        }
    }

    /// Panics if too little was met. Of few modules a share is off by several points: three quarters of it are enough there.
    pub(crate) fn require(&self) {
        for (name, percent) in REQUIRED {
            let count = self.counts.get(name).copied().unwrap_or(0);
            let parts = if self.modules < 1000 { 3 } else { 4 };
            assert!(count * 400 >= percent * self.modules * parts, "too few modules with {name}\n{self}");
        }
        assert!(self.counts.values().all(|count| *count > 0), "something was never met\n{self}");
    }
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "of {} modules:", self.modules)?;
        for (name, count) in &self.counts {
            write!(f, "\n  {:5.1} %  {name}", *count as f64 * 100.0 / self.modules.max(1) as f64)?;
        }
        Ok(())
    }
}
