//! Generated graphs, the same on every machine: in-trees, series-parallel graphs, cells that are repeated, training graphs, layered random graphs.

use super::graphs::Named;
use neap_order::{Op, OpId, Problem, Spec, Storage};

/// A name, and what makes the family's graph of so many ops.
pub(crate) type Family = (&'static str, fn(usize) -> Problem);

/// Families that are made at any size.
pub(crate) const GROWING: [Family; 3] = [("tree", tree), ("residual", residual), ("layered", layered)];

/// One graph of about so many ops of each family.
pub(crate) fn of(ops: usize) -> Vec<Named> {
    let families: [Family; 7] = [
        ("tree", tree),
        ("residual", residual),
        ("layered", layered),
        ("series-parallel", series_parallel),
        ("cells", cells),
        ("training", training),
        ("random", random),
    ];
    let named =
        |(name, make): Family| Named { name: format!("{name}_{ops}"), problem: make(ops), best: None, tract: None };
    families.into_iter().map(named).collect()
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }
}

/// Ops with one result each, by what they read.
fn problem(reads: &[Vec<usize>]) -> Problem {
    let mut random = Random(42);
    let size = |random: &mut Random| 1024 * (1 + random.below(64) as u64);
    let mut spec = Spec { ops: vec![Op::default(); reads.len()], ..Spec::default() };
    for op in 0..reads.len() as u32 {
        spec.storages.push(Storage { size: size(&mut random), writers: vec![OpId(op)], ..Storage::default() });
    }
    for (op, list) in reads.iter().enumerate() {
        let mut list = list.clone();
        list.sort_unstable();
        list.dedup();
        list.into_iter().for_each(|at| spec.storages[at].readers.push(OpId(op as u32)));
    }
    spec.storages.iter_mut().for_each(|storage| storage.live_out = storage.readers.is_empty());
    Problem::new(spec).expect("every op reads earlier ones")
}

/// Every op but the last is read by one of the next 64.
fn tree(n: usize) -> Problem {
    let mut random = Random(7);
    let mut reads = vec![Vec::new(); n];
    for op in 0..n - 1 {
        reads[op + 1 + random.below((n - 1 - op).min(64))].push(op);
    }
    problem(&reads)
}

/// A chain with further reads up to 50 back.
fn residual(n: usize) -> Problem {
    let mut random = Random(3);
    let mut reads: Vec<Vec<usize>> = (0..n).map(|op| op.checked_sub(1).into_iter().collect()).collect();
    for (op, list) in reads.iter_mut().enumerate().skip(51) {
        if random.below(5) == 0 {
            list.push(op - 2 - random.below(48));
        }
    }
    problem(&reads)
}

/// Layers of 64 ops, each reading two or three of the layer before.
fn layered(n: usize) -> Problem {
    let mut random = Random(5);
    let mut read = |op: usize| match op / 64 {
        0 => Vec::new(),
        layer => (0..2 + random.below(2)).map(|_| (layer - 1) * 64 + random.below(64)).collect(),
    };
    problem(&(0..n).map(&mut read).collect::<Vec<_>>())
}

/// Each op reads one to three of the last 24.
fn random(n: usize) -> Problem {
    let mut random = Random(9);
    let mut read = |op: usize| (0..(1 + random.below(3)).min(op)).map(|_| op - 1 - random.below(op.min(24))).collect();
    problem(&(0..n).map(&mut read).collect::<Vec<_>>())
}

/// Forks of two to four chains that join again, nested.
fn series_parallel(n: usize) -> Problem {
    let mut random = Random(11);
    let mut reads: Vec<Vec<usize>> = vec![Vec::new()];
    // Open forks: where each began, the ends of its branches so far, branches to come.
    let mut open: Vec<(usize, Vec<usize>, usize)> = Vec::new();
    let mut at = 0;
    while reads.len() < n || !open.is_empty() {
        let full = reads.len() >= n;
        if !full && open.len() < 4 && random.below(3) == 0 {
            open.push((at, Vec::new(), 1 + random.below(3)));
        } else if let Some((begin, ends, more)) = open.last_mut()
            && (full || random.below(3) == 0)
        {
            ends.push(at);
            if *more > 0 && !full {
                *more -= 1;
                at = *begin;
            } else {
                reads.push(std::mem::take(ends));
                at = reads.len() - 1;
                open.pop();
                continue;
            }
        }
        reads.push(vec![at]);
        at = reads.len() - 1;
    }
    problem(&reads)
}

/// Cells of five sums of two ops each over the two cells before, joined in the end.
fn cells(n: usize) -> Problem {
    let mut random = Random(13);
    let mut reads: Vec<Vec<usize>> = vec![Vec::new(), vec![0]];
    let (mut before, mut last) = (0, 1);
    while reads.len() < n {
        let mut states = vec![before, last];
        for _ in 0..5 {
            let sides: Vec<usize> = (0..2)
                .map(|_| {
                    reads.push(vec![states[random.below(states.len())]]);
                    reads.len() - 1
                })
                .collect();
            reads.push(sides);
            states.push(reads.len() - 1);
        }
        reads.push(states[2..].to_vec());
        (before, last) = (last, reads.len() - 1);
    }
    problem(&reads)
}

/// A chain of layers, its gradients backwards, each reading the layer's input.
fn training(n: usize) -> Problem {
    let layers = n / 3;
    let mut reads: Vec<Vec<usize>> = (0..layers).map(|op| op.checked_sub(1).into_iter().collect()).collect();
    let mut gradient = layers - 1;
    for layer in (0..layers).rev() {
        let mut list = vec![gradient];
        list.extend(layer.checked_sub(1));
        // The weight's gradient is a result; the other one goes on.
        reads.push(list.clone());
        reads.push(list);
        gradient = reads.len() - 1;
    }
    problem(&reads)
}
