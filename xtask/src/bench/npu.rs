//! NPU graphs: the MSC scheduler as its document describes it, a plain greedy, and neap; spills and cycles beside what others published; growth.
//!
//! The graphs are made here, node for node those of the contest; the convolution that cannot be made comes from `NEAP_SHARED`.

#[path = "../../../crates/import/tests/support/npu_cases.rs"]
mod npu_cases;

use crate::{Outcome, measure, sh};
use neap::npu::Npu;
use neap_import::npu::graph::Kind;
use neap_import::npu::pools::POOLS;
use neap_import::npu::replay::{MOST, Plan, Rules, replay};
use std::path::{Path, PathBuf};

/// A case and the best that others published: resident bytes, traffic, cycles.
struct Case {
    name: &'static str,
    make: Option<fn() -> String>,
    peak: u64,
    traffic: u64,
    cycles: u64,
}

/// Published in VennIntelligence/2025A-kernel-sched and LiZufan001/MathModelingStudy (September 2026).
const CASES: [Case; 5] = [
    Case {
        name: "Matmul_Case0",
        make: Some(|| npu_cases::matmul(8, 8, 8, true)),
        peak: 9216,
        traffic: 28_800,
        cycles: 133_682,
    },
    Case {
        name: "Matmul_Case1",
        make: Some(|| npu_cases::matmul(16, 16, 16, true)),
        peak: 34_816,
        traffic: 430_208,
        cycles: 1_531_946,
    },
    Case {
        name: "FlashAttention_Case0",
        make: Some(|| npu_cases::flash(4, 4)),
        peak: 4500,
        traffic: 3584,
        cycles: 36_344,
    },
    Case {
        name: "FlashAttention_Case1",
        make: Some(|| npu_cases::flash(8, 8)),
        peak: 7588,
        traffic: 32_512,
        cycles: 152_364,
    },
    Case { name: "Conv_Case0", make: None, peak: 7488, traffic: 57_408, cycles: 515_634 },
];

/// Prints the three tables.
pub(super) fn run() -> Outcome {
    let folder = sh::scratch("bench/npu")?;
    let mut files = Vec::new();
    for case in &CASES {
        let file = folder.join(format!("{}.json", case.name));
        match (case.make, std::env::var_os("NEAP_SHARED")) {
            (Some(make), _) => sh::write(&file, make())?,
            (None, Some(shared)) => {
                let from = PathBuf::from(shared).join(format!("npu/{}.json", case.name));
                sh::write(&file, sh::read(&from)?)?;
            }
            (None, None) => {
                println!("{} is left out: it is a file of the contest, and NEAP_SHARED names no folder", case.name);
                continue;
            }
        }
        files.push((case, file));
    }
    orders(&folder, &files)?;
    spills(&folder, &files)?;
    growth(&folder)
}

/// Order alone: resident bytes of L1 and UB, more than one live buffer in an L0, time against MSC's.
fn orders(folder: &Path, files: &[(&Case, PathBuf)]) -> Outcome {
    println!("{:<22} {:<10} {:>10} {:>11} {:>8}", "order alone", "method", "resident", "violations", "time x");
    for (case, file) in files {
        let npu = Npu::read(sh::read(file)?.as_bytes()).map_err(|failure| format!("{failure:?}"))?;
        let mut first = 0.0;
        for (method, key) in [("msc", Key::Msc), ("greedy", Key::Greedy)] {
            let start = std::time::Instant::now();
            let schedule = List::new(&npu, key).run();
            let time = start.elapsed().as_secs_f64().max(1e-4);
            first = if key == Key::Msc { time } else { first };
            let (peak, violations) = judge(&npu, &schedule);
            println!("{:<22} {method:<10} {peak:>10} {violations:>11} {:>8.1}", case.name, time / first);
        }
        let out = folder.join("x.schedule");
        let args = ["plan", &file.to_string_lossy(), "--summary=none", "-o", &out.to_string_lossy()];
        let start = std::time::Instant::now();
        measure::neap(&args)?;
        let time = start.elapsed().as_secs_f64();
        let (peak, violations) = judge(&npu, &scheduled(&out)?);
        println!("{:<22} {:<10} {peak:>10} {violations:>11} {:>8.1}", case.name, "neap", time / first);
        println!("{:<22} {:<10} {:>10}", case.name, "published", case.peak);
    }
    Ok(())
}

/// The ids of a schedule.
fn scheduled(file: &Path) -> Result<Vec<u32>, String> {
    Ok(sh::read(file)?.lines().filter_map(|line| line.parse().ok()).collect())
}

/// Resident bytes, and how often a class held more than it may or a rule was broken.
fn judge(npu: &Npu, schedule: &[u32]) -> (u64, String) {
    let plan = Plan { schedule: schedule.to_vec(), ..Plan::default() };
    let broken = replay(&npu.graph, &npu.program, &plan, Rules::Order).map_or_else(|broken| broken.len(), |_| 0);
    let (mut resident, mut peak) = (0u64, 0);
    for id in schedule {
        let Ok(at) = npu.graph.nodes.binary_search_by_key(id, |node| node.id) else { continue };
        let counted = |buffer: usize| {
            let buffer = &npu.graph.buffers[buffer];
            if buffer.pool.pool().counted { buffer.size } else { 0 }
        };
        match &npu.graph.nodes[at].kind {
            Kind::Alloc(buffer) => resident += counted(buffer.index()),
            Kind::Free(buffer) => resident -= counted(buffer.index()),
            Kind::Op { .. } => {}
        }
        peak = peak.max(resident);
    }
    (peak, if broken < MOST { broken.to_string() } else { format!("{MOST}+") })
}

/// Spills and cycles.
fn spills(folder: &Path, files: &[(&Case, PathBuf)]) -> Outcome {
    println!(
        "{:<22} {:>10} {:>10} {:>6} {:>10} {:>10} {:>6}",
        "with spills", "traffic", "published", "ratio", "cycles", "published", "ratio"
    );
    for (case, file) in files {
        let mut found = [0u64; 2];
        for (value, (objective, key)) in found.iter_mut().zip([("traffic", "traffic"), ("makespan", "makespan")]) {
            let out = folder.join("summary.json");
            let (file, out_name) = (file.to_string_lossy(), out.to_string_lossy());
            let args = ["plan", &file, "--objective", objective, "--summary=json", "--summary-file", &out_name];
            measure::neap(&args)?;
            let summary: serde_json::Value =
                serde_json::from_str(&sh::read(&out)?).map_err(|error| error.to_string())?;
            *value = summary[key].as_u64().ok_or("no figure in the summary")?;
        }
        let ratio = |value: u64, published: u64| value as f64 / published as f64;
        println!(
            "{:<22} {:>10} {:>10} {:>6.2} {:>10} {:>10} {:>6.2}",
            case.name,
            found[0],
            case.traffic,
            ratio(found[0], case.traffic),
            found[1],
            case.cycles,
            ratio(found[1], case.cycles)
        );
    }
    Ok(())
}

/// A size of a kind of graph.
type Made = (&'static str, fn() -> String);

/// Time and memory of an order as graphs grow, and resident bytes in the order of ids and as planned.
fn growth(folder: &Path) -> Outcome {
    let kinds: [[Made; 3]; 3] = [
        [
            ("matmul 8", || npu_cases::matmul(8, 8, 8, true)),
            ("matmul 16", || npu_cases::matmul(16, 16, 16, true)),
            ("matmul 30", || npu_cases::matmul(30, 30, 30, true)),
        ],
        [
            ("flash 8", || npu_cases::flash(8, 8)),
            ("flash 16", || npu_cases::flash(16, 16)),
            ("flash 42", || npu_cases::flash(42, 42)),
        ],
        [
            ("conv 8", || npu_cases::conv(8, &[2, 4, 8], 2)),
            ("conv 16", || npu_cases::conv(16, &[4, 8, 16], 3)),
            ("conv 24", || npu_cases::conv(24, &[8, 16, 24], 3)),
        ],
    ];
    println!(
        "{:<12} {:>8} {:>10} {:>12} {:>8} {:>8} {:>10} {:>10}",
        "growth", "nodes", "cpu ticks", "peak KiB", "nodes x", "time x", "by id", "resident"
    );
    for kind in kinds {
        let mut before: Option<(u64, u64)> = None;
        for (name, make) in kind {
            let file = folder.join("growth.json");
            let text = make();
            let nodes = text.matches("\"Id\":").count() as u64;
            let npu = Npu::read(text.as_bytes()).map_err(|failure| format!("{failure:?}"))?;
            sh::write(&file, text)?;
            let out = folder.join("x.schedule");
            let args = ["plan", &file.to_string_lossy(), "--summary=none", "-o", &out.to_string_lossy()];
            let cost = measure::neap(&args)?;
            let ratio = |now: u64, then: u64| format!("{:.1}", now as f64 / then.max(1) as f64);
            let ratios = before.map(|(n, t)| (ratio(nodes, n), ratio(cost.ticks, t)));
            let (by_nodes, by_time) = ratios.unwrap_or(("-".to_owned(), "-".to_owned()));
            let given: Vec<u32> = npu.graph.nodes.iter().map(|node| node.id).collect();
            let (given, _) = judge(&npu, &given);
            let (resident, _) = judge(&npu, &scheduled(&out)?);
            println!(
                "{name:<12} {nodes:>8} {:>10} {:>12} {by_nodes:>8} {by_time:>8} {given:>10} {resident:>10}",
                cost.ticks, cost.peak_kib
            );
            before = Some((nodes, cost.ticks));
        }
    }
    Ok(())
}

/// What decides among ready nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    /// Of those that keep one live buffer per class, else those that allocate nothing, else any: bytes change, what exceeds the peak so far,
    /// critical path, id.
    Msc,
    /// Bytes change, id.
    Greedy,
}

/// List scheduling on the nodes of the file, `ALLOC` and `FREE` among them.
struct List<'a> {
    npu: &'a Npu,
    key: Key,
    then: Vec<Vec<u32>>,
    waits: Vec<u32>,
    path: Vec<u64>,
    live: [u32; POOLS.len()],
    resident: i64,
    peak: i64,
}

impl<'a> List<'a> {
    fn new(npu: &'a Npu, key: Key) -> List<'a> {
        let count = npu.graph.nodes.len();
        let (mut then, mut waits, mut path) = (vec![Vec::new(); count], vec![0; count], vec![0u64; count]);
        for one in &npu.program.dependencies {
            then[one.first.index()].push(one.then.0);
            waits[one.then.index()] += 1;
        }
        for node in npu.program.order.iter().rev() {
            let cycles = match &npu.graph.nodes[node.index()].kind {
                Kind::Op { cycles, .. } => *cycles,
                _ => 0,
            };
            let rest = then[node.index()].iter().map(|next| path[*next as usize]).max().unwrap_or(0);
            path[node.index()] = rest + cycles;
        }
        List { npu, key, then, waits, path, live: [0; POOLS.len()], resident: 0, peak: 0 }
    }

    fn run(mut self) -> Vec<u32> {
        let mut ready: Vec<u32> = (0..self.waits.len() as u32).filter(|at| self.waits[*at as usize] == 0).collect();
        let mut schedule = Vec::with_capacity(self.waits.len());
        while let Some((place, at)) = ready.iter().copied().enumerate().min_by_key(|(_, at)| self.rank(*at)) {
            ready.swap_remove(place);
            self.step(at as usize);
            schedule.push(self.npu.graph.nodes[at as usize].id);
            for next in std::mem::take(&mut self.then[at as usize]) {
                self.waits[next as usize] -= 1;
                if self.waits[next as usize] == 0 {
                    ready.push(next);
                }
            }
        }
        schedule
    }

    /// The change in bytes, and the class of an allocation.
    fn change(&self, at: usize) -> (i64, Option<usize>) {
        let size = |buffer: usize| self.npu.graph.buffers[buffer].size as i64;
        match &self.npu.graph.nodes[at].kind {
            Kind::Alloc(buffer) => {
                let pool = usize::from(self.npu.graph.buffers[buffer.index()].pool.0);
                (size(buffer.index()), Some(pool))
            }
            Kind::Free(buffer) => (-size(buffer.index()), None),
            Kind::Op { .. } => (0, None),
        }
    }

    fn rank(&self, at: u32) -> (u8, i64, i64, u64, u32) {
        let (change, pool) = self.change(at as usize);
        if self.key == Key::Greedy {
            return (0, change, 0, 0, at);
        }
        let keeps = pool.is_none_or(|pool| POOLS[pool].limit.is_none_or(|limit| self.live[pool] < limit));
        let excess = (self.resident + change - self.peak).max(0);
        (u8::from(!keeps), change, excess, u64::MAX - self.path[at as usize], at)
    }

    fn step(&mut self, at: usize) {
        let (change, pool) = self.change(at);
        self.resident += change;
        self.peak = self.peak.max(self.resident);
        if let Some(pool) = pool {
            self.live[pool] += 1;
        }
        if let Kind::Free(buffer) = &self.npu.graph.nodes[at].kind {
            self.live[usize::from(self.npu.graph.buffers[buffer.index()].pool.0)] -= 1;
        }
    }
}
