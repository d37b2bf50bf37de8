//! The table of buffer types. A new type is a new row.

/// One type of buffer: a piece of memory of the core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    /// As `Type` names it.
    pub name: &'static str,
    /// Bytes available where spilling is asked for.
    pub capacity: u64,
    /// Where order alone is asked for: at most so many live buffers.
    pub limit: Option<u32>,
    /// Whether its buffers count in the resident bytes where order alone is asked for.
    pub counted: bool,
}

/// All types, with the capacities of the 2025 China Postgraduate Mathematical Contest in Modeling, problem A: its problem 1 counts L1 and UB and holds one
/// buffer in each L0, problems 2 and 3 have capacities.
pub const POOLS: [Pool; 5] = [
    Pool { name: "L1", capacity: 4096, limit: None, counted: true },
    Pool { name: "UB", capacity: 1024, limit: None, counted: true },
    Pool { name: "L0A", capacity: 256, limit: Some(1), counted: false },
    Pool { name: "L0B", capacity: 256, limit: Some(1), counted: false },
    Pool { name: "L0C", capacity: 512, limit: Some(1), counted: false },
];

/// A row of [`POOLS`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PoolId(pub u8);

impl PoolId {
    /// The type of this name.
    pub fn of(name: &str) -> Option<PoolId> {
        POOLS.iter().position(|pool| pool.name == name).map(|at| PoolId(at as u8))
    }

    /// The row.
    pub fn pool(self) -> &'static Pool {
        &POOLS[usize::from(self.0)]
    }
}

/// The names of all types, for messages.
pub(super) fn names() -> String {
    POOLS.map(|pool| pool.name).join(", ")
}
