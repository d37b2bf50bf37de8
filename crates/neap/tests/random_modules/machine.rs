//! A plain, concrete interpreter: real bytes, several runs, kernels that do the worst they may.
//!
//! The source runs with every value in memory of its own; a plan runs in one array per arena at the planned offsets. A kernel fills
//! its results and its scratch with rubbish before it reads; a result that is declared in place is written in pieces between which the operands are
//! read again; views and placed parts are taken as what they are. Loops run as often as their data say, up to three trips; what is carried
//! lies in the arguments of the bodies while the condition is computed. Nothing here knows live ranges.

use crate::kernels::Kernels;
use crate::memory::{Memory, Place, World};
use crate::tensor::{Tensor, mix};
use neap_ir::facts::{Access, OpFacts, Resource, Role, Run};
use neap_ir::{Attr, BlockId, Def, Module, OpId, ValueId, plan};
use std::collections::BTreeMap;

/// The most trips of a loop.
const TRIPS: u64 = 3;

/// What can be seen from outside after a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) results: Vec<Vec<u8>>,
    /// Arguments that are held for the whole run, by index.
    pub(crate) held: Vec<(usize, Vec<u8>)>,
    /// Kept values by the model's name.
    pub(crate) kept: BTreeMap<String, Vec<u8>>,
}

/// One run of one function.
pub(crate) struct Machine<'a, 'w> {
    kernels: Kernels<'a>,
    module: &'a Module,
    world: &'w mut World,
    memory: Memory,
    places: Vec<Option<Place>>,
    planned: bool,
    /// Called functions have arenas of their own.
    own_arenas: bool,
    /// Added to every offset of the function that runs: where a callee's arena lies in its caller's.
    base: usize,
    arenas: Vec<String>,
    fresh: usize,
    run: u64,
}

fn raw(value: ValueId) -> usize {
    value.into_raw().into_u32() as usize
}

fn nowhere(_: usize) -> bool {
    false
}

/// Runs a function on its arguments' bytes. `run` is the number of the run: it decides what unwritten memory holds.
pub(crate) fn execute(
    kernels: Kernels<'_>,
    world: &mut World,
    func: OpId,
    inputs: &[Vec<u8>],
    planned: bool,
    own_arenas: bool,
    run: u64,
) -> Seen {
    let module = kernels.module;
    let declared = module.block_ops(module.body()).filter(|op| module.op_name(*op) == "neap.arena");
    let arenas: Vec<String> = declared.filter_map(|op| module.sym_name(op).map(str::to_owned)).collect();
    let mut machine = Machine {
        kernels,
        module,
        world,
        memory: Memory::new(mix([run, 77])),
        places: vec![None; module.value_count()],
        planned,
        own_arenas,
        base: 0,
        fresh: arenas.len().max(1),
        arenas,
        run,
    };
    let results = machine.function(func, inputs);
    let mut seen = Seen { results, ..Seen::default() };
    for (index, arg) in module.func_args(func).iter().enumerate() {
        let io = module.arg_attr(func, index, plan::IO).and_then(Attr::as_str);
        if matches!(io, Some("held" | "external")) {
            seen.held.push((index, machine.read(*arg)));
        }
    }
    for op in module.block_ops(module.entry(func).expect("a function has a body")) {
        if module.attr(op, "neap.keep").is_some()
            && let Some(name) = module.attr(op, "neap.name").and_then(Attr::as_str)
        {
            let bytes = module.data_results(op).iter().flat_map(|value| machine.read(*value)).collect();
            seen.kept.insert(name.to_owned(), bytes);
        }
    }
    seen
}

impl<'a> Machine<'a, '_> {
    fn read(&self, value: ValueId) -> Vec<u8> {
        let place = self.places[raw(value)].unwrap_or(Place::Own(raw(value) as u32, 0));
        self.memory.read(self.world, place, self.kernels.size(value))
    }

    fn tensor(&self, value: ValueId) -> Tensor {
        let (dims, bits) = self.kernels.shape(value);
        Tensor::of(&dims, bits, &self.read(value))
    }

    fn put(&mut self, value: ValueId, place: Place, bytes: &[u8]) {
        self.places[raw(value)] = Some(place);
        self.memory.write(self.world, place, bytes, &nowhere);
    }

    fn own(value: ValueId) -> Place {
        Place::Own(raw(value) as u32, 0)
    }

    /// The place that an offset means; memory of its own where there is none.
    fn at(&self, value: ValueId, offset: Option<i64>, arena: Option<&Attr>, index: usize) -> Place {
        let Some(offset) = offset.and_then(|offset| usize::try_from(offset).ok()).filter(|_| self.planned) else {
            return Self::own(value);
        };
        if self.base >= OWN_ARENA {
            return Place::Arena(self.base - OWN_ARENA, offset);
        }
        let name = match arena {
            Some(Attr::Array(list)) => list.get(index).and_then(Attr::as_symbol),
            Some(attr) => attr.as_symbol(),
            None => None,
        };
        let arena = name.and_then(|name| self.arenas.iter().position(|other| other == name)).unwrap_or(0);
        Place::Arena(arena, self.base + offset)
    }

    fn function(&mut self, func: OpId, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let m = self.module;
        for (index, (arg, bytes)) in m.func_args(func).iter().zip(inputs).enumerate() {
            let offset = m.arg_attr(func, index, plan::OFFSET).and_then(Attr::as_i64);
            let place = self.at(*arg, offset, m.arg_attr(func, index, plan::ARENA), 0);
            self.put(*arg, place, bytes);
        }
        let last = self.block(m.entry(func).expect("a function has a body"));
        m.data_operands(last).map(|value| self.read(value)).collect()
    }

    /// Runs a block and hands back its terminator.
    fn block(&mut self, block: BlockId) -> OpId {
        let m = self.module;
        let last = m.terminator(block).expect("a block ends");
        for op in m.block_ops(block).filter(|op| *op != last) {
            self.op(op);
        }
        last
    }

    fn op(&mut self, op: OpId) {
        let m = self.module;
        let row = self.kernels.row(op);
        let runs = !matches!(row.body.run, Run::None | Run::Kernel) && m.op_name(op) != "neap.fused";
        match row.role {
            Role::Token | Role::Declare => {}
            Role::Handle => self.handle(op),
            Role::Constant => {
                let made = self.kernels.eval(op, &[], 0);
                for (value, one) in m.data_results(op).iter().zip(made) {
                    self.put(*value, Self::own(*value), &one.bytes());
                }
            }
            Role::Read => self.reading(op, row),
            Role::Write => self.writing(op, row),
            _ if runs && row.body.run == Run::Loop => self.looping(op, row),
            _ if runs => self.bodies(op, row),
            _ => self.kernel(op, row),
        }
    }

    /// A handle of a declared variable stands for its bytes.
    fn handle(&mut self, op: OpId) {
        let Some(name) = self.module.attr(op, "var").and_then(Attr::as_symbol) else { return };
        let value = self.module.data_results(op)[0];
        let at = self.world.variable(name, self.kernels.size(value));
        self.places[raw(value)] = Some(Place::Variable(at, 0));
    }

    /// What an operation leaves in the variables whose handles it gets: something that depends on all that it has read.
    fn leave(&mut self, op: OpId, row: &OpFacts, operands: &[Tensor]) {
        let name = crate::tensor::mix_text(self.module.op_name(op));
        for effect in row.effects.iter().filter(|effect| effect.access == Access::Write) {
            let Resource::Handle(at) = effect.resource else { continue };
            let value = self.module.data_operand(op, at).expect("an operation has its handles");
            let Some(Place::Variable(variable, _)) = self.places[raw(value)] else { continue };
            let key = mix([name, at as u64].into_iter().chain(operands.iter().map(Tensor::hash)));
            let bytes = &mut self.world.variables[variable].1;
            bytes.iter_mut().enumerate().for_each(|(byte, content)| *content = mix([key, byte as u64]) as u8);
        }
    }

    /// Where a result goes.
    fn home(&self, op: OpId, index: usize) -> Place {
        let m = self.module;
        let value = m.data_results(op)[index];
        if self.planned
            && let Some(view) = m.views(op).into_iter().find(|view| view.result as usize == index)
            && let Some(from) = m.data_operand(op, view.operand as usize)
        {
            let from = self.places[raw(from)].unwrap_or(Self::own(from));
            return from.after(view.byte_offset as usize);
        }
        let offsets = m.attr(op, plan::OFFSETS).and_then(Attr::as_i64s);
        self.at(value, offsets.and_then(|list| list.get(index).copied()), m.attr(op, plan::ARENA), index)
    }

    fn scratch(&self, op: OpId) -> Option<(Place, usize)> {
        let m = self.module;
        let offset = m.attr(op, plan::SCRATCH_OFFSET).and_then(Attr::as_i64)?;
        let size = m.scratch_bytes(op) as usize;
        let some = self.planned && size > 0;
        let any = m.func_args(op).first().copied().or_else(|| m.data_results(op).first().copied());
        let value = any.or_else(|| m.data_operands(op).next())?;
        some.then(|| (self.at(value, Some(offset), m.attr(op, plan::SCRATCH_ARENA), 0), size))
    }

    /// The name of the variable that an operation touches.
    fn variable(&mut self, op: OpId, row: &OpFacts, size: usize) -> usize {
        let m = self.module;
        let effect = row.effects.first().expect("a read or a write has an effect");
        let name = match &effect.resource {
            Resource::Attr(key) => m.attr(op, key).and_then(|attr| attr.as_symbol().or_else(|| attr.as_str())),
            Resource::Handle(at) => {
                let handle = m.data_operand(op, *at).and_then(|value| m.defining_op(value));
                let named = |handle: OpId| m.attr(handle, "shared_name").or(m.attr(handle, "var"));
                handle.and_then(named).and_then(|attr| attr.as_symbol().or_else(|| attr.as_str()))
            }
            _ => None,
        };
        let name = name.unwrap_or("behind an argument").to_owned();
        self.world.variable(&name, size)
    }

    fn reading(&mut self, op: OpId, row: &OpFacts) {
        let m = self.module;
        let value = m.data_results(op)[0];
        let at = self.variable(op, row, self.kernels.size(value));
        if self.planned && m.attr(op, "alias").is_some() {
            self.places[raw(value)] = Some(Place::Variable(at, 0));
            return;
        }
        let bytes = self.memory.read(self.world, Place::Variable(at, 0), self.kernels.size(value));
        let home = self.home(op, 0);
        self.put(value, home, &bytes);
    }

    fn writing(&mut self, op: OpId, row: &OpFacts) {
        let value = self.module.data_operand(op, row.data_operand()).expect("a write writes something");
        let bytes = self.read(value);
        let at = self.variable(op, row, bytes.len());
        self.world.variables[at].1 = bytes;
    }

    /// What an operation finds in the world, and what it leaves there.
    fn effects(&mut self, op: OpId, row: &OpFacts, operands: &[Tensor]) -> u64 {
        let mut salt = 0;
        for effect in row.effects.iter().filter(|effect| effect.access == Access::Write) {
            match effect.resource {
                Resource::Rng => {
                    self.world.draws += 1;
                    salt = mix([salt, self.world.draws]);
                }
                Resource::Io => {
                    let name = crate::tensor::mix_text(self.module.op_name(op));
                    let words = operands.iter().map(Tensor::hash);
                    self.world.traffic.push(mix(std::iter::once(name).chain(words)));
                    salt = mix([salt, self.world.traffic.len() as u64]);
                }
                Resource::All => {
                    salt = mix([salt, self.world.hash()]);
                    let words = operands.iter().map(Tensor::hash);
                    let key = mix(std::iter::once(salt).chain(words));
                    self.world.anything(key);
                }
                _ => {}
            }
        }
        salt
    }

    fn kernel(&mut self, op: OpId, row: &OpFacts) {
        let m = self.module;
        let operands: Vec<ValueId> = m.data_operands(op).collect();
        let results = m.data_results(op).to_vec();
        let read = |machine: &Self| operands.iter().map(|value| machine.tensor(*value)).collect::<Vec<Tensor>>();
        let before = read(self);
        let salt = self.effects(op, row, &before);
        if !self.planned {
            let made = self.kernels.eval(op, &before, salt);
            results.iter().zip(made).for_each(|(value, one)| self.put(*value, Self::own(*value), &one.bytes()));
            self.leave(op, row, &before);
            return;
        }
        let views = m.views(op);
        let is_view = |index: usize| views.iter().any(|view| view.result as usize == index);
        let over: Vec<u32> = self.over(op, row);
        let parts = self.parts(op, &operands);
        let there =
            |index: usize, byte: usize| index == 0 && parts.iter().any(|(from, to)| (*from..*to).contains(&byte));
        let homes: Vec<Place> = (0..results.len()).map(|index| self.home(op, index)).collect();
        let scratch = self.scratch(op);
        if let Some((place, size)) = scratch {
            self.memory.spoil(self.world, place, size, &nowhere);
        }
        for (index, value) in results.iter().enumerate().filter(|(index, _)| !is_view(*index)) {
            if !over.contains(&(index as u32)) {
                let size = self.kernels.size(*value);
                self.memory.spoil(self.world, homes[index], size, &|byte| there(index, byte));
            }
        }
        if !(0..results.len()).all(is_view) || results.is_empty() {
            let pieces = if over.is_empty() || results.is_empty() { 1 } else { self.pieces(op, row) };
            for piece in 0..pieces {
                let made = self.kernels.eval(op, &read(self), salt);
                for (index, one) in made.iter().enumerate().filter(|(index, _)| !is_view(*index)) {
                    let bytes = one.bytes();
                    let cut = |piece: usize| Self::cut(row, one, piece, pieces);
                    let (from, to) = (cut(piece), cut(piece + 1));
                    let skip = |byte: usize| !(from..to).contains(&byte) || there(index, byte);
                    self.memory.write(self.world, homes[index], &bytes, &skip);
                }
            }
        }
        if let Some((place, size)) = scratch {
            self.memory.spoil(self.world, place, size, &nowhere);
        }
        results.iter().zip(&homes).for_each(|(value, home)| self.places[raw(*value)] = Some(*home));
        self.leave(op, row, &before);
    }

    /// Results that lie over operands, where that is part of what the kernel promises.
    fn over(&self, op: OpId, row: &OpFacts) -> Vec<u32> {
        let m = self.module;
        let asked = m.in_places(op, plan::MAY_INPLACE);
        let promised = |pair: &plan::InPlace| {
            m.op_name(op) == "neap.fused"
                || row.inplace_rule(pair.result as usize, pair.operand as usize).is_some()
                || row.role == Role::Opaque && asked.contains(pair)
        };
        m.in_places(op, plan::INPLACE).iter().filter(|pair| promised(pair)).map(|pair| pair.result).collect()
    }

    /// Byte ranges of the first result that are there already.
    fn parts(&self, op: OpId, operands: &[ValueId]) -> Vec<(usize, usize)> {
        let part = |place: &plan::Place| {
            let from = place.byte_offset as usize;
            (from, from + operands.get(place.operand as usize).map_or(0, |value| self.kernels.size(*value)))
        };
        self.module.places(op, plan::PLACE).iter().map(part).collect()
    }

    /// In how many pieces an operation writes results that lie over operands.
    fn pieces(&self, op: OpId, row: &OpFacts) -> usize {
        let steps = matches!(row.role, Role::Elementwise | Role::Quantize | Role::Dequantize | Role::Softmax);
        if steps || self.module.op_name(op) == "neap.fused" { 3 } else { 1 }
    }

    /// The byte at which a piece begins: never inside an element that shares a byte, nor inside a line that is read as a whole.
    fn cut(row: &OpFacts, one: &Tensor, piece: usize, pieces: usize) -> usize {
        let line = if row.role == Role::Softmax { one.dims.last().copied().unwrap_or(1).max(1) } else { 1 };
        let unit = line * if one.bits < 8 { 8 } else { 1 };
        let size = (one.data.len() * one.bits).div_ceil(8);
        if piece == pieces { size } else { (one.data.len() * piece / pieces / unit * unit * one.bits / 8).min(size) }
    }

    fn looping(&mut self, op: OpId, row: &OpFacts) {
        let m = self.module;
        let operands: Vec<ValueId> = m.data_operands(op).collect();
        let positions: Vec<usize> = row.body.args.below(operands.len()).collect();
        let mut carried: Vec<Vec<u8>> = positions.iter().map(|at| self.read(operands[*at])).collect();
        let number = |bytes: &[u8]| bytes.first().map_or(0, |byte| u64::from(*byte));
        let limit = if row.body.lead > 0 { number(&self.read(operands[0])) % (TRIPS + 1) } else { TRIPS };
        let regions = m.op_regions(op).len();
        if regions == 0 {
            return self.calling(op, row, carried);
        }
        let body = (0..regions).find(|at| Some(*at) != row.body.cond).expect("a loop has a body");
        // Every body's arguments get what is carried before the condition runs.
        for trip in 0.. {
            for region in 0..regions {
                self.bind(op, row, region, &carried, trip);
            }
            if trip == limit {
                break;
            }
            if let Some(cond) = row.body.cond {
                let last = self.block(m.region_blocks(op, cond)[0]);
                let decides = m.data_operands(last).next().expect("a condition yields a value");
                if self.read(decides)[0] & 1 == 0 {
                    break;
                }
            }
            let last = self.block(m.region_blocks(op, body)[0]);
            let yields = m.data_operands(last).skip(row.body.yield_lead);
            carried = yields.map(|value| self.read(value)).collect();
        }
        let block = m.region_blocks(op, body)[0];
        let args = m.block_args(block).iter().skip(row.body.lead);
        let out: Vec<Vec<u8>> = args.map(|arg| self.read(*arg)).collect();
        self.hand_out(op, out);
    }

    /// A loop whose condition and body are functions.
    fn calling(&mut self, op: OpId, row: &OpFacts, mut carried: Vec<Vec<u8>>) {
        let m = self.module;
        let names: Vec<String> = row
            .body
            .callees
            .iter()
            .filter_map(|key| m.attr(op, key).and_then(Attr::as_symbol).map(str::to_owned))
            .collect();
        let cond = row.body.cond.expect("a loop over functions has a condition");
        let body = (0..names.len()).find(|at| *at != cond).expect("a loop has a body");
        for _ in 0..TRIPS {
            let decides = self.call_on(op, &names[cond], &carried);
            if decides[0][0] & 1 == 0 {
                break;
            }
            carried = self.call_on(op, &names[body], &carried);
        }
        self.hand_out(op, carried);
    }

    /// Writes the arguments of a loop's body.
    fn bind(&mut self, op: OpId, row: &OpFacts, region: usize, carried: &[Vec<u8>], trip: u64) {
        let m = self.module;
        let offsets = m.attr(op, plan::ARG_OFFSETS).and_then(Attr::as_i64s).unwrap_or_default();
        let before: usize =
            (0..region).flat_map(|region| m.region_blocks(op, region)).map(|block| m.block_args(*block).len()).sum();
        let args = m.block_args(m.region_blocks(op, region)[0]);
        for (index, arg) in args.iter().enumerate() {
            let place =
                self.at(*arg, offsets.get(before + index).copied(), m.attr(op, plan::ARG_ARENAS), before + index);
            let bytes = match index.checked_sub(row.body.lead) {
                None => trip.to_le_bytes()[..self.kernels.size(*arg).min(8)].to_vec(),
                Some(at) => carried[at].clone(),
            };
            self.put(*arg, place, &bytes);
        }
    }

    /// Bodies that run at most once each, and calls.
    fn bodies(&mut self, op: OpId, row: &OpFacts) {
        let m = self.module;
        let operands: Vec<ValueId> = m.data_operands(op).collect();
        let args: Vec<ValueId> = row.body.args.below(operands.len()).map(|at| operands[at]).collect();
        let callees: Vec<&str> =
            row.body.callees.iter().filter_map(|key| m.attr(op, key).and_then(Attr::as_symbol)).collect();
        let count = m.op_regions(op).len().max(callees.len());
        let chosen: Vec<usize> = match row.body.run {
            Run::Branch => {
                let second = self.read(operands[0])[0] & 1 == 0;
                (0..count).filter(|at| *at == usize::from(second)).collect()
            }
            // At the same time: either may be the first.
            Run::Parallel if self.run % 2 == 1 => (0..count).rev().collect(),
            _ => (0..count).collect(),
        };
        let mut out = Vec::new();
        for at in chosen {
            if m.op_regions(op).is_empty() {
                out = self.call(op, callees[at], &args);
                continue;
            }
            let Some(block) = m.region_blocks(op, at).first().copied() else { continue };
            for (arg, from) in m.block_args(block).iter().zip(&args) {
                let place = self.places[raw(*from)].unwrap_or(Self::own(*from));
                if self.planned {
                    self.places[raw(*arg)] = Some(place);
                } else {
                    let bytes = self.read(*from);
                    self.put(*arg, Self::own(*arg), &bytes);
                }
            }
            let last = self.block(block);
            out = m.data_operands(last).map(|value| self.read(value)).collect();
        }
        self.hand_out(op, out);
    }

    fn hand_out(&mut self, op: OpId, out: Vec<Vec<u8>>) {
        let results = self.module.data_results(op).to_vec();
        for (index, (value, bytes)) in results.iter().zip(out).enumerate() {
            let home = self.home(op, index);
            self.put(*value, home, &bytes);
        }
    }

    fn call(&mut self, op: OpId, callee: &str, args: &[ValueId]) -> Vec<Vec<u8>> {
        let inputs: Vec<Vec<u8>> = args.iter().map(|value| self.read(*value)).collect();
        self.call_on(op, callee, &inputs)
    }

    fn call_on(&mut self, op: OpId, callee: &str, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let m = self.module;
        let func = m.functions().into_iter().find(|func| m.sym_name(*func) == Some(callee)).expect("a callee is there");
        let before = self.base;
        if self.planned {
            if let Some((place, size)) = self.scratch(op) {
                self.memory.spoil(self.world, place, size, &nowhere);
                if let Place::Arena(_, start) = place {
                    self.base = start;
                }
            }
            if self.own_arenas {
                self.base = OWN_ARENA + self.fresh;
                self.fresh += 1;
            }
        }
        let out = self.function(func, inputs);
        self.base = before;
        out
    }
}

/// A base from here on is no base but the number of an arena.
const OWN_ARENA: usize = 1 << 40;

/// Bytes of the arguments of a function in some run.
pub(crate) fn inputs(kernels: Kernels<'_>, func: OpId, run: u64) -> Vec<Vec<u8>> {
    let m = kernels.module;
    let args = m.func_args(func).iter().enumerate();
    let bytes = |(at, arg): (usize, &ValueId)| {
        let (dims, bits) = kernels.shape(*arg);
        Tensor::by(&dims, bits, |element| mix([run, at as u64, element as u64])).bytes()
    };
    args.filter(|(_, arg)| !m.is_token(**arg) && matches!(m.value(**arg).def(), Def::Arg(..))).map(bytes).collect()
}
