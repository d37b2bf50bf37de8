//! Plans of random problems, judged step by step by rules written down here again.

use neap_spill::{
    Buffer, BufferId, Event, Objective, Op, OpId, Options, Plan, Pool, PoolId, Problem, ProblemError, solve,
};
use std::collections::BTreeMap;

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ (z >> 27)) % end
    }
}

/// Each operation makes a buffer and reads up to two of those before; two memories, three pipes.
fn random(seed: u64, ops: u32, capacity: u64) -> Problem {
    let mut rng = Rng(seed);
    let mut problem = Problem { in_pipe: 0, out_pipe: 1, ..Problem::default() };
    problem.pools = vec![Pool { capacity, local: false }, Pool { capacity: 8, local: true }];
    for at in 0..ops {
        let local = rng.below(4) == 0;
        let buffer = Buffer { size: 1 + rng.below(8), pool: PoolId(local.into()), backed: rng.below(3) == 0 };
        problem.buffers.push(buffer);
        let mut touches = vec![BufferId(at)];
        for _ in 0..rng.below(3).min(at.into()) {
            let read = BufferId(rng.below(at.into()) as u32);
            let bytes = |pool: PoolId, list: &[BufferId]| {
                let own = list.iter().map(|b| problem.buffers[b.index()]).filter(|b| b.pool == pool);
                own.map(|b| b.size).sum::<u64>()
            };
            let pool = problem.buffers[read.index()].pool;
            let more = bytes(pool, &touches) + problem.buffers[read.index()].size;
            if !touches.contains(&read) && more <= problem.pools[pool.index()].capacity {
                touches.push(read);
                problem.deps.push((OpId(read.0), OpId(at)));
            }
        }
        problem.ops.push(Op { pipe: rng.below(3) as u32, cycles: rng.below(300), touches });
    }
    problem
}

/// Whether a plan keeps every rule.
fn judge(problem: &Problem, plan: &Plan) -> Result<(), String> {
    let mut place = vec![None; problem.ops.len()];
    for (step, event) in plan.events.iter().enumerate() {
        if let Event::Op(op) = event
            && place[op.index()].replace(step).is_some()
        {
            return Err(format!("{op:?} runs twice"));
        }
    }
    if place.contains(&None) {
        return Err("an operation is missing".to_owned());
    }
    if let Some((a, b)) = problem.deps.iter().find(|(a, b)| place[a.index()] >= place[b.index()]) {
        return Err(format!("{b:?} runs before {a:?}"));
    }
    let mut left = vec![0; problem.buffers.len()];
    problem.ops.iter().flat_map(|op| &op.touches).for_each(|buffer| left[buffer.index()] += 1);
    let mut here: BTreeMap<BufferId, u64> = BTreeMap::new();
    let mut away = vec![false; problem.buffers.len()];
    let mut traffic = 0;
    for (step, event) in plan.events.iter().enumerate() {
        let arrives: Vec<(BufferId, u64)> = match event {
            Event::Op(op) => {
                let touches = problem.ops[op.index()].touches.iter();
                let new = touches.filter(|buffer| !here.contains_key(buffer) && !away[buffer.index()]);
                new.map(|buffer| (*buffer, plan.offsets[buffer.index()])).collect()
            }
            Event::In(spill) => {
                let spill = plan.spills[*spill as usize];
                if !std::mem::replace(&mut away[spill.buffer.index()], false) {
                    return Err(format!("step {step}: {:?} is not outside", spill.buffer));
                }
                vec![(spill.buffer, spill.offset)]
            }
            Event::Out(spill) => {
                let buffer = plan.spills[*spill as usize].buffer;
                traffic += problem.buffers[buffer.index()].cost();
                away[buffer.index()] = true;
                if here.remove(&buffer).is_none() {
                    return Err(format!("step {step}: {buffer:?} is not there"));
                }
                Vec::new()
            }
        };
        for (buffer, offset) in arrives {
            let info = problem.buffers[buffer.index()];
            let end = offset + info.size;
            let meets = |(other, start): (&BufferId, &u64)| {
                let other = problem.buffers[other.index()];
                other.pool == info.pool && *start < end && offset < start + other.size
            };
            if end > problem.pools[info.pool.index()].capacity || here.iter().any(meets) {
                return Err(format!("step {step}: {buffer:?} has no place at {offset}"));
            }
            here.insert(buffer, offset);
        }
        if let Event::Op(op) = event {
            for buffer in &problem.ops[op.index()].touches {
                left[buffer.index()] -= 1;
                if !here.contains_key(buffer) {
                    return Err(format!("step {step}: {buffer:?} is not there"));
                }
                if left[buffer.index()] == 0 {
                    here.remove(buffer);
                }
            }
        }
    }
    if !here.is_empty() || away.contains(&true) {
        return Err("something is left".to_owned());
    }
    if traffic == plan.traffic { Ok(()) } else { Err(format!("traffic {traffic}, not {}", plan.traffic)) }
}

#[test]
fn random_plans_keep_every_rule() {
    let (mut spilled, mut faster) = (0, 0);
    for seed in 0..120 {
        let problem = random(seed, 4 + seed as u32 % 40, 24);
        let plan = |objective| {
            let options = Options { objective, effort: 20_000 };
            let plan = solve(&problem, &[], &options).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
            judge(&problem, &plan).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
            plan
        };
        let (least, fast) = (plan(Objective::Traffic), plan(Objective::Makespan));
        assert!(least.traffic <= fast.traffic && fast.makespan <= least.makespan, "seed {seed}");
        spilled += usize::from(least.traffic > 0);
        faster += usize::from(fast.makespan < least.makespan);
        // The busiest pipe is never faster than its work.
        let work = |pipe| problem.ops.iter().filter(|op| op.pipe == pipe).map(|op| op.cycles).sum::<u64>();
        assert!(fast.makespan >= (0..3).map(work).max().unwrap_or(0));
    }
    assert!(spilled > 20 && faster > 0, "{spilled} spilled, {faster} faster: the problems are too easy");
}

#[test]
fn with_room_for_everything_nothing_is_spilled() {
    for seed in 0..20 {
        let mut problem = random(seed, 30, 1000);
        problem.pools[1].capacity = 1000;
        assert_eq!(solve(&problem, &[], &Options::default()).map(|plan| plan.traffic), Ok(0));
    }
}

/// Three buffers of which two fit, read again in the order in which they were made: of the first two one must leave and come back.
#[test]
fn the_cheaper_one_leaves() {
    let op = |touches: &[u32]| Op { touches: touches.iter().map(|b| BufferId(*b)).collect(), ..Op::default() };
    let buffer = |backed| Buffer { size: 4, pool: PoolId(0), backed };
    let problem = Problem {
        ops: vec![op(&[0]), op(&[1]), op(&[2]), op(&[0]), op(&[1])],
        deps: (0..4).map(|at| (OpId(at), OpId(at + 1))).collect(),
        buffers: vec![buffer(false), buffer(true), buffer(false)],
        pools: vec![Pool { capacity: 8, local: false }],
        in_pipe: 0,
        out_pipe: 0,
    };
    let plan = solve(&problem, &[], &Options::default()).expect("there is a plan");
    assert_eq!(judge(&problem, &plan), Ok(()));
    assert_eq!((plan.traffic, plan.spills.len()), (4, 1));
    assert_eq!(plan.spills[0].buffer, BufferId(1));
    // It is fetched from outside, where it still is: 2 * 4 + 150 cycles in, none out.
    assert_eq!(plan.makespan, 158);
}

#[test]
fn what_never_fits_is_named() {
    let mut problem = random(1, 5, 24);
    problem.pools[0].capacity = 0;
    let failure = solve(&problem, &[], &Options::default()).expect_err("nothing fits");
    let neap_spill::Failure::Problem(ProblemError::NeverFits { pool, .. }) = failure else { panic!("{failure}") };
    assert_eq!(pool, PoolId(0));
}

/// The same problem with its memories and the same effort gives the same plan.
#[test]
fn plans_are_deterministic() {
    let problem = random(5, 40, 24);
    let options = Options { objective: Objective::Makespan, effort: 50_000 };
    assert_eq!(solve(&problem, &[], &options), solve(&problem, &[], &options));
}
