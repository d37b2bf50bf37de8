//! What can be wrong with a problem, an order, or a candidate: one variant per broken rule, naming the place.

use crate::ids::{ClassId, GroupId, OpId, StorageId};
use std::fmt;

/// A rule that a [`crate::Spec`] breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemError {
    /// More ops, storages, candidates or edges than 2^31.
    TooLarge,
    /// A storage names an op that does not exist.
    UnknownOp {
        /// Where the name stands.
        place: Place,
        /// The op that does not exist.
        op: OpId,
    },
    /// A candidate or a union names a storage that does not exist.
    UnknownStorage {
        /// Where the name stands.
        place: Place,
        /// The storage that does not exist.
        storage: StorageId,
    },
    /// A storage names a class that does not exist.
    UnknownClass {
        /// The storage.
        storage: StorageId,
        /// The class that does not exist.
        class: ClassId,
    },
    /// All storages and the largest scratch together exceed 2^63-1 bytes.
    TooManyBytes {
        /// Where the sum overflowed.
        place: Place,
    },
    /// The sum of all cycles exceeds 2^63-1.
    TooManyCycles {
        /// The op at which the sum overflowed.
        op: OpId,
    },
    /// Each op must run before the next, and the last before the first.
    Cycle {
        /// The ops along the cycle.
        ops: Vec<OpId>,
    },
    /// The input's order has `then` before `first`.
    InputOrder {
        /// Must run first.
        first: OpId,
        /// Must run after `first`.
        then: OpId,
    },
    /// A candidate's op does not write or read what the candidate says, or both are one storage.
    BadCandidate {
        /// The candidate.
        place: Place,
    },
    /// A part does not fit into its whole.
    PartOutside {
        /// Index into [`crate::Spec::placement`].
        candidate: usize,
    },
    /// The members of a union, or the two sides of a required candidate, are of different classes.
    ClassesDiffer {
        /// Where.
        place: Place,
    },
    /// An op stands in two groups.
    TwoGroups {
        /// The op.
        op: OpId,
        /// The later group.
        group: GroupId,
    },
    /// A group cannot stay together: an op outside must run after one member and before another.
    GroupCycle {
        /// Ops along the cycle, from one member of a group to another one of the same group.
        ops: Vec<OpId>,
    },
    /// A required candidate cannot be had in any order.
    RequiredImpossible {
        /// The candidate.
        place: Place,
        /// Why.
        why: Refusal,
    },
}

/// Where in a [`crate::Spec`] something stands (indices into its lists).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// An op.
    Op(OpId),
    /// A storage.
    Storage(StorageId),
    /// An edge.
    Dep(usize),
    /// An in-place candidate.
    InPlace(usize),
    /// A placement candidate.
    Placement(usize),
    /// A union.
    Union(usize),
    /// A group.
    Group(usize),
}

/// Why a candidate is not, or cannot be, taken in a given order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// `by` touches the operand, or something that shares its bytes, in the same step or later.
    TouchedLater {
        /// The op that still needs the bytes.
        by: OpId,
    },
    /// The operand is kept (a result, or held for the whole run).
    Kept {
        /// The storage that must keep its bytes.
        storage: StorageId,
    },
    /// The result (or the whole) has another writer.
    OtherWriter {
        /// That writer.
        op: OpId,
    },
    /// Another taken candidate already uses the operand, the result, or these bytes of the whole.
    Conflict {
        /// The other candidate.
        with: Place,
    },
    /// The storages are of different classes.
    ClassesDiffer,
    /// A storage that shares bytes with the part is larger than the part's place in the whole.
    LargerThanPlace {
        /// That storage.
        storage: StorageId,
    },
    /// Both are the same storage already.
    SameStorage,
    /// Nothing forbids it: it was not worth taking.
    NotChosen,
}

/// Why an order is not a solution of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderError {
    /// The order is not a permutation of the ops; `op` is missing, doubled or unknown.
    NotAPermutation {
        /// The op.
        op: OpId,
    },
    /// `then` stands before `first`.
    Dependency {
        /// Must run first.
        first: OpId,
        /// Must run after.
        then: OpId,
    },
    /// `op` stands between two members of a group.
    GroupSplit {
        /// The group.
        group: GroupId,
        /// A member that is apart from the others.
        op: OpId,
    },
    /// More storages of a class are live than allowed.
    ClassLimit {
        /// The class.
        class: ClassId,
        /// The step.
        step: usize,
        /// How many are live.
        live: u32,
    },
    /// More bytes of a class are live than allowed.
    ClassCapacity {
        /// The class.
        class: ClassId,
        /// The step.
        step: usize,
        /// How many bytes are live.
        bytes: u64,
    },
    /// A candidate that the order says is taken cannot be.
    Candidate {
        /// The candidate.
        place: Place,
        /// Why not.
        why: Refusal,
    },
    /// A candidate index is out of range, or given twice.
    NoSuchCandidate {
        /// The candidate.
        place: Place,
    },
    /// A required candidate is not taken.
    RequiredNotTaken {
        /// The candidate.
        place: Place,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Op(op) => write!(f, "{op}"),
            Place::Storage(s) => write!(f, "{s}"),
            Place::Dep(i) => write!(f, "dependency {i}"),
            Place::InPlace(i) => write!(f, "in-place candidate {i}"),
            Place::Placement(i) => write!(f, "placement candidate {i}"),
            Place::Union(i) => write!(f, "union {i}"),
            Place::Group(i) => write!(f, "group {i}"),
        }
    }
}

fn path(ops: &[OpId]) -> String {
    let mut names: Vec<String> = ops.iter().take(12).map(OpId::to_string).collect();
    if ops.len() > 12 {
        names.push(format!("({} more)", ops.len() - 12));
    }
    names.extend(ops.first().map(OpId::to_string));
    names.join(" -> ")
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProblemError::TooLarge => {
                write!(f, "more than 2^31 ops, storages, candidates or edges")
            }
            ProblemError::UnknownOp { place, op } => {
                write!(f, "{place} names {op}, which does not exist")
            }
            ProblemError::UnknownStorage { place, storage } => {
                write!(f, "{place} names {storage}, which does not exist")
            }
            ProblemError::UnknownClass { storage, class } => {
                write!(f, "{storage} names {class}, which does not exist")
            }
            ProblemError::TooManyBytes { place } => {
                write!(f, "the sizes add up to more than 2^63-1 bytes at {place}")
            }
            ProblemError::TooManyCycles { op } => {
                write!(f, "the cycles add up to more than 2^63-1 at {op}")
            }
            ProblemError::Cycle { ops } => write!(f, "dependency cycle: {}", path(ops)),
            ProblemError::InputOrder { first, then } => {
                write!(f, "the input has {then} before {first}, which it depends on")
            }
            ProblemError::BadCandidate { place } => {
                write!(f, "{place} does not match what its op reads and writes")
            }
            ProblemError::PartOutside { candidate } => {
                write!(f, "placement candidate {candidate} lies outside its whole")
            }
            ProblemError::ClassesDiffer { place } => {
                write!(f, "{place} joins storages of different classes")
            }
            ProblemError::TwoGroups { op, group } => {
                write!(f, "{op} is in {group} and in an earlier group")
            }
            ProblemError::GroupCycle { ops } => {
                write!(f, "a group cannot stay adjacent: {}", path(ops))
            }
            ProblemError::RequiredImpossible { place, why } => {
                write!(f, "{place} is required but impossible: {why}")
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TouchedLater { by } => write!(f, "{by} still needs the bytes"),
            Refusal::Kept { storage } => write!(f, "{storage} is kept"),
            Refusal::OtherWriter { op } => write!(f, "{op} writes it too"),
            Refusal::Conflict { with } => write!(f, "{with} is taken"),
            Refusal::ClassesDiffer => write!(f, "the classes differ"),
            Refusal::LargerThanPlace { storage } => write!(f, "{storage} is larger than its place"),
            Refusal::SameStorage => write!(f, "both are one storage already"),
            Refusal::NotChosen => write!(f, "it would not lower the peak"),
        }
    }
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderError::NotAPermutation { op } => {
                write!(f, "{op} does not stand exactly once in the order")
            }
            OrderError::Dependency { first, then } => {
                write!(f, "{then} stands before {first}, which it depends on")
            }
            OrderError::GroupSplit { group, op } => {
                write!(f, "{op} is apart from the rest of {group}")
            }
            OrderError::ClassLimit { class, step, live } => {
                write!(f, "{live} storages of {class} are live in step {step}")
            }
            OrderError::ClassCapacity { class, step, bytes } => {
                write!(f, "{bytes} bytes of {class} are live in step {step}")
            }
            OrderError::Candidate { place, why } => write!(f, "{place} cannot be taken: {why}"),
            OrderError::NoSuchCandidate { place } => {
                write!(f, "{place} does not exist or is given twice")
            }
            OrderError::RequiredNotTaken { place } => {
                write!(f, "{place} is required but not taken")
            }
        }
    }
}

impl std::error::Error for ProblemError {}
impl std::error::Error for OrderError {}
