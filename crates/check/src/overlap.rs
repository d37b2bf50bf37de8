//! Rules within one operation: what it writes shares no bytes with what it reads or also writes, unless it is a view, a part, or an
//! in-place pair that a fact permits.
//!
//! An in-place pair is permitted (a) *in lock step*: the operand is read element by element in step with the result, has the same
//! shape, starts at the same byte, and its elements are at least as large. A kernel that runs forward has then read element `i` when it writes it,
//! and what it has written so far ends no later than element `i + 1` of the operand starts. A broadcast operand is read again later and is refused. (b) *exact*:
//! the table says that the kernel allows it on equal types and sizes. (c) *by rows*, as (a) per line. (d) where the source module itself says `neap.may_inplace` for the
//! same operation on the same operands. (e) for a fused operation whose body reads the operand in lock step only, all the way to the results.

mod hands;

use crate::hash::Mix;
use crate::homes::{Home, Homes};
use crate::memory::Stamp;
use crate::names;
use crate::shape::Shapes;
use crate::violation::Violation;
use neap_ir::facts::{Role, Rule, Run};
use neap_ir::{Attr, Module, OpId, ValueId, plan};
use rustc_hash::FxHashSet;

pub(crate) use hands::{arguments, entries, gathered, handed_over, handing_out, hands};

/// The scratch of an operation, where it is planned.
pub(crate) fn scratch(homes: &Homes<'_>, op: OpId) -> Option<Home> {
    let m = homes.module;
    let size = m.scratch_bytes(op);
    let start = m.attr(op, plan::SCRATCH_OFFSET).and_then(Attr::as_i64).and_then(|at| u64::try_from(at).ok())?;
    let arena = m.attr(op, plan::SCRATCH_ARENA).and_then(Attr::as_symbol);
    let arena = homes.arenas.iter().position(|one| Some(one.name.as_str()) == arena).unwrap_or(0);
    let owner = homes.module.results(op).first().copied().or_else(|| m.operands(op).next());
    (size > 0).then_some(Home { arena, start, size, owner: owner.unwrap_or_else(zero) })
}

fn zero() -> ValueId {
    ValueId::from_raw(0.into())
}

/// What the bodies of an operation write, anywhere in them.
pub(crate) fn footprint(homes: &Homes<'_>, op: OpId, step: u32) -> Vec<(Home, Stamp)> {
    homes.module.op_regions(op).iter().flat_map(|region| region_footprint(homes, *region, step)).collect()
}

fn region_footprint(homes: &Homes<'_>, region: neap_ir::RegionId, step: u32) -> Vec<(Home, Stamp)> {
    let m = homes.module;
    let mut found = Vec::new();
    let mut value = |value: ValueId, op: Option<OpId>| {
        if let Some(home) = homes.of(value).filter(|_| !homes.views.contains_key(&value)) {
            found.push((*home, Stamp { value: Some(value), op, step }));
        }
    };
    let mut scratches = Vec::new();
    for block in m.blocks(region) {
        m.block_args(*block).iter().for_each(|arg| value(*arg, None));
        for root in m.block_ops(*block) {
            for op in std::iter::once(root).chain(m.walk(root)) {
                m.data_results(op).iter().for_each(|result| value(*result, Some(op)));
                let args = m.op_regions(op).iter().flat_map(|region| m.blocks(*region));
                args.flat_map(|block| m.block_args(*block)).for_each(|arg| value(*arg, Some(op)));
                let stamp = Stamp { value: None, op: Some(op), step };
                scratches.extend(scratch(homes, op).map(|home| (home, stamp)));
            }
        }
    }
    found.extend(scratches);
    found
}

/// Bytes with what lies there, for messages.
struct Piece {
    home: Home,
    role: Part,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Operand(u32),
    Result(u32),
    /// A result, or a part of one, that is there already: nothing is written.
    View(u32),
    Scratch,
}

/// Pairs of an operation that the source permits in place: result, operand.
pub(crate) type Pairs = FxHashSet<(u32, u32)>;

/// What an operation says that it may overwrite, and a name for a use that says so: of two equal operations on equal operands, of which
/// only one may overwrite them, each is what it says of itself. A plan that says more than the source finds no such use there.
pub(crate) fn declares(m: &Module, op: OpId, key: u128) -> (u128, Pairs) {
    let mut pairs: Vec<(u32, u32)> =
        m.in_places(op, plan::MAY_INPLACE).into_iter().map(|pair| (pair.result, pair.operand)).collect();
    pairs.sort_unstable();
    (permit(key, &pairs), pairs.into_iter().collect())
}

/// The name of a use that says of itself what it may overwrite; one that says nothing is permitted what all equal ones are.
pub(crate) fn permit(key: u128, pairs: &[(u32, u32)]) -> u128 {
    let mut mix = Mix::new("permit");
    mix.wide(key);
    for (result, operand) in pairs {
        mix.word((*result).into());
        mix.word((*operand).into());
    }
    mix.done()
}

/// Checks one operation.
pub(crate) fn rules(homes: &Homes<'_>, op: OpId, step: u32, permitted: &Pairs, out: &mut Vec<Violation>) {
    let m = homes.module;
    let mut pieces = Vec::new();
    let operands: Vec<ValueId> = m.data_operands(op).collect();
    for (index, value) in operands.iter().enumerate() {
        pieces.extend(homes.of(*value).map(|home| Piece { home: *home, role: Part::Operand(index as u32) }));
    }
    for (index, value) in m.data_results(op).iter().enumerate() {
        let view = homes.views.contains_key(value);
        let Some(home) = homes.of(*value) else { continue };
        if view {
            pieces.push(Piece { home: *home, role: Part::View(index as u32) });
        } else {
            written(homes, op, index, home, &operands, &mut pieces);
        }
    }
    pieces.extend(scratch(homes, op).map(|home| Piece { home, role: Part::Scratch }));
    let pairs = declared(homes, op, permitted, out);
    pieces.sort_by_key(|piece| (piece.home.arena, piece.home.start, piece.home.end()));
    let mut open: Vec<usize> = Vec::new();
    for at in 0..pieces.len() {
        let piece = &pieces[at];
        open.retain(|other| pieces[*other].home.meets(&piece.home));
        for other in &open {
            let other = &pieces[*other];
            if let Some(why) = clash(homes, op, piece, other, &pairs).or_else(|| clash(homes, op, other, piece, &pairs))
            {
                out.push(overlap(homes, op, step, piece, other, why));
            }
        }
        // What is only read can meet what is written, never what is only read: keep lists short where many views meet.
        let reads = matches!(piece.role, Part::Operand(_) | Part::View(_));
        if !reads || pieces.iter().any(|other| matches!(other.role, Part::Result(_) | Part::Scratch)) {
            open.push(at);
        }
    }
}

/// A result is written but for the parts that lie where they are declared: those are there already.
fn written(homes: &Homes<'_>, op: OpId, index: usize, home: &Home, operands: &[ValueId], pieces: &mut Vec<Piece>) {
    let m = homes.module;
    let part = |place: &plan::Place| {
        let part = homes.of(*operands.get(place.operand as usize)?)?;
        let here = part.arena == home.arena && home.start.checked_add(place.byte_offset) == Some(part.start);
        (here && part.end() <= home.end()).then_some((part.start, part.end()))
    };
    let places = if index == 0 { m.places(op, plan::PLACE) } else { Vec::new() };
    let mut parts: Vec<(u64, u64)> = places.iter().filter_map(part).collect();
    parts.sort_unstable();
    let mut at = home.start;
    for (start, end) in parts.into_iter().chain([(home.end(), home.end())]) {
        if at < start {
            let home = Home { start: at, size: start - at, ..*home };
            pieces.push(Piece { home, role: Part::Result(index as u32) });
        }
        if start < end {
            let home = Home { start, size: end - start, ..*home };
            pieces.push(Piece { home, role: Part::View(index as u32) });
        }
        at = at.max(end);
    }
}

fn overlap(homes: &Homes<'_>, op: OpId, step: u32, one: &Piece, two: &Piece, why: String) -> Violation {
    let m = homes.module;
    let (written, other) = match one.role {
        Part::Result(_) | Part::Scratch => (one, two),
        _ => (two, one),
    };
    let shared = Home {
        start: one.home.start.max(two.home.start),
        size: one.home.end().min(two.home.end()) - one.home.start.max(two.home.start),
        ..one.home
    };
    let name = |piece: &Piece| match piece.role {
        Part::Operand(at) => m.data_operand(op, at as usize).map_or(String::new(), |value| names::value(m, value)),
        Part::Result(at) | Part::View(at) => names::value(m, m.data_results(op)[at as usize]),
        Part::Scratch => "its scratch".to_owned(),
    };
    let (function, range) = (homes.function(), homes.range(&shared));
    let (op_name, span) = (names::op(m, op), m.op(op).span);
    Violation::Overlap { function, op: op_name, step, written: name(written), other: name(other), range, why, span }
}

/// Why `written` must not share bytes with `other`; none if it may, or if it is not written.
fn clash(homes: &Homes<'_>, op: OpId, written: &Piece, other: &Piece, pairs: &[(u32, u32)]) -> Option<String> {
    let m = homes.module;
    match (written.role, other.role) {
        (Part::Scratch, _) => Some("scratch is for itself".to_owned()),
        (Part::Result(_), Part::Result(_)) => Some("both are written".to_owned()),
        (Part::Result(_), Part::View(_)) => Some("the view's bytes are still needed".to_owned()),
        // Its bodies are executed step by step, and the result is written by the last of them: what it overwrites too early shows there.
        (Part::Result(_), Part::Operand(_)) if runs_bodies_once(homes, op) => None,
        (Part::Result(result), Part::Operand(operand)) => {
            let value = m.data_operand(op, operand as usize)?;
            if pairs.contains(&(result, operand)) {
                return None;
            }
            // The same bytes once more, as `add(a, a)`.
            let twin = pairs.iter().any(|(r, o)| {
                let first = m.data_operand(op, *o as usize);
                let same = first.and_then(|first| homes.of(first)).is_some_and(|home| home.start == other.home.start);
                *r == result
                    && same
                    && (first == Some(value) || permission(homes, op, result, operand).is_ok())
                    && lockstep_or_same(homes, op, result, operand, first == Some(value))
            });
            (!twin).then(|| "no fact permits it, or the plan does not declare it".to_owned())
        }
        _ => None,
    }
}

fn runs_bodies_once(homes: &Homes<'_>, op: OpId) -> bool {
    matches!(homes.row(op).body.run, Run::Once | Run::Branch) && !homes.module.op_regions(op).is_empty()
}

/// A second operand with the bytes of an in-place one must be read in the same way.
fn lockstep_or_same(homes: &Homes<'_>, op: OpId, result: u32, operand: u32, same: bool) -> bool {
    let row = homes.row(op);
    let elementwise = matches!(row.role, Role::Elementwise | Role::Quantize | Role::Dequantize);
    if elementwise { permission(homes, op, result, operand).is_ok() } else { same }
}

/// The in-place pairs and parts that the plan declares, those that may be and lie where they must.
fn declared(homes: &Homes<'_>, op: OpId, permitted: &Pairs, out: &mut Vec<Violation>) -> Vec<(u32, u32)> {
    let m = homes.module;
    let operands: Vec<ValueId> = m.data_operands(op).collect();
    let results = m.data_results(op);
    let home = |value: Option<&ValueId>| value.and_then(|value| homes.of(*value));
    let mut pairs = Vec::new();
    let mut elsewhere = |attribute, value: ValueId, home: &Home, expected| {
        let (function, op_name) = (homes.function(), names::op(m, op));
        let (value, range, span) = (names::value(m, value), homes.range(home), m.op(op).span);
        out.push(Violation::Elsewhere { function, op: op_name, attribute, value, range, expected, span });
    };
    let mut refused = Vec::new();
    for pair in m.in_places(op, plan::INPLACE) {
        let (result, operand) = (results.get(pair.result as usize), operands.get(pair.operand as usize));
        let Some(to) = home(result) else {
            if let Some(from) = home(operand) {
                elsewhere(plan::INPLACE, operands[pair.operand as usize], from, None);
            }
            continue;
        };
        match home(operand) {
            Some(from) if from.start == to.start && from.arena == to.arena => {
                let allowed = permitted.contains(&(pair.result, pair.operand));
                match if allowed { Ok(()) } else { permission(homes, op, pair.result, pair.operand) } {
                    Ok(()) => pairs.push((pair.result, pair.operand)),
                    Err(why) => refused.push((pair, why)),
                }
            }
            from => elsewhere(plan::INPLACE, results[pair.result as usize], to, from.map(|home| home.start)),
        }
    }
    for place in m.places(op, plan::PLACE) {
        let (part, whole) = match (home(operands.get(place.operand as usize)), home(results.first())) {
            (Some(part), Some(whole)) => (part, whole),
            (Some(part), None) => {
                elsewhere(plan::PLACE, operands[place.operand as usize], part, None);
                continue;
            }
            (None, Some(whole)) if !empty(homes, operands.get(place.operand as usize)) => {
                elsewhere(plan::PLACE, results[0], whole, None);
                continue;
            }
            _ => continue,
        };
        let expected = whole.start.checked_add(place.byte_offset);
        if expected != Some(part.start) || part.arena != whole.arena {
            elsewhere(plan::PLACE, operands[place.operand as usize], part, expected);
        }
    }
    for (pair, why) in refused {
        let (function, op_name, span) = (homes.function(), names::op(m, op), m.op(op).span);
        let result = names::value(m, results[pair.result as usize]);
        let operand = names::value(m, operands[pair.operand as usize]);
        out.push(Violation::InPlace { function, op: op_name, result, operand, why, span });
    }
    pairs
}

/// Whether a value takes no bytes, wherever it is.
fn empty(homes: &Homes<'_>, value: Option<&ValueId>) -> bool {
    let shape = value.and_then(|value| Shapes::new(homes.module, homes.sizes).of(*value));
    shape.is_some_and(|shape| shape.bits() == Some(0))
}

/// Whether the facts permit a result over an operand.
fn permission(homes: &Homes<'_>, op: OpId, result: u32, operand: u32) -> Result<(), String> {
    let m = homes.module;
    let row = homes.row(op);
    let operands: Vec<ValueId> = m.data_operands(op).collect();
    let (Some(to), Some(from)) = (m.data_results(op).get(result as usize), operands.get(operand as usize)) else {
        return Err("there is no such result or operand".to_owned());
    };
    let shapes = Shapes::new(m, homes.sizes);
    let (Some(to), Some(from)) = (shapes.of(*to), shapes.of(*from)) else {
        return Err("a size is not known".to_owned());
    };
    if m.op_name(op) == "neap.fused" {
        if !streams(homes, op, operand) {
            return Err("its body reads the operand otherwise than element by element".to_owned());
        }
        return match from.dims == to.dims && from.elem >= to.elem {
            true => Ok(()),
            false => Err("the shapes differ, or the result's elements are larger".to_owned()),
        };
    }
    match row.inplace_rule(result as usize, operand as usize) {
        None => Err("no fact permits it".to_owned()),
        Some(Rule::Lockstep) if from.dims != to.dims => Err("the operand is broadcast and read again later".to_owned()),
        Some(Rule::Lockstep) if from.elem < to.elem => {
            Err("the result's elements are larger than the operand's".to_owned())
        }
        Some(Rule::Rows) if from.dims != to.dims || from.elem != to.elem => Err("the shapes differ".to_owned()),
        Some(Rule::Exact) if from.bits() != to.bits() => Err("the sizes differ".to_owned()),
        Some(_) => Ok(()),
    }
}

/// Whether a fused operation reads an operand only in lock step with its results: every operation that the operand reaches is
/// elementwise in it, on the same number of elements.
fn streams(homes: &Homes<'_>, op: OpId, operand: u32) -> bool {
    let m = homes.module;
    let [body] = m.region_blocks(op, 0) else { return false };
    let Some(arg) = m.block_args(*body).get(operand as usize) else { return false };
    let shapes = Shapes::new(m, homes.sizes);
    let Some(shape) = shapes.of(*arg) else { return false };
    let (mut todo, mut seen) = (vec![*arg], FxHashSet::default());
    while let Some(value) = todo.pop() {
        if !seen.insert(value) {
            continue;
        }
        if shapes.of(value).is_none_or(|other| other.dims != shape.dims) {
            return false;
        }
        for usage in m.value(value).uses() {
            if m.terminator(*body) == Some(usage.op) {
                continue;
            }
            let row = homes.row(usage.op);
            let elementwise = matches!(row.role, Role::Elementwise | Role::Quantize | Role::Dequantize);
            if !elementwise || !row.per_element(usage.operand as usize) {
                return false;
            }
            todo.extend(m.data_results(usage.op).iter().copied());
        }
    }
    true
}

/// Bodies that run at the same time share nothing that one of them writes.
pub(crate) fn parallel(homes: &Homes<'_>, op: OpId, out: &mut Vec<Violation>) {
    let m = homes.module;
    if homes.row(op).runs() != Run::Parallel {
        return;
    }
    let mut pieces: Vec<(Home, Stamp, usize)> = Vec::new();
    for (body, region) in m.op_regions(op).iter().enumerate() {
        pieces.extend(region_footprint(homes, *region, 0).into_iter().map(|(home, stamp)| (home, stamp, body)));
    }
    pieces.sort_by_key(|(home, _, body)| (home.arena, home.start, home.end(), *body));
    let mut last: Option<&(Home, Stamp, usize)> = None;
    for piece in &pieces {
        if let Some(before) = last
            && before.2 != piece.2
            && before.0.meets(&piece.0)
        {
            let name = |stamp: &Stamp| stamp.value.map_or("scratch".to_owned(), |value| names::value(m, value));
            let (function, op_name, span) = (homes.function(), names::op(m, op), m.op(op).span);
            let (one, other, range) = (name(&before.1), name(&piece.1), homes.range(&piece.0));
            out.push(Violation::Parallel { function, op: op_name, one, other, range, span });
        }
        if last.is_none_or(|before| before.0.arena != piece.0.arena || before.0.end() < piece.0.end()) {
            last = Some(piece);
        }
    }
}
