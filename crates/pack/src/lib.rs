//! Static memory allocation: where each storage of a plan lies in the arena.
//!
//! Storages are held during half-open ranges of steps; two that share a step must not share a byte; the
//! highest end is the size of the arena. [`Problem`] is what is asked, [`solve()`] answers with an
//! [`Outcome`]: places, heights, a lower bound, and what is proved. [`validate()`] checks any answer (and [`sweep()`] one of
//! any length) and shares no code with the solvers. The crate knows no IR, reads no clock, touches no file and never prints.
//!
//! ```
//! use neap_pack::{Item, Options, Problem, Proof, solve};
//!
//! let items = vec![Item::new(0, 2, 90), Item::new(1, 3, 70), Item::new(2, 4, 50)];
//! let problem = Problem::from_items(items)?;
//! let outcome = solve(&problem, &Options::default(), &mut |_| false);
//! assert_eq!((outcome.height(), outcome.lower_bound, outcome.proof), (Some(160), 160, Proof::Optimal));
//! # Ok::<(), neap_pack::ProblemError>(())
//! ```

mod core;
mod corner;
mod csv;
mod disjunct;
mod eject;
mod error;
mod fit;
mod general;
mod load;
mod model;
mod names;
mod orders;
mod outcome;
mod peers;
mod plain;
mod problem;
mod rigid;
mod run;
mod sections;
mod shelf;
mod skyline;
mod solve;
mod straight;
mod validate;

pub use csv::{Ends, Table, TableError, read_csv, write_csv};
pub use error::{ProblemError, Violation};
pub use outcome::{
    Goal, Infeasible, Method, Options, Order, Outcome, Place, Progress, Proof, Solution, Verdict, Watch,
};
pub use problem::{Distance, Gap, Item, ItemId, MAX_BYTES, Problem, Region, RegionId, Span};
pub use solve::solve;
pub use validate::{sweep, validate};
