//! Each law on its example and its near miss, under random shapes, judged by the independent checker; and laws that are broken on purpose.

mod body;
mod cases;

use super::super::member::Members;
use super::super::rewrite;
use super::super::term::Term;
use super::{Graph, LAWS, Law, also, cut, join, map, movements, perm, same, several};
use crate::effects::Summaries;
use crate::pass::Context;
use crate::profile::Profile;
use body::{Body, Sizes, start};
use cases::{CASES, Case};
use egg::Id;
use neap_check::check_semantics;
use neap_ir::facts::{Facts, Role};
use neap_ir::{Module, PrintOptions, parse, print};
use std::collections::BTreeSet;

/// Shapes per law.
const SHAPES: u64 = 40;

/// A module and what some laws make of it.
fn rewritten(text: &str, laws: &[Law], equal: bool) -> (Module, Module) {
    let source = parse(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    let (facts, profile) = (Facts::builtin(), Profile::builtin("none").expect("embedded"));
    let summaries = Summaries::default();
    let mut cx = Context::new(&facts, &profile, &summaries, &|| false);
    let mut module = source.clone();
    let func = module.functions()[0];
    let mut members = Members::of(&module, func, &profile.fuse, &cx);
    let block = module.entry(func).expect("a body");
    rewrite::by(&mut module, func, &[block], &mut members, &[(laws, equal)], &mut cx);
    (source, module)
}

/// Operations that compute something.
fn count(module: &Module) -> usize {
    let facts = Facts::builtin();
    let func = module.functions()[0];
    let fixed = |name: &str| {
        matches!(facts.of(name, 1, 1).role, Role::Constant) || matches!(name, "neap.opaque" | "func.return" | "return")
    };
    module.walk(func).into_iter().filter(|op| !fixed(module.op_name(*op))).count()
}

fn agree(source: &Module, other: &Module) -> bool {
    check_semantics(source, other, &Facts::builtin()).accepted()
}

#[test]
fn every_law_has_an_example_and_a_near_miss() {
    let cases: BTreeSet<&str> = CASES.iter().map(|(name, ..)| *name).collect();
    let laws: BTreeSet<&str> = LAWS.iter().map(|law| law.name).collect();
    assert_eq!(cases, laws);
    assert!(LAWS.iter().all(|law| law.law.contains('=')));
}

#[test]
fn laws_hold_and_are_needed_and_near_misses_stay() {
    for (name, example, miss) in CASES {
        let others: Vec<Law> = LAWS.iter().copied().filter(|law| law.name != *name).collect();
        for seed in 1..=SHAPES {
            let sizes = Sizes::random(seed);
            for (case, kind) in [(example, "example"), (miss, "near miss")] {
                let (text, left) = case(sizes);
                let (source, module) = rewritten(&text, LAWS, false);
                let printed = print(&module, &PrintOptions::default());
                assert!(agree(&source, &module), "{kind} of {name}\n{text}\n{printed}");
                assert_eq!(count(&module), left, "{kind} of {name}\n{text}\n{printed}");
            }
            let (text, left) = example(sizes);
            let (source, without) = rewritten(&text, &others, false);
            assert!(agree(&source, &without) && count(&without) > left, "{name} is not needed for\n{text}");
        }
    }
}

#[test]
fn equal_operations_become_one_where_asked() {
    let (mut body, x) = start(Sizes { a: 3, b: 4, c: 5 });
    let (a, b) = (body.unary("stablehlo.abs", &x), body.unary("stablehlo.abs", &x));
    let (a, b) = (body.reshape(&a, &[60]), body.reshape(&b, &[60]));
    let sum = body.op("stablehlo.add", &[&a, &b], "", &[60], "i32");
    let negated = body.unary("stablehlo.negate", &x);
    let text = body.end(&[sum, negated]);
    for (equal, left) in [(false, 6), (true, 4)] {
        let (source, module) = rewritten(&text, LAWS, equal);
        assert!(agree(&source, &module));
        assert_eq!(count(&module), left, "{}", print(&module, &PrintOptions::default()));
    }
}

/// A law's name, what it adds in place of the truth, and a case that shows it.
type Broken = (&'static str, fn(&mut Graph, Id) -> Vec<Id>, Case);

/// Laws broken on purpose, each with a case that shows it.
const BROKEN: &[Broken] = &[
    // Any two permutations that lead to the same form cancel.
    (
        "perm-of-perm",
        |graph, class| {
            let mut changed = Vec::new();
            for (_, form, child) in movements(graph, class, perm) {
                let root = movements(graph, child, perm).first().map(|(_, _, root)| *root);
                if let Some(root) = root.filter(|root| graph[*root].data == form) {
                    same(graph, class, root, &mut changed);
                }
            }
            changed
        },
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.a, s.a, s.a], "i32");
            let t = body.turn(&x, &[2, 0, 1]);
            let v = body.turn(&t, &[2, 0, 1]);
            (body.end(&[v]), 1)
        },
    ),
    // The start of the inner window is forgotten.
    (
        "cut-of-cut",
        |graph, class| {
            let mut changed = Vec::new();
            for (window, form, child) in movements(graph, class, cut) {
                let root = movements(graph, child, cut).first().map(|(_, _, root)| *root);
                if let Some(root) = root.filter(|root| *root != child) {
                    also(graph, class, Term::Cut(window, form, [root]), &mut changed);
                }
            }
            changed
        },
        |s| {
            let (mut body, x) = start(s);
            let t = body.slice(&x, &[(0, s.a, 1), (0, s.b, 1), (1, s.c, 1)]);
            let v = body.slice(&t, &[(0, s.a, 1), (1, s.b, 1), (1, t.dims[2], 1)]);
            (body.end(&[v]), 1)
        },
    ),
    // A window is taken from the first part, whatever part it lies in.
    (
        "cut-of-join",
        |graph, class| {
            let mut changed = Vec::new();
            for (_, form, child) in movements(graph, class, cut) {
                for (_, _, parts) in several(graph, child, join) {
                    if graph[parts[0]].data == form {
                        same(graph, class, parts[0], &mut changed);
                    }
                }
            }
            changed
        },
        |s| {
            let (mut body, x) = start(s);
            let y = body.arg(&[s.a, s.b, s.c], "i32");
            let j = body.concat(&[&x, &y], 1);
            let v = body.slice(&j, &[(0, s.a, 1), (s.b, 2 * s.b, 1), (0, s.c, 1)]);
            (body.end(&[v]), 0)
        },
    ),
    // Parts of one value make up that value in any order.
    (
        "join-of-cuts",
        |graph, class| {
            let mut changed = Vec::new();
            for (_, form, parts) in several(graph, class, join) {
                let root = movements(graph, parts[0], cut).first().map(|(_, _, root)| *root);
                if let Some(root) = root.filter(|root| graph[*root].data == form) {
                    same(graph, class, root, &mut changed);
                }
            }
            changed
        },
        |s| {
            let (mut body, x) = start(s);
            let a = body.slice(&x, &[(0, s.a, 1), (0, 2, 1), (0, s.c, 1)]);
            let b = body.slice(&x, &[(0, s.a, 1), (2, s.b, 1), (0, s.c, 1)]);
            let v = body.concat(&[&b, &a], 1);
            (body.end(&[v]), 0)
        },
    ),
    // A margin is as good as what is inside of it.
    (
        "cut-of-pad",
        |graph, class| {
            let pad = |term: &Term| {
                if let Term::Pad(number, form, [child]) = term { Some((*number, *form, *child)) } else { None }
            };
            let mut changed = Vec::new();
            for (_, form, child) in movements(graph, class, cut) {
                for (_, _, root) in movements(graph, child, pad) {
                    if graph[root].data == form {
                        same(graph, class, root, &mut changed);
                    }
                }
            }
            changed
        },
        |s| {
            let (mut body, x) = start(s);
            let p = body.pad(&x, &[1, 2, 0], &[0, 1, 0]);
            let v = body.slice(&p, &[(1, 1 + s.a, 1), (1, 1 + s.b, 1), (0, s.c, 1)]);
            (body.end(&[v]), 0)
        },
    ),
    // 1 is as neutral as 0.
    (
        "neutral-operand",
        |graph, class| {
            let mut changed = Vec::new();
            for (_, form, operands) in several(graph, class, map) {
                if let [a, b] = operands[..]
                    && graph[b]
                        .nodes
                        .iter()
                        .any(|term| matches!(term, Term::Leaf(leaf) if graph.analysis.splats.contains_key(leaf)))
                    && graph[a].data == form
                {
                    same(graph, class, a, &mut changed);
                }
            }
            changed
        },
        |s| {
            let mut body = Body::default();
            let x = body.arg(&[s.a, s.b], "i32");
            let value = format!("value = dense<1> : tensor<{}x{}xi32>", s.a, s.b);
            let one = body.op("stablehlo.constant", &[], &value, &[s.a, s.b], "i32");
            let v = body.op("stablehlo.add", &[&x, &one], "", &[s.a, s.b], "i32");
            (body.end(&[v]), 0)
        },
    ),
];

#[test]
fn broken_laws_are_caught() {
    for (name, add, case) in BROKEN {
        let broken: Vec<Law> =
            LAWS.iter().map(|law| if law.name == *name { Law { add: *add, ..*law } } else { *law }).collect();
        for seed in 1..=SHAPES {
            let (text, _) = case(Sizes::random(seed));
            let (source, right) = rewritten(&text, LAWS, false);
            assert!(agree(&source, &right), "{name}\n{text}");
            let (source, wrong) = rewritten(&text, &broken, false);
            let printed = print(&wrong, &PrintOptions::default());
            assert!(!agree(&source, &wrong), "{name}, broken, was not caught\n{text}\n{printed}");
        }
    }
}
