//! What a demand costs, as data: what stands in the way at the peak of a function, and how far the peak falls without it.

/// What could be given up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// That one operation runs before another one, because both touch the same.
    Lock,
    /// That a value stays to the end, or for the whole run.
    Kept,
}

/// One price: the solver's answer without it, exact where both answers are proved and else what was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Priced {
    /// The function, without `@`.
    pub function: String,
    /// What kind of demand it is.
    pub kind: Kind,
    /// In words: `that A runs before B`, `that x is kept to the end`.
    pub what: String,
    /// By how many bytes the peak falls.
    pub bytes: u64,
    /// The peak without it.
    pub peak: u64,
}
