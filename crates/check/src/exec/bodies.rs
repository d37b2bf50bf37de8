//! Operations with bodies: fused ones, branches, loops, calls.

use super::buffers::Snapshot;
use super::{Machine, Stop, raw};
use crate::effects::{self, Resolved, Touch};
use crate::hash::Mix;
use crate::names;
use crate::rope::Rope;
use crate::state::{Done, Trip};
use crate::violation::Violation;
use neap_ir::facts::{Access, OpFacts, Run};
use neap_ir::{BlockId, OpId, ValueId};

impl<'a> Machine<'a, '_> {
    /// A fused operation: its body runs on values in registers.
    pub(super) fn fused(
        &mut self,
        op: OpId,
        body: BlockId,
        operands: &[Rope],
        step: u32,
        depth: usize,
    ) -> Result<Vec<Rope>, Stop> {
        let key = self.eval.key(op, operands, &[]);
        self.order(op, key);
        for (arg, rope) in self.module.block_args(body).iter().zip(operands) {
            self.env[raw(*arg)] = Some(rope.clone());
        }
        let bytes = self.bytes.take();
        let last = self.block(body, depth + 1);
        self.bytes = bytes;
        self.step = step + 1;
        let results = self.yielded(last?);
        Ok(results.into_iter().map(|(_, rope)| rope).collect())
    }

    /// Bodies of which all, one or none run, at most once each.
    pub(super) fn bodies(
        &mut self,
        op: OpId,
        row: &'a OpFacts,
        values: &[ValueId],
        operands: &[Rope],
        depth: usize,
    ) -> Result<Vec<Rope>, Stop> {
        let m = self.module;
        let touched = effects::resolve(m, op, row, values, operands, &mut self.state.names);
        let key = self.key(op, operands, &touched);
        self.order(op, key);
        let once = row.body.run == Run::Once;
        let (mut yields, mut done): (Vec<Vec<Rope>>, Vec<Done>) = (Vec::new(), Vec::new());
        let certain = row.body.run != Run::Branch;
        if let Some(bytes) = &mut self.bytes {
            if row.runs() == Run::Parallel {
                bytes.poison_bodies(op, self.step);
            }
            bytes.fork();
        }
        let kept = self.bytes.as_ref().map_or(0, |bytes| bytes.kept_so_far());
        for region in m.op_regions(op).to_vec() {
            let [body] = m.blocks(region) else {
                if m.blocks(region).is_empty() {
                    continue;
                }
                let function = names::func(m, self.func);
                self.violations.push(Violation::Unstructured { function, span: m.op(op).span });
                return Err(Stop);
            };
            self.bind(op, *body, row, key, |at| values.get(at).copied().zip(operands.get(at)));
            // What the others write at the same time is not known.
            let trip = (row.body.run == Run::Parallel).then(|| {
                let others = m.op_regions(op).iter().filter(|other| **other != region);
                let writes: Option<Vec<_>> = others.map(|other| effects::written_in(self.calls, *other)).collect();
                Trip { key, writes: writes.map(|all| all.into_iter().flatten().collect()) }
            });
            self.state.enter(trip);
            let last = self.block(*body, depth + 1)?;
            let results = self.yielded(last);
            let whole = self.whole(&results);
            if let Some(bytes) = &mut self.bytes {
                bytes.body_end(last, self.step, &whole, &self.eval.wraps, certain);
            }
            yields.push(results.into_iter().skip(row.body.yield_lead).map(|(_, rope)| rope).collect());
            done.push(self.state.leave());
        }
        if let Some(bytes) = &mut self.bytes {
            bytes.join();
            if !certain {
                bytes.keep_again(kept, self.step);
            }
        }
        if once && yields.len() == 1 {
            done.into_iter().for_each(|done| self.state.commit(done));
            self.effects(op, row, key, operands, &touched);
            return Ok(yields.remove(0));
        }
        self.state.merge(op, key, &done);
        self.effects(op, row, key, operands, &touched);
        Ok(self.renamed(op, "branch", key, &yields))
    }

    /// Results named by the use and by all that its bodies yield.
    fn renamed(&self, op: OpId, tag: &str, key: u128, yields: &[Vec<Rope>]) -> Vec<Rope> {
        let ran = Self::ran(key, yields);
        let name = |(index, value): (usize, &ValueId)| {
            let mut mix = Mix::new(tag);
            mix.wide(ran);
            mix.word(index as u64);
            Rope::of(mix.done(), self.eval.shapes.bits(*value))
        };
        self.module.data_results(op).iter().enumerate().map(name).collect()
    }

    /// The name of a use and of all that its bodies yield.
    fn ran(key: u128, yields: &[Vec<Rope>]) -> u128 {
        let mut mix = Mix::new("ran");
        mix.wide(key);
        for body in yields {
            mix.word(body.len() as u64);
            body.iter().for_each(|rope| rope.feed(&mut mix));
        }
        mix.done()
    }

    /// Binds a body's arguments: those that no operand is bound to stand for themselves, and are written where they have bytes of their own.
    fn bind<'r>(
        &mut self,
        op: OpId,
        body: BlockId,
        row: &OpFacts,
        key: u128,
        operand: impl Fn(usize) -> Option<(ValueId, &'r Rope)>,
    ) {
        let m = self.module;
        let positions: Vec<usize> = row.body.args.below(1 << 16).take(m.block_args(body).len()).collect();
        for (index, arg) in m.block_args(body).iter().enumerate() {
            let bound = index.checked_sub(row.body.lead).and_then(|at| positions.get(at)).and_then(|at| operand(*at));
            let rope = match bound {
                Some((value, _)) if effects::is_buffer(m, *arg) => self.env[raw(value)].clone().unwrap_or_default(),
                Some((_, rope)) => rope.clone(),
                None => {
                    let mut mix = Mix::new("lead");
                    mix.wide(key);
                    mix.word(index as u64);
                    Rope::of(mix.done(), self.eval.shapes.bits(*arg))
                }
            };
            self.env[raw(*arg)] = Some(rope);
        }
        if let Some(bytes) = &mut self.bytes {
            let view = Snapshot { module: m, env: &self.env, buffers: &self.buffers };
            bytes.carried(op, m.block_args(body), self.step, &|value| view.of(value));
        }
    }

    /// A loop: the deciding body, then the other, once, for an unknown trip.
    pub(super) fn trips(
        &mut self,
        op: OpId,
        row: &'a OpFacts,
        values: &[ValueId],
        operands: &[Rope],
        depth: usize,
    ) -> Result<Vec<Rope>, Stop> {
        let m = self.module;
        let touched = effects::resolve(m, op, row, values, operands, &mut self.state.names);
        let key = self.key(op, operands, &touched);
        self.order(op, key);
        let carried = |at: usize, rope: &Rope| {
            let mut mix = Mix::new("carried");
            mix.wide(key);
            mix.word(at as u64);
            Rope::of(mix.done(), rope.len)
        };
        let mut current: Vec<Rope> = operands.iter().enumerate().map(|(at, rope)| carried(at, rope)).collect();
        let mut yields: Vec<Vec<Rope>> = Vec::new();
        if let Some(bytes) = &mut self.bytes {
            bytes.poison_bodies(op, self.step);
            bytes.arguments(op, self.step);
        }
        if let Some(bytes) = &mut self.bytes {
            bytes.gathered(op, self.step, true, &self.eval.wraps);
        }
        let writes = effects::written_inside(self.calls, op);
        self.state.enter(Some(Trip { key, writes }));
        let mut regions: Vec<usize> = (0..m.op_regions(op).len()).collect();
        regions.sort_by_key(|at| Some(*at) != row.body.cond);
        // What is carried lies in the arguments of the other body already while the condition is computed, unless that hands it on.
        let ahead = row.body.cond.is_some() && !row.body.cond_forwards;
        for at in regions.iter().filter(|_| ahead) {
            let [body] = m.region_blocks(op, *at) else { continue };
            self.bind(op, *body, row, key, |at| values.get(at).copied().zip(current.get(at)));
        }
        for at in regions {
            let [body] = m.region_blocks(op, at) else { continue };
            if !ahead {
                self.bind(op, *body, row, key, |at| values.get(at).copied().zip(current.get(at)));
            } else if Some(at) != row.body.cond
                && let Some(bytes) = &mut self.bytes
            {
                let args =
                    m.block_args(*body).iter().map(|arg| (*arg, self.env[raw(*arg)].clone().unwrap_or_default()));
                bytes.awaiting(op, args, self.step, &self.eval.wraps);
            }
            let last = self.block(*body, depth + 1)?;
            let results = self.yielded(last);
            let whole = self.whole(&results);
            if let Some(bytes) = &mut self.bytes {
                bytes.body_end(last, self.step, &whole, &self.eval.wraps, true);
            }
            let ropes: Vec<Rope> = results.into_iter().map(|(_, rope)| rope).collect();
            if Some(at) == row.body.cond && row.body.cond_forwards {
                let positions: Vec<usize> = row.body.args.below(current.len()).collect();
                current = operands.to_vec();
                positions.iter().zip(ropes.iter().skip(1)).for_each(|(at, rope)| current[*at] = rope.clone());
            }
            yields.push(ropes);
        }
        if let Some(bytes) = &mut self.bytes {
            bytes.gathered(op, self.step.saturating_sub(1), false, &self.eval.wraps);
        }
        let done = self.state.leave();
        // How often it runs, and what later trips start from, is what its bodies yield.
        let ran = Self::ran(key, &yields);
        self.state.merge(op, ran, &[done]);
        self.effects(op, row, ran, operands, &touched);
        Ok(self.renamed(op, "loop", key, &yields))
    }

    /// A call by symbol. What the callee only reads, and the other module's callee of that name does not touch, decides nothing: both
    /// are compared on their own, for every content of it.
    pub(super) fn call(&mut self, op: OpId, row: &'a OpFacts, operands: &[Rope]) -> Result<Vec<Rope>, Stop> {
        let m = self.module;
        let mut touched = self.calls.touched_by(op, &mut self.state.names);
        let there = self.peer.touched(&effects::callees(m, op, row), &mut self.state.names);
        let all = there.iter().any(|touch| touch.resource == Resolved::All);
        let same = |touch: &Touch| there.iter().any(|other| other.resource == touch.resource);
        touched.retain(|touch| touch.access == Access::Write || all || same(touch));
        let key = self.name(op, operands, &touched);
        self.order(op, key);
        let results = self.eval.opaque(op, operands, key);
        self.effects(op, row, key, operands, &touched);
        Ok(results)
    }
}
