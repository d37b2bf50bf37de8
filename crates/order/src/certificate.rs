//! Certificates: a lower bound on the peak of *every* order, which anyone can verify in linear time.
//!
//! # The claim
//! For one op `v`: whatever the order and whatever candidates it takes, at least `bound` bytes are held during `v`. For every set of
//! candidates that `v` may take together there is a flow; the bound is the least over the sets.
//!
//! # The network of `v` and a set `taken`
//! Storages are the representatives under `Spec::unions` and required candidates (`size` the largest member's, writers, readers and flags joined).
//! Let `E` be the ops that must run before `v` (predecessors, transitively) and `F` be `v` and all ops that must run after it.
//! - Nodes: `Source` (all of `E`), `Sink` (all of `F`), `Op(u)` for every other op, `In(s)` and `Out(s)` for storages.
//! - *Held* storages, the ones that are `whole_run` or arguments that are `live_out`, have no nodes; each counts fully in the constant. But storages
//!   that open (not required) candidates may join with a held one, directly or by a chain of candidates, may lie in its bytes: of such a chain only the
//!   largest held storage counts, everything else in it is left out (no nodes, nothing in the constant, not even as own). Candidates
//!   whose operand is held or `live_out` join nothing, for they are never taken.
//! - *Own* storages, the ones `v` writes, have no nodes. Each counts fully in the constant. The constant further holds the scratch of `v`.
//! - Left out as well: storages that a placement in `taken` names as part; parts of two or more placement candidates with different ops (they
//!   may lie in either whole); arguments that no op touches and that are not kept.
//! - Edges of unlimited capacity: `Op(w) -> In(s)` for each writer `w`, and for each reader too when the storage has several writers or none
//!   (`Source -> In(s)` when `w` is in `E` or `s` has no writer); `Out(s) -> Op(u)` for each op `u` that reads or writes `s` (`Out(s) -> Sink`
//!   when `u` is in `F`, or when `s` is `live_out`); `Op(u) -> Op(p)` for each direct predecessor `p` of `u` (`p` in `E` needs no edge, a `u` in `F` neither).
//! - Edges of capacity `size`: `In(s) -> Out(s)`.
//! - An in-place candidate of `taken` with operand `x`: `Out(x)` has no edge for the reader `v` (it still has those for others, `Sink` included).
//! - A storage that is the part of placement candidates of exactly one op `c` (`c != v`) keeps of its `Out` edges only the one to `c`, and it
//!   is not `live_out` here: once `c` has run the part may lie inside the whole, which is counted.
//!
//! # Why it bounds
//! Let `D` be the ops run before `v` in some order. `D` holds `E` and nothing of `F`, and is closed under predecessors, so `Source`
//! with `D` against the rest cuts no unlimited edge, and cuts `In(s) -> Out(s)` exactly for the storages that are live before `v` and stay live during it. By
//! weak duality the value of any flow is at most what that cut carries; so constant + flow value is at most the bytes held during `v`.
//! Flows with *fewer* edges than the network has are still flows: leaving out is always sound.
//!
//! # Verifying
//! For each listed flow: every edge is an edge of the network of its `taken`, `flow <= capacity` (rebuild the capacity, do not read it), what
//! enters `In`, `Out` and `Op` nodes leaves them, value = what leaves `Source` minus what enters it. For every inclusion-maximal
//! set of candidates that `v` may take together (at most one operand per result and one result per operand; all parts of a
//! concat) some listed `taken` must contain it: a larger set only removes edges, so its flow is valid for the smaller set too.

use crate::ids::{OpId, StorageId};
use crate::taken::Taken;

/// A node of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// All ops that must run before the certificate's op.
    Source,
    /// The certificate's op and all that must run after it.
    Sink,
    /// An op that may run before or after.
    Op(OpId),
    /// A storage has been started.
    In(StorageId),
    /// A storage is still needed.
    Out(StorageId),
}

/// An edge that carries flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowEdge {
    /// Where it starts.
    pub from: Node,
    /// Where it ends.
    pub to: Node,
    /// Bytes; `None` is unlimited.
    pub capacity: Option<u64>,
    /// Bytes, more than 0.
    pub flow: u64,
}

/// A flow for one set of candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetFlow {
    /// Candidates of the op that are taken (a set that contains every smaller one).
    pub taken: Taken,
    /// Bytes counted outside the network.
    pub constant: u64,
    /// Value of the flow.
    pub value: u64,
    /// Edges with flow, sorted by `from`, then `to`.
    pub edges: Vec<FlowEdge>,
}

/// A proof that at least `bound` bytes are held during `op` in every order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The op.
    pub op: OpId,
    /// The least of `constant + value` over the flows.
    pub bound: u64,
    /// One flow per set.
    pub flows: Vec<SetFlow>,
}
