//! Work, counted: how often a module was looked at.
//!
//! Seconds depend on the machine; looks do not, so tests ask for them to tell linear from quadratic. They are counted per thread, and only in
//! builds with debug assertions: elsewhere there is nothing to pay.

use std::cell::Cell;

thread_local! {
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}

/// Counts work.
#[inline]
pub fn count(units: u64) {
    if cfg!(debug_assertions) {
        LOOKS.with(|looks| looks.set(looks.get().wrapping_add(units)));
    }
}

/// The work of this thread so far; none where it is not counted.
pub fn counted() -> Option<u64> {
    cfg!(debug_assertions).then(|| LOOKS.with(Cell::get))
}
