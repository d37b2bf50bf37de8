//! Orders generated graphs of growing size: `cargo run --release -p neap-order --example scale -- [MOST [FAMILY]]`.
//!
//! Families: random in-trees (each op read by one later op), chains with residual edges of span up to 50, layered random graphs. Prints time per op, which
//! stays level where growth is near-linear.

use neap_order::{Op, OpId, Options, Problem, Spec, Storage, solve};
use std::io::Write;
use std::ops::ControlFlow;
use std::time::Duration;

fn main() -> std::io::Result<()> {
    let most: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let only = std::env::args().nth(2);
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{:10} {:>8} {:>14} {:>14} {:>7} {:>9} {:>9}",
        "family", "ops", "peak", "bound", "proof", "ms", "ns/op"
    )?;
    for (name, make) in [("tree", tree as fn(usize) -> Spec), ("residual", residual), ("layered", layered)] {
        let mut n = 1000;
        while n <= most && only.as_ref().is_none_or(|only| only == name) {
            let problem = Problem::new(make(n)).expect("a legal graph");
            let start = cpu();
            let options = Options { effort: 0, ..Options::default() };
            let answer = solve(&problem, &options, &mut |_| ControlFlow::Continue(())).expect("an order");
            let time = cpu() - start;
            let (ms, per_op) = (time.as_secs_f64() * 1e3, time.as_nanos() / n as u128);
            let proof = format!("{:?}", answer.proof);
            writeln!(
                out,
                "{name:10} {n:8} {:14} {:14} {proof:>7} {ms:9.1} {per_op:9}",
                answer.peak, answer.lower_bound
            )?;
            n *= 10;
        }
    }
    Ok(())
}

/// Processor time of this thread so far.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0))
}

/// Numbers, the same on every machine (SplitMix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn graph(n: usize, reads: impl Fn(usize, &mut u64) -> Vec<usize>) -> Spec {
    let mut state = 42;
    let mut spec = Spec { ops: vec![Op::default(); n], ..Spec::default() };
    for v in 0..n {
        let size = 1024 * (1 + random(&mut state) % 64);
        spec.storages.push(Storage { size, writers: vec![OpId(v as u32)], ..Storage::default() });
    }
    for v in 0..n {
        let mut list = reads(v, &mut state);
        list.sort_unstable();
        list.dedup();
        list.into_iter().for_each(|s| spec.storages[s].readers.push(OpId(v as u32)));
    }
    let unread = |s: &mut Storage| s.live_out = s.readers.is_empty();
    spec.storages.iter_mut().for_each(unread);
    spec
}

/// Every op but the last is read by one random later op.
fn tree(n: usize) -> Spec {
    let mut state = 7;
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    for v in 0..n - 1 {
        let parent = v + 1 + (random(&mut state) as usize) % (n - 1 - v).min(64);
        children[parent].push(v);
    }
    graph(n, |v, _| children[v].clone())
}

fn residual(n: usize) -> Spec {
    graph(n, |v, state| {
        let mut list: Vec<usize> = v.checked_sub(1).into_iter().collect();
        if v > 50 && random(state).is_multiple_of(5) {
            list.push(v - 2 - (random(state) as usize) % 48);
        }
        list
    })
}

/// Layers of 64 ops, each reading two or three of the layer before.
fn layered(n: usize) -> Spec {
    graph(n, |v, state| {
        let layer = v / 64;
        let read = |state: &mut u64| (layer - 1) * 64 + (random(state) as usize) % 64;
        if layer == 0 { Vec::new() } else { (0..2 + random(state) % 2).map(|_| read(state)).collect() }
    })
}
