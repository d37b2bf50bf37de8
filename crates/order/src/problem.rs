//! The ordering problem as plain data, and its checked form.
//!
//! [`Spec`] is what a caller fills in; [`Problem`] is a `Spec` that [`Problem::new`] has checked, with the
//! adjacency that all solvers share. Nothing here knows what an op computes.
//!
//! Memory model: an op runs during one step. A storage is live on the half-open steps from the first op that
//! touches (writes or reads) it to the last, plus one. A storage without writers is an argument and is live from step 0; an argument
//! that no op touches is live during step 0 alone. `live_out` extends the range to the end, `whole_run` makes it the whole run.
//! During a step the bytes held are the live storages and the op's scratch.
//!
//! Dependencies: a storage with exactly one writer orders that writer before every reader. A storage with several
//! writers implies nothing (who needs which part is the caller's knowledge): give those edges in [`Spec::deps`]. An op that works on a
//! view depends on the op that makes the view: give that edge too.

use crate::csr::Csr;
use crate::error::ProblemError;
use crate::ids::{ClassId, OpId, StorageId};
use crate::validate;

/// One op.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Op {
    /// Bytes needed during the op's own step only.
    pub scratch: u64,
    /// Estimated duration, for the critical path and the makespan; 0 when unknown.
    pub cycles: u64,
    /// Which unit runs it, for the makespan: ops of one unit run one after the other.
    pub unit: u32,
}

/// A set of values that share bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Storage {
    /// Bytes, held for the whole life.
    pub size: u64,
    /// Ops that write it. None: an argument, live from the start. Several: written in parts.
    pub writers: Vec<OpId>,
    /// Ops that read it (an op may be in both lists).
    pub readers: Vec<OpId>,
    /// Kept to the end (a result).
    pub live_out: bool,
    /// Held during the whole run.
    pub whole_run: bool,
    /// Exclusive class; counted in its class even when `size` is 0.
    pub class: Option<ClassId>,
}

/// A candidate: `op` may write `result` over `operand`, when `op` is the last to touch `operand`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InPlace {
    /// The op that reads `operand` and is the only writer of `result`.
    pub op: OpId,
    /// Written by `op`.
    pub result: StorageId,
    /// Read by `op`.
    pub operand: StorageId,
    /// The caller demands it: every other op that touches `operand` is ordered before `op`.
    pub required: bool,
}

/// A candidate: `part` may be written straight into `whole`, so that `op` (a concat) has nothing to copy for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Placement {
    /// The op that reads `part` and is the only writer of `whole`.
    pub op: OpId,
    /// Read by `op`.
    pub part: StorageId,
    /// Written by `op`.
    pub whole: StorageId,
    /// Where `part` lies in `whole`, in bytes.
    pub offset: u64,
    /// The caller demands it.
    pub required: bool,
}

/// An exclusive class of storages (a small local buffer, a register file).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Class {
    /// At most so many storages of the class are live in a step.
    pub limit: Option<u32>,
    /// At most so many bytes of the class are live in a step.
    pub capacity: Option<u64>,
}

/// The problem as the caller states it. Valid only after [`Problem::new`] has said so.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Spec {
    /// Ops in the input's order, which must respect every dependency.
    pub ops: Vec<Op>,
    /// Storages; alias sets are already merged, views are no storages.
    pub storages: Vec<Storage>,
    /// Further edges `(first, then)`.
    pub deps: Vec<(OpId, OpId)>,
    /// In-place candidates.
    pub in_place: Vec<InPlace>,
    /// Placement candidates.
    pub placement: Vec<Placement>,
    /// Storages that are one storage, of the largest member's size: each list is one union.
    pub unions: Vec<Vec<StorageId>>,
    /// Exclusive classes.
    pub classes: Vec<Class>,
    /// Ops that run one directly after the other, in any legal order among themselves.
    pub groups: Vec<Vec<OpId>>,
}

/// A checked [`Spec`] with the adjacency that solvers share.
#[derive(Debug, Clone)]
pub struct Problem {
    pub(crate) spec: Spec,
    /// Representative (smallest id) of each storage under `spec.unions`.
    pub(crate) rep: Vec<u32>,
    /// Direct predecessors and successors of each op, required in-place edges included.
    pub(crate) preds: Csr,
    pub(crate) succs: Csr,
    /// Group of each op, `u32::MAX` for none.
    pub(crate) group: Vec<u32>,
    /// Whether the input's order also respects required candidates and groups.
    pub(crate) input_legal: bool,
    /// An order that respects dependencies and groups (the input's order when that is legal).
    pub(crate) legal_order: Vec<u32>,
}

impl Problem {
    /// Checks `spec` and builds the adjacency, in time linear in its size.
    ///
    /// # Errors
    /// The first rule that `spec` breaks, by name and place.
    pub fn new(spec: Spec) -> Result<Problem, ProblemError> {
        validate::problem(spec)
    }

    /// The statement of the problem.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Number of ops.
    pub fn ops(&self) -> usize {
        self.spec.ops.len()
    }

    /// The ops that must run before `op`, directly.
    pub fn predecessors(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        self.preds.row(op.index()).iter().map(|&p| OpId(p))
    }

    /// The ops that must run after `op`, directly.
    pub fn successors(&self, op: OpId) -> impl Iterator<Item = OpId> + '_ {
        self.succs.row(op.index()).iter().map(|&p| OpId(p))
    }
}
