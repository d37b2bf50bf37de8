//! Runs a function on symbolic contents, once: branches both ways, loops for any number of trips, calls as unknown functions.
//!
//! *Branches.* Every body runs from the same state; a result is named by the condition and by what every body yields. *Loops.* The body
//! runs once on names that stand for "what is carried at the start of some trip"; a result is named by the operands and by what the body makes of
//! those names. If two loops get equal names, they have equal operands and equal bodies, so by induction they agree for any number of trips,
//! none included. *Calls by symbol* are functions of their operands and of the resources that the callee may touch; that the callee itself
//! is kept is checked on its own.

mod bodies;
mod buffers;

use crate::bytes::{Bytes, Permits};
use crate::calls::Calls;
use crate::demands::{self, ByUse, Demands};
use crate::effects::{self, Resolved, Touch};
use crate::eval::Eval;
use crate::hash::Mix;
use crate::names;
use crate::overlap;
use crate::rope::{Bits, Rope};
use crate::shared::{self, Shares};
use crate::sizes::Sizes;
use crate::state::State;
use crate::violation::Violation;
use buffers::{Buffers, Snapshot};
use neap_ir::facts::{Access, OpFacts, Role, Run};
use neap_ir::table::Table;
use neap_ir::{BlockId, Def, Module, OpId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bodies nested deeper than this are refused.
const DEPTH: usize = 200;

/// Nothing more can be learned; the reason stands in the list of violations.
pub(crate) struct Stop;

/// What a function did.
#[derive(Default)]
pub(crate) struct Outcome {
    /// What it returns, with the values.
    pub(crate) results: Vec<(ValueId, Rope)>,
    /// Hashes of everything it computed.
    pub(crate) seen: FxHashSet<u128>,
    /// Operations of the function and of its bodies in the order in which they ran, with the hashes of their results.
    pub(crate) trace: Vec<(OpId, Vec<u128>)>,
    /// Pairs of uses, the first of which has to run first.
    pub(crate) edges: Vec<(u128, u128, OpId, OpId)>,
    /// When each use first ran.
    pub(crate) ran: FxHashMap<u128, (usize, OpId)>,
    /// What the module permits in place, by use.
    pub(crate) permits: Permits,
    /// What the module says that uses share.
    pub(crate) shares: Shares,
    /// What the module asks of a plan, by use.
    pub(crate) demands: ByUse,
    /// The same by operation.
    pub(crate) asked: Vec<(OpId, u128, Demands)>,
    /// Values that can be read after the run.
    pub(crate) kept: Vec<(ValueId, Rope)>,
    /// Last contents of buffers that the caller owns.
    pub(crate) buffers: Vec<(ValueId, Rope)>,
}

/// A run of one function.
pub(crate) struct Machine<'a, 'b> {
    pub(crate) eval: Eval<'a>,
    pub(crate) state: State,
    pub(crate) bytes: Option<Bytes<'a, 'b>>,
    pub(crate) violations: Vec<Violation>,
    /// What the functions of this module run, and those of the one that it is compared with.
    calls: &'b Calls<'a>,
    peer: &'b Calls<'a>,
    module: &'a Module,
    func: OpId,
    env: Table<Option<Rope>>,
    buffers: Buffers,
    tokens: FxHashMap<ValueId, Vec<(u128, OpId)>>,
    step: u32,
    outcome: Outcome,
    /// The name of the last use of each operation.
    keys: FxHashMap<OpId, u128>,
    /// Views of variables: the variable, and the bits from its start.
    aliases: FxHashMap<ValueId, (u128, Bits, Bits)>,
}

impl<'a, 'b> Machine<'a, 'b> {
    /// Gets ready to run a function of the first of two modules.
    pub(crate) fn new([calls, peer]: [&'b Calls<'a>; 2], func: OpId, sizes: &'a Sizes) -> Machine<'a, 'b> {
        let module = calls.module;
        Machine {
            eval: Eval::new(module, calls.facts, sizes),
            state: State::new(),
            bytes: None,
            violations: Vec::new(),
            calls,
            peer,
            module,
            func,
            env: Table::of_values(module, func, None),
            buffers: Buffers::default(),
            tokens: FxHashMap::default(),
            step: 0,
            outcome: Outcome::default(),
            keys: FxHashMap::default(),
            aliases: FxHashMap::default(),
        }
    }

    /// Runs the function; none if it cannot be run, for the reason in `violations`.
    pub(crate) fn run(&mut self) -> Option<Outcome> {
        let m = self.module;
        let [entry] = m.region_blocks(self.func, 0) else {
            let function = names::func(m, self.func);
            self.violations.push(Violation::Unstructured { function, span: m.op(self.func).span });
            return None;
        };
        for (index, arg) in m.block_args(*entry).iter().enumerate() {
            let mut mix = Mix::new("argument");
            mix.word(index as u64);
            let rope = Rope::of(mix.done(), self.eval.shapes.bits(*arg));
            self.argument(*arg, rope);
        }
        if let Some(bytes) = &mut self.bytes {
            let view = Snapshot { module: m, env: &self.env, buffers: &self.buffers };
            bytes.begin(m.block_args(*entry), &|value| view.of(value));
        }
        let last = self.block(*entry, 0).ok()?;
        let results: Vec<(ValueId, Rope)> = self.yielded(last);
        let buffers: Vec<ValueId> =
            m.block_args(*entry).iter().copied().filter(|arg| effects::is_buffer(m, *arg)).collect();
        self.outcome.buffers = buffers.into_iter().map(|arg| (arg, self.held(arg))).collect();
        let whole = self.whole(&results);
        if let Some(bytes) = &mut self.bytes {
            bytes.end(last, self.step, &whole, &self.eval.wraps);
        }
        self.outcome.results = results;
        Some(std::mem::take(&mut self.outcome))
    }

    /// Binds an argument; a buffer's own rope is its addresses.
    fn argument(&mut self, arg: ValueId, rope: Rope) {
        let rope = if effects::is_buffer(self.module, arg) { self.allocate(arg, rope) } else { rope };
        self.env[raw(arg)] = Some(rope);
    }

    /// Runs the operations of a block up to its terminator, which it hands back.
    fn block(&mut self, block: BlockId, depth: usize) -> Result<Option<OpId>, Stop> {
        let m = self.module;
        let last = m.terminator(block).filter(|op| self.ends(*op));
        let mut next = m.block_ops(block).next();
        while let Some(op) = next {
            next = m.op(op).next();
            if Some(op) != last {
                self.op(op, depth)?;
            }
        }
        Ok(last)
    }

    fn ends(&self, op: OpId) -> bool {
        matches!(self.module.op_name(op), "func.return" | "return") || self.eval.row(op).role == Role::Yield
    }

    fn yielded(&mut self, last: Option<OpId>) -> Vec<(ValueId, Rope)> {
        let Some(last) = last else { return Vec::new() };
        let values: Vec<ValueId> = self.module.data_operands(last).collect();
        values.into_iter().map(|value| (value, self.held(value))).collect()
    }

    fn op(&mut self, op: OpId, depth: usize) -> Result<(), Stop> {
        let m = self.module;
        let row = self.eval.row(op);
        if depth > DEPTH {
            let function = names::func(m, self.func);
            self.violations.push(Violation::TooDeep {
                function,
                op: names::op(m, op),
                limit: DEPTH,
                span: m.op(op).span,
            });
            return Err(Stop);
        }
        let values: Vec<ValueId> = m.data_operands(op).collect();
        if let Some(value) = values.iter().find(|value| self.env[raw(**value)].is_none()) {
            let (function, value) = (names::func(m, self.func), names::value(m, *value));
            self.violations.push(Violation::Undefined { function, op: names::op(m, op), value, span: m.op(op).span });
            return Err(Stop);
        }
        let operands: Vec<Rope> = values.iter().map(|value| self.held(*value)).collect();
        let step = self.step;
        if row.role != Role::Constant {
            self.step += 1;
        }
        self.stale(op, step, &values);
        let read = [values.as_slice(), &self.captured(op, row)].concat();
        if let Some(bytes) = &mut self.bytes {
            let view = Snapshot { module: m, env: &self.env, buffers: &self.buffers };
            bytes.reads(op, step, &read, &|value| view.of(value), &self.eval.wraps);
        }
        let results = self.execute(op, row, step, &values, &operands, depth)?;
        let hashes = results.iter().map(Rope::hash).collect::<Vec<u128>>();
        self.outcome.seen.extend(hashes.iter().copied());
        self.outcome.trace.push((op, hashes));
        for (index, (value, rope)) in m.data_results(op).iter().zip(results).enumerate() {
            let rope = self.declared_window(op, index, *value).unwrap_or(rope);
            if m.attr(op, "neap.keep").is_some() {
                self.outcome.kept.push((*value, rope.clone()));
            }
            self.buffer_from_elsewhere(*value, &rope);
            self.env[raw(*value)] = Some(rope);
        }
        self.alias(op, row);
        if let Some(bytes) = &mut self.bytes {
            let view = Snapshot { module: m, env: &self.env, buffers: &self.buffers };
            let key = self.keys.get(&op).copied().unwrap_or_default();
            bytes.writes(op, step, key, &|value| view.of(value), &self.eval.wraps);
        }
        Ok(())
    }

    fn execute(
        &mut self,
        op: OpId,
        row: &'a OpFacts,
        step: u32,
        values: &[ValueId],
        operands: &[Rope],
        depth: usize,
    ) -> Result<Vec<Rope>, Stop> {
        let m = self.module;
        if m.op_name(op) == "neap.fused" {
            let [body] = m.region_blocks(op, 0) else { return Ok(Vec::new()) };
            return self.fused(op, *body, operands, step, depth);
        }
        match (row.body.run, row.runs()) {
            (Run::Kernel, _) => Ok(self.simple(op, row, values, operands)),
            (Run::None, _) if m.op_regions(op).is_empty() => Ok(self.simple(op, row, values, operands)),
            _ if m.op_regions(op).is_empty() => self.call(op, row, operands),
            (_, Run::Loop) => self.trips(op, row, values, operands, depth),
            _ => self.bodies(op, row, values, operands, depth),
        }
    }

    /// An operation without bodies of its own steps.
    fn simple(&mut self, op: OpId, row: &'a OpFacts, values: &[ValueId], operands: &[Rope]) -> Vec<Rope> {
        let m = self.module;
        if row.role == Role::Constant {
            return self.eval.results(op, operands, 0);
        }
        let touched = effects::resolve(m, op, row, values, operands, &mut self.state.names);
        self.own_state(op, row, values, &touched);
        let key = self.name(op, operands, &touched);
        self.order(op, key);
        match row.role {
            Role::Alloc => return self.alloc(op, operands, key),
            Role::Subview => return self.window(op, row, values, operands),
            _ if touched.is_empty() => return self.eval.results(op, operands, key),
            _ => {}
        }
        let results = match (row.role, &touched[..]) {
            (Role::Read, [Touch { resource: Resolved::Named(variable), access: Access::Read }])
                if m.data_results(op).len() == 1 =>
            {
                vec![self.state.content(*variable, self.eval.shapes.bits(m.data_results(op)[0]))]
            }
            _ => self.eval.opaque(op, operands, key),
        };
        self.effects(op, row, key, operands, &touched);
        results
    }

    /// What the bodies of a kernel name from around it: the kernel reads it.
    fn captured(&self, op: OpId, row: &OpFacts) -> Vec<ValueId> {
        let m = self.module;
        if m.op_regions(op).is_empty() || row.runs() != Run::Kernel {
            return Vec::new();
        }
        let inside: FxHashSet<OpId> = m.walk(op).into_iter().collect();
        let outside = |value: &ValueId| match m.value(*value).def() {
            Def::Result(maker, _) => !inside.contains(&maker),
            Def::Arg(block, _) => {
                let owner = m.region_op(m.block_region(block));
                owner != op && !inside.contains(&owner)
            }
        };
        let mut found: Vec<ValueId> =
            m.walk(op).into_iter().flat_map(|inner| m.operands(inner)).filter(outside).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The name of a use, with the versions of what it touches, and the bodies of a kernel.
    fn name(&mut self, op: OpId, operands: &[Rope], touched: &[Touch]) -> u128 {
        let m = self.module;
        let key = self.key(op, operands, touched);
        if m.op_regions(op).is_empty() {
            return key;
        }
        let mut mix = Mix::new("kernel");
        mix.wide(key);
        let env = &self.env;
        self.eval.canon.bodies(&mut mix, op, &mut |value| env[raw(value)].as_ref().map_or(0, Rope::hash));
        mix.done()
    }

    /// The name of a use, with the versions of what it touches.
    fn key(&mut self, op: OpId, operands: &[Rope], touched: &[Touch]) -> u128 {
        let versions: Vec<u128> = touched
            .iter()
            .filter_map(|touch| match &touch.resource {
                Resolved::All => Some(self.state.everything()),
                Resolved::Named(resource) => Some(self.state.version(*resource)),
                Resolved::Buffer(_) => None,
            })
            .collect();
        self.eval.key(op, operands, &versions)
    }

    fn effects(&mut self, op: OpId, row: &OpFacts, key: u128, operands: &[Rope], touched: &[Touch]) {
        let data = row.data_operand();
        for (index, touch) in touched.iter().enumerate().filter(|(_, touch)| touch.access == Access::Write) {
            match &touch.resource {
                Resolved::All => self.state.write_all(op, key),
                Resolved::Named(resource) => {
                    let content = (row.role == Role::Write).then(|| operands.get(data).cloned()).flatten();
                    self.state.write(*resource, op, key, content);
                }
                Resolved::Buffer(value) => {
                    let bits = self.env[raw(*value)].as_ref().map_or(0, |rope| rope.len);
                    let mut mix = Mix::new("stored");
                    mix.wide(key);
                    mix.word(index as u64);
                    let copied = (row.role == Role::Copy).then(|| operands.get(data).filter(|rope| rope.len == bits));
                    let content = copied.flatten().cloned().unwrap_or_else(|| Rope::of(mix.done(), bits));
                    self.store(op, *value, &content);
                    if let Some(bytes) = &mut self.bytes {
                        bytes.stored(op, *value);
                    }
                }
            }
        }
    }

    /// Remembers when a use ran and what its tokens say must have run before.
    fn order(&mut self, op: OpId, key: u128) {
        let m = self.module;
        self.keys.insert(op, key);
        let demands = demands::of(m, &self.eval.canon, op);
        let of_use = self.outcome.demands.entry(key).or_default();
        if !of_use.contains(&demands) {
            of_use.push(demands.clone());
        }
        self.outcome.asked.push((op, key, demands));
        if self.bytes.is_none() {
            shared::declare(m, op, key, &mut self.outcome.shares);
            let (permit, pairs) = overlap::declares(m, op, key);
            let of_all = self.outcome.permits.entry(overlap::permit(key, &[])).or_insert_with(|| pairs.clone());
            of_all.retain(|pair| pairs.contains(pair));
            if !pairs.is_empty() {
                self.outcome.permits.insert(permit, pairs);
            }
        }
        let position = self.outcome.trace.len();
        self.outcome.ran.entry(key).or_insert((position, op));
        let mut before: Vec<(u128, OpId)> = Vec::new();
        let tokens: Vec<ValueId> = m.operands(op).filter(|value| m.is_token(*value)).collect();
        for token in &tokens {
            before.extend(self.tokens.get(token).into_iter().flatten().copied());
        }
        let joins = self.eval.row(op).role == Role::Token;
        if !joins {
            self.outcome.edges.extend(before.iter().map(|(first, from)| (*first, key, *from, op)));
        }
        let results = m.results(op).iter().filter(|value| m.is_token(**value));
        for result in results {
            let after = if joins { before.clone() } else { vec![(key, op)] };
            self.tokens.insert(*result, after);
        }
    }
}

/// The index of a value in tables.
pub(crate) fn raw(value: ValueId) -> usize {
    value.into_raw().into_u32() as usize
}
