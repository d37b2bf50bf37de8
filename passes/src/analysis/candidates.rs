//! Which results may overwrite an operand, and which operands may be written straight into a result: the input's candidates
//! (`neap.may_inplace`, `neap.may_place`), each either handed to the ordering solver or refused for a reason that no order changes.
//!
//! Sound because a candidate is refused unless everything that could read the bytes afterwards is a reader that the solver knows: the
//! operand lives in the arena, is defined in the same body, is neither kept nor handed out, and no other operand of the operation
//! lies in the bytes that the result covers, except one with the same permission over the same bytes.

use super::live::Live;
use super::names::value_name;
use super::order_problem::{Draft, Readers};
use super::storage::lcm;
use super::timeline::{EntryId, Timeline};
use super::values::{Home, Site, Slot, Values};
use neap_ir::facts::{Role, Run};
use neap_ir::plan::{self, InPlace, Place};
use neap_ir::{Attr, Module, ValueId};
use neap_order::{OpId, Placement, StorageId};

/// What `neap.reuse` asks of an operation or an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reuse {
    /// Share nothing.
    Never,
    /// Share where it helps.
    #[default]
    Auto,
    /// Warn where nothing is shared.
    Warn,
    /// Refuse to plan where nothing is shared.
    Must,
}

impl Reuse {
    /// The policy of an attribute.
    pub fn of(attr: Option<&Attr>) -> Reuse {
        match attr.and_then(Attr::as_str) {
            Some("never") => Reuse::Never,
            Some("warn") => Reuse::Warn,
            Some("must") => Reuse::Must,
            _ => Reuse::Auto,
        }
    }
}

/// The policy for an operation: its own, else that of the function around it, which is the run's.
#[must_use]
pub fn policy(module: &Module, op: neap_ir::OpId) -> Reuse {
    let mut at = Some(op);
    while let Some(op) = at {
        let own = module.attr(op, "neap.reuse");
        if own.is_some() {
            return Reuse::of(own);
        }
        at = module.parent_op(op);
    }
    Reuse::Auto
}

/// One candidate of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pair {
    /// A result over an operand.
    InPlace(InPlace),
    /// An operand inside the result.
    Place(Place),
}

/// A candidate of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The entry.
    pub entry: EntryId,
    /// Which operand and result.
    pub pair: Pair,
    /// What the user asks.
    pub reuse: Reuse,
}

/// Why no order lets a candidate be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// `neap.reuse = "never"`.
    Never,
    /// There is no such operand or result, or it has no bytes.
    NoBytes,
    /// The result lies elsewhere: a view, or not in the arena.
    ResultElsewhere,
    /// The operand is resident.
    Constant,
    /// The operand or the result is the caller's memory.
    External,
    /// The operand is a variable's state.
    State,
    /// The operand stays for the whole run.
    Held,
    /// The operand is a result of the function.
    IsResult,
    /// The operand is kept (`neap.keep`, or asynchronous work that is never awaited).
    Kept,
    /// The operand is handed out by its body.
    HandedOut,
    /// The operand is defined outside the loop and read again on the next trip.
    NextTrip,
    /// The operand is defined outside the body.
    OutsideBody,
    /// The result would end outside of what the operand is a view of.
    EndsOutside,
    /// Another operand of the operation lies in the same bytes.
    OtherOperand(String),
    /// The part is only a piece of its storage.
    OnlyAPiece,
    /// An operation asks for an alignment that the place does not have.
    Alignment(u64),
    /// The operand or the result must lie at a fixed offset.
    Pinned,
    /// The bodies run at the same time as others.
    SameTime,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Never => f.write_str("`neap.reuse` is \"never\""),
            Why::NoBytes => f.write_str("there is no such operand or result with bytes"),
            Why::ResultElsewhere => f.write_str("the result has no bytes of its own in the arena"),
            Why::Constant => f.write_str("the operand is constant"),
            Why::External => f.write_str("its bytes are external, the caller's"),
            Why::State => f.write_str("the operand is a variable's state"),
            Why::Held => f.write_str("the operand is held for the whole run"),
            Why::IsResult => f.write_str("the operand is itself a result of the function"),
            Why::Kept => f.write_str("the operand is kept"),
            Why::HandedOut => f.write_str("the operand is handed out by its body"),
            Why::NextTrip => f.write_str("the operand is defined outside the loop and read again on the next trip"),
            Why::OutsideBody => f.write_str("the operand is defined outside the body"),
            Why::EndsOutside => f.write_str("the result would end outside of what the operand is a view of"),
            Why::OtherOperand(name) => write!(f, "operand {name} lies in the same bytes"),
            Why::OnlyAPiece => f.write_str("the part is only a piece of what it shares bytes with"),
            Why::Alignment(align) => {
                write!(f, "an operation asks for alignment {align}, which the place does not have")
            }
            Why::Pinned => f.write_str("a fixed offset is asked for"),
            Why::SameTime => f.write_str("the body runs at the same time as others"),
        }
    }
}

/// What the candidates of a function are judged by.
pub struct Judge<'a, 'f> {
    /// The module.
    pub module: &'a Module,
    /// When each operation runs.
    pub timeline: &'a Timeline<'f>,
    /// Whose bytes each value's are.
    pub values: &'a Values,
    /// When each value is needed.
    pub live: &'a Live,
    /// Who reads what.
    pub readers: &'a Readers,
    /// By value, for owners: the alignment that operations ask of any alias.
    align: Vec<u64>,
}

impl<'a, 'f> Judge<'a, 'f> {
    /// Gathers alignments.
    pub fn new(
        module: &'a Module,
        timeline: &'a Timeline<'f>,
        values: &'a Values,
        live: &'a Live,
        readers: &'a Readers,
    ) -> Judge<'a, 'f> {
        let mut align = vec![1u64; values.len()];
        for (_, entry) in timeline.iter() {
            let Some(asked) = module.attr(entry.op, plan::ALIGN).and_then(Attr::as_i64).filter(|align| *align > 1)
            else {
                continue;
            };
            for value in module.operands(entry.op).chain(module.results(entry.op).iter().copied()) {
                if let Some(slot) = values.slot(value) {
                    let align = &mut align[values.owner(slot).index()];
                    *align = lcm(*align, asked as u64).unwrap_or(*align);
                }
            }
        }
        Judge { module, timeline, values, live, readers, align }
    }

    /// Puts the candidates of a draft's operations into its problem. Returns, in the order of the problem's lists, what each stands for,
    /// and what was refused.
    pub fn fill(&self, draft: &mut Draft) -> Filled {
        let mut filled = Filled::default();
        for (at, entry) in draft.ops.clone().into_iter().enumerate() {
            let op = self.timeline.entry(entry).op;
            let reuse = policy(self.module, op);
            let pairs = self.module.in_places(op, plan::MAY_INPLACE);
            for pair in &pairs {
                let candidate = Candidate { entry, pair: Pair::InPlace(*pair), reuse };
                match self.in_place(draft, candidate, *pair, &pairs) {
                    Ok((result, operand)) => {
                        let op = OpId(at as u32);
                        draft.spec.in_place.push(neap_order::InPlace { op, result, operand, required: false });
                        filled.in_place.push(candidate);
                    }
                    Err(why) => filled.refused.push((candidate, why)),
                }
            }
            for pair in self.module.places(op, plan::MAY_PLACE) {
                let candidate = Candidate { entry, pair: Pair::Place(pair), reuse };
                match self.placement(draft, candidate, pair) {
                    Ok((part, whole)) => {
                        let (op, offset) = (OpId(at as u32), pair.byte_offset);
                        draft.spec.placement.push(Placement { op, part, whole, offset, required: false });
                        filled.placement.push(candidate);
                    }
                    Err(why) => filled.refused.push((candidate, why)),
                }
            }
        }
        filled
    }

    fn in_place(
        &self,
        draft: &Draft,
        candidate: Candidate,
        pair: InPlace,
        all: &[InPlace],
    ) -> Result<(StorageId, StorageId), Why> {
        let entry = self.timeline.entry(candidate.entry);
        let result = self.module.data_results(entry.op).get(pair.result as usize).copied();
        let operand = self.module.data_operand(entry.op, pair.operand as usize);
        let (result, operand) = self.sides(draft, candidate, result, operand)?;
        let (owner, offset) = (self.values.owner(operand), self.values.info(operand).offset);
        if offset > 0 && offset + self.values.info(result).bytes > self.readers.extent[owner.index()] {
            return Err(Why::EndsOutside);
        }
        if !offset.is_multiple_of(self.align[result.index()]) {
            return Err(Why::Alignment(self.align[result.index()]));
        }
        if self.pin(result).is_some() && self.pin(owner).is_some() {
            return Err(Why::Pinned);
        }
        self.other_operands(candidate.entry, pair, all, operand, result)?;
        let storage = |slot| draft.storage(slot).ok_or(Why::NoBytes);
        Ok((storage(result)?, storage(owner)?))
    }

    fn placement(&self, draft: &Draft, candidate: Candidate, pair: Place) -> Result<(StorageId, StorageId), Why> {
        let entry = self.timeline.entry(candidate.entry);
        let whole = self.module.data_results(entry.op).first().copied();
        let part = self.module.data_operand(entry.op, pair.operand as usize);
        let (whole, part) = self.sides(draft, candidate, whole, part)?;
        let (owner, info) = (self.values.owner(part), self.values.info(part));
        if info.offset != 0 || info.bytes != self.readers.extent[owner.index()] {
            return Err(Why::OnlyAPiece);
        }
        let end = pair.byte_offset.checked_add(info.bytes);
        if end.is_none_or(|end| end > self.readers.extent[whole.index()]) {
            return Err(Why::EndsOutside);
        }
        if !pair.byte_offset.is_multiple_of(self.align[owner.index()]) {
            return Err(Why::Alignment(self.align[owner.index()]));
        }
        if self.pin(owner).is_some() {
            return Err(Why::Pinned);
        }
        let storage = |slot| draft.storage(slot).ok_or(Why::NoBytes);
        Ok((storage(owner)?, storage(whole)?))
    }

    /// What both kinds of candidates need of the result and the operand.
    fn sides(
        &self,
        draft: &Draft,
        candidate: Candidate,
        result: Option<ValueId>,
        operand: Option<ValueId>,
    ) -> Result<(Slot, Slot), Why> {
        let slot = |value: Option<ValueId>| value.and_then(|value| self.values.slot(value)).ok_or(Why::NoBytes);
        let (result, operand) = (slot(result)?, slot(operand)?);
        let owner = self.values.owner(operand);
        if candidate.reuse == Reuse::Never || self.reuse_of(owner) == Reuse::Never {
            return Err(Why::Never);
        }
        match (self.values.home(result), self.values.home(operand)) {
            (Home::External, _) | (_, Home::External) => return Err(Why::External),
            (_, Home::Constant) => return Err(Why::Constant),
            (_, Home::State) => return Err(Why::State),
            (_, Home::Nothing) => return Err(Why::NoBytes),
            (Home::Arena, Home::Arena) => {}
            _ => return Err(Why::ResultElsewhere),
        }
        if self.values.owner(result) != result {
            return Err(Why::ResultElsewhere);
        }
        // Without bytes there is still something to share where a class counts.
        let empty = [result, operand].map(|slot| self.values.info(slot).bytes == 0);
        if empty[0] != empty[1] || (empty[0] && draft.storage(result).is_none()) {
            return Err(Why::NoBytes);
        }
        if self.values.info(owner).body != draft.body || matches!(self.values.info(owner).site, Site::BodyArg(_)) {
            return Err(self.outside(draft));
        }
        if matches!(candidate.pair, Pair::InPlace(_)) {
            self.may_die(owner)?;
        }
        Ok((result, operand))
    }

    /// Whether a value's bytes are ever free before the end.
    fn may_die(&self, owner: Slot) -> Result<(), Why> {
        let at = owner.index();
        if self.live.held[at] {
            return Err(Why::Held);
        }
        if self.readers.yielded[at] {
            let function = self.values.info(owner).body.0 == 0;
            return Err(if function { Why::IsResult } else { Why::HandedOut });
        }
        if self.live.kept[at] { Err(Why::Kept) } else { Ok(()) }
    }

    fn outside(&self, draft: &Draft) -> Why {
        match self.timeline.run_of(draft.body) {
            Run::Loop | Run::Parallel => Why::NextTrip,
            _ => Why::OutsideBody,
        }
    }

    /// Refuses where another operand would be overwritten before it is read.
    fn other_operands(
        &self,
        entry: EntryId,
        pair: InPlace,
        all: &[InPlace],
        operand: Slot,
        result: Slot,
    ) -> Result<(), Why> {
        let (mine, bytes) = (self.values.info(operand), self.values.info(result).bytes);
        let (op, role) = (self.timeline.entry(entry).op, self.timeline.entry(entry).facts.role);
        // Two operands over the same bytes are read alike where they are one value, or where elements are taken in lock step.
        let lockstep = matches!(role, Role::Elementwise | Role::Quantize | Role::Dequantize);
        let overwritten = self.module.data_operand(op, pair.operand as usize);
        for (index, value) in self.module.data_operands(op).enumerate() {
            let Some(slot) = self.values.slot(value).filter(|_| index != pair.operand as usize) else { continue };
            let other = self.values.info(slot);
            let apart = other.offset >= mine.offset.saturating_add(bytes)
                || mine.offset >= other.offset.saturating_add(other.bytes);
            if other.owner != mine.owner || apart {
                continue;
            }
            let alike = lockstep || overwritten == Some(value);
            let same = alike && other.offset == mine.offset && other.bytes == mine.bytes;
            // What the input itself declares, of an operation whose facts say nothing, it declares of the value.
            if self.timeline.entry(entry).facts.inplace.is_empty() && overwritten == Some(value) {
                continue;
            }
            if !same || !all.iter().any(|also| also.result == pair.result && also.operand as usize == index) {
                return Err(Why::OtherOperand(value_name(self.module, value)));
            }
        }
        Ok(())
    }

    fn reuse_of(&self, owner: Slot) -> Reuse {
        match self.values.info(owner).site {
            Site::Argument(index) => Reuse::of(self.module.arg_attr(self.timeline.func, index as usize, "neap.reuse")),
            _ => Reuse::Auto,
        }
    }

    fn pin(&self, owner: Slot) -> Option<i64> {
        let (attr, index) = match self.values.info(owner).site {
            Site::Argument(index) => (self.module.arg_attr(self.timeline.func, index as usize, "neap.pin")?, 0),
            Site::Result(id, index) => (self.module.attr(self.timeline.entry(id).op, "neap.pin")?, index as usize),
            Site::BodyArg(_) => return None,
        };
        let list = attr.as_i64().map(|one| vec![one]).or_else(|| attr.as_i64s())?;
        list.get(index).copied().filter(|pin| *pin >= 0)
    }
}

/// What the candidates in a problem stand for, and which are not in it.
#[derive(Clone, Debug, Default)]
pub struct Filled {
    /// By in-place candidate of the problem.
    pub in_place: Vec<Candidate>,
    /// By placement candidate of the problem.
    pub placement: Vec<Candidate>,
    /// Candidates that no order lets be taken, with the reason.
    pub refused: Vec<(Candidate, Why)>,
}
