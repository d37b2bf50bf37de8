//! The edges of random blocks against the definition: every pair that conflicts is ordered, and no edge can go.

use super::{Flow, candidates, missing, positions};
use crate::effects::{FuncEffects, Resource};
use neap_ir::facts::{Access, Facts};
use neap_ir::{Attr, Module, OpId, OpSpec};

const TABLE: &str = r#"
[[op]]
name = "t.pure"
role = "opaque"
effects = "none"
[[op]]
name = "t.read"
role = "read"
effects = [{read = {attr = "var"}}]
[[op]]
name = "t.write"
role = "write"
effects = [{write = {attr = "var"}}]
[[op]]
name = "t.move"
role = "other"
effects = [{read = {attr = "from"}}, {write = {attr = "var"}}]
[[op]]
name = "t.kernel"
role = "opaque"
effects = "none"
body = {run = "kernel"}
[[op]]
name = "t.draw"
role = "random"
effects = [{write = "rng"}]
"#;

fn facts() -> Facts {
    let mut facts = Facts::builtin();
    facts.add_table(TABLE, "tests").expect("the table is well formed");
    facts
}

/// The sequence is part of the test.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        crate::random::below(&mut self.0, bound)
    }
}

/// A function of `count` operations of which about a third touch one of three variables and some touch everything.
fn random(count: usize, random: &mut Random) -> (Module, OpId) {
    let mut module = Module::new();
    let ty = module.int_ty(8);
    let func = module.create_func("main", &[ty], &[]);
    let block = module.entry(func).expect("a function has a body");
    let mut values = module.block_args(block).to_vec();
    for _ in 0..count {
        let names =
            ["t.pure", "t.pure", "t.pure", "t.pure", "t.read", "t.read", "t.write", "t.move", "t.draw", "t.unknown"];
        let kinds = if random.below(8) == 0 { names.len() } else { names.len() - 1 };
        let name = names[random.below(kinds)];
        let operands: Vec<_> =
            (0..random.below(3)).map(|_| values[values.len() - 1 - random.below(values.len().min(6))]).collect();
        let attrs = ["var", "from"].map(|key| (key, Attr::symbol(["a", "b", "c"][random.below(3)]))).to_vec();
        let op = module.create(OpSpec { name, operands: &operands, results: &[ty], attrs, ..OpSpec::default() });
        module.append(block, op);
        values.push(module.results(op)[0]);
    }
    let end = module.create(OpSpec { name: "func.return", ..OpSpec::default() });
    module.append(block, end);
    (module, func)
}

fn conflict(effects: &FuncEffects, a: OpId, b: OpId) -> bool {
    let (Some(a), Some(b)) = (effects.get(a), effects.get(b)) else { return false };
    let meet = |a: &Resource, b: &Resource| {
        a == b
            || matches!((a, b), (Resource::All, _) | (_, Resource::All))
            || matches!(
                (a, b),
                (Resource::AnyVariable, Resource::Variable(_)) | (Resource::Variable(_), Resource::AnyVariable)
            )
    };
    a.iter().any(|(r, x)| b.iter().any(|(s, y)| meet(r, s) && (*x == Access::Write || *y == Access::Write)))
}

/// Which operation is reached from which, by position, over these edges and data flow.
fn closure(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut reach = vec![vec![false; count]; count];
    for to in 0..count {
        for (from, _) in edges.iter().filter(|edge| edge.1 == to) {
            for (source, row) in reach.iter_mut().enumerate().take(*from + 1) {
                row[to] |= source == *from || row[*from];
            }
        }
    }
    reach
}

#[test]
fn every_conflict_is_ordered_and_no_edge_can_go() {
    let facts = facts();
    let mut source = Random(7);
    let (mut ordered, mut edges) = (0, 0);
    for round in 0..400 {
        let (module, func) = random(4 + round % 60, &mut source);
        let block = module.entry(func).expect("a function has a body");
        let at = positions(&module, block);
        let effects = FuncEffects::of(&module, &facts, func);
        let (locks, unreduced) = missing(&module, &facts, func, &effects);
        assert_eq!(unreduced, 0);
        let flow = Flow::of(&module, func);
        let ops: Vec<OpId> = module.block_ops(block).collect();
        let place = |op: &OpId| at[op] as usize;
        let data: Vec<_> =
            ops.iter().flat_map(|op| flow.read_by(*op).iter().map(move |from| (place(from), place(op)))).collect();
        let added: Vec<_> = locks.iter().map(|lock| (place(&lock.before), place(&lock.after))).collect();
        let all: Vec<_> = data.iter().chain(&added).copied().collect();
        let reach = closure(ops.len(), &all);
        for (late, op) in ops[..ops.len() - 1].iter().enumerate() {
            for (early, before) in ops[..late].iter().enumerate() {
                if conflict(&effects, *before, *op) {
                    assert!(reach[early][late], "round {round}: {early} and {late} are not ordered");
                    ordered += 1;
                }
            }
        }
        for (index, edge) in added.iter().enumerate() {
            let rest: Vec<_> = data.iter().chain(&added[..index]).chain(&added[index + 1..]).copied().collect();
            assert!(!closure(ops.len(), &rest)[edge.0][edge.1], "round {round}: edge {edge:?} is superfluous");
            edges += 1;
        }
    }
    assert!(ordered > 1000 && edges > 1000, "the programs are too tame: {ordered} conflicts, {edges} edges");
}

#[test]
fn tokens_that_are_there_are_kept_and_make_no_further_edge() {
    let facts = facts();
    let mut source = Random(23);
    let (mut kept, mut spared) = (0, 0);
    for round in 0..300 {
        let (mut module, func) = random(6 + round % 50, &mut source);
        let without = {
            let effects = FuncEffects::of(&module, &facts, func);
            missing(&module, &facts, func, &effects).0.len()
        };
        let block = module.entry(func).expect("a function has a body");
        let ops: Vec<OpId> = module.block_ops(block).collect();
        let mut asked = Vec::new();
        for _ in 0..1 + source.below(6) {
            let then = 1 + source.below(ops.len() - 2);
            let first = source.below(then);
            let there = module.results(ops[first]).iter().copied().find(|value| module.is_token(*value));
            let token = there.unwrap_or_else(|| {
                let ty = module.token_ty();
                module.push_result(ops[first], ty)
            });
            module.push_operand(ops[then], token);
            asked.push((first, then));
        }
        let effects = FuncEffects::of(&module, &facts, func);
        let (locks, _) = missing(&module, &facts, func, &effects);
        let at = positions(&module, block);
        let flow = Flow::of(&module, func);
        let place = |op: &OpId| at[op] as usize;
        let values: Vec<_> =
            ops.iter().flat_map(|op| flow.read_by(*op).iter().map(move |from| (place(from), place(op)))).collect();
        let added: Vec<_> = locks.iter().map(|lock| (place(&lock.before), place(&lock.after))).collect();
        let given = closure(ops.len(), &values);
        for (first, then) in asked {
            assert!(given[first][then], "round {round}: the token from {first} to {then} orders nothing");
            kept += 1;
        }
        for (first, then) in &added {
            assert!(!given[*first][*then], "round {round}: {first} and {then} are ordered without a lock");
        }
        spared += without.saturating_sub(added.len());
    }
    assert!(kept > 500 && spared > 50, "the programs are too tame: {kept} tokens, {spared} edges spared");
}

#[test]
fn edges_grow_with_the_number_of_accesses() {
    let facts = facts();
    let count = |size| {
        let (module, func) = random(size, &mut Random(11));
        let effects = FuncEffects::of(&module, &facts, func);
        let block = module.entry(func).expect("a function has a body");
        (candidates(&module, &facts, block, &effects).len(), missing(&module, &facts, func, &effects).1)
    };
    let ((small, _), (large, unreduced)) = (count(2_000), count(20_000));
    assert!(large < 12 * small, "{small} edges for 2,000 operations, {large} for 20,000");
    assert_eq!(unreduced, 0);
}

/// A kernel reads the buffers among its operands, whatever bodies describe it; a loop that hands one to its body does not.
#[test]
fn kernels_with_bodies_read_buffers() {
    let text = r#"
func.func @main(%m: memref<4xi8>, %n: index, %f: tensor<i1>) {
  "t.kernel"(%m) ({
    "neap.yield"() : () -> ()
  }) : (memref<4xi8>) -> ()
  "neap.for"(%n, %m) ({
  ^bb0(%i: index, %c: memref<4xi8>):
    "neap.yield"() : () -> ()
  }) : (index, memref<4xi8>) -> ()
  return
}
"#;
    let module = neap_ir::parse(text).expect("it is well formed");
    let func = module.functions()[0];
    let effects = FuncEffects::of(&module, &facts(), func);
    let reads = |name: &str| {
        let op = module.walk(func).into_iter().find(|op| module.op_name(*op) == name).expect("it is there");
        effects.get(op).is_some_and(|all| all.values().any(|access| *access == Access::Read))
    };
    assert!(reads("t.kernel"));
    assert!(!reads("neap.for"), "its body reads nothing");
}
