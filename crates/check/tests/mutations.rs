//! Random plans: every good one is accepted; every change of one after which some byte differs is refused.

mod support;

use neap_check::{Options, check, check_semantics};
use neap_ir::Module;
use neap_ir::facts::Facts;
use std::collections::BTreeMap;
use std::io::Write;
use support::graph::{Graph, Io, Kind, Random, TABLE};
use support::oracle;
use support::planner::{self, Plan};

const GRAPHS: u64 = 600;

fn facts() -> Facts {
    let mut facts = Facts::builtin();
    facts.add_table(TABLE, "table of the test").expect("the table is right");
    facts
}

fn module(text: &str) -> Module {
    neap_ir::parse(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

/// The source declares what the plan was made for, or what a test wants it to be made for.
fn source_text(graph: &Graph, plan: &Plan) -> String {
    let order: Vec<usize> = (0..graph.nodes.len()).collect();
    let top = planner::top(plan.align, plan.capacity, plan.class_limit);
    graph.text(&order, &top, "", &|_| String::new(), &|_| String::new())
}

#[derive(Default, Debug)]
struct Count {
    tried: usize,
    /// Bytes differ, or a rule is broken for sure.
    wrong: usize,
    refused: usize,
}

/// A change; hands back whether it breaks a rule whatever the bytes.
type Change = fn(&mut Graph, &mut Plan, &mut Random) -> Option<bool>;

fn pick<T: Copy>(list: &[T], rng: &mut Random) -> Option<T> {
    list.get(rng.below(list.len())).copied()
}

fn planned_values(plan: &Plan) -> Vec<usize> {
    (0..plan.offsets.len()).filter(|value| plan.offsets[*value] >= 0).collect()
}

fn order_swapped(_: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let count = plan.order.len();
    let node = plan.order.remove(rng.below(count));
    plan.order.insert(rng.below(count), node);
    Some(false)
}

fn offset_moved(_: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let value = pick(&planned_values(plan), rng)?;
    plan.offsets[value] = rng.below(plan.arena as usize + 1) as i64;
    Some(false)
}

fn offset_shared(_: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let values = planned_values(plan);
    let (a, b) = (pick(&values, rng)?, pick(&values, rng)?);
    plan.offsets[a] = plan.offsets[b];
    Some(false)
}

fn view_moved(_: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let mut views: Vec<usize> = plan.views.keys().copied().collect();
    views.sort_unstable();
    let value = pick(&views, rng)?;
    plan.views.get_mut(&value)?.1 = rng.below(9);
    Some(false)
}

fn view_added(graph: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let node = &graph.nodes[rng.below(graph.nodes.len())];
    let (value, operand) = (*node.results.first()?, rng.below(node.operands.len().max(1)));
    node.operands.get(operand)?;
    plan.views.insert(value, (operand, rng.below(3)));
    plan.offsets[value] = -1;
    Some(false)
}

fn in_place_added(graph: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let id = rng.below(graph.nodes.len());
    let node = &graph.nodes[id];
    let operand = rng.below(node.operands.len().max(1));
    let (value, from) = (*node.results.first()?, *node.operands.get(operand)?);
    plan.offsets[value] = Some(plan.offsets[from]).filter(|offset| *offset >= 0)?;
    plan.in_place.insert(id, operand);
    plan.views.remove(&value);
    Some(false)
}

fn body_changed(graph: &mut Graph, _: &mut Plan, rng: &mut Random) -> Option<bool> {
    let fused: Vec<usize> =
        (0..graph.nodes.len()).filter(|id| matches!(graph.nodes[*id].kind, Kind::Fused { .. })).collect();
    let node = &mut graph.nodes[pick(&fused, rng)?];
    let Kind::Fused { first, then, .. } = &mut node.kind else { return None };
    match (rng.below(3), &mut **first) {
        (0, Kind::Opaque(id) | Kind::Element(id)) => *id += 100,
        (1, _) => node.operands.reverse(),
        _ => *then += 100,
    }
    Some(false)
}

fn operand_changed(graph: &mut Graph, _: &mut Plan, rng: &mut Random) -> Option<bool> {
    let id = rng.below(graph.nodes.len());
    let at = rng.below(graph.nodes[id].operands.len().max(1));
    let old = *graph.nodes[id].operands.get(at)?;
    let args = 0..graph.args.len();
    let there = args.chain(graph.nodes.iter().flat_map(|node| node.results.iter().copied()));
    let other: Vec<usize> = there.filter(|value| graph.values[*value] == graph.values[old]).collect();
    graph.nodes[id].operands[at] = pick(&other, rng)?;
    Some(false)
}

fn write_lost(graph: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let writes: Vec<usize> =
        plan.order.iter().copied().filter(|id| matches!(graph.nodes[*id].kind, Kind::Write(_))).collect();
    let lost = pick(&writes, rng)?;
    plan.order.retain(|id| *id != lost);
    Some(true)
}

fn overlap_within(graph: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let node = &graph.nodes[rng.below(graph.nodes.len())];
    let (value, from) = (pick(&node.results, rng)?, pick(&node.operands, rng)?);
    if plan.offsets[value] < 0 || plan.offsets[from] < 0 {
        return None;
    }
    let size = graph.values[from].size() as i64;
    plan.offsets[value] = (plan.offsets[from] + rng.below(size as usize) as i64 - 1).max(0);
    Some(false)
}

fn part_moved(_: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let mut nodes: Vec<usize> = plan.places.keys().copied().collect();
    nodes.sort_unstable();
    let list = plan.places.get_mut(&pick(&nodes, rng)?)?;
    let at = rng.below(list.len());
    list[at].1 += 1 + rng.below(4);
    Some(false)
}

fn part_added(graph: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let concats: Vec<usize> =
        (0..graph.nodes.len()).filter(|id| matches!(graph.nodes[*id].kind, Kind::Concat(_))).collect();
    let id = pick(&concats, rng)?;
    let at = rng.below(2);
    let start = if at == 0 { 0 } else { graph.values[graph.nodes[id].operands[0]].size() };
    let list = plan.places.entry(id).or_default();
    if list.iter().any(|(operand, _)| *operand == at) {
        return None;
    }
    list.push((at, start));
    Some(false)
}

fn scratch_moved(_: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let mut nodes: Vec<usize> = plan.scratch.keys().copied().collect();
    nodes.sort_unstable();
    let node = pick(&nodes, rng)?;
    plan.scratch.insert(node, rng.below(plan.arena as usize) as i64);
    Some(false)
}

fn peak_wrong(_: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    plan.peak += [-1, 1, 8][rng.below(3)];
    Some(true)
}

fn arena_wrong(_: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    plan.arena += [-1, 1, 8][rng.below(3)];
    plan.capacity = plan.capacity.max(plan.arena);
    Some(true)
}

fn misaligned(graph: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    if plan.align == 1 {
        return None;
    }
    let alone = |value: &usize| {
        *value < graph.args.len() && plan.views.is_empty() && plan.in_place.is_empty() && plan.places.is_empty()
    };
    let value = pick(&planned_values(plan).into_iter().filter(alone).collect::<Vec<_>>(), rng)?;
    plan.offsets[value] += 1;
    Some(true)
}

fn too_large(_: &mut Graph, plan: &mut Plan, _: &mut Random) -> Option<bool> {
    plan.capacity = plan.arena - 1;
    Some(plan.arena > 0)
}

fn class_full(graph: &mut Graph, plan: &mut Plan, _: &mut Random) -> Option<bool> {
    plan.class_limit -= 1;
    Some(plan.class_limit >= 0 && graph.nodes.iter().any(|node| node.class))
}

fn offset_lost(_: &mut Graph, plan: &mut Plan, rng: &mut Random) -> Option<bool> {
    let value = pick(&planned_values(plan), rng)?;
    plan.offsets[value] = -1;
    Some(true)
}

fn external_planned(graph: &mut Graph, plan: &mut Plan, _: &mut Random) -> Option<bool> {
    let arg = graph.args.iter().position(|io| *io == Io::External)?;
    plan.offsets[arg] = plan.arena;
    Some(true)
}

const CHANGES: &[(&str, Change)] = &[
    ("order-swapped", order_swapped),
    ("offset-moved", offset_moved),
    ("offset-shared", offset_shared),
    ("view-moved", view_moved),
    ("view-added", view_added),
    ("in-place-added", in_place_added),
    ("fused-body-changed", body_changed),
    ("operand-changed", operand_changed),
    ("write-lost", write_lost),
    ("overlap-within-an-op", overlap_within),
    ("part-moved", part_moved),
    ("part-added", part_added),
    ("scratch-moved", scratch_moved),
    ("peak-wrong", peak_wrong),
    ("arena-bytes-wrong", arena_wrong),
    ("misaligned", misaligned),
    ("capacity", too_large),
    ("class-full", class_full),
    ("offset-lost", offset_lost),
    ("external-planned", external_planned),
];

/// What a good plan used, so that the test shows what it covers.
fn used(graph: &Graph, plan: &Plan, counts: &mut BTreeMap<&'static str, usize>) {
    let fused = graph.nodes.iter().any(|node| matches!(node.kind, Kind::Fused { .. }));
    let state = graph.nodes.iter().any(|node| matches!(node.kind, Kind::Write(_)));
    let facts = [
        ("views", !plan.views.is_empty()),
        ("in place", !plan.in_place.is_empty()),
        ("parts", !plan.places.is_empty()),
        ("fused", fused),
        ("state written", state),
        ("scratch", !plan.scratch.is_empty()),
        ("classes", plan.class_limit > 0),
    ];
    facts.iter().filter(|(_, used)| *used).for_each(|(name, _)| *counts.entry(name).or_default() += 1);
}

#[test]
fn good_plans_pass_and_wrong_ones_do_not() {
    let facts = facts();
    let (mut counts, mut coverage): (BTreeMap<&str, Count>, BTreeMap<&str, usize>) = Default::default();
    for seed in 1..=GRAPHS {
        let mut rng = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let graph = Graph::random(&mut rng);
        let fused = graph.fused(&mut rng);
        let plan = Plan::new(&fused, &mut rng);
        let source = module(&source_text(&graph, &plan));
        let want = oracle::source(&graph);
        let text = plan.text(&fused);
        assert_eq!(
            oracle::planned(&fused, &plan).as_ref(),
            Some(&want),
            "seed {seed}: the test's planner is wrong\n{text}"
        );
        let planned = module(&text);
        let report = check(&source, &planned, &facts, &Options::default());
        assert!(report.accepted(), "seed {seed}: {:#?}\n{}\n{text}", report.diagnostics(), source_text(&graph, &plan));
        assert!(check_semantics(&source, &planned, &facts).accepted());
        used(&fused, &plan, &mut coverage);
        for (name, change) in CHANGES {
            for _ in 0..2 {
                let (mut other, mut mutant) = (fused.clone(), plan.clone());
                let Some(broken) = change(&mut other, &mut mutant, &mut rng) else { continue };
                let count = counts.entry(name).or_default();
                count.tried += 1;
                let differs = oracle::planned(&other, &mutant).as_ref() != Some(&want);
                let text = mutant.text(&other);
                // Where the change is in what is declared, the source declares it too.
                let source = module(&source_text(&graph, &mutant));
                let report = check(&source, &module(&text), &facts, &Options::default());
                let wrong = broken || differs;
                count.wrong += usize::from(wrong);
                count.refused += usize::from(!report.accepted());
                assert!(
                    !wrong || !report.accepted(),
                    "seed {seed}, {name}: accepted\n{}\n{text}\nwant {want:?}\ngot {:?}",
                    source_text(&graph, &plan),
                    oracle::planned(&other, &mutant)
                );
            }
        }
    }
    let table: Vec<String> = counts
        .iter()
        .map(|(name, c)| format!("{name:24} tried {:5}  wrong {:5}  refused {:5}", c.tried, c.wrong, c.refused))
        .collect();
    let shown = format!("{GRAPHS} good plans accepted; of these with {coverage:?}\n{}", table.join("\n"));
    writeln!(std::io::stderr(), "{shown}").expect("standard error can be written");
    assert_eq!(counts.len(), CHANGES.len(), "{shown}");
    assert!(counts.values().all(|count| count.wrong > 0 && count.refused >= count.wrong), "{shown}");
    assert!(coverage.len() == 7 && coverage.values().all(|count| *count as u64 > GRAPHS / 20), "{shown}");
}
