//! What runtimes and other compilers do, re-implemented plainly: baselines, and models of packers that a plan must obey.
//!
//! **LiteRT** (`arena_planner`, `simple_memory_arena`; tensors that appear after an operation with a result of unknown shape wait for it): tensors held for the whole run first, in tensor order; then by size,
//! largest first, ties by first use. Each takes the gap that it fits best among those between placed tensors it is
//! live with. Offsets are multiples of 64; the arena ends at the highest end, which is not rounded. One detail decides
//! real arenas: a gap is *compared* by what lies above its aligned start, but *remembered* with the unaligned start, so
//! a later gap can win over an equal earlier one. Equal size and first use: by tensor.
//!
//! **TFLite Micro** (`greedy_memory_planner`): buffers with given offsets first; then by size, largest first; its sort
//! puts *later* buffers first among equals. Each takes the lowest gap. Sizes are rounded up to 16 bytes.
//!
//! **Hill climbing** (as ARM Vela and TVM's memory planner): first fit by size, then two bodies trade places in
//! the order, kept unless the height grows.

use std::cmp::Reverse;

use crate::fit::{self, Choice, Placement};
use crate::model::Model;
use crate::orders::body_traits;
use crate::outcome::{Method, Order};
use crate::rigid::Slot;
use crate::run::Run;
use crate::shelf::{Block, Shelf};

/// LiteRT's alignment of tensors in bytes.
const LITERT_ALIGN: i64 = 64;
/// TFLite Micro's alignment of buffers in bytes.
const TFLM_ALIGN: i64 = 16;

/// Runs one heuristic alone.
pub(crate) fn run(run: &mut Run<'_, '_>, model: &Model, method: Method) {
    match method {
        Method::FirstFit(order) | Method::Skyline(order) => fit(run, model, order, Choice::First),
        Method::BestFit(order) => fit(run, model, order, Choice::Best),
        Method::LiteRt => litert(run, model),
        Method::Tflm => tflm(run, model),
        Method::HillClimb => hill_climb(run, model),
        Method::Search | Method::Portfolio => {}
    }
}

/// First or best fit in `order`.
pub(crate) fn fit(run: &mut Run<'_, '_>, model: &Model, order: Order, choice: Choice) {
    run.nodes += model.bodies.len() as u64;
    let order = order.sorted(&body_traits(model));
    if let Some(placement) = fit::place(run.problem, model, &order, choice) {
        run.offer(placement.solution(run.problem, model));
    }
}

fn litert(run: &mut Run<'_, '_>, model: &Model) {
    let traits = body_traits(model);
    let held = |body: usize| model.bodies[body].members.iter().any(|(id, _)| run.problem.items()[id.index()].held);
    let mut order: Vec<usize> = (0..model.bodies.len()).collect();
    let round = |body: usize| {
        let rounds = model.bodies[body].members.iter().map(|(id, _)| run.problem.items()[id.index()].round);
        rounds.min().unwrap_or(0)
    };
    order.sort_by_key(|&body| match held(body) {
        true => (round(body), 0, Reverse(0), 0, body),
        false => (round(body), 1, Reverse(traits[body].size), traits[body].start, body),
    });
    in_order(run, model, &order, litert_gap);
}

fn litert_gap(slot: Slot, size: i64, blocks: &[Block]) -> i64 {
    let align = |x: i64| slot.at_least((x + LITERT_ALIGN - 1) / LITERT_ALIGN * LITERT_ALIGN);
    if size == 0 {
        return align(0);
    }
    let (mut current, mut best, mut best_fit) = (0, None, i64::MAX);
    for block in blocks {
        let other = block.low + size;
        let aligned = align(current);
        if aligned + size <= other && other - aligned < best_fit {
            best = Some(aligned);
            best_fit = other - current;
        }
        current = current.max(block.high);
        if best_fit == 0 {
            break;
        }
    }
    best.unwrap_or_else(|| align(current))
}

fn tflm(run: &mut Run<'_, '_>, model: &Model) {
    let mut order: Vec<usize> = (0..model.bodies.len()).collect();
    let rounded = |body: usize| round_up(model.bodies[body].extent, TFLM_ALIGN);
    order.sort_by_key(|&body| (Reverse(rounded(body)), Reverse(body)));
    in_order(run, model, &order, |slot, extent, blocks| {
        let wanted = round_up(extent, TFLM_ALIGN);
        let mut offset = slot.at_least(0);
        for block in blocks {
            if block.low + extent - offset >= wanted {
                break;
            }
            offset = offset.max(slot.at_least(round_up(block.high, TFLM_ALIGN)));
        }
        offset
    });
}

fn round_up(x: i64, to: i64) -> i64 {
    (x + to - 1) / to * to
}

/// Places fixed bodies, then the others in `order` where `rule` says, in the first region allowed.
fn in_order(run: &mut Run<'_, '_>, model: &Model, order: &[usize], rule: impl Fn(Slot, i64, &[Block]) -> i64) {
    run.nodes += order.len() as u64;
    let mut shelf = Shelf::new(model);
    for (body, one) in model.bodies.iter().enumerate() {
        if let Some(at) = one.fixed {
            if shelf.collision(body, one.slots[0].region, at).is_some() {
                return;
            }
            shelf.put(body, at, one.slots[0].region);
        }
    }
    for &body in order.iter().filter(|&&body| model.bodies[body].fixed.is_none()) {
        let slot = model.bodies[body].slots[0];
        shelf.gather(body, slot.region);
        let offset = rule(slot, model.bodies[body].extent, &shelf.blocked);
        // Gaps and relations, which these planners do not know, may forbid the place: then the next one that is free.
        let free = shelf
            .blocked
            .iter()
            .fold(offset, |at, b| if b.low < at && at < b.high { slot.at_least(b.high) } else { at });
        shelf.put(body, free, slot.region);
    }
    run.offer(Placement { offsets: shelf.offsets, regions: shelf.regions }.solution(run.problem, model));
}

fn hill_climb(run: &mut Run<'_, '_>, model: &Model) {
    let count = model.bodies.len() as u64;
    let mut order = Order::Size.sorted(&body_traits(model));
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut random = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below) as usize
    };
    let mut height = u64::MAX;
    while run.left() >= count.max(1) && !run.done() {
        let swap = (count > 1 && height < u64::MAX).then(|| (random(count), random(count)));
        swap.iter().for_each(|&(a, b)| order.swap(a, b));
        run.nodes += count;
        let Some(placement) = fit::place(run.problem, model, &order, Choice::First) else { return };
        let solution = placement.solution(run.problem, model);
        let now = solution.heights(run.problem).iter().sum();
        if now > height {
            swap.iter().for_each(|&(a, b)| order.swap(a, b));
        } else {
            height = now;
            run.offer(solution);
        }
        if count < 2 {
            return;
        }
    }
}
