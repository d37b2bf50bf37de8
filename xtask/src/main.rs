//! The developer's verbs.
fn main() {}
