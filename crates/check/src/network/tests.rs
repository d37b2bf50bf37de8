//! The network against brute force over all orders and all candidates, and certificates with one thing changed.

use super::{Network, Set, maximal};
use crate::certificate::{Certificate, Edge, Node, Owner, SetFlow, Taken};
use crate::homes::Homes;
use neap_ir::facts::Facts;
use neap_ir::{Module, plan};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

fn next(state: &mut u64, below: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % below
}

/// A random function of a few opaque operations with candidates; every value has an offset, so that it has bytes.
fn text(state: &mut u64) -> String {
    let mut sizes: Vec<u64> = vec![1 + next(state, 9), 1 + next(state, 9)];
    let mut names = vec!["%x".to_owned(), "%y".to_owned()];
    let mut body = String::new();
    for step in 0..2 + next(state, 5) {
        let count = 1 + next(state, 2);
        let picks: Vec<usize> = (0..count).map(|_| next(state, names.len() as u64) as usize).collect();
        let mut attrs = format!("kind = \"k{step}\", neap.offsets = array<i64: {}>", 1000 * (step + 1));
        let mut size = 1 + next(state, 9);
        match next(state, 5) {
            0 | 1 => attrs += ", neap.may_inplace = [{operand = 0 : i64, result = 0 : i64}]",
            2 if count == 2 && picks[0] != picks[1] => {
                size = sizes[picks[0]] + sizes[picks[1]];
                let _ = write!(
                    attrs,
                    ", neap.may_place = [{{operand = 0 : i64, byte_offset = 0 : i64}}, {{operand = 1 : i64, byte_offset = {} : i64}}]",
                    sizes[picks[0]]
                );
            }
            3 => {
                let _ = write!(attrs, ", neap.scratch = {} : i64, neap.scratch_offset = 0 : i64", 1 + next(state, 5));
            }
            _ => {}
        }
        let operands: Vec<&str> = picks.iter().map(|pick| names[*pick].as_str()).collect();
        let types: Vec<String> = picks.iter().map(|pick| format!("tensor<{}xi8>", sizes[*pick])).collect();
        let _ = writeln!(
            body,
            "  %v{step} = \"neap.opaque\"({}) {{{attrs}}} : ({}) -> tensor<{size}xi8>",
            operands.join(", "),
            types.join(", ")
        );
        names.push(format!("%v{step}"));
        sizes.push(size);
    }
    let last = names.len() - 1;
    format!(
        "func.func @main(%x: tensor<{}xi8> {{neap.offset = 1 : i64}}, %y: tensor<{}xi8> {{neap.offset = 100 : i64{}}}) -> tensor<{}xi8> {{\n{body}  return {} : tensor<{}xi8>\n}}",
        sizes[0],
        sizes[1],
        if next(state, 4) == 0 { ", neap.io = \"held\"" } else { "" },
        sizes[last],
        names[last],
        sizes[last]
    )
}

/// A maximum flow by shortest augmenting paths, over all pairs of nodes that have an edge.
fn maximum(set: &Set<'_, '_, '_>, taken: Vec<Taken>) -> SetFlow {
    let network = set.network;
    let mut nodes = vec![Node::Source, Node::Sink];
    nodes.extend((0..network.ops.len() as u32).map(Node::Op));
    nodes.extend(network.storages.keys().flat_map(|owner| [Node::In(*owner), Node::Out(*owner)]));
    let mut room: BTreeMap<(usize, usize), u128> = BTreeMap::new();
    for (i, from) in nodes.iter().enumerate() {
        for (j, to) in nodes.iter().enumerate() {
            room.extend(set.capacity(*from, *to).map(|capacity| ((i, j), capacity)));
        }
    }
    let mut flow: BTreeMap<(usize, usize), u128> = BTreeMap::new();
    loop {
        let mut from: Vec<Option<usize>> = vec![None; nodes.len()];
        let mut queue = std::collections::VecDeque::from([0]);
        while let Some(at) = queue.pop_front() {
            for (to, parent) in from.iter_mut().enumerate() {
                let used = flow.get(&(at, to)).copied().unwrap_or(0);
                let back = flow.get(&(to, at)).copied().unwrap_or(0);
                let left = room.get(&(at, to)).map_or(0, |room| room - used) > 0 || back > 0;
                if to != 0 && parent.is_none() && left {
                    *parent = Some(at);
                    queue.push_back(to);
                }
            }
        }
        let Some(mut before) = from[1] else { break };
        // One byte at a time: the graphs are small.
        let mut at = 1;
        loop {
            match flow.get_mut(&(at, before)) {
                Some(back) if *back > 0 => *back -= 1,
                _ => *flow.entry((before, at)).or_default() += 1,
            }
            if before == 0 {
                break;
            }
            (at, before) = (before, from[before].expect("the path is whole"));
        }
    }
    let edge = |((from, to), bytes): (&(usize, usize), &u128)| Edge {
        from: nodes[*from],
        to: nodes[*to],
        capacity: set.capacity(nodes[*from], nodes[*to]).and_then(|capacity| u64::try_from(capacity).ok()),
        flow: *bytes as u64,
    };
    SetFlow { taken, edges: flow.iter().filter(|(_, bytes)| **bytes > 0).map(edge).collect() }
}

/// Every set of candidates of `v` by positions.
fn sets(network: &Network<'_, '_>, v: u32) -> Vec<Vec<Taken>> {
    let (m, op) = (network.homes.module, network.ops[v as usize]);
    let parts = m.places(op, plan::MAY_PLACE).into_iter().map(|place| Taken::Place { operand: place.operand });
    let parts: Vec<Taken> = parts.collect();
    let pairs = m.in_places(op, plan::MAY_INPLACE);
    let mut found = vec![parts.clone()];
    found.extend(pairs.iter().map(|pair| {
        let one = Taken::InPlace { result: pair.result, operand: pair.operand };
        [parts.as_slice(), &[one]].concat()
    }));
    found
}

fn certificate(network: &Network<'_, '_>, v: u32) -> Certificate {
    let sides = network.sides(v);
    let flow = |taken: Vec<Taken>| maximum(&Set::new(network, v, &sides, &taken), taken);
    let flows = sets(network, v).into_iter().map(flow).collect();
    let mut certificate = Certificate { function: "main".to_owned(), op: v, flows, ..Certificate::default() };
    certificate.lower_bound = network.proved(&certificate).expect("a maximum flow is a flow");
    certificate
}

/// The least bytes held during `v` over all orders and all candidates that can be taken, by trying everything.
fn least(network: &Network<'_, '_>, v: u32) -> u64 {
    let count = network.ops.len();
    let mut orders: Vec<Vec<u32>> = vec![Vec::new()];
    for _ in 0..count {
        let mut longer = Vec::new();
        for order in orders {
            for op in (0..count as u32).filter(|op| !order.contains(op)) {
                if network.before[op as usize].iter().all(|before| order.contains(before)) {
                    longer.push([order.as_slice(), &[op]].concat());
                }
            }
        }
        orders = longer;
    }
    orders.iter().map(|order| held(network, order, v)).min().expect("the planned order is one")
}

fn held(network: &Network<'_, '_>, order: &[u32], v: u32) -> u64 {
    let at: BTreeMap<u32, usize> = order.iter().enumerate().map(|(at, op)| (*op, at)).collect();
    let owners: Vec<Owner> = network.storages.keys().copied().collect();
    let last = |owner: &Owner| {
        let storage = &network.storages[owner];
        let touched = storage.touched.iter().map(|op| at[op]).max();
        if storage.stays || storage.always { order.len() } else { touched.unwrap_or(0) }
    };
    // In place: only onto an operand that nothing touches later. Parts: always.
    let mut candidates: Vec<(Owner, Owner, bool)> = Vec::new();
    for op in 0..network.ops.len() as u32 {
        let dies = |operand: &Owner| last(operand) == at[&op];
        let pairs = network.overwrites(op).into_iter().filter(|(_, operand)| dies(operand));
        candidates.extend(pairs.map(|(result, operand)| (result, operand, true)));
        if let Some(whole) = network.homes.module.data_results(network.ops[op as usize]).first() {
            let whole = network.owner(*whole).expect("results have owners");
            candidates.extend(network.parts(op).into_iter().map(|part| (whole, part, false)));
        }
    }
    let mut best = u64::MAX;
    for mask in 0..1u32 << candidates.len() {
        let taken: Vec<_> =
            candidates.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, c)| c).collect();
        let (mut operands, mut results) = (BTreeSet::new(), BTreeSet::new());
        if !taken.iter().all(|(result, operand, over)| operands.insert(*operand) && (!over || results.insert(*result)))
        {
            continue;
        }
        let mut group: BTreeMap<Owner, Owner> = owners.iter().map(|owner| (*owner, *owner)).collect();
        let join = |group: &mut BTreeMap<Owner, Owner>, a: &Owner, b: &Owner| {
            let (a, b) = (group[a], group[b]);
            group.values_mut().filter(|root| **root == b).for_each(|root| *root = a);
        };
        taken.iter().filter(|(.., over)| *over).for_each(|(a, b, _)| join(&mut group, a, b));
        let size = |owner: &Owner| network.storages[owner].size;
        // A part and what shares its bytes must fit into its place in the whole.
        let fits = |part: &Owner| owners.iter().all(|other| group[other] != group[part] || size(other) <= size(part));
        if !taken.iter().all(|(_, part, over)| *over || fits(part)) {
            continue;
        }
        taken.iter().filter(|(.., over)| !*over).for_each(|(a, b, _)| join(&mut group, a, b));
        let mut bytes = network.homes.module.scratch_bytes(network.ops[v as usize]);
        for root in group.values().collect::<BTreeSet<_>>() {
            let members = owners.iter().filter(|owner| group[owner] == *root);
            let spans = members.clone().filter(|owner| {
                let storage = &network.storages[owner];
                storage.writer.is_some() || !storage.touched.is_empty() || storage.stays || storage.always
            });
            let begin = spans.clone().map(|owner| network.storages[owner].writer.map_or(0, |writer| at[&writer])).min();
            let end = spans.map(last).max();
            if begin.is_some_and(|begin| begin <= at[&v]) && end.is_some_and(|end| end >= at[&v]) {
                bytes += members.map(|owner| network.storages[owner].size).max().unwrap_or(0);
            }
        }
        best = best.min(bytes);
    }
    best
}

#[test]
fn no_order_beats_a_bound_and_changed_certificates_are_refused() {
    let (mut state, facts) = (0x2545_f491_4f6c_dd1d, Facts::builtin());
    let (mut tight, mut all, mut refused, mut tried) = (0, 0, 0, 0);
    for _ in 0..400 {
        let text = text(&mut state);
        let module: Module = neap_ir::parse(&text).expect("the text is right");
        let calls = crate::calls::Calls::of(&module, &facts).expect("no circle");
        let homes = Homes::new(&calls, module.functions()[0], &crate::sizes::UPPER);
        let network = Network::new(&homes).expect("no bodies");
        for v in 0..network.ops.len() as u32 {
            let found = certificate(&network, v);
            let best = least(&network, v);
            assert!(found.lower_bound <= best, "{text}\nstep {v}: bound {} above {best}", found.lower_bound);
            tight += u32::from(found.lower_bound == best);
            all += 1;
            let json = found.to_json().to_string();
            let read = Certificate::from_json(&json).expect("what was written can be read");
            assert_eq!(read, found);
            for _ in 0..4 {
                let Some(mutant) = mutated(&found, &mut state) else { continue };
                tried += 1;
                let proved = network.proved(&mutant);
                let holds = proved.as_ref().is_ok_and(|bytes| *bytes >= mutant.lower_bound);
                // Whatever is accepted must be true.
                assert!(!holds || mutant.lower_bound <= least(&network, mutant.op), "{text}\n{mutant:?}");
                refused += u32::from(!holds);
            }
        }
    }
    assert!(tight * 10 >= all * 7, "{tight} of {all} bounds are tight");
    assert!(refused * 100 >= tried * 95, "{refused} of {tried} changed certificates refused");
}

/// One number, one edge, one candidate or the operation changed.
fn mutated(found: &Certificate, state: &mut u64) -> Option<Certificate> {
    let mut mutant = found.clone();
    let flow_at = next(state, mutant.flows.len() as u64) as usize;
    let edges = mutant.flows[flow_at].edges.len() as u64;
    match next(state, 6) {
        0 => mutant.lower_bound += 1,
        1 if edges > 0 => mutant.flows[flow_at].edges[next(state, edges) as usize].flow += 1,
        2 if edges > 0 => {
            let edge = &mut mutant.flows[flow_at].edges[next(state, edges) as usize];
            edge.capacity = Some(edge.capacity.map_or(7, |capacity| capacity + 1));
        }
        3 if edges > 0 => {
            let gone = next(state, edges) as usize;
            mutant.flows[flow_at].edges.remove(gone);
        }
        4 if edges > 0 => {
            let edge = &mut mutant.flows[flow_at].edges[next(state, edges) as usize];
            (edge.from, edge.to) = (edge.to, edge.from);
        }
        5 => {
            mutant.flows.remove(flow_at);
        }
        _ => return None,
    }
    Some(mutant)
}

#[test]
fn sets_that_no_larger_one_contains() {
    let (a, b) = (Owner::Result(0, 0), Owner::Result(0, 1));
    let (x, y) = (Owner::Arg(0), Owner::Arg(1));
    let found = maximal(&[(a, x), (a, y), (b, x)]);
    assert!(found.contains(&vec![(a, y), (b, x)]) && found.contains(&vec![(a, x)]));
    assert!(!found.iter().any(|set| set.contains(&(a, x)) && set.contains(&(b, x))));
}
