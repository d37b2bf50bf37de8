//! The attributes that a plan is made of, spelled in one place.
//!
//! Passes write them, the checker and the writers read them. All are builtin attributes with a `neap.` prefix, legal on operations
//! of any dialect. A reader of a malformed attribute gets `None`: the verifier reports it.

use crate::attr::Attr;
use crate::module::{Module, OpId};

/// Bytes in the arena, parallel to the data results, -1 = none.
pub const OFFSETS: &str = "neap.offsets";
/// The arena of each data result: a symbol or an array of symbols.
pub const ARENA: &str = "neap.arena";
/// Half-open steps `[begin, end)` of each data result's own value, as pairs.
pub const LIVE: &str = "neap.live";
/// Results that lie inside an operand.
pub const VIEW: &str = "neap.view";
/// Results that may overwrite an operand.
pub const MAY_INPLACE: &str = "neap.may_inplace";
/// Results that do overwrite an operand.
pub const INPLACE: &str = "neap.inplace";
/// On the last operation of a body: data results of the operation around it that lie where this body's own values lie, as an array of
/// integers. Handing these out copies nothing.
pub const HANDED: &str = "neap.handed";
/// Operands that may be written straight into the result.
pub const MAY_PLACE: &str = "neap.may_place";
/// Operands that are written straight into the result.
pub const PLACE: &str = "neap.place";
/// Bytes an operation needs during its own step only.
pub const SCRATCH: &str = "neap.scratch";
/// Where the scratch lies, in bytes.
pub const SCRATCH_OFFSET: &str = "neap.scratch_offset";
/// The arena of the scratch: a symbol, where arenas are declared.
pub const SCRATCH_ARENA: &str = "neap.scratch_arena";
/// Where arguments of an operation's bodies that are storages of their own lie, in bytes, over all regions in order, -1 = none.
pub const ARG_OFFSETS: &str = "neap.arg_offsets";
/// The arena of each entry of [`ARG_OFFSETS`], where arenas are declared: a symbol or an array of symbols.
pub const ARG_ARENAS: &str = "neap.arg_arenas";
/// How many bytes of a call's scratch are the arena of what it calls; they come first.
pub const CALLEE_BYTES: &str = "neap.callee_bytes";
/// The alignment that the arena of what a call runs must start at, where it is more than 1.
pub const CALLEE_ALIGN: &str = "neap.callee_align";
/// Alignment in bytes that an operation asks of all storages it touches.
pub const ALIGN: &str = "neap.align";
/// Where an argument lies, in bytes.
pub const OFFSET: &str = "neap.offset";
/// `arena`, `held` or `external`, on arguments and function results.
pub const IO: &str = "neap.io";
/// The arena whose capacity an external argument or result takes bytes of: the caller's memory is in it.
pub const EXTERNAL_IN: &str = "neap.external_in";
/// What a function needs: the largest number of bytes live at one step.
pub const PEAK: &str = "neap.peak";
/// What a function needs: the largest end of a storage.
pub const ARENA_BYTES: &str = "neap.arena_bytes";
/// No order of the function's operations has a smaller peak than this.
pub const LOWER_BOUND: &str = "neap.lower_bound";
/// What stands behind the bound: `certified`, `search`, `tree`, `none`.
pub const PROOF: &str = "neap.proof";
/// On a copy of an operation, which computes a value again: the how many-th copy it is.
pub const RECOMPUTED: &str = "neap.recomputed";
/// Identifies the graph that a plan was made for.
pub const FINGERPRINT: &str = "neap.fingerprint";

/// On the module: the profile that a plan was made with, by its name or its file.
pub const PROFILE: &str = "neap.profile";
/// On the module: the range of a dimension's sizes that a plan is for, `{N = [1, 64]}`, where there is a plan for each of several.
pub const BUCKET: &str = "neap.bucket";

/// Every attribute that a plan adds to functions and what is in them: what `strip-plan` removes.
pub const WRITTEN: &[&str] = &[
    OFFSETS,
    ARENA,
    LIVE,
    INPLACE,
    HANDED,
    PLACE,
    SCRATCH_OFFSET,
    SCRATCH_ARENA,
    ARG_OFFSETS,
    ARG_ARENAS,
    CALLEE_BYTES,
    CALLEE_ALIGN,
    OFFSET,
    PEAK,
    ARENA_BYTES,
    LOWER_BOUND,
    PROOF,
    FINGERPRINT,
];

/// Result `result` lies inside operand `operand`, `byte_offset` bytes from its start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct View {
    /// Index among the data results.
    pub result: u32,
    /// Index among the data operands.
    pub operand: u32,
    /// Bytes from the start of the operand.
    pub byte_offset: u64,
}

/// Result `result` overwrites operand `operand`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InPlace {
    /// Index among the data results.
    pub result: u32,
    /// Index among the data operands.
    pub operand: u32,
}

/// Operand `operand` is written straight into the first data result, `byte_offset` bytes from its start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// Index among the data operands.
    pub operand: u32,
    /// Bytes from the start of the result.
    pub byte_offset: u64,
}

impl Module {
    /// `neap.view` of an operation; empty where there is none.
    pub fn views(&self, op: OpId) -> Vec<View> {
        self.dicts(op, VIEW, |get| {
            Some(View {
                result: index(get("result"))?,
                operand: index(get("operand"))?,
                byte_offset: bytes(get("byte_offset"))?,
            })
        })
    }

    /// `neap.may_inplace` or `neap.inplace` of an operation.
    pub fn in_places(&self, op: OpId, key: &str) -> Vec<InPlace> {
        self.dicts(op, key, |get| Some(InPlace { result: index(get("result"))?, operand: index(get("operand"))? }))
    }

    /// `neap.may_place` or `neap.place` of an operation.
    pub fn places(&self, op: OpId, key: &str) -> Vec<Place> {
        self.dicts(op, key, |get| {
            Some(Place { operand: index(get("operand"))?, byte_offset: bytes(get("byte_offset"))? })
        })
    }

    /// `neap.handed` of the last operation of a body.
    pub fn handed(&self, op: OpId) -> Vec<u32> {
        let list = self.attr(op, HANDED).and_then(Attr::as_i64s).unwrap_or_default();
        list.into_iter().filter_map(|index| u32::try_from(index).ok()).collect()
    }

    /// Writes `neap.handed`; an empty list removes it.
    pub fn set_handed(&mut self, op: OpId, list: &[u32]) {
        if list.is_empty() {
            self.remove_attr(op, HANDED);
            return;
        }
        let list = self.i64s_attr(list.iter().map(|index| i64::from(*index)).collect());
        self.set_attr(op, HANDED, list);
    }

    /// Writes `neap.view`; an empty list removes it.
    pub fn set_views(&mut self, op: OpId, views: &[View]) {
        let items = views.iter().map(|view| {
            vec![("result", view.result.into()), ("operand", view.operand.into()), ("byte_offset", view.byte_offset)]
        });
        self.set_dicts(op, VIEW, items.collect());
    }

    /// Writes `neap.may_inplace` or `neap.inplace`; an empty list removes it.
    pub fn set_in_places(&mut self, op: OpId, key: &str, list: &[InPlace]) {
        let items = list.iter().map(|item| vec![("result", item.result.into()), ("operand", item.operand.into())]);
        self.set_dicts(op, key, items.collect());
    }

    /// Writes `neap.may_place` or `neap.place`; an empty list removes it.
    pub fn set_places(&mut self, op: OpId, key: &str, list: &[Place]) {
        let items = list.iter().map(|item| vec![("operand", item.operand.into()), ("byte_offset", item.byte_offset)]);
        self.set_dicts(op, key, items.collect());
    }

    fn dicts<T>(&self, op: OpId, key: &str, read: impl Fn(&dyn Fn(&str) -> Option<i64>) -> Option<T>) -> Vec<T> {
        let Some(Attr::Array(items)) = self.attr(op, key) else { return Vec::new() };
        let read_one = |item: &Attr| {
            let Attr::Dict(dict) = item else { return None };
            read(&|key| dict.iter().find(|(name, _)| self.text(*name) == key)?.1.as_i64())
        };
        items.iter().filter_map(read_one).collect()
    }

    fn set_dicts(&mut self, op: OpId, key: &str, items: Vec<Vec<(&str, u64)>>) {
        if items.is_empty() {
            self.remove_attr(op, key);
            return;
        }
        let mut list = Vec::new();
        for item in items {
            let mut pairs = Vec::new();
            for (name, value) in item {
                pairs.push((name, self.i64_attr(value as i64)));
            }
            list.push(self.dict_attr(pairs));
        }
        self.set_attr(op, key, Attr::Array(list));
    }
}

fn index(value: Option<i64>) -> Option<u32> {
    u32::try_from(value?).ok()
}

fn bytes(value: Option<i64>) -> Option<u64> {
    u64::try_from(value.unwrap_or(0)).ok()
}
