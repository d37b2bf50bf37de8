//! Plans made wrong: one change of one kind, consistent in itself, so that only its consequence can be noticed.
//!
//! What moves takes along the views that lie in it; a whole storage moves together. Whether a mutant computes something else is for the interpreter to say;
//! the numbers that a plan states are left as they are and count for nothing.

mod shape;

use crate::generate::Rng;
use neap_ir::{Attr, BlockId, Def, Module, OpId, ValueId, plan, verify};
use shape::{home, planned_values, shift, storage};

/// A change of a planned module; false if there is nothing to change.
type Change = fn(&mut Module, OpId, &mut Rng) -> bool;

/// The kinds of changes.
pub(crate) const KINDS: [(&str, Change); 14] = [
    ("order", order),
    ("order without a lock", unlocked),
    ("offset of a value", offset),
    ("offset of a storage", moved),
    ("offset shared", shared),
    ("alias moved", view_moved),
    ("alias added", view_added),
    ("in-place", in_place),
    ("fusion", fusion),
    ("operand", operand),
    ("lost write", lost_write),
    ("overlap within an op", overlap),
    ("part", part),
    ("loop argument", argument),
];

fn ops(module: &Module, func: OpId) -> Vec<OpId> {
    module.walk(func)
}

fn some<T: Copy>(list: &[T], rng: &mut Rng) -> Option<T> {
    (!list.is_empty()).then(|| *rng.pick(list))
}

/// All blocks of a function whose operations run one by one.
fn blocks(module: &Module, func: OpId) -> Vec<BlockId> {
    let all = std::iter::once(func).chain(module.walk(func)).filter(|op| module.op_name(*op) != "neap.fused");
    all.flat_map(|op| module.op_regions(op).to_vec()).flat_map(|region| module.blocks(region).to_vec()).collect()
}

fn order(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let Some(block) = some(&blocks(module, func), rng) else { return false };
    let list: Vec<OpId> = module.block_ops(block).collect();
    if list.len() < 3 {
        return false;
    }
    (0..6).any(|_| {
        let mut other = list.clone();
        let op = other.remove(rng.below(list.len() - 1));
        other.insert(rng.below(list.len() - 1), op);
        if other == list {
            return false;
        }
        module.set_block_order(block, &other);
        let legal = verify(module).is_ok();
        if !legal {
            module.set_block_order(block, &list);
        }
        legal
    })
}

/// Takes the locks of an operation away, then moves it.
fn unlocked(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let waits = |module: &Module, op: OpId| module.operands(op).any(|value| module.is_token(value));
    let waiting: Vec<OpId> = ops(module, func).into_iter().filter(|op| waits(module, *op)).collect();
    let Some(op) = some(&waiting, rng) else { return false };
    let data: Vec<ValueId> = module.data_operands(op).collect();
    module.set_operands(op, &data);
    let Some(block) = module.parent_block(op) else { return false };
    let list: Vec<OpId> = module.block_ops(block).collect();
    let at = list.iter().position(|other| *other == op).unwrap_or(0);
    (0..at).any(|to| {
        let mut other = list.clone();
        let op = other.remove(at);
        other.insert(to, op);
        module.set_block_order(block, &other);
        let legal = verify(module).is_ok();
        if !legal {
            module.set_block_order(block, &list);
        }
        legal
    })
}

fn arena(module: &Module, func: OpId) -> usize {
    module.attr(func, plan::ARENA_BYTES).and_then(Attr::as_i64).unwrap_or(0).max(1) as usize
}

fn offset(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let Some(value) = some(&planned_values(module, func), rng) else { return false };
    let to = rng.below(arena(module, func)) as i64;
    let from = home(module, value).unwrap_or(0);
    shift(module, &shape::with_views(module, func, value), to - from)
}

fn moved(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let Some(value) = some(&planned_values(module, func), rng) else { return false };
    let to = rng.below(arena(module, func)) as i64;
    let from = home(module, value).unwrap_or(0);
    shift(module, &storage(module, func, value), to - from)
}

/// One storage over another one.
fn shared(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let values = planned_values(module, func);
    let (Some(a), Some(b)) = (some(&values, rng), some(&values, rng)) else { return false };
    let (Some(from), Some(to)) = (home(module, a), home(module, b)) else { return false };
    shift(module, &storage(module, func, a), to - from)
}

fn view_moved(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let seen: Vec<OpId> = ops(module, func).into_iter().filter(|op| !module.views(*op).is_empty()).collect();
    let Some(op) = some(&seen, rng) else { return false };
    let mut views = module.views(op);
    let at = rng.below(views.len());
    let by = *rng.pick(&[1, 4, 12, 48]);
    views[at].byte_offset += by;
    let value = module.data_results(op)[views[at].result as usize];
    module.set_views(op, &views);
    shift(module, &shape::with_views(module, func, value), by as i64);
    true
}

fn view_added(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let can = |module: &Module, op: OpId| {
        module.data_results(op).len() == 1 && module.views(op).is_empty() && module.op_regions(op).is_empty()
    };
    let all: Vec<OpId> = ops(module, func).into_iter().filter(|op| can(module, *op)).collect();
    let Some(op) = some(&all, rng) else { return false };
    let operands: Vec<ValueId> = module.data_operands(op).collect();
    let planned: Vec<usize> = (0..operands.len()).filter(|at| home(module, operands[*at]).is_some()).collect();
    let (Some(operand), Some(value)) = (some(&planned, rng), module.data_results(op).first().copied()) else {
        return false;
    };
    let (Some(from), Some(to)) = (home(module, value), home(module, operands[operand])) else { return false };
    module.set_in_places(op, plan::INPLACE, &[]);
    module.set_places(op, plan::PLACE, &[]);
    module.set_views(op, &[plan::View { result: 0, operand: operand as u32, byte_offset: 0 }]);
    shift(module, &shape::with_views(module, func, value), to - from);
    true
}

fn in_place(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let all: Vec<OpId> = ops(module, func).into_iter().filter(|op| !module.data_results(*op).is_empty()).collect();
    let Some(op) = some(&all, rng) else { return false };
    let operands: Vec<ValueId> = module.data_operands(op).collect();
    let planned: Vec<usize> = (0..operands.len()).filter(|at| home(module, operands[*at]).is_some()).collect();
    let value = module.data_results(op)[0];
    let Some(operand) = some(&planned, rng) else { return false };
    let (Some(from), Some(to)) = (home(module, value), home(module, operands[operand])) else { return false };
    if !module.views(op).is_empty() || from == to {
        return false;
    }
    module.set_in_places(op, plan::INPLACE, &[plan::InPlace { result: 0, operand: operand as u32 }]);
    shift(module, &storage(module, func, value), to - from);
    true
}

fn fusion(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let fused: Vec<OpId> = ops(module, func).into_iter().filter(|op| module.op_name(*op) == "neap.fused").collect();
    let Some(op) = some(&fused, rng) else { return false };
    let Some(body) = module.entry(op) else { return false };
    let last = module.terminator(body);
    let inner: Vec<OpId> = module.block_ops(body).filter(|op| Some(*op) != last).collect();
    let Some(member) = some(&inner, rng) else { return false };
    match rng.below(3) {
        0 => {
            let mut operands: Vec<ValueId> = module.operands(member).collect();
            operands.reverse();
            module.set_operands(member, &operands);
        }
        1 => {
            let other = if module.op_name(member) == "tfl.relu" { "tfl.abs" } else { "tfl.relu" };
            let name = if module.data_operand_count(member) == 1 { other } else { "tfl.sub" };
            module.set_op_name(member, name);
        }
        _ => {
            // One member less: what it gets is what it gives.
            let (from, to) = (module.data_operands(member).next(), module.data_results(member)[0]);
            let Some(from) = from.filter(|from| module.value_ty(*from) == module.value_ty(to)) else { return false };
            module.replace_uses(to, from);
            module.erase(member);
        }
    }
    verify(module).is_ok()
}

fn operand(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let all = ops(module, func);
    let reads: Vec<OpId> = all.into_iter().filter(|op| module.data_operands(*op).next().is_some()).collect();
    let Some(op) = some(&reads, rng) else { return false };
    let count = module.data_operand_count(op);
    let at = rng.below(count);
    let old = module.operand(op, at);
    let ty = module.value_ty(old);
    let others: Vec<ValueId> = planned_values(module, func)
        .into_iter()
        .filter(|value| *value != old && module.value_ty(*value) == ty)
        .collect();
    (0..4).any(|_| {
        let Some(other) = some(&others, rng) else { return false };
        module.set_operand(op, at, other);
        let legal = verify(module).is_ok();
        if !legal {
            module.set_operand(op, at, old);
        }
        legal
    })
}

fn lost_write(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let effect =
        |module: &Module, op: OpId| matches!(module.op_name(op), "neap.write" | "stablehlo.outfeed" | "odd.op");
    let read = |module: &Module, op: OpId| {
        module.results(op).iter().any(|value| {
            let token = module.is_token(*value);
            !token && !module.value(*value).uses().is_empty()
        })
    };
    let all: Vec<OpId> = ops(module, func).into_iter().filter(|op| effect(module, *op) && !read(module, *op)).collect();
    let Some(op) = some(&all, rng) else { return false };
    for token in module.results(op).to_vec() {
        let users: Vec<OpId> = module.value(token).uses().iter().map(|usage| usage.op).collect();
        for user in users {
            let rest: Vec<ValueId> = module.operands(user).filter(|value| *value != token).collect();
            module.set_operands(user, &rest);
        }
    }
    module.erase(op);
    verify(module).is_ok()
}

/// A result, or scratch, over a part of an operand.
fn overlap(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let all: Vec<OpId> =
        ops(module, func).into_iter().filter(|op| module.data_operands(*op).next().is_some()).collect();
    let Some(op) = some(&all, rng) else { return false };
    let operands: Vec<ValueId> = module.data_operands(op).filter(|value| home(module, *value).is_some()).collect();
    let Some(from) = some(&operands, rng) else { return false };
    let (Some(start), Ok(size)) = (home(module, from), module.value_bytes(from)) else { return false };
    let to = start + rng.below(size.max(1) as usize) as i64;
    if module.attr(op, plan::SCRATCH_OFFSET).is_some() && rng.chance(50) {
        let offset = module.i64_attr(to);
        module.set_attr(op, plan::SCRATCH_OFFSET, offset);
        return true;
    }
    let results: Vec<ValueId> =
        module.data_results(op).iter().copied().filter(|value| home(module, *value).is_some()).collect();
    let Some(value) = some(&results, rng) else { return false };
    let delta = to - home(module, value).unwrap_or(0);
    shift(module, &storage(module, func, value), delta)
}

/// A part that is taken for placed and is not, or that lies elsewhere.
fn part(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let joins: Vec<OpId> = ops(module, func)
        .into_iter()
        .filter(|op| module.op_name(*op) == "tfl.concatenation" && home(module, module.data_results(*op)[0]).is_some())
        .collect();
    let Some(op) = some(&joins, rng) else { return false };
    let mut places = module.places(op, plan::PLACE);
    let operands: Vec<ValueId> = module.data_operands(op).collect();
    let whole = home(module, module.data_results(op)[0]).unwrap_or(0);
    if !places.is_empty() && rng.chance(50) {
        let at = rng.below(places.len());
        places[at].byte_offset += *rng.pick(&[1, 4, 48]);
        let (value, to) = (operands[places[at].operand as usize], whole + places[at].byte_offset as i64);
        module.set_places(op, plan::PLACE, &places);
        let delta = to - home(module, value).unwrap_or(to);
        shift(module, &shape::with_views(module, func, value), delta);
        return true;
    }
    let free: Vec<usize> = (0..operands.len())
        .filter(|at| places.iter().all(|place| place.operand as usize != *at) && home(module, operands[*at]).is_some())
        .collect();
    let Some(at) = some(&free, rng) else { return false };
    let before: u64 = operands[..at].iter().map(|value| module.value_bytes(*value).unwrap_or(0)).sum();
    places.push(plan::Place { operand: at as u32, byte_offset: before });
    module.set_places(op, plan::PLACE, &places);
    let delta = whole + before as i64 - home(module, operands[at]).unwrap_or(0);
    shift(module, &shape::with_views(module, func, operands[at]), delta);
    true
}

fn argument(module: &mut Module, func: OpId, rng: &mut Rng) -> bool {
    let args: Vec<ValueId> = planned_values(module, func)
        .into_iter()
        .filter(|value| matches!(module.value(*value).def(), Def::Arg(block, _) if module.entry(func) != Some(block)))
        .collect();
    let Some(value) = some(&args, rng) else { return false };
    let values = planned_values(module, func);
    let Some(to) = some(&values, rng).and_then(|value| home(module, value)) else { return false };
    let delta = to - home(module, value).unwrap_or(0);
    shift(module, &storage(module, func, value), delta)
}
