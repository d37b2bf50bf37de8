//! The ordering solver.
