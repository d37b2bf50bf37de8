//! When each value itself is needed, and whether the plan says so.
//!
//! A plan states, beside the offset of a result, the half-open steps of the result's own life. Whoever draws or packs by them has to be able to
//! believe them, so each is recomputed: from the first write to one past the last read, reads through views of it included.
//!
//! The results of a branch are written at the end of each of its bodies. Counted is the end of the last one; where there are more pairs of a result and a value
//! that an earlier body hands out than a planner keeps apart one by one, the end of the first.

use super::{Steps, entered, parallel_around, runs_in, use_end};
use crate::asynchronous::Work;
use crate::homes::Homes;
use crate::names;
use crate::overlap;
use crate::violation::Violation;
use neap_ir::facts::{Role, Run};
use neap_ir::{Attr, BlockId, Def, OpId, ValueId, plan};
use rustc_hash::FxHashMap;

/// So many pairs of a branch's results and what its earlier bodies hand out are told apart.
const PAIRS: usize = 64;

/// A value's own life.
pub(super) struct Life {
    pub(super) begin: u32,
    pub(super) end: u32,
    /// Its bytes stay to the end of the function.
    pub(super) kept: bool,
    /// Its bytes are its own for the whole run.
    pub(super) held: bool,
}

/// The life of a value, reads through views of it left out. A loop around a read, but not around where `home` is made, reads again: `home` is the
/// value itself, or the owner of its bytes.
pub(super) fn life(homes: &Homes<'_>, steps: &Steps, value: ValueId, home: ValueId) -> Life {
    let m = homes.module;
    let owner = homes.root(value);
    let mut life = match m.value(value).def() {
        Def::Result(op, index) => {
            let begin = birth(homes, steps, op, index as usize);
            Life { begin, end: begin + 1, kept: m.attr(op, "neap.keep").is_some(), held: false }
        }
        Def::Arg(block, index) => {
            let op = m.region_op(m.block_region(block));
            if op == homes.func {
                let attr = |key| m.arg_attr(op, index as usize, key);
                let held = attr(plan::IO).and_then(Attr::as_str) == Some("held");
                Life { begin: 0, end: 1, kept: held || attr("neap.keep").is_some(), held }
            } else {
                let (begin, end) = steps.of(op);
                let end = if owner == value { end } else { begin + 1 };
                Life { begin, end, kept: false, held: false }
            }
        }
    };
    for usage in m.value(value).uses() {
        let (last, until_end) = use_end(homes, steps, runs_in(homes, usage.op), home);
        life.end = life.end.max(last);
        life.kept |= until_end;
        if until_end && m.parent_op(usage.op) == Some(homes.func) {
            let io = m.result_attr(homes.func, usage.operand as usize, plan::IO);
            life.held |= io.and_then(Attr::as_str) == Some("held");
        }
    }
    // Bodies that run at the same time: what one makes is there while any of them runs.
    let around = match m.value(value).def() {
        Def::Result(op, _) => parallel_around(homes, op),
        Def::Arg(block, _) => {
            let op = m.region_op(m.block_region(block));
            if homes.row(op).runs() == Run::Parallel && op != homes.func {
                Some(op)
            } else {
                parallel_around(homes, op)
            }
        }
    };
    if let Some(around) = around {
        let span = steps.of(around);
        (life.begin, life.end) = (life.begin.min(span.0), life.end.max(span.1));
    }
    life
}

/// The step at which a result is written first.
fn birth(homes: &Homes<'_>, steps: &Steps, op: OpId, index: usize) -> u32 {
    let (begin, end) = steps.of(op);
    if !entered(homes, op) || overlap::gathered(homes, op, index) || homes.row(op).runs() == Run::Parallel {
        return begin;
    }
    let m = homes.module;
    let bodies: Vec<BlockId> = m.op_regions(op).iter().flat_map(|region| m.blocks(*region)).copied().collect();
    let (Run::Branch, [first, .., _]) = (homes.row(op).runs(), &bodies[..]) else { return end - 1 };
    let yields = |body: &BlockId| m.terminator(*body).map_or(0, |last| m.data_operand_count(last));
    let earlier: usize = bodies[..bodies.len() - 1].iter().map(yields).sum();
    if m.data_results(op).len() * earlier <= PAIRS {
        return end - 1;
    }
    steps.ends.get(first).map_or(begin, |end| begin.max(end - 1))
}

/// Compares the lives that the plan states with what they are.
pub(super) fn stated(
    homes: &Homes<'_>,
    steps: &Steps,
    ranges: &FxHashMap<ValueId, (u32, u32)>,
    work: &[Work],
    out: &mut Vec<Violation>,
) {
    let m = homes.module;
    let ops: Vec<OpId> = m.walk(homes.func).into_iter().filter(|op| m.attr(*op, plan::LIVE).is_some()).collect();
    if ops.is_empty() {
        return;
    }
    let views = views(homes, steps, work);
    for op in ops {
        let results = m.data_results(op);
        let mut actual: Vec<i64> = Vec::new();
        // What is inside of a kernel has no steps, and constants are there before the first one.
        let counted = runs_in(homes, op) == op && homes.row(op).role != Role::Constant;
        for value in results.iter().filter(|_| counted) {
            let range = views.get(value).or_else(|| ranges.get(value)).copied().unwrap_or_else(|| steps.of(op));
            actual.extend([i64::from(range.0), i64::from(range.1)]);
        }
        let stated = m.attr(op, plan::LIVE).and_then(Attr::as_i64s);
        if stated.as_ref() == Some(&actual) {
            continue;
        }
        let stated = stated.unwrap_or_default();
        let differs = |at: &usize| stated.get(2 * at..2 * at + 2) != actual.get(2 * at..2 * at + 2);
        let at = (0..results.len())
            .find(differs)
            .filter(|at| stated.len() == actual.len() && counted && *at < results.len());
        let value = at.map(|at| names::value(m, results[at]));
        let pair = |list: &[i64]| at.and_then(|at| Some((*list.get(2 * at)?, *list.get(2 * at + 1)?)));
        out.push(Violation::Live {
            function: homes.function(),
            op: names::op(m, op),
            value,
            stated: pair(&stated),
            actual: pair(&actual),
            span: m.op(op).span,
        });
    }
}

/// The lives of values that are views, reads through further views included.
fn views(homes: &Homes<'_>, steps: &Steps, work: &[Work]) -> FxHashMap<ValueId, (u32, u32)> {
    let m = homes.module;
    let mut found: FxHashMap<ValueId, (u32, u32)> = FxHashMap::default();
    let mut order: Vec<ValueId> = Vec::new();
    for op in m.walk(homes.func) {
        order.extend(m.data_results(op));
        let blocks = m.op_regions(op).iter().flat_map(|region| m.blocks(*region));
        order.extend(blocks.flat_map(|block| m.block_args(*block)));
    }
    order.retain(|value| homes.views.contains_key(value));
    for value in &order {
        let life = life(homes, steps, *value, *value);
        found.insert(*value, (life.begin, life.end));
    }
    for work in work {
        for value in &work.touched {
            if let Some(life) = found.get_mut(value) {
                life.1 = life.1.max(work.until);
            }
        }
    }
    for value in order.iter().rev() {
        let (end, base) = (found[value].1, homes.views[value].0);
        if let Some(life) = found.get_mut(&base) {
            life.1 = life.1.max(end);
        }
    }
    found
}
