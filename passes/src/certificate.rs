//! The proof that no order of a function needs less, as data about the module.
//!
//! For one operation, and every set of candidates that it can take, a flow whose value bounds the bytes held while it runs, whatever the order. The
//! network is the ordering solver's (`neap_order::Certificate` says what it is and why it bounds); here its nodes are operations
//! and values of the module, so that a checker can rebuild it from the planned module alone.

use crate::analysis::candidates::Pair;
use neap_ir::{OpId, ValueId};

/// A node of the network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// All operations that must run before the certificate's.
    Source,
    /// The certificate's operation and all that must run after it.
    Sink,
    /// An operation that may run before or after.
    Op(OpId),
    /// The bytes of a value (and of its views) have been started.
    In(ValueId),
    /// The bytes of a value (and of its views) are still needed.
    Out(ValueId),
}

/// An edge that carries flow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// Where it starts.
    pub from: Node,
    /// Where it ends.
    pub to: Node,
    /// Bytes; `None` is unlimited.
    pub capacity: Option<u64>,
    /// Bytes, more than 0.
    pub flow: u64,
}

/// The flow for one set of candidates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetFlow {
    /// The operation's candidates that are taken; the flow bounds every smaller set too.
    pub taken: Vec<Pair>,
    /// Bytes counted outside the network.
    pub constant: u64,
    /// Value of the flow.
    pub value: u64,
    /// Edges with flow.
    pub edges: Vec<Edge>,
}

/// A proof that at least `bound` bytes are held while `op` runs, in every order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The function, without `@`.
    pub function: String,
    /// The operation.
    pub op: OpId,
    /// Bytes.
    pub bound: u64,
    /// One flow per set of candidates.
    pub flows: Vec<SetFlow>,
    /// Where a budget was asked for and this proves that nothing fits into it: values that are held while `op` runs, in
    /// every order, with their bytes.
    pub held: Vec<(ValueId, u64)>,
}
