//! Removes operations whose results nobody reads.
//!
//! # Effect
//!
//! An operation that changes nothing, its bodies included, whose results have no readers is erased; then those that it alone read from.
//! What declares a symbol stays, and so does what the user asked to keep or pinned to an address, and a `while`, which may never end.
//!
//! # Soundness
//!
//! Such an operation can be observed through its results only: reading a variable or a buffer leaves no trace. One sweep from the end finds all: a value is defined before its readers.
//!
//! # Statistics
//!
//! - `erased`: operations erased, those in erased bodies not counted.

use crate::callees::facts_of;
use crate::effects::{Effects, Resource};
use crate::locks::is_terminator;
use crate::pass::{Context, Pass, PassInfo};
use neap_ir::diag::Diagnostic;
use neap_ir::facts::{Access, Facts, Role};
use neap_ir::{Module, OpId};

/// The line in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "dce",
    summary: "erase operations without effects whose results nobody reads",
    options: &[],
    build: |_| Ok(Box::new(Dce)),
};

struct Dce;

impl Pass for Dce {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        let effects = cx.effects(module, func);
        let mut erased = 0;
        for op in module.walk(func).into_iter().rev() {
            let read = module.results(op).iter().any(|value| !module.value(*value).uses().is_empty());
            if !read && !effects.get(op).is_some_and(observable) && !stays(module, cx.facts, op) {
                module.erase(op);
                erased += 1;
            }
        }
        cx.count("erased", erased);
        Ok(erased > 0)
    }
}

/// Whether somebody else can tell that the effects happened; reading from the outside world takes something from it.
fn observable(effects: &Effects) -> bool {
    let quiet = |resource: &Resource| !matches!(resource, Resource::Io | Resource::Rng | Resource::All);
    effects.iter().any(|(resource, access)| *access == Access::Write || !quiet(resource))
}

/// Whether an operation is there for more than its results.
fn stays(module: &Module, facts: &Facts, op: OpId) -> bool {
    let role = facts_of(module, facts, op).role;
    let asked = ["neap.keep", "neap.pin", "sym_name"].iter().any(|key| module.attr(op, key).is_some());
    asked || matches!(role, Role::Declare | Role::While | Role::Yield) || is_terminator(module, facts, op)
}
