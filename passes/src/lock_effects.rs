//! Makes effects explicit: an operation that must wait for another reads a token of it.
//!
//! # Effect
//!
//! For every edge that the order of effects needs and no value says yet ([`crate::locks`]), the earlier operation gets a `!neap.token`
//! result, one for all that wait for it, and the later one a token operand, both after the data. Then the module's values are its whole
//! dependency graph. Existing tokens, neap's and those of other dialects, are values like any other: what they order needs no further
//! edge, so that a second run finds nothing to do.
//!
//! A read declared as a view of its variable stands for the content at the time of the read, so a write must not come before the
//! last reader of any of its aliases. Where the listed order has it earlier, the write (and what follows from it) moves behind that
//! reader; where the reader depends on the write, or with `late=copy`, the view becomes a copy ([`late`]).
//!
//! Terminators get no tokens: nothing passes them. Operations of MLIR's own dialects get none either, since their operands are fixed;
//! whoever reorders takes their edges from [`crate::locks::missing`], and a remark says so.
//!
//! # Soundness
//!
//! Edges only ever restrict the orders of a function, and the listed order obeys all of them, so every operation that stays in place
//! stays legal. Two operations that touch a resource, one of them writing, are joined by a path of edges.
//!
//! # Statistics
//!
//! - `edges`: token operands added.
//! - `tokens`: operations that got a token result.
//! - `without-token`: edges that have no token, since an end of theirs takes none.
//! - `unreduced`: edges that may be superfluous, because looking for a detour had become too expensive.
//! - `moved`: operations moved behind the last reader of a view of state.
//! - `copied`: views of state that became copies.

mod late;

pub(crate) use late::stale;

use crate::locks::{carries_tokens, missing};
use crate::pass::{Context, OptionSpec, Pass, PassInfo};
use neap_ir::diag::Diagnostic;
use neap_ir::{Module, OpId, ValueId};

/// The line in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "lock-effects",
    summary: "make the order of effects explicit as token operands and results",
    options: &[OptionSpec {
        name: "late",
        summary: "what gives way where a view of state is read after a write: move (the write) or copy (the view)",
        default: "move",
    }],
    build: |options| {
        let late = options.get::<String>(&INFO, "late")?;
        let moves = match late.as_str() {
            "move" => true,
            "copy" => false,
            other => return Err(format!("option `late` of pass `lock-effects` cannot be `{other}`: move or copy")),
        };
        Ok(Box::new(LockEffects { moves }))
    },
};

struct LockEffects {
    /// Whether a write may move behind the readers of a view.
    moves: bool,
}

impl Pass for LockEffects {
    fn run(&self, module: &mut Module, func: OpId, cx: &mut Context<'_>) -> Result<bool, Diagnostic> {
        let moved = late::resolve(module, func, self.moves, cx);
        let effects = cx.effects(module, func);
        let (locks, unreduced) = missing(module, cx.facts, func, &effects);
        cx.count("unreduced", unreduced);
        let mut added = false;
        for lock in locks {
            let explained = lock.explain(module);
            if [lock.before, lock.after].iter().all(|op| carries_tokens(module, cx.facts, *op)) {
                let token = token_of(module, lock.before, cx);
                module.push_operand(lock.after, token);
                cx.count("edges", 1);
                cx.remark(module, lock.after, explained);
                added = true;
            } else {
                cx.count("without-token", 1);
                cx.remark(module, lock.after, format!("{explained}; MLIR fixes their operands, so no token says it"));
            }
        }
        Ok(moved || added)
    }
}

/// The token result of an operation, made if it has none.
fn token_of(module: &mut Module, op: OpId, cx: &mut Context<'_>) -> ValueId {
    if let Some(token) = module.results(op).iter().copied().find(|value| module.is_token(*value)) {
        return token;
    }
    cx.count("tokens", 1);
    let ty = module.token_ty();
    module.push_result(op, ty)
}
