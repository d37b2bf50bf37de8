//! Trees: the optimal order of an in-forest, in O(n log² n).
//!
//! In an in-tree every storage is read by one op, so subtrees share nothing until their root. A subtree's best order is a sequence of *segments* "climb
//! by `c` above where it began, end `d` higher", with falling hills and rising valleys; the sequences of the children are merged by falling
//! `c - d`, the op itself is a segment behind them, and segments that break the form are joined with the one before
//! (J. W. H. Liu, "An application of generalized tree pebbling to sparse matrix factorization", 1987). A segment keeps its ops as a list, so joining is O(1);
//! heaps are merged small into large.

use crate::model::{Model, NONE};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The optimal order if the model is an in-forest without candidates and constraints, or one read backwards. Arguments that nobody touches weigh on
/// whichever op runs first: with such there is none.
pub(crate) fn order(model: &Model) -> Option<Vec<u32>> {
    if model.constrained() || !model.pairs.is_empty() || model.first > 0 {
        return None;
    }
    if let Some(parent) = parents(model) {
        return Some(merge(model, &parent));
    }
    let back = model.reversed();
    let parent = parents(&back)?;
    let mut order = merge(&back, &parent);
    order.reverse();
    Some(order)
}

/// The op that reads each op's results; `None` if the model is no in-forest.
fn parents(model: &Model) -> Option<Vec<u32>> {
    for s in 0..model.size.len() {
        let users = model.users.row(s).len();
        if users > 2 || (users > 0 && model.open[s]) || (users == 2 && model.kept[s]) {
            return None;
        }
    }
    let mut parent = vec![NONE; model.n];
    for (v, parent) in parent.iter_mut().enumerate() {
        match model.succs.row(v) {
            [] => {}
            [one] => *parent = *one,
            _ => return None,
        }
    }
    // A storage of two users must run along an edge of the tree: its other user is the parent of its writer.
    let along = |s: usize| match model.users.row(s) {
        [a, b] => parent[*a as usize] == *b || parent[*b as usize] == *a,
        _ => true,
    };
    (0..model.size.len()).all(along).then_some(parent)
}

/// Segments with the ops they stand for.
#[derive(Default)]
struct Segments {
    climb: Vec<i64>,
    net: Vec<i64>,
    first: Vec<u32>,
    last: Vec<u32>,
    /// The op after each op within a segment.
    next: Vec<u32>,
}

/// Segments by `climb - net`, the least on top.
type Heap = BinaryHeap<Reverse<(i64, Reverse<u32>)>>;

fn merge(model: &Model, parent: &[u32]) -> Vec<u32> {
    let n = model.n;
    let mut segments = Segments { next: vec![NONE; n], ..Segments::default() };
    let mut heaps: Vec<Heap> = Vec::new();
    heaps.resize_with(n + 1, Heap::new);
    for v in crate::topo::order(&model.preds, &model.succs) {
        let at = v as usize;
        let mut heap = std::mem::take(&mut heaps[at]);
        let (mut born, mut dead) = (0, 0);
        for &s in model.touch.row(at) {
            let s = s as usize;
            // Of two users the child has run: the storage ends here. Of one user it is this op's own.
            let other = model.users.row(s).iter().find(|&&u| u != v);
            let ends = other.is_some_and(|&u| parent[u as usize] == v);
            if !ends {
                born += model.size[s];
            }
            if ends || (other.is_none() && !model.kept[s]) {
                dead += model.size[s];
            }
        }
        let id = segments.push(v, born + model.scratch[at], born - dead);
        segments.append(&mut heap, id);
        let root = if parent[at] == NONE { n } else { parent[at] as usize };
        if heap.len() > heaps[root].len() {
            std::mem::swap(&mut heap, &mut heaps[root]);
        }
        heaps[root].extend(heap);
    }
    let mut order = Vec::with_capacity(n);
    // Ascending in `Reverse` is falling in the key.
    for Reverse((_, Reverse(id))) in std::mem::take(&mut heaps[n]).into_sorted_vec() {
        let mut v = segments.first[id as usize];
        while v != NONE {
            order.push(v);
            v = segments.next[v as usize];
        }
    }
    order
}

impl Segments {
    fn push(&mut self, v: u32, climb: i64, net: i64) -> u32 {
        self.climb.push(climb);
        self.net.push(net);
        self.first.push(v);
        self.last.push(v);
        self.climb.len() as u32 - 1
    }

    /// Puts segment `id` behind all of `heap`, joining it with the last ones until hills fall and valleys rise.
    fn append(&mut self, heap: &mut Heap, id: u32) {
        let new = id as usize;
        while let Some(&Reverse((key, Reverse(last)))) = heap.peek() {
            let before = last as usize;
            if self.net[new] > 0 && self.climb[new] < key {
                break;
            }
            heap.pop();
            self.climb[new] = self.climb[before].max(self.net[before] + self.climb[new]);
            self.net[new] += self.net[before];
            self.next[self.last[before] as usize] = self.first[new];
            self.first[new] = self.first[before];
        }
        heap.push(Reverse((self.climb[new] - self.net[new], Reverse(id))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{problem, result, storage};

    #[test]
    fn the_child_that_climbs_highest_above_its_rest_goes_first() {
        // Two children: one climbs to 100 and rests at 10, one rests at 60.
        let p =
            problem(4, vec![storage(60, &[0], &[3]), storage(100, &[1], &[2]), storage(10, &[2], &[3]), result(5, 3)]);
        let model = crate::model::build(&p, &Default::default(), |_| true);
        let order = order(&model).expect("a tree");
        assert_eq!(order, [1, 2, 0, 3]);
        assert_eq!(crate::replay::peak(&model, &order), Some(110));
    }

    #[test]
    fn what_is_read_twice_is_no_tree() {
        let p = problem(3, vec![storage(1, &[0], &[1, 2]), result(1, 1), result(1, 2)]);
        let model = crate::model::build(&p, &Default::default(), |_| true);
        // Backwards it is one: the two readers are leaves and the writer their root.
        assert!(order(&model).is_none());
    }
}
