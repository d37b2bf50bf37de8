//! Leaves out edges that other edges imply: transitive reduction, near-linear.
//!
//! In an acyclic graph an edge is superfluous exactly when a longer path joins its ends, and all superfluous ones can go at once (Aho,
//! Garey and Ullman 1972). Whether a path exists is asked for 64 sources at a time: one sweep over the operations between the
//! first source and the last target carries a word of reached-from bits. Edges are mostly short, so the sweeps add up to little more
//! than one pass; where they do not, a limit on the work keeps the rest of the edges as they are, which is sound.

use super::{Lock, positions};
use neap_ir::{BlockId, Module, OpId};
use rustc_hash::FxHashMap;

/// Which operation of a block reads a value of which, for all blocks of a function; uses in a body count for the operation around it.
#[derive(Debug, Default)]
pub struct Flow {
    /// By reader: the operations in the reader's block whose results it or its bodies read.
    reads: FxHashMap<OpId, Vec<OpId>>,
}

impl Flow {
    /// The data flow of a function.
    #[must_use]
    pub fn of(module: &Module, func: OpId) -> Flow {
        let mut flow = Flow::default();
        // The operation of each open block that the walk is in or below. Pre-order: whoever defines a value that `op` may read
        // stands in a block around `op`.
        let mut current: FxHashMap<BlockId, OpId> = FxHashMap::default();
        for op in module.walk(func) {
            if let Some(block) = module.parent_block(op) {
                current.insert(block, op);
            }
            for value in module.operands(op) {
                let Some(from) = module.defining_op(value) else { continue };
                let Some(reader) = module.parent_block(from).and_then(|block| current.get(&block).copied()) else {
                    continue;
                };
                let reads = flow.reads.entry(reader).or_default();
                if reader != from && reads.last() != Some(&from) {
                    reads.push(from);
                }
            }
        }
        flow
    }

    /// The operations of its block that `op` or its bodies read from.
    #[must_use]
    pub fn read_by(&self, op: OpId) -> &[OpId] {
        self.reads.get(&op).map_or(&[], Vec::as_slice)
    }
}

/// Steps of the sweeps per operation and edge of the block, all sweeps together.
const EFFORT: u64 = 256;

/// The locks of a block that nothing else implies, in their order; and how many of them were not looked at.
#[must_use]
pub fn reduce(module: &Module, block: BlockId, flow: &Flow, locks: Vec<Lock>) -> (Vec<Lock>, u64) {
    let graph = Graph::of(module, block, flow, &locks);
    let mut order: Vec<u32> = (0..locks.len() as u32).collect();
    order.sort_by_key(|lock| (graph.ends[*lock as usize], *lock));
    let mut effort = EFFORT.saturating_mul(graph.from.len() as u64 + graph.start.len() as u64);
    let mut superfluous = vec![false; locks.len()];
    let mut unreduced = 0;
    let mut reached = vec![0; graph.start.len()];
    let mut rest = order.as_slice();
    while !rest.is_empty() {
        let (batch, after) = rest.split_at(batch(&graph, rest));
        rest = after;
        if !graph.sweep(batch, &mut reached, &mut superfluous, &mut effort) {
            unreduced += batch.len() as u64;
        }
    }
    let mut at = 0..;
    let kept = locks.into_iter().filter(|_| at.next().is_some_and(|at: usize| !superfluous[at])).collect();
    (kept, unreduced)
}

/// How many locks, sorted by source, have at most 64 sources together.
fn batch(graph: &Graph, locks: &[u32]) -> usize {
    let mut sources = 0;
    let mut last = None;
    for (count, lock) in locks.iter().enumerate() {
        let source = graph.ends[*lock as usize].0;
        sources += u32::from(last != Some(source));
        last = Some(source);
        if sources > 64 {
            return count;
        }
    }
    locks.len()
}

/// A block by positions: who waits for whom, by values and by locks.
struct Graph {
    /// Positions of each lock's `before` and `after`.
    ends: Vec<(u32, u32)>,
    /// Where each operation's predecessors start in `from`; one more at the end.
    start: Vec<u32>,
    /// Predecessors.
    from: Vec<Pred>,
}

#[derive(Clone, Copy)]
struct Pred {
    position: u32,
    /// The lock that says so; none where a value does.
    lock: Option<u32>,
}

impl Graph {
    fn of(module: &Module, block: BlockId, flow: &Flow, locks: &[Lock]) -> Graph {
        let position = positions(module, block);
        let ends: Vec<(u32, u32)> = locks.iter().map(|lock| (position[&lock.before], position[&lock.after])).collect();
        let mut by_target: Vec<u32> = (0..locks.len() as u32).collect();
        by_target.sort_by_key(|lock| (ends[*lock as usize].1, *lock));
        let mut by_target = by_target.into_iter().peekable();
        let (mut start, mut from) = (vec![0], Vec::new());
        for (op, at) in module.block_ops(block).zip(0..) {
            from.extend(flow.read_by(op).iter().map(|pred| Pred { position: position[pred], lock: None }));
            while let Some(lock) = by_target.next_if(|lock| ends[*lock as usize].1 == at) {
                from.push(Pred { position: ends[lock as usize].0, lock: Some(lock) });
            }
            start.push(from.len() as u32);
        }
        Graph { ends, start, from }
    }

    fn preds(&self, at: u32) -> &[Pred] {
        &self.from[self.start[at as usize] as usize..self.start[at as usize + 1] as usize]
    }

    /// Finds the superfluous ones among the locks of a batch, sorted by source; false when that would take more than is left of
    /// `effort`. `reached` is scratch, one word per operation.
    fn sweep(&self, batch: &[u32], reached: &mut [u64], superfluous: &mut [bool], effort: &mut u64) -> bool {
        let ends = batch.iter().map(|lock| self.ends[*lock as usize]);
        let (Some(first), Some(last)) = (ends.clone().map(|ends| ends.0).min(), ends.map(|ends| ends.1).max()) else {
            return true;
        };
        let work = u64::from(last - first) + u64::from(self.start[last as usize + 1] - self.start[first as usize]);
        if work > *effort {
            *effort = 0;
            return false;
        }
        *effort -= work;
        let mut sources: Vec<u32> = batch.iter().map(|lock| self.ends[*lock as usize].0).collect();
        sources.dedup();
        let bit = |position| sources.binary_search(&position).map_or(0, |bit| 1u64 << bit);
        for at in first..=last {
            // `detour`: the sources from which a path leads here whose last edge starts somewhere else.
            let (mut detour, mut value, mut edge) = (0, 0, 0);
            for pred in self.preds(at).iter().filter(|pred| pred.position >= first) {
                detour |= reached[pred.position as usize];
                edge |= bit(pred.position);
                value |= if pred.lock.is_none() { bit(pred.position) } else { 0 };
            }
            for pred in self.preds(at).iter().filter(|pred| pred.position >= first) {
                if let Some(lock) = pred.lock {
                    superfluous[lock as usize] |= (detour | value) & bit(pred.position) != 0;
                }
            }
            reached[at as usize] = detour | edge;
        }
        true
    }
}
