//! Topological orders and cycles, iteratively.

use crate::csr::Csr;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Some cycle of the graph, as the ops along it; `None` when there is none.
pub(crate) fn cycle(succs: &Csr) -> Option<Vec<u32>> {
    let n = succs.rows();
    let mut left = vec![0u32; n];
    for v in 0..n {
        for &w in succs.row(v) {
            left[w as usize] += 1;
        }
    }
    let mut ready: Vec<u32> = (0..n as u32).filter(|&v| left[v as usize] == 0).collect();
    let mut done = 0;
    while let Some(v) = ready.pop() {
        done += 1;
        for &w in succs.row(v as usize) {
            left[w as usize] -= 1;
            if left[w as usize] == 0 {
                ready.push(w);
            }
        }
    }
    if done == n {
        return None;
    }
    // Every op that is left has a predecessor that is left: walking backwards must close a loop.
    let preds = succs.transpose(n);
    let mut seen = vec![usize::MAX; n];
    let mut walk: Vec<u32> = Vec::new();
    let mut v = (0..n as u32).find(|&v| left[v as usize] > 0)?;
    while seen[v as usize] == usize::MAX {
        seen[v as usize] = walk.len();
        walk.push(v);
        v = *preds.row(v as usize).iter().find(|&&p| left[p as usize] > 0)?;
    }
    let mut ring = walk.split_off(seen[v as usize]);
    ring.reverse();
    Some(ring)
}

/// An order that respects the edges and keeps each group together; smallest id first.
///
/// # Errors
/// The ops along a cycle of the graph with groups contracted, from one member of a group to another one of it.
pub(crate) fn grouped_order(preds: &Csr, succs: &Csr, group: &[u32], groups: usize) -> Result<Vec<u32>, Vec<u32>> {
    let n = preds.rows();
    // Node of an op: its group, or itself behind the groups.
    let node = |v: u32| match group[v as usize] {
        u32::MAX => groups as u32 + v,
        g => g,
    };
    let edges: Vec<(u32, u32)> = (0..n as u32)
        .flat_map(|v| succs.row(v as usize).iter().map(move |&w| (v, w)))
        .map(|(v, w)| (node(v), node(w)))
        .filter(|(a, b)| a != b)
        .collect();
    let outer = Csr::new(groups + n, groups + n, &edges);
    if let Some(ring) = cycle(&outer) {
        return Err(along(succs, &node, ring, groups));
    }
    let members: Vec<(u32, u32)> = (0..n as u32).map(|v| (node(v), v)).collect();
    let members = Csr::new(groups + n, n, &members);
    let mut left: Vec<u32> = vec![0; groups + n];
    for &(_, b) in &outer.pairs() {
        left[b as usize] += 1;
    }
    let key = |x: u32| members.row(x as usize).first().map(|&v| Reverse((v, x)));
    let mut ready: BinaryHeap<Reverse<(u32, u32)>> =
        (0..(groups + n) as u32).filter(|&x| left[x as usize] == 0).filter_map(key).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse((_, x))) = ready.pop() {
        // Ids are a topological order of the given edges, but required candidates may add backward edges.
        inner_order(preds, members.row(x as usize), &mut order);
        for &y in outer.row(x as usize) {
            left[y as usize] -= 1;
            if left[y as usize] == 0 {
                ready.extend(key(y));
            }
        }
    }
    Ok(order)
}

/// The ops along a ring of groups and ops. There is a group in it, since the ops alone have no cycle: the path starts and ends there.
fn along(succs: &Csr, node: &dyn Fn(u32) -> u32, mut ring: Vec<u32>, groups: usize) -> Vec<u32> {
    let start = ring.iter().position(|&x| (x as usize) < groups).unwrap_or(0);
    ring.rotate_left(start);
    let mut path: Vec<u32> = Vec::new();
    for (at, &from) in ring.iter().enumerate() {
        let to = ring[(at + 1) % ring.len()];
        let ops = (0..succs.rows() as u32).filter(|&v| node(v) == from);
        let edge = ops
            .flat_map(|v| succs.row(v as usize).iter().map(move |&w| (v, w)))
            .find(|&(_, w)| node(w) == to)
            .expect("the ring follows edges");
        if path.last() != Some(&edge.0) {
            path.push(edge.0);
        }
        path.push(edge.1);
    }
    path
}

/// Appends `members` (sorted) in a topological order.
fn inner_order(preds: &Csr, members: &[u32], order: &mut Vec<u32>) {
    let local = |v: u32| members.binary_search(&v).ok();
    let mut left: Vec<u32> = Vec::with_capacity(members.len());
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for (k, &v) in members.iter().enumerate() {
        let inside = preds.row(v as usize).iter().filter_map(|&p| local(p));
        let before = edges.len();
        edges.extend(inside.map(|p| (p as u32, k as u32)));
        left.push((edges.len() - before) as u32);
    }
    let succs = Csr::new(members.len(), members.len(), &edges);
    let mut ready: BinaryHeap<Reverse<u32>> =
        (0..members.len() as u32).filter(|&k| left[k as usize] == 0).map(Reverse).collect();
    while let Some(Reverse(k)) = ready.pop() {
        order.push(members[k as usize]);
        for &w in succs.row(k as usize) {
            left[w as usize] -= 1;
            if left[w as usize] == 0 {
                ready.push(Reverse(w));
            }
        }
    }
}

/// A topological order of an acyclic graph: the ids in order when that is one, else first ready first.
pub(crate) fn order(preds: &Csr, succs: &Csr) -> Vec<u32> {
    let n = preds.rows();
    if (0..n).all(|v| preds.row(v).last().is_none_or(|&p| (p as usize) < v)) {
        return (0..n as u32).collect();
    }
    let mut left: Vec<u32> = (0..n).map(|v| preds.row(v).len() as u32).collect();
    let mut order: Vec<u32> = (0..n as u32).filter(|&v| left[v as usize] == 0).collect();
    let mut head = 0;
    while head < order.len() {
        let v = order[head];
        head += 1;
        for &w in succs.row(v as usize) {
            left[w as usize] -= 1;
            if left[w as usize] == 0 {
                order.push(w);
            }
        }
    }
    order
}
