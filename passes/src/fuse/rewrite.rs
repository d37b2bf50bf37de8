//! Rewrites blocks by the laws, as far as that does not raise their peaks.
//!
//! Movements that are nothing, or become one with those before them, are taken as they are: a value is read in place of an equal one that was made
//! of it, and lives no longer than that one did. Everything else can make values live longer: it is judged by the greedy peak of
//! the block before and after. What raises it is undone, and fewer laws are tried.

use super::greedy_peak;
use super::law::{LAWS, Law};
use super::member::Members;
use super::simplify::{Plan, plan, worthwhile};
use crate::pass::Context;
use neap_ir::{BlockId, Module, OpId};

/// Laws under which a movement is nothing, or one with those before it.
const PLAIN: &[&str] = &["same-form", "bits-of-bits", "perm-of-perm", "perm-of-units"];

/// Operations looked at by all judgements of a function: each looks at the whole of it.
const WORK: usize = 4_000_000;

/// Rewrites blocks of a function; returns whether anything changed.
pub(super) fn blocks(
    module: &mut Module,
    func: OpId,
    blocks: &[BlockId],
    members: &mut Members,
    cx: &mut Context<'_>,
) -> bool {
    let plain: Vec<Law> = LAWS.iter().copied().filter(|law| PLAIN.contains(&law.name)).collect();
    by(module, func, blocks, members, &[(LAWS, true), (LAWS, false), (&plain, false)], cx)
}

/// Rewrites blocks by the first of several lists of laws that may be used; the flag says whether equal operations are one.
pub(super) fn by(
    module: &mut Module,
    func: OpId,
    blocks: &[BlockId],
    members: &mut Members,
    attempts: &[(&[Law], bool)],
    cx: &mut Context<'_>,
) -> bool {
    let before = module.changes();
    let mut work = WORK;
    for block in blocks {
        let ops: Vec<OpId> = module.block_ops(*block).filter(|op| members.contains(*op)).collect();
        if !worthwhile(module, cx, &ops) {
            continue;
        }
        for (attempt, (laws, equal)) in attempts.iter().copied().enumerate() {
            let plan = plan(module, cx, &ops, laws, equal);
            if !plan.changes {
                // What more laws do not change, fewer do not.
                break;
            }
            let made = match plan.doubtful {
                false => Some(plan.apply(module, *block, &ops, cx)),
                true if work > 0 => {
                    work = work.saturating_sub(module.op_count());
                    judged(module, func, *block, &ops, (&plan, attempt == 0), cx)
                }
                true => None,
            };
            if let Some(made) = made {
                members.extend(made);
                break;
            }
        }
    }
    module.changes() != before
}

/// Rewrites a block if that does not raise its peak; returns what was made then.
fn judged(
    module: &mut Module,
    func: OpId,
    block: BlockId,
    ops: &[OpId],
    (plan, aloud): (&Plan, bool),
    cx: &mut Context<'_>,
) -> Option<Vec<OpId>> {
    let before = greedy_peak(module, func, block, cx)?;
    let saved = module.clone();
    let (stats, remarks) = (cx.stats.clone(), cx.remarks.len());
    let made = plan.apply(module, block, ops, cx);
    match greedy_peak(module, func, block, cx) {
        Some(after) if after <= before => Some(made),
        after => {
            *module = saved;
            cx.stats = stats;
            cx.remarks.truncate(remarks);
            if aloud {
                let why = after.map_or("could not be judged".to_owned(), |after| {
                    format!("would raise the peak of the listed operations by {} bytes", after - before)
                });
                cx.count("refused", 1);
                cx.remark(module, func, format!("rewriting by all laws {why}: fewer are used"));
            }
            None
        }
    }
}
