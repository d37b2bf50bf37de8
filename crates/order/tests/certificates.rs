//! Certificates, verified by code that knows the text of `Certificate` and nothing of the solver; and mutated ones, refused.

mod common;

use common::{Random, plain};
use neap_order::{Certificate, Node, Op, OpId, Options, Placement, Problem, SetFlow, Spec, Storage, StorageId, solve};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Turns some reads of small storages into placement candidates, so that certificates have to deal with parts.
fn add_placements(spec: &mut Spec, random: &mut Random) {
    let mut used = vec![0u64; spec.storages.len()];
    for part in 0..spec.storages.len() {
        let Some(&op) = spec.storages[part].readers.first().filter(|_| random.chance(40)) else { continue };
        let writes = |s: &Storage| s.writers.as_slice() == [op];
        let Some(whole) = spec.storages.iter().position(writes).filter(|&w| w != part) else { continue };
        let (offset, size) = (used[whole], spec.storages[part].size);
        if offset + size <= spec.storages[whole].size {
            used[whole] += size;
            let (part, whole) = (StorageId(part as u32), StorageId(whole as u32));
            spec.placement.push(Placement { op, part, whole, offset, required: false });
        }
    }
}

/// The network's ingredients, from the problem alone.
struct View<'p> {
    problem: &'p Problem,
    spec: &'p Spec,
    before: Vec<bool>,
    after: Vec<bool>,
    op: OpId,
    /// Per storage: the held storage that counts for its chain of candidates, if the chain has one.
    held: Vec<Option<u64>>,
    constant: u64,
}

impl<'p> View<'p> {
    fn new(problem: &'p Problem, op: OpId) -> View<'p> {
        let n = problem.ops();
        let (mut before, mut after) = (vec![false; n], vec![false; n]);
        // Ids are a topological order: one pass each way closes the sets.
        for v in (0..n as u32).rev().map(OpId) {
            before[v.index()] = problem.successors(v).any(|w| w == op || before[w.index()]);
        }
        for v in (0..n as u32).map(OpId) {
            after[v.index()] = v == op || problem.predecessors(v).any(|p| after[p.index()]);
        }
        let spec = problem.spec();
        let (chain, held) = chains(spec);
        let mut constant = spec.ops[op.index()].scratch;
        for s in 0..spec.storages.len() {
            let first = chain[s] == s;
            constant += held[s].filter(|_| first).unwrap_or(0);
            if held[s].is_none() && spec.storages[s].writers.contains(&op) {
                constant += spec.storages[s].size;
            }
        }
        View { problem, spec, before, after, op, held, constant }
    }

    fn node(&self, op: OpId) -> Node {
        match (self.before[op.index()], self.after[op.index()]) {
            (true, _) => Node::Source,
            (_, true) => Node::Sink,
            _ => Node::Op(op),
        }
    }

    /// Concats that may take `s` as a part.
    fn concats(&self, s: StorageId) -> Vec<OpId> {
        let mut ops: Vec<OpId> = self.spec.placement.iter().filter(|c| c.part == s).map(|c| c.op).collect();
        ops.sort_unstable();
        ops.dedup();
        ops
    }

    fn left_out(&self, s: StorageId, flow: &SetFlow) -> bool {
        let storage = &self.spec.storages[s.index()];
        storage.writers.contains(&self.op)
            || self.held[s.index()].is_some()
            || flow.taken.placement.iter().any(|&i| self.spec.placement[i].part == s)
            || self.concats(s).len() > 1
    }

    /// The capacity of an edge of the network: `Some(None)` is unlimited, `None` no edge.
    fn capacity(&self, from: Node, to: Node, flow: &SetFlow) -> Option<Option<u64>> {
        let spec = self.spec;
        match (from, to) {
            (Node::In(a), Node::Out(b)) if a == b && !self.left_out(a, flow) => {
                Some(Some(spec.storages.get(a.index())?.size))
            }
            (from, Node::In(s)) if !self.left_out(s, flow) => {
                let storage = spec.storages.get(s.index())?;
                let mut starters = storage.writers.clone();
                if storage.writers.len() != 1 {
                    starters.extend(&storage.readers);
                }
                let argument = storage.writers.is_empty() && from == Node::Source;
                let ok = argument || starters.iter().any(|&w| self.node(w) == from && from != Node::Sink);
                ok.then_some(None)
            }
            (Node::Out(s), to) if !self.left_out(s, flow) => {
                let storage = spec.storages.get(s.index())?;
                let concats = self.concats(s);
                let overwritten = flow.taken.in_place.iter().any(|&i| spec.in_place[i].operand == s);
                let counts = |u: &&OpId| (concats.is_empty() || concats[0] == **u) && !(overwritten && **u == self.op);
                let users = storage.writers.iter().chain(&storage.readers);
                let mut users = users.filter(counts);
                let kept = storage.live_out && concats.is_empty() && to == Node::Sink;
                let ok = kept || (to != Node::Source && users.any(|&u| self.node(u) == to));
                ok.then_some(None)
            }
            (Node::Op(u), Node::Op(p)) => self
                .problem
                .predecessors(u)
                .any(|q| q == p && self.node(p) == to && self.node(u) == from)
                .then_some(None),
            _ => None,
        }
    }
}

/// Smallest storage of each storage's chain of candidates, and the largest held size in the chain.
fn chains(spec: &Spec) -> (Vec<usize>, Vec<Option<u64>>) {
    let is_held = |s: &neap_order::Storage| s.whole_run || (s.writers.is_empty() && s.live_out);
    let free = |s: StorageId| {
        let s = &spec.storages[s.index()];
        !is_held(s) && !s.live_out
    };
    let mut pairs: Vec<(usize, usize)> = spec.placement.iter().map(|c| (c.part.index(), c.whole.index())).collect();
    let over = spec.in_place.iter().filter(|c| free(c.operand));
    pairs.extend(over.map(|c| (c.operand.index(), c.result.index())));
    let mut chain: Vec<usize> = (0..spec.storages.len()).collect();
    // Naive and obvious: push the smallest id along every pair until nothing changes.
    loop {
        let before = chain.clone();
        for &(a, b) in &pairs {
            let least = chain[a].min(chain[b]);
            (chain[a], chain[b]) = (least, least);
        }
        if chain == before {
            break;
        }
    }
    let held = |k: usize| {
        let members = (0..chain.len()).filter(|&s| chain[s] == chain[k] && is_held(&spec.storages[s]));
        members.map(|s| spec.storages[s].size).max()
    };
    let held = (0..chain.len()).map(held).collect();
    (chain, held)
}

/// Whether the certificate proves its bound.
fn verify(problem: &Problem, proof: &Certificate) -> Result<(), String> {
    let view = View::new(problem, proof.op);
    for flow in &proof.flows {
        let value = verify_flow(&view, flow)?;
        if view.constant + value < proof.bound {
            return Err(format!("{} + {value} is below {}", view.constant, proof.bound));
        }
    }
    covered(problem.spec(), proof)
}

fn verify_flow(view: &View<'_>, flow: &SetFlow) -> Result<u64, String> {
    let mut balance: BTreeMap<Node, i128> = BTreeMap::new();
    let mut edges: Vec<(Node, Node)> = Vec::new();
    for e in &flow.edges {
        let capacity = view.capacity(e.from, e.to, flow).ok_or(format!("no edge {e:?}"))?;
        if capacity.is_some_and(|c| e.flow > c) || capacity != e.capacity {
            return Err(format!("capacity of {e:?}"));
        }
        *balance.entry(e.from).or_default() -= i128::from(e.flow);
        *balance.entry(e.to).or_default() += i128::from(e.flow);
        edges.push((e.from, e.to));
    }
    edges.sort_unstable();
    if edges.windows(2).any(|w| w[0] == w[1]) {
        return Err("an edge twice".into());
    }
    let value = -balance.remove(&Node::Source).unwrap_or(0);
    balance.remove(&Node::Sink);
    match balance.iter().find(|(_, b)| **b != 0) {
        Some((node, _)) => Err(format!("{node:?} is not conserved")),
        None => u64::try_from(value).map_err(|e| e.to_string()),
    }
}

/// Every set of candidates that the op may take together lies in some listed set: all matchings, with all parts.
fn covered(spec: &Spec, proof: &Certificate) -> Result<(), String> {
    let over: Vec<usize> = (0..spec.in_place.len()).filter(|&i| spec.in_place[i].op == proof.op).collect();
    let parts: Vec<usize> = (0..spec.placement.len()).filter(|&i| spec.placement[i].op == proof.op).collect();
    for mask in 0..1u32 << over.len() {
        let set: Vec<usize> = (0..over.len()).filter(|k| mask >> k & 1 == 1).map(|k| over[k]).collect();
        let clash = |a: usize, b: usize| {
            let (a, b) = (&spec.in_place[a], &spec.in_place[b]);
            a.result == b.result || a.operand == b.operand
        };
        if set.iter().enumerate().any(|(k, &a)| set[k + 1..].iter().any(|&b| clash(a, b))) {
            continue;
        }
        let has = |f: &SetFlow| {
            set.iter().all(|i| f.taken.in_place.contains(i)) && parts.iter().all(|i| f.taken.placement.contains(i))
        };
        if !proof.flows.iter().any(has) {
            return Err(format!("set {set:?} of {} is not covered", proof.op));
        }
    }
    Ok(())
}

fn cases() -> usize {
    std::env::var("NEAP_ORDER_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(400)
}

fn solved(random: &mut Random, case: usize) -> Option<(Problem, Certificate, u64)> {
    let ops = 3 + random.below(25);
    let mut spec = plain(random, ops);
    if case.is_multiple_of(3) {
        add_placements(&mut spec, random);
    }
    let problem = Problem::new(spec).expect("a legal problem");
    let options = Options { effort: 20_000, ..Options::default() };
    let answer = solve(&problem, &options, &mut |_| ControlFlow::Continue(())).expect("no classes, so solved");
    let proof = answer.certificate?;
    Some((problem, proof, answer.peak))
}

#[test]
fn every_certificate_verifies() {
    let mut random = Random(11);
    let (mut certificates, mut tight, mut sets, mut placed) = (0, 0, 0, 0);
    for case in 0..cases() {
        let Some((problem, proof, peak)) = solved(&mut random, case) else { continue };
        if let Err(why) = verify(&problem, &proof) {
            panic!("case {case}: {why}\n{proof:?}\n{:?}", problem.spec());
        }
        assert!(proof.bound <= peak, "case {case}: {} above {peak} {proof:?}\n{:?}", proof.bound, problem.spec());
        certificates += 1;
        tight += usize::from(proof.bound == peak);
        sets += usize::from(proof.flows.len() > 1);
        placed += usize::from(!problem.spec().placement.is_empty());
    }
    println!("{certificates} certificates, {tight} tight, {sets} with several sets, {placed} with parts");
    assert!(certificates * 10 >= cases() * 9 && tight * 3 > certificates);
    assert!(placed * 10 > certificates && sets > 0, "the cases cover parts and sets");
}

#[test]
fn every_mutation_is_refused() {
    let mut random = Random(12);
    let mut refused = [0usize; 5];
    for case in 0..cases() / 2 {
        let Some((problem, proof, _)) = solved(&mut random, case) else { continue };
        let flows = proof.flows.len();
        let f = random.below(flows);
        for (kind, count) in refused.iter_mut().enumerate() {
            let mut bad = proof.clone();
            let edges = &mut bad.flows[f].edges;
            if edges.is_empty() && kind != 3 {
                continue;
            }
            let e = random.below(edges.len());
            match kind {
                0 => edges[e].flow += 1,
                1 => drop(edges.remove(e)),
                2 => edges[e].capacity = edges[e].capacity.map_or(Some(1 << 40), |c| Some(c + 1)),
                3 => bad.bound = proof.flows.iter().map(|f| f.constant + f.value).min().unwrap_or(0) + 1,
                _ => drop(bad.flows.remove(f)),
            }
            assert!(verify(&problem, &bad).is_err(), "case {case}, mutation {kind}: {bad:?}");
            *count += 1;
        }
    }
    println!(
        "refused: flow {}, edge {}, capacity {}, bound {}, set {}",
        refused[0], refused[1], refused[2], refused[3], refused[4]
    );
    assert!(refused.iter().all(|&r| r > 10));
}

#[test]
fn another_graph_is_refused() {
    let mut random = Random(13);
    let mut refused = 0;
    let mut known = 0;
    for case in 0..cases() / 4 {
        let Some((problem, proof, _)) = solved(&mut random, case) else { continue };
        // The same graph, smaller: every storage lost a byte, every op its scratch.
        let mut spec = problem.spec().clone();
        if spec.placement.iter().any(|_| true) || proof.bound == 0 {
            continue;
        }
        spec.storages.iter_mut().for_each(|s| s.size = s.size.saturating_sub(1));
        spec.ops.iter_mut().for_each(|o| *o = Op { scratch: 0, ..*o });
        let other = Problem::new(spec).expect("still legal");
        known += 1;
        refused += usize::from(verify(&other, &proof).is_err());
    }
    println!("{refused} of {known} refused for another graph");
    assert!(known > 20 && refused == known);
}
