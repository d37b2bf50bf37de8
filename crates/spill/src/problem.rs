//! The problem as plain data, checked once.

use std::fmt;

/// Names an operation by its place in [`Problem::ops`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OpId(pub u32);

/// Names a buffer by its place in [`Problem::buffers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferId(pub u32);

/// Names a memory by its place in [`Problem::pools`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PoolId(pub u32);

macro_rules! index {
    ($($id:ident)*) => {
        $(impl $id {
            /// The place in the list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        })*
    };
}

index!(OpId BufferId PoolId);

/// An operation.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Op {
    /// What executes it; operations of one pipe run one after the other, in the order of the plan.
    pub pipe: u32,
    /// How long it takes.
    pub cycles: u64,
    /// Buffers that must be in their memories while it runs, each once.
    pub touches: Vec<BufferId>,
}

/// A buffer: in its memory from the first operation that touches it to the last, spills excepted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Buffer {
    /// Bytes.
    pub size: u64,
    /// Its memory.
    pub pool: PoolId,
    /// It is a copy of what lies outside: spilling it moves nothing out.
    pub backed: bool,
}

impl Buffer {
    /// Bytes that one spill of it moves.
    pub fn cost(&self) -> u64 {
        if self.backed { self.size } else { 2 * self.size }
    }

    /// Cycles of a transfer between the memories and outside.
    pub fn transfer(&self) -> u64 {
        2 * self.size + 150
    }

    /// Cycles of moving it out.
    pub fn out_cycles(&self) -> u64 {
        if self.backed { 0 } else { self.transfer() }
    }
}

/// A memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pool {
    /// Bytes.
    pub capacity: u64,
    /// It feeds a unit of execution: operations joined by its buffers are best run together.
    pub local: bool,
}

/// The problem. Valid only after [`Problem::check`] has said so.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Problem {
    /// In an order that keeps all dependencies.
    pub ops: Vec<Op>,
    /// `(first, then)`.
    pub deps: Vec<(OpId, OpId)>,
    /// The buffers.
    pub buffers: Vec<Buffer>,
    /// The memories.
    pub pools: Vec<Pool>,
    /// The pipe that moves buffers out.
    pub out_pipe: u32,
    /// The pipe that moves buffers in.
    pub in_pipe: u32,
}

/// What is wrong with a problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProblemError {
    /// An operation, a buffer or a memory that does not exist is named, or a dependency points backward.
    Name,
    /// Sizes or cycles add up to more than 2^61.
    TooLarge,
    /// All that an operation touches in a memory is more than the memory holds.
    NeverFits {
        /// The operation.
        op: OpId,
        /// The memory.
        pool: PoolId,
        /// Bytes it touches there.
        bytes: u64,
    },
}

impl fmt::Display for ProblemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProblemError::Name => f.write_str("a name that does not exist, or a dependency that points backward"),
            ProblemError::TooLarge => f.write_str("sizes or cycles add up to more than 2^61"),
            ProblemError::NeverFits { op, pool, bytes } => {
                write!(f, "operation {} touches {bytes} bytes of memory {}, more than it holds", op.0, pool.0)
            }
        }
    }
}

impl std::error::Error for ProblemError {}

impl Problem {
    /// Checks names, sums, and that every operation alone fits.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), ProblemError> {
        let limit = |sum: u64, more: u64| sum.checked_add(more).filter(|sum| *sum <= 1 << 61);
        let sizes = self.buffers.iter().map(|buffer| buffer.size).try_fold(0, limit);
        let cycles = self.ops.iter().map(|op| op.cycles).try_fold(0, limit);
        if sizes.is_none() || cycles.is_none() {
            return Err(ProblemError::TooLarge);
        }
        let pools = self.buffers.iter().all(|buffer| buffer.pool.index() < self.pools.len());
        let touches = self.ops.iter().flat_map(|op| &op.touches).all(|buffer| buffer.index() < self.buffers.len());
        let deps = self.deps.iter().all(|(first, then)| first < then && then.index() < self.ops.len());
        if !(pools && touches && deps) {
            return Err(ProblemError::Name);
        }
        for (at, op) in self.ops.iter().enumerate() {
            for (pool, space) in self.pools.iter().enumerate() {
                let touched = op.touches.iter().map(|buffer| self.buffers[buffer.index()]);
                let bytes = touched.filter(|buffer| buffer.pool.index() == pool).map(|buffer| buffer.size).sum();
                if bytes > space.capacity {
                    return Err(ProblemError::NeverFits { op: OpId(at as u32), pool: PoolId(pool as u32), bytes });
                }
            }
        }
        Ok(())
    }
}
