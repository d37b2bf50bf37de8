//! The plan's side: a run of the planned function through its arenas.
//!
//! Beside the run on values ([`crate::exec`]) every result is written to the bytes that the plan gives it, and every read is compared: do
//! the bytes hold, at this step, what the value is? That is the whole question, whoever overwrote them and however live ranges are
//! counted, so no live range is used here. Bytes that nobody may read any more need no poison: a read of them would be a read, and is compared.
//! Within an operation, where reading and writing interleave, the rules of `overlap.rs` decide.
//!
//! *Branches*: each body starts from the bytes before; afterwards, all that any of them wrote is poison. *Loops*: what the body writes
//! anywhere is poison when a trip begins, before the carried values are written, so the one trip stands for every trip: the first, which finds the bytes
//! from before, and the later ones, which find those of the trip before.

use crate::asynchronous::{self, Work};
use crate::effects::undefined;
use crate::exec::raw;
use crate::hash::Mix;
use crate::homes::{Home, Homes};
use crate::memory::{Memory, Mismatch, Stamp};
use crate::names;
use crate::overlap;
use crate::rope::{Bits, Rope, Wraps};
use crate::shared::{self, Shares};
use crate::violation::{Violation, Writer};
use neap_ir::facts::Role;
use neap_ir::{Attr, OpId, ValueId, plan};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is permitted where the input says so: a use's name, with pairs of result and operand.
pub(crate) type Permits = FxHashMap<u128, overlap::Pairs>;

/// The arenas during a run.
pub(crate) struct Bytes<'a, 'b> {
    pub(crate) homes: &'b Homes<'a>,
    pub(crate) violations: Vec<Violation>,
    memories: Vec<Memory>,
    /// Values that were found overwritten: one message each.
    told: FxHashSet<ValueId>,
    forks: Vec<Fork>,
    /// Values whose bytes must be whole at the end.
    kept: Vec<(ValueId, Rope)>,
    stored: Vec<ValueId>,
    permits: &'b Permits,
    shares: &'b Shares,
    /// How often the plan says what the source says of some equal uses only.
    said: FxHashMap<u128, u32>,
    /// Asynchronous work of the function, and what of it goes on.
    work: Vec<Work>,
    busy: Vec<(usize, Vec<Home>)>,
}

struct Fork {
    marks: Vec<usize>,
    /// Arena, bits, and who wrote there.
    dirty: Vec<(usize, Bits, Bits, Stamp)>,
}

/// Bits of a byte range.
pub(crate) fn bits(home: &Home) -> (Bits, Bits) {
    (Bits::from(home.start) * 8, Bits::from(home.end()) * 8)
}

/// What the bytes of a value hold: the value, then padding; a name of its own if the value is larger than its bytes. Padding of less than a byte is
/// written with it, since nobody writes less than a byte, and is read by nobody: a view may end in the midst of its operand's byte.
fn image(rope: &Rope, size: u64, written: bool) -> Rope {
    let room = Bits::from(size) * 8;
    if rope.len <= room {
        let mut out = rope.clone();
        if rope.len < room && (written || room - rope.len >= 8) {
            let mut mix = Mix::new("padding of");
            rope.feed(&mut mix);
            out.append(&Rope::of(mix.done(), room - rope.len));
        }
        return out;
    }
    let mut mix = Mix::new("packed");
    rope.feed(&mut mix);
    Rope::of(mix.done(), room)
}

/// The asynchronous work of a function; nearly always none.
fn asynchronous(homes: &Homes<'_>) -> Vec<Work> {
    let starts = |op: &OpId| homes.row(*op).role == Role::AsyncStart;
    match homes.module.walk(homes.func).iter().any(starts) {
        true => asynchronous::work(homes, &crate::live::number(homes)),
        false => Vec::new(),
    }
}

impl<'a, 'b> Bytes<'a, 'b> {
    pub(crate) fn new(homes: &'b Homes<'a>, permits: &'b Permits, shares: &'b Shares) -> Bytes<'a, 'b> {
        let memories = homes.arenas.iter().map(|_| Memory::default()).collect();
        Bytes {
            homes,
            violations: Vec::new(),
            memories,
            told: FxHashSet::default(),
            forks: Vec::new(),
            kept: Vec::new(),
            stored: Vec::new(),
            permits,
            shares,
            said: FxHashMap::default(),
            work: asynchronous(homes),
            busy: Vec::new(),
        }
    }

    /// Where the bytes are that a value's rope is about: of a window of a buffer, the whole buffer's.
    fn home(&self, value: ValueId) -> Option<Home> {
        let window = crate::effects::is_buffer(self.homes.module, value);
        self.homes.of(if window { self.homes.root(value) } else { value }).copied()
    }

    fn write(&mut self, value: ValueId, rope: &Rope, stamp: Stamp) {
        let Some(home) = self.home(value) else { return };
        self.guard(&home, stamp);
        self.memories[home.arena].write(bits(&home).0, &image(rope, home.size, true), stamp);
    }

    /// Nothing writes what asynchronous work touches.
    fn guard(&mut self, home: &Home, stamp: Stamp) {
        let met = self.busy.iter().find(|(_, homes)| homes.iter().any(|other| other.meets(home)));
        let (Some((work, _)), Some(op)) = (met, stamp.op) else { return };
        let m = self.homes.module;
        let (function, span) = (self.homes.function(), m.op(op).span);
        let (started_by, range) = (names::op(m, self.work[*work].start), self.homes.range(home));
        self.violations.push(Violation::Busy {
            function,
            op: names::op(m, op),
            step: stamp.step,
            started_by,
            range,
            span,
        });
    }

    /// Work ends where it is awaited.
    fn awaited(&mut self, step: u32) {
        let work = &self.work;
        self.busy.retain(|(at, _)| work[*at].forever || work[*at].until > step + 1);
    }

    /// Writes the arguments.
    pub(crate) fn begin(&mut self, args: &[ValueId], rope: &dyn Fn(ValueId) -> Rope) {
        let m = self.homes.module;
        let mut homes: Vec<(Home, ValueId)> =
            args.iter().filter_map(|arg| Some((*self.homes.of(*arg)?, *arg))).collect();
        homes.sort_by_key(|(home, arg)| (home.arena, home.start, raw(*arg)));
        for (index, arg) in args.iter().enumerate() {
            let attr = |key| m.arg_attr(self.homes.func, index, key);
            if attr(plan::IO).and_then(Attr::as_str) == Some("held") || attr("neap.keep").is_some() {
                self.kept.push((*arg, rope(*arg)));
            }
            self.write(*arg, &rope(*arg), Stamp { value: Some(*arg), op: None, step: 0 });
        }
    }

    /// How many values are kept for whoever reads after the run.
    pub(crate) fn kept_so_far(&self) -> usize {
        self.kept.len()
    }

    /// Has bodies that may not have run leave what they keep: whoever reads it after the run knows that they ran, and nothing may have written there
    /// since. Bodies that exclude each other are not told apart: what each of them keeps has bytes of its own.
    pub(crate) fn keep_again(&mut self, from: usize, step: u32) {
        for (value, rope) in self.kept.get(from..).unwrap_or_default().to_vec() {
            self.write(value, &rope, Stamp { value: Some(value), op: None, step });
        }
    }

    /// Compares the bytes of a value with what it is.
    fn read(&mut self, value: ValueId, rope: &Rope, reader: &dyn Fn() -> String, step: u32, wraps: &Wraps) {
        let Some(home) = self.home(value) else { return };
        let image = image(rope, home.size, false);
        let Some(mismatch) = self.memories[home.arena].expect(bits(&home).0, &image, undefined(), wraps) else {
            return;
        };
        if self.told.insert(value) {
            let violation = self.overwritten(value, &home, &mismatch, reader(), step);
            self.violations.push(violation);
        }
    }

    fn overwritten(&self, value: ValueId, home: &Home, found: &Mismatch, reader: String, step: u32) -> Violation {
        let m = self.homes.module;
        let part = Home {
            start: home.start + (found.at / 8) as u64,
            size: ((found.end + 7) / 8 - found.at / 8) as u64,
            ..*home
        };
        let by = Writer {
            value: found.stamp.value.map(|value| names::value(m, value)),
            op: found.stamp.op.map(|op| names::op(m, op)),
            step: found.stamp.step,
            home: found.stamp.value.and_then(|value| self.homes.of(value)).map(|home| self.homes.range(home)),
        };
        let span = match m.value(value).def() {
            neap_ir::Def::Result(op, _) => m.op(op).span,
            neap_ir::Def::Arg(..) => m.op(self.homes.func).span,
        };
        let (function, range) = (self.homes.function(), self.homes.range(&part));
        let (value, home) = (names::value(m, value), self.homes.range(home));
        Violation::Overwritten { function, value, home, reader, step, range, by, span }
    }

    /// Before an operation runs: what it reads is there. Its scratch may then be written at any time.
    pub(crate) fn reads(
        &mut self,
        op: OpId,
        step: u32,
        values: &[ValueId],
        rope: &dyn Fn(ValueId) -> Rope,
        wraps: &Wraps,
    ) {
        let m = self.homes.module;
        self.awaited(step);
        for value in values {
            self.read(*value, &rope(*value), &|| names::op(m, op), step, wraps);
        }
        if let Some(scratch) = overlap::scratch(self.homes, op) {
            let (start, end) = bits(&scratch);
            let stamp = Stamp { value: None, op: Some(op), step };
            self.guard(&scratch, stamp);
            self.memories[scratch.arena].poison(start, end, stamp);
        }
    }

    /// After an operation ran: its results are written, its views and parts are found in place.
    pub(crate) fn writes(&mut self, op: OpId, step: u32, key: u128, rope: &dyn Fn(ValueId) -> Rope, wraps: &Wraps) {
        let m = self.homes.module;
        let stamp = |value| Stamp { value: Some(value), op: Some(op), step };
        let none = overlap::Pairs::default();
        let (permit, _) = overlap::declares(self.homes.module, op, key);
        let permitted = self.permits.get(&permit).unwrap_or(&none);
        overlap::rules(self.homes, op, step, permitted, &mut self.violations);
        overlap::parallel(self.homes, op, &mut self.violations);
        for value in std::mem::take(&mut self.stored) {
            self.write(value, &rope(value), Stamp { value: Some(value), op: Some(op), step });
        }
        for view in m.views(op) {
            self.view(op, step, key, view, rope, wraps);
        }
        let places = m.places(op, plan::PLACE);
        for place in &places {
            let permitted = shared::may_place(self.homes.row(op)) || self.says(key, shared::part(key, place));
            if let Some(part) = m.data_operand(op, place.operand as usize).filter(|_| !permitted) {
                self.unpermitted(op, plan::PLACE, part);
            }
        }
        for (index, value) in m.data_results(op).iter().enumerate() {
            let result = rope(*value);
            if m.attr(op, "neap.keep").is_some() {
                self.kept.push((*value, result.clone()));
            }
            if self.homes.views.contains_key(value) {
                continue;
            }
            if index > 0 || places.is_empty() {
                self.write(*value, &result, stamp(*value));
                continue;
            }
            self.parts(op, step, *value, &result, &places, rope, wraps);
        }
        if let Some(at) = self.work.iter().position(|work| work.start == op) {
            self.busy.push((at, self.work[at].homes(self.homes)));
        }
    }

    /// Writes a result but for the parts that are there already.
    #[expect(clippy::too_many_arguments, reason = "one place of one step")]
    fn parts(
        &mut self,
        op: OpId,
        step: u32,
        value: ValueId,
        result: &Rope,
        places: &[plan::Place],
        rope: &dyn Fn(ValueId) -> Rope,
        wraps: &Wraps,
    ) {
        let m = self.homes.module;
        let Some(home) = self.homes.of(value).copied() else { return };
        let whole = image(result, home.size, true);
        let operands: Vec<ValueId> = m.data_operands(op).collect();
        let mut parts: Vec<(Bits, Bits)> = Vec::new();
        for place in places {
            let Some(operand) = operands.get(place.operand as usize).copied() else { continue };
            let (part, from) = (rope(operand), Bits::from(place.byte_offset) * 8);
            let to = from + part.len;
            if part.len == 0 {
                continue;
            }
            if to > result.len || !crate::rope::same(&result.slice(from, to), &part, wraps) {
                let (function, operand) = (self.homes.function(), names::value(m, operand));
                let (op_name, span) = (names::op(m, op), m.op(op).span);
                let byte_offset = place.byte_offset;
                self.violations.push(Violation::Part { function, op: op_name, step, operand, byte_offset, span });
                continue;
            }
            // Who writes the part writes whole bytes: one that shares its last byte with what follows cannot be there alone.
            let covered = self.homes.of(operand).map_or(to, |home| from + Bits::from(home.size) * 8);
            if covered > to && to != result.len {
                let (function, operand) = (self.homes.function(), names::value(m, operand));
                let (op_name, span) = (names::op(m, op), m.op(op).span);
                let (first, end) = (place.byte_offset, (covered / 8) as u64);
                self.violations.push(Violation::PartialByte { function, op: op_name, step, operand, first, end, span });
                continue;
            }
            parts.push((from, to));
        }
        parts.sort_unstable();
        let (base, mut at) = (bits(&home).0, 0);
        self.guard(&home, Stamp { value: Some(value), op: Some(op), step });
        let stamp = Stamp { value: Some(value), op: Some(op), step };
        for (from, to) in parts.into_iter().chain([(whole.len, whole.len)]) {
            if at < from {
                self.memories[home.arena].write(base + at, &whole.slice(at, from), stamp);
            }
            at = at.max(to);
        }
    }

    /// A view declares that its result is bytes of the operand, wherever these lie.
    fn view(
        &mut self,
        op: OpId,
        step: u32,
        key: u128,
        view: plan::View,
        rope: &dyn Fn(ValueId) -> Rope,
        wraps: &Wraps,
    ) {
        let m = self.homes.module;
        let (results, operand) = (m.data_results(op), m.data_operand(op, view.operand as usize));
        let (Some(value), Some(operand)) = (results.get(view.result as usize), operand) else { return };
        let fact = shared::may_view(self.homes.row(op), &view);
        let callers = self.homes.is_external(*value) && !crate::effects::is_buffer(m, *value);
        if (callers || !fact) && !self.says(key, shared::view(key, &view)) {
            if callers {
                let (function, span) = (self.homes.function(), m.op(op).span);
                let (op, value) = (names::op(m, op), names::value(m, *value));
                self.violations.push(Violation::NotTheCallers { function, op, value, span });
            } else {
                self.unpermitted(op, plan::VIEW, *value);
            }
        }
        if crate::effects::is_buffer(m, *value) {
            return;
        }
        let (result, from) = (rope(*value), Bits::from(view.byte_offset) * 8);
        let whole = rope(operand);
        let inside = from + result.len <= whole.len;
        if inside && (result.len == 0 || crate::rope::same(&whole.slice(from, from + result.len), &result, wraps)) {
            return;
        }
        let (function, op_name, span) = (self.homes.function(), names::op(m, op), m.op(op).span);
        let (value, operand) = (names::value(m, *value), names::value(m, operand));
        let byte_offset = view.byte_offset;
        self.violations.push(Violation::View { function, op: op_name, step, value, operand, byte_offset, span });
    }

    /// Whether the source says of this use, too, what the plan says.
    fn says(&mut self, key: u128, name: u128) -> bool {
        let Some(most) = self.shares.most(key, name) else { return true };
        let said = self.said.entry(name).or_default();
        *said += 1;
        *said <= most
    }

    /// Bytes are said to be shared, and neither a fact nor the source says so.
    fn unpermitted(&mut self, op: OpId, attribute: &'static str, value: ValueId) {
        let m = self.homes.module;
        let (function, span) = (self.homes.function(), m.op(op).span);
        let (op, value) = (names::op(m, op), names::value(m, value));
        self.violations.push(Violation::Unpermitted { function, op, attribute, value, span });
    }

    /// A buffer got another content; it is written when the operation ends.
    pub(crate) fn stored(&mut self, _op: OpId, value: ValueId) {
        self.stored.push(value);
    }

    /// At the end: what is returned, held or kept is whole.
    pub(crate) fn end(&mut self, last: Option<OpId>, step: u32, results: &[(ValueId, Rope)], wraps: &Wraps) {
        let m = self.homes.module;
        for (value, rope) in results {
            self.read(*value, rope, &|| last.map_or("the end".to_owned(), |op| names::op(m, op)), step, wraps);
        }
        for (value, rope) in std::mem::take(&mut self.kept) {
            self.read(value, &rope, &|| "whoever reads it after the run".to_owned(), step, wraps);
        }
    }

    /// Before the bodies of a branch.
    pub(crate) fn fork(&mut self) {
        let marks = self.memories.iter_mut().map(Memory::fork).collect();
        self.forks.push(Fork { marks, dirty: Vec::new() });
    }

    /// At the end of a body: what it yields is there. After a body that only perhaps ran, the next one starts from the bytes before.
    pub(crate) fn body_end(
        &mut self,
        last: Option<OpId>,
        step: u32,
        results: &[(ValueId, Rope)],
        wraps: &Wraps,
        certain: bool,
    ) {
        let m = self.homes.module;
        if let Some(last) = last {
            self.handed_out(last, step.saturating_sub(1));
        }
        for (value, rope) in results {
            self.read(*value, rope, &|| last.map_or("the end".to_owned(), |op| names::op(m, op)), step, wraps);
        }
        if certain {
            return;
        }
        let Some(fork) = self.forks.last_mut() else { return };
        for (arena, memory) in self.memories.iter_mut().enumerate() {
            let dirty = memory.rollback(fork.marks[arena]);
            fork.dirty.extend(dirty.into_iter().map(|(start, end, stamp)| (arena, start, end, stamp)));
        }
    }

    /// The last operation of a body hands its values to results, and in a loop to the next trip.
    fn handed_out(&mut self, last: OpId, step: u32) {
        for hand in overlap::hands(self.homes, last) {
            overlap::handing_out(self.homes, &hand, step, &mut self.violations);
        }
    }

    /// After the bodies of a branch.
    pub(crate) fn join(&mut self) {
        let Some(mut fork) = self.forks.pop() else { return };
        fork.dirty.sort_unstable();
        fork.dirty.dedup();
        for (arena, start, end, stamp) in fork.dirty {
            self.memories[arena].poison(start, end, stamp);
        }
        self.memories.iter_mut().for_each(Memory::join);
    }

    /// Arguments that a loop's bodies begin with lie apart, and nothing that goes to them is lost on the way.
    pub(crate) fn arguments(&mut self, op: OpId, step: u32) {
        for hand in overlap::entries(self.homes, op) {
            overlap::handing_out(self.homes, &hand, step, &mut self.violations);
        }
        overlap::arguments(self.homes, op, step, &mut self.violations);
    }

    /// Poisons all that bodies of `op` write: results, scratch.
    pub(crate) fn poison_bodies(&mut self, op: OpId, step: u32) {
        for (home, stamp) in overlap::footprint(self.homes, op, step) {
            let (start, end) = bits(&home);
            self.memories[home.arena].poison(start, end, stamp);
        }
    }

    /// What a loop gathers is there, as far as it has come, when a trip begins and when it ends.
    pub(crate) fn gathered(&mut self, op: OpId, step: u32, begins: bool, wraps: &Wraps) {
        let m = self.homes.module;
        for (index, value) in m.data_results(op).iter().enumerate() {
            if !overlap::gathered(self.homes, op, index) || self.homes.views.contains_key(value) {
                continue;
            }
            let Some(home) = self.homes.of(*value) else { continue };
            let mut mix = Mix::new("gathered so far");
            mix.word(raw(*value) as u64);
            let piece = Rope::of(mix.done(), Bits::from(home.size) * 8);
            if begins {
                self.write(*value, &piece, Stamp { value: Some(*value), op: Some(op), step });
            } else {
                self.read(*value, &piece, &|| format!("the next trip of {}", names::op(m, op)), step, wraps);
            }
        }
    }

    /// What is carried is still there once the condition is computed.
    pub(crate) fn awaiting(&mut self, op: OpId, args: impl Iterator<Item = (ValueId, Rope)>, step: u32, wraps: &Wraps) {
        let m = self.homes.module;
        for (arg, rope) in args.filter(|(arg, _)| !crate::effects::is_buffer(m, *arg)) {
            self.read(arg, &rope, &|| format!("the trip of {} behind its condition", names::op(m, op)), step, wraps);
        }
    }

    /// Writes what a body starts with, where it is not an operand's own bytes.
    pub(crate) fn carried(&mut self, op: OpId, args: &[ValueId], step: u32, rope: &dyn Fn(ValueId) -> Rope) {
        for arg in args.iter().filter(|arg| !self.homes.views.contains_key(*arg)) {
            self.write(*arg, &rope(*arg), Stamp { value: Some(*arg), op: Some(op), step });
        }
    }
}
