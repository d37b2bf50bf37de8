//! The solver against brute force: every legal order of small random problems with every set of candidates.
//!
//! `NEAP_ORDER_CASES` sets how many problems are drawn (2,000 unless given).

use neap_order::{
    Class, ClassId, Failure, InPlace, Op, OpId, Options, Placement, Problem, ProblemError, Proof, Spec, Storage,
    StorageId, Taken, simulate, solve,
};
use std::ops::ControlFlow;

/// Numbers, the same on every machine (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A random problem of 2 to 7 ops; every feature occurs in a good part of the cases.
fn draw(random: &mut Random) -> Spec {
    let ops = 2 + random.below(6) as u32;
    let mut spec = Spec::default();
    let has_class = random.chance(25);
    if has_class {
        let by_bytes = random.chance(40);
        let capacity = by_bytes.then(|| 4 + random.below(12));
        let limit = (!by_bytes || random.chance(30)).then(|| 1 + random.below(2) as u32);
        spec.classes.push(Class { limit, capacity });
    }
    let mut live: Vec<u32> = Vec::new();
    for _ in 0..random.below(3) {
        live.push(spec.storages.len() as u32);
        let size = random.below(9);
        spec.storages.push(Storage { size, whole_run: random.chance(10), ..Storage::default() });
    }
    for v in 0..ops {
        let op = OpId(v);
        let scratch = if random.chance(20) { random.below(8) } else { 0 };
        spec.ops.push(Op { scratch, ..Op::default() });
        let mut reads: Vec<u32> = Vec::new();
        for _ in 0..random.below(4) {
            if !live.is_empty() {
                reads.push(live[random.below(live.len() as u64) as usize]);
            }
        }
        reads.sort_unstable();
        reads.dedup();
        for r in &reads {
            spec.storages[*r as usize].readers.push(op);
        }
        if v > 0 && random.chance(15) {
            spec.deps.push((OpId(random.below(v.into()) as u32), op));
        }
        let result = spec.storages.len() as u32;
        let size = if random.chance(50) && !reads.is_empty() {
            spec.storages[reads[random.below(reads.len() as u64) as usize] as usize].size
        } else {
            random.below(9)
        };
        let class = (has_class && random.chance(40)).then_some(ClassId(0));
        spec.storages.push(Storage {
            size,
            writers: vec![op],
            live_out: random.chance(10),
            class,
            ..Storage::default()
        });
        candidates(&mut spec, random, op, result, &reads);
        live.push(result);
    }
    if ops > 2 && random.chance(15) {
        // Ops near each other, or anywhere: then often none of the orders keeps them together.
        let near = random.below(u64::from(ops) - 1) as u32;
        let far = random.below(ops.into()) as u32;
        let mut group = if random.chance(70) { vec![near, near + 1] } else { vec![near, near + 1, far] };
        group.sort_unstable();
        group.dedup();
        spec.groups.push(group.into_iter().map(OpId).collect());
    }
    spec
}

/// Whether some order that respects all dependencies keeps the groups together.
fn groups_can_stay(spec: &Spec) -> bool {
    let Ok(loose) = Problem::new(Spec { groups: Vec::new(), ..spec.clone() }) else { return false };
    let mut found = false;
    let mut visit = |order: &[OpId]| {
        let place = |op: &OpId| order.iter().position(|other| other == op).unwrap_or(usize::MAX);
        found |= spec.groups.iter().all(|group| {
            let places: Vec<usize> = group.iter().map(place).collect();
            let (first, last) = (places.iter().min(), places.iter().max());
            first.zip(last).is_none_or(|(first, last)| last - first + 1 == group.len())
        });
    };
    permute(&loose, loose.ops(), &mut Vec::new(), &mut visit);
    found
}

fn candidates(spec: &mut Spec, random: &mut Random, op: OpId, result: u32, reads: &[u32]) {
    let result = StorageId(result);
    if random.chance(40) && spec.in_place.len() < 3 {
        for r in reads.iter().take(2) {
            spec.in_place.push(InPlace { op, result, operand: StorageId(*r), required: false });
        }
    } else if random.chance(25) && spec.placement.len() < 2 {
        let mut offset = 0;
        for r in reads {
            let storage = &spec.storages[*r as usize];
            let fits = offset + storage.size <= spec.storages[result.index()].size;
            if storage.writers.len() == 1 && !storage.live_out && fits {
                spec.placement.push(Placement { op, part: StorageId(*r), whole: result, offset, required: false });
                offset += storage.size;
            }
        }
    }
}

/// The least peak over all orders and all sets of candidates, by the plain simulation; `None` if no order is legal.
fn oracle(problem: &Problem) -> Option<u64> {
    let n = problem.ops();
    let (in_place, placement) = (problem.spec().in_place.len(), problem.spec().placement.len());
    let mut best: Option<u64> = None;
    let mut order: Vec<OpId> = Vec::new();
    let mut visit = |order: &[OpId]| {
        for set in 0..1u32 << (in_place + placement) {
            let pick = |from: usize, len: usize| (0..len).filter(|i| set >> (from + i) & 1 == 1).collect();
            let taken = Taken { in_place: pick(0, in_place), placement: pick(in_place, placement) };
            if let Ok(run) = simulate(problem, order, &taken) {
                best = Some(best.map_or(run.peak, |best| best.min(run.peak)));
            }
        }
    };
    permute(problem, n, &mut order, &mut visit);
    best
}

fn permute(problem: &Problem, n: usize, order: &mut Vec<OpId>, visit: &mut impl FnMut(&[OpId])) {
    if order.len() == n {
        visit(order);
        return;
    }
    for v in (0..n as u32).map(OpId) {
        if !order.contains(&v) && problem.predecessors(v).all(|p| order.contains(&p)) {
            order.push(v);
            permute(problem, n, order, visit);
            order.pop();
        }
    }
}

#[test]
fn never_below_the_optimum_never_above_when_proved() {
    let cases: u64 = std::env::var("NEAP_ORDER_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(2000);
    let mut random = Random(7);
    let (mut solved, mut proved, mut equal) = (0, 0, 0);
    let (mut with_in_place, mut with_placed, mut with_class, mut with_scratch, mut none) = (0, 0, 0, 0, 0);
    let (mut with_capacity, mut with_group, mut apart, mut not_found) = (0, 0, 0, 0);
    for case in 0..cases {
        let spec = draw(&mut random);
        let problem = match Problem::new(spec.clone()) {
            Ok(problem) => problem,
            Err(error) => {
                // The other errors are about single fields.
                if matches!(error, ProblemError::GroupCycle { .. }) {
                    assert!(!groups_can_stay(&spec), "case {case}: {error}\n{spec:?}");
                    apart += 1;
                }
                continue;
            }
        };
        let best = oracle(&problem);
        let answer = solve(&problem, &Options::default(), &mut |_| ControlFlow::Continue(()));
        let (Some(best), Ok(answer)) = (best, answer.as_ref()) else {
            assert!(
                best.is_none() && answer.is_err(),
                "case {case}: oracle {best:?}, solver {answer:?}\n{:?}",
                problem.spec()
            );
            none += 1;
            not_found += u64::from(matches!(answer, Err(Failure::NotFound { .. })));
            continue;
        };
        let run = simulate(&problem, &answer.order, &answer.taken).expect("the answer is legal");
        assert_eq!(run.peak, answer.peak, "case {case}");
        assert!(
            answer.lower_bound <= best,
            "case {case}: bound {} above {best}, {answer:?}\n{:?}",
            answer.lower_bound,
            problem.spec()
        );
        assert!(answer.peak >= best, "case {case}: the oracle missed an order");
        if answer.proof != Proof::None {
            assert_eq!(answer.peak, best, "case {case}: proved by {:?}\n{:?}", answer.proof, problem.spec());
        }
        if let Some(certificate) = &answer.certificate {
            assert!(certificate.bound <= best, "case {case}: certificate {}", certificate.bound);
        }
        solved += 1;
        proved += u64::from(answer.proof != Proof::None);
        equal += u64::from(answer.peak == best);
        with_in_place += u64::from(!answer.taken.in_place.is_empty());
        with_placed += u64::from(!answer.taken.placement.is_empty());
        with_class += u64::from(!problem.spec().classes.is_empty());
        with_capacity += u64::from(problem.spec().classes.iter().any(|class| class.capacity.is_some()));
        with_group += u64::from(!problem.spec().groups.is_empty());
        with_scratch += u64::from(problem.spec().ops.iter().any(|op| op.scratch > 0));
    }
    println!(
        "{solved} solved ({none} without an order): {equal} optimal, {proved} proved; in place {with_in_place}, placed {with_placed}, \
         class {with_class} ({with_capacity} by bytes), group {with_group}, scratch {with_scratch}; {apart} groups proved to be apart; \
         of those without an order {not_found} not proved to have none"
    );
    assert!(with_capacity * 20 > solved && with_group * 20 > solved && apart > 0 && none > 20, "so do constraints");
    assert_eq!(not_found, 0, "small problems are searched to their end");
    assert!(
        with_in_place * 5 > solved && with_class * 10 > solved && with_placed * 50 > solved,
        "the cases cover the features"
    );
    assert!(equal * 100 >= solved * 99, "{equal} of {solved} optimal");
}
