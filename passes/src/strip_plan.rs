//! Removes a plan from a module.
//!
//! # Effect
//!
//! Every attribute that a plan adds ([`neap_ir::plan::WRITTEN`]) goes, from the function, its arguments and results, and the operations
//! of its bodies. Views, candidates and tokens stay: they say what the program is, not what was decided.
//!
//! # Soundness
//!
//! No operation, operand or type changes.
//!
//! # Statistics
//!
//! - `attributes`: attributes removed.

use crate::analysis::scratch;
use crate::pass::{Context, Pass, PassInfo};
use neap_ir::diag::Diagnostic;
use neap_ir::plan::{BUCKET, CALLEE_BYTES, PROFILE, SCRATCH, WRITTEN};
use neap_ir::{Module, OpId};

/// The line in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "strip-plan",
    summary: "remove the attributes of a plan: offsets, live ranges, in-place, bounds",
    options: &[],
    build: |_| Ok(Box::new(StripPlan)),
};

struct StripPlan;

impl Pass for StripPlan {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        let mut ops = vec![func];
        ops.extend(module.walk(func));
        let (args, results) = module.func_types(func).map_or((0, 0), |(args, results)| (args.len(), results.len()));
        let mut removed = 0;
        ops.iter().for_each(|op| own_scratch(module, *op));
        for key in WRITTEN {
            removed += ops.iter().filter(|op| module.remove_attr(**op, key).is_some()).count() as u64;
            for index in (0..args).filter(|index| module.arg_attr(func, *index, key).is_some()).collect::<Vec<_>>() {
                module.set_arg_attr(func, index, key, None);
                removed += 1;
            }
            for index in
                (0..results).filter(|index| module.result_attr(func, *index, key).is_some()).collect::<Vec<_>>()
            {
                module.set_result_attr(func, index, key, None);
                removed += 1;
            }
        }
        let top = module.top();
        for key in [PROFILE, BUCKET] {
            removed += u64::from(module.remove_attr(top, key).is_some());
        }
        cx.count("attributes", removed);
        Ok(removed > 0)
    }
}

/// A plan adds the arena of what a call runs to its scratch: takes it off again.
fn own_scratch(module: &mut Module, op: OpId) {
    if module.attr(op, CALLEE_BYTES).is_none() {
        return;
    }
    match scratch::own_bytes(module, op) {
        0 => {
            module.remove_attr(op, SCRATCH);
        }
        bytes => {
            let bytes = module.i64_attr(bytes as i64);
            module.set_attr(op, SCRATCH, bytes);
        }
    }
}
