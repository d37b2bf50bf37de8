//! Greedy over cones: an op whose successors all lie in one cone belongs to it, so a cone has one op that others wait for, its tip, and everything
//! that only the tip needs (a sum with its partial sums, say).
//!
//! What begins and ends inside a cone does not count for the choice, which therefore looks past a rise that the cone takes back itself: the greedy sees
//! valleys. Contracting cones makes no cycle: an edge leaves a cone at its tip only, so a cycle of cones would be one of their tips. O((V + E) log V).

use crate::csr::Csr;
use crate::greedy;
use crate::model::{Model, NONE};
use crate::topo;

/// An order cone by cone, `within` (a legal order) inside each; `None` when there is nothing to contract, or no way on.
pub(crate) fn order(model: &Model, topo: &[u32], within: &[u32]) -> Option<Vec<u32>> {
    if model.groups > 0 {
        return None;
    }
    let (cone, count) = cones(model, topo);
    if count == 1 || count == model.n {
        return None;
    }
    let contracted = contracted(model, &cone, count);
    let path = greedy::critical_path(&contracted, &topo::order(&contracted.preds, &contracted.succs));
    let outer = greedy::on_demand(&contracted, &path).or_else(|| greedy::order(&contracted, &path, 0))?;
    let members: Vec<(u32, u32)> = within.iter().enumerate().map(|(k, &v)| (cone[v as usize], k as u32)).collect();
    let members = Csr::new(count, model.n, &members);
    let ops = outer.iter().flat_map(|&c| members.row(c as usize));
    Some(ops.map(|&k| within[k as usize]).collect())
}

/// The cone of each op, and how many there are.
fn cones(model: &Model, topo: &[u32]) -> (Vec<u32>, usize) {
    let mut cone = vec![NONE; model.n];
    let mut count = 0;
    for &v in topo.iter().rev() {
        let succs = model.succs.row(v as usize);
        let first = succs.first().map(|&w| cone[w as usize]);
        cone[v as usize] = match first {
            Some(of) if succs.iter().all(|&w| cone[w as usize] == of) => of,
            _ => {
                count += 1;
                count - 1
            }
        };
    }
    (cone, count as usize)
}

/// The model with every cone as one op; storages that nobody outside a cone touches are gone.
fn contracted(model: &Model, cone: &[u32], count: usize) -> Model {
    let edges: Vec<(u32, u32)> =
        model.succs.pairs().into_iter().map(|(v, w)| (cone[v as usize], cone[w as usize])).collect();
    let between: Vec<(u32, u32)> = edges.into_iter().filter(|(a, b)| a != b).collect();
    let succs = Csr::new(count, count, &between);
    let touched: Vec<(u32, u32)> = model.users.pairs().into_iter().map(|(s, v)| (s, cone[v as usize])).collect();
    let users = Csr::new(model.size.len(), count, &touched);
    let stays = |s: u32| model.open[s as usize] || model.kept[s as usize] || users.row(s as usize).len() > 1;
    let touched: Vec<(u32, u32)> = touched.into_iter().filter(|&(s, _)| stays(s)).collect();
    let users = Csr::new(model.size.len(), count, &touched);
    let mut cycles = vec![0u64; count];
    for (v, &c) in cone.iter().enumerate() {
        cycles[c as usize] = cycles[c as usize].saturating_add(model.cycles[v]);
    }
    Model {
        n: count,
        scratch: vec![0; count],
        preds: succs.transpose(count),
        succs,
        touch: users.transpose(count),
        users,
        writer: model.writer.iter().map(|&w| cone.get(w as usize).copied().unwrap_or(NONE)).collect(),
        group: vec![NONE; count],
        pairs: Vec::new(),
        pair_start: vec![0; count + 1],
        cycles,
        ..model.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{problem, storage};
    use crate::model;
    use crate::replay;
    use crate::taken::Taken;

    /// Layers of a convolution in tiles: each of `n` by `n` results sums `n` products of an input and a weight; a weight serves a row of tiles.
    fn tiled(n: u32, layers: u32) -> crate::problem::Problem {
        let mut storages = Vec::new();
        let mut op = 0;
        let mut next = || {
            op += 1;
            op - 1
        };
        let mut inputs: Vec<(Vec<u32>, Vec<u32>)> = (0..n * n).map(|_| (vec![next()], Vec::new())).collect();
        for _ in 0..layers {
            let mut weights: Vec<(Option<u32>, Vec<u32>)> = (0..n * n).map(|_| (None, Vec::new())).collect();
            let mut results = Vec::new();
            for tile in 0..n {
                for to in 0..n {
                    let mut sums = Vec::new();
                    for from in 0..n {
                        let weight = &mut weights[(to * n + from) as usize];
                        weight.0.get_or_insert_with(&mut next);
                        let sum = next();
                        weight.1.push(sum);
                        inputs[(tile * n + from) as usize].1.push(sum);
                        sums.push(sum);
                    }
                    storages.extend(sums.windows(2).map(|pair| storage(40, &pair[..1], &pair[1..])));
                    results.push((sums.split_off(n as usize - 1), Vec::new()));
                }
            }
            storages.extend(weights.iter().map(|(load, readers)| storage(30, load.as_slice(), readers)));
            storages.extend(inputs.iter().map(|(writers, readers)| storage(10, writers, readers)));
            inputs = results;
        }
        for result in &mut inputs {
            result.1.push(next());
        }
        storages.extend(inputs.iter().map(|(writers, readers)| storage(10, writers, readers)));
        problem(op as usize, storages)
    }

    #[test]
    fn weights_are_used_up_before_more_are_loaded() {
        let problem = tiled(4, 2);
        let model = model::build(&problem, &Taken::default(), |_| false);
        let input: Vec<u32> = (0..model.n as u32).collect();
        let topo = topo::order(&model.preds, &model.succs);
        let path = greedy::critical_path(&model, &topo);
        let order = order(&model, &topo, &input).expect("there are cones, and no limit");
        let peak = |order: &[u32]| replay::peak(&model, order).expect("the order is legal");
        // Both layers' values, the weights of one result, and two sums are enough.
        let enough = 2 * 16 * 10 + 4 * 30 + 2 * 40;
        assert!(peak(&order) <= enough);
        assert!(peak(&greedy::on_demand(&model, &path).expect("there are loads, and no limit")) <= enough);
        // Tile by tile all weights of a layer stay; by bytes alone all are loaded first.
        assert!(peak(&input) > enough && peak(&greedy::order(&model, &path, 0).expect("no limit")) > enough);
    }

    #[test]
    fn an_op_belongs_to_the_cone_of_all_its_readers() {
        // 0 and 1 feed 3 alone, 2 feeds 3 and 4: it is a cone of its own.
        let storages = vec![storage(1, &[0], &[1]), storage(1, &[1], &[3]), storage(1, &[2], &[3, 4])];
        let problem = problem(5, storages);
        let model = model::build(&problem, &Taken::default(), |_| false);
        let (cone, count) = cones(&model, &topo::order(&model.preds, &model.succs));
        assert_eq!(count, 3);
        assert!(cone[0] == cone[3] && cone[1] == cone[3]);
        assert!(cone[2] != cone[3] && cone[2] != cone[4] && cone[3] != cone[4]);
    }
}
