//! Certificates of real models, mutated: each number, each edge, each set, and each certificate beside another graph. The checker refuses them all.
//!
//! `NEAP_MUTATIONS` says how many mutations of a kind are tried per model (default 60, spread evenly; `all` for every one). A smaller claim than
//! the one proved is no fault, and is not among them.

use neap_check::{Certificate, Node, Owner, Taken, verify};
use neap_ir::facts::Facts;
use neap_ir::{Module, parse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A plan with its certificates.
struct Proved {
    name: String,
    planned: Module,
    certificates: Vec<Certificate>,
}

fn inputs() -> Vec<PathBuf> {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut found = Vec::new();
    for folder in ["models", "reorder", "cases/H30", "cases/H31"] {
        let files = std::fs::read_dir(testdata.join(folder)).expect("the folder is there");
        let files = files.map(|file| file.expect("a file").path());
        found.extend(files.filter(|path| path.extension().is_some_and(|end| end == "mlir")));
    }
    found.sort();
    found
}

/// Plans a file; `None` where the file is not one module that can be planned (golden files with several, or with demands that are not met).
fn proved(path: &Path, folder: &Path) -> Option<Proved> {
    let (plan, proof) = (folder.join("plan.mlir"), folder.join("proof.json"));
    let run = Command::new(env!("CARGO_BIN_EXE_neap"))
        .args(["opt", "--summary=none"])
        .arg(path)
        .arg("-o")
        .arg(&plan)
        .arg("--certificate")
        .arg(&proof)
        .output()
        .expect("the binary runs");
    if !run.status.success() {
        return None;
    }
    let planned = parse::parse(&std::fs::read_to_string(plan).expect("written")).expect("printed by neap");
    let text = std::fs::read_to_string(proof).expect("written");
    let certificates = text.lines().map(|line| Certificate::from_json(line).expect("written by neap")).collect();
    Some(Proved { name: path.display().to_string(), planned, certificates })
}

/// A kind of mutation, and the mutated certificate.
type Mutant = (&'static str, Certificate);

fn mutants(proof: &Certificate) -> Vec<Mutant> {
    let mut found: Vec<Mutant> = Vec::new();
    let mut add = |kind: &'static str, change: &dyn Fn(&mut Certificate)| {
        let mut mutant = proof.clone();
        change(&mut mutant);
        if mutant != *proof {
            found.push((kind, mutant));
        }
    };
    add("claim", &|c| c.lower_bound += 1);
    add("operation", &|c| c.op += 1);
    add("operation", &|c| c.op = c.op.saturating_sub(1));
    add("fingerprint", &|c| c.fingerprint.push('0'));
    add("function", &|c| c.function.push('0'));
    for (f, flow) in proof.flows.iter().enumerate() {
        add("set", &|c| drop(c.flows.remove(f)));
        for (t, taken) in flow.taken.iter().enumerate() {
            add("candidate", &|c| c.flows[f].taken.retain(|other| *other != *taken));
            for other in takens(*taken) {
                add("candidate", &|c| c.flows[f].taken[t] = other);
            }
        }
        for (e, edge) in flow.edges.iter().enumerate() {
            add("flow", &|c| c.flows[f].edges[e].flow += 1);
            add("flow", &|c| c.flows[f].edges[e].flow -= 1);
            add("flow", &|c| c.flows[f].edges[e].flow = u64::MAX);
            add("capacity", &|c| {
                c.flows[f].edges[e].capacity =
                    edge.capacity.map_or(Some(edge.flow.saturating_sub(1)), |own| Some(own + 1));
            });
            add("edge", &|c| c.flows[f].edges.retain(|other| *other != *edge));
            add("edge", &|c| c.flows[f].edges.push(*edge));
            for node in nodes(edge.from) {
                add("end", &|c| c.flows[f].edges[e].from = node);
            }
            for node in nodes(edge.to) {
                add("end", &|c| c.flows[f].edges[e].to = node);
            }
        }
    }
    found
}

fn takens(taken: Taken) -> Vec<Taken> {
    match taken {
        Taken::InPlace { result, operand } => vec![
            Taken::InPlace { result: result + 1, operand },
            Taken::InPlace { result, operand: operand + 1 },
            Taken::Place { operand },
        ],
        Taken::Place { operand } => vec![Taken::Place { operand: operand + 1 }, Taken::InPlace { result: 0, operand }],
    }
}

/// Other nodes, one number away or of another kind.
fn nodes(node: Node) -> Vec<Node> {
    let owners = |owner: Owner| match owner {
        Owner::Arg(at) => vec![Owner::Arg(at + 1), Owner::Arg(at.saturating_sub(1)), Owner::Result(at, 0)],
        Owner::Result(step, at) => vec![
            Owner::Result(step + 1, at),
            Owner::Result(step.saturating_sub(1), at),
            Owner::Result(step, at + 1),
            Owner::Arg(step),
        ],
    };
    match node {
        Node::Source => vec![Node::Sink, Node::Op(0)],
        Node::Sink => vec![Node::Source, Node::Op(0)],
        Node::Op(at) => vec![Node::Op(at + 1), Node::Op(at.saturating_sub(1)), Node::Source, Node::Sink],
        Node::In(owner) => owners(owner).into_iter().map(Node::In).chain([Node::Out(owner)]).collect(),
        Node::Out(owner) => owners(owner).into_iter().map(Node::Out).chain([Node::In(owner)]).collect(),
    }
}

/// Whether a file is a golden one, of a few operations that may be each other's mirror image.
fn mirrored(name: &str) -> bool {
    name.contains("/reorder/")
}

/// How many mutants of a kind are tried.
fn most() -> usize {
    match std::env::var("NEAP_MUTATIONS").as_deref() {
        Ok("all") => usize::MAX,
        Ok(text) => text.parse().expect("`NEAP_MUTATIONS` is a number or `all`"),
        Err(_) => 60,
    }
}

#[test]
fn no_mutant_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let facts = Facts::builtin();
    let all: Vec<Proved> = inputs().iter().filter_map(|path| proved(path, folder.path())).collect();
    let mut refused: BTreeMap<&'static str, usize> = BTreeMap::new();
    let (mut holds, mut sets) = (0, 0);
    for Proved { name, planned, certificates } in &all {
        for proof in certificates {
            assert_eq!(verify(planned, &facts, proof), Ok(proof.lower_bound), "{name}");
            holds += 1;
            sets += usize::from(proof.flows.len() > 1);
            let mut by_kind: BTreeMap<&'static str, Vec<Certificate>> = BTreeMap::new();
            mutants(proof).into_iter().for_each(|(kind, mutant)| by_kind.entry(kind).or_default().push(mutant));
            // Where one value is two operands, two sets are one, and either may stand for both.
            let twice = |f: usize| proof.flows[..f].iter().any(|other| other.edges == proof.flows[f].edges);
            if (0..proof.flows.len()).any(twice) {
                by_kind.retain(|kind, _| !["candidate", "set"].contains(kind));
            }
            for (kind, list) in by_kind {
                for mutant in list.iter().step_by((list.len() / most()).max(1)) {
                    let found = verify(planned, &facts, mutant);
                    // Golden files have operations that are each other's mirror image: a mutant may be a proof about the other one.
                    let more = found.as_ref().is_ok_and(|bound| *bound > proof.lower_bound || !mirrored(name));
                    assert!(!more, "{name}: a mutated {kind} is accepted: {found:?}\n{proof:?}\n{mutant:?}");
                    *refused.entry(kind).or_default() += usize::from(found.is_err());
                }
            }
            // Beside another graph, even one that claims the same fingerprint.
            for other in all.iter().filter(|other| other.name != *name && !mirrored(name)) {
                assert!(verify(&other.planned, &facts, proof).is_err(), "{name} beside {}", other.name);
                *refused.entry("graph").or_default() += 1;
                let same = |theirs: &&Certificate| theirs.function == proof.function && !mirrored(&other.name);
                for theirs in other.certificates.iter().filter(same) {
                    let posing = Certificate { fingerprint: theirs.fingerprint.clone(), ..proof.clone() };
                    let found = verify(&other.planned, &facts, &posing);
                    // Of two files with the same graph it holds, and then says no more than theirs.
                    let more = found.as_ref().is_ok_and(|bound| *bound > theirs.lower_bound);
                    assert!(!more, "{name} posing beside {}: {found:?}", other.name);
                    *refused.entry("posing").or_default() += usize::from(found.is_err());
                }
            }
        }
    }
    println!("{holds} certificates hold, {sets} with several sets; refused: {refused:?}");
    assert!(holds >= 8, "{holds} certificates");
    for kind in ["claim", "operation", "flow", "capacity", "edge", "end", "set", "graph", "posing"] {
        assert!(refused.get(kind).is_some_and(|count| *count >= 4), "{kind}: {refused:?}");
    }
}
