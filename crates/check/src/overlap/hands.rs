//! What bodies hand out: to the results of the operation around them, and in a loop to the next trip.
//!
//! Values go to their places one after the other, so no place may hold what still has to be handed out. Only the value itself may lie there
//! already, from its first byte on: then nothing is copied.

use crate::homes::{Home, Homes};
use crate::names;
use crate::violation::Violation;
use neap_ir::facts::{Role, Run};
use neap_ir::{BlockId, OpId, ValueId, plan};
use std::collections::BTreeMap;

/// Values that go to places, by index.
pub(crate) struct Hand {
    around: OpId,
    last: OpId,
    values: Vec<ValueId>,
    places: Vec<Option<ValueId>>,
}

/// Where the last operation of a body hands its values.
pub(crate) fn hands(homes: &Homes<'_>, last: OpId) -> Vec<Hand> {
    let m = homes.module;
    let Some(around) = m.parent_op(last) else { return Vec::new() };
    let body = &homes.row(around).body;
    let results: Vec<Option<ValueId>> = m.data_results(around).iter().copied().map(Some).collect();
    let values = |skip: usize| m.data_operands(last).skip(skip).collect::<Vec<_>>();
    let hand = |values: Vec<ValueId>, places: Vec<Option<ValueId>>| Hand { around, last, values, places };
    if body.run != Run::Loop {
        return vec![hand(values(body.yield_lead), results)];
    }
    let carried = |block: &BlockId| -> Vec<Option<ValueId>> {
        let args = m.block_args(*block).iter().skip(body.lead);
        args.map(|arg| Some(*arg).filter(|arg| !homes.views.contains_key(arg))).collect()
    };
    let blocks: Vec<BlockId> = m.op_regions(around).iter().flat_map(|region| m.blocks(*region)).copied().collect();
    let here = m.parent_block(last);
    let deciding = body.cond.and_then(|at| m.region_blocks(around, at).first().copied());
    if here == deciding && deciding.is_some() {
        if body.cond_forwards {
            let others = blocks.iter().filter(|block| Some(**block) != here).map(carried);
            return others.chain([results]).map(|places| hand(values(1), places)).collect();
        }
        // What is carried when the loop ends becomes the results.
        let args = here.map(|block| m.block_args(block).iter().skip(body.lead).copied().collect()).unwrap_or_default();
        return vec![hand(args, results)];
    }
    let next = blocks.iter().map(carried);
    let ends = deciding.is_none().then_some(results);
    next.chain(ends).map(|places| hand(values(body.yield_lead), places)).collect()
}

/// Checks that what a trip begins with is all there: arguments with bytes of their own do not meet, be they read or not. Those of all bodies begin
/// together, unless one of them hands on what the others begin with; the same one of two bodies may be the same bytes.
pub(crate) fn arguments(homes: &Homes<'_>, op: OpId, step: u32, out: &mut Vec<Violation>) {
    let m = homes.module;
    let body = &homes.row(op).body;
    let together = body.cond.is_some() && !body.cond_forwards;
    // By arena and start; those that are kept do not meet.
    let mut begun: BTreeMap<(usize, u64), (usize, ValueId, Home)> = BTreeMap::new();
    for block in m.op_regions(op).iter().flat_map(|region| m.blocks(*region)) {
        if !together {
            begun.clear();
        }
        for (index, arg) in m.block_args(*block).iter().enumerate() {
            let own = |home: &&Home| home.size > 0 && !homes.views.contains_key(arg);
            let Some(home) = homes.of(*arg).filter(own) else { continue };
            let last = begun.range(..(home.arena, home.end())).next_back();
            let Some((_, (at, other, place))) = last.filter(|(_, (_, _, place))| place.meets(home)) else {
                begun.insert((home.arena, home.start), (index, *arg, *home));
                continue;
            };
            if (*at, place.start, place.size) == (index, home.start, home.size) {
                continue;
            }
            let (start, end) = (place.start.max(home.start), place.end().min(home.end()));
            let range = homes.range(&Home { start, size: end - start, ..*home });
            let (function, op, span) = (homes.function(), names::op(m, op), m.op(op).span);
            let (written, other) = (names::value(m, *arg), names::value(m, *other));
            let why = "a trip begins with both".to_owned();
            out.push(Violation::Overlap { function, op, step, written, other, range, why, span });
        }
    }
}

/// Checks that values reach their places whole.
pub(crate) fn handing_out(homes: &Homes<'_>, hand: &Hand, step: u32, out: &mut Vec<Violation>) {
    let m = homes.module;
    for (at, place) in hand.places.iter().enumerate() {
        let Some((place, to)) = place.and_then(|place| Some((place, homes.of(place)?))) else { continue };
        for (other, value) in hand.values.iter().enumerate() {
            // Arguments that go to each other's places are exchanged: in an order that works, or through a spare buffer.
            let meets = |from: &&Home| *value != place && from.meets(to);
            let Some(from) = homes.of(*value).filter(meets) else { continue };
            if at == other && from.start == to.start {
                continue;
            }
            let (start, end) = (from.start.max(to.start), from.end().min(to.end()));
            let range = homes.range(&Home { start, size: end - start, ..*to });
            let (function, op, span) = (homes.function(), names::op(m, hand.around), m.op(hand.last).span);
            let (written, other) = (names::value(m, place), names::value(m, *value));
            let why = "it is still to be handed out".to_owned();
            out.push(Violation::Overlap { function, op, step, written, other, range, why, span });
        }
    }
    for (result, value) in handed_over(homes, hand.last) {
        let (at, to, from) = match (homes.of(result), homes.of(value)) {
            (Some(to), from) => (result, to, from),
            (None, Some(from)) => (value, from, None),
            (None, None) => continue,
        };
        if from.is_none_or(|from| (to.arena, to.start) != (from.arena, from.start)) {
            let (function, op, span) = (homes.function(), names::op(m, hand.last), m.op(hand.last).span);
            let (value, range, expected) = (names::value(m, at), homes.range(to), from.map(|from| from.start));
            out.push(Violation::Elsewhere { function, op, attribute: plan::HANDED, value, range, expected, span });
        }
    }
}

/// Whether a result of a loop holds a piece of every trip, rather than what was carried last.
pub(crate) fn gathered(homes: &Homes<'_>, op: OpId, result: usize) -> bool {
    let body = &homes.row(op).body;
    let carried = || body.args.below(homes.module.data_operands(op).count()).count();
    body.run == Run::Loop && !body.cond_forwards && result >= carried()
}

/// Results that a body's last operation declares to lie where its values lie: the result and the value.
pub(crate) fn handed_over(homes: &Homes<'_>, last: OpId) -> Vec<(ValueId, ValueId)> {
    let m = homes.module;
    let hands =
        m.attr(last, plan::HANDED).is_some() && homes.row(last).role == Role::Yield && m.op(last).next().is_none();
    let Some(around) = m.parent_op(last).filter(|_| hands) else { return Vec::new() };
    let lead = homes.row(around).body.yield_lead;
    let pair = |index: u32| {
        let value = m.data_operands(last).nth(lead + index as usize)?;
        Some((*m.data_results(around).get(index as usize)?, value))
    };
    m.handed(last).into_iter().filter_map(pair).collect()
}
