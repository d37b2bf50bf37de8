//! Problems with gaps, fixed offsets, relations, mixed alignments or several regions.
//!
//! Fits in every order, skylines where rounding all sizes up to one alignment is all that is in the way, ejection,
//! and for small problems the exact search of [`crate::disjunct`].

use crate::disjunct::{self, Answer};
use crate::eject::Ejector;
use crate::fit::{self, Choice, Placement};
use crate::load;
use crate::model::Model;
use crate::outcome::{Goal, Infeasible, Method, Options, Order, Outcome, Watch};
use crate::peers;
use crate::plain::Plain;
use crate::problem::{Problem, lcm};
use crate::run::Run;
use crate::skyline;

/// Above this many bodies the exact search is not tried.
const EXACT_BODIES: usize = 400;
/// Above this many bodies only two orders are tried.
const MANY_BODIES: usize = 20_000;

/// Solves any problem.
pub(crate) fn solve(problem: &Problem, options: &Options, watch: &mut Watch<'_>) -> Outcome {
    let model = Model::new(problem);
    let mut run = Run::new(problem, options, watch, load::lower_bound(problem, &model));
    run.infeasible = load::infeasible(problem, &model).or_else(|| fit::fixed_conflict(&model));
    match options.method {
        // Placing bodies cannot help where one overlaps itself, or two are fixed on each other.
        _ if matches!(run.infeasible, Some(Infeasible::Conflict { .. })) => {}
        Method::Search | Method::Portfolio => {
            heuristics(&mut run, &model);
            if options.method == Method::Search && !run.done() {
                search(&mut run, &model);
            }
        }
        Method::Skyline(order) => peers::run(&mut run, &model, Method::FirstFit(order)),
        method => peers::run(&mut run, &model, method),
    }
    run.outcome()
}

fn heuristics(run: &mut Run<'_, '_>, model: &Model) {
    if run.problem.items().iter().any(|item| item.hint.is_some()) {
        hinted(run, model);
    }
    let few: &[Order] = if model.bodies.len() > MANY_BODIES { &[Order::Area, Order::Size] } else { &Order::ALL };
    for &order in few {
        for choice in [Choice::First, Choice::Best] {
            // Even where nothing fits, one placement shows by how much.
            if run.best_solution().is_none() || !run.done() {
                peers::fit(run, model, order, choice);
            }
        }
    }
    if !run.done() {
        rounded(run);
    }
}

/// First fit in the order of the offsets that the caller hopes for.
fn hinted(run: &mut Run<'_, '_>, model: &Model) {
    let hint = |&body: &u32| {
        model.bodies[body as usize].members.iter().find_map(|(id, _)| run.problem.items()[id.index()].hint)
    };
    let mut order: Vec<u32> = (0..model.bodies.len() as u32).collect();
    order.sort_by_key(|body| (hint(body).unwrap_or(u64::MAX), *body));
    if let Some(placement) = fit::place(run.problem, model, &order, Choice::First) {
        run.offer(placement.solution(run.problem, model));
    }
}

/// Where alignments differ and nothing else is special, all sizes rounded up to a common multiple make a plain problem.
fn rounded(run: &mut Run<'_, '_>) {
    let problem = run.problem;
    let special = problem.items().iter().any(|item| item.fixed.is_some() || !item.gaps.is_empty());
    if special || problem.regions().len() > 1 || !problem.distances().is_empty() || !problem.apart().is_empty() {
        return;
    }
    let align = problem.items().iter().try_fold(problem.regions()[0].align, |align, item| lcm(align, item.align));
    let total = problem.items().len() as u64;
    let Some(align) = align.filter(|align| align.checked_mul(total + 1).is_some_and(|sum| sum < 1 << 60)) else {
        return;
    };
    let plain = Plain::with_align(problem, align);
    for order in [Order::Area, Order::Temporal, Order::Size] {
        let (offsets, _) = skyline::skyline(&plain, order);
        run.nodes += plain.len() as u64;
        run.offer(plain.solution(problem, &offsets));
    }
}

fn search(run: &mut Run<'_, '_>, model: &Model) {
    let moves = (20 * model.bodies.len() as u64).clamp(2_000, 400_000).min(run.left() / 2);
    if let Some(start) = run.best_placement(model) {
        let floor = run.lower_bound;
        descend(run, model, &mut Ejector::new(model), start, 1, floor, moves);
    }
    if model.bodies.len() <= EXACT_BODIES && model.pieces.len() <= 8 * EXACT_BODIES {
        exact(run, model);
    }
    run.limit_hit |= !run.done();
}

/// Ejection towards `goal` bytes (or the capacities), then by bisection between what was not reached and the best.
pub(crate) fn descend(
    run: &mut Run<'_, '_>,
    model: &Model,
    ejector: &mut Ejector<'_>,
    start: Placement,
    unit: u64,
    goal: u64,
    moves: u64,
) {
    let regions = run.problem.regions();
    let room = |bytes: Option<u64>| bytes.map_or(i64::MAX / 4, |bytes| bytes as i64);
    let rooms: Vec<i64> = regions.iter().map(|region| room(region.capacity)).collect();
    let by_capacity = rooms.len() > 1 || run.options.goal == Goal::Fit && regions[0].capacity.is_some();
    let (mut current, mut goal, mut missed) = (start, goal, run.lower_bound.saturating_sub(1));
    let mut share = moves / 2;
    let stop = ejector.moves + 2 * moves;
    while !run.done() && share > 0 && ejector.moves < stop {
        let target = if goal <= run.lower_bound { run.lower_bound } else { goal.div_ceil(unit) * unit };
        let goals = if by_capacity { rooms.clone() } else { vec![target as i64] };
        if !by_capacity && target >= run.height().unwrap_or(0) {
            return;
        }
        let before = ejector.moves;
        let reached = ejector.reach(&current, &goals, share);
        run.nodes += ejector.moves - before;
        if reached.is_none() {
            missed = missed.max(target);
            share = share.min(moves / 12);
        }
        let placement = reached.unwrap_or_else(|| ejector.leftover());
        run.offer(placement.solution(run.problem, model));
        if by_capacity {
            return;
        }
        current = run.best_placement(model).unwrap_or(placement);
        goal = missed + run.height().unwrap_or(0).saturating_sub(missed).div_ceil(2);
    }
}

/// The exact search, from the lower bound upwards and from the best downwards.
fn exact(run: &mut Run<'_, '_>, model: &Model) {
    let regions = run.problem.regions();
    if regions.len() > 1 || run.options.goal == Goal::Fit && regions[0].capacity.is_some() {
        let room: Vec<Option<u64>> = regions.iter().map(|region| region.capacity).collect();
        if !run.fits() && room.iter().any(Option::is_some) {
            let available = room.iter().map(|bytes| bytes.unwrap_or(u64::MAX / 8)).sum();
            ask(run, model, &room, available);
        }
        return;
    }
    let mut budget = 20_000;
    let mut low = run.lower_bound; // heights below are proved, or given up for this round
    while !run.done() && run.left() > 0 {
        let height = run.height().unwrap_or(u64::MAX / 8);
        if low >= height {
            low = run.lower_bound;
            budget *= 4;
        }
        let capacity = low + (height - 1 - low) / 3;
        let limit = budget.min(run.left());
        if !ask_within(run, model, &[Some(capacity)], capacity, limit) || run.lower_bound > capacity {
            low = capacity + 1;
        }
    }
}

fn ask(run: &mut Run<'_, '_>, model: &Model, room: &[Option<u64>], available: u64) {
    let limit = run.left();
    ask_within(run, model, room, available, limit);
}

/// Asks whether everything fits into `room`; books the answer. Returns whether there was one.
fn ask_within(run: &mut Run<'_, '_>, model: &Model, room: &[Option<u64>], available: u64, limit: u64) -> bool {
    let mut search = disjunct::Search::new(model, room);
    let answer = search.run(limit, &mut |nodes| run.stop(nodes));
    run.nodes += search.nodes;
    match answer {
        Answer::Found(placement) => run.offer(placement.solution(run.problem, model)),
        Answer::Exhausted => {
            if room.len() == 1 {
                run.lower_bound = run.lower_bound.max(available + 1);
            }
            let asked = run.problem.regions().iter().map(|region| region.capacity);
            let implied = room.len() > 1 || asked.flatten().next().is_some_and(|bytes| bytes <= available);
            if implied
                && run.infeasible.is_none()
                && run.problem.regions().iter().any(|region| region.capacity.is_some())
            {
                let capacity = run.problem.regions().iter().map(|r| r.capacity.unwrap_or(u64::MAX / 8)).sum();
                let floor = run.lower_bound.min(capacity);
                run.infeasible = Some(Infeasible::Exhausted { floor, available: capacity });
            }
        }
        Answer::Limit => return false,
    }
    true
}
