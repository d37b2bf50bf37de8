//! Depth-first order by subtree: finish the branch that needs the most on top of what it leaves, before the next begins.
//!
//! Each op's need is estimated as if its predecessors were a tree (Sethi and Ullman 1970); on a DAG a shared branch is visited by its first reader. Near-linear.

use crate::model::Model;

/// The depth-first order of a model without classes and groups.
pub(crate) fn order(model: &Model, topo: &[u32]) -> Vec<u32> {
    let (need, out) = needs(model, topo);
    let key = |v: u32| (std::cmp::Reverse(need[v as usize].saturating_sub(out[v as usize])), v);
    let mut ends: Vec<u32> = topo.iter().copied().filter(|&v| model.succs.row(v as usize).is_empty()).collect();
    ends.sort_unstable_by_key(|&v| key(v));
    let mut seen = vec![false; model.n];
    let mut order = Vec::with_capacity(model.n);
    let mut stack: Vec<(u32, bool)> = ends.into_iter().rev().map(|v| (v, false)).collect();
    let mut children: Vec<u32> = Vec::new();
    while let Some((v, entered)) = stack.pop() {
        if entered {
            order.push(v);
            continue;
        }
        if std::mem::replace(&mut seen[v as usize], true) {
            continue;
        }
        stack.push((v, true));
        children.clear();
        children.extend(model.preds.row(v as usize).iter().filter(|&&p| !seen[p as usize]));
        children.sort_unstable_by_key(|&p| key(p));
        stack.extend(children.iter().rev().map(|&p| (p, false)));
    }
    order
}

/// Per op: bytes needed to compute it, and bytes it leaves, as if predecessors were a tree.
fn needs(model: &Model, topo: &[u32]) -> (Vec<i64>, Vec<i64>) {
    let mut need = vec![0i64; model.n];
    let mut out = vec![0i64; model.n];
    let mut children: Vec<u32> = Vec::new();
    let mut begun = model.open.clone();
    for &v in topo {
        let at = v as usize;
        for &s in model.touch.row(at) {
            if !std::mem::replace(&mut begun[s as usize], true) {
                out[at] += model.size[s as usize];
            }
        }
        children.clear();
        children.extend(model.preds.row(at));
        children.sort_unstable_by_key(|&p| std::cmp::Reverse(need[p as usize] - out[p as usize]));
        let (mut held, mut most) = (0i64, 0i64);
        for &p in &children {
            most = most.max(held.saturating_add(need[p as usize]));
            held = held.saturating_add(out[p as usize]);
        }
        need[at] = most.max(held.saturating_add(out[at]).saturating_add(model.scratch[at]));
    }
    (need, out)
}
