//! What bodies hand out: to the results of the operation around them, and in a loop to the next trip; and what a loop begins with.
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

/// Where a loop hands what its first trip begins with: operands to the arguments bound to them. The other arguments, counters of trips, are written then, too.
pub(crate) fn entries(homes: &Homes<'_>, op: OpId) -> Vec<Hand> {
    let m = homes.module;
    let body = &homes.row(op).body;
    let all: Vec<ValueId> = m.data_operands(op).collect();
    let values: Vec<ValueId> = body.args.below(all.len()).map(|at| all[at]).collect();
    let blocks = m.op_regions(op).iter().filter_map(|region| m.blocks(*region).first().copied());
    // Where the deciding body hands on what the other begins with, only the first one begins with operands.
    let begin = blocks.take(if body.cond_forwards { 1 } else { usize::MAX });
    let hand = |block: BlockId| {
        let own = |arg: &ValueId| Some(*arg).filter(|arg| !homes.views.contains_key(arg));
        let (lead, bound) = m.block_args(block).split_at(body.lead.min(m.block_args(block).len()));
        let mut places: Vec<Option<ValueId>> = bound.iter().take(values.len()).map(own).collect();
        places.resize(values.len(), None);
        places.extend(lead.iter().map(own));
        Hand { around: op, last: op, values: values.clone(), places }
    };
    begin.map(hand).collect()
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
    let leaving = Leaving::new(homes, &hand.values);
    for (at, place) in hand.places.iter().enumerate() {
        let Some((place, to)) = place.and_then(|place| Some((place, homes.of(place)?))) else { continue };
        if let Some((value, from)) = leaving.lost(to, place, at) {
            let (start, end) = (from.start.max(to.start), from.end().min(to.end()));
            let range = homes.range(&Home { start, size: end - start, ..*to });
            let (function, op, span) = (homes.function(), names::op(m, hand.around), m.op(hand.last).span);
            let (written, other) = (names::value(m, place), names::value(m, value));
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

/// Values that still have to be handed out, each once, by where they start.
struct Leaving {
    values: Vec<(Home, ValueId, Option<usize>)>,
    /// By place in the list: of all up to it and in its arena, the three that reach furthest.
    furthest: Vec<[Option<u32>; 3]>,
}

impl Leaving {
    fn new(homes: &Homes<'_>, values: &[ValueId]) -> Leaving {
        let mut index: BTreeMap<ValueId, Option<usize>> = BTreeMap::new();
        for (at, value) in values.iter().enumerate() {
            // What goes to several places has none that is its own.
            index.entry(*value).and_modify(|only| *only = None).or_insert(Some(at));
        }
        let own = |(value, only): (ValueId, Option<usize>)| Some((*homes.of(value)?, value, only));
        let mut values: Vec<_> = index.into_iter().filter_map(own).filter(|(home, ..)| home.size > 0).collect();
        values.sort_by_key(|(home, value, _)| (home.arena, home.start, *value));
        let mut furthest: Vec<[Option<u32>; 3]> = Vec::with_capacity(values.len());
        for (at, (home, ..)) in values.iter().enumerate() {
            let before = furthest.last().filter(|_| values[at - 1].0.arena == home.arena).copied().unwrap_or_default();
            let mut all: Vec<u32> = before.into_iter().flatten().chain([at as u32]).collect();
            all.sort_by_key(|other| (std::cmp::Reverse(values[*other as usize].0.end()), *other));
            furthest.push([0, 1, 2].map(|rank| all.get(rank).copied()));
        }
        Leaving { values, furthest }
    }

    /// A value that would be lost when the place of index `at` is written: one that lies there and is neither the one that belongs there nor the
    /// place itself. These are two at most, so of what starts before the place ends three are enough.
    fn lost(&self, to: &Home, place: ValueId, at: usize) -> Option<(ValueId, &Home)> {
        let before = self.values.partition_point(|(home, ..)| {
            neap_ir::work::count(1);
            (home.arena, home.start) < (to.arena, to.end())
        });
        let reaching = self.furthest.get(before.checked_sub(1)?)?;
        let lost = |other: &&u32| {
            let (home, value, only) = &self.values[**other as usize];
            // Arguments that go to each other's places are exchanged: in an order that works, or through a spare buffer.
            let may = *value == place || (*only == Some(at) && home.start == to.start);
            home.meets(to) && !may
        };
        let found = reaching.iter().flatten().find(lost)?;
        let (home, value, _) = &self.values[*found as usize];
        Some((*value, home))
    }
}

/// Whether a result of a loop holds a piece of every trip, rather than what was carried last.
pub(crate) fn gathered(homes: &Homes<'_>, op: OpId, result: usize) -> bool {
    let body = &homes.row(op).body;
    let carried = || body.args.below(homes.module.data_operand_count(op)).count();
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
        let value = m.data_operand(last, lead + index as usize)?;
        Some((*m.data_results(around).get(index as usize)?, value))
    };
    m.handed(last).into_iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::Calls;
    use neap_ir::facts::Facts;
    use std::fmt::Write;

    /// A loop that hands on so many values, of which some lie where others have to go; how many are said to be lost, and the work of it.
    fn handed(count: usize, meeting: usize) -> (usize, u64) {
        let ty = "tensor<1xi8>";
        let list = |name: &str| (0..count).map(|at| format!("%{name}{at}")).collect::<Vec<_>>().join(", ");
        let args: String = (0..count).map(|at| format!(", %c{at}: {ty}")).collect();
        let types = vec![ty; count].join(", ");
        let offsets = |from: usize| (0..count).map(|at| (from + at).to_string()).collect::<Vec<_>>().join(", ");
        let mut text = format!(
            "func.func @main(%n: index, %x: {ty}) {{\n  %r:{count} = \"neap.for\"(%n{}) ({{\n",
            ", %x".repeat(count)
        );
        let _ = writeln!(text, "  ^bb0(%i: index{args}):");
        for at in 0..count {
            // What meets a place lies in the next argument's.
            let offset = if at < meeting { at + 1 } else { count + at };
            let _ = writeln!(
                text,
                "    %y{at} = \"neap.opaque\"(%x) {{kind = {at}, neap.offsets = array<i64: {offset}>}} : ({ty}) -> {ty}"
            );
        }
        let _ = writeln!(text, "    \"neap.yield\"({}) : ({types}) -> ()", list("y"));
        let _ = writeln!(
            text,
            "  }}) {{neap.arg_offsets = array<i64: -1, {}>, neap.offsets = array<i64: {}>}} : (index, {types}) -> ({types})\n  return\n}}",
            offsets(0),
            offsets(2 * count),
        );
        let module = neap_ir::parse(&text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
        let facts = Facts::builtin();
        let calls = Calls::of(&module, &facts).unwrap_or_else(|circle| panic!("{circle:?}"));
        let homes = Homes::new(&calls, module.functions()[0], &crate::sizes::UPPER);
        let last = module.walk(module.top()).into_iter().find(|op| module.op_name(*op) == "neap.yield");
        let all = hands(&homes, last.expect("the loop has an end"));
        let (before, mut out) = (neap_ir::work::counted(), Vec::new());
        all.iter().for_each(|hand| handing_out(&homes, hand, 0, &mut out));
        let work = neap_ir::work::counted().zip(before).map_or(0, |(after, before)| after - before);
        (out.len(), work)
    }

    #[test]
    fn what_lies_where_something_else_goes_is_lost() {
        assert_eq!(handed(6, 0).0, 0);
        // The first value lies in the second one's place, and so on; the last of them lies where nobody writes before it.
        assert_eq!(handed(6, 3).0, 3);
    }

    #[test]
    fn the_work_grows_with_the_values() {
        let (small, large) = (handed(500, 0).1, handed(2000, 0).1);
        if neap_ir::work::counted().is_some() {
            assert!(small > 500, "{small}");
            let growth = large as f64 / small as f64 / 4.0;
            assert!(growth < 1.6, "{small} at 500, {large} at 2000");
        }
    }
}
