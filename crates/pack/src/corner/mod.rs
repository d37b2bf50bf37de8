//! Exact search for a plain packing within a capacity: branching on the corners of skyline valleys.
//!
//! **What is enumerated.** If a packing within the capacity exists, so does one with the least sum of offsets; in it
//! every item stands on the ground or on another item, and no item fits into free space below it. Such packings can be
//! built from the skyline alone: items are put on flat ground, lowest first locally. Take any valley of the skyline
//! (a run of equal ground with higher ground, or a border, on both sides) and its leftmost open cell. Either an item
//! stands there at ground level; it must begin exactly at this cell, since the cell before is higher (or closed), and end
//! inside the run. Or nothing does: the cell is *closed*. The same holds for the rightmost cell. A search over "which
//! item, or close" at one corner of one valley is therefore complete, whichever valley and corner are chosen.
//!
//! **Waste.** A run whose cells are all closed rises to its lower neighbour: the next item over it rests on something,
//! and nothing inside the run offers rest. If an item that is still waiting fits into the hole that this makes, the
//! branch is not one with the least sum of offsets and is cut.
//!
//! **Bounds.** `least[b]` is a lower bound for the offset of a waiting item: the highest ground under it, or what closing
//! implies. A section is dead when `max(ground, min least of the waiting over it) + bytes waiting` exceeds the capacity.
//!
//! **Failures** are kept in a table (see [`search`]) that survives restarts.
//!
//! [`state`] holds the skyline, its undo trail, and these deductions; [`search`] the iterative search; [`restart`] the
//! schedule of rules and node limits.

pub(crate) mod restart;
mod search;
mod state;
