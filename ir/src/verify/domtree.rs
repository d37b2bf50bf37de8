//! Dominators of the blocks of a region: Lengauer and Tarjan 1979, the simple version, O(m log n), without recursion.

use crate::module::{BlockId, Module, RegionId};
use rustc_hash::FxHashMap;

/// The tree of immediate dominators of the blocks that can be reached from the first.
pub(super) struct DomTree {
    children: FxHashMap<BlockId, Vec<BlockId>>,
}

impl DomTree {
    /// Of a region with at least one block.
    pub(super) fn of(module: &Module, region: RegionId) -> DomTree {
        let mut graph = Graph::of(module, region);
        let idom = graph.dominators();
        let mut children: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
        for (block, above) in graph.order.iter().zip(&idom).skip(1) {
            children.entry(graph.order[*above]).or_default().push(*block);
        }
        DomTree { children }
    }

    /// Blocks whose immediate dominator is `block`.
    pub(super) fn children(&self, block: BlockId) -> &[BlockId] {
        self.children.get(&block).map_or(&[], Vec::as_slice)
    }
}

/// The control flow graph over preorder numbers of a depth-first search.
struct Graph {
    order: Vec<BlockId>,
    parent: Vec<usize>,
    preds: Vec<Vec<usize>>,
    semi: Vec<usize>,
    ancestor: Vec<Option<usize>>,
    label: Vec<usize>,
}

impl Graph {
    fn of(module: &Module, region: RegionId) -> Graph {
        let successors = |block: BlockId| module.terminator(block).map_or(&[][..], |last| module.successors(last));
        let mut numbers: FxHashMap<BlockId, usize> = FxHashMap::default();
        let (mut order, mut parent) = (Vec::new(), Vec::new());
        let mut stack: Vec<(BlockId, usize)> =
            module.blocks(region).first().map(|first| (*first, 0)).into_iter().collect();
        while let Some((block, from)) = stack.pop() {
            if numbers.contains_key(&block) {
                continue;
            }
            let number = order.len();
            numbers.insert(block, number);
            order.push(block);
            parent.push(from);
            stack.extend(successors(block).iter().rev().map(|next| (*next, number)));
        }
        let mut preds = vec![Vec::new(); order.len()];
        for (at, block) in order.iter().enumerate() {
            for next in successors(*block) {
                preds[numbers[next]].push(at);
            }
        }
        let count = order.len();
        Graph {
            order,
            parent,
            preds,
            semi: (0..count).collect(),
            ancestor: vec![None; count],
            label: (0..count).collect(),
        }
    }

    fn dominators(&mut self) -> Vec<usize> {
        let count = self.order.len();
        let mut idom = vec![0; count];
        let mut bucket = vec![Vec::new(); count];
        for w in (1..count).rev() {
            for v in std::mem::take(&mut self.preds[w]) {
                let u = self.eval(v);
                self.semi[w] = self.semi[w].min(self.semi[u]);
            }
            bucket[self.semi[w]].push(w);
            let parent = self.parent[w];
            self.ancestor[w] = Some(parent);
            for v in std::mem::take(&mut bucket[parent]) {
                let u = self.eval(v);
                idom[v] = if self.semi[u] < self.semi[v] { u } else { parent };
            }
        }
        for w in 1..count {
            if idom[w] != self.semi[w] {
                idom[w] = idom[idom[w]];
            }
        }
        idom
    }

    /// The vertex of least semidominator on the path to the root of the forest; the path is compressed.
    fn eval(&mut self, v: usize) -> usize {
        let mut path = Vec::new();
        let mut at = v;
        while let Some(above) = self.ancestor[at].filter(|above| self.ancestor[*above].is_some()) {
            path.push(at);
            at = above;
        }
        while let Some(at) = path.pop() {
            if let Some(above) = self.ancestor[at] {
                if self.semi[self.label[above]] < self.semi[self.label[at]] {
                    self.label[at] = self.label[above];
                }
                self.ancestor[at] = self.ancestor[above];
            }
        }
        self.label[v]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::OpSpec;

    /// A region of `count` blocks with up to three pseudo-random branches each.
    fn region(count: usize, seed: u64) -> (Module, RegionId) {
        let mut module = Module::new();
        let holder = module.create(OpSpec { name: "t.holder", ..OpSpec::default() });
        let region = module.add_region(holder);
        let blocks: Vec<BlockId> = (0..count).map(|_| module.add_block(region, &[])).collect();
        let mut state = seed;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for block in &blocks {
            let branch = module.create(OpSpec { name: "t.br", ..OpSpec::default() });
            for _ in 0..next(4) {
                module.push_successor(branch, blocks[next(count)]);
            }
            module.append(*block, branch);
        }
        (module, region)
    }

    /// Blocks that the first reaches without passing through `without`.
    fn reached(module: &Module, region: RegionId, without: Option<BlockId>) -> Vec<BlockId> {
        let mut found: Vec<BlockId> = Vec::new();
        let mut stack = vec![module.blocks(region)[0]];
        while let Some(block) = stack.pop() {
            if Some(block) != without && !found.contains(&block) {
                found.push(block);
                stack.extend(module.terminator(block).map_or(&[][..], |last| module.successors(last)));
            }
        }
        found
    }

    /// A block dominates another when the other is not reached without it.
    #[test]
    fn the_tree_agrees_with_the_definition() {
        for seed in 0..300 {
            let (module, region) = region(2 + seed as usize % 9, seed);
            let tree = DomTree::of(&module, region);
            let all = reached(&module, region, None);
            for block in &all {
                let mut below = vec![*block];
                let mut at = 0;
                while at < below.len() {
                    below.extend(tree.children(below[at]));
                    at += 1;
                }
                let without = reached(&module, region, Some(*block));
                let mut dominated: Vec<BlockId> =
                    all.iter().copied().filter(|other| !without.contains(other)).collect();
                below.sort_by_key(|block| block.into_raw().into_u32());
                dominated.sort_by_key(|block| block.into_raw().into_u32());
                assert_eq!(below, dominated, "seed {seed}");
            }
        }
    }
}
