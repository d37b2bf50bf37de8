//! What computing values again brings and costs, as data: what the pass `rematerialize` did to a function, value by value.
//!
//! Bytes are those of the peak; costs are cycles where every operation of the function says its `neap.cycles`, else arithmetic operations: one per
//! multiplication of a convolution or a matrix product, one per element of all else.

/// What costs are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    /// `neap.cycles`.
    Cycles,
    /// An estimate from shapes.
    #[default]
    Arithmetic,
}

impl Unit {
    /// As people are told.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::Arithmetic => "arithmetic operations",
        }
    }
}

/// One value that is computed again instead of being kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recomputed {
    /// What it is called.
    pub value: String,
    /// Its bytes.
    pub bytes: u64,
    /// The operation that reads the new value first.
    pub reader: String,
    /// Operations that run once more for it.
    pub ops: u64,
    /// What they cost.
    pub cost: u64,
    /// The peak with all values before this one computed again.
    pub before: u64,
    /// The peak with this one as well.
    pub after: u64,
}

/// What was done to a function, or tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recomputing {
    /// Without `@`.
    pub function: String,
    /// What costs are counted in.
    pub unit: Unit,
    /// What the function cost before.
    pub work: u64,
    /// The peak before.
    pub before: u64,
    /// The peak after.
    pub after: u64,
    /// What an operation holds by itself, whatever is computed again: the most of all, and which operation.
    pub floor: u64,
    /// The operation of the floor.
    pub floor_op: String,
    /// The values, in the order in which they were chosen.
    pub values: Vec<Recomputed>,
}

impl Recomputing {
    /// What all of it costs.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.values.iter().map(|value| value.cost).fold(0, u64::saturating_add)
    }
}
