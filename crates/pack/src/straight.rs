//! Plain problems: skylines, ejection, exact search, in the order of what they cost.

use crate::core::{self, Core};
use crate::corner::restart::{Answer, Restarts};
use crate::eject::Ejector;
use crate::fit::Placement;
use crate::general;
use crate::model::Model;
use crate::orders::body_traits;
use crate::outcome::{Goal, Infeasible, Method, Options, Order, Outcome, Watch};
use crate::peers;
use crate::plain::Plain;
use crate::problem::{ItemId, Problem, RegionId};
use crate::run::Run;
use crate::skyline;

/// Up to this many items the exact search takes the problem as a whole at once.
const SMALL: usize = 600;
/// Above this many items a core is no longer tried.
const LARGE_CORE: usize = 3_000;
/// Above this many items few skylines are made.
const MANY: usize = 50_000;
/// Above this many pairs that share a section, nothing that lists them is run.
const MANY_PAIRS: u64 = 400_000_000;
/// Heights below the best that a sweep looks at, at most.
const MOST_SWEPT: usize = 200;
/// The same for the exact search, which keeps them in memory.
const EXACT_PAIRS: u64 = 4_000_000;

/// Solves a plain problem.
pub(crate) fn solve(problem: &Problem, plain: &Plain, options: &Options, watch: &mut Watch<'_>) -> Outcome {
    let mut run = Run::new(problem, options, watch, plain.lower_bound);
    run.infeasible = overload(problem, plain);
    match options.method {
        Method::Search => search(&mut run, plain),
        Method::Portfolio => {
            skylines(&mut run, plain);
            noisy(&mut run, plain);
        }
        Method::Skyline(order) => sky(&mut run, plain, order),
        method => peers::run(&mut run, &Model::new(problem), method),
    }
    run.outcome()
}

/// The proof that the load of a step, or an item alone, exceeds the capacity, naming what is live there.
fn overload(problem: &Problem, plain: &Plain) -> Option<Infeasible> {
    let available = problem.regions()[0].capacity.filter(|&bytes| bytes < plain.lower_bound)?;
    let needed = plain.lower_bound;
    let size = |id: &ItemId| problem.items()[id.index()].size;
    let Some(section) = plain.bound.iter().position(|&bytes| bytes == needed) else {
        // An item that is live in no step.
        let item = (0..problem.items().len() as u32).map(ItemId).max_by_key(size)?;
        return Some(Infeasible::TooLarge { item, needed, available });
    };
    let live = |index: &usize| (plain.from[*index] as usize..plain.to[*index] as usize).contains(&section);
    let items: Vec<ItemId> = (0..plain.len()).filter(live).map(|index| ItemId(plain.items[index])).collect();
    Some(match items[..] {
        [item] => Infeasible::TooLarge { item, needed, available },
        _ => Infeasible::Load { step: plain.sections.steps[section], items, needed, available },
    })
}

fn search(run: &mut Run<'_, '_>, plain: &Plain) {
    skylines(run, plain);
    if plain.len() > SMALL {
        noisy(run, plain);
    }
    if run.done() {
        return;
    }
    let pairs = plain.pairs();
    let goal = goal(run);
    if plain.len() > MANY && run.left() < 40 * plain.len() as u64 {
        // Too few nodes for more than a repair of the highest places.
        if pairs <= MANY_PAIRS {
            let height = run.height().unwrap_or(0);
            let goal = height - height.saturating_sub(run.lower_bound) / 8;
            eject(run, plain, goal, plain.len() as u64 / 10);
        }
        run.limit_hit |= !run.done();
        return;
    }
    if pairs <= MANY_PAIRS && plain.len() > SMALL {
        cores(run, plain, goal);
    }
    if run.done() {
        return;
    }
    let exact = (pairs <= EXACT_PAIRS).then(|| Restarts::new(plain));
    let mut exact = match exact {
        Some(exact) if plain.len() <= SMALL => Some(exact.with_finest(plain.finest(run.problem))),
        other => other,
    };
    if let Some(exact) = &mut exact {
        let fit = run.options.goal == Goal::Fit;
        let share = (200 * plain.len() as u64 + 50_000).min(run.left() / 2);
        if !ask(run, plain, exact, goal, share) && fit {
            ask_finest(run, plain, exact, goal, 100 * plain.len() as u64);
            let half = run.left() / 2;
            if !run.done() {
                ask(run, plain, exact, goal, half);
            }
        }
    }
    if plain.len() <= SMALL {
        noisy(run, plain);
    }
    if pairs <= MANY_PAIRS && !run.done() {
        let floor = run.lower_bound;
        eject(run, plain, floor, (20 * plain.len() as u64).clamp(20_000, 400_000).min(run.left() / 2));
    }
    match &mut exact {
        Some(exact) if run.options.goal == Goal::Fit && !run.done() => {
            let left = run.left();
            ask(run, plain, exact, goal, left);
        }
        Some(exact) => ladder(run, plain, exact),
        None => {}
    }
    run.limit_hit |= !run.done();
}

/// The capacity, in bytes, that is asked for first: the one given, or the floor.
fn goal(run: &Run<'_, '_>) -> u64 {
    match run.problem.regions()[0].capacity {
        Some(bytes) if run.options.goal == Goal::Fit => bytes,
        _ => run.lower_bound,
    }
}

fn filled(run: &mut Run<'_, '_>, plain: &Plain, ranked: &[u32]) {
    let (offsets, _) = skyline::fill(plain, ranked);
    run.nodes += plain.len() as u64;
    run.offer(plain.solution(run.problem, &offsets));
}

fn sky(run: &mut Run<'_, '_>, plain: &Plain, order: Order) {
    let (offsets, _) = skyline::skyline(plain, order);
    run.nodes += plain.len() as u64;
    run.offer(plain.solution(run.problem, &offsets));
}

/// Skylines by several orders.
fn skylines(run: &mut Run<'_, '_>, plain: &Plain) {
    let (orders, blends): (&[Order], &[(u64, u64)]) = match plain.len() {
        0..=20_000 => (
            &[Order::Area, Order::Temporal, Order::Load, Order::Size, Order::Life],
            &[(77, 0), (54, 16), (54, 0), (64, 16)],
        ),
        20_001..=50_000 => (&[Order::Area], &[(54, 16)]),
        // Repairs pay more than further orders, until there is too much to list.
        50_001..=200_000 => (&[Order::Area], &[]),
        _ => (&[Order::Area], &[(68, 0), (77, 0), (90, 0)]),
    };
    for &order in orders {
        sky(run, plain, order);
        if run.done() {
            return;
        }
    }
    for &(power, shift) in blends {
        filled(run, plain, &skyline::blended(plain, power, shift));
        if run.done() {
            return;
        }
    }
}

/// Skylines by area with noise, as many as some ten thousand items' work allows.
fn noisy(run: &mut Run<'_, '_>, plain: &Plain) {
    let rounds = (10_000 / plain.len().max(1)).min(40) as u64;
    for seed in 0..rounds {
        if run.done() {
            return;
        }
        filled(run, plain, &skyline::noisy(plain, seed));
    }
}

/// Tries cores of falling fullness at `goal` bytes, from tiny ones upwards, while they are small enough to pay.
fn cores(run: &mut Run<'_, '_>, plain: &Plain, goal: u64) {
    let model = Model::new(run.problem);
    let by_area = Order::Area.sorted(&body_traits(&model));
    let mut ejector = Ejector::new(&model);
    let mut before = 0;
    for threshold in core::THRESHOLDS {
        let keep = core::items(plain, goal, threshold);
        if run.done() || keep.len() > LARGE_CORE {
            return;
        }
        if keep.len() == before || keep.is_empty() {
            continue;
        }
        before = keep.len();
        let nodes = (20 * keep.len() as u64 + 5_000).min(run.left() / 4);
        let (answer, spent) = core::solve(
            plain,
            &keep,
            goal,
            nodes,
            &mut ejector,
            &by_area,
            (4 * plain.len() as u64).min(run.left() / 4),
        );
        run.nodes += spent;
        match answer {
            Core::Whole(placement) => run.offer(placement.solution(run.problem, &model)),
            Core::Exhausted => return exhausted(run, plain, goal),
            Core::Open => {}
        }
    }
}

/// Asks the exact search for `capacity` bytes and books the answer. Returns whether it was settled, either way.
fn ask(run: &mut Run<'_, '_>, plain: &Plain, exact: &mut Restarts<'_>, capacity: u64, nodes: u64) -> bool {
    // A node looks at every section of its part: in long problems it counts for more.
    let cost = 1 + plain.sections.count() as u64 / 1_000;
    let before = exact.nodes();
    let answer = exact.ask(capacity, nodes / cost + 1, &mut |now| run.stop((now - before) * cost));
    run.nodes += (exact.nodes() - before) * cost;
    book(run, plain, capacity, answer)
}

/// The same of the search over the finest sections.
fn ask_finest(run: &mut Run<'_, '_>, plain: &Plain, exact: &mut Restarts<'_>, capacity: u64, nodes: u64) -> bool {
    let before = exact.nodes();
    let answer = exact.ask_finest(capacity, nodes);
    run.nodes += exact.nodes() - before;
    book(run, plain, capacity, answer)
}

/// Books an answer. Returns whether the question was settled.
fn book(run: &mut Run<'_, '_>, plain: &Plain, capacity: u64, answer: Answer) -> bool {
    match answer {
        Answer::Found(offsets) => run.offer(plain.solution(run.problem, &offsets)),
        Answer::Exhausted => exhausted(run, plain, capacity),
        Answer::Limit => return false,
    }
    true
}

/// No packing is within `capacity` bytes, so the least possible height is the next one that is a sum of units less a slack.
fn exhausted(run: &mut Run<'_, '_>, plain: &Plain, capacity: u64) {
    run.lower_bound = run.lower_bound.max(Heights::new(plain).above(capacity));
    if let Some(available) = run.problem.regions()[0].capacity.filter(|&bytes| bytes <= capacity) {
        run.infeasible = Some(Infeasible::Exhausted { floor: plain.lower_bound, available });
    }
}

/// Rounds with budgets that double: half of it for the lowest height that is not disproved, the rest to bisect between
/// that and the best; what was not settled within its share counts as impossible until the next round. Whether a height is
/// reached is erratic near the least one, so each round ends with a short look at every height below the best.
fn ladder(run: &mut Run<'_, '_>, plain: &Plain, exact: &mut Restarts<'_>) {
    let heights = Heights::new(plain);
    let mut budget = 200 * plain.len() as u64 + 100_000;
    while !run.done() && run.left() > 0 {
        let mut low = run.lower_bound;
        ask(run, plain, exact, low, (budget / 2).min(run.left()));
        while !run.done() && run.left() > 0 {
            let best = run.height().unwrap_or(u64::MAX / 2);
            let next = heights.above(low);
            if next >= best {
                break;
            }
            let capacity = next + (heights.below(best) - next) / 2;
            if !ask(run, plain, exact, heights.below(capacity + 1), (budget / 6).min(run.left())) {
                low = capacity;
            }
            low = low.max(run.lower_bound.saturating_sub(1));
        }
        sweep(run, plain, exact, &heights, budget / 2);
        budget *= 2;
    }
}

/// Looks at every height below the best over the finest sections, lowest first.
fn sweep(run: &mut Run<'_, '_>, plain: &Plain, exact: &mut Restarts<'_>, heights: &Heights, budget: u64) {
    let best = run.height().unwrap_or(0);
    let mut between = Vec::new();
    let mut height = heights.above(run.lower_bound);
    while height < best && between.len() < MOST_SWEPT {
        between.push(height);
        height = heights.above(height);
    }
    let nodes = (budget / between.len().max(1) as u64).max(60 * plain.len() as u64);
    for height in between {
        if run.done() || run.left() == 0 || run.stop(0) {
            return;
        }
        if height > run.lower_bound && height < run.height().unwrap_or(0) {
            ask_finest(run, plain, exact, height, nodes.min(run.left()));
        }
    }
}

/// The heights that a packing can have: sums of units, less the slack of the topmost item.
struct Heights {
    unit: u64,
    slacks: Vec<u64>,
}

impl Heights {
    fn new(plain: &Plain) -> Heights {
        Heights { unit: plain.unit, slacks: plain.slacks() }
    }

    /// The least height above `bytes`.
    fn above(&self, bytes: u64) -> u64 {
        let next = |slack: &u64| ((bytes + slack) / self.unit + 1) * self.unit - slack;
        self.slacks.iter().map(next).min().unwrap_or(bytes + 1)
    }

    /// The greatest height below `bytes`, which is above 0.
    fn below(&self, bytes: u64) -> u64 {
        let next = |slack: &u64| ((bytes - 1 + slack) / self.unit * self.unit).saturating_sub(*slack);
        self.slacks.iter().map(next).max().unwrap_or(bytes - 1)
    }
}

/// Ejection towards `goal` bytes, then by bisection between what was not reached and the best.
fn eject(run: &mut Run<'_, '_>, plain: &Plain, goal: u64, moves: u64) {
    let model = Model::new(run.problem);
    if let Some(start) = run.best_placement(&model) {
        general::descend(run, &model, &mut Ejector::new(&model), start, plain.unit, goal, moves);
    }
}

impl Run<'_, '_> {
    /// The best solution as a placement of bodies.
    pub(crate) fn best_placement(&self, model: &Model) -> Option<Placement> {
        let solution = self.best_solution()?;
        let first = |body: usize| model.bodies[body].members[0];
        let place = |body: usize| solution.places[first(body).0.index()];
        let offsets = (0..model.bodies.len()).map(|body| place(body).offset as i64 - first(body).1).collect();
        let regions: Vec<RegionId> = (0..model.bodies.len()).map(|body| place(body).region).collect();
        Some(Placement { offsets, regions })
    }
}
