//! Keeps fusion from raising the peak.
//!
//! An operation that joins its readers' group runs as late as the group's last one: its own result is never made, but what it reads is
//! held until then. Two kinds of joining can never raise the peak of any order:
//!
//! - *early*: the group reads nothing else from the arena, and its result is no larger than the value that is no longer made: the
//!   fused operation runs when the first one did, and leaves no more behind;
//! - *in step*: the operation is elementwise, at most one of its operands is new to the group, and that one is no larger than the
//!   value no longer made and can be overwritten by the group's result: holding it takes the place of holding that value.
//!
//! All others are judged by the greedy peak of the block, taken together first, halved where that raises the peak; an
//! operation that raises it alone stays apart, with the bytes.

use super::group::{Groups, is_elementwise};
use super::member::Members;
use super::problem::Outline;
use crate::callees::facts_of;
use crate::pass::Context;
use crate::shape::Shaped;
use neap_ir::{BlockId, Module, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Why an operation that could join was not allowed to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// It would raise the peak by so many bytes.
    Raises(u64),
    /// There were too many to judge.
    NotJudged,
}

/// Rounds of judging: groups that form because others were refused are judged as well.
const ROUNDS: usize = 4;

/// The groups of a block that do not raise its peak, and what was refused.
pub(super) fn groups(
    module: &Module,
    block: BlockId,
    members: &Members,
    outline: &Outline<'_>,
    cx: &Context<'_>,
) -> (Groups, Vec<(OpId, Verdict)>) {
    let mut judge = Judge { module, block, members, outline, cx, refused: FxHashMap::default(), left: budget(outline) };
    let mut judged: FxHashSet<OpId> = FxHashSet::default();
    for round in 0.. {
        let groups = judge.groups(&[]);
        let mut open = judge.doubtful(&groups);
        open.retain(|op| !judged.contains(op));
        if open.is_empty() {
            let mut refused: Vec<(OpId, Verdict)> = judge.refused.into_iter().collect();
            refused.sort_unstable_by_key(|(op, _)| *op);
            return (groups, refused);
        }
        judged.extend(&open);
        if round < ROUNDS {
            judge.decide(&open);
        } else {
            judge.refused.extend(open.into_iter().map(|op| (op, Verdict::NotJudged)));
        }
    }
    unreachable!("the loop returns once nothing new is in doubt, and each operation is judged once")
}

/// How many peaks may be computed: their cost grows with the block.
fn budget(outline: &Outline<'_>) -> usize {
    (200_000 / outline.len().max(1)).clamp(6, 200)
}

struct Judge<'a, 'c> {
    module: &'a Module,
    block: BlockId,
    members: &'a Members,
    outline: &'a Outline<'a>,
    cx: &'a Context<'c>,
    refused: FxHashMap<OpId, Verdict>,
    left: usize,
}

impl Judge<'_, '_> {
    /// The groups with what was refused and, for now, `also` apart.
    fn groups(&self, also: &[OpId]) -> Groups {
        let apart: FxHashSet<OpId> = self.refused.keys().chain(also).copied().collect();
        Groups::of(self.module, self.block, self.members, &apart, self.cx)
    }

    fn peak(&mut self, apart: &[OpId]) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        self.outline.peak(&self.groups(apart))
    }

    /// Decides which of `open` join.
    fn decide(&mut self, open: &[OpId]) {
        let mut apart: Vec<OpId> = open.to_vec();
        let Some(mut best) = self.peak(&apart) else {
            self.refused.extend(apart.into_iter().map(|op| (op, Verdict::NotJudged)));
            return;
        };
        let mut chunks = vec![open.to_vec()];
        while let Some(chunk) = chunks.pop() {
            let joins: FxHashSet<OpId> = chunk.iter().copied().collect();
            let rest: Vec<OpId> = apart.iter().copied().filter(|op| !joins.contains(op)).collect();
            match self.peak(&rest) {
                Some(peak) if peak <= best => {
                    best = peak;
                    apart = rest;
                }
                Some(peak) if chunk.len() == 1 => drop(self.refused.insert(chunk[0], Verdict::Raises(peak - best))),
                Some(_) => {
                    let (first, second) = chunk.split_at(chunk.len() / 2);
                    chunks.extend([second.to_vec(), first.to_vec()]);
                }
                None => self.refused.extend(chunk.into_iter().map(|op| (op, Verdict::NotJudged))),
            }
        }
    }

    /// The operations whose joining might raise the peak.
    fn doubtful(&self, groups: &Groups) -> Vec<OpId> {
        let mut reads: FxHashMap<OpId, FxHashSet<ValueId>> = FxHashMap::default();
        let mut doubtful = Vec::new();
        for op in &groups.joined {
            let last = groups.group(*op);
            let read = reads.entry(last).or_insert_with(|| self.outline.in_arena(self.module.operands(last)).collect());
            read.remove(&self.module.results(*op)[0]);
            if !self.surely(*op, last, read) {
                doubtful.push(*op);
            }
            read.extend(self.outline.in_arena(self.module.operands(*op)));
        }
        doubtful
    }

    /// Whether `op` can join the group, which reads `read` from outside besides, and raise no peak.
    fn surely(&self, op: OpId, last: OpId, read: &FxHashSet<ValueId>) -> bool {
        let (saved, made) = (self.module.results(op)[0], self.module.results(last)[0]);
        let size = |value| self.module.value_bytes(value).ok();
        let (Some(saved_bytes), Some(made_bytes)) = (size(saved), size(made)) else { return false };
        if read.is_empty() && made_bytes <= saved_bytes {
            return true;
        }
        let row = facts_of(self.module, self.cx.facts, op);
        if !is_elementwise(row.role) || self.module.scratch_bytes(op) > 0 {
            return false;
        }
        let mut new: Vec<ValueId> =
            self.outline.in_arena(self.module.operands(op)).filter(|value| !read.contains(value)).collect();
        new.dedup();
        match new[..] {
            [] => true,
            [one] => {
                let steps =
                    self.module.data_operands(op).enumerate().all(|(at, value)| value != one || row.per_element(at));
                let shapes = Shaped::of(self.module, one).zip(Shaped::of(self.module, made));
                let bits = |shape: Shaped<'_>| self.module.elem_bits(shape.elem).unwrap_or(u64::MAX);
                let over = shapes.is_some_and(|(from, to)| from.same_sizes(&to) && bits(from) >= bits(to));
                steps && over && self.outline.owner_bytes(one).is_some_and(|bytes| bytes <= saved_bytes)
            }
            _ => false,
        }
    }
}
